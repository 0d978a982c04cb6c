"""The cover: what a document states, and the table of a class."""

import csv
import io
from pathlib import Path

import pytest
from tests.readers import making

from neardup import InputError, ParameterError, check
from neardup.papers.cover import Cover, read_cover, read_table
from neardup.readers import read_bytes
from neardup.readers.document_text import FileText
from neardup.readers.sandboxed_reader import read_sandboxed

COLUMNS = ("file", "title", "author", "number", "institution")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def word(core):
    """A Word document with core properties."""
    import docx

    document = docx.Document()
    document.add_paragraph("渡口的新渡轮下周一试航。")
    document.core_properties.title, document.core_properties.author = core
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def pdf(title, author):
    data = making.pdf([[(90, 700, 12, "渡口的新渡轮下周一试航。")]])
    info = "".join(
        f"/{key} <{value.encode('utf-16-be').hex()}> "
        for key, value in (("Title", "\ufeff" + title), ("Author", "\ufeff" + author))
    )
    # Without a table of places the file is read from its beginning.
    body = data[: data.index(b"xref\n")]
    return (
        body + f"99 0 obj\n<< {info}>>\nendobj\ntrailer << /Root 1 0 R /Info 99 0 R >>\n".encode()
    )


@pytest.mark.parametrize(
    ("title", "author", "cover"),
    [
        ("渡口 <b>研究", "林岚", Cover("渡口 <b>研究", "林岚")),
        ("Word Document", "python-docx", Cover()),
        ("Microsoft Word - thesis.docx", "Administrator", Cover("thesis.docx")),
        ("", "", Cover()),
    ],
)
@pytest.mark.parametrize("make", [lambda *core: word(core), pdf], ids=["docx", "pdf"])
def test_cover_states_document_properties(title, author, cover, make):
    assert read_cover(read_bytes(make(title, author), "a.bin")) == cover


def test_a_document_without_properties():
    for data in (making.docx(making.paragraph("雪")), "雪".encode()):
        assert read_cover(read_bytes(data, "a")) == Cover()


def test_a_property_is_one_short_line():
    cover = read_cover(
        FileText("", "docx", properties={"title": " a\n\tb ", "author": "长" * 9000})
    )
    assert (cover.title, len(cover.author)) == ("a b", 300)


def test_properties_cross_from_the_sandbox():
    Path("a.docx").write_bytes(word(("题目", "林岚")))
    with Path("a.docx").open("rb") as file:
        read = read_sandboxed(file, "a", max_bytes=1 << 20, max_characters=99, seconds=60)
    assert (read.properties["title"], read.properties["author"]) == ("题目", "林岚")


def test_a_check_has_the_cover_of_the_document(tmp_path):
    (tmp_path / "a.txt").write_text("雪落在屋顶上。", "utf-8")
    paper = read_bytes(word(("题目", "林岚")), "a.docx")
    assert check(paper, tmp_path).cover == Cover("题目", "林岚")


def test_covers_are_text():
    with pytest.raises(ParameterError, match=r"'number' .* text or None"):
        Cover(number=7)
    assert Cover(title="\udcff").title == "?"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("header", ["file,author,number,Room", "文件,姓名,学号,教室"])
def test_the_table_of_a_class(encoding, header):
    rows = 'a.txt,"林岚, 张平",001,7\r\n\r\n./more/b.txt,王五\r\n,nobody\r\n'
    Path("class.csv").write_bytes(f"{header}\r\n{rows}".encode(encoding))
    table = read_table("class.csv", COLUMNS)
    assert table.find_record("papers/a.txt") == {"author": "林岚, 张平", "number": "001"}
    assert table.find_record("x/more/b.txt") == {"author": "王五"}
    assert table.find_record("b.txt") == {}
    paths = ["papers/a.txt", "more/b.txt"]
    assert table.list_gaps(paths) == []
    assert table.list_gaps(["c.txt", "a.txt"]) == [
        "class.csv does not list 1 paper: c.txt",
        "class.csv lists 1 file that is not among the papers: more/b.txt",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "No such file"),
        ("", "file is required. Got - instead"),
        ("author,title\n", "file is required. Got author, title instead"),
        ("file\na.txt\n./a.txt\n", r"must list \./a\.txt only once"),
    ],
)
def test_bad_tables_are_refused(text, problem):
    if text is not None:
        Path("class.csv").write_text(text)
    with pytest.raises(InputError, match=rf"class\.csv: .*{problem}"):
        read_table("class.csv", COLUMNS)


def test_a_table_with_a_long_field():
    Path("class.csv").write_text("file\n" + "x" * 140_000)
    before = csv.field_size_limit(131_072)
    try:
        with pytest.raises(InputError, match="must be valid CSV"):
            read_table("class.csv", COLUMNS)
    finally:
        csv.field_size_limit(before)
