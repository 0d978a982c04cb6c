"""Batches: how much of the input was read, and the file and the record of each row."""

import gzip
import json
import random
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tests.kit.progress import RecordedProgress

from neardup import ParameterError, dedup, dedup_files
from neardup.base.progress import share_of
from neardup.options.signatures import complete_options
from neardup.readers import open_sources, open_table
from neardup.readers.batch import find_place
from neardup.readers.lines import read_whole_lines


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
def test_share_grows_to_the_whole_input(tmp_path, kind):
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


def test_a_run_tells_it(tmp_path):
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
        places = [find_place(batch.runs, row) for batch in batches for row in range(len(batch))]
        assert places == expected
    assert find_place([], 0) == ("input", None)


def test_rows_of_tables_know_their_positions():
    data = open_table([{"text": str(number)} for number in range(5000)])
    places = [find_place(b.runs, row) for b in data.batches() for row in range(len(b))]
    assert places == [("input", number) for number in range(1, 5001)]


# Records longer than max_text: a problem each, copied or dropped, and never held whole.

LONG = "x" * 3000


def _records_of(kind):
    """Return the lines of a file whose second of three records is longer than 1,000 bytes."""
    if kind == "text":
        return [LONG.encode()]
    if kind.startswith("csv"):
        long = f'"{LONG[:900]}\n{LONG}"' if kind == "csv of lines" else LONG
        rows = ["text,id", "a fox in the yard,1", f"{long},2", "a hen on the roof,3"]
        return [row.encode() + b"\n" for row in rows]
    texts = ["a fox in the yard", LONG, "a hen on the roof"]
    return [
        orjson.dumps({"text": text, "id": str(index)}) + b"\n"
        for index, text in enumerate(texts, 1)
    ]


@pytest.mark.parametrize("batch", [256, 1 << 22])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "csv of lines", "parquet", "text", "table"])
def test_too_long_record_is_a_problem(make, kind, batch):
    lines = _records_of(kind)
    if kind in ("parquet", "table"):
        table = pa.Table.from_pylist([orjson.loads(line) for line in lines])
        pq.write_table(table, make("a.parquet"))
        name = "a.parquet"
    else:
        extension = {"text": "txt.gz", "jsonl": "jsonl.gz"}.get(kind, "csv")
        name = make(f"a.{extension}", b"".join(lines))
    source = (
        open_table(table, max_text=1000) if kind == "table" else open_sources([name], max_text=1000)
    )
    batches = list(source.batches(batch_bytes=batch))
    problems = [problem for result in batches for problem in result.problems]
    texts = [text for result in batches for text in result.texts.to_pylist()]
    assert [(problem.record, problem.reason.code) for problem in problems] == [
        (1 if kind == "text" else 2, "too_long")
    ]
    assert texts == ([None] if kind == "text" else ["a fox in the yard", None, "a hen on the roof"])


@pytest.mark.parametrize("on_error", ["keep", "drop"])
@pytest.mark.parametrize("kind", ["jsonl", "jsonl.zst", "csv", "parquet", "annotated"])
def test_too_long_record_is_copied_or_dropped(make, kind, on_error):
    extension = "jsonl" if kind == "annotated" else kind
    lines = _records_of(kind)
    name = make(f"a.{extension}", b"".join(lines))
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist([orjson.loads(line) for line in lines]), name)
    output = f"out.{extension.removesuffix('.zst')}"
    files = {"on_error": on_error, "annotate": kind == "annotated"}
    summary = dedup_files([name], output, max_text=1000, **files).summary
    assert (summary.read, summary.unreadable, summary.problems) == (3, 1, 1)
    expected = (
        lines if on_error == "keep" else [line for line in lines if LONG.encode() not in line]
    )
    if kind == "parquet":
        assert pq.read_table(output).to_pylist() == [orjson.loads(line) for line in expected]
    elif kind == "annotated":
        written = Path(output).read_bytes().splitlines(keepends=True)
        assert len(written) == len(expected)
        assert (lines[1] in written) is (on_error == "keep")
        assert orjson.loads(written[-1])["cluster_size"] == 1
    else:
        assert Path(output).read_bytes() == b"".join(expected)


def test_too_long_line_is_never_held():
    def chunks():
        yield b"1\n2\n3"
        yield from [b"x" * 100] * 50
        yield b"y\n4\n5"

    result = [
        block if isinstance(block, bytes) else [len(part) for part in block]
        for block in read_whole_lines(chunks(), 1000)
    ]
    assert result == [b"1\n2", [*[1], *[100] * 50, 1], b"4", b"5"]


def test_the_longest_record_is_at_most_a_quarter_of_the_memory():
    given = {"max_text": "256MiB", "memory": "512MiB"}
    assert complete_options(dedup_files, given)["max_text"] == 128 << 20
