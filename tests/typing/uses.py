"""What type checkers see of the public functions; nothing here runs.

mypy and pyright check this file with the lint. A line that must be an error has a comment for
each of them, and both complain about a comment that is not needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import pyarrow as pa

import neardup


class Frame:
    """A table of some other library."""


def kept_rows_are_of_the_kind_of_the_input(
    table: pa.Table, rows: list[dict[str, Any]], frame: Frame
) -> None:
    assert_type(neardup.dedup(table).kept, pa.Table)
    assert_type(neardup.dedup(rows).kept, list[dict[str, Any]])
    assert_type(neardup.dedup(frame, against=table).kept, Frame)
    assert_type(neardup.dedup(["a", "b"]).kept, list[str])
    assert_type(neardup.dedup_files(["in.jsonl"], Path("out.jsonl")).kept, None)


def options_have_their_types() -> None:
    neardup.dedup(["a"], recipe="news", threshold=0.8, on_error="drop", memory="4GB")
    neardup.dedup(["a"], recipe="mine.toml")
    neardup.dedup(["a"], recipe=neardup.load_recipe("news").replace(sketch={"bits": 128}))
    neardup.contamination_files({"train": ["a"], "test": ["b"]})
    pairs = neardup.pairs
    pairs(["a"], text_field=7)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    pairs(["a"], on_error="drop")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    pairs(["a"], text="body")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def what_is_lazy_is_typed_too() -> None:
    assert_type(neardup.fingerprint("a"), neardup.Fingerprint | None)
    assert_type(neardup.compare("a", "b").verdict, str)
    assert_type(len(neardup.Index("a.db")), int)
