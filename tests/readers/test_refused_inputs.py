"""Inputs that cannot be used are refused in one line, before anything is read."""

import io
import os
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from tests import needs
from tests.kit.formats import as_arrow, serialize

from neardup.base import messages
from neardup.base.files import read_whole
from neardup.base.progress import Progress
from neardup.cli.compare import read_texts
from neardup.exceptions import InputError, ParameterError
from neardup.readers import open_sources, read_file
from neardup.readers.streams import ReopenableFile
from neardup.tasks.dedup import dedup_files

REFUSED = [
    (["nowhere.jsonl"], {}, InputError, "no such file"),
    (["no\nwhere"], {}, InputError, r"no such file"),
    ([], {}, ParameterError, r"'inputs' parameter must be .* at least one\. Got \[\]"),
    (["-", "-"], {}, ParameterError, "'inputs' parameter must name standard input .* at most once"),
    (["a.jsonl"], {"format": "xml"}, ParameterError, "'format' parameter must be one of jsonl, .*"),
    (["a.jsonl"], {"encoding": "klingon"}, ParameterError, "'encoding' parameter .* 'klingon'"),
    (["a.xml"], {}, ParameterError, "must have a known extension .* has '.xml'.*format='text'"),
    (["empty"], {}, InputError, r"must contain files with a known extension: .*\.jsonl"),
    (["empty"], {"only_text_in_folders": True}, InputError, r"must contain text files \(\.txt"),
    (["numbers.parquet"], {}, InputError, "column 'text' must hold text. Got int64"),
    (
        ["numbers.parquet"],
        {"text_field": "body"},
        InputError,
        "must have a text column 'body'. Got 'text', 'x'.*text_field=",
    ),
    (
        ["numbers.parquet"],
        {"text_field": "x", "id_field": "key"},
        InputError,
        "must have the id column 'key'. Got 'text', 'x'.*id_field=",
    ),
    (["bad.parquet"], {}, InputError, "must be a Parquet file.*does not end like one.*format="),
    (["cut.arrow"], {}, InputError, "must be an Arrow file.*does not end like one.*format="),
    (["cut.arrows"], {}, InputError, "must be an Arrow file. Got"),
    (["lines.arrow"], {}, InputError, "must be an Arrow file. Got .* instead. Name its format"),
    (["empty.arrow"], {}, InputError, "must be an Arrow file. Got nothing instead"),
    (["first.feather"], {}, InputError, "Got version 1 of Feather instead.*write_feather"),
    (["a.csv"], {}, InputError, "must have a text column 'text', .* Got 'x', 'y' instead"),
    (["damaged.csv"], {}, InputError, r"header row must be valid UTF-8 \(byte 6 .*encoding="),
    (["array.json"], {}, InputError, r"Got a JSON array instead.*jq -c '\.\[\]' array\.json"),
    (["array.json.gz"], {}, InputError, r"Got a JSON array instead.*Unpack it .*array\.json\.gz"),
    (["pretty.json"], {}, InputError, r"an object that spans several lines .*jq -c '\.' pretty"),
]


@pytest.fixture
def files(make):
    make("a.jsonl", b"{}")
    make("a.xml", b"<a/>")
    make("a.csv", b"x,y\n1,2\n")
    make("damaged.csv", b"text,\xff\n")
    make("array.json", b'[{"text": "a"}]')
    make("array.json.gz", b'[{"text": "a"}]')
    make("pretty.json", b'{\n  "text": "a"\n}\n')
    make("bad.parquet", b"PAR1 and no more")
    whole = pa.table({"text": ["a", "b"]})
    make("cut.arrow", as_arrow(whole)[:-9])
    make("cut.arrows", as_arrow(whole, "arrows")[:50])
    make("lines.arrow", b'{"text": "a"}\n')
    make("empty.arrow", b"")
    # The first version of Feather, which Arrow does not read safely.
    make("first.feather", b"FEA1" + bytes(40) + b"FEA1")
    os.mkdir("empty")
    make("numbers.parquet", serialize([{"text": 1, "x": "a"}], "parquet"))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("paths", "options", "kind", "words"), REFUSED)
def test_refused_before_reading(paths, options, kind, words):
    with pytest.raises(kind, match=words) as caught:
        open_sources(paths, **options)
    assert str(caught.value).isprintable()
    if kind is InputError:
        assert str(caught.value).startswith(paths[0].replace("\n", r"\n") + ": ")


NO_TEXT = [
    (b'{"id":1,"Texts":"a"}\n', 1, {}, "Got 1 record", "Texts"),
    (b'{"id":1,"contents":"a"}\n', 7, {}, "Got 7 records", "contents"),
    (b'{"text":"a"}\n', 7, {"text_field": "txt"}, "Got 7 records", "text"),
    (b'{"text":"a"}\n', 7, {"text_field": "story"}, "Got 7 records", None),
    (b'{"text":"a"}\n', 1001, {"text_field": "story"}, "Got 1,000 records at the beginning", None),
]


@pytest.mark.parametrize(("line", "count", "options", "result", "nearest"), NO_TEXT)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json.gz", "-"])
def test_no_record_has_the_text_field(
    make, monkeypatch, name, line, count, options, result, nearest
):
    data = b"\n" + line * count
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    if name != "-":
        make(name, data)
    with pytest.raises(InputError) as caught:
        open_sources([name], **options)
    message = str(caught.value)
    assert message.startswith(f"{name}: must have a text field ")
    assert f"{result} with " in message
    assert message.endswith(f" Did you mean '{nearest}'?" if nearest else "text_field=.")


def test_one_record_with_the_text_field_is_enough(read, make):
    lines = b'{"url":"u"}\n' * 999 + b'{"text":null}\n' + b'{"url":"u"}\n' * 50
    problems = read(make("a.jsonl", lines))["problems"]
    assert sum(problem.count for problem in problems) == 1050
    assert len(read(make("b.jsonl", b"nonsense\n" * 7))["problems"]) == 7
    lines = b'nonsense\n{"id":1,"url":"u"}\n[1]\n{"headline":"a","id":2}\n'
    with pytest.raises(InputError, match="Got 2 records with 'id', 'url', 'headline' instead"):
        open_sources([make("good.jsonl", b'{"text":"a"}'), make("c.jsonl", lines)])


def test_unreadable_file(make, request):
    name = make("a.jsonl", b"{}")
    os.chmod(name, 0)
    request.getfixturevalue("as_anybody")
    with pytest.raises(InputError, match=r"^a.jsonl: permission denied\.$"):
        open_sources([name])


# Files that change, fail or keep a run waiting while they are read.


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", lambda word: b'{"text":"%s"}\n{"text":"c"}\n' % word),
        ("a.jsonl.zst", lambda word: b'{"text":"%s"}\n{"text":"c"}\n' % word),
        ("a.csv", lambda word: b"text\n%s\nc\n" % word),
        ("a.txt", lambda word: word),
        (
            "a.parquet",
            lambda word: serialize([{"text": word.decode()}], "parquet", compression="none"),
        ),
    ],
)
@pytest.mark.parametrize("word", [b"other", b"longer"])
def test_file_rewritten_between_passes_is_refused(make, name, content, word):
    make(name, content(b"first"))
    before = os.stat(name)

    class Rewrite(Progress):
        def stage(self, stage, *_):
            if stage == "write":
                make(name, content(word))
                os.utime(name, ns=(before.st_atime_ns, before.st_mtime_ns))
                assert (os.stat(name).st_size == before.st_size) == (word == b"other")

    with pytest.raises(InputError, match=f"^{name}: .*changed"):
        dedup_files([name], "kept.jsonl", progress=Rewrite())
    assert not Path("kept.jsonl").exists()


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason=needs.POSIX)
def test_error_of_the_system_while_an_input_is_read(make):
    Path(make("x")).unlink()
    # Its first page is not mapped: the system fails with EIO.
    os.symlink("/proc/self/mem", "a.jsonl")
    with open("/proc/self/mem", "rb", buffering=0) as standard_input:
        for read in (
            lambda: dedup_files(["a.jsonl"], "kept.jsonl"),
            lambda: ReopenableFile("-", standard_input),
        ):
            with pytest.raises(InputError, match=r": input/output error\."):
                read()


@pytest.fixture
def announced(monkeypatch):
    """What is announced, and what happens then."""
    lines, answers = [], []

    def announce(message):
        lines.append(message)
        answers.pop()()

    monkeypatch.setattr(messages, "announce", announce)
    return lines, answers


@pytest.mark.skipif(not hasattr(os, "openpty"), reason=needs.POSIX)
def test_waiting_for_a_terminal_is_announced(announced, monkeypatch):
    lines, answers = announced
    terminal, other_side = os.openpty()
    answers.append(lambda: os.write(terminal, b"{}\x04\x04"))
    with open(other_side, "rb") as end, open(os.dup(other_side), "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        source = ReopenableFile("-", end)
    os.close(terminal)
    assert source.read_head() == b"{}"
    assert len(lines) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason=needs.POSIX)
@pytest.mark.parametrize(
    "read",
    [
        lambda path: dedup_files([path], "kept.jsonl", format="jsonl", force=True),
        read_file,
        lambda path: read_texts([path], None),
        read_whole,
    ],
    ids=["records", "paper", "texts to compare", "list of words"],
)
def test_endless_device_is_refused_and_a_pipe_is_named(make, announced, read):
    lines, answers = announced
    make("x")
    os.mkfifo("pipe.txt")
    answers.append(lambda: Path("pipe.txt").write_bytes(b""))
    with suppress(InputError):
        read("pipe.txt")
    (line,) = lines
    assert "pipe.txt" in line
    os.symlink("/dev/zero", "zeros.zip")
    for path in ("/dev/zero", "zeros.zip"):
        with pytest.raises(InputError, match=r"must be a file or a pipe\. Got a device instead"):
            read(path)
    with suppress(InputError):
        read("/dev/null")
