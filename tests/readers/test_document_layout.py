"""Ways to hide text in a Word document, and to show text that is stored in another way."""

import random

import pytest
from tests.papers.texts import letters
from tests.readers.making import column, docx, paragraph, pdf, run

from neardup.readers import document_text, read_bytes
from neardup.readers.document_text import clean_text

THEME = (
    '<a:dk1><a:sysClr val="windowText" lastClr="000000"/></a:dk1>'
    '<a:lt1><a:sysClr val="window" lastClr="FFFFFF"/></a:lt1>'
    '<a:accent1><a:srgbClr val="FFFFFF"/></a:accent1>'
    '<a:accent2><a:srgbClr val="C00000"/></a:accent2>'
)
RLO = "\u202e"
DARK = '<w:clrSchemeMapping w:bg1="dark1" w:t1="light1"/>'


def coloured(theme, value="000000", more=""):
    return f'<w:color w:val="{value}" w:themeColor="{theme}" {more}/>'


def filled(inside):
    return f"<w14:textFill>{inside}</w14:textFill>"


def solid(colour):
    return filled(f"<w14:solidFill>{colour}</w14:solidFill>")


def seen_as(inner, **parts):
    """Return how the text of a run with properties is seen."""
    body = f"<w:p>{run('前')}{run('中间', f'<w:rPr>{inner}</w:rPr>')}{run('后')}</w:p>"
    hidden = read_bytes(docx(body, **parts), "a.docx").hidden
    assert sum(part.count for part in hidden) == (2 if hidden else 0)
    return hidden[0].kind if hidden else None


@pytest.mark.parametrize(
    ("properties", "kind"),
    [
        (coloured("background1"), "white_text"),
        (coloured("background1", "auto"), "white_text"),
        (coloured("bg1", "auto"), "white_text"),
        (coloured("light1", "FF0000"), "white_text"),
        (coloured("accent1"), "white_text"),
        (coloured("background1", more='w:themeShade="F2"'), "white_text"),
        (coloured("text1", more='w:themeTint="05"'), "white_text"),
        (coloured("background1", more='w:themeShade="80"'), None),
        (coloured("text1", "FFFFFF"), None),
        (coloured("accent2", "FFFFFF"), None),
        (coloured("none", "FFFFFF"), "white_text"),
        (coloured("background1") + '<w:highlight w:val="black"/>', None),
        (
            coloured("background1") + '<w:shd w:val="clear" w:fill="FFFFFF" w:themeFill="text1"/>',
            None,
        ),
        ('<w:color w:val="000000"/><w:shd w:val="clear" w:themeFill="text1"/>', "white_text"),
        (filled("<w14:noFill/>"), "white_text"),
        (solid('<w14:schemeClr w14:val="bg1"/>'), "white_text"),
        (solid('<w14:srgbClr w14:val="FFFFFF"/>'), "white_text"),
        (
            solid('<w14:srgbClr w14:val="000000"><w14:alpha w14:val="100000"/></w14:srgbClr>'),
            "white_text",
        ),
        (solid('<w14:srgbClr w14:val="C00000"/>') + coloured("background1"), None),
        ('<w:w w:val="1"/>', "tiny_text"),
        ('<w:w w:val="90"/>', None),
        ('<w:spacing w:val="-220"/>', "tiny_text"),
        ('<w:spacing w:val="-20"/>', None),
        ("<w:specVanish/>", None),
        ("<w:webHidden/>", None),
        ("<w:vanish/><w:specVanish/>", "hidden_text"),
    ],
)
def test_invisible_run_is_recognized(properties, kind):
    assert seen_as(properties, theme=THEME) == kind


def test_colours_of_the_settings_and_without_a_theme():
    assert seen_as(coloured("background1")) == "white_text"
    assert seen_as(coloured("background1", "FFFFFF"), theme=THEME, settings=DARK) is None
    assert seen_as(coloured("text1"), theme=THEME, settings=DARK) == "white_text"
    colour = coloured("background1", "auto")
    style = (
        f'<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:rPr>{colour}</w:rPr></w:style>'
    )
    document = read_bytes(docx(paragraph("全文"), styles=style, theme=THEME), "a.docx")
    assert [part.kind for part in document.hidden] == ["white_text"]


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ('<w:spacing w:line="20" w:lineRule="exact"/>', "tiny_text"),
        ('<w:spacing w:line="20" w:lineRule="auto"/>', None),
        ('<w:ind w:left="31680"/>', "hidden_text"),
        ('<w:ind w:left="720"/>', None),
    ],
)
def test_invisible_paragraph_is_recognized(before, kind):
    body = f"<w:p><w:pPr>{before}</w:pPr>{run('中间')}</w:p>"
    document = read_bytes(docx(body), "a.docx")
    assert [part.kind for part in document.hidden] == ([kind] if kind else [])


@pytest.mark.parametrize(("rule", "kind"), [("exact", "tiny_text"), ("atLeast", None)])
def test_text_in_a_row_of_exact_height_is_reported(rule, kind):
    height = f'<w:trPr><w:trHeight w:val="1" w:hRule="{rule}"/></w:trPr>'
    body = f"<w:tbl><w:tr>{height}<w:tc>{paragraph('中间')}</w:tc></w:tr></w:tbl>"
    document = read_bytes(docx(body), "a.docx")
    assert [part.kind for part in document.hidden] == ([kind] if kind else [])


def field(code, result):
    marks = [
        f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
    ]
    return f"{marks[0]}{code}{marks[1]}{result}{marks[2]}"


def chosen(requires):
    shape = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
    names = f'xmlns:wps="{shape}" xmlns:z="urn:z"'
    return (
        f'<mc:AlternateContent {names}><mc:Choice Requires="{requires}">{run("一")}</mc:Choice>'
        f"<mc:Fallback>{run('二')}</mc:Fallback></mc:AlternateContent>"
    )


def table(*cells):
    return f"<w:tbl><w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr></w:tbl>"


BOX = f"<w:pict><w:txbxContent>{paragraph('框里')}</w:txbxContent></w:pict>"


def in_two_forms(shape):
    return (
        f"<mc:AlternateContent><mc:Choice>{shape}</mc:Choice>"
        f"<mc:Fallback>{shape}</mc:Fallback></mc:AlternateContent>"
    )


def hidden_mark(text, mark="<w:vanish/>"):
    return f"<w:p><w:pPr><w:rPr>{mark}</w:rPr></w:pPr>{run(text)}</w:p>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:p>{field(run('码'), run('果'))}</w:p>", "果"),
        (f"<w:p>{field(field(run('码'), run('里')), run('果'))}</w:p>", "果"),
        (f"<w:p>{field('<w:r><w:instrText>PAGE</w:instrText></w:r>', run('果'))}后</w:p>", "果"),
        (f'<w:p><w:fldSimple w:instr="QUOTE">{run("果")}</w:fldSimple></w:p>', "果"),
        (f'<w:p><w:bdo w:val="rtl">{run("果结")}</w:bdo></w:p>', "\u202e果结\u202c"),
        (
            f"<w:p>{run(RLO + '果结')}<w:r><w:br/></w:r>{run('文正')}</w:p>",
            "\u202e果结\n\u202e文正",
        ),
        (
            f"<w:p>{run(RLO * 40)}{'<w:r><w:br/></w:r>' * 2}{run('文正')}</w:p>",
            RLO * 40 + f"\n{RLO * 16}" * 2 + "文正",
        ),
        (f"<w:p>{chosen('wps')}</w:p>", "一"),
        (f"<w:p>{chosen('z')}</w:p>", "二"),
        (f"<w:p>{chosen('wps z')}</w:p>", "二"),
        (hidden_mark("正") + hidden_mark("文") + paragraph("完"), "正文完"),
        (hidden_mark("正", "<w:del/>") + paragraph("完"), "正完"),
        (hidden_mark("正"), "正"),
        ('<w:p><w:r><w:sym w:font="Arial" w:char="F041"/></w:r></w:p>', "A"),
        ('<w:p><w:r><w:sym w:font="Wingdings" w:char="F041"/></w:r></w:p>', ""),
        (table(paragraph("外") + table(paragraph("里")), paragraph("右")), "外\n里\t右"),
        (f"<w:p>{run('前')}<w:r>{in_two_forms(BOX)}</w:r>{run('后')}</w:p>", "前后\n框里"),
    ],
)
def test_text_as_word_shows_it(body, text):
    assert read_bytes(docx(body), "a.docx").text == text


def test_hidden_text_has_its_beginning():
    text = "藏" * 300
    body = f"<w:p>{run('前')}{run(text, '<w:rPr><w:vanish/></w:rPr>')}{field(run('码'), '')}</w:p>"
    hidden = read_bytes(docx(body), "a.docx").hidden
    assert [(part.count, part.text) for part in hidden] == [(300, text[:200]), (1, "码")]


def test_places_of_many_hidden_runs_take_linear_time(monkeypatch):
    read = []
    monkeypatch.setattr(
        document_text, "clean_text", lambda text: read.append(len(text)) or clean_text(text)
    )
    body = (run("白\r\n", f"<w:rPr>{coloured('bg1')}</w:rPr>") + run("黑")) * 2000
    document = read_bytes(docx(f"<w:p>{body}</w:p>"), "a.docx")
    assert sum(read) < 20 * len(document.text)
    assert len(document.hidden) == 2000
    assert {document.text[part.begin : part.end] for part in document.hidden} == {"白\n"}


@pytest.mark.parametrize("kind", ["diagram", "chart"])
def test_drawing_with_text_elsewhere_is_a_picture(kind):
    names = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    graphic = (
        f'<a:graphicData {names} uri="http://schemas.openxmlformats.org/drawingml/2006/{kind}"/>'
    )
    body = f"<w:p>{run('前')}<w:r><w:drawing>{graphic}</w:drawing></w:r></w:p>"
    assert read_bytes(docx(body), "a.docx").pictures == (1,)


# Running headers and footers of PDF pages are left out; a row of the text never is.


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
