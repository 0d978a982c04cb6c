"""Text that many documents of a library share: set aside at any length, told, counted if asked."""

import random

import pytest
from tests.papers.test_rates import check_consistent
from tests.papers.texts import counted, unrelated

from neardup import Index, check
from neardup.papers import check_files
from neardup.papers.report_files import write_report

DECLARATION = (
    "本人郑重声明：所呈交的学位论文，是本人在导师指导下独立进行研究工作所取得的成果。除文中已经"
    "注明引用的内容外，本论文不含任何其他个人或集体已经发表或撰写过的作品成果。对本文的研究作出"
    "重要贡献的个人和集体，均已在文中以明确方式标明。本人完全意识到本声明的法律结果由本人承担。"
    "学校有权保留并向国家有关部门或机构送交论文的复印件和电子版，允许论文被查阅和借阅，可以采用"
    "影印、缩印或扫描等复制手段保存和汇编本学位论文。"
)
THANKS = (
    "衷心感谢导师三年来的悉心指导，从选题、资料收集到写作修改，每一步都倾注了老师的心血。感谢临"
    "江大学水运学院的各位老师在课程学习和开题答辩中给予的帮助，感谢图书馆特藏部和县档案馆提供的"
    "资料，感谢同门师兄师姐的关心与支持，感谢父母多年来的养育和理解，你们是我前进的动力。最后向"
    "百忙之中评阅论文和参加答辩的各位专家致以诚挚的谢意！"
)
ENGLISH = (
    "I declare that this thesis has been composed solely by myself and that it has not been "
    "submitted, in whole or in part, in any previous application for a degree. Except where "
    "states otherwise by reference or acknowledgment, the work presented is entirely my own, "
    "and I agree that the library of the university may lend and copy it freely for the "
    "purposes of study, provided that the author is named and that no charge is made to the "
    "reader."
)
CHAPTER = unrelated(77, 400)


def words(seed, count):
    """Return English text that nothing else has."""
    rng = random.Random(seed)
    made = (
        "".join(rng.choices("abcdefghijklmnoprstuvwy", k=rng.randint(3, 9))) for _ in range(count)
    )
    return " ".join(made)


def thesis(number, chapter=""):
    return (
        f"论文{number}\n{DECLARATION}\n{chapter}{unrelated(100 + number, 1500)}\n"
        f"致谢\n{THANKS}\n{unrelated(300 + number, 60)}"
    )


@pytest.fixture
def theses(make):
    """A library of twelve theses of one university."""
    for number in range(12):
        make(f"library/{number:02}.txt", thesis(number, CHAPTER if number == 3 else ""))
    return "library"


def shared(report):
    return [
        (report.text[aside.begin : aside.end], aside.documents)
        for aside in report.asides
        if aside.kind == "shared"
    ]


def library_of(make, text, having, count):
    """Write documents of which some have a text between others of their own."""
    for number in range(count):
        middle = text if number < having else unrelated(7000 + number)
        make(
            f"library/{number:03}.txt",
            unrelated(number, 300) + middle + unrelated(900 + number, 300),
        )
    return "library"


def paper_with(make, text):
    return make("paper.txt", unrelated(5000, 400) + text + unrelated(5001, 400))


def test_text_shared_by_twelve_theses_is_not_copied(make, theses):
    report = check(make("paper.txt", thesis(50)), theses, workers=1)
    check_consistent(report)
    assert report.rates.total <= 0.005
    assert report.sources == ()
    assert [documents for _, documents in shared(report)] == [12, 12]
    (declaration, _), (thanks, _) = shared(report)
    assert DECLARATION[:-1] in declaration
    assert THANKS[:-1] in thanks
    assert report.shared == counted(declaration + thanks)
    assert check(make("paper.txt", thesis(50)), theses, workers=3) == report


def test_shared_english_text_is_not_copied(make):
    for number in range(12):
        make(f"library/{number}.txt", f"{words(number, 250)}. {ENGLISH} {words(99 + number, 200)}.")
    paper = make("paper.txt", f"{words(500, 250)}. {ENGLISH} {words(501, 200)}.")
    report = check(paper, "library")
    assert (report.rates.total, report.sources) == (0.0, ())
    ((text, documents),) = shared(report)
    assert (text.strip("."), documents) == (ENGLISH.strip("."), 12)


def test_shared_text_counts_on_request(make, theses):
    report = check(make("paper.txt", thesis(50)), theses, count_shared=True)
    assert len(report.sources) == 12
    assert report.copied >= counted(DECLARATION + THANKS)
    assert (report.shared, shared(report)) == (0, [])
    assert report.settings["count_shared"] is True
    (checked,) = check_files([make("paper.txt", thesis(50))], theses, count_shared=True)
    assert checked.report == report


def test_a_chapter_beside_it_is_copied(make, theses):
    report = check(make("paper.txt", thesis(50, CHAPTER)), theses)
    check_consistent(report)
    (source,) = report.sources
    (passage,) = report.passages
    assert source.id == "03.txt"
    assert report.text[passage.begin : passage.end] == CHAPTER
    assert report.copied == source.characters == len(CHAPTER)
    assert [documents for _, documents in shared(report)] == [12, 12]


@pytest.mark.parametrize(
    ("having", "count", "is_shared"),
    [
        (2, 2, False),
        (3, 3, True),
        (8, 9, False),
        (9, 9, True),
        (2, 10, False),
        (3, 10, True),
        (4, 21, False),
        (5, 21, True),
    ],
)
def test_share_of_documents_makes_text_shared(make, having, count, is_shared):
    library = library_of(make, DECLARATION, having, count)
    report = check(paper_with(make, DECLARATION), library)
    assert (len(report.sources) == 0) == is_shared
    assert [documents for _, documents in shared(report)] == [having] * is_shared


@pytest.mark.parametrize(("having", "is_shared"), [(69, False), (70, True)])
def test_counted_shingles_find_shared_text(make, having, is_shared):
    library = library_of(make, DECLARATION, having, 350)
    report = check(paper_with(make, DECLARATION), library)
    assert (len(report.sources) == 0) == is_shared
    assert [documents for _, documents in shared(report)] == [having] * is_shared


def test_copies_of_one_text_count_as_one_document(make):
    # The paper has half of each: an article and its re-posts.
    article = unrelated(1, 600)
    for number in range(12):
        make(f"library/{number:02}.txt", article + unrelated(20 + number, 100))
    report = check(make("paper.txt", unrelated(2, 900) + article), "library")
    assert len(report.sources) == 12
    assert shared(report) == []


def test_paper_of_mostly_shared_text_is_a_copy(make, theses):
    report = check(make("paper.txt", DECLARATION + THANKS + unrelated(9, 100)), theses)
    assert (len(report.sources), shared(report)) == (12, [])


def test_papers_of_a_class_are_no_library(make, theses):
    papers = [
        make(f"class/{number}.txt", unrelated(40 + number, 900) + CHAPTER + unrelated(60 + number))
        for number in range(5)
    ]
    for checked in check_files(papers, compare_papers=True):
        assert checked.report.copied == len(CHAPTER)
    make("class/5.txt", thesis(50, CHAPTER))
    *_, last = check_files(["class"], theses, compare_papers=True)
    assert last.report.copied == len(CHAPTER)
    assert [documents for _, documents in shared(last.report)] == [12, 12]
    assert last.report.shared >= counted(DECLARATION + THANKS)


def test_omitted_source_does_not_count_as_a_document(make):
    library = library_of(make, DECLARATION, 3, 4)
    paper = paper_with(make, DECLARATION)
    assert len(check(paper, library).sources) == 3
    assert shared(check(paper, library, without_sources=["003.txt"])) == []
    assert shared(check(paper, library, without_sources=["000.txt"])) == []


def test_an_index_does_the_same(make, tmp_path):
    with Index(tmp_path / "library.db") as index:
        index.add_many({"id": f"{number:02}.txt", "text": thesis(number)} for number in range(12))
        index.add_many([{"id": "other", "text": unrelated(70, 900)}])
        report = check(make("paper.txt", thesis(50)), index)
    assert report.rates.total <= 0.005
    assert [documents for _, documents in shared(report)] == [12, 12]


def test_the_report_shows_it(make, theses, tmp_path):
    report = check(make("paper.txt", thesis(50)), theses)
    assert "in 12 of 12 documents" in report.to_html(language="en")
    assert "12 篇文献中有 12 篇" in report.to_html(language="zh")
    without = check(make("paper.txt", thesis(50)), theses, count_shared=True)
    assert "Shared text</dt>" not in without.to_html(language="en")
    values = report.to_dict()
    assert values["shared"] == report.shared
    assert [aside["documents"] for aside in values["asides"] if aside["kind"] == "shared"] == [
        12
    ] * 2
    write_report(report, tmp_path / "report.docx", None, language="zh", force=False)
