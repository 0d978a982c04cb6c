"""A paper's properties, its cover, the table of a class, and the verdict."""

import csv
import io
import random
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import docx
import pytest
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from tests.papers.texts import around, letters, unrelated
from tests.readers import making

from neardup import InputError, ParameterError, check
from neardup.papers import among, check_files
from neardup.papers.cover import Cover, read_cover, read_table
from neardup.papers.paper_check import CheckResult
from neardup.papers.report_files import render_summary
from neardup.papers.verdict import Thresholds
from neardup.readers import read_bytes
from neardup.readers.document_text import FileText
from neardup.readers.sandboxed_reader import read_sandboxed

COLUMNS = ("file", "title", "author", "number", "institution")


def word(custom=b"", **properties):
    """Make a Word document with core properties, and maybe a part with custom ones."""
    document = docx.Document()
    document.add_paragraph(unrelated(7, 60))
    for name, value in properties.items():
        setattr(document.core_properties, name, value)
    if custom:
        name = PackURI("/docProps/custom.xml")
        part = Part(name, CONTENT_TYPE.OFC_CUSTOM_PROPERTIES, custom, document.part.package)
        document.part.package.relate_to(part, RELATIONSHIP_TYPE.CUSTOM_PROPERTIES)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def pdf(**properties):
    """Make a PDF with values of its dictionary of properties."""
    data = making.pdf([[(90, 700, 12, "渡口的新渡轮下周一试航。")]])
    info = "".join(f"/{key} <{value.encode('utf-16').hex()}> " for key, value in properties.items())
    # Without a table of places the file is read from its beginning.
    body = data[: data.index(b"xref\n")].decode("latin-1")
    trailer = "trailer << /Root 1 0 R /Info 99 0 R /ID [<0AFF00> <02>] >>"
    return f"{body}99 0 obj\n<< {info}>>\nendobj\n{trailer}\n".encode("latin-1")


WPS = (
    '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"'
    ' xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">'
    '<property fmtid="{1}" pid="2" name="ICV"><vt:lpwstr>77AB</vt:lpwstr></property></Properties>'
)


@pytest.mark.parametrize("by_wps", [False, True])
def test_properties_of_word_documents(by_wps):
    core = {"author": "林岚", "last_modified_by": "周渡", "created": datetime(2026, 3, 4, 5, 6, 7)}
    data = word(WPS.encode() if by_wps else b"", **core)
    found = read_bytes(data, "a.docx").properties
    assert (found["author"], found["modified_by"]) == ("林岚", "周渡")
    assert found["created"] == "2026-03-04T05:06:07Z"
    assert "Word" in found["program"]
    # The id of the template that the library brings.
    assert len(found["origin_id"]) == 8
    assert found.get("wps_id") == ("77AB" if by_wps else None)


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        ("D:20260304130607+08'00'", "2026-03-04T05:06:07Z"),
        ("D:20260304050607Z", "2026-03-04T05:06:07Z"),
        ("D:20260304003607-0430", "2026-03-04T05:06:07Z"),
        ("D:20261399999999", None),
        ("yesterday", "yesterday"),
    ],
)
def test_properties_of_pdfs(date, moment):
    data = pdf(Creator="WPS", Producer="Skia", CreationDate=date)
    found = read_bytes(data, "a.pdf").properties
    assert (found["program"], found["producer"], found["id"]) == ("WPS", "Skia", "0aff00")
    assert found.get("created") == moment


def test_properties_shared_by_two_papers_are_listed():
    properties = [
        {"author": "林岚", "program": "WPS", "template": "Normal.dotm", "id": "1"},
        {"modified_by": "林岚", "producer": "WPS", "template": "Normal.dotm", "created": "1"},
        {"author": "user", "company": "海边公司", "id": "1"},
        {"author": "user", "company": " 海边公司\n"},
    ]
    papers = [CheckResult(f"{n}", None, "", None, found) for n, found in enumerate(properties)]
    assert among.find_shared_properties(papers) == [
        ("id", "1", [0, 2]),
        ("person", "林岚", [0, 1]),
        ("company", "海边公司", [2, 3]),
        ("program", "WPS", [0, 1]),
    ]


def test_check_has_the_properties_and_the_cover_of_its_papers(make):
    created = datetime(2026, 3, 4, 5, 6, 7)
    make("p/a.docx", word(author="林岚", title="题目", created=created))
    make("p/b.docx", word(author="周渡", last_modified_by="林岚", created=created))
    checked = list(check_files(["p"], compare_papers=True, workers=1))
    assert ("person", "林岚", [0, 1]) in among.find_shared_properties(checked)
    assert "2026-03-04T05:06:07Z" in render_summary(checked, [None, None], language="en")
    assert check("p/a.docx", "p").cover == Cover("题目", "林岚")


@pytest.mark.parametrize(
    ("title", "author", "cover"),
    [
        ("渡口 <b>研究", "林岚", Cover("渡口 <b>研究", "林岚")),
        ("Word Document", "python-docx", Cover()),
        ("Microsoft Word - thesis.docx", "Administrator", Cover("thesis.docx")),
        ("", "", Cover()),
    ],
)
@pytest.mark.parametrize("kind", ["docx", "pdf"])
def test_cover_states_document_properties(title, author, cover, kind):
    made = word(title=title, author=author) if kind == "docx" else pdf(Title=title, Author=author)
    assert read_cover(read_bytes(made, "a.bin")) == cover


@pytest.mark.parametrize(
    ("paper", "title", "length"),
    [
        (read_bytes(making.docx(making.paragraph("雪")), "a"), None, 0),
        (read_bytes("雪".encode(), "a"), None, 0),
        # A property is one short line.
        (FileText("", "docx", properties={"title": " a\n\tb ", "author": "长" * 900}), "a b", 300),
    ],
)
def test_cover_of_other_documents(paper, title, length):
    cover = read_cover(paper)
    assert (cover.title, len(cover.author or "")) == (title, length)


def test_properties_cross_from_the_sandbox(make):
    with Path(make("a.docx", word(title="题目", author="林岚"))).open("rb") as file:
        read = read_sandboxed(file, "a", max_bytes=1 << 20, max_characters=99, seconds=60)
    assert (read.properties["title"], read.properties["author"]) == ("题目", "林岚")


def test_covers_are_text():
    with pytest.raises(ParameterError, match=r"'number' .* text or None"):
        Cover(number=7)
    assert Cover(title="\udcff").title == "?"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("header", ["file,author,number,Room", "文件,姓名,学号,教室"])
def test_the_table_of_a_class(make, encoding, header):
    rows = 'a.txt,"林岚, 张平",001,7\r\n\r\n./more/b.txt,王五\r\n,nobody\r\n'
    make("class.csv", f"{header}\r\n{rows}".encode(encoding))
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
        ("file\n" + "x" * 140_000, "must be valid CSV"),
    ],
    ids=range(5),
)
def test_bad_tables_are_refused(make, text, problem):
    path = make("class.csv", text) if text is not None else "class.csv"
    before = csv.field_size_limit(131_072)
    try:
        with pytest.raises(InputError, match=rf"class\.csv: .*{problem}"):
            read_table(path, COLUMNS)
    finally:
        csv.field_size_limit(before)


# The verdict: by exact rates, which are shown with one decimal


@pytest.mark.parametrize(
    ("low", "high", "rate", "result", "shown"),
    [
        (0.15, 0.3, 0.0, "pass", "0% copied: below 15%, passes"),
        (0.15, 0.3, 0.0001, "pass", "<0.1% copied: below 15%, passes"),
        (0.15, 0.3, 0.149996, "pass", "15.0% copied: below 15%, passes"),
        (0.15, 0.3, 15 / 100, "review", "15.0% copied: neither below 15% nor above 30%"),
        (0.15, 0.3, 0.3, "review", "30.0% copied: neither"),
        (0.15, 0.3, 0.30001, "reject", "30.0% copied: above 30%, rejected"),
        (0.15, 0.3, 1.0, "reject", "100% copied"),
        (0.124, None, 124 / 1000, "reject", "12.4% copied: not below 12.4%, rejected"),
        (0.125, None, 124 / 1000, "pass", "12.4% copied: below 12.5%, passes"),
        (None, 0.3, 0.3, "pass", "30.0% copied: not above 30%, passes"),
        (None, 0, 0.0, "pass", "0% copied: not above 0%, passes"),
        (None, 0, 1e-6, "reject", "<0.1% copied: above 0%, rejected"),
    ],
)
def test_verdicts(low, high, rate, result, shown):
    verdict = Thresholds(low, high).verdict(rate)
    assert verdict.result == result
    assert verdict.sentence.startswith(shown)


def test_no_thresholds():
    assert Thresholds().verdict(0.5) is None


@pytest.mark.parametrize("value", [15, -0.1, "0.15", True, float("nan")])
def test_thresholds_are_rates(value):
    for name in ("pass_below", "reject_above"):
        with pytest.raises(ParameterError, match=f"'{name}' .* a number from 0 to 1"):
            Thresholds(**{name: value})


def test_the_order_of_thresholds():
    assert Thresholds(0.3, 0.3).verdict(0.3).result == "review"
    with pytest.raises(ParameterError, match=r"at most .* 30%\. Got 40% instead"):
        Thresholds(0.4, 0.3)


PAGES = [
    making.column([around("渡口有木船三只，船工九人，由两岸商户分担费用。", first, first + 50)])
    for first in range(20)
]
GARBLED = letters(random.Random(1), 2000).encode("gbk").decode("latin-1")


@pytest.mark.parametrize(
    ("signs", "damaged", "has_verdict"),
    [(0, 0, True), (8, 0, True), (11, 0, False), (60, 0, False), (0, 1, False), (4, 1, False)],
)
def test_unreadable_paper_has_no_verdict(make, signs, damaged, has_verdict):
    formulas = ["".join(chr(0xE000 + at) for at in range(of, of + signs)) for of in range(20)]
    pages = [
        [*page, (90, 60, 9, formula)] if formula else page
        for page, formula in zip(PAGES, formulas, strict=True)
    ]
    data = making.pdf(pages)
    paper = make("a.pdf", making.without_page(data, 7) if damaged else data)
    report = check(paper, make("b.txt", unrelated(77)))
    report = replace(report, thresholds=Thresholds(0.15))
    assert (report.verdict is not None) == has_verdict
    told = [note for note in report.notes if note.endswith("could not be read: no verdict.")]
    assert len(told) == (not has_verdict)
    of_page = sum(len(line[3]) for line in PAGES[0])
    garbled = signs / (of_page + signs)
    assert report.unread == pytest.approx(1 - (1 - damaged / 20) * (1 - garbled))


def test_garbled_letters_do_not_count(make):
    text = letters(random.Random(2), 6000)
    paper = read_bytes(f"{text}\n{GARBLED}".encode(), "a.txt")
    report = check(paper, make("b.txt", text))
    assert (report.rates.total, report.characters) == (1.0, 6000)
    assert report.text == paper.text
