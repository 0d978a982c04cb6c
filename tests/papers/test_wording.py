"""Wording: what sources share with a paper although nobody copied it."""

import random

import pytest
from tests.index.written import letters

from neardup import check
from neardup.papers import align
from neardup.papers.align import without_brackets
from neardup.papers.wording import furniture, many

#: 30 characters; with others around them, a sentence of its own.
PHRASE = "在各方的共同努力之下我们的渡口建设工作取得了令人满意的阶段成果。"
PARAGRAPH = (
    "旧渡口的石阶共有四十二级，涨水时只露出最上面的两级。船工们把水位刻在石头上，每一道刻痕旁边都写着年份。"
    "村里的老人说，最深的那一道是爷爷辈留下的，那一年大水漫过了米铺的门槛，人们在屋顶上过了三天三夜才等到船来。"
    "后来修了堤，水再也没有上来过，刻痕也就没有人再添了。"
)


def own(seed, length=300):
    return letters(random.Random(seed), length)


def library_of(make, shared, count, others=0):
    """Write texts of their own that have something in common, and texts that have not."""
    for at in range(count):
        make(f"library/{at:03}.txt", own(at) + shared + own(500 + at))
    for at in range(others):
        make(f"library/other{at:03}.txt", own(2000 + at))
    return "library"


def apart(report):
    """Return the text of each kind of wording."""
    return {
        (aside.kind, report.text[aside.begin : aside.end])
        for aside in report.asides
        if aside.kind in ("common", "furniture")
    }


class TestWhatManyDocumentsHave:
    def test_it_is_set_apart_and_not_counted(self, make):
        library = library_of(make, PHRASE, 8)
        report = check(make("paper.txt", own(900) + PHRASE + own(901)), library)
        assert (report.sources, report.copied, report.rates.total) == ((), 0, 0.0)
        assert apart(report) == {("common", PHRASE[:-1])}
        page = report.to_html(language="en")
        assert "Common wording" in page
        assert "not as copied text" in page
        assert "通用表述" in report.to_html()
        assert {"kind": "common", "begin": 300, "end": 331} in report.to_dict()["asides"]

    @pytest.mark.parametrize("copies", [1, 3, 7])
    def test_a_source_that_some_papers_copied_is_a_source(self, make, copies):
        library = library_of(make, PHRASE, copies)
        report = check(make("paper.txt", own(900) + PHRASE + own(901)), library)
        assert (len(report.sources), apart(report)) == (copies, set())

    def test_of_a_larger_library_more_have_it(self, make):
        paper = make("paper.txt", own(900) + PHRASE + own(901))
        assert len(check(paper, library_of(make, PHRASE, 8, others=90)).sources) == 8
        assert check(paper, library_of(make, PHRASE, 10)).sources == ()

    def test_the_bounds(self):
        found = [many(documents) for documents in range(1, 2000)]
        assert found == sorted(found)
        assert (found[0], found[-1]) == (8, 16)

    @pytest.mark.parametrize(
        ("document", "shared", "beside"),
        [
            # A paragraph is text and no wording, however many documents have it.
            (lambda at: own(at) + PARAGRAPH + own(500 + at), PARAGRAPH, 300),
            # Posts of one text are one document,
            (lambda at: own(at, 60) + own(700) + PHRASE + own(701) + own(at, 60), PHRASE, 300),
            # also if the phrase is all that they have, besides what their sites add.
            (lambda at: own(at, 12) + PHRASE + own(100 + at, 12), PHRASE, 300),
            # A paper that is little but the phrase is a copy.
            (lambda at: own(at) + PHRASE + own(500 + at), PHRASE, 5),
        ],
        ids=["paragraph", "posts", "flash", "paper"],
    )
    def test_what_twenty_have_and_is_copied_nevertheless(self, make, document, shared, beside):
        for at in range(20):
            make(f"library/{at:02}.txt", document(at))
        report = check(make("paper.txt", own(900, beside) + shared + own(901, beside)), "library")
        assert (len(report.sources), apart(report)) == (20, set())

    def test_within_a_copy_it_is_copied(self, make):
        copied = own(800, 60) + PHRASE + own(801, 60)
        library = library_of(make, PHRASE, 12)
        make("library/source.txt", own(802) + copied + own(803))
        report = check(make("paper.txt", own(900) + copied + own(901)), library)
        assert [one.id for one in report.sources] == ["source.txt"]
        assert report.copied == 60 + 31 + 60
        assert apart(report) == set()

    def test_workers_and_order_change_nothing(self, make):
        library = library_of(make, PHRASE, 9)
        paper = make("paper.txt", own(900) + PHRASE + PARAGRAPH)
        make("library/source.txt", own(1) + PARAGRAPH)
        assert check(paper, library, workers=1) == check(paper, library, workers=3)


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "北原省临江市渡口古建筑保护与利用研究中心特聘首席研究员",
            "《北原省临江市渡口古建筑保护与利用管理暂行条例实施细则》",
        ],
    )
    def test_a_chinese_name_is_no_passage(self, make, name):
        make("library/a.txt", own(1) + "。" + name + "。" + own(2))
        report = check(make("paper.txt", own(3) + "。" + name + "。" + own(4)), "library")
        assert report.sources == ()
        assert {kind for kind, _ in apart(report)} == {"common"}
        sentence = own(3) + "。" + name + "提出了修复渡口旧石阶的三点建议。" + own(4)
        make("library/b.txt", own(5) + "。" + name + "提出了修复渡口旧石阶的三点建议。" + own(6))
        found = check(make("sentence.txt", sentence), "library")
        assert [one.id for one in found.sources] == ["b.txt"]

    def test_names_in_an_alphabet_are_no_passage(self, make):
        names = "Harold Whitcombe, Agnes Thornbury and Percival Osgood-Lane"
        text = "The old ferry no longer crosses the river on winter days, said {}. It rained."
        make("library/a.txt", f"At the harbour meeting were {names} in their best coats.")
        report = check(make("paper.txt", text.format(names)), "library")
        assert report.sources == ()
        copied = "their daughters had painted every lantern on the landing stage green"
        make("library/b.txt", f"We heard that {copied}, and so we went.")
        found = check(make("second.txt", text.format(copied)), "library")
        assert [one.id for one in found.sources] == ["b.txt"]

    def test_a_text_in_capitals_has_no_names_to_tell(self, make):
        copied = "their daughters had painted every lantern on the landing stage green".upper()
        make("library/a.txt", f"WE HEARD THAT {copied}, AND SO WE WENT.")
        assert len(check(make("paper.txt", f"IT IS SAID {copied}."), "library").sources) == 1


class TestFurniture:
    FOOTER = "声明：本站刊载此文只为传播信息，并不意味着赞同其观点，转载请注明来源渡口新闻网。"

    def test_what_a_site_adds_is_no_passage(self, make):
        make("library/a.txt", own(1) + "。\n" + self.FOOTER)
        report = check(make("paper.txt", own(2) + "。\n" + self.FOOTER), "library")
        assert report.sources == ()
        assert {kind for kind, _ in apart(report)} == {"furniture"}

    def test_copied_with_a_text_it_counts(self, make):
        make("library/a.txt", own(1) + "。\n" + self.FOOTER)
        report = check(make("paper.txt", own(1) + "。\n" + self.FOOTER), "library")
        assert report.rates.total == 1.0
        assert apart(report) == set()

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("渡口恢复通航。责任编辑：王岚", ["责任编辑：王岚"]),
            (
                "渡口通讯社临江5月3日电(记者王岚)渡口恢复通航。",
                ["渡口通讯社临江5月3日电(记者王岚)"],
            ),
            ("The ferry is back. All rights reserved.", [" All rights reserved."]),
            ("It sails.\n--\nAda Brook\nHarbour 7\n", ["\n--\nAda Brook\nHarbour 7\n"]),
            ("渡口恢复通航，船票与从前一样。", []),
            ("He edits the paper of the town.", []),
            ("", []),
        ],
    )
    def test_what_it_is(self, text, found):
        assert [text[begin:end] for begin, end in furniture(text)] == found

    def test_a_long_clause_is_text(self):
        assert furniture("渡" * 300 + "转载请注明") == []


class TestPhrasesThatRepeat:
    """A letter of the source counts once, and phrases that lie about are no passage."""

    def test_a_phrase_of_the_source_counts_once(self):
        phrase = own(1, 12)
        paper = own(2) + "".join(phrase + own(10 + at, 5) for at in range(6)) + own(3)
        assert align(paper, own(4) + phrase + own(5)) == []

    def test_a_sentence_that_the_paper_repeats_is_found(self):
        sentence = own(1, 30)
        paper = own(2) + "".join(sentence + own(10 + at, 5) for at in range(4)) + own(3)
        (found,) = align(paper, own(4) + sentence + own(5))
        assert len(found.pieces) == 4

    def test_phrases_far_apart_are_no_passage(self):
        parts = [own(at, 12) for at in range(3)]
        paper = own(50) + "".join(part + own(60 + at, 25) for at, part in enumerate(parts))
        source = own(51) + "".join(part + own(70 + at, 90) for at, part in enumerate(parts))
        assert align(paper, source) == []
        # As a text that was put together from them, they are.
        (found,) = align(own(50) + "".join(parts) + own(52), own(51) + "".join(reversed(parts)))
        assert len(found.pieces) == 3


class TestBrackets:
    SOURCE = "北湖之水，清而且深，渔舟晚归，灯火如星，两岸人家，夜半闻歌，不知今夕是何年也。"
    PAPER = (
        "北湖之水（郡志作南湖，误），清而且深，渔舟晚归〔归，一作还，非是，今从旧本〕，灯火如星，"
        "两岸人家【注：谓东西二村，村各百户】，夜半闻歌(歌者，渔歌也，今亡其辞)，不知今夕是何年也。"
    )

    def test_commentary_is_left_out(self, make):
        source = make("library/a.txt", own(1) + self.SOURCE + own(2))
        paper = make("paper.txt", own(3) + self.PAPER + own(4))
        report = check(paper, "library", ignore_brackets=True)
        (found,) = report.passages
        assert report.text[found.begin : found.end] == self.PAPER[:-1]
        assert found.source_text[300 - found.source_text_begin :].startswith(self.SOURCE[:5])
        assert found.similarity == 1.0
        assert report.copied == sum(map(str.isalnum, self.SOURCE))
        assert report.settings["ignore_brackets"] is True
        plain = check(paper, source)
        assert plain.settings["ignore_brackets"] is False
        assert plain.rates.total < report.rates.total

    def test_of_two_texts(self):
        (found,) = align(self.SOURCE, self.PAPER, ignore_brackets=True)
        assert (found.source_begin, found.source_end) == (0, len(self.PAPER) - 1)
        assert found.similarity == 1.0

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("甲（乙）丙", "甲   丙"),
            ("甲(乙（丙)丁）戊", "甲       戊"),
            ("甲（乙)丙", "甲   丙"),
            ("甲（乙", "甲（乙"),
            ("甲）乙（", "甲）乙（"),
            ("甲（乙]丙", "甲（乙]丙"),
            ("甲〔乙【丙】丁〕戊", "甲       戊"),
            ("甲（" + "乙" * 2000 + "）", "甲（" + "乙" * 2000 + "）"),
            ("", ""),
        ],
    )
    def test_what_is_left(self, text, expected):
        assert without_brackets(text) == expected

    def test_open_brackets_take_linear_time(self):
        text = "（" * 200_000 + "]" * 200_000
        assert without_brackets(text) == text
