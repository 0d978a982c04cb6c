"""What recurs across documents: what is found, and what is left of the documents without it."""

import csv
import json
import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.index.written import letters
from tests.kit.strategies import TEXTS, texts
from tests.reference import repeats as twin

from neardup import _core, repeats, repeats_files

ENGLISH = [
    "The ferry leaves at nine from the old harbour.",
    "Tickets are sold on board only!",
    "Was the lighthouse painted again this spring?",
    'He said: "The tide was late, and so was I."',
    "Prices rose by 3.5 percent (from 12.40 to 12.83) last May!",
    "All rights reserved by the harbour office.",
]
CHINESE = [
    "渡船早上九点从老码头开出。",
    "船票只在船上出售，概不退换！",
    "今年春天灯塔又重新粉刷了吗？",
    "他说：“潮水来得太迟了，我也一样。”",
    "（完）未经许可，不得转载本站内容。",
    "五月份价格上涨了百分之3.5……据说如此。",
]
SENTENCES = ENGLISH + CHINESE


def joined(sentences, rng):
    """A text of sentences, the span of each, and what is between them."""
    text, spans = "", []
    for sentence in sentences:
        spans.append((sentence, len(text), len(text) + len(sentence)))
        text += sentence + rng.choice((" ", "\n", "\n\n", "\n\u3000\u3000", "\r\n"))
    return text, spans


def collection(seed, count=60):
    """Documents of common sentences and of their own, and the spans of their sentences."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        sentences = [f"{letters(rng, 15)}。" for _ in range(rng.randrange(4))]
        chosen = sentences + rng.choices(SENTENCES, k=rng.randrange(4))
        rng.shuffle(chosen)
        made.append(joined(chosen, rng))
    return [text for text, _ in made], [spans for _, spans in made]


def assert_as_the_twin(result, spans, least, documents):
    table, places = twin.repeats(spans, least, documents)
    columns = ("text", "count", "documents", "id", "begin", "end")
    rows = [tuple(row[name] for name in columns) for row in result.table.to_pylist()]
    assert rows == [(*place[:3], str(place[3]), *place[4:]) for place in table]
    found = result.places.to_pylist()
    assert [(row["id"], row["begin"], row["end"]) for row in found] == [
        (str(place[1]), *place[2:]) for place in places
    ]
    # The hash names the letters.
    names = {row["repeat"]: place[0] for row, place in zip(found, places, strict=True)}
    assert len(set(names.values())) == len(names) == len(table)
    assert result.table["repeat"].to_pylist() == list(dict.fromkeys(names))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("documents", [2, 5])
def test_sentences_equal_the_twin(seed, documents):
    texts, spans = collection(seed)
    result = repeats(texts, documents=documents)
    assert_as_the_twin(result, spans, 20, documents)
    assert result.table.num_rows > 5


# Lines that end as sentences do, so that none goes on with the next.
line = texts().filter(lambda text: not set(text) & set(twin.LINE_ENDS)).map("{}。".format)


@given(st.lists(st.lists(line, max_size=4).map("\n".join), max_size=6), st.integers(1, 8))
def test_paragraphs_equal_the_twin(texts, least):
    result = repeats(texts * 2, unit="paragraph", min_unit_length=least)
    assert_as_the_twin(result, [twin.lines(text) for text in texts * 2], 2 * least, 2)


def test_the_same_letters_are_the_same_sentence():
    forms = [
        "All rights reserved by the harbour office.",
        "ALL RIGHTS RESERVED, by the “Harbour Office”!",
        "Ａｌｌ rights\u3000reserved by the harbour\u200b office",
        "All rights re\u00adserved by the\nharbour office.",
    ]
    result = repeats([f"Some words. {form}" for form in forms])
    (row,) = result.table.to_pylist()
    assert (row["text"], row["count"], row["begin"]) == (forms[0], 4, 12)
    assert result.places["id"].to_pylist() == ["0", "1", "2", "3"]
    assert repeats([forms[0], forms[0].replace("rights", "lights")]).table.num_rows == 0


@pytest.mark.parametrize("unit", ["sentence", "paragraph"])
@pytest.mark.parametrize(
    ("others", "least", "documents"), [([], 2, 0), ([], 1, 1), ([ENGLISH[0]], 2, 2)]
)
def test_repeats_within_one_document_are_found_on_request(unit, others, least, documents):
    """With one document the places count: a sentence that occurs once is no repeat."""
    made = ["\n".join([ENGLISH[0]] * 3000 + [ENGLISH[1]]), ENGLISH[2], *others]
    result = repeats(made, documents=least, unit=unit)
    count = 3000 + len(others)
    rows = [(row["text"], row["count"], row["documents"]) for row in result.table.to_pylist()]
    assert rows == ([(ENGLISH[0], count, documents)] if documents else [])
    if documents:
        assert (result.summary.places, result.summary.documents) == (count, documents)


NOTICE = "关注公众号获取更多内容"


def posts(count, rng, least=20):
    """Posts of one line without a full stop, of any length, above a notice."""
    return [f"{letters(rng, rng.randrange(least, 60))}\n{NOTICE}" for _ in range(count)]


def wrapped(count, rng):
    """Texts that a program broke after 24 characters, with two whole lines."""
    return ["\n".join(letters(rng, width) for width in (24, 24, 9)) + "。" for _ in range(count)]


def found_in(given, **options):
    return repeats(given, **options).table.to_pylist()


@pytest.mark.parametrize("unit", ["sentence", "paragraph"])
@pytest.mark.parametrize("least", [10, 20, 50])
def test_a_notice_below_a_line_without_a_full_stop(unit, least):
    documents = posts(30, random.Random(least), least)
    (row,) = found_in(documents, unit=unit)
    assert (row["text"], row["count"]) == (NOTICE, 30)
    # One of a longer text, whose line is a paragraph.
    (row,) = found_in([f"{'长' * 300}{at}\n{NOTICE}" for at in "甲乙丙"], unit=unit)
    assert row["text"] == NOTICE


def test_lines_of_a_wrapped_collection_go_on():
    """A text of one whole line is as the collection, a text of three is as it is."""
    rng = random.Random(5)
    (begin, rest) = letters(rng, 24), letters(rng, 9)
    short = [f"{begin}\n{rest}。{letters(rng, 8)}。" for _ in range(5)]
    (row,) = found_in([*wrapped(6, rng), *short], min_unit_length=20)
    assert (row["text"], row["count"]) == (f"{begin}\n{rest}。", 5)
    assert [row["text"] for row in found_in(short, min_unit_length=20)] == [begin]
    long = [f"{letters(rng, 24)}\n{letters(rng, 24)}\n{begin}\n{rest}。" for _ in range(4)]
    assert found_in([*posts(9, rng), *long], documents=3)[-1]["text"] == NOTICE
    assert len(found_in([*posts(9, rng), *long], documents=3)) == 1


def test_the_first_thousand_documents_tell_whether_lines_are_wrapped():
    """In whatever batches they come: neither the next ones nor those without a text do."""
    rng = random.Random(8)
    begin, rest = letters(rng, 24), letters(rng, 9)
    short = [f"{begin}\n{rest}。{letters(rng, 8)}。" for _ in range(2)]
    for first in (posts(1, rng), wrapped(1, rng)):
        documents = [*["一行字。"] * 999, *first, *wrapped(3, rng), *posts(3, rng), *short]
        result = repeats(documents)
        expected = NOTICE if first[0].endswith(NOTICE) else f"{begin}\n{rest}。"
        assert expected in result.table["text"].to_pylist()
        assert (begin in result.table["text"].to_pylist()) == (expected == NOTICE)
        for size in (1, 7, 1000, 1001):
            parts = [documents[at : at + size] for at in range(0, len(documents), size)]
            other = repeats(pa.table({"text": pa.chunked_array(parts)}), workers=1)
            assert other.table.equals(result.table)
            assert other.places.equals(result.places)


def test_the_summary_names_the_most_frequent():
    many = [text for index, text in enumerate(SENTENCES) for _ in range(2 + index)]
    summary = repeats(many).summary
    assert summary.frequent == [(13 - index, text) for index, text in enumerate(SENTENCES[:-6:-1])]
    assert (summary.read, summary.units, summary.repeats) == (len(many), len(many), 12)
    (item,) = repeats(["甲" * 80] * 2).summary.frequent
    assert item == (2, "甲" * 60 + "...")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("keep", ["first", "none"])
@pytest.mark.parametrize("unit", ["sentence", "paragraph"])
def test_output_keeps_all_text_but_the_repeats(seed, keep, unit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents, _ = collection(seed)
    Path("in.jsonl").write_text("\n".join(json.dumps({"text": document}) for document in documents))
    summary = repeats_files(["in.jsonl"], remove="out.jsonl", keep=keep, unit=unit)
    left = [json.loads(row)["text"] for row in Path("out.jsonl").read_text().splitlines()]
    assert repeats(left, unit=unit).table.num_rows == 0

    result = repeats(documents, unit=unit)
    cut = [[] for _ in documents]
    seen = set()
    for row in result.places.to_pylist():
        if keep == "none" or row["repeat"] in seen:
            cut[int(row["id"])].append((row["begin"], row["end"]))
        seen.add(row["repeat"])
    for before, after, spans in zip(documents, left, cut, strict=True):
        whole = "".join(
            c for index, c in enumerate(before) if not any(b <= index < e for b, e in spans)
        )
        # But for white space, all else is there, in its order.
        assert "".join(after.split()) == "".join(whole.split())
        assert spans or after == before
        # No blank line is left at the beginning.
        assert not after or after.splitlines()[0].strip()
    assert summary.removed == sum(map(len, cut)) > 0
    emptied = [bool(before) and not after for before, after in zip(documents, left, strict=True)]
    assert summary.emptied == sum(emptied)


@given(st.lists(texts(), max_size=6), st.sampled_from(["sentence", "paragraph"]))
def test_places_of_hostile_texts_are_their_units(made, unit):
    documents = [*made, *made[::-1], *TEXTS.values(), " ".join(TEXTS.values())]
    result = repeats(documents, unit=unit, min_unit_length=1)
    for row in result.places.to_pylist():
        text = documents[int(row["id"])]
        inside = text[row["begin"] : row["end"]]
        assert twin.plain(inside)
        assert inside == inside.strip("".join(twin.WHITE_SPACE))
        unit = set(range(row["begin"], row["end"]))
        cut = {
            index
            for span in _core.cuts(text, [(min(unit), max(unit) + 1)])
            for index in range(*span)
        }
        # White space goes with a unit, and a line end in it stays if the line does.
        assert {text[index] for index in cut - unit} <= twin.WHITE_SPACE
        assert {text[index] for index in unit - cut} <= set(twin.LINE_ENDS)
    for row in result.table.to_pylist():
        assert row["text"] == documents[int(row["id"])][row["begin"] : row["end"]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [
        {"id": "a", "text": f"{ENGLISH[0]} Own words.", "n": 1.50},
        {"id": "b", "of": {"text": "x"}, "text": f"{CHINESE[0]}{CHINESE[1]}自己的话。"},
        {"id": "c", "text": f"前言。{CHINESE[1]}\n{ENGLISH[0]}\nMore.", "text2": CHINESE[1]},
    ]
    rows = [json.dumps(record, ensure_ascii=record["id"] == "b") for record in records]
    Path("in.jsonl").write_text("\n".join(rows), "utf-8")
    return rows


def test_files(folder):
    summary = repeats_files(["in.jsonl"], "out.csv", places="places.jsonl", remove="clean.jsonl")
    assert (summary.read, summary.repeats, summary.places, summary.removed) == (3, 2, 4, 2)
    written = Path("clean.jsonl").read_text("utf-8").split("\n")
    kept, cut = "前言。", f"{CHINESE[1]}\n{ENGLISH[0]}"
    cut = cut.replace("\n", "\\n")
    assert written == [*folder[:2], folder[2].replace(f"{kept}{cut}", kept), ""]
    result = repeats([json.loads(row) for row in folder])
    places = [json.loads(row) for row in Path("places.jsonl").read_text("utf-8").splitlines()]
    assert places == result.places.to_pylist()
    assert [row["id"] for row in places] == ["a", "b", "c", "c"]
    with Path("out.csv").open(encoding="utf-8-sig", newline="") as file:
        table = list(csv.DictReader(file))
    assert table == [
        {name: str(value) for name, value in row.items()} for row in result.table.to_pylist()
    ]
    repeats_files(["in.jsonl"], remove="none.jsonl", keep="none")
    texts = [json.loads(row)["text"] for row in Path("none.jsonl").read_text("utf-8").splitlines()]
    assert texts == ["Own words.", f"{CHINESE[0]}自己的话。", "前言。\nMore."]
