"""Structure that a file marks, or leaves to be told: footnotes, tables of contents, quotations."""

import pytest

from neardup.papers.structure import asides, footnotes_begin, sections
from neardup.readers.files import Heading

ONE = "河水涨到第三级石阶，渡口便停了，两岸的人都在等。"
TWO = "摆渡的人把缆绳系在柳树上，坐在船头抽一袋烟。"
WORK = "[1] 王岚. 渡口志[M]. 水边出版社, 2001: 11-20."


def quotations(text, **marked):
    return [text[a.begin : a.end] for a in asides(text, **marked) if a.kind == "quotation"]


def headings(text, *titles):
    return [Heading(text.index(one), text.index(one) + len(one), 1) for one in titles]


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
    assert quotations(text) == expected


def test_what_the_file_marks_as_quoted():
    text = f"{ONE}\n{TWO}\n雨停了。\n“{ONE}”"
    begin = text.index(TWO)
    marked = [(begin, begin + len(TWO)), (text.index("雨"), text.index("雨") + 4)]
    assert quotations(text, quoted=marked) == [TWO, f"“{ONE}”"]
    around = [(text.index("“"), len(text))]
    assert quotations(text, quoted=around) == [f"“{ONE}”"]


def test_references_end_where_footnotes_begin():
    text = f"绪论\n{ONE}\n参考文献\n{WORK}\n{TWO}"
    begin = text.index(TWO)
    (to_the_end,) = asides(text)
    (found,) = asides(text, footnotes=begin)
    assert (to_the_end.kind, to_the_end.end) == ("references", len(text))
    assert (found.begin, found.end) == (to_the_end.begin, begin)
    assert asides(TWO, footnotes=0) == []


@pytest.mark.parametrize("titles", [(), ("绪论",), ("绪论", "结论")])
def test_footnotes_are_a_part(titles):
    text = f"绪论\n{ONE}\n结论\n{ONE}\n{TWO}"
    notes = text.index(TWO)
    marked = [*headings(text, *titles), Heading(notes, notes, 1)]
    assert footnotes_begin(marked) == notes
    found = [(part.title, part.level, part.begin, part.end) for part in sections(text, marked)]
    assert found == [
        ("绪论", 1, 0, text.index("结论")),
        ("结论", 1, text.index("结论"), notes),
        ("", 1, notes, len(text)),
    ]
    assert footnotes_begin(headings(text, *titles)) is None


def test_nothing_but_footnotes():
    found = sections(ONE, [Heading(0, 0, 1)])
    assert [(part.title, part.level, part.end) for part in found] == [("", 1, len(ONE))]
    assert [part.level for part in sections(ONE, [Heading(len(ONE), len(ONE), 1)])] == [0]


def test_a_table_of_contents_without_a_marked_heading_is_a_part():
    text = f"摘要\n{ONE}\n目 录\n第一章 绪论\t1\n第二章 结论\t9\n第一章 绪论\n{TWO}"
    marked = headings(text, "摘要")
    last = text.rindex("第一章")
    marked.append(Heading(last, last + 6, 1))
    assert [part.title for part in sections(text, marked)] == ["摘要", "目 录", "第一章 绪论"]
    with_it = [*marked, *headings(text, "目 录")]
    assert [part.title for part in sections(text, with_it)] == ["摘要", "目 录", "第一章 绪论"]
