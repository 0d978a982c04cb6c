"""Reading as the run does it: batch by batch, to the end."""

import os
from collections.abc import Callable

import pyarrow as pa
import pytest
from tests.kit.places import bucket  # noqa: F401

from neardup.readers import open_sources


def read_all(paths, batch_bytes=1 << 22, batch_records=8192, titles=None, **options):
    """Read paths, or a source that is open."""
    sources = paths
    if not hasattr(paths, "batches"):
        sources = open_sources([paths] if isinstance(paths, str) else paths, **options)
    out = {"texts": [], "ids": [], "titles": [], "extra": {}, "problems": [], "bytes": 0}
    for batch in sources.batches(
        titles=titles, batch_bytes=batch_bytes, batch_records=batch_records
    ):
        assert batch.texts.type == pa.large_string()
        assert len(batch) == len(batch.texts) == len(batch.ids) <= batch_records
        batch.texts.validate(full=True)
        out["texts"] += batch.texts.to_pylist()
        out["ids"] += batch.ids.to_pylist()
        names = batch.titles.to_pylist() if batch.titles is not None else [None] * len(batch)
        out["titles"] += names
        for name, values in batch.extra.items():
            assert len(values) == len(batch)
            out["extra"].setdefault(name, []).extend(values)
        out["problems"] += batch.problems
        out["bytes"] += batch.bytes_read
    assert sources.records == len(out["ids"])
    out["problem_lines"] = list(map(str, getattr(sources, "problems", ())))
    out["notes"] = getattr(sources, "notes", [])
    return out


@pytest.fixture
def read() -> Callable[..., dict[str, list[object]]]:
    """Read all batches, check what holds for each, and join them."""
    return read_all


@pytest.fixture
def as_anybody():
    """Give up the rights of root, who reads everything, for the rest of a test.

    Ask for it when the files are made: `request.getfixturevalue("as_anybody")`.
    """
    if os.geteuid() != 0:
        yield
        return
    # Others may enter the working folder, which is all that a relative path needs.
    os.chmod(".", 0o755)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
