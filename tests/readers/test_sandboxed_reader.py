"""Files that are read in a process of their own, where they can do no harm."""

import resource
import stat
import sys
import tempfile

import pytest
from tests import forks, needs
from tests.readers.making import docx, paragraph, pdf, run
from tests.server.papers import LONG, REFUSED, bomb

from neardup.readers import sandboxed_reader
from neardup.readers.file_text import UnreadableFileError, read_bytes
from neardup.readers.sandboxed_reader import read_sandboxed

pytestmark = pytest.mark.slow


@pytest.fixture
def forked(monkeypatch):
    """Read in forks; without this fixture, in new interpreters."""
    monkeypatch.setattr(sandboxed_reader, "run_in_sandbox", forks.run_in_sandbox)


def read(data, name="paper.txt", **limits):
    given = {"max_bytes": 64 << 20, "max_characters": 1_000_000, "seconds": 60.0, **limits}
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        return read_sandboxed(file, name, **given)


TINY = run("小", '<w:rPr><w:sz w:val="2"/></w:rPr>')


PICTURE = '<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"/>'


#: Hidden text and a picture.
MARKED = f"<w:p>{TINY}<w:r><w:drawing>{PICTURE}</w:drawing></w:r></w:p>"


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize(
    ("name", "data", "format"),
    [
        ("a.txt", LONG.encode("gb18030"), "text"),
        ("a.md", f"# 一\n{LONG}\n## 二\n{LONG}".encode(), "markdown"),
        ("a.markdown", f"# 一\n{LONG}".encode(), "markdown"),
        ("a.html", f"<html><body><p>{LONG}</p></body></html>".encode(), "html"),
        ("a.docx", docx(paragraph(LONG) + MARKED), "docx"),
        # The bytes say what it is.
        ("a.txt", docx(paragraph(LONG)), "docx"),
        ("a", pdf([[(60, 700, 10, LONG[:40])]]), "pdf"),
    ],
)
def test_sandbox_reads_each_format(name, data, format):
    result = read(data, name)
    assert LONG[:30] in result.text
    assert result.format == format
    assert result == read_bytes(data, name)


def test_sandbox_is_a_new_interpreter():
    assert read(docx(paragraph(LONG)), "a.docx") == read_bytes(docx(paragraph(LONG)), "a.docx")


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("kind", [kind for kind in REFUSED if kind != "zip bomb"])
def test_sandbox_refuses_broken_files(kind):
    name, data, message = REFUSED[kind]
    with pytest.raises(UnreadableFileError) as caught:
        read(data, name)
    assert str(caught.value).startswith(f"{name}: must")
    assert message in str(caught.value)


@pytest.mark.parametrize("size", [60 << 20, 300 << 20])
def test_a_bomb_ends_alone(size):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = bomb(size)
    made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UnreadableFileError, match=r"^a\.docx: must"):
        read(data, "a.docx")
    # In kilobytes: nothing of it came into this process.
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - max(before, made) < 20_000


def test_time_is_limited():
    with pytest.raises(UnreadableFileError, match=r"must be readable within 0\.05 seconds"):
        read(LONG.encode(), seconds=0.05)


@pytest.mark.skipif(sys.platform != "linux", reason=needs.LINUX)
def test_memory_is_limited():
    with pytest.raises(UnreadableFileError, match="moderate memory"):
        read(docx(paragraph(LONG * 20_000)), "a.docx", memory=8 << 20)


@pytest.fixture
def interpreter(tmp_path, monkeypatch):
    """A function that makes a line of shell the interpreter of the sandbox."""

    def replace(line):
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(sys, "executable", str(program))

    return replace


@pytest.mark.parametrize("line", ["kill -SEGV $$", "echo '[\"text\"]'"])
def test_a_reader_crashes_alone(interpreter, line):
    interpreter(line)
    with pytest.raises(UnreadableFileError, match="made its reader fail"):
        read(LONG.encode())


def test_a_reader_knows_no_secrets(interpreter, tmp_path, monkeypatch):
    seen = tmp_path / "seen"
    interpreter(f'env > {seen}\necho "$@" >> {seen}')
    monkeypatch.setenv("PGPASSWORD", "open sesame")
    with pytest.raises(UnreadableFileError, match=r"^secret plan\.txt: must"):
        read(LONG.encode(), "secret plan.txt")
    environment = seen.read_text()
    assert "paper.txt" in environment
    assert "sesame" not in environment
    assert "secret" not in environment


@pytest.mark.usefixtures("forked")
def test_too_long_a_text():
    with pytest.raises(UnreadableFileError, match="not 101"):
        read("长".encode() * 101, max_characters=100)
    assert len(read("长".encode() * 100, max_characters=100).text) == 100
