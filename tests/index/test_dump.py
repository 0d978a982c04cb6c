"""A whole index as lines, and an index made of them: the same one, in either database."""

import json

import pytest
import zstandard
from tests.index.databases import BOTH
from tests.index.written import documents, families

from neardup import IndexFormatError, IndexMismatchError, IndexUnavailableError, InputError
from neardup.base.progress import Progress
from neardup.index import Index
from neardup.index.dump import dump

SETTINGS = {
    "own background": {},
    "given background": {"background": families(5, 100)},
    "sketches only": {"store": "sketch"},
    "blocks": {"recipe": "news"},
    "scan": {"recipe": "characters"},
    "bands": {"recipe": "minhash", "expected": 1000},
}


def rows(texts):
    return [
        {
            **row,
            "title": f"《{number}》" if number % 3 else None,
            "from": f"报 {number % 5}" if number % 4 else None,
            "when": f"2024-03-{number % 28 + 1:02}T08:00:00.{number:06}+08:00",
            "n": number if number % 2 else None,
        }
        for number, row in enumerate(documents(texts))
    ]


FIELDS = {"at_field": "when", "source_field": "from", "extra_fields": ["n", "title"]}


def lines_of(index):
    parts = []
    dump(index._engine, parts.append, Progress())
    return b"".join(parts)


def loaded(location, lines, folder):
    (folder / "dump.jsonl").write_bytes(lines)
    return Index.load(location, folder / "dump.jsonl")


def states(index):
    return [(row.id, row.text, row.state, row.repeats, row.at) for row in index.documents()]


def changed(index, later):
    """What an index answers from now on: additions, a removal, decisions made again."""
    added = index.add_many(later, **FIELDS)
    dropped_for = next(cluster.id for cluster in index.clusters())
    removed = index.remove(dropped_for)
    return (
        added.keep.tolist(),
        added.removed,
        removed,
        index.reconsider(),
        [index.query(row["text"], 5) for row in later[:40]],
        states(index),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_from_one_database_to_the_other_and_back(name, tmp_path, database_url):
    """The bytes are the same, and so are all answers from then on."""
    texts = families(1, 120)
    first, later = rows(texts)[:240], rows(texts)[240:]
    with Index(tmp_path / "a.db", **SETTINGS[name]) as index:
        index.add_many(first, **FIELDS)
        index.remove("d7")
        index.expire(before="2024-03-03")
        lines = lines_of(index)
        with (
            loaded(database_url, lines, tmp_path) as on_a_server,
            loaded(tmp_path / "b.db", lines_of(on_a_server), tmp_path) as back,
        ):
            assert lines_of(on_a_server) == lines
            assert lines_of(back) == lines
            assert states(back) == states(on_a_server) == states(index)
            assert back.explain("d7") == on_a_server.explain("d7") == index.explain("d7")
            expected = changed(index, later)
            assert changed(on_a_server, later) == expected
            assert changed(back, later) == expected


@pytest.fixture
def filled(index):
    index.add_many(rows(families(2, 60)), **FIELDS)
    index.remove("d1")
    return index


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """A dump of an index with a bit of everything."""
    with Index(tmp_path_factory.mktemp("lines") / "a.db") as index:
        index.add_many(rows(families(2, 60)), **FIELDS)
        index.remove("d1")
        return lines_of(index)


def test_an_empty_index(location, tmp_path):
    with Index(tmp_path / "empty.db", recipe="news", measure="content", threshold=0.7) as index:
        lines = lines_of(index)
    with loaded(location, lines, tmp_path) as copy:
        assert lines_of(copy) == lines
        assert copy.stats().threshold == 0.7
        assert copy.add("a", "人来人往的车站里，广播正在通知列车晚点的消息。") is None


@BOTH
def test_values_that_are_rare(index, tmp_path):
    index.add("引 \U0001f600", "\0 一段含有空字符的文字。", extra={"n": (1 << 63) - 1, "x": 0.1})
    index.add("early", "", at="0001-01-01T00:00:00+00:00", source="")
    index.add("late", "。", at="9999-12-31T23:59:59.999999+00:00", extra={"a": [{"b": None}]})
    lines = lines_of(index)
    with loaded(tmp_path / "copy.db", lines, tmp_path) as copy:
        assert list(copy.documents()) == list(index.documents())
        assert lines_of(copy) == lines


@BOTH
def test_one_moment(filled):
    """What is added while it is written is not in it."""
    before = lines_of(filled)
    parts = []

    def write(part):
        if not parts:
            filled.add("new", "写到一半的时候，又来了一篇从来没有见过的新文章。")
            filled.remove("d2")
        parts.append(part)

    dump(filled._engine, write, Progress())
    assert b"".join(parts) == before != lines_of(filled)


def test_files(tmp_path, monkeypatch, lines):
    monkeypatch.chdir(tmp_path)
    with loaded("a.db", lines, tmp_path) as index:
        index.dump("dump.zst")
        with pytest.raises(OSError, match="exists already"):
            index.dump("dump.zst")
        index.dump("dump.zst", force=True)
        with zstandard.open("dump.zst") as packed:
            assert packed.read() == lines
    with Index.load("b.db", "dump.zst") as copy:
        assert lines_of(copy) == lines


def damages(lines):
    """Dumps that are not what was written, each with a name."""
    split = lines.splitlines(keepends=True)
    for number in range(0, len(lines) - 1, len(lines) // 12):
        yield f"cut at {number}", lines[:number]
    for number in (0, 1, 2, len(split) // 2, len(split) - 2):
        yield f"without line {number}", b"".join(split[:number] + split[number + 1 :])
        yield f"line {number} twice", b"".join(split[: number + 1] + split[number:])
    yield "two lines swapped", b"".join([*split[:4], split[5], split[4], *split[6:]])
    yield "without the last line", b"".join(split[:-1])
    yield "more behind it", lines + b"{}\n"
    yield "one id twice", lines.replace(b'"id":"d3"', b'"id":"d4"')
    yield "another state", lines.replace(b'"state":0', b'"state":1', 1)
    for old, new in (("sketch", 3), ("sketch", "%%%"), ("id", None), ("number", 1 << 70)):
        number = next(n for n, line in enumerate(split) if line.startswith(b'{"document"'))
        row = json.loads(split[number])
        row["document"][old] = new
        yield f"{old} is {new}", b"".join([*split[:number], json.dumps(row).encode() + b"\n"])
    for line in (b"[]", b"7", b"{}", b'{"other":{}}', b'{"keys":{}}', b'{"document":7}', b"\xff"):
        yield f"a line {line!r}", b"".join([split[0], line + b"\n", *split[1:]])
    header = json.loads(split[0])
    for name, value in (("meta", None), ("meta", {"recipe": "x"}), ("neardup", "other")):
        yield f"{name} is {value}", json.dumps({**header, name: value}).encode() + lines
    for name in ("recipe", "settings"):
        meta = {**header["meta"], name: "{"}
        yield f"bad {name}", json.dumps({**header, "meta": meta}).encode() + b"\n" + lines


def test_what_is_damaged_is_refused_and_leaves_nothing(tmp_path, lines):
    path, target = tmp_path / "dump", tmp_path / "new" / "b.db"
    target.parent.mkdir()
    names = []
    for name, damaged in damages(lines):
        path.write_bytes(damaged)
        with pytest.raises(InputError) as refusal:
            Index.load(target, path)
        words = str(refusal.value)
        assert "No index was made" in words or "must begin with" in words, name
        assert not list(target.parent.iterdir()), name
        names.append(name)
    assert len(set(names)) == len(names) > 35
    # A file that was empty is used.
    target.touch()
    with pytest.raises(InputError):
        Index.load(target, path)
    loaded(target, lines, tmp_path).close()


def test_a_server_keeps_nothing_of_what_is_damaged(database_url, tmp_path, lines):
    for part in (
        lines[: len(lines) // 2],
        lines.replace(b'"id":"d', b'"id":"e', 1),
        lines.replace(b'"id":"d3"', b'"id":"d4"'),
        lines.replace(b'"features":', b'"features":"x', 1).replace(b',"sketch"', b'","sketch"', 1),
        lines.replace(b'"state":0', b'"state":[0]', 1),
    ):
        with pytest.raises(InputError):
            loaded(database_url, part, tmp_path)
    with loaded(database_url, lines, tmp_path) as copy:
        assert lines_of(copy) == lines


def test_other_versions(tmp_path, lines):
    for name, known in ((b"format", 1), (b"schema", 3)):
        for other in (known - 1, known + 1):
            changed = lines.replace(b'"%s":%d' % (name, known), b'"%s":%d' % (name, other), 1)
            message = f"with {name.decode()} {known}. Got {other} instead"
            with pytest.raises(IndexFormatError, match=message):
                loaded(tmp_path / "b.db", changed, tmp_path)
    other = lines.replace(b"general-", b"general-0", 1)
    with pytest.raises(IndexMismatchError, match="its sketches were made by the recipe"):
        loaded(tmp_path / "b.db", other, tmp_path)


def test_what_is_there_stays(filled, location, tmp_path):
    lines = lines_of(filled)
    with pytest.raises(IndexUnavailableError, match="there is an index already"):
        loaded(location, lines, tmp_path)
    assert lines_of(filled) == lines
