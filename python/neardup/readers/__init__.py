"""Readers: files and tables as batches of texts.

`open_sources` opens files, folders, archives, patterns and standard input; `open_table`
opens tables and lists in memory. Both yield batches: texts as an Arrow array, ids,
titles and problems. A single bad record raises no error: it becomes a null text and
a `Problem`, and the run continues.

========  ==========================  ==========================================
format    extensions                  a record is
========  ==========================  ==========================================
jsonl     .jsonl .ndjson .json        a line; blank lines are skipped
parquet   .parquet                    a row
arrow     .arrow .feather             a row; file or stream, by the content
csv, tsv  .csv .tsv                   a row; the first row names the fields
text      .txt .md .html .docx .pdf   a file
========  ==========================  ==========================================

Each format may be compressed (.gz, .zst, .xz, .bz2); a file's first bytes override its
extension. An archive (.zip, .tar, also compressed) is read as a folder of files.
The interface of a reader is in `source`, for further formats.

Text files may be in any encoding. `read_file` reads a text file with its headings, its
pages and the certainty of its encoding.
"""

from typing import TYPE_CHECKING

from neardup.base.lazy import parts

if TYPE_CHECKING:
    from neardup.readers.batch import Batch, Problem
    from neardup.readers.file_text import (
        FileText,
        Heading,
        Limits,
        UnreadableFileError,
        read_bytes,
        read_file,
        read_record,
    )
    from neardup.readers.sources import Sources, open_sources
    from neardup.readers.tables import TableSource, open_table

__all__ = [
    "Batch",
    "FileText",
    "Heading",
    "Limits",
    "Problem",
    "Sources",
    "TableSource",
    "UnreadableFileError",
    "open_sources",
    "open_table",
    "read_bytes",
    "read_file",
    "read_record",
]

# A run loads only the readers of its formats.
__getattr__ = parts(
    __name__,
    {
        "batch": "Batch Problem",
        "file_text": "FileText Heading Limits UnreadableFileError read_bytes read_file read_record",
        "sources": "Sources open_sources",
        "tables": "TableSource open_table",
    },
)
