"""Writers: kept records, removed documents and pairs.

Outputs are opened before a run begins, so that an unusable name fails at once; they
appear together when all of them are complete. The extension sets format and
compression: ``.jsonl``, ``.csv``, ``.tsv``, each also with ``.gz``, ``.zst``, ``.xz`` or
``.bz2``, and ``.parquet``. Equal rows give equal bytes.
"""

from typing import TYPE_CHECKING

from neardup.base.lazy import parts

if TYPE_CHECKING:
    from neardup.writers.folder import OutputFolder
    from neardup.writers.kept_records import write_kept
    from neardup.writers.kept_writer import KeptReport
    from neardup.writers.output import Output, open_output, write_file
    from neardup.writers.output_set import OutputSet
    from neardup.writers.rows import RowWriter, pairs_schema, removed_schema, write_rows

__all__ = [
    "KeptReport",
    "Output",
    "OutputFolder",
    "OutputSet",
    "RowWriter",
    "open_output",
    "pairs_schema",
    "removed_schema",
    "write_file",
    "write_kept",
    "write_rows",
]

# A run loads only the writers of its formats.
__getattr__ = parts(
    __name__,
    {
        "folder": "OutputFolder",
        "kept_records": "write_kept",
        "kept_writer": "KeptReport",
        "output": "Output open_output write_file",
        "output_set": "OutputSet",
        "rows": "RowWriter pairs_schema removed_schema write_rows",
    },
)
