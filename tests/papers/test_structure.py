"""The structure of a paper: its parts, and what is set aside."""

import gc
import re
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import ParameterError
from neardup.papers.structure import asides, footnotes_begin, headings, lists, sections
from neardup.papers.structure.asides import LONGEST
from neardup.papers.structure.sections import MOST_PARTS
from neardup.readers.file_text import Heading

CONTENTS = (
    "目    录\n摘要...................I\n第一章 绪论............1\n1.1 研究背景\t1\n"
    "第二章 方法 …………… 5\n参考文献　　　　9\n"
)
BODY = (
    "第一章 绪论\n1.1 研究背景\n2019年，全县有渡口三十处。\n图1-1 渡口分布\n主要有三点：\n"
    "1. 水位\n2. 流量\n3. 泥沙\n1.2研究意义\n3.5亿元用于修路。\n第二章的内容是方法\n"
    "第二章 方法\n2.1 资料\n一、县志\n县志三种。\n二、档案\n档案若干。\n（一）馆藏\n馆藏很多。\n"
)
WORKS = (
    "参 考 文 献：\n[1] 王岚. 渡口志[M]. 北京: 水边出版社, 1998.\n"
    "[2] Smith J. “A very long title of some ferry article”[J]. 2001, 3(2): 11-20.\n"
)
THESIS = (
    f"渡口志编纂研究\n\n摘 要\n本文研究渡口志。\n{CONTENTS}{BODY}致  谢\n感谢老师。\n"
    f"{WORKS}附录A 调查问卷\n问卷内容。\n"
)
ENGLISH = (
    "Abstract\nWe study ferries.\n\n1 Introduction\nFerries cross rivers.\n\n1.1 Earlier work\n"
    "In 2019 there were\n12 March crossings of the river.\n\n2 Methods\nWe counted.\n\n"
    "References\nSmith, J. (2015). Ferries of the north. River Press.\n\nAppendix A Tables\nNone.\n"
)


def outline(text, marked=()):
    return [(part.level, part.title) for part in sections(text, marked)]


def spans(text, kind, **marked):
    return [text[aside.begin : aside.end] for aside in asides(text, **marked) if aside.kind == kind]


# sections


def test_parts_of_a_thesis():
    assert outline(THESIS) == [
        (0, ""), (1, "摘要"), (1, "目录"), (1, "第一章 绪论"), (2, "1.1 研究背景"),
        (2, "1.2研究意义"), (1, "第二章 方法"), (2, "2.1 资料"), (1, "致谢"), (1, "参考文献"),
        (1, "附录A 调查问卷"),
    ]  # fmt: skip


def test_parts_of_an_english_paper():
    assert outline(ENGLISH) == [
        (1, "Abstract"), (1, "1 Introduction"), (2, "1.1 Earlier work"), (1, "2 Methods"),
        (1, "References"), (1, "Appendix A Tables"),
    ]  # fmt: skip


def test_a_table_of_contents_without_pages_is_no_outline():
    table = re.sub(r"(?m)[.…\s]*[.…\t　][.…\t　 ]*[I\d]$", "", CONTENTS)
    assert table.endswith("第二章 方法\n参考文献\n")
    assert [title for _, title in outline(table + BODY)].count("第一章 绪论") == 1
    assert outline(table + BODY)[-1] == (2, "2.1 资料")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2019年全县渡口", None),
        ("3.5亿元用于修路", None),
        ("2.1 万人受灾", None),
        ("0.5 的水平", None),
        ("第二章的内容是方法", None),
        ("第十二条 渡口由镇管理", None),
        ("第一章介绍背景，第二章介绍方法。", None),
        ("一、水位；", None),
        ("1. 先测量水位。", None),
        ("图1-1 渡口分布", None),
        ("1.1 研究背景..........3", None),
        ("references", None),
        ("chapter 3 shows that", None),
        ("Part 1 of the study", None),
        ("12月份", None),
        ("第一章 " + "长" * 50, None),
        ("上编", None),
        ("二十一、余话", None),
        ("(三)档案", None),
        ("3、流量", None),
        ("IV. RESULTS", None),
        ("第十二章 结论", ("chapter", 1)),
        ("第3章绪论", ("chapter", 1)),
        ("第一节　资料", ("chapter", 2)),
        ("第二编 水路", ("chapter", 1)),
        ("CHAPTER TWO Rivers", ("chapter", 1)),
        ("2.1分析方法", ("number", 2)),
        ("1．人工智能概述", ("number", 1)),
        ("## 资料 ##", ("markdown", 2)),
        ("0 引言", ("word", 1)),
        ("【摘要】本文研究渡口。", ("word", 1)),
        ("攻读硕士学位期间发表的论文", ("word", 1)),
    ],
)
def test_forms(line, expected):
    form = headings.form(line)
    assert (form and (form.style, form.level)) == expected


def test_lists_are_no_headings():
    text = (
        "1 引言\n要点：\n1. 水位\n2. 流量\n3. 泥沙\n都重要。\n"
        "2 方法\n做法：\n1. 测量\n说明。\n3 结果\n好。\n"
    )
    assert [title for _, title in outline(text)] == ["1 引言", "2 方法", "3 结果"]


def test_a_number_at_the_head_of_a_wrapped_line():
    line = "渡口的水位在春季每日测量四次并且由值班人员记录在县里发的册子上"
    text = f"1 引言\n{line}\n{line}\n2 册子由镇里保管\n{line}\n{line}。\n\n2 方法\n测量。\n"
    assert outline(text) == [(1, "1 引言"), (1, "2 方法")]


def test_a_heading_above_each_page_is_one_heading():
    page = "渡口在镇东。\n"
    text = "".join(
        f"第{n}章 {title}\n第一节 概述\n{page}第{n}章 {title}\n{page}第一节 概述\n{page}"
        for n, title in (("一", "绪论"), ("二", "方法"))
    )
    assert outline(text) == [
        (1, "第一章 绪论"),
        (2, "第一节 概述"),
        (1, "第二章 方法"),
        (2, "第一节 概述"),
    ]


def test_marked_headings_go_before_forms():
    text = "一、缘起\n水。\n## 方法\n山。\n"
    marked = [Heading(0, 4, 1), Heading(11, 13, 2)]
    parts = sections(text, marked)
    assert [(part.level, part.title, part.begin) for part in parts] == [
        (1, "一、缘起", 0),
        (2, "方法", 8),
    ]
    assert outline("题目\n1 缘起\n水。\n2 经过\n山。\n", [Heading(0, 2, 1)]) == [
        (0, ""),
        (1, "1 缘起"),
        (1, "2 经过"),
    ]
    assert outline("题目\n正文。\n", [Heading(0, 2, 1)]) == [(1, "题目")]


@pytest.mark.parametrize(("deeper", "levels"), [(29, {1, 2}), (30, {1})])
def test_at_most_sixty_parts(deeper, levels):
    text = "".join(f"# 第{n}篇\n水。\n" for n in range(31)) + "## 山\n山。\n" * deeper
    parts = sections(text)
    assert {part.level for part in parts} == levels
    assert len(parts) == 31 + deeper * (len(levels) - 1)
    assert len(sections("# 水\n山。\n" * 61)) == 1


# asides


def test_asides_of_a_thesis():
    assert [(aside.kind, THESIS[aside.begin : aside.end]) for aside in asides(THESIS)] == [
        ("contents", CONTENTS.strip()),
        ("references", WORKS.strip()),
    ]


@pytest.mark.parametrize("marks", ["“”", '""', "「」", "『』", "«»", "„“", "„”", "＂＂"])
def test_quotations_and_their_shortest(marks):
    for words, enough in (("渡" * 10, True), ("渡" * 9, False), ("ab cd" * 6 + "a", True)):
        quoted = marks[0] + words + marks[1]
        assert spans(f"他说：{quoted}，走了。", "quotation") == [quoted] * enough
    assert spans(f"She said {marks[0]}{'a' * 24}{marks[1]}.", "quotation") == []


def test_single_marks_take_twice_as_much():
    assert spans(f"他说‘{'渡' * 20}’。", "quotation") == [f"‘{'渡' * 20}’"]
    assert spans(f"他说‘{'渡' * 19}’。", "quotation") == []
    text = "‘the ferryman’s boat did not leave the landing before noon, and it’s late’ he said"
    assert spans(text, "quotation") == [text[: -len(" he said")]]
    assert spans("《" + "渡" * 30 + "》", "quotation") == []


def test_the_longest_quotation():
    inside = "渡" * (LONGEST - 2)
    for marks in ("“”", '""'):
        assert spans(marks[0] + inside + marks[1], "quotation") == [marks[0] + inside + marks[1]]
        assert spans(marks[0] + inside + "口" + marks[1], "quotation") == []


def test_marks_that_are_not_balanced():
    quoted = "“河水涨到第三级石阶渡口停”"
    assert spans(f"他说“没有完。后来{quoted}。又说”", "quotation") in (
        [quoted],
        [f"“没有完。后来{quoted}。又说”"],
    )
    assert spans(f"他说“没有完。后来{quoted}。", "quotation") == [quoted]
    assert spans(f"他说“没有完的一句话还在说\n\n后来又说了一句”。{quoted}", "quotation") == [quoted]
    nested = "“他说“河水涨到第三级石阶渡口停”就走了”"
    assert spans(nested, "quotation") == [nested]
    straight = '"the river rose to the third step"'
    assert spans(f'A 5" pipe. He said {straight} and left.', "quotation") == [straight]
    assert spans(f'He said "no end.\nThen {straight} again.', "quotation") == [straight]


def test_block_quotes():
    block = "> 河水涨到第三级石阶，\n> 渡口便停了。"
    assert spans(f"他写道：\n\n{block}\n\n后来。", "quotation") == [block]
    assert spans("> 0.05", "quotation") == []


def test_line_breaks_of_all_kinds():
    for end in ("\r", "\r\n", "\n", "\u2028"):
        text = THESIS.replace("\n", end)
        assert [aside.kind for aside in asides(text)] == ["contents", "references"]
        assert outline(text) == outline(THESIS)


@pytest.mark.parametrize(
    "name", ["**参考文献**", "## References", "七、主要参考文献", "7 Works Cited", "BIBLIOGRAPHY"]
)
def test_names_of_lists(name):
    listed = f"{name}\n[1] 王岚. 渡口志[M]. 1998."
    assert spans(f"正文。\n{listed}\n", "references") == [listed]


def test_a_lone_heading_sets_nothing_aside():
    prose = "渡口的水位每日测量四次。\n" * 200
    assert spans("参考文献\n" + prose, "references") == []
    text = f"参考文献\n{prose}{WORKS}"
    assert spans(text, "references") == [WORKS.strip()]
    works = WORKS.strip() + "\n"
    assert spans(works + prose + "参考文献\n[1] 李河. 水路[J]. 2003.", "references") == [
        works.strip(),
        "参考文献\n[1] 李河. 水路[J]. 2003.",
    ]


def test_a_list_without_a_heading():
    works = "".join(f"[{n}] 王岚. 渡口志之{n}[M]. 1998.\n" for n in (1, 2, 3))
    assert spans("正文。\n" + works, "references") == [works.strip()]
    assert spans("正文。\n" + works + "致谢\n感谢。", "references") == [works.strip()]
    assert spans("正文。\n" + works[: works.index("[3]")], "references") == []
    assert spans(works + "渡口的水位每日测量四次。\n" * 200, "references") == []


PROSE = (
    "渡口的水位每日测量四次，早晚各两次，船工把读数写在石阶旁的木牌上。",
    "The keeper of the landing wrote the level of the water on a board that is now in the museum.",
)


@pytest.mark.parametrize("name", ["", "参考文献\n"])
@pytest.mark.parametrize("prose", PROSE)
@pytest.mark.parametrize("begin", ["", "作者的话\n", "\n\n"])
def test_a_list_of_numbered_works_ends_where_prose_begins(name, prose, begin):
    works = "".join(f"[{n}] 王岚. 渡口志之{n}[M]. 1998.\n" for n in (1, 2, 3))
    listed = f"{name}{works}".strip()
    assert spans(f"正文。\n{listed}\n{begin}{prose}\n{prose}", "references") == [listed]


@pytest.mark.parametrize(
    "last",
    [
        # A work on several lines, and a note that is no sentence.
        "[3] 王岚. 渡口志与沿江各县水路交通史料汇编及其在民国时期的流传\n"
        "与校勘，上下两册，由水边出版社分两次印行。",
        "[3] Wang, L. A history of the landing and of the boats that\n"
        "are in the museum of the town.",
        "[3] 王岚. 渡口志[M]. 1998.\n（以上按引用先后排列）",
    ],
)
def test_a_list_keeps_the_last_lines_of_its_last_work(last):
    works = "".join(f"[{n}] 王岚. 渡口志之{n}[M]. 1998.\n" for n in (1, 2)) + last
    for name in ("", "参考文献\n"):
        assert spans(f"正文。\n{name}{works}", "references") == [f"{name}{works}"]


def test_contents_without_a_heading():
    rows = "第一章 绪论......1\n第二章 方法......5\n第三章 结果......9\n"
    assert spans("前。\n" + rows + "后。", "contents") == [rows.strip()]
    assert spans(rows[: rows.index("第三章")], "contents") == []
    assert spans("水位\t12\n流量\t15\n泥沙\t18\n", "contents") == []
    assert spans("第一章 绪论\t1\n1.1 背景\t1\n1.2 意义\t4\n", "contents") != []
    assert spans("目录\n正文在这里。\n", "contents") == []
    accounts = "Loans......680 vs.....425\nNotes......690 vs.....426\nBills......700 vs.....427\n"
    assert spans(accounts, "contents") == []
    assert spans(rows.replace("5", "0"), "contents") == []


# What the file marks


ONE = "河水涨到第三级石阶，渡口便停了，两岸的人都在等。"
TWO = "摆渡的人把缆绳系在柳树上，坐在船头抽一袋烟。"
WORK = "[1] 王岚. 渡口志[M]. 水边出版社, 2001: 11-20."


def headings_at(text, *titles):
    return [Heading(text.index(title), text.index(title) + len(title), 1) for title in titles]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"“{ONE}\n“{TWO}”\n后来。", [f"“{ONE}\n“{TWO}”"]),
        (f"他说：“{ONE}\n“{TWO}\n“{ONE}”他又说。", [f"“{ONE}\n“{TWO}\n“{ONE}”"]),
        (f"「{ONE}\n\n「{TWO}」\n\n后来。", [f"「{ONE}\n\n「{TWO}」"]),
        (f"“{ONE}\n“{TWO}”“{TWO}\n“{ONE}”", [f"“{ONE}\n“{TWO}”", f"“{TWO}\n“{ONE}”"]),
        # What is left open takes no paragraph with it that does not open again.
        (f"“{ONE}\n{TWO}\n“{ONE}”", [f"“{ONE}”"]),
        (f"“{ONE}\n「{TWO}」", [f"「{TWO}」"]),
        (f"“{ONE}\n“{TWO}\n后来。", []),
        (f"“{ONE}” 后来。\n“{TWO}”", [f"“{ONE}”", f"“{TWO}”"]),
        ("“" + ONE * 90 + f"\n“{TWO}”", [f"“{TWO}”"]),
    ],
)
def test_each_paragraph_opens_and_the_last_one_closes(text, expected):
    assert spans(text, "quotation") == expected


def test_quotations_marked_by_the_file():
    text = f"{ONE}\n{TWO}\n雨停了。\n“{ONE}”"
    begin = text.index(TWO)
    marked = [(begin, begin + len(TWO)), (text.index("雨"), text.index("雨") + 4)]
    assert spans(text, "quotation", quoted=marked) == [TWO, f"“{ONE}”"]
    around = [(text.index("“"), len(text))]
    assert spans(text, "quotation", quoted=around) == [f"“{ONE}”"]


def test_references_end_where_footnotes_begin():
    text = f"绪论\n{ONE}\n参考文献\n{WORK}\n{TWO}"
    begin = text.index(TWO)
    (to_the_end,) = asides(text)
    (bounded,) = asides(text, footnotes=begin)
    assert (to_the_end.kind, to_the_end.end) == ("references", len(text))
    assert (bounded.begin, bounded.end) == (to_the_end.begin, begin)
    assert asides(TWO, footnotes=0) == []


@pytest.mark.parametrize("titles", [(), ("绪论",), ("绪论", "结论")])
def test_footnotes_are_a_part(titles):
    text = f"绪论\n{ONE}\n结论\n{ONE}\n{TWO}"
    notes = text.index(TWO)
    marked = [*headings_at(text, *titles), Heading(notes, notes, 1)]
    assert footnotes_begin(marked) == notes
    parts = [(part.title, part.level, part.begin, part.end) for part in sections(text, marked)]
    assert parts == [
        ("绪论", 1, 0, text.index("结论")),
        ("结论", 1, text.index("结论"), notes),
        ("", 1, notes, len(text)),
    ]
    assert footnotes_begin(headings_at(text, *titles)) is None


def test_nothing_but_footnotes():
    parts = sections(ONE, [Heading(0, 0, 1)])
    assert [(part.title, part.level, part.end) for part in parts] == [("", 1, len(ONE))]
    assert [part.level for part in sections(ONE, [Heading(len(ONE), len(ONE), 1)])] == [0]


def test_a_table_of_contents_without_a_marked_heading_is_a_part():
    text = f"摘要\n{ONE}\n目 录\n第一章 绪论\t1\n第二章 结论\t9\n第一章 绪论\n{TWO}"
    marked = headings_at(text, "摘要")
    last = text.rindex("第一章")
    marked.append(Heading(last, last + 6, 1))
    assert [part.title for part in sections(text, marked)] == ["摘要", "目 录", "第一章 绪论"]
    with_it = [*marked, *headings_at(text, "目 录")]
    assert [part.title for part in sections(text, with_it)] == ["摘要", "目 录", "第一章 绪论"]


# Both


HOSTILE = [
    "“", '"', "‘", "第", "“" * 500 + "”" * 500, "\r", "「“『«„", "参考文献\n", "目录\n", "a...1\n",
    "[1] \n", "1. A\n", "第一章\n", "2015 ", "19", ".", "\t", " ", "> a\n", "摘要：", "一、",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_texts(piece, monkeypatch):
    text = piece * (4_000 // len(piece))
    looked_at = {}
    for size in (1, 2):
        seen = looked_at[size] = [0]

        def counted(function, seen=seen):
            def call(line, *rest, **named):
                seen[0] += 1 + len(line)
                return function(line, *rest, **named)

            return call

        with monkeypatch.context() as patch:
            for name in ("form", "is_entry", "bare_words"):
                patch.setattr(lists, name, counted(getattr(headings, name)))
            module = sys.modules["neardup.papers.structure.asides"]
            patch.setattr(module, "_size", counted(module._size))
            whole = text * size
            check(whole)
    assert looked_at[2][0] <= 3 * looked_at[1][0] + 1_000


def check(text):
    """Hold the parts and asides of a text to what must always be so."""
    last = 0
    for aside in asides(text):
        assert last <= aside.begin < aside.end <= len(text)
        last = aside.end
    last = 0
    parts = sections(text)
    for part in parts:
        assert last == part.begin < part.end
        last = part.end
    assert last == len(text)
    assert len(parts) <= MOST_PARTS


PIECES = [
    *THESIS.splitlines(keepends=True),
    *ENGLISH.splitlines(keepends=True),
    *'“”"‘’「」『』«»„\n\r# >.[1]',
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=40).map("".join))
def test_always(text):
    check(text)


@given(st.text(alphabet='第一章1.、\n \t“”"参考文献目录a…', max_size=80), st.data())
def test_always_with_marked_headings(text, data):
    place = st.integers(0, len(text))
    pairs = data.draw(st.lists(st.tuples(place, place, st.integers(0, 9)), max_size=5))
    parts = sections(text, [Heading(min(a, b), max(a, b), level) for a, b, level in pairs])
    assert "".join(text[part.begin : part.end] for part in parts) == text


@pytest.mark.parametrize("call", [asides, sections])
def test_bytes_are_refused(call):
    with pytest.raises(ParameterError, match="'text' parameter must be text"):
        call(b"text")


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "a b c\n\n",
        "致谢\n",
        "ends in a hy-\n",
        "1.1.1.1\n",
        "# a\n",
        "“a\n",
        "目录\n",
        "参考文献\n",
        "[1] a\n",
    ],
)
def test_four_times_the_lines_take_at_most_seven_times_the_time(line):
    def once(text):
        # The collector walks over all that earlier tests of the process have left.
        gc.disable()
        try:
            begin = time.process_time()
            sections(text)
            asides(text)
            return time.process_time() - begin
        finally:
            gc.enable()

    def seconds(count):
        # The least of three: other processes share the cache.
        return min(once(line * count) for _ in range(3))

    seconds(1000)
    assert seconds(80_000) < 7 * seconds(20_000) + 0.5
