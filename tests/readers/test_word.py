"""Word documents: the text as Word shows it, what is hidden in it, and what is refused."""

import tracemalloc

import pytest
from tests.readers.making import docx, paragraph, repacked, run

from neardup.readers import Limits, UnreadableFileError, document_text, open_sources, read_bytes
from neardup.readers.document_text import clean_text

LONG = "本研究于每周六清晨在城北的三个湖泊边记录水鸟的种类与数量，并与前人的记录作比较。"
OTHER = "结果表明，野鸭的数量在秋季明显增加，而白鹭则在夏末最多，湖面大小与种类数有关。"
RLO = "\u202e"


def read_word(body, **parts):
    return read_bytes(docx(body, **parts), "a.docx")


def style(key, name, base="", inside="", kind="paragraph", default=""):
    based = f'<w:basedOn w:val="{base}"/>' if base else ""
    return (
        f'<w:style w:type="{kind}" w:styleId="{key}" {default}><w:name w:val="{name}"/>{based}'
        f"{inside}</w:style>"
    )


def headings(document):
    return [(document.text[h.begin : h.end], h.level) for h in document.headings]


def table(*cells, properties=""):
    cells = "".join(f"<w:tc>{cell}</w:tc>" for cell in cells)
    return f"<w:tbl>{properties}<w:tr>{cells}</w:tr></w:tbl>"


def test_tables_headings_and_quotations_are_in_order():
    styles = (
        style("1", "heading 1"),
        style("a", "标题 2"),
        style("b", "mine", "a"),
        style("c", "loop", "c"),
        style("q", "Intense Quote"),
        style("z", "引用"),
        style("m", "my quotation", "z"),
        style("n", "Normal"),
    )
    body = (
        *(paragraph("绪论", "1"), paragraph(LONG, "c"), paragraph("方法", "b")),
        *(table(paragraph("甲"), paragraph("乙")), paragraph("")),
        f"<w:sdt><w:sdtContent>{paragraph(OTHER)}</w:sdtContent></w:sdt>",
        *(paragraph(LONG, "q"), paragraph(OTHER, "n"), paragraph(OTHER, "z"), paragraph(LONG, "m")),
    )
    document = read_word("".join(body), styles="".join(styles))
    texts = ["绪论", LONG, "方法", "甲\t乙", OTHER, LONG, OTHER, OTHER, LONG]
    assert document.text.split("\n") == texts
    assert headings(document) == [("绪论", 1), ("方法", 2)]
    assert [document.text[begin:end] for begin, end in document.quoted] == [LONG, OTHER, LONG]
    assert (document.format, document.encoding, document.pages) == ("docx", None, ())


def test_footnotes_come_last():
    separator = f'<w:footnote w:type="separator" w:id="0">{paragraph("---")}</w:footnote>'
    note = f'<w:footnote w:id="2">{paragraph("见前文。")}</w:footnote>'
    body = f'<w:p>{run("正文")}<w:r><w:footnoteReference w:id="2"/></w:r>{run("继续。")}</w:p>'
    document = read_word(body, footnotes=separator + note)
    assert document.text == "正文继续。\n见前文。"
    assert [(h.begin, h.end, h.level) for h in document.headings] == [(6, 6, 1)]
    assert read_word(body, footnotes=separator).headings == ()


def field(code, result):
    marks = [
        f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
    ]
    return f"{marks[0]}{code}{marks[1]}{result}{marks[2]}"


def chosen(requires):
    shape = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
    return (
        f'<mc:AlternateContent xmlns:wps="{shape}" xmlns:z="urn:z">'
        f'<mc:Choice Requires="{requires}">{run("一")}</mc:Choice>'
        f"<mc:Fallback>{run('二')}</mc:Fallback></mc:AlternateContent>"
    )


def in_two_forms(shape):
    return (
        f"<mc:AlternateContent><mc:Choice>{shape}</mc:Choice>"
        f"<mc:Fallback>{shape}</mc:Fallback></mc:AlternateContent>"
    )


def hidden_mark(text, mark="<w:vanish/>"):
    return f"<w:p><w:pPr><w:rPr>{mark}</w:rPr></w:pPr>{run(text)}</w:p>"


BOX = f"<w:pict><w:txbxContent>{paragraph('框里')}</w:txbxContent></w:pict>"
BREAK = "<w:r><w:br/></w:r>"
CODE = "<w:r><w:instrText>PAGE</w:instrText></w:r>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:p>{field(run('码'), run('果'))}</w:p>", "果"),
        (f"<w:p>{field(field(run('码'), run('里')), run('果'))}</w:p>", "果"),
        (f"<w:p>{field(CODE, run('果'))}后</w:p>", "果"),
        (f'<w:p><w:fldSimple w:instr="QUOTE">{run("果")}</w:fldSimple>{CODE}</w:p>', "果"),
        (f"<w:p><w:del><w:r><w:delText>大</w:delText></w:r></w:del>{run('下')}</w:p>", "下"),
        (f"<w:p><w:ins>{run('下')}</w:ins><w:moveFrom>{run('雪')}</w:moveFrom></w:p>", "下"),
        (f"<w:p>{run('下')}<w:moveTo>{run('雨')}</w:moveTo></w:p>", "下雨"),
        (
            f"<w:p>{run('，')}<w:r><w:tab/><w:t>带伞</w:t><w:noBreakHyphen/><w:br/><w:t>吧</w:t></w:r></w:p>",
            "，\t带伞-\n吧",
        ),
        (f'<w:p><w:bdo w:val="rtl">{run("果结")}</w:bdo></w:p>', f"{RLO}果结\u202c"),
        (f"<w:p>{run(RLO + '果结')}{BREAK}{run('文正')}</w:p>", f"{RLO}果结\n{RLO}文正"),
        (
            f"<w:p>{run(RLO * 40)}{BREAK * 2}{run('文正')}</w:p>",
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
    assert read_word(body).text == text


# Text that a reader of the page does not see.

THEME = (
    '<a:dk1><a:sysClr val="windowText" lastClr="000000"/></a:dk1>'
    '<a:lt1><a:sysClr val="window" lastClr="FFFFFF"/></a:lt1>'
    '<a:accent1><a:srgbClr val="FFFFFF"/></a:accent1>'
    '<a:accent2><a:srgbClr val="C00000"/></a:accent2>'
)


colour = '<w:color w:val="{}"/>'.format
ground = '<w:shd w:val="clear" w:fill="{}"/>'.format
size = '<w:sz w:val="{}"/>'.format
solid = "<w14:textFill><w14:solidFill>{}</w14:solidFill></w14:textFill>".format
of_run = "<w:rPr>{}</w:rPr>".format
of_paragraph = "<w:pPr>{}</w:pPr>".format


def of_theme(theme, value="000000", more=""):
    return f'<w:color w:val="{value}" w:themeColor="{theme}" {more}/>'


WHITE = colour("FFFFFF")
DARK = ground("203040")
HEADER = f'<w:tblStylePr w:type="firstRow"><w:tcPr>{DARK}</w:tcPr></w:tblStylePr>'
STYLES = "".join(
    (
        f"<w:docDefaults><w:rPrDefault>{of_run(size(3))}</w:rPrDefault></w:docDefaults>",
        style("N", "N", inside=of_run(size(21)), default='w:default="1"'),
        style("Tiny", "Tiny"),
        style("Pale", "Pale", "N", of_run(colour("F8F8F8"))),
        style("PaleToo", "PaleToo", "Pale"),
        style("OnDark", "OnDark", "Pale", of_paragraph(DARK)),
        style("Dark", "Dark", "N", of_paragraph(DARK) + of_run(colour("203040"))),
        style("Gone", "Gone", "Round", of_run("<w:vanish/>"), kind="character"),
        style("Round", "Round", "Gone", kind="character"),
        style("Grid", "Grid", kind="table"),
        style("Header", "Header", inside=HEADER, kind="table"),
        style("HeaderToo", "HeaderToo", "Header", kind="table"),
    )
)
SEEN = "中 间"


def sample(of_the_run="", of_the_paragraph=""):
    """Return a paragraph of one run, of these properties."""
    return f"<w:p>{of_paragraph(of_the_paragraph)}{run(SEEN, of_run(of_the_run))}</w:p>"


def in_style(key, of_the_run=""):
    return sample(of_the_run, f'<w:pStyle w:val="{key}"/>')


def in_table(key):
    properties = f'<w:tblPr><w:tblStyle w:val="{key}"/></w:tblPr>'
    return table(paragraph("") + in_style("Pale"), properties=properties)


def in_row(rule):
    height = f'<w:trPr><w:trHeight w:val="1" w:hRule="{rule}"/></w:trPr>'
    return f"<w:tbl><w:tr>{height}<w:tc>{sample()}</w:tc></w:tr></w:tbl>"


def transparent(share):
    alpha = f'<w14:alpha w14:val="{share}"/>'
    return solid(f'<w14:srgbClr w14:val="000000">{alpha}</w14:srgbClr>')


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (sample(), None),
        (sample(WHITE), "white_text"),
        (sample(WHITE + ground("000000")), None),
        (sample(WHITE + '<w:highlight w:val="black"/>'), None),
        (sample(WHITE, ground("1F4E79")), None),
        (table("<w:p/>", sample(WHITE)), "white_text"),
        (table("<w:p/>", f"<w:tcPr>{ground('1F4E79')}</w:tcPr>{sample(WHITE)}"), None),
        (sample(of_theme("background1")), "white_text"),
        (sample(of_theme("background1", "auto")), "white_text"),
        (sample(of_theme("bg1", "auto")), "white_text"),
        (sample(of_theme("light1", "FF0000")), "white_text"),
        (sample(of_theme("accent1")), "white_text"),
        (sample(of_theme("background1", more='w:themeShade="F2"')), "white_text"),
        (sample(of_theme("text1", more='w:themeTint="05"')), "white_text"),
        (sample(of_theme("background1", more='w:themeShade="80"')), None),
        (sample(of_theme("text1", "FFFFFF")), None),
        (sample(of_theme("accent2", "FFFFFF")), None),
        (sample(of_theme("none", "FFFFFF")), "white_text"),
        (sample(of_theme("background1") + '<w:highlight w:val="black"/>'), None),
        (
            sample(of_theme("bg1") + '<w:shd w:val="clear" w:fill="FFFFFF" w:themeFill="text1"/>'),
            None,
        ),
        (sample(colour("000000") + '<w:shd w:val="clear" w:themeFill="text1"/>'), "white_text"),
        (sample("<w14:textFill><w14:noFill/></w14:textFill>"), "white_text"),
        (sample(solid('<w14:schemeClr w14:val="bg1"/>')), "white_text"),
        (sample(solid('<w14:srgbClr w14:val="FFFFFF"/>')), "white_text"),
        (sample(transparent(100_000)), "white_text"),
        (sample(solid('<w14:srgbClr w14:val="C00000"/>') + of_theme("background1")), None),
        (sample(size(4)), "tiny_text"),
        (sample(size(5)), None),
        (sample('<w:w w:val="1"/>'), "tiny_text"),
        (sample('<w:w w:val="90"/>'), None),
        (sample('<w:spacing w:val="-220"/>'), "tiny_text"),
        (sample('<w:spacing w:val="-20"/>'), None),
        (sample("", '<w:spacing w:line="20" w:lineRule="exact"/>'), "tiny_text"),
        (sample("", '<w:spacing w:line="20" w:lineRule="auto"/>'), None),
        (in_row("exact"), "tiny_text"),
        (in_row("atLeast"), None),
        (sample("", '<w:ind w:left="31680"/>'), "hidden_text"),
        (sample("", '<w:ind w:left="720"/>'), None),
        (sample("<w:vanish/>"), "hidden_text"),
        (sample('<w:vanish w:val="0"/>'), None),
        (sample("<w:specVanish/>"), None),
        (sample("<w:webHidden/>"), None),
        (sample("<w:vanish/><w:specVanish/>"), "hidden_text"),
        (sample('<w:rStyle w:val="Gone"/>'), "hidden_text"),
        (sample('<w:rStyle w:val="Gone"/><w:vanish w:val="0"/>'), None),
        (in_style("Tiny"), "tiny_text"),
        (in_style("Tiny", "<w:b/>"), "tiny_text"),
        (in_style("Pale"), "white_text"),
        (in_style("PaleToo"), "white_text"),
        (in_style("PaleToo", colour("auto")), None),
        (in_style("OnDark"), None),
        (in_style("Dark"), "white_text"),
        (in_table("Grid"), "white_text"),
        (in_table("None"), "white_text"),
        (in_table("Header"), None),
        (in_table("HeaderToo"), None),
    ],
)
def test_invisible_text_is_reported(body, kind):
    document = read_word(paragraph("前") + body, styles=STYLES, theme=THEME)
    # White and tiny text stays, and its spaces do not count.
    expected = [(kind, *(("", 3) if kind == "hidden_text" else (SEEN, 2)))] if kind else []
    assert [
        (part.kind, document.text[part.begin : part.end], part.count) for part in document.hidden
    ] == expected


@pytest.mark.parametrize(
    ("properties", "parts", "kinds"),
    [
        (WHITE, {"before": '<w:background w:color="000000"/>'}, []),
        (of_theme("background1"), {}, ["white_text"]),
        (of_theme("background1", "FFFFFF"), {"theme": THEME, "settings": "MAPPING"}, []),
        (of_theme("text1"), {"theme": THEME, "settings": "MAPPING"}, ["white_text"]),
        ("", {"theme": THEME, "styles": "DEFAULT"}, ["white_text"]),
    ],
)
def test_ground_and_colours_of_the_document_count(properties, parts, kinds):
    values = {
        "MAPPING": '<w:clrSchemeMapping w:bg1="dark1" w:t1="light1"/>',
        "DEFAULT": style(
            "N", "N", inside=of_run(of_theme("background1", "auto")), default='w:default="1"'
        ),
    }
    parts = {name: values.get(value, value) for name, value in parts.items()}
    assert [part.kind for part in read_word(sample(properties), **parts).hidden] == kinds


def test_hidden_text_has_its_beginning():
    text = "藏" * 300
    body = f"<w:p>{run('前')}{run(text, of_run('<w:vanish/>'))}{field(run('码'), '')}</w:p>"
    document = read_word(body)
    assert [(part.count, part.text) for part in document.hidden] == [(300, text[:200]), (1, "码")]
    assert document.notes == ("301 characters of hidden text are left out.",)


def test_places_of_many_hidden_runs_take_linear_time(monkeypatch):
    read = []
    monkeypatch.setattr(
        document_text, "clean_text", lambda text: read.append(len(text)) or clean_text(text)
    )
    body = (run("白\r\n", of_run(WHITE)) + run("黑")) * 2000
    document = read_word(f"<w:p>{body}</w:p>")
    assert sum(read) < 20 * len(document.text)
    assert len(document.hidden) == 2000
    assert {document.text[part.begin : part.end] for part in document.hidden} == {"白\n"}


def test_pictures_have_places():
    drawing = "http://schemas.openxmlformats.org/drawingml/2006"
    names = (
        f'xmlns:pic="{drawing}/picture" xmlns:a="{drawing}/main"'
        ' xmlns:v="urn:schemas-microsoft-com:vml"'
    )
    picture = f"<w:r><w:drawing><pic:pic {names}/></w:drawing></w:r>"
    old = f"<w:r><w:pict><v:shape {names}><v:imagedata/></v:shape></w:pict></w:r>"
    formula = f"<w:r><w:object><v:shape {names}><v:imagedata/></v:shape></w:object></w:r>"
    # Their text is in another part of the file.
    diagram, chart = (
        f'<w:r><w:drawing><a:graphicData {names} uri="{drawing}/{kind}"/></w:drawing></w:r>'
        for kind in ("diagram", "chart")
    )
    cell = table(f"<w:p>{run('表')}{picture}</w:p>")
    body = f"<w:p>{picture}</w:p><w:p>{run('前')}{old}{formula}</w:p>{cell}<w:p>{picture}</w:p>"
    document = read_word(f"{body}<w:p>{run('后')}{diagram}</w:p><w:p>{chart}</w:p>")
    assert (document.text, document.pictures) == ("前\n表\n后", (0, 1, 3, 4, 5, 5))


# Files that are made to do harm, that have macros, or that are no whole documents.


@pytest.mark.parametrize(
    ("members", "limits", "words"),
    [
        ([("word/media/a.png", bytes(40 << 20))], {}, "must unpack to at most 200 times its size"),
        ([("a.png", bytes(2000))], {"max_unpacked_bytes": 1000}, "must unpack to at most 1000"),
        ([("a.png", bytes(2000))], {"max_unpacked_bytes": 4000}, "at most 1000 bytes of XML"),
        ([(f"m/{i}", b"") for i in range(20_001)], {}, "must have at most 20000 parts"),
    ],
)
def test_bomb_is_refused(members, limits, words):
    bomb = docx(paragraph("x"), members=members)
    with pytest.raises(UnreadableFileError, match=words):
        read_bytes(bomb, "a.docx", limits=Limits(**limits))


def test_wrong_size_is_refused():
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


def test_entities_are_not_followed(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    entity = f'<!DOCTYPE d [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'.encode()
    change = [(b"<w:document ", entity + b"<w:document "), (b"PLACE", b"a&e;b")]
    data = repacked(docx(paragraph("PLACE")), change=change)
    assert "secret" not in read_bytes(data, "a.docx").text


USUAL = b"vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


@pytest.mark.parametrize(
    "content_type",
    [
        b"vnd.ms-word.document.macroEnabled.main+xml",
        b"vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
        b"vnd.ms-word.template.macroEnabledTemplate.main+xml",
    ],
)
def test_document_with_macros_is_read_as_a_paper_and_in_a_library(make, content_type):
    data = repacked(docx(paragraph(LONG)), change=[(USUAL, content_type)])
    assert read_bytes(data, "a.docm").text == LONG
    make("library/a.docm", data)
    (batch,) = open_sources(["library"]).batches()
    assert (batch.ids.to_pylist(), batch.texts.to_pylist()) == (["a.docm"], [LONG])


WHOLE = docx(paragraph(LONG), footnotes=paragraph(OTHER))
PARTS = ("word/document.xml", "word/styles.xml", "word/footnotes.xml", "_rels/.rels")
ELSEWHERE = (b'Target="word/document.xml"', b'Target="http://a.b/c.xml" TargetMode="External"')


@pytest.mark.parametrize("extension", ["docx", "docm"])
@pytest.mark.parametrize(
    ("data", "found"),
    [
        (repacked(WHOLE, ["[Content_Types].xml"]), "one without [Content_Types]"),
        (repacked(WHOLE, ["_rels/.rels"]), "one without _rels/.rels"),
        (repacked(WHOLE, ["word/document.xml"]), "one without word/document.xml"),
        *((repacked(WHOLE, cut=part), f"one whose part {part} is damaged") for part in PARTS),
        (repacked(WHOLE, change=[ELSEWHERE]), "one whose text is in another file"),
        (repacked(WHOLE, change=[(b"w:body", b"w:tbl")]), "one without a body"),
        (repacked(WHOLE, change=[(b"document.main", b"x")]), "a damaged file"),
        (WHOLE.replace(b"PK\5\6", b"PK\5\7"), "a damaged file"),
        (WHOLE[:-60], "a damaged file"),
        (bytes(range(256)) * 8, "a file that is not an archive (zip)"),
        (b"P", "a damaged file"),
        (b"PK", "a damaged file"),
        (b"PK\x05", "a damaged file"),
        (b"", "an empty file"),
    ],
)
def test_broken_document_is_refused_in_one_sentence(data, found, extension):
    with pytest.raises(UnreadableFileError) as caught:
        read_bytes(data, f"a.{extension}")
    message = str(caught.value)
    assert message.startswith(f"a.{extension}: must be a whole Word document (.docx). Got {found}")
