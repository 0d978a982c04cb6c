"""A folder of outputs has a file for each input, or parts; it appears as a whole or not at all."""

import gzip
import io
import json
import os
import random
import signal
import tarfile
import zipfile
from itertools import count, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from tests import forks
from tests.kit.progress import RecordedProgress

import neardup
import neardup.readers
from neardup.base.messages import Message
from neardup.exceptions import NeardupError, OutputError, ParameterError
from neardup.writers import open_output, write_kept, write_rows
from neardup.writers.address_sink import AddressSink
from neardup.writers.folder import OutputFolder
from neardup.writers.sink import FileSink, StagedSink

_TEXTS = [
    f"The ferry of line {n} leaves pier {n * 7} at {n} past nine with mail." for n in range(40)
]


def _make_shards(folder: Path, format: str, count: int) -> None:
    """Write shards, one of them empty, of texts of which the first ten are repeated."""
    texts = _TEXTS + _TEXTS[:10]
    for shard in range(count):
        part = [] if shard == 3 else texts[shard::count]
        path = folder / ("even" if shard % 2 else ".") / f"s{shard:02}.{format}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if format == "parquet":
            table = pa.table({"n": pa.array(range(len(part)), pa.int16()), "text": part})
            table = table.cast(pa.schema([("n", pa.int16()), ("text", pa.string())], {"by": "me"}))
            pq.write_table(table, path, row_group_size=3, compression="gzip", use_dictionary=["n"])
        elif format == "csv":
            path.write_text("n,text\n" + "".join(f"{n},{t}\n" for n, t in enumerate(part)))
        else:
            data = "".join(json.dumps({"n": n, "text": t}) + "\n" for n, t in enumerate(part))
            path.write_bytes(
                gzip.compress(data.encode()) if format.endswith("gz") else data.encode()
            )


def _names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _layout(path: Path) -> set[Any]:
    """Return the encoding of each original column, and the numbers of rows of the groups."""
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(2)]
    encoded = {(c.path_in_schema, c.has_dictionary_page, c.compression) for c in columns}
    # All but the last group are full.
    return encoded | {group.num_rows for group in groups[:-1]}


@pytest.mark.parametrize("format", ["jsonl", "jsonl.gz", "csv", "parquet"])
@pytest.mark.parametrize("annotate", [False, True])
def test_folder_has_the_records_of_one_file(tmp_path: Path, format: str, annotate: bool) -> None:
    shards, out = tmp_path / "in", tmp_path / "out"
    _make_shards(shards, format, 8)
    result = neardup.dedup_files([shards], f"{out}/", annotate=annotate)
    suffix = "csv" if format == "csv" else "jsonl"
    one, joint = tmp_path / f"one.{suffix}", tmp_path / f"joint.{suffix}"
    neardup.dedup_files([shards], one, annotate=annotate)
    # The files together are the one file.
    joined = neardup.readers.open_sources([out])
    records = sum(len(batch) for batch in joined.batches())
    with open_output(joint) as again:
        write_kept(joined, [True] * records, again)
    assert result.summary.read > 40 > 0 == result.summary.left_out
    assert _names(out) == _names(shards)
    assert joint.read_bytes() == one.read_bytes()
    if format == "parquet":
        for name in _names(shards):
            made, given = pq.read_schema(out / name), pq.read_schema(shards / name)
            assert made.metadata == given.metadata
            assert made.names[:2] == given.names
            assert _layout(out / name) <= _layout(shards / name)
    if format == "jsonl.gz":
        assert all((out / name).read_bytes()[:2] == b"\x1f\x8b" for name in _names(out))


@pytest.mark.parametrize("first", [0, 1])
def test_row_groups_have_the_size_of_the_largest_one(tmp_path: Path, first: int) -> None:
    (tmp_path / "in").mkdir()
    schema = pa.schema([("text", pa.string())])
    with pq.ParquetWriter(tmp_path / "in" / "s.parquet", schema) as made:
        for begin, end in ((0, first), (first, 20), (20, 40)):
            made.write_table(pa.table({"text": _TEXTS}).slice(begin, end - begin))
    neardup.dedup_files([tmp_path / "in"], f"{tmp_path}/out/")
    metadata = pq.read_metadata(tmp_path / "out" / "s.parquet")
    assert (metadata.num_rows, metadata.num_row_groups) == (40, 2)


def test_texts_and_members_of_archives_are_copied_unchanged(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    data = "\ufeffHäfen\r\nund Fähren".encode("utf-16")
    (tmp_path / "in" / "a.txt").write_bytes(data)
    (tmp_path / "in" / "b.txt").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "in" / "c.zip", "w") as archive:
        archive.writestr("d/e.txt", "Another text of the harbour.")
    neardup.dedup_files([tmp_path / "in"], f"{tmp_path / 'out'}/")
    assert _names(tmp_path / "out") == ["a.txt", "c/d/e.txt"]
    assert (tmp_path / "out" / "a.txt").read_bytes() == data


def test_other_files_of_a_folder_are_not_touched(tmp_path: Path) -> None:
    _make_shards(tmp_path / "in", "jsonl", 4)
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("mine")
    with pytest.raises(OutputError, match="must be an empty folder"):
        neardup.dedup_files([tmp_path / "in"], out)
    notes = RecordedProgress()
    neardup.dedup_files([tmp_path / "in"], out, force=True, progress=notes)
    assert [note for note in notes.notes if "1 other file, which stays as it is: mine" in note]
    assert _names(out) == sorted(["mine", *_names(tmp_path / "in")])
    assert (out / "mine").read_text() == "mine"


@pytest.mark.parametrize("way", ["a file for each input", "parts", "dry run"])
def test_current_folder_is_filled_and_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A shell stays in the folder that it is in, which would no longer have a name."""
    _make_shards(tmp_path / "in", "jsonl", 4)
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    options = {"parts": {"part_size": "1GB"}, "dry run": {"part_size": "1GB", "dry_run": True}}
    neardup.dedup_files(["../in"], ".", **options.get(way, {}))
    expected = {"parts": ["part-00000.jsonl"], "dry run": []}
    assert sorted(os.listdir(".")) == expected.get(way, sorted(os.listdir("../in")))


@pytest.mark.parametrize("when", [StagedSink.finish, StagedSink.sync])
@pytest.mark.parametrize("place", ["out", "memory://bucket/out"])
def test_folder_filled_during_a_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, when: Any
) -> None:
    """Two runs may have begun with the same new folder."""
    _make_shards(tmp_path / "in", "jsonl", 4)
    monkeypatch.chdir(tmp_path)
    system = MemoryFileSystem()
    owner = AddressSink if "://" in place else StagedSink
    plain = getattr(owner, "finish" if "://" in place else when.__name__)

    def filled(sink: Any) -> None:
        if "://" in place:
            system.pipe_file("/bucket/out/other", b"other")
        else:
            Path("out").mkdir(exist_ok=True)
            Path("out", "other").write_text("other")
        plain(sink)

    monkeypatch.setattr(owner, plain.__name__, filled)
    try:
        with pytest.raises(OutputError, match="must be an empty folder"):
            neardup.dedup_files(["in"], f"{place}/")
        if "://" in place:
            assert list(system.find("/bucket")) == ["/bucket/out/other"]
        else:
            assert sorted(os.listdir(".")) == ["in", "out"]
            assert os.listdir("out") == ["other"]
    finally:
        system.store.clear()
        system.pseudo_dirs[:] = [""]


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_only_files_of_a_folder_are_replaced(tmp_path: Path, kind: str) -> None:
    _make_shards(tmp_path / "in", "jsonl", 4)
    place = tmp_path / "out" / "s02.jsonl"
    place.parent.mkdir()
    if kind == "folder":
        place.mkdir()
    else:
        os.mkfifo(place)
    with pytest.raises(OutputError, match=r"s02\.jsonl: must be a file"):
        neardup.dedup_files([tmp_path / "in"], tmp_path / "out", force=True)
    assert os.listdir(tmp_path / "out") == ["s02.jsonl"]


@pytest.mark.parametrize("names", [("a.tar", "a.zip"), ("a", "a.zip")])
def test_inputs_with_one_path_are_refused_before_they_are_read(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    (tmp_path / "in").mkdir()
    shard = tmp_path / "b.jsonl"
    shard.write_text('{"text": "a"}\n')
    for name in names:
        path = tmp_path / "in" / name
        if name == "a.tar":
            with tarfile.open(path, "w") as tar:
                tar.add(shard, "b.jsonl")
        elif name == "a.zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.write(shard, "b.jsonl")
        else:
            path.write_bytes(shard.read_bytes())
    with pytest.raises(ParameterError, match="would both be written to a") as raised:
        neardup.dedup_files([tmp_path / "in"], f"{tmp_path}/out/", format="jsonl")
    assert all(str(tmp_path / "in" / name) in str(raised.value) for name in names)
    assert _names(tmp_path) == ["b.jsonl", *(f"in/{name}" for name in names)]


@pytest.mark.parametrize("task", ["sketch", "report", "pairs"])
def test_output_of_one_file_is_not_a_folder(tmp_path: Path, task: str) -> None:
    _make_shards(tmp_path / "in", "jsonl", 4)
    inputs, place = [tmp_path / "in"], f"{tmp_path}/out/"
    tasks = {
        "sketch": lambda: neardup.sketch_files(inputs, place),
        "report": lambda: neardup.dedup_files(inputs, tmp_path / "k.jsonl", report=place),
        "pairs": lambda: neardup.pairs_files(inputs, place),
    }
    with pytest.raises(NeardupError, match="out/: must"):
        tasks[task]()
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize(
    "case", ["same path", "inside the input", "around the input", "standard input", "text", "twice"]
)
def test_conflicting_outputs_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    for root in ("a", "b"):
        _make_shards(tmp_path / root, "jsonl", 2)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "t.txt").write_text("A text of the harbour.")
    inputs = {"same path": ["a", "b"], "standard input": ["-"], "text": ["t"]}.get(case, ["a"])
    places = {"inside the input": "a/out/", "around the input": ""}
    before = _names(tmp_path)
    # Pytest has replaced standard input by what cannot be read.
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "a"}')))
    paths = [name if name == "-" else str(tmp_path / name) for name in inputs]
    options: dict[str, Any] = {"text": {"annotate": True}}.get(case, {})
    if case == "twice":
        options = {"removed": f"{tmp_path}/out/"}
    output = f"{tmp_path}/{places.get(case, 'out/')}"
    with pytest.raises(NeardupError) as raised:
        neardup.dedup_files(paths, output, force=True, **options)
    named = [f"{tmp_path}/out/"] if case in ("standard input", "twice") else paths
    assert all(name in str(raised.value) for name in named)
    assert _names(tmp_path) == before


@pytest.mark.parametrize("of", ["the output", "a folder of outputs", "an input"])
def test_link_between_inputs_and_outputs_is_refused(tmp_path: Path, of: str) -> None:
    _make_shards(tmp_path / "in", "jsonl", 4)
    out = tmp_path / "out"
    out.mkdir()
    if of == "the output":
        (out / "s00.jsonl").symlink_to(tmp_path / "in" / "s00.jsonl")
    elif of == "a folder of outputs":
        (out / "even").symlink_to(tmp_path / "in" / "even")
    else:
        (out / "mine.jsonl").write_text("{}")
        (tmp_path / "in" / "z.jsonl").symlink_to(out / "mine.jsonl")
    before = {name: (tmp_path / name).read_bytes() for name in _names(tmp_path)}
    with pytest.raises(OutputError, match=str(out)):
        neardup.dedup_files([tmp_path / "in"], out, force=True)
    assert {name: (tmp_path / name).read_bytes() for name in _names(tmp_path)} == before


@pytest.mark.parametrize("format", ["jsonl", "jsonl.gz", "csv", "parquet"])
def test_parts_have_the_records_of_one_file(tmp_path: Path, format: str) -> None:
    """A part ends after the block of records with which it reaches its size."""
    letters = random.Random(1)
    rows = [
        {"id": str(n), "text": "".join(letters.choices("abcdefghij ", k=900)) + "\n"}
        for n in range(6000)
    ]
    (tmp_path / "in").mkdir()
    with open_output(tmp_path / "in" / f"s.{format}") as made:
        write_rows(made, rows, pa.schema([("id", pa.string()), ("text", pa.string())]))
    parts, one = tmp_path / "parts", tmp_path / "one.jsonl"
    neardup.dedup_files([tmp_path / "in"], one)
    neardup.dedup_files([tmp_path / "in"], f"{parts}/", part_size="1MB")
    sizes = [(parts / name).stat().st_size for name in _names(parts)]
    assert _names(parts) == [f"part-{number:05}.{format}" for number in range(len(sizes))]
    assert len(sizes) > 1
    assert all(900_000 < size < 2_500_000 for size in sizes[:-1])
    joint = tmp_path / "joint.jsonl"
    neardup.dedup_files([parts], joint)
    assert joint.read_bytes() == one.read_bytes()
    with pytest.raises(ParameterError, match="at least 1MB"):
        neardup.dedup_files([tmp_path / "in"], f"{tmp_path}/x/", part_size=999_999)
    with pytest.raises(ParameterError, match="must be left out for files"):
        neardup.dedup_files([tmp_path / "in"], tmp_path / "x.jsonl", part_size="1MB")


def _rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
@pytest.mark.parametrize("task", ["removed", "fingerprint", "repeats", "places", "remove"])
def test_rows_about_documents_are_in_the_file_of_their_input(
    tmp_path: Path, task: str, format: str
) -> None:
    shards, out = tmp_path / "in", f"{tmp_path}/out/"
    _make_shards(shards, format, 8)
    one = tmp_path / "one.jsonl"
    for place in (out, one):
        if task == "removed":
            neardup.dedup_files([shards], tmp_path / "k.jsonl", removed=place, force=True)
        elif task == "fingerprint":
            neardup.fingerprint_files([shards], place)
        elif task == "repeats":
            neardup.repeats_files([shards], place)
        elif task == "places":
            neardup.repeats_files([shards], places=place)
        else:
            neardup.repeats_files([shards], remove=place)
    assert _names(Path(out)) == _names(shards)
    found = [row for name in _names(Path(out)) for row in _rows(Path(out, name))]
    assert len(found) >= 9
    assert found == _rows(one)
    if task in ("removed", "fingerprint", "places"):
        for name in _names(Path(out)):
            prefix = f"{shards / name}:"
            assert all(row["id"].startswith(prefix) for row in _rows(Path(out, name)))


def test_folder_at_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _make_shards(tmp_path / "in", "jsonl", 8)
    monkeypatch.chdir(tmp_path)
    neardup.dedup_files(["in"], "here/", removed="removed/")
    system = MemoryFileSystem()
    try:
        out = "memory://bucket/out/"
        result = neardup.dedup_files(["in"], out, removed="memory://bucket/removed/")
        assert result.summary.near_duplicates + result.summary.exact_duplicates >= 9
        for there, here in (("/bucket/out", "here"), ("/bucket/removed", "removed")):
            names = [name.removeprefix(f"{there}/") for name in system.find(there)]
            assert names == _names(Path(here))
            for name in names:
                assert system.cat_file(f"{there}/{name}") == Path(here, name).read_bytes()
        with pytest.raises(OutputError, match="must be an empty folder"):
            neardup.dedup_files(["in"], out)
    finally:
        system.store.clear()
        system.pseudo_dirs[:] = [""]


def test_error_during_renaming_names_the_finished_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make_shards(tmp_path / "in", "jsonl", 8)
    out = tmp_path / "out"
    (out / "s06.jsonl").mkdir(parents=True)
    (out / "s06.jsonl" / "mine").write_text("mine")
    plain = StagedSink.commit

    def commit(sink: StagedSink) -> None:
        if sink.name.endswith("s04.jsonl"):
            raise OutputError(Message("{file}: cannot be written: {said}.", file="x", said="Full"))
        plain(sink)

    with pytest.raises(OutputError, match=r"s06\.jsonl: must be a file"):
        neardup.dedup_files([tmp_path / "in"], out, force=True)
    assert _names(tmp_path / "out") == ["s06.jsonl/mine"]
    (out / "s06.jsonl" / "mine").rename(out / "mine")
    (out / "s06.jsonl").rmdir()
    monkeypatch.setattr(StagedSink, "commit", commit)
    # Folders are read in the order of their paths.
    with pytest.raises(
        OutputError, match=r"Only these outputs are complete: .*s05\.jsonl and 3 more"
    ):
        neardup.dedup_files([tmp_path / "in"], out, force=True)
    assert len(_names(out)) == 1 + 6
    assert not list(tmp_path.glob(".out.*"))


#: Steps on the way of an output, which are counted.
_STEPS = [
    *((OutputFolder, name) for name in ("open", "commit")),
    *((StagedSink, name) for name in ("finish", "sync")),
    *((FileSink, name) for name in ("finish", "commit")),
]


def run_killed(call: int, work: str) -> None:
    """De-duplicate a folder in this process, which is killed at its n-th step."""
    calls = count()

    def counted(plain: Any) -> Any:
        def step(*given: Any) -> Any:
            if next(calls) == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return plain(*given)

        return step

    for owner, name in _STEPS:
        setattr(owner, name, counted(getattr(owner, name)))
    neardup.dedup_files(["in"], "out/", removed="removed.jsonl", work=work or None)


@pytest.mark.slow
# From the first file that is opened to the last output that gets its name; with a work folder,
# its manifest too.
@pytest.mark.parametrize(
    ("work", "call"),
    [*product([""], [0, 6, 12, 16, 18, 24, 25, 26]), *product(["work"], range(0, 35, 3))],
)
def test_killed_run_leaves_no_part_of_a_folder_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int, work: str
) -> None:
    _make_shards(tmp_path / "in", "jsonl", 8)
    done = forks.run(run_killed, call, work, folder=tmp_path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    is_whole = os.path.exists(tmp_path / "out")
    assert not is_whole or _names(tmp_path / "out") == _names(tmp_path / "in")
    neardup.dedup_files([tmp_path / "in"], f"{tmp_path}/expected/")
    monkeypatch.chdir(tmp_path)
    # A work folder knows what its run wrote.
    force = is_whole and not work
    neardup.dedup_files(["in"], "out/", removed="removed.jsonl", work=work or None, force=force)
    assert _names(tmp_path / "out") == _names(tmp_path / "in")
    for name in _names(tmp_path / "out"):
        made, expected = tmp_path / "out" / name, tmp_path / "expected" / name
        assert made.read_bytes() == expected.read_bytes()
    assert not list(tmp_path.glob(".*"))
