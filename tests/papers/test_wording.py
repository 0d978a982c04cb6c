"""Wording: what sources share with a paper although nobody copied it."""

import pytest
from tests.papers.texts import around, unrelated

from neardup import check
from neardup.papers.wording import find_furniture

#: 30 characters; with others around them, a sentence of its own.
PHRASE = "在各方的共同努力之下我们的渡口建设工作取得了令人满意的阶段成果。"
PARAGRAPH = (
    "旧渡口的石阶共有四十二级，涨水时只露出最上面的两级。船工们把水位刻在石头上，每一道刻痕旁边都写着年份。"
    "村里的老人说，最深的那一道是爷爷辈留下的，那一年大水漫过了米铺的门槛，人们在屋顶上过了三天三夜才等到船来。"
    "后来修了堤，水再也没有上来过，刻痕也就没有人再添了。"
)


def library_of(make, shared, count, others=0):
    """Write texts that have something in common, and texts that have not."""
    for number in range(count):
        make(f"library/{number:03}.txt", around(shared, number, 500 + number))
    for number in range(others):
        make(f"library/other{number:03}.txt", unrelated(2000 + number))
    return "library"


def wording(report):
    """Return kind and text of each stretch of wording."""
    return {
        (aside.kind, report.text[aside.begin : aside.end])
        for aside in report.asides
        if aside.kind in ("common", "furniture", "shared")
    }


def ids(report):
    return [source.id for source in report.sources]


class TestCommonWording:
    def test_common_wording_is_set_apart_and_not_counted(self, make):
        library = library_of(make, PHRASE, 8, others=40)
        report = check(make("paper.txt", around(PHRASE)), library)
        assert (report.sources, report.copied, report.rates.total) == ((), 0, 0.0)
        assert wording(report) == {("common", PHRASE[:-1])}

    @pytest.mark.parametrize("copies", [1, 3, 7])
    def test_source_copied_by_some_papers_stays_a_source(self, make, copies):
        library = library_of(make, PHRASE, copies, others=40)
        report = check(make("paper.txt", around(PHRASE)), library)
        assert (len(report.sources), wording(report)) == (copies, set())

    def test_bound_grows_with_the_library(self, make):
        paper = make("paper.txt", around(PHRASE))
        assert len(check(paper, library_of(make, PHRASE, 8, others=90)).sources) == 8
        assert check(paper, library_of(make, PHRASE, 10, others=90)).sources == ()

    @pytest.mark.parametrize(
        ("document", "shared", "beside"),
        [
            # A paragraph is text and no wording, unless a fifth of the library has it.
            (lambda n: around(PARAGRAPH, n, 500 + n, 200), PARAGRAPH, 200),
            # Posts of one text are one document,
            (
                lambda n: around(around(PHRASE, 700, 701, 80), n, n, 60),
                PHRASE,
                300,
            ),
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
        report = check(make("paper.txt", around(shared, length=beside)), "library")
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
            (
                "渡口通讯社临江5月3日电(记者王岚)渡口恢复通航。",
                ["渡口通讯社临江5月3日电(记者王岚)"],
            ),
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
