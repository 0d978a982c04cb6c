"""An output appears complete, or not at all."""

import gzip
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tests.waiting import PATIENCE
from tests.writers.conftest import records_of, unpack

from neardup.exceptions import OutputError, ParameterError
from neardup.writers import OutputSet, open_output, pairs_schema, removed_schema, write_rows

# The error under test comes out of a with block, after some writing inside.
# ruff: noqa: PT012, SIM117

PLAIN = ["o.jsonl", "o.csv", "o.tsv", "o.parquet", "o.arrow", "o.feather"]
ALL = [*PLAIN, "o.jsonl.gz", "o.csv.zst", "o.jsonl.xz", "o.tsv.bz2"]
BATCH = pa.record_batch({"text": ["a", "b"]})


def fill(output):
    output.begin(BATCH.schema)
    output.write_batch(BATCH)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_error_leaves_nothing(name, error):
    with pytest.raises(error), open_output(name) as output:
        fill(output)
        raise error
    assert os.listdir() == []


def test_outputs_appear_together():
    with OutputSet((), rows={name: name for name in ALL}) as outputs:
        for name in ALL:
            fill(outputs.files[name])
        # Each is in a temporary file of its name.
        assert {name.rsplit(".", 2)[0] for name in os.listdir()} == {f".{name}" for name in ALL}
    assert sorted(os.listdir()) == sorted(ALL)


def test_one_failing_output_stops_all():
    with pytest.raises(OutputError, match=r"^no/b\.jsonl: must be in a folder that exists"):
        OutputSet((), {"a": "a.jsonl", "b": "no/b.jsonl"}).__enter__()
    assert os.listdir() == []
    # One that fails only when its last bytes are written.
    os.symlink("/dev/full", "b.jsonl.gz")
    names = {"a": "a.jsonl", "b": "b.jsonl.gz"}
    with pytest.raises(OutputError, match="No space left"):
        with OutputSet((), names, force=lambda path: path == "b.jsonl.gz") as outputs:
            for output in outputs.records.values():
                fill(output)
    assert os.listdir() == ["b.jsonl.gz"]


def test_existing_file_needs_force():
    Path("o.jsonl").write_text("old")
    with pytest.raises(OutputError, match=r"exists already.*force=True"):
        open_output("o.jsonl")
    with pytest.raises(ZeroDivisionError), open_output("o.jsonl", force=True) as output:
        output.write(b"new")
        raise ZeroDivisionError
    assert Path("o.jsonl").read_text() == "old"
    os.chmod("o.jsonl", 0o640)
    with open_output("o.jsonl", force=True) as output:
        output.write(b"new")
    assert Path("o.jsonl").read_text() == "new"
    assert stat.S_IMODE(os.stat("o.jsonl").st_mode) == 0o640
    assert os.listdir() == ["o.jsonl"]


def test_name_taken_meanwhile_needs_force():
    with pytest.raises(OutputError, match=r"^o\.jsonl: exists already"):
        with open_output("o.jsonl") as output:
            output.write(b"new")
            Path("o.jsonl").write_text("other")
    assert Path("o.jsonl").read_text() == "other"
    assert os.listdir() == ["o.jsonl"]


def test_link_is_followed():
    Path("real.jsonl").write_text("old")
    os.symlink("real.jsonl", "o.jsonl")
    with open_output("o.jsonl", force=True) as output:
        output.write(b"new")
    assert os.path.islink("o.jsonl")
    assert Path("real.jsonl").read_text() == "new"


def test_new_file_of_the_longest_name_has_the_usual_mode():
    Path("plain").touch()
    name = "n" * 249 + ".jsonl"
    with open_output(name):
        pass
    assert os.stat(name).st_mode == os.stat("plain").st_mode
    assert sorted(os.listdir()) == [name, "plain"]


REFUSED = [
    ("o.txt", ParameterError, r"must end in \.jsonl, .*Got '\.txt' instead"),
    ("o.parquet.gz", ParameterError, r"must end in \.jsonl, .*Got '\.parquet\.gz' instead"),
    ("o.arrow.gz", ParameterError, r"must end in \.jsonl, .*Got '\.arrow\.gz' instead"),
    ("out", ParameterError, r"must end in \.jsonl, .*Got none instead"),
    ("d.jsonl", OutputError, r"must be a file\. Got a folder"),
    ("no/such/o.jsonl", OutputError, "must be in a folder that exists. Create .*/no/such first"),
]


@pytest.mark.parametrize(("name", "kind", "words"), REFUSED)
def test_refused(name, kind, words):
    os.mkdir("d.jsonl")
    with pytest.raises(kind, match=f"^{name}: {words}"):
        open_output(name)
    assert os.listdir() == ["d.jsonl"]


def test_same_output_twice():
    with pytest.raises(ParameterError, match=r"^\./o\.jsonl: must be one output only"):
        OutputSet((), {"output": "o.jsonl"}, rows={"report": "./o.jsonl"})
    assert os.listdir() == []


def test_closed_pipe_is_left_to_the_caller(run_in_fork):
    program = """
import os, sys
from neardup.writers import open_output
r, w = os.pipe(); os.close(r); os.dup2(w, 1)
try:
    with open_output(None) as output:
        output.write(b"x" * 1_000_000)
except BrokenPipeError:
    print("broken", file=sys.stderr)
    os._exit(0)
"""
    assert run_in_fork(program).stderr == b"broken\n"


def test_gzip_carries_no_time(monkeypatch):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        with open_output(name) as output:
            output.write(b"text\n")
        later = time.time() + 100
        monkeypatch.setattr(time, "time", lambda later=later: later)
    data = Path("a.jsonl.gz").read_bytes()
    assert data == Path("b.jsonl.gz").read_bytes()
    assert data[4:8] == bytes(4)
    assert gzip.decompress(data) == b"text\n"


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".xz", ".bz2"])
def test_cut_of_the_writes_changes_no_byte(monkeypatch, suffix):
    data = os.urandom(200_000).hex().encode() * 6
    seen = set()
    for step, processors in [(len(data), 1), (1000, 2), (1 << 20, 8)]:
        monkeypatch.setattr(os, "cpu_count", lambda processors=processors: processors)
        with open_output(f"o.jsonl{suffix}", force=True) as output:
            for begin in range(0, len(data), step):
                output.write(data[begin : begin + step])
        seen.add(Path(f"o.jsonl{suffix}").read_bytes())
    assert len(seen) == 1
    if suffix == ".zst":
        with zstandard.open("o.jsonl.zst", "rb") as file:
            assert file.read() == data


def test_parquet_row_groups_do_not_depend_on_batches():
    table = pa.table({"n": range(300_000)})
    groups = []
    for size in (1000, 70_000):
        with open_output("o.parquet", force=True) as output:
            output.begin(table.schema)
            for batch in table.to_batches(max_chunksize=size):
                output.write_batch(batch)
        file = pq.ParquetFile("o.parquet").metadata
        groups.append([file.row_group(i).num_rows for i in range(file.num_row_groups)])
    assert groups[0] == groups[1] == [131072, 131072, 37856]


#: A program that writes an output and is killed, or waits, before it has its name.
_WRITER = """
import os, signal, sys
from neardup.writers import open_output
output = open_output("o.jsonl", token=sys.argv[2] or None)
output.write(b"lost")
output.finish()
print("written", flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
sys.stdin.read()
output.commit()
"""


def started(end, token=""):
    """Start a writer, and wait until its file is complete."""
    words = [sys.executable, "-c", _WRITER, end, token]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(words, **pipes)
    assert process.stdout.readline() == b"written\n"
    return process


@pytest.mark.parametrize("token", ["", "work"])
def test_next_run_removes_only_the_rest_of_a_killed_one(token):
    others = [".o.jsonl.tmp", ".o.jsonl.0123456789abcdef.tmp", ".o.jsonl.01234567.tmp", "a.tmp"]
    for name in others:
        Path(name).write_text("mine")
    running = started("waits")
    (live,) = set(os.listdir()) - set(others)
    killed = started("killed", token)
    killed.communicate()
    (left,) = set(os.listdir()) - {*others, live}
    # Of the same folder, an output with the same beginning.
    with open_output("o.jsonl.gz") as output:
        output.write(b"")
    assert left in os.listdir()
    with open_output("o.jsonl", force=True) as output:
        output.write(b"new")
        assert left not in os.listdir()
    assert {*os.listdir()} == {*others, live, "o.jsonl", "o.jsonl.gz"}
    _, error = running.communicate(timeout=PATIENCE)
    assert b"o.jsonl: exists already" in error
    assert Path("o.jsonl").read_bytes() == b"new"


def test_two_runs_at_once_leave_each_other_alone():
    with open_output("o.jsonl", force=True) as first:
        first.write(b"first")
        first.finish()
        with open_output("o.jsonl", force=True) as second:
            second.write(b"second")
    assert Path("o.jsonl").read_bytes() == b"first"
    assert os.listdir() == ["o.jsonl"]


ROWS = [
    {"id": "b", "kept_id": "a", "similarity": 0.9, "measure": "resemblance", "distance": 3},
    {"id": "一,\n", "kept_id": "a", "similarity": 1.0, "measure": "exact", "distance": None},
]
REMOVED = removed_schema()
TABLE = pa.Table.from_pylist(ROWS, REMOVED)


def write(name, rows, schema=REMOVED):
    with open_output(name) as output:
        return write_rows(output, rows, schema)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".xz", ".bz2"])
def test_text_formats(suffix):
    assert write(f"r.jsonl{suffix}", ROWS) == 2
    records = records_of(f"r.jsonl{suffix}")
    assert records == ROWS
    assert [list(record) for record in records] == [REMOVED.names] * 2
    for format in ("csv", "tsv"):
        assert write(f"r.{format}{suffix}", ROWS) == 2
        records = records_of(f"r.{format}{suffix}")
        assert [list(record) for record in records] == [REMOVED.names] * 2
        assert [list(record.values()) for record in records] == [
            ["b", "a", "0.9", "resemblance", "3"],
            ["一,\n", "a", "1.0", "exact", ""],
        ]


#: Texts of another type.
LARGE = pa.schema(
    [
        field.with_type(pa.large_string()) if field.type == pa.string() else field
        for field in REMOVED
    ]
)


@pytest.mark.parametrize(
    "rows",
    [ROWS, iter(ROWS), TABLE, TABLE.select(REMOVED.names[::-1]), TABLE.cast(LARGE)],
    ids=range(5),
)
def test_every_kind_of_rows(rows):
    assert write("r.parquet", rows) == 2
    table = pq.read_table("r.parquet")
    assert table.schema == REMOVED
    assert table.to_pylist() == ROWS


@pytest.mark.parametrize("schema", [REMOVED, pairs_schema()])
@pytest.mark.parametrize("is_table", [True, False])
def test_no_rows_give_a_valid_file(schema, is_table):
    rows = schema.empty_table() if is_table else []
    for name in ("r.jsonl", "r.jsonl.zst", "r.csv", "r.tsv.gz", "r.parquet"):
        assert write(name, rows, schema) == 0
    assert unpack("r.jsonl") == unpack("r.jsonl.zst") == b""
    assert unpack("r.csv").decode() == ",".join(schema.names) + "\n"
    assert unpack("r.tsv.gz").decode() == "\t".join(schema.names) + "\n"
    assert pq.read_table("r.parquet").schema == schema


def test_open_output_is_left_to_the_caller():
    with open_output("r.jsonl") as output:
        write_rows(output, ROWS, REMOVED)
        assert not Path("r.jsonl").exists()
    assert len(records_of("r.jsonl")) == 2


def test_standard_output(capfdbinary):
    assert write(None, ROWS[:1]) == 1
    assert capfdbinary.readouterr().out == (
        b'{"id":"b","kept_id":"a","similarity":0.9,"measure":"resemblance","distance":3}\n'
    )


def test_many_rows():
    rows = ({**ROWS[0], "id": str(i)} for i in range(20_000))
    assert write("r.csv", rows) == 20_000
    assert unpack("r.csv").count(b"\n") == 20_001
