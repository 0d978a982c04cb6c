"""Batches: how much of the input was read, and the file and the record of each row."""

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kit.formats import serialize
from tests.kit.progress import RecordedProgress

from neardup import ParameterError, dedup, dedup_files
from neardup.base.progress import share_of
from neardup.options.signatures import complete_options
from neardup.readers import open_sources, open_table
from neardup.readers.batch import find_place
from neardup.readers.lines import read_whole_lines


def rows(count=3000):
    draw = random.Random(4)
    return [{"id": str(n), "text": f"{draw.getrandbits(400):x}"} for n in range(count)]


@pytest.mark.parametrize("kind", ["jsonl", "gz", "zst", "csv", "parquet", "txt"])
def test_share_grows_to_the_whole_input(make, kind):
    lines = serialize(rows(), "jsonl")
    if kind == "txt":
        for index, line in enumerate(lines.splitlines()[:60]):
            make(f"in/{index:02}.txt", line)
    elif kind in ("csv", "parquet"):
        make(f"in/a.{kind}", serialize(rows(), kind, row_group_size=300))
    else:
        make("in/a.jsonl" if kind == "jsonl" else f"in/a.jsonl.{kind}", lines)
        # A second file in the same input.
        make("in/b.jsonl", lines)
    sources = open_sources(["in"])
    share = share_of(sources)
    for _ in range(2):  # the second pass begins again
        shares = []
        for batch in sources.batches(batch_records=50, batch_bytes=20_000):
            shares.append(share())
            assert len(batch) <= 50
        assert shares == sorted(shares)
        # Parquet and text files of this size are read in one piece.
        assert 0 < shares[0] < (1.1 if kind in ("parquet", "txt") else 0.9)
        assert share() == shares[-1] == 1


def test_a_run_tells_it(make):
    told = RecordedProgress()
    dedup_files([make("a.jsonl", serialize(rows(500), "jsonl"))], "k.jsonl", progress=told)
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


def test_rows_know_their_files(make):
    lines = [f'{{"text": "text {number}"}}\n' for number in range(7)]
    make("a.jsonl", "".join(lines[:4]) + "\n" + lines[4])
    make("b.csv", "text\nfirst\nsecond\n")
    make("c/x.txt", "x")
    make("c/y.txt", "y")
    make("d.parquet", serialize([{"text": "p"}, {"text": "q"}], "parquet"))
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
#: Three records, the second of which is longer than 1,000 bytes.
RECORDS = [
    {"text": text, "id": str(number)}
    for number, text in enumerate(("a fox in the yard", LONG, "a hen on the roof"), 1)
]
#: A field of several lines.
LINES = [RECORDS[0], {**RECORDS[1], "text": f"{LONG[:900]}\n{LONG}"}, RECORDS[2]]


@pytest.mark.parametrize("batch", [256, 1 << 22])
@pytest.mark.parametrize("kind", ["jsonl.gz", "csv", "csv of lines", "parquet", "txt.gz", "table"])
def test_too_long_record_is_a_problem(make, kind, batch):
    format = kind.partition(".")[0].partition(" ")[0]
    if kind == "table":
        source = open_table(pa.Table.from_pylist(RECORDS), max_text=1000)
    else:
        records = LINES if kind == "csv of lines" else RECORDS
        data = LONG.encode() if format == "txt" else serialize(records, format)
        data = data.replace(b'"', b"") if kind == "csv" else data
        source = open_sources([make(f"a.{kind.partition(' ')[0]}", data)], max_text=1000)
    batches = list(source.batches(batch_bytes=batch))
    problems = [problem for result in batches for problem in result.problems]
    texts = [text for result in batches for text in result.texts.to_pylist()]
    (problem,) = problems
    is_text = format == "txt"
    assert (problem.record, problem.reason.code) == (1 if is_text else 2, "too_long")
    assert texts == ([None] if is_text else [RECORDS[0]["text"], None, RECORDS[2]["text"]])


@pytest.mark.parametrize("on_error", ["keep", "drop"])
@pytest.mark.parametrize("format", ["jsonl", "jsonl.zst", "csv", "parquet", "annotated"])
def test_too_long_record_is_copied_or_dropped(make, format, on_error):
    is_annotated = format == "annotated"
    extension = "jsonl" if is_annotated else format
    plain = extension.removesuffix(".zst")
    name, output = make(f"a.{extension}", serialize(RECORDS, plain)), f"out.{plain}"
    options = {"on_error": on_error, "annotate": is_annotated}
    summary = dedup_files([name], output, max_text=1000, **options).summary
    assert (summary.read, summary.unreadable, summary.problems) == (3, 1, 1)
    expected = [row for row in RECORDS if on_error == "keep" or row is not RECORDS[1]]
    if format == "parquet":
        assert pq.read_table(output).to_pylist() == expected
    elif is_annotated:
        written = Path(output).read_bytes().splitlines(keepends=True)
        assert len(written) == len(expected)
        assert (serialize(RECORDS[1:2], "jsonl") in written) is (on_error == "keep")
        assert json.loads(written[-1])["cluster_size"] == 1
    else:
        assert Path(output).read_bytes() == serialize(expected, plain)


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
