"""Every format, in every compression and at every place, gives the same records."""

import gzip
import io
import os
import threading
from pathlib import Path

import orjson
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from tests.kit.formats import as_arrow, serialize
from tests.readers.making import tarred, zipped

from neardup.readers import open_sources

TEXTS = ["一只狐狸\n跳过", 'b, "quoted"', "", "\t tabs \U0001f98a", "a\0b", "e\u0301 אבג"]
RECORDS = [{"id": f"d{i}", "title": f"t{i}", "text": t, "n": i} for i, t in enumerate(TEXTS)]
FORMATS = ("jsonl", "parquet", "arrow", "arrows", "feather", "csv", "tsv")
SUFFIXES = ("", ".gz", ".zst", ".xz", ".bz2")


def content(format):
    packing = {"feather": "lz4", "arrows": "zstd"}.get(format)
    if packing:
        return as_arrow(pa.Table.from_pylist(RECORDS), format, compression=packing)
    return serialize(RECORDS, format)


def in_folder(name, data):
    Path("dump/sub").mkdir(parents=True)
    Path("dump/sub", name).write_bytes(data)
    return "dump"


def under_another_name(name, data):
    """The first bytes say what a file is, apart from what a name alone tells."""
    others = {"jsonl": "a.jsonl.gz", "parquet": "a.arrow", "arrow": "a.csv", "arrows": "a.csv"}
    other = others.get(name.split(".")[1], name)
    Path(other).write_bytes(data)
    return other


def piped(name, data):
    os.mkfifo(name)
    threading.Thread(target=Path(name).write_bytes, args=[data], daemon=True).start()
    return name


def without_an_extension(_, data):
    Path("a").write_bytes(data)
    return "a"


def archived(kind):
    def put(name, data):
        pack = zipped if kind == "zip" else lambda files: gzip.compress(tarred(files))
        Path(f"all.{kind}").write_bytes(pack({name: data}))
        return f"all.{kind}"

    return put


def at_an_address(name, data):
    MemoryFileSystem().pipe_file(f"/dump/{name}", data)
    return f"memory://dump/{name}"


def at_an_address_in_an_archive(name, data):
    return at_an_address("all.zip", zipped({name: data}))


#: Each puts a file somewhere and returns its name there.
PLACES = {
    "file": lambda name, data: Path(name).write_bytes(data) and name,
    "folder": in_folder,
    "pattern": lambda name, data: in_folder(name, data) + "/**/*",
    "another name": under_another_name,
    "format given": without_an_extension,
    "zip": archived("zip"),
    "tar": archived("tar.gz"),
    "member": lambda name, data: f"{archived('zip')(name, data)}/{name}",
    "address": at_an_address,
    "archive at an address": at_an_address_in_an_archive,
    "named pipe": piped,
    "-": None,
}


def check_records(inputs, **options):
    """Read an input twice, in batches of several sizes."""
    sources = open_sources([inputs], extra_fields=["n"], **options)
    for size in ({}, {"batch_bytes": 1}, {"batch_bytes": 50, "batch_records": 4}):
        batches = list(sources.batches(titles=True, **size))
        rows = [
            {"id": id, "title": title, "text": text, "n": int(n)}
            for batch in batches
            for id, title, text, n in zip(
                *(column.to_pylist() for column in (batch.ids, batch.titles, batch.texts)),
                batch.extra["n"],
                strict=True,
            )
        ]
        assert rows == RECORDS
        assert sum(len(batch.problems) for batch in batches) == len(sources.problems) == 0
        assert sources.records == 6
        assert sum(batch.bytes_read for batch in batches) > 0


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.usefixtures("bucket")
def test_every_format_compression_and_place(tmp_path, monkeypatch, pack, place, format):
    for suffix in SUFFIXES:
        folder = tmp_path / (suffix or "plain")
        folder.mkdir()
        monkeypatch.chdir(folder)
        name, data = f"a.{format}{suffix}", pack(content(format), suffix)
        if place == "-":
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        options = {}
        if place == "format given" or (place == "-" and format in ("csv", "tsv")):
            options = {"format": "arrow" if format in ("arrows", "feather") else format}
        check_records(place if place == "-" else PLACES[place](name, data), **options)


def in_frames(pack, data, suffix):
    """Cut inside lines; one frame is empty."""
    lines = data.splitlines(keepends=True)
    return b"".join(pack(part, suffix) for part in (lines[0][:7], lines[0][7:], b"", *lines[1:]))


@pytest.mark.parametrize(
    ("suffix", "change"),
    [
        *((suffix, in_frames) for suffix in SUFFIXES[1:]),
        (".zst", lambda pack, data, suffix: b"\x50\x2a\x4d\x18\4\0\0\0note" + pack(data, suffix)),
        (".gz", lambda pack, data, suffix: pack(data, suffix) + bytes(40_000)),
    ],
    ids=[*(f"frames{suffix}" for suffix in SUFFIXES[1:]), "skippable frame", "padding"],
)
def test_frames_and_padding_are_no_part_of_the_records(make, pack, suffix, change):
    name = make(f"a.jsonl{suffix}")
    Path(name).write_bytes(change(pack, content("jsonl"), suffix))
    check_records(name)


@pytest.mark.parametrize("records", [1, 4, 5000])
@pytest.mark.parametrize("size", [1, 50, 1 << 30])
def test_problems_do_not_depend_on_batches(read, make, size, records):
    name = make("b.jsonl", b'{"text": 1}\n\n{"text": "x"}\nnonsense\n' * 50 + b'{"text": "last"}')
    fields = {"titles": True, "extra_fields": ["n"]}
    want, got = read(name, **fields), read(name, size, records, **fields)
    want.pop("bytes"), got.pop("bytes")
    assert got == want
    assert len(got["problems"]) == 100


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("texts/a.txt", "天地\r\n玄黄", "天地\r\n玄黄"),
        ("texts/a.md", "天地\r\n玄黄", "天地\r\n玄黄"),
        ("a.jsonl", '{"id":"a.jsonl","text":"a"}\n', "a"),
        ("a.csv", "id,text\na.csv,a\n", "a"),
    ],
)
def test_byte_order_mark_is_no_part_of_a_text(read, make, name, data, text, suffix):
    got = read(make(f"{name}{suffix}", f"\ufeff{data}"))
    assert got["texts"] == [text]
    assert got["ids"] == [f"{name}{suffix}" if "texts" in name else name]


def test_blank_lines_are_no_records(read, make):
    got = read(make("a.jsonl", b'\n{"text":"a"}\r\n \t\r\n\n{"text":"b"}'))
    assert got["texts"] == ["a", "b"]
    assert got["ids"] == ["a.jsonl:1", "a.jsonl:2"]


TEXT_FIELDS = [
    (b'{"body":"b1","text":"t1"}', "t1"),
    (b'{"body":"b2"}', "b2"),
    (b'{"content":"c3","body":"b3"}', "c3"),
    (b'{"text":"t4","content":"c4"}', "t4"),
    (b'{"text":5,"body":"b5"}', None),
    (b'{"content":null,"body":"b6"}', None),
    (b'{"x":"text"}', None),
    (b'["text"]', None),
    (b'"text"', None),
]


@pytest.mark.parametrize("batch_bytes", [1, 1 << 22])
@pytest.mark.parametrize("good_only", [True, False])
def test_default_text_field_is_decided_for_each_record(read, make, good_only, batch_bytes):
    rows = [row for row in TEXT_FIELDS if row[1] is not None or not good_only]
    for order in (1, -1):
        lines, want = zip(*rows[::order], strict=True)
        got = read(make("a.jsonl", b"\n".join(lines)), batch_bytes=batch_bytes)
        assert got["texts"] == list(want)
        assert [p.record for p in got["problems"]] == [
            number for number, text in enumerate(want, 1) if text is None
        ]


def test_ids_of_files_in_several_folders(read, make):
    for folder in ("a", "b", "c/sub"):
        make(f"{folder}/x.txt", folder)
    assert read("a")["ids"] == ["x.txt"]
    got = read(["a", "./b/", "c", "a/x.txt"])
    assert got["ids"] == ["a/x.txt", "./b/x.txt", "c/sub/x.txt", "a/x.txt"]


def test_ids(read, make):
    lines = (
        b'{"text":"a","id":7}\n{"text":"b","id":"x"}\n'
        b'{"text":"c","id":null}\n{"text":"d","id":true}\n'
    )
    name = make("in/a.jsonl", lines)
    got = read(name)
    assert got["ids"] == ["7", "x", "in/a.jsonl:3", "in/a.jsonl:4"]
    assert got["problems"] == []
    named = read(name, id_field="id")
    assert named["ids"] == got["ids"]
    assert named["texts"] == ["a", "b", "c", "d"]
    reasons = [(p.record, p.field, p.reason.code) for p in named["problems"]]
    assert reasons == [(3, "id", "not_an_id"), (4, "id", "not_an_id")]


def test_titles_only_if_wanted(read, make):
    name = make("a.jsonl", b'{"text":"a","title":"A","h":"H"}\n{"text":"b","title":3}\n')
    assert read(name)["titles"] == [None, None]
    assert read(name, titles=True)["titles"] == ["A", None]
    assert read(name, title_field="h")["titles"] == ["H", None]


def test_ten_megabytes_in_one_line(read, make):
    text = "长" * 3_500_000
    lines = orjson.dumps({"text": text}) + b"\n" + orjson.dumps({"text": "b"}) + b"\n"
    assert read(make("a.jsonl.zst", lines), batch_bytes=1000)["texts"] == [text, "b"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.tsv.zst"])
def test_empty_file_is_a_note(read, make, name):
    got = read(make(name, b""))
    assert got["ids"] == []
    assert got["problems"] == []
    assert got["problem_lines"] == [f"{name}: no records."]
    Path(name).write_bytes(b"")
    assert read(name)["problem_lines"] == [f"{name}: no records."]


def test_csv_line_breaks_and_long_fields(read, make):
    long = "x" * 300_000
    name = make("a.csv", f'id,text\r\n1,"a\r\nb\n""c"""\r\n\r\n2,{long}\r\n'.encode())
    got = read(name)
    assert got["texts"] == ['a\r\nb\n"c"', long]
    assert got["ids"] == ["1", "2"]


@pytest.mark.parametrize("format", ["parquet", "arrow", "arrows"])
def test_kinds_of_text_in_columns(read, make, format):
    texts = pa.array(["a", "b", None])
    columns = {"string": texts, "large": texts.cast(pa.large_string())}
    columns["dictionary"] = texts.dictionary_encode()
    if format != "parquet":
        columns["view"] = texts.cast(pa.string_view())
    name = make(f"a.{format}", serialize(pa.table(columns), format))
    for field in columns:
        got = read(name, text_field=field)
        assert got["texts"] == ["a", "b", None]
        (problem,) = got["problems"]
        assert (problem.record, problem.field, problem.reason.code) == (3, field, "not_a_text")
