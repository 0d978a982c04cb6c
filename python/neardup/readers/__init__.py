"""Files and tables to batches of texts.

`open_sources` opens files, folders, patterns and standard input; `open_table`
takes what is in memory already. Both give batches: texts as an Arrow array, ids,
titles, and the problems met. Nothing here raises for a single bad record: it
becomes a null text and a `Problem`, and the run goes on.

========  ==========================  ==========================================
format    extensions                  a record is
========  ==========================  ==========================================
jsonl     .jsonl .ndjson .json        a line; blank lines are none
parquet   .parquet                    a row
csv, tsv  .csv .tsv                   a row; the first row names the fields
text      .txt .md .html .docx .pdf   a file
========  ==========================  ==========================================

Each of them may be compressed (.gz, .zst); first bytes win over extensions.
Files of text may be in any encoding. `read_file` reads one of them with what is
known about it: headings, pages, and how sure its encoding is.
"""

from neardup.readers.batch import Batch, Problem
from neardup.readers.files import (
    FileText,
    Heading,
    Limits,
    UnreadableFileError,
    read_bytes,
    read_file,
    read_record,
)
from neardup.readers.sources import Sources, open_sources
from neardup.readers.tables import TableSource, open_table, take_kept

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
    "take_kept",
]
