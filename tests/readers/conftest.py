"""Files to read: written by other libraries than the ones under test."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard

from neardup.readers import open_sources


def packed(data: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    if suffix == ".zst":
        return zstandard.ZstdCompressor().compress(data)
    return data


def read_all(paths, batch_bytes=1 << 22, batch_records=8192, titles=None, **options):
    sources = open_sources([paths] if isinstance(paths, str) else paths, **options)
    out = {"texts": [], "ids": [], "titles": [], "extra": {}, "problems": [], "bytes": 0}
    for batch in sources.batches(
        titles=titles, batch_bytes=batch_bytes, batch_records=batch_records
    ):
        assert batch.first == len(out["ids"])
        assert batch.texts.type == pa.large_string()
        assert len(batch) == len(batch.texts) == len(batch.ids) <= batch_records
        batch.texts.validate(full=True)
        out["texts"] += batch.texts.to_pylist()
        out["ids"] += batch.ids
        names = batch.titles.to_pylist() if batch.titles is not None else [None] * len(batch)
        out["titles"] += names
        for name, values in batch.extra.items():
            assert len(values) == len(batch)
            out["extra"].setdefault(name, []).extend(values)
        out["problems"] += batch.problems
        out["bytes"] += batch.bytes_read
    assert sources.records == len(out["ids"])
    out["notes"] = sources.notes
    return out


@pytest.fixture
def read() -> Callable[..., dict[str, list[object]]]:
    """Read all batches, check what holds for each, and join them."""
    return read_all


@pytest.fixture
def pack() -> Callable[[bytes, str], bytes]:
    return packed


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Write a file into an empty working folder and give its name there."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, data: bytes | str = b"") -> str:
        raw = data.encode() if isinstance(data, str) else data
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed(raw, path.suffix))
        return name

    return write


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run a program in a new interpreter that finds the package where this one does."""

    def run(program: str, **options: object) -> subprocess.CompletedProcess[bytes]:
        path = f"import sys; sys.path[:0] = {sys.path!r}\n"
        return subprocess.run(
            [sys.executable, "-c", path + program], capture_output=True, timeout=60, **options
        )

    return run
