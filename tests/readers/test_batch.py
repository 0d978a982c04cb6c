"""Rows of a batch know the file and the record that they come from."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.readers import open_sources, open_table
from neardup.readers.batch import place_of


def test_rows_know_their_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f'{{"text": "text {number}"}}\n' for number in range(7)]
    Path("a.jsonl").write_text("".join(lines[:4]) + "\n" + lines[4])
    Path("b.csv").write_text("text\nfirst\nsecond\n")
    Path("c").mkdir()
    for name in ("x.txt", "y.txt"):
        Path("c", name).write_text(name)
    pq.write_table(pa.table({"text": ["p", "q"]}), "d.parquet")
    expected = [("a.jsonl", number) for number in range(1, 6)]
    expected += [("b.csv", 1), ("b.csv", 2), ("c/x.txt", 1), ("c/y.txt", 1)]
    expected += [("d.parquet", 1), ("d.parquet", 2)]
    sources = open_sources(["a.jsonl", "b.csv", "c", "d.parquet"])
    for size, records in ((4 << 20, 8192), (1, 8192), (1 << 20, 1), (1 << 20, 3)):
        batches = sources.batches(batch_bytes=size, batch_records=records)
        places = [place_of(batch.runs, row) for batch in batches for row in range(len(batch))]
        assert places == expected
    assert place_of([], 0) == ("input", None)


def test_rows_of_tables_know_their_positions():
    data = open_table([{"text": str(number)} for number in range(5000)])
    places = [place_of(b.runs, row) for b in data.batches() for row in range(len(b))]
    assert places == [("input", number) for number in range(1, 5001)]
