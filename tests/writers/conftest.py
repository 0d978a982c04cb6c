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


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def unpack(path):
    """Return the bytes of an output without its compression."""
    data = Path(path).read_bytes()
    if path.endswith(".gz"):
        return gzip.decompress(data)
    if path.endswith(".xz"):
        return lzma.decompress(data)
    if path.endswith(".bz2"):
        return bz2.decompress(data)
    if path.endswith(".zst"):
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    return data


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
