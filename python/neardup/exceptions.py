"""The errors that neardup raises.

All derive from `NeardupError`; most have a second parent, so that ``except ValueError``
and ``except OSError`` work. A message is one sentence of fact: *must be … Got …
instead*. A remedy follows if one is known. Messages about data begin with the
file, the record and the field.

Programs should use the class, `NeardupError.code` and `NeardupError.values`, not the
sentence.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ClusterError",
    "IndexFormatError",
    "IndexMismatchError",
    "IndexUnavailableError",
    "InputError",
    "MissingDependencyError",
    "NeardupError",
    "OutputError",
    "ParameterError",
    "SketchMismatchError",
]


class NeardupError(Exception):
    """Parent of every error that neardup raises on purpose.

    Only its subclasses are raised. The command prints an error after the program's name:
    ``neardup: news.jsonl: no such file.``

    Examples
    --------
    >>> import neardup
    >>> try:
    ...     neardup.dedup(["a text"], threshold=80)
    ... except neardup.ParameterError as error:
    ...     print(error.code, error.values["parameter"], error.values["value"])
    parameter threshold 80
    """

    _code = "error"

    @property
    def code(self) -> str:
        """The kind of the error, for programs: see docs/errors.md."""
        return getattr(self.message, "code", None) or self._code

    @property
    def values(self) -> dict[str, Any]:
        """The values of the sentence: `parameter`, `value`, `expected`, `file` and others."""
        return getattr(self.message, "values", {})

    @property
    def message(self) -> str:
        """The sentence in English: a `Message`, unless another program wrote it."""
        return self.args[0] if len(self.args) == 1 else str(self)


class ParameterError(NeardupError, ValueError):
    """An argument has a value that its documentation does not allow.

    Example: ``The 'threshold' parameter of dedup must be a number above 0 and
    at most 1 (did you mean 0.8?). Got 80 instead.``
    """

    _code = "parameter"


class InputError(NeardupError, ValueError):
    """An input cannot be used at all.

    A single bad record never raises: it becomes a
    `neardup.readers.Problem` and the run continues.

    Example: ``news.parquet: column 'body' must hold text. Got int64 instead.``
    """

    _code = "input"


class OutputError(NeardupError, OSError):
    """An output cannot be created or completed; no partial file is left.

    Example: ``kept.jsonl: cannot be written: No space left on device. No
    output was changed.``
    """

    _code = "output"


class SketchMismatchError(NeardupError, ValueError):
    """Sketches of two recipes were compared.

    Example: ``Fingerprints of two recipes cannot be compared: improved-5d41402a and
    news-7d793037. Sketch both texts with one recipe.``
    """

    _code = "sketch_mismatch"


class IndexUnavailableError(NeardupError, OSError):
    """An index cannot be reached, read or written now; its contents are intact.

    No such file, server or database; no permission; a read-only file, folder or
    server; a full disk; an index that others locked for too long; a lost connection.
    The message tells whether the change was stored.

    Example: ``news.db: the disk is full: database or disk is full. Nothing of
    this change was stored. Make room and try again.``
    """

    _code = "index_unavailable"


class IndexFormatError(NeardupError, ValueError):
    """The opened file or database is not an index, has another version, or is damaged.

    Example: ``news.db: must have schema 2. Got 3 instead, written by neardup
    0.9.0. Install that version, or export the index with it and import the
    export into a new index here.``
    """

    _code = "index_format"


class IndexMismatchError(NeardupError, ValueError):
    """An index was made with another recipe or other settings than requested.

    Example: ``news.db: was created with other settings than requested: threshold 0.5 (0.6
    requested). Leave them out to use the stored ones, or create another index.``
    """

    _code = "index_mismatch"


class MissingDependencyError(NeardupError, ImportError):
    """An optional dependency of neardup is not installed.

    Example: ``reading PDF files needs pypdfium2. Install it with: pip install
    'neardup[papers]'``
    """

    _code = "missing_dependency"


class ClusterError(NeardupError, RuntimeError):
    """Spark aborted a job, or ended; the completed stages are in the checkpoint.

    Example: ``Spark aborted the job: java.lang.OutOfMemoryError: Java heap space. Give it
    more memory ...``
    """

    _code = "cluster"
