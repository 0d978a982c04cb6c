"""Batches: how much of the input was read, and the file and the record of each row."""

import gzip
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from neardup import ParameterError, dedup, dedup_files
from neardup.base.progress import Progress, share_of
from neardup.readers import open_sources, open_table
from neardup.readers.batch import place_of


def lines(count=3000):
    draw = random.Random(4)
    rows = ({"id": str(n), "text": f"{draw.getrandbits(400):x}"} for n in range(count))
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def write(folder, kind):
    data = lines()
    if kind == "parquet":
        table = pa.Table.from_pylist([json.loads(row) for row in data.splitlines()])
        pq.write_table(table, folder / "a.parquet", row_group_size=300)
    elif kind == "texts":
        for index, row in enumerate(data.splitlines()[:60]):
            (folder / f"{index:02}.txt").write_bytes(row)
    elif kind == "csv":
        rows = (json.loads(row) for row in data.splitlines())
        body = "".join(f"{row['id']},{row['text']}\n" for row in rows)
        (folder / "a.csv").write_text(f"id,text\n{body}")
    else:
        pack = {"gz": gzip.compress, "zst": zstandard.compress}.get(kind, bytes)
        (folder / f"a.jsonl{'.' * (pack is not bytes)}{kind}").write_bytes(pack(data))
        # A second file in the same input.
        (folder / "b.jsonl").write_bytes(data)


@pytest.mark.parametrize("kind", ["", "gz", "zst", "csv", "parquet", "texts"])
def test_it_grows_to_the_whole_input(tmp_path, kind):
    write(tmp_path, kind)
    sources = open_sources([tmp_path])
    share = share_of(sources)
    for _ in range(2):  # the second pass begins again
        shares = []
        for batch in sources.batches(batch_records=50, batch_bytes=20_000):
            shares.append(share())
            assert len(batch) <= 50
        assert shares == sorted(shares)
        # Parquet and text files of this size are read in one piece.
        assert 0 < shares[0] < (1.1 if kind in ("parquet", "texts") else 0.9)
        assert share() == shares[-1] == 1


class Told(Progress):
    def __init__(self):
        self.stages = []
        self.shares = []
        self.done = []

    def stage(self, name, documents, share=None):
        self.stages.append((name, documents))
        self.done.append(0)
        self.share = share

    def advance(self, documents, _size=0):
        self.done[-1] += documents
        if self.share is not None:
            self.shares.append(self.share())


def test_a_run_tells_it(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(500))
    told = Told()
    dedup_files([tmp_path / "a.jsonl"], tmp_path / "k.jsonl", progress=told)
    assert told.stages[0] == ("read and sketch", None)
    assert told.shares[-1] == 1
    assert told.stages[-1] == ("write", 500)
    assert told.done == [500, 500, 500]
    dedup(["a", "b"], against=["c"])  # tables have none, and need none


def test_callbacks_of_another_form_are_refused():
    class Two(Told):
        def stage(self, name, documents):
            pass

    with pytest.raises(ParameterError, match=r"stage\(name, documents, share\)"):
        dedup_files(["a.jsonl"], "b.jsonl", progress=Two())


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
