"""How much of the input was read, for a progress bar."""

import gzip
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tests.kit.progress import RecordedProgress

from neardup import ParameterError, dedup, dedup_files
from neardup.base.progress import share_of
from neardup.readers import open_sources


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


def test_run_reports_stages_and_shares(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(500))
    told = RecordedProgress()
    dedup_files([tmp_path / "a.jsonl"], tmp_path / "k.jsonl", progress=told)
    assert told.stages[0] == ("read and sketch", None)
    assert told.shares[-1] == 1
    assert told.stages[-1] == ("write", 500)
    assert told.done == [500, 500, 500]
    dedup(["a", "b"], against=["c"])  # tables have none, and need none


def test_callbacks_of_another_form_are_refused():
    class Two(RecordedProgress):
        def stage(self, name, documents):
            pass

    with pytest.raises(ParameterError, match=r"stage\(name, documents, share\)"):
        dedup_files(["a.jsonl"], "b.jsonl", progress=Two())
