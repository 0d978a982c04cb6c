"""The structure of a paper: its parts, and what is set aside.

Most cases are in structure.txt: each text follows a line of `===`, with a mark around all that is
set aside, and what is expected of its parts. A line that ends in ` ×200` stands there 200 times.
"""

import gc
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import ParameterError
from neardup.papers.structure import find_asides, find_footnotes, find_sections, headings
from neardup.papers.structure.asides import LONGEST
from neardup.papers.structure.sections import MOST_PARTS
from neardup.readers.file_text import Heading


def read(case):
    """Return the text of a case with its marks, the text alone, and the lines of its parts."""
    marked, has_parts, parts = case.removesuffix("\n").partition("\n--- parts\n")
    marked = re.sub(r"(.*) ×(\d+)\n", lambda line: f"{line[1]}\n" * int(line[2]), marked)
    return marked, re.sub("⟦[a-z]+ |⟧", "", marked), has_parts and parts.split("\n")


FILE = Path(__file__).with_name("structure.txt")
CASES = list(map(read, re.split(r"===.*\n", FILE.read_text("utf-8"))[1:]))
THESIS, ENGLISH = CASES[0][1], CASES[1][1]
ONE = "河水涨到第三级石阶，渡口便停了，两岸的人都在等。"
TWO = "摆渡的人把缆绳系在柳树上，坐在船头抽一袋烟。"
WORK = "[1] 王岚. 渡口志[M]. 水边出版社, 2001: 11-20."


def outline(text, marked=()):
    return [(part.level, part.title) for part in find_sections(text, marked)]


def spans(text, kind, **marked):
    return [
        text[aside.begin : aside.end] for aside in find_asides(text, **marked) if aside.kind == kind
    ]


# sections


@pytest.mark.parametrize(("marked", "text", "parts"), CASES, ids=range(len(CASES)))
def test_structure_equals_the_case(marked, text, parts):
    found = text
    for aside in reversed(find_asides(text)):
        inside = f"⟦{aside.kind} {text[aside.begin : aside.end]}⟧"
        found = found[: aside.begin] + inside + found[aside.end :]
    assert found == marked
    if parts:
        assert [f"{level} {title}".rstrip() for level, title in outline(text)] == parts


#: Lines that may look like a heading.
NO_HEADINGS = """
2019年全县渡口 | 3.5亿元用于修路 | 2.1 万人受灾 | 0.5 的水平 | 12月份 | 图1-1 渡口分布 | 上编
第二章的内容是方法 | 第十二条 渡口由镇管理 | 第一章介绍背景，第二章介绍方法。 | 一、水位；
1. 先测量水位。 | 1.1 研究背景..........3 | references | chapter 3 shows that
Part 1 of the study | IV. RESULTS | 二十一、余话 | (三)档案 | 3、流量
"""
NO_HEADINGS = [line.strip() for line in NO_HEADINGS.replace("\n", "|").split("|") if line.strip()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        *((line, None) for line in [*NO_HEADINGS, "第一章 " + "长" * 50]),
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
    form = headings.parse_heading(line)
    assert (form and (form.style, form.level)) == expected


@pytest.mark.parametrize(
    ("text", "marked", "parts"),
    [
        (
            "一、缘起\n水。\n## 方法\n山。\n",
            [(0, 4, 1), (11, 13, 2)],
            [(1, "一、缘起"), (2, "方法")],
        ),
        (
            "题目\n1 缘起\n水。\n2 经过\n山。\n",
            [(0, 2, 1)],
            [(0, ""), (1, "1 缘起"), (1, "2 经过")],
        ),
        ("题目\n正文。\n", [(0, 2, 1)], [(1, "题目")]),
    ],
)
def test_marked_headings_go_before_forms(text, marked, parts):
    assert outline(text, [Heading(*mark) for mark in marked]) == parts


@pytest.mark.parametrize(("deeper", "levels"), [(29, {1, 2}), (30, {1})])
def test_at_most_sixty_parts(deeper, levels):
    text = "".join(f"# 第{n}篇\n水。\n" for n in range(31)) + "## 山\n山。\n" * deeper
    parts = find_sections(text)
    assert {part.level for part in parts} == levels
    assert len(parts) == 31 + deeper * (len(levels) - 1)
    assert len(find_sections("# 水\n山。\n" * 61)) == 1


# asides


def test_the_longest_quotation():
    inside = "渡" * (LONGEST - 2)
    for marks in ("“”", '""'):
        assert spans(marks[0] + inside + marks[1], "quotation") == [marks[0] + inside + marks[1]]
        assert spans(marks[0] + inside + "口" + marks[1], "quotation") == []
    # A paragraph that is as long takes nothing with it.
    assert spans("“" + ONE * 90 + f"\n“{TWO}”", "quotation") == [f"“{TWO}”"]


def test_line_breaks_of_all_kinds():
    for end in ("\r", "\r\n", "\n", "\u2028"):
        text = THESIS.replace("\n", end)
        assert [aside.kind for aside in find_asides(text)] == ["contents", "references"]
        assert outline(text) == outline(THESIS)


# What the file marks


def headings_at(text, *titles):
    return [Heading(text.index(title), text.index(title) + len(title), 1) for title in titles]


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
    (to_the_end,) = find_asides(text)
    (bounded,) = find_asides(text, footnotes=begin)
    assert (to_the_end.kind, to_the_end.end) == ("references", len(text))
    assert (bounded.begin, bounded.end) == (to_the_end.begin, begin)
    assert find_asides(TWO, footnotes=0) == []


@pytest.mark.parametrize("titles", [(), ("绪论",), ("绪论", "结论")])
def test_footnotes_are_a_part(titles):
    text = f"绪论\n{ONE}\n结论\n{ONE}\n{TWO}"
    notes = text.index(TWO)
    marked = [*headings_at(text, *titles), Heading(notes, notes, 1)]
    assert find_footnotes(marked) == notes
    parts = [(part.title, part.level, part.begin, part.end) for part in find_sections(text, marked)]
    assert parts == [
        ("绪论", 1, 0, text.index("结论")),
        ("结论", 1, text.index("结论"), notes),
        ("", 1, notes, len(text)),
    ]
    assert find_footnotes(headings_at(text, *titles)) is None


@pytest.mark.parametrize(("begin", "level"), [(0, 1), (len(ONE), 0)])
def test_text_of_footnotes_alone_is_one_part(begin, level):
    (part,) = find_sections(ONE, [Heading(begin, begin, 1)])
    assert (part.title, part.level, part.end) == ("", level, len(ONE))


@pytest.mark.parametrize("titles", [("摘要",), ("摘要", "目 录")])
def test_a_table_of_contents_without_a_marked_heading_is_a_part(titles):
    text = f"摘要\n{ONE}\n目 录\n第一章 绪论\t1\n第二章 结论\t9\n第一章 绪论\n{TWO}"
    last = text.rindex("第一章")
    marked = [*headings_at(text, *titles), Heading(last, last + 6, 1)]
    assert [title for _, title in outline(text, marked)] == ["摘要", "目 录", "第一章 绪论"]


# Both


def check(text):
    """Hold the parts and asides of a text to what must always be so."""
    last = 0
    for aside in find_asides(text):
        assert last <= aside.begin < aside.end <= len(text)
        last = aside.end
    parts = find_sections(text)
    assert [part.begin for part in parts] == [0, *(part.end for part in parts)][:-1]
    assert all(part.begin < part.end for part in parts)
    assert parts[-1].end == len(text) if text else not parts
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
    parts = find_sections(text, [Heading(min(a, b), max(a, b), level) for a, b, level in pairs])
    assert "".join(text[part.begin : part.end] for part in parts) == text


@pytest.mark.parametrize("call", [find_asides, find_sections])
def test_bytes_are_refused(call):
    with pytest.raises(ParameterError, match="'text' parameter must be text"):
        call(b"text")


HOSTILE = [
    "“", '"', "‘", "第", "“" * 500 + "”" * 500, "\r", "「“『«„", "参考文献\n", "目录\n", "a...1\n",
    "[1] \n", "1. A\n", "第一章\n", "2015 ", "19", ".", "\t", " ", "> a\n", "摘要：", "一、",
    "a b c\n\n", "致谢\n", "ends in a hy-\n", "1.1.1.1\n", "# a\n", "“a\n", "[1] a\n",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE, ids=range(len(HOSTILE)))
def test_four_times_the_text_takes_at_most_seven_times_the_time(piece):
    def once(text):
        # The collector walks over all that earlier tests of the process have left.
        gc.disable()
        try:
            begin = time.process_time()
            check(text)
            return time.process_time() - begin
        finally:
            gc.enable()

    text = piece * (8_000 // len(piece))
    once(text[:1000])
    # Three times, since other processes share the cache.
    bound = 7 * min(once(text) for _ in range(3)) + 0.3
    assert any(once(text * 4) < bound for _ in range(3))
