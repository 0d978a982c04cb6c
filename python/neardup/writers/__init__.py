"""Kept records, removed documents and pairs to files.

Outputs are opened before the work begins, so that a name that cannot be used
is known at once; they appear together when all of them are complete. Format
and compression follow from the extension: ``.jsonl``, ``.csv``, ``.tsv``, each
also with ``.gz`` or ``.zst``, and ``.parquet``. Equal rows give equal bytes.
"""

from neardup.writers.kept import KeptReport, write_kept
from neardup.writers.output import Output, OutputSet, open_output
from neardup.writers.rows import PAIRS, REMOVED, write_rows

__all__ = [
    "PAIRS",
    "REMOVED",
    "KeptReport",
    "Output",
    "OutputSet",
    "open_output",
    "write_kept",
    "write_rows",
]
