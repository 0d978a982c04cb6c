"""Files that readers trip over are read right, or refused in one clear line."""

import shutil
import subprocess
from itertools import pairwise

import pytest
from tests import needs
from tests.readers import making

from neardup.readers import read_bytes, read_file

pytestmark = pytest.mark.shared

LIKELY = {
    "zh_gbk.txt": "gb18030",
    "zh_gbk_crlf.txt": "gb18030",
    "zh_utf16be_nobom.txt": "utf-16-be",
    "zh_utf16le_nobom.txt": "utf-16-le",
}
CERTAIN = {
    "zh_cr_only.txt": "utf-8",
    "zh_utf16be_bom.txt": "utf-16-be",
    "zh_utf16le_bom.txt": "utf-16-le",
    "zh_utf32le_bom.txt": "utf-32-le",
    "zh_utf8_bom.txt": "utf-8",
}
#: The encoding, and what Python reads it as.
OWN_TEXT = {
    "zh_big5.txt": ("big5hkscs", "big5"),
    "zh_big5hkscs.txt": ("big5hkscs", "big5hkscs"),
    "zh_gb18030.txt": ("gb18030", "gb18030"),
    "zh_gb2312.txt": ("gb18030", "gb2312"),
}


@pytest.fixture(scope="module")
def awkward(shared):
    return shared / "awkward"


@pytest.fixture(scope="module")
def original(awkward):
    return (awkward / "zh_utf8.txt").read_bytes().decode()


@pytest.mark.parametrize("name", [*LIKELY, *CERTAIN])
def test_one_text_in_many_encodings(awkward, original, name):
    document = read_file(awkward / name)
    assert document.text == original
    assert document.encoding == {**LIKELY, **CERTAIN}[name]
    assert document.certainty == ("likely" if name in LIKELY else "certain")
    assert (document.notes == ()) == (document.encoding == "utf-8")


@pytest.mark.parametrize("name", OWN_TEXT)
def test_encodings_with_texts_of_their_own(awkward, name):
    encoding, codec = OWN_TEXT[name]
    document = read_file(awkward / name)
    assert document.text == (awkward / name).read_bytes().decode(codec)
    assert (document.encoding, document.certainty) == (encoding, "likely")
    assert document.notes == (f"Read as {encoding} (likely).",)


def test_nuls_are_left_out(awkward, original):
    document = read_file(awkward / "zh_nul_bytes.txt")
    assert original.startswith(document.text)
    nuls = (awkward / "zh_nul_bytes.txt").read_bytes().count(b"\0")
    assert document.notes == (f"{nuls} NUL characters are left out.",)


def test_wrong_charset_in_a_header_is_ignored(awkward, original):
    document = read_file(awkward / "zh_header_lies.html")
    assert bare(document.text) in bare(original)
    assert document.notes == ("Read as gb18030 (likely).",)


@pytest.mark.parametrize("name", ["zh_broken_tags.html", "zh_entities.html"])
def test_html(awkward, original, name):
    document = read_file(awkward / name)
    assert document.format == "html"
    assert bare(document.text) in bare(original)
    assert len(document.text) > 350


def test_html_with_menus_and_scripts(awkward, original):
    document = read_file(awkward / "zh_gb2312_meta.html")
    title, _, rest = document.text.partition("\n")
    assert [document.text[h.begin : h.end] for h in document.headings] == [title]
    assert bare(rest[:3000]) in bare(original)
    assert "脚本" not in document.text
    assert "登录" not in document.text


def test_pdf(awkward, original):
    """Its font is not embedded, so letters are placed by a font of the machine."""
    if not (shutil.which("fc-list") and subprocess.check_output(["fc-list", ":lang=zh"])):
        pytest.skip(needs.FONTS)
    document = read_file(awkward / "zh_orig_part.pdf")
    assert len(document.pages) == 3
    pages = [*document.pages, len(document.text)]
    for begin, end in pairwise(pages):
        # The file has no more of a page's text than the page has room for.
        assert bare(document.text[begin:end]) in bare(original)
    assert document.text.splitlines()[1] == original.splitlines()[2].strip()


def test_docx(awkward, original):
    document = read_file(awkward / "zh_orig_part.docx")
    (heading,) = document.headings
    assert (document.text[heading.begin : heading.end], heading.level) == ("活着前言", 1)
    body, _, table = document.text.partition("\n表格甲\t")
    assert bare(body[heading.end :]) == bare(original)[: len(bare(body[heading.end :]))]
    assert table.startswith("表格乙")


def test_whatever_is_there_is_read(awkward):
    # A file is read in one encoding, and HZ is none of them.
    others = {"zh_hz.txt", "zh_mixed_utf8_then_gbk.txt"}
    names = sorted({path.name for path in awkward.iterdir()} - others)
    assert len(names) > 30
    empty = {"bom_only.txt", "empty.txt"}
    for name in names:
        document = read_file(awkward / name)
        assert bool(document.text) == (name not in empty)
        assert "\ufffd" not in document.text
        assert "\0" not in document.text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zh_orig_part.docx", "zh_orig_part.pdf"])
def test_cut_or_changed_files_are_refused_in_one_line(awkward, name):
    making.check_damaged((awkward / name).read_bytes(), lambda data: read_bytes(data, name))


def bare(text):
    return "".join(text.split())
