"""Writers: kept records, removed documents and pairs.

Outputs are opened before a run begins, so that an unusable name fails at once; they
appear together when all of them are complete. The extension sets format and
compression: ``.jsonl``, ``.csv``, ``.tsv``, each also with ``.gz``, ``.zst``, ``.xz`` or
``.bz2``, and ``.parquet``. Equal rows give equal bytes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.writers.folder import OutputFolder, check_is_for_folder
    from neardup.writers.kept import write_kept
    from neardup.writers.kept_writer import KeptReport
    from neardup.writers.output import Output, open_output
    from neardup.writers.output_set import OutputSet
    from neardup.writers.rows import PAIRS, REMOVED, RowWriter, removed_schema, write_rows

__all__ = [
    "PAIRS",
    "REMOVED",
    "KeptReport",
    "Output",
    "OutputFolder",
    "OutputSet",
    "RowWriter",
    "check_is_for_folder",
    "open_output",
    "removed_schema",
    "write_kept",
    "write_rows",
]

#: The module of each name: a run loads the writers of its own formats only.
_HOMES = {
    name: module
    for module, names in {
        "folder": "OutputFolder check_is_for_folder",
        "kept": "write_kept",
        "kept_writer": "KeptReport",
        "output": "Output open_output",
        "output_set": "OutputSet",
        "rows": "PAIRS REMOVED RowWriter removed_schema write_rows",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
