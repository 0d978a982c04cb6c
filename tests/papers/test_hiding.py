"""What hides copied text is found, told and undone; what is innocent is left alone."""

import pytest
from tests.papers.test_rates import check_consistent
from tests.papers.texts import counted
from tests.readers.making import column, docx, pdf, run

from neardup import check
from neardup.papers.hiding import MOST_PLACES, reorder_paper, reveal, unmask
from neardup.papers.paper_check import CheckResult
from neardup.papers.report_files import render_summary
from neardup.readers import read_bytes
from neardup.readers.file_text import FileText, HiddenText

ENGLISH = (
    "The ferry across the sound leaves every morning at nine, and the fare is half a crown for "
    "grown persons and nothing at all for children."
)
CHINESE = "县志记载，清末渡口有木船三只，船工九人，光绪二十六年添置铁锚一副，由两岸商户分担费用。"
OWN = "My own words about the harbour come before it. "
CYRILLIC = str.maketrans("aeo", "аео")
WHITE = '<w:rPr><w:color w:val="FFFFFF"/></w:rPr>'


@pytest.fixture
def library(make):
    make("library/ferry.txt", ENGLISH)
    make("library/county.txt", CHINESE)
    return "library"


def found(text):
    """Return the findings of a text, by kind: their count and what is at their places."""
    _, findings = reveal(FileText(text, "text"))
    return {
        finding.kind: (finding.count, [text[place.begin : place.end] for place in finding.places])
        for finding in findings
    }


def of(report):
    return {finding.kind: finding.count for finding in report.findings}


def test_a_copied_sentence_in_cyrillic_letters(make, library):
    plain = check(make("plain.txt", OWN + ENGLISH), library)
    disguised = ENGLISH.translate(CYRILLIC)
    report = check(make("paper.txt", OWN + disguised), library)
    check_consistent(report)
    letters = sum(map(ENGLISH.count, "aeo"))
    assert of(report) == {"look_alikes": letters}
    assert (report.rates, report.similarity) == (plain.rates, plain.similarity)
    assert report.text == OWN + disguised
    (passage,) = report.passages
    assert (passage.begin, passage.end) == (plain.passages[0].begin, plain.passages[0].end)
    (finding,) = report.findings
    place = finding.places[0]
    assert (report.text[place.begin : place.end], place.page) == ("Thе", None)
    assert plain.findings == ()


@pytest.mark.parametrize(
    ("text", "plain", "words"),
    [
        ("the sοund of the ΜΟΝΕΥ", "the sound of the MONEY", ["sοund", "ΜΟΝΕΥ"]),
        ("half а crown", "half a crown", ["а"]),
        ("the fеr\u200brу", "the fer\u200bry", ["fеr\u200brу"]),
        ("Утром паром yходит в cело", "Утром паром уходит в село", ["yходит", "cело"]),
        ("Το πλοίο αναχωρεί oκτώ", "Το πλοίο αναχωρεί οκτώ", ["oκτώ"]),
        ("清末渡ロ有木船", "清末渡口有木船", ["ロ"]),
    ],
)
def test_look_alikes(text, plain, words):
    assert unmask(text) == plain
    assert found(text)["look_alikes"][1] == words


@pytest.mark.parametrize(
    "text",
    [
        "О паромах и сёлах: а также о рек\u00adах. При x и y функция exp(x) равна T; COVIDа.",
        "Η ταχύτητα ΔT του πλοίου είναι ρgh με συντελεστή α και Ο(n), Ηmax, στο τρίγωνο ΑΒΓ.",
        "where ρgh and νt are small, αx + βy = ΔT, 5 kΩ, 3 μm, κmax, ρmin and γ-rays",
        "[3] О. Сухов, С. Попов. О сне. Москва: Наука, 2003. [4] Cope A. On sleep.",
        "日本の工場でロボットを二人が作る。カニ、エビ。",
        "三カ国協定。カ",
        "ﬁsh ａｔ ｎｉｎｅ，𝐛𝐨𝐥𝐝，豈",
        "می\u200cخواهم 👨\u200d👩 葛\U000e0100城 the fer\u00adry",
        "The ferry\u200b\n leaves",
        "",
    ],
)
def test_innocent_texts(text):
    assert unmask(text) == text
    assert found(text) == {}


def test_radicals_are_folded_and_not_a_finding(make, library):
    radicals = CHINESE.replace("人", "⼈").replace("木", "⽊").replace("工", "⼯")
    report = check(make("paper.txt", radicals), library)
    assert (report.rates.total, report.findings) == (1.0, ())


def test_invisible_characters_within_words(make, library):
    report = check(make("paper.txt", "\u200b".join(CHINESE)), library)
    assert report.rates.total == 1.0
    # Those beside a mark hide nothing.
    assert 0 < of(report)["invisible"] < len(CHINESE) - 1
    # A report would show each of them with the others around it.
    assert len(report.findings[0].places) == 1
    rest = " " + "字" * 20 + " "
    assert found(f"渡\u00ad口{rest}fer\u200b\u2060ry f\u200berry") == {
        "invisible": (4, ["\u00ad", "\u200b\u2060ry f\u200b"]),
    }


RLO, LRO, PDF, RLI, PDI, RLM = "\u202e", "\u202d", "\u202c", "\u2067", "\u2069", "\u200f"
WORDS = ENGLISH.split()
HEBREW = "המעבורת יוצאת מהנמל הצפוני בשבע בבוקר ושומר המגדלור סופר את הנוסעים פעמיים בכל יום"
#: A text in its stored order, which is shown as another one.
DIRECTIONS = {
    "each line": (
        "\n".join(RLO + " ".join(WORDS[at : at + 6])[::-1] for at in range(0, len(WORDS), 6)),
        ENGLISH,
    ),
    "a paragraph": (RLO + ENGLISH[::-1] + PDF, ENGLISH),
    "in a paragraph": (f"{OWN}{RLO}{ENGLISH[::-1]}{PDF} And more.", ENGLISH),
    "Chinese": (RLO + CHINESE[::-1], CHINESE),
    "nested": (f"{RLO}{ENGLISH[60:][::-1]}{LRO}{ENGLISH[:60]}{PDF}{PDF}", ENGLISH),
    "isolated words": (" ".join(RLI + RLO + word[::-1] + PDF + PDI for word in WORDS), ENGLISH),
    "words between marks": (RLI + f" {RLM}".join(reversed(WORDS)) + PDI, ENGLISH),
    "words after a mark": (RLM + f" {RLM}".join(reversed(WORDS)), ENGLISH),
    "Hebrew": (LRO + HEBREW[::-1], HEBREW),
    "turned twice": (RLO + LRO + ENGLISH + PDF + PDF, None),
    "open at the end": (ENGLISH + RLO, None),
}


@pytest.mark.parametrize("way", DIRECTIONS)
def test_text_behind_directional_marks_is_compared_as_it_is_shown(make, library, way):
    stored, shown = DIRECTIONS[way]
    make("library/harbour.txt", HEBREW)
    report = check(make("paper.txt", stored), library)
    check_consistent(report)
    own = counted(OWN + "And more.") if OWN in stored else 0
    assert report.copied == report.characters - own == counted(shown or ENGLISH)
    if shown is None:
        assert (of(report), report.text) == ({}, stored)
        return
    assert "reordered_text" in of(report)
    # The report shows what a reader of the paper sees.
    words = "".join(report.text.split()).replace("\u2060", "")
    assert "".join(shown.split())[:30] in words
    place = next(one for one in report.findings if one.kind == "reordered_text").places[0]
    excerpt = report.text[place.begin : place.begin + 20].replace("\u2060", "")
    assert excerpt in report.to_html(language="en").replace("\u2060", "")


@pytest.mark.parametrize(
    "text",
    [
        f"המעבורת \u202aThe ferry{PDF} יוצאת {RLM}12{RLM} מהנמל",
        f"\u202bتغادر العبارة Ferry الميناء 12.5{PDF} الشمالي",
        f"The word {RLI}{HEBREW[:7]}{PDI} means ferry, {RLM}here{RLM}: 3{RLM}",
        f"{HEBREW} (The ferry, at 9:30){RLM} {HEBREW}",
    ],
)
def test_directional_marks_without_effect_are_not_reported(text):
    paper = FileText(text, "text")
    assert reorder_paper(paper) is paper
    # The order of a PDF follows its places.
    paper = FileText(RLO + text, "pdf")
    assert reorder_paper(paper) is paper


def test_hidden_white_and_tiny_text_of_word(library):
    inserted = "".join(run(letter) + run("猫", WHITE) for letter in CHINESE)
    tiny = run("小小", '<w:rPr><w:sz w:val="2"/></w:rPr>')
    hidden = run("藏起来的话", "<w:rPr><w:vanish/></w:rPr>")
    # A heading that nobody sees would set aside all that follows.
    heading = f"<w:p>{run('参考文献', WHITE)}</w:p>"
    paper = read_bytes(docx(f"{heading}<w:p>{inserted}{tiny}{hidden}</w:p>"), "a.docx")
    report = check(paper, library)
    assert (report.rates.total, report.rates.without_quotations) == (1.0, 1.0)
    assert report.characters == counted(CHINESE)
    white = len(CHINESE) + len("参考文献")
    assert of(report) == {"white_text": white, "tiny_text": 2, "hidden_text": 5}
    assert report.text == paper.text
    assert "<mark>藏起来的话</mark>" in report.to_html()


def test_hidden_text_of_a_pdf(library):
    unseen = {"white_text": "1 g", "hidden_text": "3 Tr", "tiny_text": "0.1 0 0 0.1 80 600 cm"}
    lines = column([CHINESE])
    lines += [(90, 620 - 20 * at, 12, "另有他说", way) for at, way in enumerate(unseen.values())]
    report = check(read_bytes(pdf([column([OWN], wide=60), lines]), "a.pdf"), library)
    check_consistent(report)
    assert of(report) == dict.fromkeys(unseen, 4)
    places = [place for finding in report.findings for place in finding.places]
    assert {(place.page, place.text) for place in places} == {(2, "另有他说")}
    assert "<mark>另有他说</mark>" in report.to_html()
    assert report.characters == counted(OWN + CHINESE)
    assert report.copied == counted(CHINESE)


def test_overlapping_hidden_parts_keep_every_place():
    hidden = (HiddenText(1, 4, "white_text", 3), HiddenText(2, 6, "tiny_text", 4))
    compared, findings = reveal(FileText("abcdefgh", "docx", hidden=hidden))
    assert compared == "a     gh"
    assert [finding.kind for finding in findings] == ["white_text", "tiny_text"]


def test_places_have_pages_and_are_limited():
    text = "fеrry " * (MOST_PLACES + 5)
    paper = FileText(text, "pdf", pages=(0, 6, 6), pictures=(0, 6))
    _, (words, pictures) = reveal(paper)
    assert (words.count, len(words.places)) == (MOST_PLACES + 5, MOST_PLACES)
    assert [place.page for place in words.places[:3]] == [1, 3, 3]
    assert (pictures.kind, [place.page for place in pictures.places]) == ("pictures", [1, 3])


def test_the_source_may_have_look_alikes_too(make, library):
    make("library/other.txt", ENGLISH[:90].translate(CYRILLIC) + ENGLISH[90:])
    report = check(make("paper.txt", ENGLISH), library)
    assert {source.id: source.rate for source in report.sources} == {
        "ferry.txt": 1.0,
        "other.txt": 1.0,
    }


@pytest.mark.parametrize(
    ("language", "title"),
    [("en", "Possible attempts to hide copying"), ("zh", "疑似规避手段")],
)
def test_the_box_is_in_the_report_only_if_there_is_something(make, library, language, title):
    papers = [make("paper.txt", ENGLISH.translate(CYRILLIC)), make("plain.txt", ENGLISH)]
    papers.append(FileText(ENGLISH, "docx", pictures=(0, 3)))
    reports = [check(paper, library) for paper in papers]
    pages = [report.to_html(language=language) for report in reports]
    assert [title in page for page in pages] == [True, False, False]
    checked = [CheckResult(report.paper, report, None) for report in reports]
    assert render_summary(checked, [None] * 3, language=language).count(title) == 1
