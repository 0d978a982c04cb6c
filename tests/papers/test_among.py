"""What papers have in common: pairs, groups, properties of their files, and the table of all."""

import csv
import io
import random
from datetime import datetime
from pathlib import Path

import pytest
from tests.index.written import letters
from tests.readers import making

from neardup.papers import among, check_files
from neardup.papers.paper_check import CheckResult
from neardup.papers.report_files import ReportFolder, render_summary
from neardup.readers import read_bytes
from neardup.writers.cells import write_spreadsheet

RNG = random.Random(5)
PARTS = [letters(RNG, 100) for _ in range(3)]


def word(author, by=""):
    """A Word document with properties."""
    import docx

    document = docx.Document()
    document.add_paragraph(letters(RNG, 60))
    core = document.core_properties
    core.author, core.last_modified_by, core.created = author, by, datetime(2026, 3, 4, 5, 6, 7)
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


@pytest.fixture
def papers(make):
    """Anna has most of what Ben has, Ben a part of Chen's, Dora nothing of anybody's."""
    make("p/anna.txt", PARTS[0])
    make("p/ben.txt", PARTS[0] + PARTS[1] + letters(RNG, 100))
    make("p/chen.txt", PARTS[1] + letters(RNG, 900))
    make("p/dora.txt", letters(RNG, 200))
    return list(check_files(["p"], compare_papers=True, workers=1))


def test_pairs_and_cells(papers):
    cells = among.make_cells(papers)
    assert set(cells) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert cells[0, 1] == (1.0, 1)
    assert cells[1, 2].rate == pytest.approx(1 / 3, abs=0.02)
    # The numbers are those of the sources in the report of the row.
    for (row, column), cell in cells.items():
        assert papers[row].report.sources[cell.source - 1].id == papers[column].id
    pairs = among.rank_pairs(cells)
    assert [pair[:2] for pair in pairs] == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("least", "groups"),
    [
        (0.5, [[0, 1, 2, 3], [4, 5]]),
        (0.500001, [[0, 1], [2, 3], [4, 5]]),
        (0.95, []),
        (0, [[0, 1, 2, 3], [4, 5, 6]]),
    ],
)
def test_groups(least, groups):
    rates = {(0, 1): 0.9, (2, 3): 0.8, (4, 5): 0.7, (2, 1): 0.5, (6, 4): 0.1, (0, 3): 0.1}
    pairs = [among.Pair(*papers, rate) for papers, rate in rates.items()]
    assert among.group_papers(pairs, least) == groups


def test_a_file_of_the_library_with_the_name_of_a_paper_is_not_the_paper(make):
    make("old/anna.txt", PARTS[2])
    make("anna.txt", letters(RNG, 100))
    make("ben.txt", PARTS[2])
    checked = list(check_files(["anna.txt", "ben.txt"], "old", compare_papers=True, workers=1))
    assert [source.id for source in checked[1].report.sources] == ["anna.txt"]
    assert among.make_cells(checked) == {}


def test_papers_without_comparison_have_no_pairs(papers):
    (checked,) = check_files(["p/anna.txt"], "p", workers=1)
    page = render_summary([checked, *papers], [None] * 5, language="en")
    assert "Pairs of papers" in page
    assert "Pairs of papers" not in render_summary([checked] * 2, [None] * 2, language="en")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_more_papers_than_a_matrix_shows(papers, language):
    many = [*papers, *[CheckResult(f"{n}", papers[3].report, None, f"{n}") for n in range(57)]]
    page = render_summary(many, ["a.html"] * 61, language=language)
    assert 'class="matrix"' not in page
    assert 'class="stack pairs"' in page
    assert 'class="matrix"' in render_summary(many[:60], ["a.html"] * 60, language=language)


class TestProperties:
    def test_properties_of_word_documents(self):
        found = read_bytes(word("林岚", "周渡"), "a.docx").properties
        assert (found["author"], found["modified_by"]) == ("林岚", "周渡")
        assert found["created"] == "2026-03-04T05:06:07Z"
        assert "Word" in found["program"]
        # The id of the template that the library brings.
        assert len(found["origin_id"]) == 8

    def test_properties_of_wps_documents(self):
        import zipfile

        made = io.BytesIO(word("a"))
        with zipfile.ZipFile(made, "a") as archive:
            archive.writestr(
                "docProps/custom.xml",
                '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/'
                'custom-properties" xmlns:vt="http://schemas.openxmlformats.org/officeDocument/'
                '2006/docPropsVTypes"><property fmtid="{1}" pid="2" name="ICV"><vt:lpwstr>77AB'
                "</vt:lpwstr></property></Properties>",
            )
        parts = {
            "[Content_Types].xml": (
                "</Types>",
                '<Override PartName="/docProps/custom.xml" ContentType="application/vnd.'
                'openxmlformats-officedocument.custom-properties+xml"/></Types>',
            ),
            "_rels/.rels": (
                "</Relationships>",
                '<Relationship Id="rId9" Type="http://schemas.openxmlformats.org/officeDocument/'
                '2006/relationships/custom-properties" Target="docProps/custom.xml"/>'
                "</Relationships>",
            ),
        }
        out = io.BytesIO()
        with zipfile.ZipFile(made) as old, zipfile.ZipFile(out, "w") as new:
            for name in old.namelist():
                data = old.read(name).decode("utf-8", "surrogateescape")
                data = data.replace(*parts.get(name, ("", "")))
                new.writestr(name, data.encode("utf-8", "surrogateescape"))
        assert read_bytes(out.getvalue(), "a.docx").properties["wps_id"] == "77AB"

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
    def test_properties_of_pdfs(self, date, moment):
        data = making.pdf([[(90, 700, 12, letters(RNG, 20))]])
        body = data[: data.index(b"xref\n")]
        info = f"/Creator (WPS) /Producer (Skia) /CreationDate ({date})"
        trailer = "trailer << /Root 1 0 R /Info 99 0 R /ID [<0AFF00> <02>] >>"
        data = body + f"99 0 obj\n<< {info} >>\nendobj\n{trailer}\n".encode()
        found = read_bytes(data, "a.pdf").properties
        assert (found["program"], found["producer"], found["id"]) == ("WPS", "Skia", "0aff00")
        assert found.get("created") == moment

    def test_properties_shared_by_two_papers_are_listed(self):
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

    def test_a_check_has_them(self, make):
        make("p/a.docx", word("林岚"))
        make("p/b.docx", word("周渡", by="林岚"))
        checked = list(check_files(["p"], compare_papers=True, workers=1))
        assert ("person", "林岚", [0, 1]) in among.find_shared_properties(checked)
        page = render_summary(checked, [None, None], language="en")
        assert "2026-03-04T05:06:07Z" in page


class TestTable:
    def test_a_line_for_each_paper(self, make):
        make("p/=1+1.txt", PARTS[0])
        make("p/b.txt", PARTS[0] + PARTS[1])
        make("p/empty.txt", "。")
        names = sorted(map(str, Path("p").iterdir()))
        folder = ReportFolder(
            names, inputs=names, page="out", json=None, language="en", force=False
        )
        for checked in check_files(["p"], compare_papers=True, workers=1):
            folder.write(checked)
        folder.finish()
        data = Path("out/index.csv").read_bytes()
        assert data.startswith(b"\xef\xbb\xbf")
        header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        assert (header[0], header[4]) == ("File", "Total")
        assert [row[0] for row in rows] == ["'=1+1.txt", "b.txt", "empty.txt"]
        assert rows[0][4] == "100.00%"
        assert rows[0][7] == "b.txt"
        assert rows[2][-1].startswith("Must have letters")

    @pytest.mark.parametrize(
        ("begin", "shown"),
        [
            *((sign, f"'{sign}") for sign in ("=", "+", "-", "@", "＝")),
            *((f"{space}=", f"'{space}'=") for space in "\t\r\n"),
            # A spreadsheet of another country splits at semicolons.
            *((f"{begin};{sign}", f"{begin};'{sign}") for begin in ("", "a") for sign in "=+-@＝"),
            ("a\n=", "a\n'="),
        ],
    )
    def test_no_cell_is_a_formula(self, begin, shown):
        rest = 'cmd|"/c calc"!A1'
        data = write_spreadsheet([["a", begin + rest, None, "\udcff"]])
        (row,) = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        assert row == ["a", shown + rest, "", "?"]
