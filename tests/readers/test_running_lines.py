"""Running headers and footers of PDF pages are left out; a row of the text never is."""

import random

import pytest
from tests.papers.texts import letters
from tests.readers.making import column, pdf

from neardup.readers import read_bytes


def test_pdf_paragraph_across_pages_and_running_lines():
    # No two lines alike: those would run through the pages.
    lines = column(["".join(chr(0x4E00 + 7 * i) for i in range(500))])
    pages = []
    for number in range(4):
        part = [
            (x, 760 - 18 * i, size, text)
            for i, (x, _, size, text) in enumerate(lines[6 * number : 6 * number + 6])
        ]
        pages.append([(200, 800, 9, "某某大学学位论文"), *part, (290, 40, 9, f"- {number + 1} -")])
    document = read_bytes(pdf(pages), "a.pdf")
    assert document.text == "".join(line[3] for line in lines[:24])
    widths = [sum(len(line[3]) for line in lines[: 6 * number]) for number in range(4)]
    assert document.pages == tuple(widths)
    assert document.notes == (
        "Running headers and footers are left out: '某某大学学位论文', '- 1 -'.",
    )


def filled(number, lines=30, top=740):
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
                page = [(90, 700, 16, title), *filled(number, 25, 660)]
            else:
                head = title if number % 2 else "某某大学硕士论文"
                page = [(220, 800, 9, head), *filled(number)]
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
    pages = [[head, *filled(number)] for number, head in enumerate(heads)]
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
        rng = random.Random(page)
        prose = [(90, 740 - 18 * row, 12, letters(rng, 20)) for row in range(30)]
        pages.append([(90, 740 + distance, 12, head.format(page + 1)), *prose])
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
    pages = rows(20)
    lines = [(72, 180, 12, footer.format(page + 1)) for page in range(10)]
    document = read_bytes(
        pdf([[*page, line] for page, line in zip(pages, lines, strict=True)]), "a.pdf"
    )
    assert [line[3] in document.text for line in lines] == [not left_out] * 10
