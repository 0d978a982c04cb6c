"""A paper against a library: what is found, what is left out, and what is told."""

import json
import os
import random
from pathlib import Path

import opencc
import pytest
from tests.hostile import TEXTS
from tests.index.written import letters
from tests.papers.test_rates import FILLERS, check_consistent

from neardup import InputError, OutputError, check
from neardup.base.messages import in_language
from neardup.papers import open_library
from neardup.readers.files import FileText, Heading, read_bytes

OWN = "本文讨论小镇渡口客流的变化，资料来自作者在两个集日里的观察与记录。"
COPIED = "县志记载，清末渡口有木船三只，船工九人，光绪二十六年添置铁锚一副，由两岸商户分担费用。"
OTHER = "民国初年改用汽船，来往时间缩短一半，货物转运也由此兴盛起来，东岸开出了第一家客栈。"


def counted(text):
    return sum(c.isalnum() and c not in FILLERS for c in text)


def own(seed, length=80):
    return letters(random.Random(seed), length)


@pytest.fixture
def library(make):
    """Two sources and one that has nothing to do with them."""
    make("library/county.txt", "附录三。" + COPIED + "编者按，以上抄自旧志。")
    make("library/boats.txt", OTHER + "老船工如是说。")
    make("library/else.txt", own(1, 300))
    return "library"


class TestWhatIsFound:
    def test_a_copied_sentence(self, make, library):
        report = check(make("paper.txt", OWN + COPIED), library)
        check_consistent(report)
        assert (report.paper, report.library) == ("paper.txt", "library")
        assert report.library_documents == 3
        assert report.copied == counted(COPIED)
        (source,) = report.sources
        assert (source.id, source.characters) == ("county.txt", counted(COPIED))
        (found,) = report.passages
        assert report.text[found.begin : found.end] == COPIED[:-1]
        begin = found.source_begin - found.source_text_begin
        shown = found.source_text[begin : begin + found.source_end - found.source_begin]
        assert shown == COPIED[:-1]
        assert found.source_text == "附录三。" + COPIED + "编者按，以上抄自旧志。"
        assert report.notes == ()
        assert report.settings["least"] == 20
        assert len(repr(report)) < 600
        assert COPIED not in repr(report.passages)

    def test_what_stands_around_is_shown_in_part(self, make):
        make("library/long.txt", own(2, 500) + COPIED + own(3, 500))
        (found,) = check(make("paper.txt", COPIED), "library").passages
        assert found.source_text_begin == 500 - 60
        assert len(found.source_text) == 60 + len(COPIED) - 1 + 60

    def test_sources_with_the_most_come_first(self, make, library):
        make("library/part.txt", OTHER[:24])
        report = check(make("paper.txt", COPIED + OWN + OTHER), library)
        check_consistent(report)
        assert [one.id for one in report.sources] == ["county.txt", "boats.txt", "part.txt"]
        assert report.sources[2].only_here == 0
        shares = [COPIED, OTHER, OTHER[:24]]
        wholes = [Path(library, one.id).read_text("utf-8") for one in report.sources]
        for source, share, whole in zip(report.sources, shares, wholes, strict=True):
            assert source.cover == pytest.approx(counted(share) / counted(whole), abs=0.01)
        assert [one.source for one in report.passages] == [0, 1, 2]

    def test_of_equal_sources_the_earlier_comes_first(self, make):
        for name in "dacb":
            make(f"library/{name}.txt", COPIED)
        report = check(make("paper.txt", COPIED), "library")
        assert [one.id for one in report.sources] == ["a.txt", "b.txt", "c.txt", "d.txt"]
        assert {one.only_here for one in report.sources} == {0}
        assert {one.similarity for one in report.sources} == {1.0}

    @pytest.mark.parametrize("at", [0, 20_000, 40_000])
    def test_one_copied_paragraph_in_a_long_book(self, make, at):
        book = own(4, 40_000)
        make("library/book.txt", book[:at] + COPIED + book[at:])
        make("library/else.txt", own(5, 5000))
        report = check(make("paper.txt", own(6, 3000) + COPIED + own(7, 3000)), "library")
        (found,) = report.passages
        assert (found.begin, found.source_begin) == (3000, at)
        assert report.copied == counted(COPIED)

    def test_a_short_source_in_a_long_paper(self, make, library):
        report = check(make("paper.txt", own(8, 40_000) + COPIED + own(9, 20_000)), library)
        (found,) = report.passages
        assert found.begin == 40_000
        assert report.rates.total == counted(COPIED) / report.characters

    def test_the_least(self, make):
        shared = own(3, 15)
        make("library/a.txt", own(1) + shared + own(2))
        paper = make("paper.txt", shared + own(4))
        assert check(paper, "library").passages == ()
        (found,) = check(paper, "library", least=15).passages
        assert (found.begin, found.end) == (0, 15)

    def test_sections(self, make, library):
        text = f"# 第一章 绪论\n\n{OWN}\n\n# 第二章 历史\n\n{COPIED}\n\n## 2.1 汽船\n\n{OTHER}\n"
        report = check(make("paper.md", text), library)
        check_consistent(report)
        found = [(one.title, one.level, one.rate > 0.8) for one in report.sections]
        assert found == [("第一章 绪论", 1, False), ("第二章 历史", 1, True), ("2.1 汽船", 2, True)]
        assert report.sections[0].copied == 0
        chapter, section = report.sections[1:]
        assert chapter.end == section.end == len(report.text)
        assert chapter.copied == counted(COPIED + OTHER) == section.copied + counted(COPIED)

    def test_traditional_against_simplified(self, make, library):
        traditional = opencc.OpenCC("s2t").convert(COPIED)
        assert traditional != COPIED
        report = check(make("paper.txt", OWN + traditional), library)
        assert report.copied == counted(COPIED)
        assert report.settings["variants"].startswith("opencc ")


class TestMoreSourcesThanAreListed:
    def report(self, make, count, part=26):
        parts = [own(100 + at, part) for at in range(count)]
        for at, text in enumerate(parts):
            make(f"library/{at:03}.txt", text + own(1000 + at, 40))
        text = "".join(text + own(2000 + at, 10) for at, text in enumerate(parts))
        return check(make("paper.txt", text), "library")

    def test_those_with_something_of_their_own_are_listed(self, make):
        report = self.report(make, 60)
        check_consistent(report)
        assert len(report.sources) == 60
        assert report.copied == 60 * 26
        assert sum(one.similarity is not None for one in report.sources) == 5
        assert report.notes == ()

    def test_more_than_are_listed_at_most_count_nevertheless(self, make):
        report = self.report(make, 205)
        assert len(report.sources) == 200
        assert report.copied == 205 * 26
        assert report.notes == ("5 more sources are not listed; their passages are counted.",)

    def test_copies_of_what_is_listed_are_not(self, make):
        for at in range(60):
            make(f"library/{at:02}.txt", COPIED)
        report = check(make("paper.txt", OWN + COPIED), "library")
        check_consistent(report)
        assert [one.id for one in report.sources] == [f"{at:02}.txt" for at in range(50)]
        assert report.notes == ("10 more sources are not listed; their passages are counted.",)


class TestOwnFile:
    NOTE = "The paper's own file is in the library and was left out."

    def test_it_is_left_out(self, make, library):
        paper = make("library/paper.txt", OWN + COPIED)
        report = check(paper, library)
        assert [one.id for one in report.sources] == ["county.txt"]
        assert report.notes == (self.NOTE,)

    def test_by_another_path_and_by_a_link(self, make, library):
        make("library/paper.txt", OWN + COPIED)
        os.symlink("library", "other")
        for path in ("other/paper.txt", "library/../library/paper.txt", Path("library/paper.txt")):
            report = check(path, library)
            assert [one.id for one in report.sources] == ["county.txt"], path
            assert report.notes == (self.NOTE,)
        os.mkdir("linked")
        os.symlink(os.path.abspath("library/paper.txt"), "linked/paper.txt")
        assert check("linked/paper.txt", library).notes == (self.NOTE,)

    def test_named_beside_others(self, make, library):
        paper = make("paper.txt", OWN + COPIED)
        report = check(paper, [paper, library])
        assert [one.id for one in report.sources] == ["library/county.txt"]
        assert report.notes == (self.NOTE,)

    def test_a_copy_of_it_is_a_source(self, make, library):
        paper = make("paper.txt", OWN + COPIED)
        make("library/paper.txt", OWN + COPIED)
        report = check(paper, library)
        assert (report.sources[0].id, report.rates.total, report.notes) == ("paper.txt", 1.0, ())

    def test_a_library_of_nothing_else(self, make):
        """Then it is asked what a paper is against itself."""
        paper = make("paper.txt", OWN)
        assert check(paper, paper).rates.total == 1.0
        assert check(paper, [paper, "./paper.txt"]).rates.total == 1.0
        assert check(paper, paper).notes == ()

    def test_nothing_else_that_can_be_read(self, make):
        paper = make("library/paper.txt", OWN)
        make("library/broken.docx", b"PK\x03\x04")
        report = check(paper, "library")
        assert (report.rates.total, report.library_documents) == (1.0, 1)


class TestGiven:
    def test_it_counts_nowhere(self, make, library):
        form = (
            "封面：本人声明所交论文由本人独立完成，除已注明之处外不含他人成果，特此声明，签名为证。"
        )
        make("library/class.txt", form + own(3))
        paper = make("paper.txt", f"{form}\n{OWN}\n{COPIED}\n")
        without = check(paper, library)
        assert {one.id for one in without.sources} == {"county.txt", "class.txt"}
        report = check(paper, library, exclude=[make("form.txt", form)])
        check_consistent(report)
        assert [one.id for one in report.sources] == ["county.txt"]
        assert report.characters == without.characters - counted(form)
        assert report.copied == without.copied - counted(form)
        (aside,) = [one for one in report.asides if one.kind == "given"]
        assert report.text[aside.begin : aside.end] == form[:-1]
        assert report.settings["excluded_files"] == 1

    def test_earlier_work(self, make, library):
        paper = make("paper.txt", OWN + COPIED)
        report = check(paper, library, exclude=[make("earlier.txt", own(1) + COPIED)])
        assert (report.copied, report.sources, report.passages) == (0, (), ())
        assert report.characters == counted(OWN)

    def test_all_of_it(self, make, library):
        paper = make("paper.txt", OWN + COPIED)
        report = check(paper, library, exclude=[paper])
        check_consistent(report)
        assert (report.characters, report.copied, report.rates.total) == (0, 0, 0.0)

    def test_several_and_what_was_read_before(self, make, library):
        texts = [FileText(COPIED, "text"), make("other.txt", OTHER), Path("other.txt")]
        report = check(make("paper.txt", OWN + COPIED + OTHER), library, exclude=texts)
        assert report.copied == 0
        assert report.settings["excluded_files"] == 3

    def test_part_of_a_passage(self, make, library):
        half = COPIED[:24]
        paper = make("paper.txt", OWN + COPIED)
        report = check(paper, library, exclude=[make("half.txt", half)])
        check_consistent(report)
        assert report.copied == counted(COPIED) - counted(half)


class TestAsides:
    def test_quotations_lower_the_second_rate_only(self, make, library):
        plain = check(make("plain.txt", f"{OWN}他写道：{COPIED}"), library)
        report = check(make("paper.txt", f"{OWN}他写道：“{COPIED}”"), library)
        check_consistent(report)
        assert report.rates.total == plain.rates.total == report.rates.largest_source
        assert plain.rates.without_quotations == plain.rates.total
        assert report.rates.without_quotations == 0
        (aside,) = report.asides
        assert (aside.kind, report.text[aside.begin : aside.end]) == ("quotation", f"“{COPIED}”")

    def test_references_lower_the_second_rate_only(self, make):
        works = "".join(
            f"[{at}] 王岚. 渡口志第{at}卷，沿河地方文献丛编[M]. 北京: 水边出版社, 200{at}: 11-20.\n"
            for at in range(1, 6)
        )
        make("library/a.txt", f"{own(1)}\n\n参考文献\n{works}")
        report = check(make("paper.txt", f"{OWN}\n\n参考文献\n{works}"), "library")
        check_consistent(report)
        assert report.rates.total > 0.5
        assert report.rates.without_quotations == 0
        assert {one.kind for one in report.asides} == {"references"}

    def test_half_a_passage_in_quotation_marks(self, make, library):
        at = COPIED.index("光绪")
        text = f"{OWN}“{COPIED[:at]}”{COPIED[at:]}"
        report = check(make("paper.txt", text), library)
        check_consistent(report)
        assert report.copied == counted(COPIED)
        assert report.rates.without_quotations == counted(COPIED[at:]) / report.characters


class TestPapers:
    @pytest.mark.parametrize("text", ["", "雨", "x", "。，！？\n\n……", " \n\t", "🙂"])
    def test_next_to_nothing(self, text, make, library):
        report = check(make("paper.txt", text), library)
        check_consistent(report)
        assert (report.copied, report.rates.total, report.passages) == (0, 0.0, ())
        assert report.characters == counted(text)
        assert report.to_html()

    @pytest.mark.parametrize("name", TEXTS)
    def test_hostile(self, name, hostile_library):
        text = TEXTS[name] * 3 + COPIED + TEXTS[name] + "\n" + OTHER
        report = check(FileText(text, "text"), hostile_library, least=5)
        check_consistent(report)
        assert report.copied >= counted(COPIED)
        assert json.loads(report.to_json())["text"] == text
        assert "</html>" in report.to_html()

    def test_what_was_read_before(self, make, library):
        data = (OWN + COPIED).encode("gb18030")
        by_path = check(make("论文.txt", data), library)
        read = read_bytes(data, "论文.txt")
        assert check(read, library, name="论文.txt") == by_path
        assert check(read, library).paper == "paper"
        assert by_path.paper == "论文.txt"
        assert "gb18030" in " ".join(by_path.notes).lower()

    def test_headings_and_pages_come_along(self, library):
        text = f"绪\n{OWN}\n史\n{COPIED}\n"
        second = text.index("史\n")
        headings = (Heading(0, 1, 1), Heading(second, second + 1, 1))
        paper = FileText(text, "pdf", headings=headings, pages=(0, second), notes=("A note.",))
        report = check(paper, library)
        check_consistent(report)
        assert [one.title for one in report.sections] == ["绪", "史"]
        assert (report.pages, report.notes) == ((0, second), ("A note.",))


@pytest.fixture(scope="module")
def hostile_library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    for at, text in enumerate(TEXTS.values()):
        # What all of them had would be common wording.
        (folder / f"{at}.txt").write_text(text * 3 + (COPIED if at < 7 else ""), "utf-8")
    with open_library(folder, workers=1) as library:
        yield library


class TestOutputs:
    @pytest.mark.parametrize("method", ["to_html", "to_json"])
    def test_files_that_exist_are_not_replaced(self, method, make, library):
        report = check(make("paper.txt", OWN), library)
        make("there", "precious")
        with pytest.raises(OutputError, match=r"there.*exists already"):
            getattr(report, method)("there")
        assert Path("there").read_text() == "precious"
        written = getattr(report, method)("there", force=True)
        assert Path("there").read_text("utf-8") == written
        with pytest.raises(OutputError, match="nosuch"):
            getattr(report, method)("nosuch/there")


def test_letters_that_nobody_sees_count_nowhere(tmp_path):
    copied = "渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐，请在码头等候。"
    source, paper = tmp_path / "source.txt", tmp_path / "paper.txt"
    source.write_text(copied, "utf-8")
    paper.write_text(copied + "\u3164" * 1000, "utf-8")
    assert check(paper, source).rates.total == 1.0


@pytest.mark.parametrize(
    ("text", "document", "excluded", "note"),
    [
        ("。\n", OWN, False, "The paper has no letters or digits"),
        (OWN, OTHER, True, "The excluded files contain the whole paper"),
        (OWN, "。", False, "The library has no text to compare"),
    ],
)
def test_nothing_to_check(make, text, document, excluded, note):
    make("library/a.txt", document)
    paper = make("paper.txt", text)
    report = check(paper, "library", exclude=[paper] if excluded else [])
    assert len(report.notes) == 1
    assert report.notes[0].startswith(note)
    assert in_language(report.notes[0], "zh") in report.to_html()


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


@pytest.mark.parametrize(
    ("paper", "library", "exclude"),
    [
        ("nosuch.txt", "library", ()),
        ("library", "library", ()),
        ("broken.docx", "library", ()),
        ("paper.txt", "nosuch", ()),
        ("paper.txt", "library", ["nosuch.txt"]),
    ],
)
@pytest.mark.usefixtures("library")
def test_what_cannot_be_read_is_refused_by_name(make, paper, library, exclude):
    make("broken.docx", b"PK\x03\x04broken")
    make("paper.txt", OWN)
    culprit = next(iter(exclude), paper if library == "library" else library)
    with pytest.raises(InputError, match=f"^{culprit}: "):
        check(paper, library, exclude=exclude)


@pytest.mark.parametrize(("least", "count"), [(5, 1), (10_000, 0)])
def test_the_bounds_of_the_least_are_allowed(make, library, least, count):
    report = check(make("paper.txt", OWN + COPIED), library, least=least)
    assert len(report.passages) == count
