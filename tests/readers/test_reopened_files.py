"""Files that change, fail or keep a run waiting while they are read."""

import io
import os
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import needs

from neardup.base import messages
from neardup.base.files import read_whole
from neardup.base.progress import Progress
from neardup.cli.compare import read_texts
from neardup.exceptions import InputError
from neardup.readers import open_sources, read_file
from neardup.readers.streams import ReopenableFile
from neardup.tasks.dedup import dedup_files


def test_file_that_grows_between_passes(make):
    name = make("a.jsonl", b'{"text":"a"}\n')
    sources = open_sources([name])
    list(sources.batches())
    Path(name).write_bytes(b'{"text":"a"}\n{"text":"b"}\n')
    with pytest.raises(InputError, match="changed while it was being read"):
        list(sources.batches())


def parquet(texts):
    out = io.BytesIO()
    pq.write_table(pa.table({"text": texts}), out, compression="none")
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", lambda word: b'{"text":"%s"}\n{"text":"c"}\n' % word),
        ("a.jsonl.zst", lambda word: b'{"text":"%s"}\n{"text":"c"}\n' % word),
        ("a.csv", lambda word: b"text\n%s\nc\n" % word),
        ("a.txt", lambda word: word),
        ("a.parquet", lambda word: parquet([word.decode(), "c"])),
    ],
)
def test_file_rewritten_in_place_between_passes(make, name, content):
    make(name, content(b"first"))
    before = os.stat(name)

    class Rewrite(Progress):
        def stage(self, stage, *_):
            if stage == "write":
                make(name, content(b"other"))
                os.utime(name, ns=(before.st_atime_ns, before.st_mtime_ns))
                assert os.stat(name).st_size == before.st_size

    with pytest.raises(InputError) as caught:
        dedup_files([name], "kept.jsonl", progress=Rewrite())
    assert caught.value.code == "changed_while_read"
    assert caught.value.values["file"] == name
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
            with pytest.raises(InputError) as caught:
                read()
            assert caught.value.code == "cannot_be_read"
            reason = caught.value.values["reason"]
            assert reason.values["said"] == "Input/output error"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason=needs.POSIX)
@pytest.mark.parametrize("kind", ["pipe", "input"])
def test_waiting_for_a_pipe_or_a_terminal_is_announced(make, monkeypatch, kind):
    make("x")
    os.mkfifo("pipe.jsonl")
    terminal, other_side = os.openpty()
    announced = []

    def announce(message):
        announced.append(message)
        if kind == "pipe":
            Path("pipe.jsonl").write_bytes(b"{}")
        else:
            os.write(terminal, b"{}\x04\x04")

    monkeypatch.setattr(messages, "announce", announce)
    with open(other_side, "rb") as end, open(os.dup(other_side), "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        source = ReopenableFile(*(["pipe.jsonl"] if kind == "pipe" else ["-", end]))
    os.close(terminal)
    assert source.head() == b"{}"
    assert len(announced) == 1
    assert ("pipe.jsonl" in announced[0]) is (kind == "pipe")


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
def test_device_that_never_ends_is_refused_and_a_pipe_is_named(make, monkeypatch, read):
    make("x")
    os.mkfifo("pipe.txt")
    announced = []

    def announce(message):
        announced.append(message.values["file"])
        Path("pipe.txt").write_bytes(b"")

    monkeypatch.setattr(messages, "announce", announce)
    with suppress(InputError):
        read("pipe.txt")
    assert announced == ["pipe.txt"]
    os.symlink("/dev/zero", "zeros.zip")
    for path in ("/dev/zero", "zeros.zip"):
        with pytest.raises(InputError, match=r"must be a file or a pipe\. Got a device instead"):
            read(path)
    with suppress(InputError):
        read("/dev/null")
