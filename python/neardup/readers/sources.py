"""The input of a run: several sources, read in order, twice."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from neardup.base.files import printable
from neardup.base.memory import check_max_text
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.base.validation import bad, check_fields, check_flag, paths_of
from neardup.exceptions import InputError, ParameterError
from neardup.readers.archives import find_archive, open_file
from neardup.readers.batch import (
    BATCH_BYTES,
    BATCH_RECORDS,
    Batch,
    Problem,
    make_empty_batch,
    regroup,
    split_refusal,
)
from neardup.readers.collection import Collection
from neardup.readers.encodings import Encodings
from neardup.readers.fields import MAX_TEXT, Fields
from neardup.readers.formats import (
    READERS,
    TEXT_EXTENSIONS,
    Format,
    check_format,
    detect_by_name,
    drop_query,
    list_known,
)
from neardup.readers.input_files import (
    InputFile,
    Selection,
    find_output_path,
    make_skip_problem,
    names_several,
    select_files,
)
from neardup.readers.problem_groups import ProblemGroups
from neardup.readers.source import Source
from neardup.readers.streams import ReopenableFile

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from neardup.readers.text_files import TextFiles

_STDIN = "-"


def is_of_texts(source: Source) -> TypeIs[TextFiles]:
    """Return whether the records of a source are files."""
    return source.format == "text"


class Sources(Collection):
    """The opened input. Made by `open_sources`.

    Known after `batches` was read to its end: `counts`, the records per source; `problems`, files
    without records; and `notes` on files, such as an encoding other than UTF-8, one for each kind.
    """

    has_fields = True

    def __init__(
        self,
        sources: list[Source],
        fields: Fields,
        selections: Sequence[Selection] = (),
    ) -> None:
        self.sources = sources
        self._selections = selections
        self.fields = fields
        self.counts: list[int] | None = None
        self.problems: list[Problem] = []
        self.notes: list[Message] = []
        #: Bytes of the files as they are stored, and how many of them `batches` has read, about.
        self.size = sum(source.size for source in sources)
        self.done = 0.0

    def save_results(self) -> dict[str, Any]:
        """Return the results of reading, for a resumed run that does not read again."""
        empty = [problem.source for problem in self.problems]
        notes = [note.to_dict() for note in self.notes]
        return {"counts": self.counts, "empty": empty, "notes": notes}

    def restore_results(self, results: dict[str, Any]) -> None:
        """Restore the results that an earlier run saved for the same inputs."""
        self.counts = results["counts"]
        self.notes = list(map(Message.from_dict, results["notes"]))
        self.problems = list(map(_make_empty_problem, results["empty"]))

    def report_to(self, progress: Progress) -> int:
        """Report problems and notes other than of records; return the number of problems."""
        for problem in self.problems:
            progress.problem(problem)
        for note in self.notes:
            progress.note(note)
        return len(self.problems)

    def shared_with(self, other: Sources) -> list[str]:
        """Return the names of the files that are in both inputs."""
        others = _identify_files(other.sources)
        return [
            name for identity, name in _identify_files(self.sources).items() if identity in others
        ]

    def with_extra(self, names: Sequence[str]) -> Self:
        """Return the same sources with other extra fields, None where a source lacks them."""
        fields = replace(self.fields, extra=tuple(names), optional=True)
        return type(self)(self.sources, fields, self._selections)

    def with_text_field(self, name: str, parameter: str) -> Sources:
        """Return the same sources with another text field, named by a parameter.

        InputError if a source lacks it.
        """
        fields = replace(self.fields, text=name, text_parameter=parameter)
        for source in self.sources:
            source.check_fields(fields)
        return Sources(self.sources, fields, self._selections)

    @property
    def records(self) -> int | None:
        """Number of records; known after `batches` was read to its end."""
        return None if self.counts is None else sum(self.counts)

    def batches(
        self,
        *,
        titles: bool | None = None,
        batch_bytes: int = BATCH_BYTES,
        batch_records: int = BATCH_RECORDS,
    ) -> Iterator[Batch]:
        """Read the input from its beginning, in batches of at most about this size.

        Titles are read by default if a title field was named. InputError if a file cannot be
        reopened, or changed since it was opened. Memory is a few times `batch_bytes`, or the
        longest record.
        """
        for name, value in (("batch_bytes", batch_bytes), ("batch_records", batch_records)):
            if value < 1:
                raise bad(name, "at least {least}", value, least=1)
        wanted = self.fields.title is not None if titles is None else titles
        batches = self._read(wanted, batch_bytes)
        return regroup(self.fields.bound(batches), batch_bytes, batch_records)

    def _read(self, titles: bool, size: int) -> Iterator[Batch]:
        counts = []
        empty: list[Problem] = []
        notes = ProblemGroups()
        passed_over = []
        for selection in self._selections:
            for note in selection.notes:
                notes.add_note(selection.name, note)
            passed_over += selection.problems
        if passed_over:
            yield make_empty_batch(passed_over, self.fields.extra)
        before = 0
        for source in self.sources:
            self.done = before
            source.check_unchanged()
            if is_of_texts(source):
                source.notes = notes
            for note in source.notes_on_encoding:
                notes.add_note(source.name, note)
            count = 0
            problems = False
            for batch in source.read_texts(self.fields, titles, size):
                count += len(batch)
                problems = problems or bool(batch.row_problems)
                self.done = before + source.size * source.measure_share(count)
                yield batch
            source.check_unchanged()
            before += source.size
            counts.append(count)
            if is_of_texts(source):
                empty += map(_make_empty_problem, source.empty)
            elif not count and not problems:
                empty.append(_make_empty_problem(source.name))
        self.counts = counts
        self.problems = empty
        self.notes = [line for line, _ in notes.lines()]


def open_sources(
    inputs: Sequence[str | Path],
    *,
    format: str | None = None,
    encoding: str | None = None,
    text_field: str | None = None,
    title_field: str | None = None,
    id_field: str | None = None,
    extra_fields: Sequence[str] = (),
    max_text: int | str = MAX_TEXT,
    text_parameter: str = "text_field",
    only_text_in_folders: bool = False,
) -> Sources:
    """Open files, folders, archives, patterns and ``-`` (standard input), and check them.

    Parameters
    ----------
    inputs : sequence of str or Path
        In a folder or an archive, all files of known formats are read, in the order of their
        paths; unreadable ones are problems, and other files are counted in a note. Next to data
        files, text files named as documentation (README.md) are skipped, with a note.
    format : {'jsonl', 'parquet', 'arrow', 'csv', 'tsv', 'text'}, optional
        Format of all files; by default by extension, for standard input by its first bytes,
        else JSON Lines. Compression is always detected from the content.
    encoding : str, optional
        Encoding of all text, tables and JSON lines, such as gb18030. By default detected.
    text_field, title_field, id_field : str, optional
        By default ``text``, else ``content``, else ``body``; ``title``; ``id``, else
        ``NAME:RECORD``. The id of a text file is its path, or its path inside a folder if
        the folder is the only input; that of a file in an archive begins with the archive's.
    extra_fields : sequence of str
        Further fields to read.
    max_text : int, default=67108864
        Bytes of the longest text, and of the longest line or row that has one.
    text_parameter : str, default="text_field"
        The parameter that the caller was given `text_field` by, for errors.
    only_text_in_folders : bool, default=False
        Whether only the text files of folders and archives are read. The format is then that of
        files whose extension is unknown.

    Raises
    ------
    ParameterError
        If there is no path, standard input is named twice, or a format is unknown.
    InputError
        If an input is missing or unreadable, or lacks a required field; or if a folder or pattern
        has no readable file, or all of its data files are refused.
    """
    check_format(format)
    check_flag(only_text_in_folders, "only_text_in_folders")
    names = paths_of(inputs, "inputs")
    check_standard_input(names, "inputs")
    extensions = TEXT_EXTENSIONS if only_text_in_folders else ()
    # Without an extension that is known, a file named by itself is of this format.
    named, otherwise = (None, format) if only_text_in_folders else (format, None)
    selected = [
        select_files(name, format, extensions=extensions) if names_several(name) else None
        for name in names
    ]
    selections = [selection for selection in selected if selection is not None]
    fields = Fields(
        text_field,
        title_field,
        id_field,
        check_fields(extra_fields, "extra_fields"),
        text_parameter=text_parameter,
        max_text=check_max_text(max_text),
        encodings=Encodings(encoding, _find_local_files(names, selections)),
    )
    sources: list[Source] = []
    for name, selection in zip(names, selected, strict=True):
        if selection is not None:
            # Ids of text files are paths, which two folders may have in common.
            sources += _open_selection(name, selection, fields, short_ids=len(names) == 1)
        else:
            sources.append(_open_named(name, named, fields, otherwise))
    return Sources(sources, fields, selections)


def check_standard_input(names: Sequence[str], parameter: str) -> None:
    """Raise ParameterError if standard input is named more than once."""
    if (times := names.count(_STDIN)) > 1:
        raise ParameterError(
            Message(
                "{parameter:named} must name standard input ('-') at most once. Got "
                "it {times} times instead.",
                parameter=parameter,
                times=times,
            )
        )


def _find_local_files(
    names: Sequence[str], selections: Sequence[Selection]
) -> Iterator[Callable[[], ReopenableFile]]:
    """Yield what opens each file that can be read twice at no cost."""
    for name in names:
        if os.path.isfile(name) or find_archive(name):
            yield partial(open_file, name)
    for file in chain.from_iterable(selection.files for selection in selections):
        if file.opener or os.path.isfile(file.path):
            yield file.open


def _open_selection(
    name: str, selection: Selection, fields: Fields, *, short_ids: bool
) -> list[Source]:
    """Open files, consecutive text files as one source; a refused file is a problem."""
    from neardup.readers.text_files import TextFiles, open_text

    sources: list[Source] = []
    refused: list[tuple[InputFile, InputError]] = []
    for are_texts, files in groupby(selection.files, lambda file: file.format.format == "text"):
        if are_texts:
            texts = [
                open_text(
                    file,
                    printable((file.inside if short_ids else file.path).replace(os.sep, "/")),
                    find_output_path(name, file),
                )
                for file in files
            ]
            sources.append(TextFiles(selection.name, texts, fields))
            continue
        for file in files:
            try:
                source = _open(file.open(), file.format, fields)
                source.inside = find_output_path(name, file)
                sources.append(source)
            except InputError as error:
                refused.append((file, error))
    several = [source for source in sources if is_of_texts(source)]
    read = len(sources) - len(several)
    if refused and not read:
        raise refused[0][1]
    for file, refusal in refused:
        selection.problems.append(make_skip_problem(file.path, *split_refusal(refusal)))
    if several and read:
        count = sum(len(source.files) for source in several)
        data = Message.counted("1 data file", "{count:,} data files", count=read)
        of_text = Message.counted("1 text file", "{count:,} text files", count=count)
        selection.notes.append(
            Message(
                "Read as {data} and {texts}; each text file is one document.",
                data=data,
                texts=of_text,
            )
        )
    return sources


def _make_empty_problem(name: str) -> Problem:
    return Problem(name, None, None, Message("no records", code="no_records"), None)


def _open_named(
    path: str, format: str | None, fields: Fields, otherwise: str | None = None
) -> Source:
    if path == _STDIN:
        named, otherwise = Format(format, None), otherwise or "jsonl"
        return _open(ReopenableFile(_STDIN, sys.stdin.buffer), named, fields, otherwise)
    named = detect_by_name(path)
    file = open_file(path)
    source = _open(file, named._replace(format=format or named.format), fields, otherwise)
    source.inside = os.path.basename(drop_query(path))
    if is_of_texts(source):
        source.texts = [replace(text, inside=source.inside) for text in source.texts]
    return source


def _open(
    file: ReopenableFile, named: Format, fields: Fields, otherwise: str | None = None
) -> Source:
    """Return a source; raise InputError if it lacks a required field."""
    detected = file.detect_format(named)
    format = detected.format or otherwise
    if format is None:
        extension = os.path.splitext(os.path.basename(file.name))[1]
        got = Message("'{extension}'", extension=extension) if extension else Message("none")
        message = Message(
            "{file}: must have a known extension ({known}), but has {found}. Name the format "
            "with {given[format]}: {given[format='text']} reads any text.",
            code="unknown_format",
            file=file.name,
            known=list_known(),
            found=got,
        )
        raise ParameterError(message)
    module, name = READERS[format]
    reader = getattr(import_module(f"neardup.readers.{module}"), name)
    source: Source = reader(file, detected.compression, fields)
    source.check_fields(fields)
    return source


def _identify_files(sources: list[Source]) -> dict[Any, str]:
    """Return the name of each file by what identifies it, whatever path leads to it."""
    names: dict[Any, str] = {}
    for source in sources:
        for file in source.files:
            names.setdefault(file.identity, file.name)
    return names
