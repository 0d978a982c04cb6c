"""A paper against a library: what is copied, what is left out, and what is told."""

import json
import os
from pathlib import Path

import pytest
from tests.kit.strategies import TEXTS
from tests.papers.test_rates import check_consistent
from tests.papers.texts import counted, unrelated

from neardup import InputError, OutputError, check
from neardup.base.messages import in_language
from neardup.papers import open_library
from neardup.readers.file_text import FileText, Heading, read_bytes

PLAIN = "本文讨论小镇渡口客流的变化，资料来自作者在两个集日里的观察与记录。"
COPIED = "县志记载，清末渡口有木船三只，船工九人，光绪二十六年添置铁锚一副，由两岸商户分担费用。"
OTHER = "民国初年改用汽船，来往时间缩短一半，货物转运也由此兴盛起来，东岸开出了第一家客栈。"


@pytest.fixture
def library(make):
    """Two sources and one that has nothing to do with them."""
    make("library/county.txt", "附录三。" + COPIED + "编者按，以上抄自旧志。")
    make("library/boats.txt", OTHER + "老船工如是说。")
    make("library/else.txt", unrelated(1, 300))
    return "library"


@pytest.fixture
def paper(make):
    return make("paper.txt", PLAIN + COPIED)


def ids(report):
    return [source.id for source in report.sources]


class TestPassages:
    def test_a_copied_sentence(self, paper, library):
        report = check(paper, library)
        check_consistent(report)
        assert (report.paper, report.library) == ("paper.txt", "library")
        assert report.library_documents == 3
        assert report.copied == counted(COPIED)
        (source,) = report.sources
        assert (source.id, source.characters) == ("county.txt", counted(COPIED))
        (passage,) = report.passages
        assert report.text[passage.begin : passage.end] == COPIED[:-1]
        begin = passage.source_begin - passage.source_text_begin
        end = passage.source_end - passage.source_text_begin
        assert passage.source_text[begin:end] == COPIED[:-1]
        assert passage.source_text == "附录三。" + COPIED + "编者按，以上抄自旧志。"
        assert report.notes == ()
        assert len(repr(report)) < 600
        assert COPIED not in repr(report.passages)

    def test_links_and_names_at_the_ends_do_not_count(self, make, library):
        text = f"转发微博 @joe_b: {COPIED}{PLAIN}"
        whole, post = (
            check(make("paper.txt", one), library)
            for one in (COPIED + PLAIN, f"{text} #探店# http://t.cn/A6xYz1 展开全文")
        )
        check_consistent(post)
        assert post.rates == whole.rates
        assert (post.characters, post.copied) == (whole.characters, whole.copied)

    def test_equal_sources_are_in_the_order_of_the_library(self, make):
        for name in "dacb":
            make(f"library/{name}.txt", COPIED)
        report = check(make("paper.txt", COPIED), "library")
        assert ids(report) == ["a.txt", "b.txt", "c.txt", "d.txt"]
        assert {source.unique_characters for source in report.sources} == {0}
        assert {source.similarity for source in report.sources} == {1.0}

    @pytest.mark.parametrize(
        ("book", "begin", "before", "after"),
        [
            *((40_000, begin, 3000, 3000) for begin in (0, 20_000, 40_000)),
            # A short source in a long paper.
            (50, 25, 40_000, 20_000),
        ],
    )
    def test_one_copied_paragraph_in_a_long_text(self, make, book, begin, before, after):
        source = unrelated(4, book)
        make("library/book.txt", source[:begin] + COPIED + source[begin:])
        make("library/else.txt", unrelated(5, 5000))
        text = unrelated(6, before) + COPIED + unrelated(7, after)
        report = check(make("paper.txt", text), "library")
        (passage,) = report.passages
        assert (passage.begin, passage.source_begin) == (before, begin)
        assert report.copied == counted(COPIED)


@pytest.mark.parametrize(
    ("count", "is_own", "listed"), [(60, True, 60), (205, True, 200), (60, False, 50)]
)
def test_more_sources_than_are_listed_are_counted(make, count, is_own, listed):
    """A report lists 200 sources with text of their own, and 50 with the same text."""
    parts = [unrelated(100 + number * is_own, 26) for number in range(count)]
    for number, text in enumerate(parts):
        make(f"library/{number:03}.txt", text + unrelated(1000 + number, 40) * is_own)
    chosen = parts if is_own else parts[:1]
    text = "".join(text + unrelated(2000 + number, 10) for number, text in enumerate(chosen))
    report = check(make("paper.txt", text), "library")
    check_consistent(report)
    assert len(report.sources) == listed
    assert report.copied == 26 * len(chosen)
    assert sum(source.similarity is not None for source in report.sources) == 5
    words = f"{count - listed} more sources"
    assert [words in note for note in report.notes] == [True] * (count > listed)


class TestOwnFile:
    NOTE = "The paper's own file is in the library and was left out."

    def test_own_file_is_left_out_by_every_path(self, make, library):
        make("library/paper.txt", PLAIN + COPIED)
        os.symlink("library", "other")
        os.mkdir("linked")
        os.symlink(os.path.abspath("library/paper.txt"), "linked/paper.txt")
        for path in ("other/paper.txt", "linked/paper.txt", Path("library/paper.txt")):
            report = check(path, library)
            assert ids(report) == ["county.txt"], path
            assert report.notes == (self.NOTE,)

    def test_named_beside_others(self, paper, library):
        report = check(paper, [paper, library])
        assert (ids(report), report.notes) == (["library/county.txt"], (self.NOTE,))

    def test_a_copy_of_it_is_a_source(self, make, paper, library):
        make("library/paper.txt", PLAIN + COPIED)
        report = check(paper, library)
        assert (report.sources[0].id, report.rates.total, report.notes) == ("paper.txt", 1.0, ())


class TestExcluded:
    def test_edited_stretch_of_a_template_is_excluded_and_an_answer_is_not(self, make):
        """Half of its letters are others; what a student wrote in its place counts."""
        form, answer = unrelated(5, 300), unrelated(6, 80)
        edited = "".join(c if at % 2 else answer[at % 80] for at, c in enumerate(form[110:190]))
        for stretch, copied in ((edited, 0), (answer, counted(answer))):
            filled = form[:110] + stretch + form[190:]
            make("library/class.txt", filled + unrelated(7))
            paper = make("paper.txt", unrelated(8) + filled)
            report = check(paper, "library/class.txt", exclude=make("form.txt", form))
            check_consistent(report)
            assert abs(report.copied - copied) <= 2
            assert len(filled) >= 300

    def test_earlier_work_in_each_form(self, make, paper, library):
        make("earlier.txt", unrelated(1) + COPIED)
        for exclude in ("earlier.txt", Path("earlier.txt"), FileText(COPIED, "text")):
            report = check(paper, library, exclude=exclude)
            assert (report.copied, report.sources, report.passages) == (0, (), ())
            assert report.characters == counted(PLAIN)
            assert report == check(paper, library, exclude=[exclude])
        assert check(paper, library, exclude=["earlier.txt"] * 3).settings["excluded_files"] == 3

    def test_part_of_a_passage(self, make, paper, library):
        half = COPIED[:24]
        report = check(paper, library, exclude=[make("half.txt", half)])
        check_consistent(report)
        assert report.copied == counted(COPIED) - counted(half)


class TestWithoutSources:
    def test_no_rate_counts_an_omitted_source(self, make, library):
        paper = make("paper.txt", PLAIN + COPIED + OTHER)
        report = check(paper, library, without_sources=["county.txt", "else.txt"])
        check_consistent(report)
        assert (ids(report), report.copied) == (["boats.txt"], counted(OTHER))
        assert report.without_sources == ("county.txt",)
        (note,) = report.notes
        assert note == "1 source was left out, and no rate counts it: county.txt."
        assert "略去，各项比例均不计入：county.txt。" in report.to_html()

    def test_unknown_source_id_changes_nothing(self, paper, library):
        assert check(paper, library, without_sources=["else.txt", "x"]) == check(paper, library)


class TestAsides:
    def test_references_lower_the_second_rate_only(self, make):
        works = "\n\n参考文献\n" + "".join(
            f"[{n}] 王岚. 渡口志第{n}卷，沿河地方文献丛编[M]. 北京: 水边出版社, 200{n}: 11-20.\n"
            for n in range(1, 6)
        )
        make("library/a.txt", unrelated(1) + works)
        report = check(make("paper.txt", PLAIN + works), "library")
        check_consistent(report)
        assert (report.rates.total > 0.5, report.rates.without_quotations) == (True, 0)
        assert {aside.kind for aside in report.asides} == {"references"}

    def test_half_a_passage_in_quotation_marks(self, make, library):
        half = COPIED.index("光绪")
        text = f"{PLAIN}“{COPIED[:half]}”{COPIED[half:]}"
        report = check(make("paper.txt", text), library)
        check_consistent(report)
        assert report.copied == counted(COPIED)
        assert report.rates.without_quotations == counted(COPIED[half:]) / report.characters


class TestPapers:
    @pytest.mark.parametrize("text", ["", "雨", "x", "。，！？\n\n……", " \n\t", "🙂"])
    def test_next_to_nothing(self, text, make, library):
        report = check(make("paper.txt", text), library)
        check_consistent(report)
        assert (report.copied, report.passages) == (0, ())
        if counted(text):
            assert (report.rates.total, report.no_verdict) == (0.0, "short")
        else:
            assert (report.rates, report.no_verdict) == (None, "nothing_compared")
        assert report.characters == counted(text)
        assert report.to_html()

    @pytest.mark.parametrize("name", TEXTS)
    def test_hostile(self, name, hostile_library):
        text = TEXTS[name] * 3 + COPIED + TEXTS[name] + "\n" + OTHER
        report = check(FileText(text, "text"), hostile_library, min_passage_length=5)
        check_consistent(report)
        assert report.copied >= counted(COPIED)
        assert json.loads(report.to_json())["text"] == text
        assert "</html>" in report.to_html()

    def test_invisible_letters_count_nowhere(self, make):
        source = make("source.txt", COPIED)
        assert check(make("paper.txt", COPIED + "\u3164" * 1000), source).rates.total == 1.0

    def test_read_file_gives_the_report_of_its_path(self, make, library):
        data = (PLAIN + COPIED).encode("gb18030")
        by_path = check(make("论文.txt", data), library)
        text = read_bytes(data, "论文.txt")
        assert check(text, library, name="论文.txt") == by_path
        assert check(text, library).paper == "paper"
        assert by_path.paper == "论文.txt"
        assert "gb18030" in " ".join(by_path.notes).lower()

    def test_sections_of_a_text(self, make, library):
        text = f"# 第一章 绪论\n\n{PLAIN}\n\n# 第二章 历史\n\n{COPIED}\n\n## 2.1 汽船\n\n{OTHER}\n"
        report = check(make("paper.md", text), library)
        check_consistent(report)
        titles = [(part.title, part.level) for part in report.sections]
        assert titles == [("第一章 绪论", 1), ("第二章 历史", 1), ("2.1 汽船", 2)]
        first, chapter, section = report.sections
        assert first.copied == 0
        assert chapter.end == section.end == len(report.text)
        assert chapter.copied == counted(COPIED + OTHER) == section.copied + counted(COPIED)

    def test_marks_of_the_file_are_used(self, library):
        text = f"绪论\n{PLAIN}\n结论\n{OTHER}\n参考文献\n[1] 王岚. 渡口志[M]. 2001.\n{COPIED}"
        begins = [(text.index(title), len(title)) for title in ("绪论", "结论", "参考文献")]
        quoted, notes = text.index(OTHER), text.index(COPIED)
        headings = [Heading(begin, begin + length, 1) for begin, length in begins]
        paper = FileText(
            text,
            "docx",
            headings=(*headings, Heading(notes, notes, 1)),
            quoted=((quoted, quoted + len(OTHER)),),
            pages=(0, notes),
            notes=("A note.",),
        )
        report = check(paper, library)
        check_consistent(report)
        assert (report.pages, report.notes) == ((0, notes), ("A note.",))
        assert [(part.title, part.copied) for part in report.sections] == [
            *(("绪论", 0), ("结论", counted(OTHER)), ("参考文献", 0)),
            ("", counted(COPIED)),
        ]
        assert [aside.kind for aside in report.asides] == ["quotation", "references"]
        assert report.rates.without_quotations == counted(COPIED) / report.characters


@pytest.fixture(scope="module")
def hostile_library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    for number, text in enumerate(TEXTS.values()):
        # What all of them had would be common wording.
        (folder / f"{number}.txt").write_text(text * 3 + (COPIED if number < 7 else ""), "utf-8")
    with open_library(folder, workers=1) as library:
        yield library


@pytest.mark.parametrize("method", ["to_html", "to_json"])
def test_existing_files_are_not_replaced(method, make, paper, library):
    write = getattr(check(paper, library), method)
    make("there", "precious")
    with pytest.raises(OutputError, match=r"there.*exists already"):
        write("there")
    assert Path("there").read_text() == "precious"
    written = write("there", force=True)
    assert Path("there").read_text("utf-8") == written
    with pytest.raises(OutputError, match="nosuch"):
        write("nosuch/there")


@pytest.mark.parametrize(
    ("text", "library", "exclude", "note"),
    [
        ("。\n", "plain.txt", (), "The paper has no letters or digits"),
        (PLAIN, "other.txt", "paper.txt", "The excluded files contain the whole paper"),
        (PLAIN, "empty.txt", (), "The library has no text to compare"),
        # A paper is not compared with itself.
        (PLAIN, "paper.txt", (), "The library has no text to compare"),
        (PLAIN, ["paper.txt", "./paper.txt"], (), "The library has no text to compare"),
    ],
)
def test_nothing_to_check(make, text, library, exclude, note):
    for name, document in (("plain", PLAIN), ("other", OTHER), ("empty", "。"), ("paper", text)):
        make(f"{name}.txt", document)
    report = check("paper.txt", library, exclude=exclude)
    check_consistent(report)
    assert (report.rates, report.no_verdict) == (None, "nothing_compared")
    assert report.notes[0].startswith(note)
    assert in_language(report.notes[0], "zh") in report.to_html()


@pytest.mark.parametrize("text", [PLAIN, PLAIN * 30, "一行\n两行", "好。"])
def test_text_is_no_path(library, text):
    with pytest.raises(InputError, match="read_bytes") as error:
        check(text, library)
    assert "\n" not in str(error.value)
    assert check(read_bytes(text.encode(), "essay.txt"), library).copied == 0


@pytest.mark.parametrize(
    ("paper", "library", "exclude"),
    [
        ("nosuch.txt", "library", ()),
        # A name with the marks of a sentence is a path if it has an extension.
        ("论文，终稿.docx", "library", ()),
        ("library", "library", ()),
        ("broken.docx", "library", ()),
        ("paper.txt", "nosuch", ()),
        ("paper.txt", "library", ["nosuch.txt"]),
    ],
)
@pytest.mark.usefixtures("library")
def test_unreadable_file_is_refused_by_name(make, paper, library, exclude):
    make("broken.docx", b"PK\x03\x04broken")
    make("paper.txt", PLAIN)
    culprit = next(iter(exclude), paper if library == "library" else library)
    with pytest.raises(InputError, match=f"^{culprit}: "):
        check(paper, library, exclude=exclude)
