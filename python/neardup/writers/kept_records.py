"""Writing of the kept records, unchanged and in input order.

Records of the output's format are copied byte for byte, JSON lines in UTF-8. Rows of Parquet and
Arrow keep their schema. Others are converted to one schema; inferring it takes one more pass
over sources without one. CSV keeps its dialect if all sources have the same; an output begins with
the mark of the first source.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from neardup.base.lazy import np
from neardup.base.messages import Message
from neardup.base.progress import Progress, check_progress
from neardup.exceptions import ParameterError
from neardup.readers.source import KeepMask, Source, count_kept
from neardup.readers.sources import Sources, is_of_texts
from neardup.readers.streams import ReopenableFile
from neardup.writers.edits import Edits
from neardup.writers.folder import OutputFolder
from neardup.writers.kept_writer import KeptReport, Lines, Writer
from neardup.writers.output import Output

if TYPE_CHECKING:
    from neardup.readers.text_files import TextFiles


#: Bytes of a text file that are copied together.
_COPIED = 1 << 20


def write_kept(
    sources: Sources,
    keep: Any,
    output: Output | OutputFolder,
    edits: Edits | None = None,
    progress: Progress | None = None,
) -> KeptReport:
    """Write the kept records of all sources to an open output, which the caller commits.

    A folder gets a file for each source, or parts.

    `keep` has a flag for each record, in input order: an array, or bytes. Records get `edits`;
    `progress` the stage ``write``. InputError if a source changed since its records were read.
    """
    mask = _make_flags(keep)
    counts = sources.counts
    if counts is None:
        raise ParameterError(
            Message(
                "{parameter:named} must be read to its end first. Got sources with an "
                "unknown number of records instead.",
                parameter="sources",
            )
        )
    if len(mask) != sum(counts):
        raise ParameterError(
            Message.counted(
                "{parameter:named} must hold {count} flag, one per record. Got shape "
                "{value} instead.",
                "{parameter:named} must hold {count} flags, one per record. Got shape "
                "{value} instead.",
                parameter="keep",
                count=sum(counts),
                value=str((len(mask),)),
            )
        )
    for source in sources.sources:
        source.check_unchanged()
    progress = check_progress(progress)
    progress.stage("write", count_kept(mask))
    report = KeptReport()
    writer = None
    if isinstance(output, Output):
        writer = _open_writer(sources.sources, lambda: output, edits, report)
    elif output.part_size is not None:
        writer = _open_writer(sources.sources, partial(output.at, 0), edits, report)
    begin = 0
    for number, (source, count) in enumerate(zip(sources.sources, counts, strict=True)):
        part = KeepMask(mask[begin : begin + count], source.name, progress.advance)
        begin += count
        if writer is not None:
            writer.write(source, part)
        elif is_of_texts(source):
            assert isinstance(output, OutputFolder)
            _copy_texts(source, part, output)
        else:
            assert isinstance(output, OutputFolder)
            _open_writer([source], partial(output.at, number), edits, report).write(source, part)
        part.close()
        source.check_unchanged()
    if isinstance(output, OutputFolder):
        output.close_file()
    report.written = count_kept(mask) - report.unwritable
    return report


def _make_flags(keep: Any) -> memoryview:
    """Return flags as bytes."""
    if not isinstance(keep, bytes):
        keep = np.ascontiguousarray(keep, bool)
    return memoryview(keep).cast("B")


def _open_writer(
    sources: list[Source], at: Callable[[], Output], edits: Edits | None, report: KeptReport
) -> Writer:
    format = at().format
    if format == "jsonl":
        return Lines(sources, at, edits, report)
    # Slow to import.
    from neardup.writers.kept_tables import Cells, Tables

    kind = Tables if format in ("parquet", "arrow") else Cells
    return kind(sources, at, edits, report)


def _copy_texts(source: TextFiles, keep: KeepMask, folder: OutputFolder) -> None:
    """Copy the kept files as they are stored, compressed or not."""
    for text in source.find_kept(keep):
        assert isinstance(text.file, ReopenableFile)
        assert text.inside is not None
        copy = folder.open(text.inside, "text", None)
        with text.file.open() as file:
            while data := file.read(_COPIED):
                copy.write(data)
