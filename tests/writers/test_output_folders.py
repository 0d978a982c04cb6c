"""A folder of outputs has a file for each input, or parts; it appears as a whole or not at all."""

import io
import json
import os
import random
import signal
from itertools import count, product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import forks
from tests.kit.formats import serialize
from tests.kit.progress import RecordedProgress
from tests.readers.making import tarred, zipped

import neardup
from neardup.base.messages import Message
from neardup.exceptions import NeardupError, OutputError, ParameterError
from neardup.readers import open_sources
from neardup.writers import open_output, write_kept
from neardup.writers.address_sink import AddressSink
from neardup.writers.folder import OutputFolder
from neardup.writers.sink import FileSink, StagedSink

TEXTS = [
    f"The ferry of line {n} leaves pier {n * 7} at {n} past nine with mail." for n in range(40)
]
SCHEMA = pa.schema([("n", pa.int16()), ("text", pa.string())], {"by": "me"})


@pytest.fixture
def shards(make):
    """Write shards, one of them empty, of texts of which the first ten are repeated."""

    def write(format="jsonl", count=4, folder="in"):
        texts = TEXTS + TEXTS[:10]
        for shard in range(count):
            part = [] if shard == 3 else texts[shard::count]
            records = [{"n": n, "text": text} for n, text in enumerate(part)]
            if format == "parquet":
                table = pa.Table.from_pylist(records, SCHEMA)
                options = {"compression": "gzip", "use_dictionary": ["n"], "row_group_size": 3}
                data = serialize(table, format, **options)
            elif format == "csv":
                data = "n,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(part))
            else:
                data = serialize(records, "jsonl")
            make(f"{folder}/{'even' if shard % 2 else '.'}/s{shard:02}.{format}", data)
        return folder

    return write


def names(folder="."):
    return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*") if p.is_file())


def contents(folder="."):
    return {name: Path(folder, name).read_bytes() for name in names(folder)}


def layout(path):
    """Return the encoding of each original column, and the numbers of rows of the groups."""
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(2)]
    encoded = {(c.path_in_schema, c.has_dictionary_page, c.compression) for c in columns}
    # All but the last group are full.
    return encoded | {group.num_rows for group in groups[:-1]}


@pytest.mark.parametrize("format", ["jsonl", "jsonl.gz", "csv", "parquet"])
@pytest.mark.parametrize("annotate", [False, True])
def test_folder_has_the_records_of_one_file(shards, format, annotate):
    result = neardup.dedup_files([shards(format, 8)], "out/", annotate=annotate)
    suffix = "csv" if format == "csv" else "jsonl"
    neardup.dedup_files(["in"], f"one.{suffix}", annotate=annotate)
    # The files together are the one file.
    joined = open_sources(["out"])
    records = sum(len(batch) for batch in joined.batches())
    with open_output(f"joint.{suffix}") as again:
        write_kept(joined, [True] * records, again)
    assert result.summary.read > 40 > 0 == result.summary.left_out
    assert names("out") == names("in")
    assert Path(f"joint.{suffix}").read_bytes() == Path(f"one.{suffix}").read_bytes()
    if format == "parquet":
        for name in names("in"):
            made, given = pq.read_schema(f"out/{name}"), pq.read_schema(f"in/{name}")
            assert made.metadata == given.metadata
            assert made.names[:2] == given.names
            assert layout(f"out/{name}") <= layout(f"in/{name}")
    if format == "jsonl.gz":
        assert all(data[:2] == b"\x1f\x8b" for data in contents("out").values())


@pytest.mark.parametrize("first", [0, 1])
def test_row_groups_have_the_size_of_the_largest_one(first):
    Path("in").mkdir()
    with pq.ParquetWriter("in/s.parquet", pa.schema([("text", pa.string())])) as made:
        for begin, end in ((0, first), (first, 20), (20, 40)):
            made.write_table(pa.table({"text": TEXTS}).slice(begin, end - begin))
    neardup.dedup_files(["in"], "out/")
    metadata = pq.read_metadata("out/s.parquet")
    assert (metadata.num_rows, metadata.num_row_groups) == (40, 2)


def test_texts_and_members_of_archives_are_copied_unchanged(make):
    data = "\ufeffHäfen\r\nund Fähren".encode("utf-16")
    for name in ("a.txt", "b.txt"):
        make(f"in/{name}", data)
    make("in/c.zip", zipped({"d/e.txt": "Another text of the harbour."}))
    neardup.dedup_files(["in"], "out/")
    assert names("out") == ["a.txt", "c/d/e.txt"]
    assert Path("out/a.txt").read_bytes() == data


def test_other_files_of_a_folder_are_not_touched(make, shards):
    make("out/mine", "mine")
    with pytest.raises(OutputError, match="must be an empty folder"):
        neardup.dedup_files([shards()], "out")
    notes = RecordedProgress()
    neardup.dedup_files(["in"], "out", force=True, progress=notes)
    assert [note for note in notes.notes if "1 other file, which stays as it is: mine" in note]
    assert names("out") == sorted(["mine", *names("in")])
    assert Path("out/mine").read_text() == "mine"


@pytest.mark.parametrize("way", ["a file for each input", "parts", "dry run"])
def test_current_folder_is_filled_and_not_replaced(shards, monkeypatch, way):
    """A shell stays in the folder that it is in, which would no longer have a name."""
    shards()
    Path("out").mkdir()
    monkeypatch.chdir("out")
    options = {"parts": {"part_size": "1GB"}, "dry run": {"part_size": "1GB", "dry_run": True}}
    neardup.dedup_files(["../in"], ".", **options.get(way, {}))
    expected = {"parts": ["part-00000.jsonl"], "dry run": []}
    assert sorted(os.listdir(".")) == expected.get(way, sorted(os.listdir("../in")))


@pytest.mark.parametrize(
    ("owner", "step"),
    [(StagedSink, "finish"), (StagedSink, "sync"), (AddressSink, "finish")],
)
def test_folder_filled_during_a_run_is_refused(shards, make, bucket, monkeypatch, owner, step):
    """Two runs may have begun with the same new folder."""
    is_remote = owner is AddressSink
    plain = getattr(owner, step)

    def fill(sink):
        if is_remote:
            bucket.pipe_file("/bucket/out/other", b"other")
        else:
            make("out/other", "other")
        plain(sink)

    monkeypatch.setattr(owner, step, fill)
    with pytest.raises(OutputError, match="must be an empty folder"):
        neardup.dedup_files([shards()], "memory://bucket/out/" if is_remote else "out/")
    if is_remote:
        assert list(bucket.find("/bucket")) == ["/bucket/out/other"]
    else:
        assert (sorted(os.listdir(".")), os.listdir("out")) == (["in", "out"], ["other"])


@pytest.mark.parametrize("make_other", [os.mkdir, os.mkfifo])
def test_only_files_of_a_folder_are_replaced(shards, make_other):
    os.mkdir("out")
    make_other("out/s02.jsonl")
    with pytest.raises(OutputError, match=r"s02\.jsonl: must be a file"):
        neardup.dedup_files([shards()], "out", force=True)
    assert os.listdir("out") == ["s02.jsonl"]


@pytest.mark.parametrize("pair", [("a.tar", "a.zip"), ("a", "a.zip")])
def test_inputs_with_one_path_are_refused_before_they_are_read(make, pair):
    shard = {"b.jsonl": b'{"text": "a"}\n'}
    packed = {"a.tar": tarred(shard), "a.zip": zipped(shard), "a": shard["b.jsonl"]}
    for name in pair:
        make(f"in/{name}", packed[name])
    with pytest.raises(ParameterError, match="would both be written to a") as raised:
        neardup.dedup_files(["in"], "out/", format="jsonl")
    assert all(f"in/{name}" in str(raised.value) for name in pair)
    assert names() == [f"in/{name}" for name in pair]


@pytest.mark.parametrize(
    "task",
    [
        lambda place: neardup.sketch_files(["in"], place),
        lambda place: neardup.dedup_files(["in"], "k.jsonl", report=place),
        lambda place: neardup.pairs_files(["in"], place),
    ],
    ids=["sketch", "report", "pairs"],
)
def test_output_of_one_file_is_not_a_folder(shards, task):
    shards()
    with pytest.raises(NeardupError, match="out/: must"):
        task("out/")
    assert os.listdir() == ["in"]


@pytest.mark.parametrize(
    ("inputs", "output", "options", "named"),
    [
        (["dump-a", "dump-b"], "out/", {}, ["dump-a", "dump-b"]),
        (["dump-a"], "dump-a/out/", {}, ["dump-a"]),
        (["dump-a"], "./", {}, ["dump-a"]),
        (["-"], "out/", {}, ["out/"]),
        (["dump-t"], "out/", {"annotate": True}, ["dump-t"]),
        (["dump-a"], "out/", {"removed": "out/"}, ["out/"]),
    ],
    ids=["same path", "inside", "around", "standard input", "text", "twice"],
)
def test_conflicting_outputs_are_refused(shards, make, monkeypatch, inputs, output, options, named):
    for folder in ("dump-a", "dump-b"):
        shards(count=2, folder=folder)
    make("dump-t/t.txt", "A text of the harbour.")
    before = names()
    # Pytest has replaced standard input by what cannot be read.
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "a"}')))
    with pytest.raises(NeardupError) as raised:
        neardup.dedup_files(inputs, output, force=True, **options)
    assert all(name in str(raised.value) for name in named)
    assert names() == before


@pytest.mark.parametrize(
    ("link", "target", "words"),
    [
        ("out/s00.jsonl", "../in/s00.jsonl", r"^in/s00\.jsonl: .* but is the output out\."),
        ("out/even", "../in/even", r"^out/even/s01\.jsonl: must not be a link"),
        ("in/z.jsonl", "../out/mine.jsonl", r"^in/z\.jsonl: .* but is the output out\."),
    ],
    ids=["the output", "a folder of outputs", "an input"],
)
def test_link_between_inputs_and_outputs_is_refused(shards, make, link, target, words):
    shards()
    make("out/mine.jsonl", "{}")
    Path(link).symlink_to(target)
    before = contents()
    with pytest.raises(OutputError, match=words):
        neardup.dedup_files(["in"], "out", force=True)
    assert contents() == before


@pytest.mark.parametrize("format", ["jsonl", "jsonl.gz", "csv", "parquet"])
def test_parts_have_the_records_of_one_file(make, format):
    """A part ends after the block of records with which it reaches its size."""
    rng = random.Random(1)
    texts = ("".join(rng.choices("abcdefghij ", k=900)) + "\n" for _ in range(6000))
    rows = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    make(f"in/s.{format}", serialize(rows, format.partition(".")[0]))
    neardup.dedup_files(["in"], "one.jsonl")
    neardup.dedup_files(["in"], "parts/", part_size="1MB")
    sizes = [Path("parts", name).stat().st_size for name in names("parts")]
    assert names("parts") == [f"part-{number:05}.{format}" for number in range(len(sizes))]
    assert len(sizes) > 1
    assert all(900_000 < size < 2_500_000 for size in sizes[:-1])
    neardup.dedup_files(["parts"], "joint.jsonl")
    assert Path("joint.jsonl").read_bytes() == Path("one.jsonl").read_bytes()


def test_size_of_parts_is_checked(shards):
    shards()
    with pytest.raises(ParameterError, match="at least 1MB"):
        neardup.dedup_files(["in"], "x/", part_size=999_999)
    with pytest.raises(ParameterError, match="must be left out for files"):
        neardup.dedup_files(["in"], "x.jsonl", part_size="1MB")


def rows_of(path):
    if str(path).endswith(".parquet"):
        return pq.read_table(path).to_pylist()
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


TASKS = {
    "removed": lambda place: neardup.dedup_files(["in"], "k.jsonl", removed=place, force=True),
    "fingerprint": lambda place: neardup.fingerprint_files(["in"], place),
    "repeats": lambda place: neardup.repeats_files(["in"], place),
    "places": lambda place: neardup.repeats_files(["in"], places=place),
    "remove": lambda place: neardup.repeats_files(["in"], remove=place),
}


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
@pytest.mark.parametrize("task", TASKS)
def test_rows_about_documents_are_in_the_file_of_their_input(shards, task, format):
    shards(format, 8)
    for place in ("out/", "one.jsonl"):
        TASKS[task](place)
    assert names("out") == names("in")
    rows = {name: rows_of(Path("out", name)) for name in names("out")}
    found = [row for some in rows.values() for row in some]
    assert len(found) >= 9
    assert found == rows_of("one.jsonl")
    if task in ("removed", "fingerprint", "places"):
        for name, some in rows.items():
            assert all(row["id"].startswith(f"in/{name}:") for row in some)


def test_folder_at_an_address(shards, bucket):
    neardup.dedup_files([shards(count=8)], "here/", removed="removed/")
    there = {"removed": "memory://bucket/removed/"}
    result = neardup.dedup_files(["in"], "memory://bucket/here/", **there)
    assert result.summary.near_duplicates + result.summary.exact_duplicates >= 9
    for folder in ("here", "removed"):
        found = {name: bucket.cat_file(name) for name in bucket.find(f"/bucket/{folder}")}
        expected = contents(folder)
        assert found == {f"/bucket/{folder}/{name}": data for name, data in expected.items()}
    with pytest.raises(OutputError, match="must be an empty folder"):
        neardup.dedup_files(["in"], "memory://bucket/here/")


def test_error_during_renaming_names_the_finished_files(shards, monkeypatch):
    shards(count=8)
    plain = StagedSink.commit

    def commit(sink):
        if sink.name.endswith("s04.jsonl"):
            raise OutputError(Message("{file}: cannot be written: {said}.", file="x", said="Full"))
        plain(sink)

    monkeypatch.setattr(StagedSink, "commit", commit)
    Path("out").mkdir()
    Path("out/mine").touch()
    # Folders are read in the order of their paths.
    with pytest.raises(
        OutputError, match=r"Only these outputs are complete: .*s05\.jsonl and 3 more"
    ):
        neardup.dedup_files(["in"], "out", force=True)
    assert len(names("out")) == 1 + 6
    assert not list(Path().glob(".out.*"))


#: Steps on the way of an output, which are counted.
STEPS = [
    *((OutputFolder, name) for name in ("open", "commit")),
    *((StagedSink, name) for name in ("finish", "sync")),
    *((FileSink, name) for name in ("finish", "commit")),
]


def run_killed(call, work):
    """De-duplicate a folder in this process, which is killed at its n-th step."""
    calls = count()

    def count_calls(plain):
        def step(*given):
            if next(calls) == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return plain(*given)

        return step

    for owner, name in STEPS:
        setattr(owner, name, count_calls(getattr(owner, name)))
    neardup.dedup_files(["in"], "out/", removed="removed.jsonl", work=work or None)


@pytest.mark.slow
# From the first file that is opened to the last output that gets its name; with a work folder,
# its manifest too.
@pytest.mark.parametrize(
    ("work", "call"),
    [*product([""], [0, 6, 12, 16, 18, 24, 25, 26]), *product(["work"], range(0, 35, 3))],
)
def test_killed_run_leaves_no_part_of_a_folder_and_resumes(shards, tmp_path, call, work):
    shards(count=8)
    done = forks.run(run_killed, call, work, folder=tmp_path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    is_whole = os.path.exists("out")
    assert not is_whole or names("out") == names("in")
    neardup.dedup_files(["in"], "expected/")
    # A work folder knows what its run wrote.
    force = is_whole and not work
    neardup.dedup_files(["in"], "out/", removed="removed.jsonl", work=work or None, force=force)
    assert contents("out") == contents("expected")
    assert not list(Path().glob(".*"))
