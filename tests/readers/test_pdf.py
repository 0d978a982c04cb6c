"""PDF: paragraphs, headings and running lines of placed letters, and letters that nobody sees."""

import random

import pytest
from tests.readers.making import PICTURE, column, pdf

from neardup.readers import Limits, UnreadableFileError, read_bytes
from neardup.readers.file_text import HiddenText

LONG = "本研究于每周六清晨在城北的三个湖泊边记录水鸟的种类与数量，并与前人的记录作比较。"
OTHER = "结果表明，野鸭的数量在秋季明显增加，而白鹭则在夏末最多，湖面大小与种类数有关。"


def headings(result):
    return [(result.text[h.begin : h.end], h.level) for h in result.headings]


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("1 g", "white_text"),
        ("0.97 0.98 1 rg", "white_text"),
        ("0 0 0 0 k", "white_text"),
        ("3 Tr", "hidden_text"),
        ("0.1 0 0 0.1 81 684 cm", "tiny_text"),
        ("1 g 80 680 300 40 re f 1 g", "white_text"),
        ("7 Tr", "hidden_text"),
        ("0 0 1 1 re W n", "hidden_text"),
        ("1 Tz", "tiny_text"),
        ("0.01 0 0 1 90 0 cm", "tiny_text"),
        ("0 0 595 842 re W n", None),
        ("80 Tz", None),
        ("0.8 g", None),
        ("1 1 0 rg", None),
        ("1 g 1 Tr", None),
        ("0 0.2 0.4 rg 80 680 300 40 re f 1 g", None),
        ("12 w 80 704 m 380 704 l S 1 g", None),
        (f"q 595 0 0 842 0 0 cm {PICTURE} Q 3 Tr", None),
    ],
)
def test_invisible_pdf_text_is_reported(before, kind):
    lines = [*column([LONG]), (90, 700, 12, "白字", before), *column([OTHER], top=660)]
    document = read_bytes(pdf([column([LONG]), lines]), "a.pdf")
    if kind is None:
        assert (document.hidden, document.notes) == ((), ())
        assert "白字" in document.text
    else:
        begin = document.pages[1]
        assert document.hidden == (HiddenText(begin, begin, kind, 2, "白字"),)
        assert document.notes == ("2 characters of hidden text are left out.",)
        assert document.text == "\n".join([LONG, LONG, OTHER])


@pytest.mark.parametrize(
    ("box", "is_covered"),
    [
        ("1 g 80 690 300 30 re f 1 0 0 rg", True),
        ("0 g 80 690 300 30 re f", True),
        ("0 g 80 690 15 30 re f", False),
        ("0 G 80 690 300 30 re S", False),
    ],
)
def test_pdf_text_below_a_later_rectangle(box, is_covered):
    covered = [(90, 700, 12, "盖住"), (90, 600, 12, "后", box)]
    document = read_bytes(pdf([[*column([LONG]), *covered]]), "a.pdf")
    shown = (HiddenText(0, 0, "hidden_text", 2, "盖住"),) if is_covered else ()
    assert document.hidden == shown
    assert ("盖住" in document.text) != is_covered
    # A rectangle below the text is its ground.
    below = [(90, 600, 12, "前"), (90, 700, 12, "盖住", box)]
    assert read_bytes(pdf([[*column([LONG]), *below]]), "a.pdf").hidden == ()


def test_pdf_letters_between_hidden_ones():
    shown, decoys = "渡口𠀀有木船三只", "猫𠀁狗"
    lines = []
    for at, letter in enumerate(shown):
        lines += [(90 + 24 * at, 700, 12, letter), (102 + 24 * at, 700, 12, decoys[at % 3], "1 g")]
    document = read_bytes(pdf([lines]), "a.pdf")
    assert document.text.replace(" ", "") == shown
    assert [(part.kind, part.count) for part in document.hidden] == [("white_text", len(shown))]


def test_pdf_layer_of_recognized_text():
    layer = [(*line, "3 Tr") for line in column([LONG])]
    document = read_bytes(pdf([layer, column([OTHER])]), "a.pdf")
    assert (document.text, document.hidden) == (f"{LONG}\n{OTHER}", ())


def test_pdf_pictures():
    (line,) = column(["明天晴。"])
    document = read_bytes(pdf([column(["今天下雨。"]), [(*line, f"q {PICTURE} Q")]]), "a.pdf")
    assert document.pictures == (document.pages[1],)


LATIN = ["The observations were inde-", "pendently corroborated by the", "neighbours."]


REFERENCES = [
    f"[{number}] 王小明。湖泊水鸟群落结构的季节变化与其成因，观察学报。" for number in range(1, 4)
]


#: The lines of a page, and its paragraphs.
PAGES = {
    "paragraphs": (
        column([f"{LONG}{OTHER}", "短句。", f"{OTHER}{LONG}{LONG}", "完。"]),
        [f"{LONG}{OTHER}", "短句。", f"{OTHER}{LONG}{LONG}", "完。"],
    ),
    "no indents": (
        column([LONG + OTHER, "短句。", OTHER + LONG], indent=0),
        [LONG + OTHER, "短句。", OTHER + LONG],
    ),
    "columns": (
        column([LONG, OTHER + LONG], x=60, wide=18) + column([OTHER, LONG + LONG], x=320, wide=18),
        [LONG, OTHER + LONG, OTHER, LONG + LONG],
    ),
    "latin words": (
        [(90, 700 - 18 * number, 12, text) for number, text in enumerate(LATIN)],
        ["The observations were independently corroborated by the neighbours."],
    ),
    "references": (
        [
            line
            for number, text in enumerate(REFERENCES)
            for line in (
                (90, 760 - 40 * number, 12, text[:24]),
                (114, 742 - 40 * number, 12, text[24:]),
            )
        ],
        REFERENCES,
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_pdf_has_its_visible_paragraphs(name):
    lines, paragraphs = PAGES[name]
    document = read_bytes(pdf([lines]), "a.pdf")
    assert document.text.splitlines() == paragraphs
    assert document.pages == (0,)


def test_pdf_headings_by_size():
    page = [(90, 820, 18, "城市湖泊"), (90, 790, 15, "第一章 方法"), *column([LONG + OTHER])]
    document = read_bytes(pdf([page]), "a.pdf")
    assert headings(document) == [("城市湖泊", 1), ("第一章 方法", 2)]


@pytest.mark.parametrize(
    "between", ["." * 16, "…" * 8, "·" * 8, " "], ids=["dots", "ellipses", "points", "space"]
)
def test_pdf_contents_stand_alone(between):
    titles = ["第一章 绪论", "1.1 研究背景与意义", "第二章 湖泊与水鸟", "参考文献"]
    entries = [f"{title}{between}{3 * index + 1}" for index, title in enumerate(titles)]
    page = [(90, 760 - 18 * index, 12, text) for index, text in enumerate(entries)]
    page += column([LONG + OTHER], top=670, indent=0)
    assert read_bytes(pdf([page]), "a.pdf").text == "\n".join([*entries, LONG + OTHER])


def test_pdf_contents_with_numbers_and_letters_set_apart():
    page = []
    for index, (title, number) in enumerate([("绪论与方法", "1"), ("参考文献", "30")]):
        y = 760 - 18 * index
        page += [(90 + 13 * place, y, 12, letter) for place, letter in enumerate(title)]
        page += [(500 + 7 * place, y, 12, digit) for place, digit in enumerate(number)]
    assert read_bytes(pdf([page]), "a.pdf").text.splitlines() == ["绪论与方法\t1", "参考文献\t30"]


def test_pdf_pages_of_pictures():
    with pytest.raises(UnreadableFileError, match=r"^a\.pdf: must have .*text.*ocrmypdf"):
        read_bytes(pdf([[], []]), "a.pdf")
    document = read_bytes(pdf([[], column([LONG])]), "a.pdf")
    assert document.notes == ("1 of 2 pages have no text; they may be pictures.",)
    assert document.pages == (0, 0)


def test_pdf_too_many_pages():
    with pytest.raises(UnreadableFileError, match=r"at most 2 pages. Got 3"):
        read_bytes(pdf([column([LONG])] * 3), "a.pdf", limits=Limits(max_pages=2))


def test_pdf_paragraph_across_pages_and_running_lines():
    # No two lines alike: those would run through the pages.
    text = "".join(chr(0x4E00 + 7 * i) for i in range(480))
    pages = [
        [
            (200, 800, 9, "某某大学学位论文"),
            *column([text[120 * number : 120 * number + 120]], indent=0),
            (290, 40, 9, f"- {number + 1} -"),
        ]
        for number in range(4)
    ]
    document = read_bytes(pdf(pages), "a.pdf")
    assert document.text == text
    assert document.pages == (0, 120, 240, 360)
    assert document.notes == (
        "Running headers and footers are left out: '某某大学学位论文', '- 1 -'.",
    )


def page_of(number, lines=30, top=740):
    """Return a page of text of its own."""
    letters = random.Random(number)
    text = "".join(chr(letters.randrange(0x4E00, 0x9000)) for _ in range(20 * lines))
    return column([text], top=top, indent=0)


def test_pdf_titles_of_chapters_at_the_head_of_odd_pages():
    chapters = [("第一章 绪论", 5), ("第二章 方法", 3), ("第三章 结果", 2), ("第四章 讨论", 7)]
    pages = []
    for title, count in chapters:
        # A chapter begins on an odd page.
        pages += [[]] * (len(pages) % 2)
        for of_chapter in range(count):
            number = len(pages) + 1
            if of_chapter == 0:
                page = [(90, 700, 16, title), *page_of(number, 25, 660)]
            else:
                head = title if number % 2 else "某某大学硕士论文"
                page = [(220, 800, 9, head), *page_of(number)]
            pages.append(page)
    document = read_bytes(pdf(pages), "a.pdf")
    titles = [document.text[part.begin : part.end] for part in document.headings]
    assert titles == [title for title, _ in chapters]
    assert [document.text.count(title) for title, _ in chapters] == [1] * len(chapters)
    assert "某某大学" not in document.text
    assert len("".join(document.text.split())) == 20 * (25 * 4 + 30 * 13) + 4 * 5


@pytest.mark.parametrize(
    ("heads", "dropped"),
    [
        ([(200, 800, 9, "渡口研究 2026年第3期")] * 2, True),
        ([(200, 800, 9, f"{page} · 渡口研究") for page in (14, 15)], True),
        ([(200, 800, 9, head) for head in ("渡口研究", "王岚：渡口志的来源")], False),
        # A sentence, a heading, and a line of the text itself.
        ([(200, 800, 9, "渡口停航三天。")] * 2, False),
        ([(200, 800, 16, "渡口研究")] * 2, False),
        ([(90, 758, 12, "渡口的水位每日测量四次早晚各两次均有记录")] * 2, False),
    ],
)
def test_pdf_heads_of_a_paper_of_two_pages(heads, dropped):
    pages = [[head, *page_of(number)] for number, head in enumerate(heads)]
    document = read_bytes(pdf(pages), "a.pdf")
    assert all((head[3] in document.text) != dropped for head in heads)
    assert bool(document.notes) == dropped


def rows(distance, *, size=12, of_page=30, group=None, text="Item {} costs {} euros", step=30):
    """Return ten pages of rows that are alike apart from their numbers."""
    pages = []
    for page in range(10):
        y, lines = 780, []
        for row in range(of_page):
            number = step * page + row
            lines.append((72, y, size, text.format(number, 7 * number)))
            y -= distance * (2 if group and row % group == group - 1 else 1)
        pages.append(lines)
    return pages


def below(head, distance, *, footer=None):
    """Return ten pages of prose, each below a line of its number."""
    pages = []
    for page in range(10):
        pages.append([(90, 740 + distance, 12, head.format(page + 1)), *page_of(page)])
        pages[-1] += [(90, 60, 9, footer.format(2 * page + 1, 7 * page))] if footer else []
    return pages


ROWS = {
    "rows": rows(24),
    "rows of one text": rows(24, text="The tenant pays the rent"),
    "groups of rows": rows(18, of_page=24, group=3),
    "numbered rows": rows(24, text="{}"),
    "few rows": rows(20, of_page=3, step=3, text="{}. The tenant pays the rent."),
    "one row a page": rows(20, of_page=1, step=1, size=24, text="Slide {} of the talk"),
    "two rows a page": rows(40, of_page=2, step=1, text="Receipt {}, {} euros"),
    "form": rows(30, of_page=5, step=1, text="Name {}, aged {}"),
    "slides": [
        [(72, 700, 24, f"Slide {page} of the talk"), *rows(20, of_page=3)[page]]
        for page in range(8)
    ],
    "articles": below("第{}条", 24),
    "footnotes": below("第{}条", 24, footer="{} Ibid., p. {}"),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_alike_on_every_page_stay(name):
    document = read_bytes(pdf(ROWS[name]), "a.pdf")
    shown = "".join("".join(line[3].split()) for page in ROWS[name] for line in page)
    assert sorted("".join(document.text.split())) == sorted(shown)
    assert document.notes == ()


@pytest.mark.parametrize("head", ["渡口研究", "Journal of Ferries {}", "{} / 10", "第{}页"])
def test_header_above_a_gap_is_left_out(head):
    document = read_bytes(pdf(below(head, 40)), "a.pdf")
    assert len("".join(document.text.split())) == 10 * 30 * 20


@pytest.mark.parametrize(("footer", "left_out"), [("- {} -", True), ("Row {}", False)])
def test_page_number_below_the_last_row_is_left_out(footer, left_out):
    footers = [footer.format(page + 1) for page in range(10)]
    pages = [[*page, (72, 180, 12, text)] for page, text in zip(rows(20), footers, strict=True)]
    document = read_bytes(pdf(pages), "a.pdf")
    assert [text in document.text for text in footers] == [not left_out] * 10
