"""HTML, Markdown and files by their first bytes; real files that readers trip over; limits."""

import random
import shutil
import subprocess
import sys
import unicodedata
from itertools import pairwise

import pytest
from tests import needs
from tests.readers.making import column, docx, paragraph, pdf, zipped

from neardup.exceptions import InputError, MissingDependencyError, ParameterError
from neardup.readers import Limits, UnreadableFileError, open_sources, read_bytes, read_file

LONG = "本研究于每周六清晨在城北的三个湖泊边记录水鸟的种类与数量，并与前人的记录作比较。"
OTHER = "结果表明，野鸭的数量在秋季明显增加，而白鹭则在夏末最多，湖面大小与种类数有关。"


def headings(result):
    return [(result.text[h.begin : h.end], h.level) for h in result.headings]


def page(body, head=""):
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode()


def test_html_main_text():
    body = (
        "<nav><a href='/'>首页</a> <a>登录</a></nav>"
        f"<article><h1>湖泊 &amp; 水鸟</h1><p>{LONG}</p><h2>结果</h2><p>{OTHER}</p><p>短。</p>"
        f"<table><tr><td>甲</td><td>乙</td></tr></table><p>{LONG}</p><p>{OTHER}</p></article>"
        "<footer>版权所有</footer><script>var a = '<p>脚本</p>';</script>"
    )
    document = read_bytes(page(body, "<title>题</title><style>p{}</style>"), "a.html")
    texts = ["湖泊 & 水鸟", LONG, "结果", OTHER, "短。", "甲\t乙", LONG, OTHER]
    assert document.text.split("\n") == texts
    assert headings(document) == [("湖泊 & 水鸟", 1), ("结果", 2)]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "<p>今天\n  下雨。</p><p>Rain\n today.</p><p>第一章 雨</p>",
            "今天下雨。\nRain today.\n第一章 雨",
        ),
        (
            f"""<p class="a"">{LONG}</p><p class=it's>{OTHER}</p><p title="a > b">短。</p>""",
            f"{LONG}\n{OTHER}\n短。",
        ),
    ],
)
def test_html_line_ends_and_bad_quotes(body, text):
    assert read_bytes(page(body), "a.htm").text == text


def test_html_after_an_open_quote_is_lost_alone():
    assert read_bytes(page(f'<p>{LONG}</p><p a="x>{OTHER}</p>'), "a.html").text.startswith(LONG)


def test_html_by_its_first_bytes():
    data = page(f"<p>{LONG}</p>").decode().encode("utf-16")
    document = read_bytes(data, "a.txt")
    assert (document.format, document.encoding, document.text) == ("html", "utf-16-le", LONG)


HOSTILE = (
    *("<", "<!--", "<![CDATA[", "<a x='", '<a "', "<script>", "</p", "&#x", "&#9999999999;"),
    *("<a b='", '<a b="', '<a b=">"', "<b>", "<title>", "<p><td>", "<!", "<?"),
    *("<SCRIPT></script>", "<SCRIPT></Script"),
)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", HOSTILE)
def test_html_hostile_pages_take_linear_time(chunk):
    data = f"<html><p>{chunk * 30_000}{LONG}"
    if chunk.startswith("&#9"):
        # 30,000 characters that do not exist.
        with pytest.raises(UnreadableFileError, match="without a meaning"):
            read_bytes(data.encode(), "a.html")
    else:
        assert read_bytes(data.encode(), "a.html").format == "html"


@pytest.mark.parametrize(
    ("chunk", "count", "is_read_whole"),
    [
        (" a{}=1", 256, False),
        (" a{}=1", 257, True),
        (" a{}=1", 100_000, True),
        ("<div>", 150, False),
        ("<div>", 201, True),
        ("<div>", 100_000, True),
        ("<b>b</b>", 30_000, False),
        ("<b>b</b>", 250_000, True),
    ],
)
@pytest.mark.parametrize("hide", ["{}", "<object>{}", "<!-->{}"])
def test_html_page_beyond_bounds_is_read_whole_with_a_note(chunk, count, is_read_whole, hide):
    many = "".join(map(chunk.format, range(count)))
    body = f"<p{many}>" if "=" in chunk else f"{many}<p>"
    document = read_bytes(f"<html><p>{LONG}</p>{hide.format(body)}{LONG}".encode(), "a.html")
    assert document.text.startswith(LONG)
    notes = [note for note in document.notes if "all of its visible text" in note]
    assert len(notes) == is_read_whole


def test_markdown_headings():
    text = "# 一\r\n正文\r\n```\r\n# 代码\r\n```\r\n## 二 ##\n #七\n\n### 三"
    document = read_bytes(text.encode(), "a.md")
    assert document.text == text.replace("\r\n", "\n")
    assert headings(document) == [("一", 1), ("二", 2), ("三", 3)]
    assert read_bytes(text.encode(), "a.txt").headings == ()


# What is refused

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (OLE, "Got a document of Word before 2007 (.doc) instead. Open it in Word, WPS"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "must be readable without a password"),
        (b"{\\rtf1 x}", "Got an RTF document instead"),
        (b"\x1f\x8b\x08\0", "Got compressed data (gzip) instead"),
        (b"\x89PNG\r\n\x1a\n", "Got a picture (PNG) instead"),
        (zipped({"a.txt": "x"}), "Got an archive (zip) instead. Unpack it"),
        (zipped({"content.xml": "x"}), "Got an OpenDocument file instead"),
        (zipped({"xl/workbook.xml": "x"}), "Got an Excel workbook instead"),
        (zipped({"word/other.xml": "x"}), "must be a whole Word document (.docx)"),
        (zipped({"a.txt": "x"})[:-8], "must be a whole Word document (.docx)"),
        (b"%PDF-1.4 and no more", "must be a whole PDF. Got a damaged file instead"),
        (bytes(5000), "Got binary data"),
        (random.Random(1).randbytes(5000), "Got binary data"),
    ],
)
def test_binary_file_is_refused(data, reason):
    name = "a.txt" if "binary" in reason else "a.docx"
    with pytest.raises(UnreadableFileError) as caught:
        read_bytes(data, name)
    error = caught.value
    assert str(error).startswith(f"{name}: must be ")
    assert reason in str(error)
    assert str(error).isprintable()
    # The sentence and its parts are two ways to say one thing.
    assert str(error) == str(error.problem)


def test_limits(make):
    name = make("a.txt", "天气" * 1000)
    with pytest.raises(UnreadableFileError, match=r"a.txt: must have at most 99 bytes. Got more"):
        read_file(name, limits=Limits(max_bytes=99))
    with pytest.raises(UnreadableFileError, match="at most 99 bytes"):
        read_bytes(("天气" * 1000).encode(), "a.txt", limits=Limits(max_bytes=99))
    packed = make("b.txt.gz", bytes(1 << 20))
    with pytest.raises(UnreadableFileError, match="must unpack to at most 9999 bytes"):
        read_file(packed, limits=Limits(max_unpacked_bytes=9999))
    with pytest.raises(ParameterError, match="'max_pages' parameter must be a whole number"):
        Limits(max_pages=0)


@pytest.mark.parametrize(
    ("package", "name"), [("docx", "a.docx"), ("pypdfium2", "a.pdf"), ("trafilatura", "a.html")]
)
def test_missing_package_is_named(make, monkeypatch, package, name):
    make(name, {"a.docx": docx(paragraph("x")), "a.pdf": pdf([[]])}.get(name, page("x")))
    monkeypatch.setitem(sys.modules, package, None)
    line = r"Install it with: pip install 'neardup\[papers\]'"
    with pytest.raises(MissingDependencyError, match=line):
        read_file(name)
    with pytest.raises(MissingDependencyError, match=line):
        list(open_sources([name]).batches())


def test_missing_file_is_refused():
    with pytest.raises(InputError, match=r"^nowhere.pdf: no such file or directory\.$"):
        read_file("nowhere.pdf")


def test_compressed_and_misnamed(make):
    for suffix in (".gz", ".zst"):
        name = make(f"a.docx{suffix}", docx(paragraph(LONG)))
        assert read_file(name).text == LONG
    assert read_file(make("b.txt", pdf([column([LONG])]))).format == "pdf"
    assert read_file(make("c.pdf", docx(paragraph(LONG)))).format == "docx"
    assert read_file(make("d.docx", "天气很好。")).format == "text"


# Files that were found where readers trip over them.

#: Texts: the encoding, how certain it is, and what Python reads it as, if it is a text of its own.
ENCODINGS = {
    "zh_gbk.txt": ("gb18030", "likely", None),
    "zh_gbk_crlf.txt": ("gb18030", "likely", None),
    "zh_utf16be_nobom.txt": ("utf-16-be", "likely", None),
    "zh_utf16le_nobom.txt": ("utf-16-le", "likely", None),
    "zh_cr_only.txt": ("utf-8", "certain", None),
    "zh_utf16be_bom.txt": ("utf-16-be", "certain", None),
    "zh_utf16le_bom.txt": ("utf-16-le", "certain", None),
    "zh_utf32le_bom.txt": ("utf-32-le", "certain", None),
    "zh_utf8_bom.txt": ("utf-8", "certain", None),
    "zh_big5.txt": ("big5hkscs", "likely", "big5"),
    "zh_big5hkscs.txt": ("big5hkscs", "likely", "big5hkscs"),
    "zh_gb18030.txt": ("gb18030", "likely", "gb18030"),
    "zh_gb2312.txt": ("gb18030", "likely", "gb2312"),
}


@pytest.fixture(scope="module")
def awkward(shared):
    return shared / "awkward"


@pytest.fixture(scope="module")
def original(awkward):
    return (awkward / "zh_utf8.txt").read_bytes().decode()


def bare(text):
    return "".join(text.split())


@pytest.mark.shared
@pytest.mark.parametrize("name", ENCODINGS)
def test_encoding_of_a_real_text_is_found(awkward, original, name):
    encoding, certainty, codec = ENCODINGS[name]
    document = read_file(awkward / name)
    assert document.text == ((awkward / name).read_bytes().decode(codec) if codec else original)
    assert (document.encoding, document.certainty) == (encoding, certainty)
    notes = () if encoding == "utf-8" else (f"Read as {encoding} ({certainty}).",)
    assert document.notes == notes


@pytest.mark.shared
def test_nuls_of_a_real_text_are_left_out(awkward, original):
    document = read_file(awkward / "zh_nul_bytes.txt")
    assert original.startswith(document.text)
    nuls = (awkward / "zh_nul_bytes.txt").read_bytes().count(b"\0")
    assert document.notes == (f"{nuls} NUL characters are left out.",)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("zh_header_lies.html", ("Read as gb18030 (likely).",)),
        ("zh_broken_tags.html", ()),
        ("zh_entities.html", ()),
    ],
)
def test_real_page_has_its_text(awkward, original, name, notes):
    document = read_file(awkward / name)
    assert (document.format, document.notes) == ("html", notes)
    assert bare(document.text) in bare(original)
    assert len(document.text) > 350


@pytest.mark.shared
def test_real_page_has_no_menus_and_scripts(awkward, original):
    document = read_file(awkward / "zh_gb2312_meta.html")
    title, _, rest = document.text.partition("\n")
    assert headings(document) == [(title, 1)]
    assert bare(rest[:3000]) in bare(original)
    assert "脚本" not in document.text
    assert "登录" not in document.text


@pytest.mark.shared
def test_real_pdf_has_its_pages(awkward, original):
    """Its font is not embedded, so letters are placed by a font of the machine."""
    if not (shutil.which("fc-list") and subprocess.check_output(["fc-list", ":lang=zh"])):
        pytest.skip(needs.FONTS)
    document = read_file(awkward / "zh_orig_part.pdf")
    assert len(document.pages) == 3
    for begin, end in pairwise([*document.pages, len(document.text)]):
        # The file has no more of a page's text than the page has room for.
        assert bare(document.text[begin:end]) in bare(original)
    assert document.text.splitlines()[1] == original.splitlines()[2].strip()


@pytest.mark.shared
def test_real_word_document_has_its_heading_and_table(awkward, original):
    document = read_file(awkward / "zh_orig_part.docx")
    assert headings(document) == [("活着前言", 1)]
    body, _, table = document.text.partition("\n表格甲\t")
    text = bare(body[document.headings[0].end :])
    assert text == bare(original)[: len(text)]
    assert table.startswith("表格乙")


@pytest.mark.shared
def test_every_real_file_is_read_without_replaced_characters(awkward):
    # A file is read in one encoding, and HZ is none of them.
    others = {"zh_hz.txt", "zh_mixed_utf8_then_gbk.txt"}
    names = sorted({path.name for path in awkward.iterdir()} - others)
    assert len(names) > 30
    for name in names:
        document = read_file(awkward / name)
        assert bool(document.text) == (name not in {"bom_only.txt", "empty.txt"})
        assert not {"\ufffd", "\0"} & set(document.text)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", ["zh_orig_part.docx", "zh_orig_part.pdf"])
def test_damaged_real_file_is_read_or_refused_in_one_line(awkward, name):
    data, rng = (awkward / name).read_bytes(), random.Random(7)
    damaged = [data[: len(data) * part // 10] for part in range(10)]
    for _ in range(20):
        wrong = bytearray(data)
        for _ in range(rng.choice((1, 4, 40))):
            wrong[rng.randrange(len(wrong))] = rng.randrange(256)
        damaged.append(bytes(wrong))
    refusals = []
    for wrong in damaged:
        try:
            text = read_bytes(wrong, name).text
        except UnreadableFileError as error:
            refusals.append(str(error))
        else:
            assert {c for c in text if unicodedata.category(c) == "Cc"} <= {"\n", "\t"}
    assert refusals
    assert all(line.isprintable() and ": must " in line for line in refusals)
