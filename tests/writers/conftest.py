"""An empty working folder for each test, and outputs read with other means than the package's."""

import bz2
import csv
import gzip
import io
import json
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tests.kit.places import bucket  # noqa: F401


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


UNPACK = {
    ".gz": gzip.decompress,
    ".xz": lzma.decompress,
    ".bz2": bz2.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


def unpack(path):
    """Return the bytes of an output without its compression."""
    return UNPACK.get(Path(path).suffix, bytes)(Path(path).read_bytes())


def table_of(path):
    """Return a Parquet or Arrow output as a table."""
    if path.endswith(".parquet"):
        return pq.read_table(path)
    data = Path(path).read_bytes()
    opener = pa.ipc.open_file if data.startswith(b"ARROW1") else pa.ipc.open_stream
    return opener(data).read_all()


def records_of(path):
    """Return the records of an output; values of CSV and TSV are text."""
    if path.endswith((".parquet", ".arrow")):
        return table_of(path).to_pylist()
    data = unpack(path).decode()
    if ".jsonl" in path:
        return [json.loads(line) for line in data.split("\n")[:-1]]
    delimiter = "," if ".csv" in path else "\t"
    return list(csv.DictReader(io.StringIO(data, newline=""), delimiter=delimiter, strict=True))
