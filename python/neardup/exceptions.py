"""What can go wrong, as classes that callers can tell apart.

All of them derive from `NeardupError`; most have a second parent, so that
``except ValueError`` and ``except OSError`` keep working. A message is one
sentence of fact, *must be … Got … instead*, and after it, where one is known,
a remedy. Messages about data begin with the file, the record and the field.

Programs go by the class, `NeardupError.code` and `NeardupError.values`, and not by
the sentence, which `neardup._engine.messages` makes of them.
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

    Never raised itself. A handler prints it after the program's name:
    ``neardup: news.jsonl: no such file.``

    Examples
    --------
    >>> import neardup
    >>> try:
    ...     neardup.dedup(["a text"], threshold=80)
    ... except neardup.ParameterError as error:
    ...     print(error.code, error.values["parameter"], error.values["value"])
    options.must_be threshold 80
    """

    @property
    def code(self) -> str | None:
        """What went wrong, for programs; None for an error that somebody else made."""
        return getattr(self.message, "code", None)

    @property
    def values(self) -> dict[str, Any]:
        """What the sentence is made with: `parameter`, `value`, `expected`, `file` and others."""
        return getattr(self.message, "values", {})

    @property
    def message(self) -> str:
        """The sentence in English: a `Message`, where neardup made the error."""
        return self.args[0] if len(self.args) == 1 else str(self)


class ParameterError(NeardupError, ValueError):
    """An argument is outside what its documentation allows.

    Example: ``The 'threshold' parameter of dedup must be a number in [0, 1].
    Got 80 instead.``
    """


class InputError(NeardupError, ValueError):
    """An input as a whole cannot be used.

    A single bad record never raises: it becomes a
    `neardup.readers.Problem` and the run goes on.

    Example: ``news.parquet: column 'body' must hold text. Got int64 instead.``
    """


class OutputError(NeardupError, OSError):
    """An output cannot be created or completed; nothing was left behind.

    Example: ``kept.jsonl: cannot be written: No space left on device. No
    output was changed.``
    """


class SketchMismatchError(NeardupError, ValueError):
    """Sketches of two recipes were brought together.

    Example: ``sketches of recipe 'improved' (5d41402a) cannot meet sketches
    of recipe 'minhash' (7d793037). Sketch both with one recipe.``
    """


class IndexUnavailableError(NeardupError, OSError):
    """An index cannot be reached, read or written now; what it holds is sound.

    No such file, server or database; no permission; a file, folder or server
    that is read-only; a full disk; an index that others locked for too long; a
    connection that was lost. The message says what has become of the change.

    Example: ``news.db: the disk is full: database or disk is full. Nothing of
    this change was stored. Make room and try again.``
    """


class IndexFormatError(NeardupError, ValueError):
    """What was opened is no index, one of another version, or a damaged one.

    Example: ``news.db: must have schema 2. Got 3 instead, written by neardup
    0.9.0. Install that version, or export the index with it and import the
    export into a new index here.``
    """


class IndexMismatchError(NeardupError, ValueError):
    """An index was made with another recipe or other settings than asked for.

    Example: ``news.db: must be opened with the recipe 'minhash' (7d793037) that
    it was made with. Got 'improved' (5d41402a) instead. Leave the recipe out, or
    make a new index.``
    """


class MissingDependencyError(NeardupError, ImportError):
    """An optional part of neardup is not installed.

    Example: ``reading PDF files needs pypdfium2. Install it with: pip install
    'neardup[papers]'``
    """


class ClusterError(NeardupError, RuntimeError):
    """Spark gave a job up, or ended itself; what was complete is in the checkpoint.

    Example: ``Spark gave the job up: java.lang.OutOfMemoryError: Java heap space. Give it
    more memory ...``
    """
