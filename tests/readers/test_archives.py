"""Archives: their files are read as those of a folder are, none is lost in silence."""

import os
import random
import tarfile
import zipfile
from pathlib import Path

import orjson
import pytest
from tests.kit.formats import serialize
from tests.readers.making import docx, encrypted, misstated, paragraph, tarred, zipped

from neardup import InputError, dedup_files
from neardup.readers import open_sources, read_file

TEXT = "渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐。"
#: Files of all formats, whose texts are their names.
FILES = {
    "b/a.jsonl": orjson.dumps({"text": "b/a.jsonl"}),
    "a.csv": b"text,n\na.csv,1\n",
    "c.parquet": serialize([{"text": "c.parquet"}], "parquet"),
    "b/一班/论文.txt": "b/一班/论文.txt".encode(),
    "d.docx": docx(paragraph("d.docx")),
    "e.txt": b"e.txt",
}
KINDS = ("zip", "stored.zip", "tar", "tar.gz", "tgz", "tar.zst", "tar.xz", "tar.bz2")


@pytest.fixture
def archived(make, pack):
    """Write an archive of the kind of its name."""

    def write(name, files):
        if name.endswith("zip"):
            stored = name.endswith(".stored.zip")
            return make(name, zipped(files, zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED))
        data = tarred(files)
        return make(name, pack(data, ".gz") if name.endswith(".tgz") else data)

    return write


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch_bytes", [1, 1 << 22])
def test_files_are_read_in_the_order_of_their_names(read, make, archived, kind, batch_bytes):
    for name, data in FILES.items():
        make(f"folder/{name}", data)
    name = archived(f"crawl.{kind}", FILES)
    got, folder = read(name, batch_bytes), read(["folder", "folder/e.txt"], batch_bytes)
    assert got["texts"] == sorted(FILES) == folder["texts"][:-1]
    assert got["ids"] == [one.replace("folder", name, 1) for one in folder["ids"][:-1]]
    assert got["problems"] == []
    assert got["notes"] == [
        f"{name}: read as 3 data files and 3 text files; each text file is one document."
    ]
    sources = open_sources([name])
    list(sources.batches())
    parts = [part for source in sources.sources for part in source.read_rows()]
    rows = [row["text"] for part in parts for row in part]
    assert rows == sorted(FILES)


def test_archives_among_the_files_of_a_folder(read, make, archived):
    make("dump/b.txt", "b")
    archived("dump/a.zip", {"x/1.txt": b"1", "2.txt": b"2"})
    archived("dump/deep/c.tar.gz", {"3.txt": b"3"})
    ids = ["a.zip/2.txt", "a.zip/x/1.txt", "b.txt", "deep/c.tar.gz/3.txt"]
    assert read("dump")["ids"] == ids
    assert read("dump/**")["ids"] == [f"dump/{one}" for one in ids]
    assert read("dump/*.zip")["ids"] == ["dump/a.zip/2.txt", "dump/a.zip/x/1.txt"]
    assert read("dump", format="text")["ids"] == ids
    assert read("dump", only_text_in_folders=True)["ids"] == ids


def test_one_file_of_an_archive(read, archived):
    name = archived("a/crawl.zip", FILES)
    assert read(f"{name}/b/a.jsonl")["ids"] == ["a/crawl.zip/b/a.jsonl:1"]
    assert read(f"{name}/b/一班/论文.txt")["ids"] == ["a/crawl.zip/b/一班/论文.txt"]
    assert read_file(f"{name}/d.docx").text == "d.docx"
    archived(name, {"e.txt": b"another"})
    assert read_file(f"{name}/e.txt").text == "another"
    with pytest.raises(InputError, match=r"^a/crawl\.zip/none\.txt: "):
        open_sources([f"{name}/none.txt"])


def test_an_archive_at_an_address(read, bucket):
    bucket.pipe_file("/dump/a.zip", zipped({"1.txt": b"1"}))
    assert read("memory://dump/a.zip")["ids"] == ["memory://dump/a.zip/1.txt"]
    assert read("memory://dump")["ids"] == ["a.zip/1.txt"]


def test_names_in_gbk(read, make):
    name = "一班/张三作文.txt".encode("gbk")
    # A name of as many bytes, without the flag of UTF-8.
    plain = b"x" * len(name)
    make("a.zip", zipped({plain.decode(): TEXT.encode("gbk")}).replace(plain, name))
    assert read("a.zip")["ids"] == ["a.zip/一班/张三作文.txt"]
    assert read("a.zip")["texts"] == [TEXT]
    make("b.tar", tarred({"论文.txt": b"text"}, encoding="gbk", format=tarfile.GNU_FORMAT))
    assert read("b.tar")["ids"] == ["b.tar/论文.txt"]


def test_member_names_stay_inside_the_archive(read, make):
    make(
        "a.zip",
        zipped({"../../b.txt": b"1", "/c.txt": b"2", "x\\d.txt": b"3", "./e/../f.txt": b"4"}),
    )
    assert read("a.zip")["ids"] == [
        f"a.zip/{name}" for name in ("b.txt", "c.txt", "f.txt", "x/d.txt")
    ]


def test_last_file_of_a_name_is_read(read, make):
    make("a.zip", zipped({"a.txt": b"old", "b.txt": b"new"}).replace(b"b.txt", b"a.txt"))
    assert read("a.zip")["texts"] == ["new"]


def test_unread_files_are_listed(read, make):
    files = dict.fromkeys(("1.png", "2.PNG", "3.log", "in.zip", "x.doc", "e.txt"), b"x")
    hidden = {"__MACOSX/._e.txt": b"x", ".git/x.txt": b"x", "x/.DS_Store": b"x", "Thumbs.db": b"x"}
    more = [("link.txt", tarfile.SYMTYPE), ("pipe.txt", tarfile.FIFOTYPE), ("f", tarfile.DIRTYPE)]
    make("a.tar", tarred(files | hidden, more))
    got = read("a.tar")
    assert got["texts"] == ["x"]
    assert got["notes"] == [
        "a.tar: 3 files of other formats are skipped: 1 .log, 2 .png"
        " (a.tar/1.png, a.tar/2.PNG, a.tar/3.log).",
        "a.tar: to read any text, use format='text'.",
        "a.tar: 2 links, pipes, sockets or devices are skipped: a.tar/link.txt, a.tar/pipe.txt.",
    ]
    assert list(map(str, got["problems"])) == [
        "a.tar/in.zip: skipped: archives in archives are not read. Unpack the outer one.",
        "a.tar/x.doc: skipped: the format is not read.",
    ]
    linked = zipfile.ZipInfo("link.txt")
    linked.external_attr = 0o120777 << 16
    make("b.zip", zipped({"e.txt": b"x", linked: b"e.txt"}))
    assert read("b.zip")["notes"] == [
        "b.zip: 1 link, pipe, socket or device is skipped: b.zip/link.txt."
    ]


def damaged(data):
    """Change a byte of the content of the first file."""
    at = data.index(b"a.") + 12
    return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


@pytest.mark.parametrize("first", ["a.txt", "a.jsonl"])
@pytest.mark.parametrize(
    ("pack", "said"),
    [
        (
            lambda files: encrypted(zipped(files)),
            "must be readable without a password. Got an encrypted archive instead.",
        ),
        (lambda files: damaged(zipped(files)), "damaged data"),
        (lambda files: b"PK\0\0" + zipped(files)[4:], "damaged data"),
        (lambda files: misstated(zipped(files), 300), "damaged data"),
    ],
)
def test_unreadable_member_is_a_problem(read, make, first, pack, said):
    line = orjson.dumps({"text": TEXT}) if first == "a.jsonl" else TEXT.encode()
    files = {first: line * 40, "b.txt": b"b", "c.jsonl": orjson.dumps({"text": "c"})}
    make("a.zip", pack(files))
    got = read("a.zip")
    assert got["texts"][-2:] == ["b", "c"]
    (problem,) = got["problems"]
    assert str(problem).startswith(f"a.zip/{first}: ")
    assert said in str(problem)


def test_unknown_compression_of_a_member_is_a_problem(read, make):
    make("a.zip", zipped({"a.txt": TEXT.encode(), "b.txt": b"b"}, zipfile.ZIP_LZMA))
    assert str(read("a.zip")["problems"][0]) == (
        "a.zip/a.txt: record 1: must be compressed by Deflate or not at all. Got method 14 instead."
    )


def test_damage_after_the_first_records_of_a_member(read, make):
    drawn = random.Random(1)
    lines = [orjson.dumps({"text": drawn.randbytes(50).hex()}) for _ in range(5000)]
    data = zipped({"a.jsonl": b"\n".join(lines)})
    make("a.zip", data[: len(data) // 2] + b"\xff" * 99 + data[len(data) // 2 + 99 :])
    results = [read("a.zip", batch_bytes=size) for size in (1, 1 << 16, 1 << 22)]
    assert 2000 < len(results[0]["texts"]) < 4000
    for got in results:
        assert got["texts"] == results[0]["texts"]
        assert list(map(str, got["problems"])) == list(map(str, results[0]["problems"]))
        assert got["problems"][-1].reason == "must be readable (damaged data)"


WHOLE = "must be a whole archive (.zip or .tar). Got a damaged file instead."


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.zip", b"<html>not found</html>", WHOLE),
        ("a.zip", b"", WHOLE),
        ("a.zip", zipped(FILES)[:-40], WHOLE),
        ("a.tar", tarred(FILES)[:100], WHOLE),
        ("a.tar.gz", b"\x1f\x8b\x08\0", WHOLE),
        ("a.zip", zipped({}), "must contain files with a known extension"),
        ("a.tar", tarred({}), "must contain files with a known extension"),
        ("a.zip", zipped({"a.txt": bytes(100 << 20)}), "It may be a zip bomb."),
        ("a.tar.zst", tarred({"a.txt": bytes(100 << 20)}), "It may be a zip bomb."),
    ],
    ids=range(9),
)
def test_damaged_archive_is_refused(read, make, name, data, said):
    make(name, data)
    with pytest.raises(InputError) as caught:
        open_sources([name])
    assert str(caught.value).startswith(f"{name}: must ")
    assert said in str(caught.value)
    if "whole" in said:
        make("dump/b.txt", "b")
        os.rename(name, f"dump/{name}")
        got = read("dump")
        assert got["texts"] == ["b"]
        assert [problem.source for problem in got["problems"]] == [f"dump/{name}"]


def test_an_empty_archive_in_a_folder(read, make):
    make("dump/a.zip", zipped({}))
    make("dump/b.txt", "b")
    got = read("dump")
    assert (got["texts"], [*map(str, got["problems"])]) == (["b"], ["dump/a.zip: no records."])


@pytest.mark.parametrize("kind", ["tar", "tar.gz"])
def test_the_files_before_damage_are_read(read, archived, kind):
    name = archived(
        f"a.{kind}", {f"{number}.txt": os.urandom(9999).hex().encode() for number in range(9)}
    )
    data = Path(name).read_bytes()
    Path(name).write_bytes(data[: len(data) // 2])
    got = read(name)
    assert got["ids"] == [f"{name}/{number}.txt" for number in range(4)]
    (problem,) = got["problems"]
    assert problem.source == name
    assert problem.found == "4 files and then damaged data"


def halves(pack):
    """Return two archives of two files each, whose texts are their names."""
    names = ["a.txt", "b.txt", "c.txt", "d.txt"]
    return [pack({name: name.encode() for name in part}) for part in (names[:2], names[2:])]


#: Archives that were cut or joined: how many of their four files are read, and what is not whole.
CUT = [
    ("two.tar", lambda: b"".join(halves(tarred)), 4, False),
    ("no end.tar", lambda: halves(tarred)[0][:2048], 2, True),
    ("one block of the end.tar", lambda: halves(tarred)[0][:2560], 2, False),
    ("between members.tar", lambda: halves(tarred)[0][:1024], 1, True),
    ("in a header.tar", lambda: halves(tarred)[0][:1200], 1, True),
    ("damaged header.tar", lambda: halves(tarred)[0][:1024] + b"x" * 512, 1, True),
    ("no end, then another.tar", lambda: halves(tarred)[0][:2048] + halves(tarred)[1], 4, False),
    ("then one cut.tar", lambda: halves(tarred)[0] + halves(tarred)[1][:1024], 3, True),
    ("then zeros.tar", lambda: halves(tarred)[0] + bytes(3 << 20), 2, False),
    ("then garbage.tar", lambda: halves(tarred)[0] + b"garbage", 2, True),
    ("two.zip", lambda: b"".join(halves(zipped)), 2, True),
    ("cut, then another.zip", lambda: halves(zipped)[0][:40] + halves(zipped)[1], 2, True),
    ("then zeros.zip", lambda: halves(zipped)[0] + bytes(512), 2, False),
    ("then garbage.zip", lambda: halves(zipped)[0] + b"garbage", 2, True),
]


@pytest.mark.parametrize(("name", "data", "files", "is_damaged"), CUT, ids=[row[0] for row in CUT])
def test_cut_or_joined_archive_is_read_up_to_the_damage(read, make, name, data, files, is_damaged):
    for suffix in ["", ".gz"] if name.endswith(".tar") else [""]:
        path = make(name + suffix, data())
        got = read(path)
        assert len(got["texts"]) == files
        assert got["ids"] == [f"{path}/{text}" for text in got["texts"]]
        said = ["1 file" if files == 1 else f"{files} files"] * is_damaged
        assert [problem.found for problem in got["problems"]] == [
            f"{count} and then damaged data" for count in said
        ]


def test_cut_archive_is_a_problem_of_the_run(make):
    make("a.tar", halves(tarred)[0][:1024])
    for on_error in ("keep", "drop"):
        summary = dedup_files(["a.tar"], "kept.jsonl", on_error=on_error, force=True).summary
        assert (summary.read, summary.kept, summary.problems) == (1, 1, 1)
    with pytest.raises(InputError, match="1 file and then damaged data"):
        dedup_files(["a.tar"], "stopped.jsonl", on_error="stop")


def test_changed_archive_is_refused(archived):
    name = archived("a.zip", FILES)
    sources = open_sources([name])
    archived("a.zip", FILES | {"f.txt": b"f"})
    with pytest.raises(InputError, match="changed while it was being read"):
        list(sources.batches())


def test_no_file_is_opened_for_each_member(archived):
    name = archived("a.zip", {f"{number}.txt": b"%d" % number for number in range(300)})
    before = len(os.listdir("/proc/self/fd"))
    sources = open_sources([name])
    assert sum(len(batch) for batch in sources.batches()) == 300
    assert len(os.listdir("/proc/self/fd")) == before
