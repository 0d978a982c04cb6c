"""What a file marks counts in a check: footnotes and quotations; and what is given as text."""

import pytest
from tests.papers.test_check import COPIED, OWN, counted
from tests.papers.test_rates import check_consistent

from neardup import InputError, check
from neardup.readers.files import FileText, Heading, read_bytes


@pytest.fixture
def library(make):
    make("library/county.txt", "附录三。" + COPIED + "编者按，以上抄自旧志。")
    return "library"


def test_footnotes_have_a_section_of_their_own(library):
    text = f"绪论\n{OWN}\n结论\n{OWN}\n参考文献\n[1] 王岚. 渡口志[M]. 水边出版社, 2001.\n{COPIED}"
    begins = [(text.index(title), len(title)) for title in ("绪论", "结论", "参考文献")]
    notes = text.index(COPIED)
    headings = [Heading(at, at + length, 1) for at, length in begins]
    paper = FileText(text, "docx", headings=(*headings, Heading(notes, notes, 1)))
    report = check(paper, library)
    check_consistent(report)
    titles = [(one.title, one.level) for one in report.sections]
    assert titles == [("绪论", 1), ("结论", 1), ("参考文献", 1), ("", 1)]
    assert [one.copied for one in report.sections] == [0, 0, 0, counted(COPIED)]
    assert report.rates.without_quotations == report.rates.total > 0
    assert "（脚注）" in report.to_html()


def test_what_the_file_marks_as_quoted(library):
    text = f"{OWN}\n{COPIED}\n{OWN}"
    begin = text.index(COPIED)
    paper = FileText(text, "docx", quoted=((begin, begin + len(COPIED)),))
    report = check(paper, library)
    assert [one.kind for one in report.asides] == ["quotation"]
    assert report.rates.without_quotations == 0 < report.rates.total


@pytest.mark.parametrize("text", [OWN, OWN * 30, "一行\n两行", "好。"])
def test_text_is_no_path(library, text):
    with pytest.raises(
        InputError, match=r"path of a file\. Got text instead: .*read_bytes"
    ) as error:
        check(text, library)
    assert "\n" not in str(error.value)
    assert check(read_bytes(text.encode(), "essay.txt"), library).copied == 0


def test_a_missing_file_with_marks_in_its_name(library):
    with pytest.raises(InputError, match=r"^论文，终稿\.docx: no such file"):
        check("论文，终稿.docx", library)


def test_one_file_to_exclude(make, library):
    paper = make("paper.txt", OWN + COPIED)
    form = make("form.txt", COPIED)
    assert check(paper, library, exclude=form) == check(paper, library, exclude=[form])
    assert check(paper, library, exclude=FileText(COPIED, "text")).copied == 0


def test_a_report_is_shown_in_short(make, library):
    report = check(make("paper.txt", OWN * 40 + COPIED), library)
    assert len(repr(report)) < 600
    assert COPIED not in repr(report.passages)
