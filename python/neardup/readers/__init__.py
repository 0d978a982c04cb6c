"""Files and tables to batches of texts.

`open_sources` opens files, folders and standard input; `open_table` takes
what is in memory already. Both give batches: texts as an Arrow array, ids,
titles, and the problems met. Nothing here raises for a single bad record: it
becomes a null text and a `Problem`, and the run goes on.

========  ==========================  ==========================================
format    extensions                  a record is
========  ==========================  ==========================================
jsonl     .jsonl .ndjson .json        a line; blank lines are none
parquet   .parquet                    a row
csv, tsv  .csv .tsv                   a row; the first row names the fields
text      .txt .md, or a folder       a file
========  ==========================  ==========================================

Each of them may be compressed (.gz, .zst); first bytes win over extensions.
"""

from neardup.readers.batch import Batch, Problem
from neardup.readers.sources import Sources, open_sources
from neardup.readers.tables import TableSource, open_table, take_kept

__all__ = [
    "Batch",
    "Problem",
    "Sources",
    "TableSource",
    "open_sources",
    "open_table",
    "take_kept",
]
