"""Word, PDF, HTML and Markdown: the text that a reader sees, and where its parts begin."""

import random
import sys
import time
import tracemalloc

import pytest
from tests.readers import making
from tests.readers.making import PICTURE, column, docx, paragraph, pdf, repacked, run, zipped

from neardup.exceptions import InputError, MissingDependencyError, ParameterError
from neardup.readers import Limits, UnreadableFileError, open_sources, read_bytes, read_file
from neardup.readers.file_text import HiddenText

LONG = "本研究于每周六清晨在城北的三个湖泊边记录水鸟的种类与数量，并与前人的记录作比较。"
OTHER = "结果表明，野鸭的数量在秋季明显增加，而白鹭则在夏末最多，湖面大小与种类数有关。"


def headings(result):
    return [(result.text[h.begin : h.end], h.level) for h in result.headings]


# Word


def test_docx_in_order_with_tables_and_headings():
    styles = (
        '<w:style w:styleId="1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="a"><w:name w:val="标题 2"/></w:style>'
        '<w:style w:styleId="b"><w:name w:val="mine"/><w:basedOn w:val="a"/></w:style>'
        '<w:style w:styleId="c"><w:name w:val="loop"/><w:basedOn w:val="c"/></w:style>'
    )
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    table = f"<w:tbl><w:tr>{cell.format('甲')}{cell.format('乙')}</w:tr></w:tbl>"
    body = (
        paragraph("绪论", "1")
        + paragraph(LONG, "c")
        + paragraph("方法", "b")
        + table
        + paragraph("")
        + f"<w:sdt><w:sdtContent>{paragraph(OTHER)}</w:sdtContent></w:sdt>"
    )
    document = read_bytes(docx(body, styles=styles), "a.docx")
    assert document.text == "\n".join(["绪论", LONG, "方法", "甲\t乙", OTHER])
    assert headings(document) == [("绪论", 1), ("方法", 2)]
    assert (document.format, document.encoding, document.pages) == ("docx", None, ())


def test_docx_footnotes_come_last():
    separator = f'<w:footnote w:type="separator" w:id="0">{paragraph("---")}</w:footnote>'
    note = f'<w:footnote w:id="2">{paragraph("见前文。")}</w:footnote>'
    body = f'<w:p>{run("正文")}<w:r><w:footnoteReference w:id="2"/></w:r>{run("继续。")}</w:p>'
    document = read_bytes(docx(body, footnotes=separator + note), "a.docx")
    assert document.text == "正文继续。\n见前文。"
    assert [(h.begin, h.end, h.level) for h in document.headings] == [(6, 6, 1)]
    assert read_bytes(docx(body, footnotes=separator), "a.docx").headings == ()


def test_docx_quotations_by_style():
    names = {"q": "Intense Quote", "z": "引用", "n": "Normal", "h": "heading 1"}
    styles = "".join(
        f'<w:style w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
        for key, name in names.items()
    )
    styles += '<w:style w:styleId="m"><w:name w:val="mine"/><w:basedOn w:val="z"/></w:style>'
    texts = {"h": "绪论", "q": LONG, "n": OTHER, "z": OTHER, "m": LONG}
    body = "".join(paragraph(text, style) for style, text in texts.items())
    document = read_bytes(docx(body, styles=styles), "a.docx")
    assert [document.text[begin:end] for begin, end in document.quoted] == [LONG, OTHER, LONG]
    assert headings(document) == [("绪论", 1)]


def test_docx_tracked_changes_fields_and_hidden_text():
    body = (
        "<w:p>"
        + run("今天")
        + f"<w:del><w:r><w:delText>大</w:delText></w:r></w:del><w:ins>{run('下')}</w:ins>"
        + f"<w:moveFrom>{run('雪')}</w:moveFrom><w:moveTo>{run('雨')}</w:moveTo>"
        + "<w:r><w:instrText>PAGE</w:instrText></w:r>"
        + run("藏起来", "<w:rPr><w:vanish/></w:rPr>")
        + run("，", '<w:rPr><w:vanish w:val="0"/></w:rPr>')
        + "<w:r><w:tab/><w:t>带伞</w:t><w:noBreakHyphen/><w:br/><w:t>吧</w:t></w:r>"
        + "</w:p>"
    )
    document = read_bytes(docx(body), "a.docx")
    assert document.text == "今天下雨，\t带伞-\n吧"
    assert document.notes == ("3 characters of hidden text are left out.",)


def test_invisible_docx_text_is_reported():
    white = '<w:color w:val="FFFFFF"/>'
    body = (
        "<w:p>"
        + run("\r\n前")
        + run("白 色", f"<w:rPr>{white}</w:rPr>")
        + run("黑底", f'<w:rPr>{white}<w:shd w:val="clear" w:fill="000000"/></w:rPr>')
        + run("标出", f'<w:rPr>{white}<w:highlight w:val="black"/></w:rPr>')
        + run("小", '<w:rPr><w:sz w:val="4"/></w:rPr>')
        + run("大", '<w:rPr><w:sz w:val="5"/></w:rPr>')
        + run("藏", "<w:rPr><w:vanish/></w:rPr>")
        + "</w:p>"
        + '<w:p><w:pPr><w:shd w:val="clear" w:fill="1F4E79"/></w:pPr>'
        + run("蓝底", f"<w:rPr>{white}</w:rPr>")
        + "</w:p><w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc><w:p>"
        + run("表头", f"<w:rPr>{white}</w:rPr>")
        + run("微", '<w:rPr><w:sz w:val="1"/></w:rPr>')
        + '</w:p></w:tc><w:tc><w:tcPr><w:shd w:val="clear" w:fill="1F4E79"/></w:tcPr><w:p>'
        + run("蓝格", f"<w:rPr>{white}</w:rPr>")
        + "</w:p></w:tc></w:tr></w:tbl>"
    )
    document = read_bytes(docx(body), "a.docx")
    assert [
        (part.kind, document.text[part.begin : part.end], part.count) for part in document.hidden
    ] == [
        ("white_text", "白 色", 2),
        ("tiny_text", "小", 1),
        ("hidden_text", "", 1),
        ("white_text", "表头", 2),
        ("tiny_text", "微", 1),
    ]
    on_colour = read_bytes(docx(body, before='<w:background w:color="000000"/>'), "a.docx")
    assert on_colour.text == document.text
    assert [part.kind for part in on_colour.hidden] == ["tiny_text", "hidden_text", "tiny_text"]


def test_docx_text_hidden_by_styles_is_reported():
    def style(kind, key, inside, base="", default=""):
        based = f'<w:basedOn w:val="{base}"/>' if base else ""
        return (
            f'<w:style w:type="{kind}" w:styleId="{key}" {default}><w:name w:val="{key}"/>{based}'
            f"{inside}</w:style>"
        )

    def size(halves):
        return f'<w:rPr><w:sz w:val="{halves}"/></w:rPr>'

    def ground(fill):
        return f'<w:shd w:val="clear" w:fill="{fill}"/>'

    dark = f"<w:pPr>{ground('203040')}</w:pPr>"
    header = f'<w:tblStylePr w:type="firstRow"><w:tcPr>{ground("203040")}</w:tcPr></w:tblStylePr>'
    styles = (
        f"<w:docDefaults><w:rPrDefault>{size(3)}</w:rPrDefault></w:docDefaults>"
        + style("paragraph", "N", size(21), default='w:default="1"')
        + style("paragraph", "Tiny", "")
        + style("paragraph", "Pale", '<w:rPr><w:color w:val="F8F8F8"/></w:rPr>', "N")
        + style("paragraph", "PaleToo", "", "Pale")
        + style("paragraph", "OnDark", dark, "Pale")
        + style("paragraph", "Dark", f'{dark}<w:rPr><w:color w:val="203040"/></w:rPr>', "N")
        + style("character", "Gone", "<w:rPr><w:vanish/></w:rPr>", "Round")
        + style("character", "Round", "", "Gone")
        + style("table", "Grid", "")
        + style("table", "Header", header)
        + style("table", "HeaderToo", "", "Header")
    )

    def gone(properties=""):
        return run("藏", f'<w:rPr><w:rStyle w:val="Gone"/>{properties}</w:rPr>')

    def table(key):
        cell = f"<w:tc>{paragraph(key, 'Pale')}</w:tc>"
        return f'<w:tbl><w:tblPr><w:tblStyle w:val="{key}"/></w:tblPr><w:tr>{cell}</w:tr></w:tbl>'

    shown = '<w:vanish w:val="0"/>'
    black = '<w:rPr><w:color w:val="auto"/></w:rPr>'
    bold = '<w:p><w:pPr><w:pStyle w:val="Tiny"/></w:pPr>' + run("粗", "<w:rPr><w:b/></w:rPr>")
    body = (
        f"<w:p>{run('常')}{gone()}{gone(shown)}</w:p>{bold}</w:p>"
        + "".join(paragraph(key, key) for key in ("Tiny", "Pale", "PaleToo", "OnDark", "Dark"))
        + f'<w:p><w:pPr><w:pStyle w:val="PaleToo"/></w:pPr>{run("黑", black)}</w:p>'
        + "".join(map(table, ("Grid", "Header", "HeaderToo", "None")))
    )
    document = read_bytes(docx(body, styles=styles), "a.docx")
    assert [
        (part.kind, document.text[part.begin : part.end] or part.count) for part in document.hidden
    ] == [
        ("hidden_text", 1),
        ("tiny_text", "粗"),
        ("tiny_text", "Tiny"),
        ("white_text", "Pale"),
        ("white_text", "PaleToo"),
        ("white_text", "Dark"),
        ("white_text", "Grid"),
        ("white_text", "None"),
    ]


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


def test_docx_pictures():
    names = (
        'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" '
        'xmlns:v="urn:schemas-microsoft-com:vml"'
    )
    picture = f"<w:r><w:drawing><pic:pic {names}/></w:drawing></w:r>"
    old = f"<w:r><w:pict><v:shape {names}><v:imagedata/></v:shape></w:pict></w:r>"
    formula = f"<w:r><w:object><v:shape {names}><v:imagedata/></v:shape></w:object></w:r>"
    body = (
        f"<w:p>{picture}</w:p><w:p>{run('前')}{old}{formula}</w:p>"
        f"<w:tbl><w:tr><w:tc><w:p>{run('表')}{picture}</w:p></w:tc></w:tr></w:tbl><w:p>{picture}</w:p>"
    )
    document = read_bytes(docx(body), "a.docx")
    assert (document.text, document.pictures) == ("前\n表", (0, 1, 3, 3))


def test_pdf_pictures():
    (line,) = column(["明天晴。"])
    document = read_bytes(pdf([column(["今天下雨。"]), [(*line, f"q {PICTURE} Q")]]), "a.pdf")
    assert document.pictures == (document.pages[1],)


def test_docx_bombs_are_refused():
    zeros = bytes(40 << 20)
    bomb = docx(paragraph("x"), members=[("word/media/a.png", zeros)])
    with pytest.raises(UnreadableFileError, match="must unpack to at most 200 times its size"):
        read_bytes(bomb, "a.docx")
    large = docx(paragraph("x"), members=[("word/media/a.png", zeros[:2000])])
    with pytest.raises(UnreadableFileError, match="must unpack to at most 1000 bytes"):
        read_bytes(large, "a.docx", limits=Limits(max_unpacked_bytes=1000))
    with pytest.raises(UnreadableFileError, match="at most 1000 bytes of XML"):
        read_bytes(large, "a.docx", limits=Limits(max_unpacked_bytes=4000))
    many = docx(paragraph("x"), members=[(f"m/{i}", b"") for i in range(20_001)])
    with pytest.raises(UnreadableFileError, match="must have at most 20000 parts"):
        read_bytes(many, "a.docx")


def test_docx_with_a_wrong_size_is_refused():
    whole = docx(paragraph(" " * (40 << 20)))
    index = whole.rfind(b"word/document.xml") - 46
    assert whole[index : index + 4] == b"PK\x01\x02"
    lying = whole[: index + 24] + (100).to_bytes(4, "little") + whole[index + 28 :]
    tracemalloc.start()
    with pytest.raises(UnreadableFileError, match="must be a whole Word document"):
        read_bytes(lying, "a.docx")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20


def test_docx_entities_are_not_followed(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    entity = f'<!DOCTYPE d [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'.encode()
    change = [(b"<w:document ", entity + b"<w:document "), (b"PLACE", b"a&e;b")]
    data = repacked(docx(paragraph("PLACE")), change=change)
    assert "secret" not in read_bytes(data, "a.docx").text


def test_docx_without_a_body():
    with pytest.raises(UnreadableFileError, match="must be a whole Word document"):
        read_bytes(docx("").replace(b"PK\x05\x06", b"PK\x05\x07"), "a.docx")


# PDF


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


# Word documents with macros, and files that are none


ELSEWHERE = (b'Target="word/document.xml"', b'Target="http://a.b/c.xml" TargetMode="External"')
PARTS = ("word/document.xml", "word/styles.xml", "word/footnotes.xml", "_rels/.rels")


@pytest.mark.parametrize(
    "content_type",
    [
        "vnd.ms-word.document.macroEnabled.main+xml",
        "vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
        "vnd.ms-word.template.macroEnabledTemplate.main+xml",
    ],
)
def test_a_document_with_macros_is_read_as_a_paper_and_in_a_library(make, content_type):
    data = repacked(docx(paragraph(LONG)), content_type=content_type)
    assert read_bytes(data, "a.docm").text == LONG
    make("library/a.docm", data)
    (batch,) = open_sources(["library"]).batches()
    assert (batch.ids.to_pylist(), batch.texts.to_pylist()) == (["a.docm"], [LONG])


@pytest.mark.parametrize("extension", ["docx", "docm"])
@pytest.mark.parametrize(
    ("data", "found"),
    [
        (repacked(docx(paragraph(LONG)), ["[Content_Types].xml"]), "one without [Content_Types]"),
        (repacked(docx(paragraph(LONG)), ["_rels/.rels"]), "one without _rels/.rels"),
        (repacked(docx(paragraph(LONG)), ["word/document.xml"]), "one without word/document.xml"),
        *(
            (
                repacked(docx(paragraph(LONG), footnotes=paragraph(OTHER)), cut=part),
                f"one whose part {part} is damaged",
            )
            for part in PARTS
        ),
        (repacked(docx(paragraph(LONG)), change=[ELSEWHERE]), "one whose text is in another file"),
        (repacked(docx(paragraph(LONG)), change=[(b"w:body", b"w:tbl")]), "one without a body"),
        (repacked(docx(paragraph(LONG)), change=[(b"document.main", b"x")]), "a damaged file"),
        (docx(paragraph(LONG))[:-60], "a damaged file"),
        (bytes(range(256)) * 8, "a file that is not an archive (zip)"),
        (b"P", "a damaged file"),
        (b"PK", "a damaged file"),
        (b"PK\x05", "a damaged file"),
        (b"", "an empty file"),
    ],
)
def test_broken_word_document_is_refused_in_one_sentence(data, found, extension):
    with pytest.raises(UnreadableFileError) as caught:
        read_bytes(data, f"a.{extension}")
    message = str(caught.value)
    assert message.startswith(f"a.{extension}: must be a whole Word document (.docx). Got {found}")


# HTML and Markdown


def page(body, head=""):
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode()


def test_html_main_text():
    body = (
        "<nav><a href='/'>首页</a> <a>登录</a></nav>"
        f"<article><h1>湖泊 &amp; 水鸟</h1><p>{LONG}</p><h2>结果</h2><p>{OTHER}</p><p>短。</p>"
        f"<table><tr><td>甲</td><td>乙</td></tr></table><p>{LONG}</p><p>{OTHER}</p></article>"
        "<footer>版权所有</footer><script>var a = '<p>脚本</p>';</script>"
    )
    document = read_bytes(page(body, "<title>题</title><style>p{}</style>"), "a.html")
    assert document.text == "\n".join(
        ["湖泊 & 水鸟", LONG, "结果", OTHER, "短。", "甲\t乙", LONG, OTHER]
    )
    assert headings(document) == [("湖泊 & 水鸟", 1), ("结果", 2)]


def test_html_line_ends_in_chinese_and_english():
    document = read_bytes(
        page("<p>今天\n  下雨。</p><p>Rain\n today.</p><p>第一章 雨</p>"), "a.htm"
    )
    assert document.text == "今天下雨。\nRain today.\n第一章 雨"


def test_html_with_bad_quotes():
    body = f"""<p class="a"">{LONG}</p><p class=it's>{OTHER}</p><p title="a > b">短。</p>"""
    assert read_bytes(page(body), "a.html").text == f"{LONG}\n{OTHER}\n短。"
    assert read_bytes(page(f'<p>{LONG}</p><p a="x>{OTHER}</p>'), "a.html").text.startswith(LONG)


def test_html_by_its_first_bytes():
    data = page(f"<p>{LONG}</p>").decode().encode("utf-16")
    document = read_bytes(data, "a.txt")
    assert (document.format, document.encoding, document.text) == ("html", "utf-16-le", LONG)


HOSTILE = (
    *("<", "<!--", "<![CDATA[", "<a x='", '<a "', "<script>", "</p", "&#x", "&#9999999999;"),
    *("<a b='", '<a b="', '<a b=">"', "<b>", "<title>", "<p><td>", "<!", "<?"),
    *("<SCRIPT></script>", "<SCRIPT></Script"),
)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", HOSTILE)
def test_html_hostile_pages_take_linear_time(chunk):
    data = f"<html><p>{chunk * 30_000}{LONG}"
    if chunk.startswith("&#9"):
        # 30,000 characters that do not exist.
        with pytest.raises(UnreadableFileError, match="without a meaning"):
            read_bytes(data.encode(), "a.html")
    else:
        assert read_bytes(data.encode(), "a.html").format == "html"


@pytest.mark.parametrize(
    ("chunk", "count", "is_read_whole"),
    [
        (" a{}=1", 256, False),
        (" a{}=1", 257, True),
        (" a{}=1", 300_000, True),
        ("<div>", 150, False),
        ("<div>", 201, True),
        ("<div>", 300_000, True),
        ("<b>b</b>", 30_000, False),
        ("<b>b</b>", 250_000, True),
    ],
)
@pytest.mark.parametrize("hide", ["{}", "<object>{}", "<!-->{}"])
def test_html_page_beyond_bounds_is_read_whole_with_a_note(chunk, count, is_read_whole, hide):
    many = "".join(map(chunk.format, range(count)))
    body = f"<p{many}>" if "=" in chunk else f"{many}<p>"
    begin = time.process_time()
    document = read_bytes(f"<html><p>{LONG}</p>{hide.format(body)}{LONG}".encode(), "a.html")
    # A tree of so many attributes takes minutes.
    assert time.process_time() - begin < 20
    assert document.text.startswith(LONG)
    notes = [note for note in document.notes if "all of its visible text" in note]
    assert len(notes) == is_read_whole


def test_markdown_headings():
    text = "# 一\r\n正文\r\n```\r\n# 代码\r\n```\r\n## 二 ##\n #七\n\n### 三"
    document = read_bytes(text.encode(), "a.md")
    assert document.text == text.replace("\r\n", "\n")
    assert headings(document) == [("一", 1), ("二", 2), ("三", 3)]
    assert read_bytes(text.encode(), "a.txt").headings == ()


# What is refused

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (OLE, "Got a document of Word before 2007 (.doc) instead. Open it in Word, WPS"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "must be readable without a password"),
        (b"{\\rtf1 x}", "Got an RTF document instead"),
        (b"\x1f\x8b\x08\0", "Got compressed data (gzip) instead"),
        (b"\x89PNG\r\n\x1a\n", "Got a picture (PNG) instead"),
        (zipped({"a.txt": "x"}), "Got an archive (zip) instead. Unpack it"),
        (zipped({"content.xml": "x"}), "Got an OpenDocument file instead"),
        (zipped({"xl/workbook.xml": "x"}), "Got an Excel workbook instead"),
        (zipped({"word/other.xml": "x"}), "must be a whole Word document (.docx)"),
        (zipped({"a.txt": "x"})[:-8], "must be a whole Word document (.docx)"),
        (b"%PDF-1.4 and no more", "must be a whole PDF. Got a damaged file instead"),
        (bytes(5000), "Got binary data"),
        (random.Random(1).randbytes(5000), "Got binary data"),
    ],
)
def test_binary_file_is_refused(data, reason):
    name = "a.txt" if "binary" in reason else "a.docx"
    with pytest.raises(UnreadableFileError) as caught:
        read_bytes(data, name)
    error = caught.value
    assert str(error).startswith(f"{name}: must be ")
    assert reason in str(error)
    assert str(error).isprintable()
    # The sentence and its parts are two ways to say one thing.
    assert str(error) == str(error.problem)


def test_damage():
    for data, name in (
        (docx(paragraph(LONG) * 20), "a.docx"),
        (pdf([column([LONG * 5])] * 2), "a.pdf"),
    ):
        making.check_damaged(data, lambda data, name=name: read_bytes(data, name))


def test_limits(make):
    name = make("a.txt", "天气" * 1000)
    with pytest.raises(UnreadableFileError, match=r"a.txt: must have at most 99 bytes. Got more"):
        read_file(name, limits=Limits(max_bytes=99))
    with pytest.raises(UnreadableFileError, match="at most 99 bytes"):
        read_bytes(("天气" * 1000).encode(), "a.txt", limits=Limits(max_bytes=99))
    packed = make("b.txt.gz", bytes(1 << 20))
    with pytest.raises(UnreadableFileError, match="must unpack to at most 9999 bytes"):
        read_file(packed, limits=Limits(max_unpacked_bytes=9999))
    with pytest.raises(ParameterError, match="'max_pages' parameter must be a whole number"):
        Limits(max_pages=0)


@pytest.mark.parametrize(
    ("package", "name"), [("docx", "a.docx"), ("pypdfium2", "a.pdf"), ("trafilatura", "a.html")]
)
def test_missing_package_is_named(make, monkeypatch, package, name):
    make(name, {"a.docx": docx(paragraph("x")), "a.pdf": pdf([[]])}.get(name, page("x")))
    monkeypatch.setitem(sys.modules, package, None)
    line = r"Install it with: pip install 'neardup\[papers\]'"
    with pytest.raises(MissingDependencyError, match=line):
        read_file(name)
    with pytest.raises(MissingDependencyError, match=line):
        list(open_sources([name]).batches())


def test_missing_file_is_refused():
    with pytest.raises(InputError, match=r"^nowhere.pdf: no such file or directory\.$"):
        read_file("nowhere.pdf")


def test_compressed_and_misnamed(make):
    for suffix in (".gz", ".zst"):
        name = make(f"a.docx{suffix}", docx(paragraph(LONG)))
        assert read_file(name).text == LONG
    assert read_file(make("b.txt", pdf([column([LONG])]))).format == "pdf"
    assert read_file(make("c.pdf", docx(paragraph(LONG)))).format == "docx"
    assert read_file(make("d.docx", "天气很好。")).format == "text"
