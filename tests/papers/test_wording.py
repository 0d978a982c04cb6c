"""Text that sources share with a paper although nobody copied it."""

import random

import pytest
from tests.papers.test_rates import check_consistent
from tests.papers.texts import around, counted, unrelated

from neardup import Index, check
from neardup.papers import check_files
from neardup.papers.report_files import write_report
from neardup.papers.wording import find_furniture
from neardup.readers import read_file

#: 30 characters; with others around them, a sentence of its own.
PHRASE = "在各方的共同努力之下我们的渡口建设工作取得了令人满意的阶段成果。"
PARAGRAPH = (
    "旧渡口的石阶共有四十二级，涨水时只露出最上面的两级。船工们把水位刻在石头上，每一道刻痕旁边都写着年份。"
    "村里的老人说，最深的那一道是爷爷辈留下的，那一年大水漫过了米铺的门槛，人们在屋顶上过了三天三夜才等到船来。"
    "后来修了堤，水再也没有上来过，刻痕也就没有人再添了。"
)
#: Texts that all theses of a university have.
DECLARATION, THANKS = unrelated(75, 220) + "。", unrelated(76, 180) + "。"
CHAPTER = unrelated(77, 400)


def library_of(make, text, having, others=0, length=80):
    """Write documents that have a text between others of their own, and documents without it."""
    for number in range(having):
        make(f"library/{number:03}.txt", around(text, number, 500 + number, length))
    for number in range(others):
        make(f"library/other{number:03}.txt", unrelated(2000 + number, 2 * length + 80))
    return "library"


def paper_with(make, text, length=80):
    return make("paper.txt", around(text, length=length))


def ids(report):
    return [source.id for source in report.sources]


def wording(report):
    """Return kind and text of each stretch of wording."""
    return {
        (aside.kind, report.text[aside.begin : aside.end])
        for aside in report.asides
        if aside.kind in ("common", "furniture", "shared")
    }


class TestCommonWording:
    @pytest.mark.parametrize(
        ("having", "others", "is_common"),
        [(1, 40, False), (7, 40, False), (8, 40, True), (8, 90, False), (10, 90, True)],
    )
    def test_wording_of_a_share_of_the_library_is_not_copied(self, make, having, others, is_common):
        report = check(paper_with(make, PHRASE), library_of(make, PHRASE, having, others))
        assert len(report.sources) == (0 if is_common else having)
        assert (report.rates.total == 0.0) is is_common
        assert wording(report) == ({("common", PHRASE[:-1])} if is_common else set())

    @pytest.mark.parametrize(
        ("document", "shared", "beside"),
        [
            # A paragraph is text and no wording, unless a fifth of the library has it.
            (lambda n: around(PARAGRAPH, n, 500 + n, 200), PARAGRAPH, 200),
            # Posts of one text are one document,
            (lambda n: around(around(PHRASE, 700, 701, 80), n, n, 60), PHRASE, 300),
            # also if the phrase is all that they have, besides what their sites add.
            (lambda n: around(PHRASE, n, 100 + n, 12), PHRASE, 80),
            # A paper that is little but the phrase is a copy.
            (lambda n: around(PHRASE, n, 500 + n), PHRASE, 5),
        ],
        ids=["paragraph", "posts", "flash", "paper"],
    )
    def test_text_of_twenty_documents_is_copied_nevertheless(self, make, document, shared, beside):
        for number in range(20):
            make(f"library/{number:02}.txt", document(number))
        for number in range(90):
            make(f"library/other{number:02}.txt", unrelated(3000 + number))
        report = check(paper_with(make, shared, beside), "library")
        assert (len(report.sources), wording(report)) == (20, set())

    def test_within_a_copy_it_is_copied(self, make):
        copied = around(PHRASE, 800, 801, 60)
        library = library_of(make, PHRASE, 12)
        make("library/source.txt", around(copied, 802, 803))
        paper = make("paper.txt", around(copied))
        report = check(paper, library, workers=1)
        assert ids(report) == ["source.txt"]
        assert report.copied == 60 + 31 + 60
        assert wording(report) == set()
        assert check(paper, library, workers=3) == report


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "北原省临江市渡口古建筑保护与利用研究中心特聘首席研究员",
            "《北原省临江市渡口古建筑保护与利用管理暂行条例实施细则》",
        ],
    )
    def test_a_chinese_name_is_no_passage(self, make, name):
        make("library/a.txt", around(f"。{name}。", 1, 2))
        report = check(make("paper.txt", around(f"。{name}。", 3, 4)), "library")
        assert report.sources == ()
        assert {kind for kind, _ in wording(report)} == {"common"}
        sentence = f"。{name}提出了修复渡口旧石阶的三点建议。"
        make("library/b.txt", around(sentence, 5, 6))
        assert ids(check(make("sentence.txt", around(sentence, 3, 4)), "library")) == ["b.txt"]

    def test_names_in_an_alphabet_are_no_passage(self, make):
        names = "Harold Whitcombe, Agnes Thornbury and Percival Osgood-Lane"
        text = "The old ferry no longer crosses the river on winter days, said {}. It rained."
        make("library/a.txt", f"At the harbour meeting were {names} in their best coats.")
        assert check(make("paper.txt", text.format(names)), "library").sources == ()
        copied = "their daughters had painted every lantern on the landing stage green"
        make("library/b.txt", f"We heard that {copied}, and so we went.")
        assert ids(check(make("second.txt", text.format(copied)), "library")) == ["b.txt"]

    def test_a_text_in_capitals_has_no_names_to_tell(self, make):
        copied = "their daughters had painted every lantern on the landing stage green".upper()
        make("library/a.txt", f"WE HEARD THAT {copied}, AND SO WE WENT.")
        assert ids(check(make("paper.txt", f"IT IS SAID {copied}."), "library")) == ["a.txt"]


class TestFurniture:
    FOOTER = "。\n声明：本站刊载此文只为传播信息，并不意味着赞同其观点，转载请注明来源渡口新闻网。"

    def test_footer_counts_only_if_copied_with_a_text(self, make):
        make("library/a.txt", unrelated(1) + self.FOOTER)
        report = check(make("paper.txt", unrelated(2) + self.FOOTER), "library")
        assert report.sources == ()
        assert {kind for kind, _ in wording(report)} == {"furniture"}
        report = check(make("copy.txt", unrelated(1) + self.FOOTER), "library")
        assert report.rates.total == 1.0
        assert wording(report) == set()

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("渡口通讯社5月3日电(记者王岚)渡口通航。", ["渡口通讯社5月3日电(记者王岚)"]),
            ("The ferry is back. All rights reserved.", [" All rights reserved."]),
            ("It sails.\n--\nAda Brook\nHarbour 7\n", ["\n--\nAda Brook\nHarbour 7\n"]),
            ("渡口恢复通航，船票与从前一样。", []),
            ("He edits the paper of the town.", []),
            ("渡" * 300 + "转载请注明", []),
            ("", []),
        ],
    )
    def test_furniture_is_recognized(self, text, expected):
        assert [text[begin:end] for begin, end in find_furniture(text)] == expected


# Text that a share of the library has


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


def test_text_shared_by_twelve_theses_is_not_copied(make, theses):
    report = check(make("paper.txt", thesis(50)), theses, workers=1)
    check_consistent(report)
    assert report.rates.total <= 0.005
    assert report.sources == ()
    assert [documents for _, documents in shared(report)] == [12, 12]
    (declaration, _), (thanks, _) = shared(report)
    assert (DECLARATION[:-1] in declaration, THANKS[:-1] in thanks) == (True, True)
    assert report.shared == counted(declaration + thanks)
    assert check(make("paper.txt", thesis(50)), theses, workers=3) == report


def words(seed, count):
    """Return English text that nothing else has."""
    rng = random.Random(seed)
    made = (rng.choices("abcdefghijklmnoprstuvwy", k=rng.randint(3, 9)) for _ in range(count))
    return " ".join(map("".join, made))


def test_shared_english_text_is_not_copied(make):
    english = words(600, 80)
    for number in range(12):
        make(
            f"library/{number}.txt", f"{words(number, 250)}. {english}. {words(99 + number, 200)}."
        )
    paper = make("paper.txt", f"{words(500, 250)}. {english}. {words(501, 200)}.")
    report = check(paper, "library")
    assert (report.rates.total, report.sources) == (0.0, ())
    assert shared(report) == [(english, 12)]


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
        *((2, 2, False), (3, 3, True), (8, 9, False), (9, 9, True)),
        *((2, 10, False), (3, 10, True), (4, 21, False), (5, 21, True)),
        # Shingles of a large library are counted.
        *((69, 350, False), (70, 350, True)),
    ],
)
def test_share_of_documents_makes_text_shared(make, having, count, is_shared):
    library = library_of(make, DECLARATION, having, count - having, 300)
    report = check(paper_with(make, DECLARATION, 400), library)
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
    library = library_of(make, DECLARATION, 3, 1, 300)
    paper = paper_with(make, DECLARATION, 400)
    assert len(check(paper, library).sources) == 3
    for left_out in ("other000.txt", "000.txt"):
        assert shared(check(paper, library, without_sources=[left_out])) == []


def test_an_index_does_the_same(make, tmp_path):
    with Index(tmp_path / "library.db") as index:
        index.add_many({"id": f"{number:02}.txt", "text": thesis(number)} for number in range(12))
        index.add_many([{"id": "other", "text": unrelated(70, 900)}])
        report = check(make("paper.txt", thesis(50)), index)
    assert report.rates.total <= 0.005
    assert [documents for _, documents in shared(report)] == [12, 12]


def test_the_report_shows_it(make, theses):
    report = check(make("paper.txt", thesis(50)), theses)
    assert "in 12 of 12 documents" in report.to_html(language="en")
    assert "12 篇文献中有 12 篇" in report.to_html(language="zh")
    write_report(report, "report.docx", None, language="en", force=False)
    assert "Shared text" in read_file("report.docx").text
    without = check("paper.txt", theses, count_shared=True)
    assert "Shared text</dt>" not in without.to_html(language="en")
