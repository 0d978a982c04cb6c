"""Text that a damaged font table or a wrong encoding made unreadable, and what only looks so."""

import base64
import random
import unicodedata
from pathlib import Path

import pytest
from tests.readers.making import column, docx, paragraph, pdf

from neardup.readers import UnreadableFileError
from neardup.readers.file_text import read_bytes
from neardup.readers.garbling import measure_garbling

CHINESE = (
    "清晨的雾气从湖面上慢慢散开，渔船一只接一只地回到岸边。老人把网挂在竹竿上，坐下来抽了一袋烟，"
    "说今年的水比去年高了半尺，鱼却少了。孩子们不听这些，他们在堤上追着一只纸风筝跑，笑声传到对岸的"
    "村子里。我问他还要打多少年的鱼，他想了想，说这件事要问湖水，不要问他。傍晚的时候起了风，船都进了"
    "港，只有一盏灯还亮着，那是看守水闸的人在写当天的记录：水位、风向、来往的船，还有第一批南飞的大雁。"
)
PAGE = column([CHINESE * 3])
ENGLISH = (
    "The ferry leaves the northern harbour at seven, and the keeper of the lighthouse counts the "
    "passengers twice before he signs the book that lies on the table in the waiting room. "
)
GERMAN = (
    "Die Fähre verlässt den nördlichen Hafen früh, und der Wärter zählt die Gäste größtenteils. "
)


def turned(offset):
    """Return letters that are so many code points further on."""
    return lambda letters: "".join(chr(ord(letter) + offset) for letter in letters)


def numbered(first):
    """Return letters by the numbers of the glyphs, as without a table."""
    return lambda letters: "".join(chr(first + at) for at in range(len(letters)))


STATED = {
    "neighbours": turned(1),
    "another block": turned(700),
    "glyph numbers": numbered(0x21),
    "glyph numbers above": numbered(500),
    "private use": numbered(0xE000),
    "low bytes": lambda letters: "".join(chr(ord(c) & 0xFF or 0x41) for c in letters),
}


def damage_name(*names):
    """Return the PDF with some names in it misspelt."""
    data = pdf([PAGE])
    for name in names:
        data = data.replace(name, name[:-1] + b"X")
    return data


@pytest.mark.parametrize(
    "data",
    [
        *(pdf([PAGE], stated) for stated in STATED.values()),
        damage_name(b"/ToUnicode"),
        damage_name(b"/ToUnicode", b"/Identity-H"),
        damage_name(b"/ToUnicode", b"/FontFile2"),
    ],
    ids=[*STATED, "no table", "no encoding", "no font"],
)
def test_a_pdf_with_a_wrong_or_damaged_table_is_refused(data):
    with pytest.raises(UnreadableFileError, match=r"unusable text layer.*ocrmypdf"):
        read_bytes(data, "a.pdf")


def test_a_pdf_with_its_table_is_read():
    assert read_bytes(pdf([PAGE]), "a.pdf").text == CHINESE * 3


def misread(text, written, read):
    return text.encode(written, "ignore").decode(read, "ignore")


GARBLED = {
    "private use": turned(0xE000 - 0x4E00)("".join(c for c in CHINESE if c > "\u4dff")),
    "GBK as Latin-1": misread(CHINESE, "gbk", "latin-1"),
    "GBK as Windows": misread(CHINESE, "gbk", "cp1252"),
    "GBK as Cyrillic": misread(CHINESE, "gbk", "koi8-r"),
    "GBK as Big5": misread(CHINESE, "gbk", "big5"),
    "UTF-8 as Latin-1": misread(CHINESE, "utf-8", "latin-1"),
    "UTF-8 as Windows": misread(CHINESE, "utf-8", "cp1252"),
    "UTF-8 as GBK": misread(CHINESE, "utf-8", "gb18030"),
    "UTF-16 as Windows": CHINESE.encode("utf-16-be").decode("cp1252", "ignore"),
    "Russian as Latin-1": misread("Паром отходит из северной гавани. " * 9, "utf-8", "latin-1"),
    "doubled": "".join(letter * 2 for letter in CHINESE),
    "doubled English": "".join(letter * 2 for letter in ENGLISH),
    "replaced": CHINESE.encode("gbk").decode("utf-8", "replace"),
}

BINARY = ("UTF-16 as Windows", "replaced")


@pytest.mark.parametrize("name", GARBLED)
@pytest.mark.parametrize("times", [1, 9])
def test_garbled_text_is_refused(name, times):
    text = GARBLED[name] * times
    paragraphs = paragraph("".join(c for c in text if c.isprintable() or ord(c) >= 0xA0))
    for data, file in ((text.encode(), "a.txt"), (docx(paragraphs), "a.docx")):
        with pytest.raises(UnreadableFileError) as caught:
            read_bytes(data, file)
        # A text file of control characters or U+FFFD is binary data.
        is_binary = name in BINARY and file == "a.txt"
        assert caught.value.code == ("not_a_document" if is_binary else "garbled")


def all_of(encoding, leads):
    """Return a table of characters, as those of encodings are."""
    return "".join(
        bytes([lead, trail]).decode(encoding, "ignore")
        for lead in leads
        for trail in range(0xA1, 0xFF)
    )


SENTENCES = {
    "Chinese": CHINESE,
    "traditional": "清晨的霧氣從湖面上慢慢散開，漁船一隻接一隻地回到岸邊。老人把網掛在竹竿上抽菸。",
    "classical": "晨霧既散，漁舟次第而歸。翁懸網於竹，坐而吸菸，謂今歲之水高於往歲，而魚反寡矣。",
    "names": "欧阳靖、司徒晟、诸葛旻、尉迟翀、淳于璟、令狐垚、闻人骞、澹台煜、上官婧、皇甫嵩、",
    "elements": "钌、铑、钯、锇、铱、铂、镧、铈、镨、钕、钷、钐、铕、钆、铽、镝、钬、铒、",
    "English": ENGLISH,
    "capitals": ENGLISH.upper(),
    "German": GERMAN,
    "German capitals": GERMAN.upper(),
    "French": "Dès l'été, le gardien du phare a compté les passagers à bord, forcé d'être précis. ",
    "Vietnamese": "Chuyến phà rời bến cảng phía bắc lúc bảy giờ sáng và trở về vào buổi trưa. ",
    "Vietnamese, apart": unicodedata.normalize(
        "NFD", "Chuyến phà rời bến cảng phía bắc lúc bảy giờ sáng và trở về vào buổi trưa. " * 4
    ),
    "Icelandic": "Ferjan fer úr norðurhöfninni klukkan sjö og vörðurinn telur farþegana tvisvar. ",
    "Czech": "Přívoz odplouvá ze severního přístavu v sedm hodin a správce počítá lidi. ",
    "Turkish": "Vapur kuzey limanından saat yedide kalkıyor ve bekçi yolcuları iki kez sayıyor. ",
    "Russian": "Паром отходит из северной гавани в семь часов, и смотритель считает пассажиров. ",
    "Greek": "Το πλοίο φεύγει από το βόρειο λιμάνι στις επτά και ο φύλακας μετρά τους επιβάτες. ",
    "Arabic": "تغادر العبارة الميناء الشمالي في الساعة السابعة ويعد الحارس الركاب مرتين كل يوم. ",
    "Hebrew": "המעבורת יוצאת מהנמל הצפוני בשבע ושומר המגדלור סופר את הנוסעים פעמיים בכל יום. ",
    "Hindi": "नाव उत्तरी बंदरगाह से सात बजे निकलती है और पहरेदार यात्रियों को दो बार गिनता है। ",
    "Thai": "เรือข้ามฟากออกจากท่าเรือทางเหนือเวลาเจ็ดโมงและผู้ดูแลประภาคารนับผู้โดยสารสองครั้ง ",
    "Japanese": "渡し船は七時に北の港を出て、灯台守は待合室の帳簿に署名する前に乗客を二度数える。",
    "Korean": "여객선은 일곱 시에 북쪽 항구를 떠나고 등대지기는 승객을 두 번 센다. ",
    "phonetic": "ðə ˈfɛɹi ˈlivz ðə ˈnɔɹðɚn ˈhɑɹbɚ ət ˈsɛvən ənd ðə ˈkipɚ ˈkaʊnts ðə ˈpæsəndʒɚz ",
    "pinyin": "Qīngchén de wùqì cóng húmiàn shàng mànman sànkāi, yúchuán yī zhī huí àn. ",
    "code": Path(__file__).read_text("utf-8"),
    "names of code": "getElementById(userName).toString().isEmpty() || maxValueOf(rowIndex); ",
    "formulas": "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−f(a)|<ε; Σαᵢxᵢ² ≤ λ‖x‖², ∂u/∂t = κ∇²u, x∈ℝⁿ, μ±σ. ",
    "table": "".join(
        f"{row}\t{row * 7.25:.2f}\t{row % 9}%\t±{row / 3:.1f} °C\t½\n" for row in range(90)
    ),
    "key": base64.b64encode(random.Random(3).randbytes(900)).decode(),
    "hexadecimal": random.Random(3).randbytes(900).hex(" "),
    "gene": "AACCGGTTAATTCCGGTTAA" * 40,
    "laughter": "哈哈" * 400,
    "emoji": "🙂🎉👩‍👩‍👧‍👦🇨🇳" * 40,
    "table of characters": all_of("gb2312", range(0xB0, 0xF7)),
    "filler": CHINESE + "\u3164" * 1000,
    "signs": "■□▲△○●◎★☆→←↑↓①②③④⑤" * 40,
}
READABLE = {name: text * 6 for name, text in SENTENCES.items()}


@pytest.mark.parametrize("name", READABLE)
@pytest.mark.parametrize("times", [1, 9])
def test_languages_code_tables_and_formulas_are_read(name, times):
    text = READABLE[name] * times
    assert len(text) > 100
    assert measure_garbling(text).share == 0
    assert read_bytes(text.encode(), "a.txt").notes == ()


@pytest.mark.parametrize("name", [name for name in GARBLED if name != "private use"])
def test_short_texts_are_not_judged(name):
    # Signs of replacement are plain at any length.
    assert (measure_garbling(GARBLED[name][:90]).share > 0) == (name == "replaced")


def partly_garbled(wrong):
    """Return forty pages, the last ones garbled."""
    page, wrong_page = (CHINESE * 9)[:1000], (GARBLED["GBK as Latin-1"] * 9)[:1000]
    return "\n".join([page] * (40 - wrong) + [wrong_page] * wrong)


@pytest.mark.parametrize("wrong", [4, 10, 16])
def test_garbled_part_is_noted(wrong):
    text = partly_garbled(wrong)
    document = read_bytes(text.encode(), "a.txt")
    assert document.text == text
    assert abs(document.garbled - wrong / 40) < 0.01
    (note,) = document.notes
    assert f"{document.garbled:.1%} of the text" in note
    assert "runs of accented letters" in note
    ((begin, end),) = document.garbled_spans
    assert "".join(text[begin:end].split()) == "".join(text[-1001 * wrong + 1 :].split())


@pytest.mark.parametrize("wrong", [24, 36])
def test_mostly_garbled_text_is_refused(wrong):
    with pytest.raises(UnreadableFileError, match="unusable text layer"):
        read_bytes(partly_garbled(wrong).encode(), "a.txt")


@pytest.mark.parametrize("share", [0.02, 0.21, 0.34, 0.48, 0.52])
@pytest.mark.parametrize("on", [range(40), range(8, 20)], ids=["all pages", "some pages"])
def test_formulas_without_a_meaning_have_their_true_share(share, on):
    formula = "".join(chr(0xE000 + at % 90) for at in range(round(600 * share / (1 - share))))
    pages = [CHINESE * 3 + (formula if page in on else "") for page in range(40)]
    shown = [column([text], wide=30, leading=12) for text in pages]
    letters = sum(len(text) for text in pages)
    true = sum(text.count(sign) for text in pages for sign in set(formula)) / letters
    if true > 0.5:
        with pytest.raises(UnreadableFileError, match=f"in {true:.1%} of it"):
            read_bytes(pdf(shown), "a.pdf")
        return
    document = read_bytes(pdf(shown), "a.pdf")
    assert document.garbled == pytest.approx(true)
    (note,) = document.notes
    assert f"{true:.1%} of the text" in note
    assert f"Pages: {on[0] + 1}-{on[-1] + 1}." in note
    assert document.text.count(CHINESE[:40]) == 120
