"""Records longer than max_text: a problem each, copied or dropped, and never held whole."""

from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.options.signatures import complete_options
from neardup.readers import open_sources, open_table
from neardup.readers.lines import whole_lines
from neardup.tasks.dedup import dedup_files

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
def test_a_record_that_is_too_long_is_a_problem(make, kind, batch):
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
def test_a_record_that_is_too_long_is_copied_or_dropped(make, kind, on_error):
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


def test_a_line_that_is_too_long_is_never_held():
    def chunks():
        yield b"1\n2\n3"
        yield from [b"x" * 100] * 50
        yield b"y\n4\n5"

    result = [
        block if isinstance(block, bytes) else [len(part) for part in block]
        for block in whole_lines(chunks(), 1000)
    ]
    assert result == [b"1\n2", [*[1], *[100] * 50, 1], b"4", b"5"]


def test_the_longest_record_is_at_most_a_quarter_of_the_memory():
    given = {"max_text": "256MiB", "memory": "512MiB"}
    assert complete_options(dedup_files, given)["max_text"] == 128 << 20
