"""Test items in training documents: what is found, what is not, and what is written."""

import io
import json
import random
import re
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rapidfuzz.distance import LCSseq
from tests.index.written import letters
from tests.kit.progress import RecordedProgress
from tests.kit.strategies import TEXTS

from neardup import contamination, contamination_files
from neardup.exceptions import InputError, ParameterError

ENGLISH = [
    "Which of these rivers flows through three capitals on its way to the sea?",
    "A baker sells forty loaves before noon and a quarter as many after it. How many are that?",
    "Why does a bridge of steel grow longer in summer than it was in winter?",
    "If every ferry carries twelve cars and four of them sail, how many cars reach the island?",
]
CHINESE = [
    "下列哪一条河流先后流经三个国家的首都，最后注入大海？请说明理由。",
    "面包店上午卖出四十个面包，下午卖出的是上午的四分之一，一共卖出多少个？",
    "钢桥在夏天为什么会比冬天时略长一些？请用物理知识加以解释说明。",
    "每班渡船可以载十二辆汽车，一天共开四班，问全天最多能把多少辆汽车送到岛上？",
]
ITEMS = ENGLISH + CHINESE


def words(rng, count):
    """Sentences of made-up words, which share nothing with an item."""
    made = ["".join(rng.choices("bcdfghjklmnpqrstvwz", k=rng.randint(3, 8))) for _ in range(count)]
    return " ".join(made).capitalize() + "."


def around(rng, item):
    if item.isascii():
        return words(rng, 60), words(rng, 60)
    return letters(rng, 200), letters(rng, 200)


def verbatim(_, item):
    return item


def wrapped(_, item):
    if item.isascii():
        return item.replace(" ", "\n  ")
    return "\n".join(item[index : index + 9] for index in range(0, len(item), 9))


def in_chat(_, item):
    turn = {"role": "user", "content": f"Question:\n{item}\n\nA) yes  B) no"}
    return f"<|im_start|>{json.dumps(turn, ensure_ascii=False)}<|im_end|>"


def in_other_forms(_, item):
    wide = {ord(c): ord(c) + 0xFEE0 for c in "abcdefghijklmnopqrstuvwxyz?"}
    return item.upper().replace("，", ",").replace("？", "?").translate(wide)


def edited(rng, item):
    """One letter in twenty replaced, inserted or left out."""
    text = list(item)
    for index in rng.sample(range(len(text)), len(text) // 20):
        text[index] = (
            rng.choice(("", "x", text[index] + "x")) if item.isascii() else rng.choice(("", "乙"))
        )
    return "".join(text)


@pytest.mark.parametrize("form", [verbatim, wrapped, in_chat, in_other_forms, edited])
@pytest.mark.parametrize("seed", range(3))
def test_items_are_found_in_every_form(form, seed):
    rng = random.Random(f"{form.__name__} {seed}")
    documents, expected = [], []
    for index, item in enumerate(ITEMS):
        before, after = around(rng, item)
        made = form(rng, item)
        documents += [f"{before}\n{made}\n{after}", f"{before} {after}"]
        expected.append((str(2 * index), str(index), made))
    result = contamination(documents, ITEMS)
    rows = result.findings.to_pylist()
    assert [(row["id"], row["test_id"]) for row in rows] == [row[:2] for row in expected]
    assert result.keep.tolist() == [False, True] * len(ITEMS)
    assert result.kept == documents[1::2]
    for row, (id_, test_id, made) in zip(rows, expected, strict=True):
        passage = documents[int(id_)][row["begin"] : row["end"]]
        assert row["text"] == passage[:200]
        item = ITEMS[int(test_id)]
        if form is edited:
            # Letters that were inserted are none of the item's.
            assert 0.9 <= row["cover"] <= 1
        else:
            assert row["cover"] == 1
            assert plain(passage) == plain(made) or plain(item) in plain(passage)
            assert plain(item[row["test_begin"] : row["test_end"]]) == plain(item)


def plain(text):
    return re.sub(r"\W|_", "", unicodedata.normalize("NFKC", text)).lower()


def test_the_cover_is_never_more_than_the_letters_in_common():
    """No finding of an item that the document does not have, by a measure of its own."""
    rng = random.Random(3)
    pool = [*ITEMS, *TEXTS.values(), "".join(ITEMS), "。".join(CHINESE[::-1])]
    documents = []
    for _ in range(400):
        item = rng.choice(ITEMS)
        begin, end = sorted(rng.sample(range(len(item)), 2))
        part = item[begin:end] if rng.random() < 0.5 else edited(rng, edited(rng, item))
        documents.append(rng.choice(pool)[: rng.randrange(200)] + part + rng.choice(pool)[:50])
    result = contamination(documents, ITEMS, min_share=0.5)
    assert result.summary.findings > 100
    for row in result.findings.to_pylist():
        item, document = plain(ITEMS[int(row["test_id"])]), plain(documents[int(row["id"])])
        # Three times, so that its passages may be in any order.
        assert row["cover"] <= LCSseq.similarity(item, 3 * document) / len(item) + 1e-9
        assert row["cover"] >= 0.5


def found_in(result):
    """Return the ids of the documents with those of the items that are in them."""
    return [(row["id"], row["test_id"]) for row in result.findings.to_pylist()]


def test_a_part_is_found_by_its_cover():
    item = ENGLISH[1]
    half = item[: len(item) // 2]
    (row,) = contamination([f"It said: {half}"], [item], min_share=0.4).findings.to_pylist()
    assert row["cover"] == pytest.approx(len(plain(half)) / len(plain(item)), abs=0.05)
    assert contamination([f"It said: {half}"], [item]).findings.num_rows == 0


def test_an_item_is_found_as_often_as_it_occurs():
    rng = random.Random(1)
    item = CHINESE[0]
    parts = [letters(rng, 400) for _ in range(4)]
    document = item.join(parts)
    result = contamination([document], [item]).findings.to_pylist()
    assert [row["begin"] for row in result] == [m.start() for m in re.finditer(item[:9], document)]
    assert result[0]["test_begin"] == 0
    # Side by side, and with one letter between them.
    assert contamination([item * 3], [item]).summary.findings == 3
    assert contamination([f"{item}乙{item}"], [item]).summary.findings == 2


def test_items_with_other_important_words_are_not_findings():
    form = "Regulations of {} on the Protection of {} in {}"
    item = form.format("Porto", "Bridges and Ferries", "the Old Town")
    others = [
        form.format("Bergen", "Lighthouses", "Winter Storms"),
        form.format("the City of Turku", "Windmills", "Farmland"),
    ]
    assert contamination(others, [item]).findings.num_rows == 0
    assert contamination([item], [item]).findings.num_rows == 1


def test_short_items_are_listed_and_not_looked_for():
    question = "Which river is the longest?\nA Nile B Oder C Rhone D Po"
    items = [question[:27], letters(random.Random(5), 11), "short", "", CHINESE[0]]
    documents = [f"So: {items[0]} The Nile.", f"问：{items[1]}？", " ".join(items)]
    result = contamination(documents, items)
    assert (result.summary.tests, result.summary.short) == (5, 4)
    assert result.too_short == ["0", "1", "2", "3"]
    assert found_in(result) == [("2", "4")]
    result = contamination(documents, items, min_item_length=11)
    assert result.too_short == ["2", "3"]
    assert found_in(result) == [("0", "0"), ("1", "1"), ("2", "0"), ("2", "1"), ("2", "4")]
    # Shorter items than a shingle are not found under any limit.
    for length in (5, 20):
        result = contamination([CHINESE[0]], [CHINESE[0], "短"], min_item_length=length)
        assert result.too_short == ["1"]


@pytest.mark.parametrize(
    ("item", "options", "least"),
    [
        (letters(random.Random(5), 20), {}, "20 Chinese characters or 40 letters"),
        ("abcdefghij" * 4, {}, "20 Chinese characters or 40 letters"),
        ("abcdefghij" * 4, {"min_item_length": 20}, "20 Chinese .*min_item_length="),
        (letters(random.Random(5), 11), {"min_item_length": 11}, "11 Chinese characters or 22"),
    ],
)
def test_length_of_an_item_is_inside(item, options, least):
    assert contamination([item], [item], **options).findings.num_rows == 1
    with pytest.raises(InputError, match=f"at least {least}"):
        contamination([item], [item[:-1]], **options)
    with pytest.raises(InputError, match=r"must have items\. Got none"):
        contamination([item], [], **options)


def test_wording_of_many_documents_does_not_count():
    common = "Choose the one answer that best completes the sentence that is given below:"
    rare = "The lighthouse keeper counted the ships that passed before the fog came in."
    items = [f"{common} {rare}", common]
    documents = [f"{common} {words(random.Random(index), 30)}" for index in range(30)]
    documents.append(f"We read: {rare} And so on.")
    result = contamination(documents, items, max_documents=29, min_share=0.4)
    # What is its own is half of the first item, and all of what counts.
    rows = result.findings.select(["id", "test_id"]).to_pylist()
    assert rows == [{"id": "30", "test_id": "0"}]
    assert result.findings["cover"].to_pylist()[0] > 0.9
    assert (result.summary.common, result.summary.contaminated) == (1, 1)
    # One more, and it is rare enough.
    assert contamination(documents, items, max_documents=30, min_share=0.4).summary.findings == 61


def test_hostile_texts():
    documents = list(TEXTS.values())
    result = contamination(documents, [*ITEMS, *documents])
    assert len(result.keep) == len(documents)
    # A text that is long enough is found at least in itself.
    decidable = [index for index, text in enumerate(documents) if len(plain(text)) > 200]
    pairs = {(row["id"], row["test_id"]) for row in result.findings.to_pylist()}
    assert {(str(index), str(len(ITEMS) + index)) for index in decidable} <= pairs


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": "clean", "text": "The ferry leaves at nine. 渡船九点开。"},
        {"id": "english", "text": f"Q: {ENGLISH[0]}\nA: none", "n": 1.50},
        {"id": "chinese", "text": f"题目：{CHINESE[1]}答案：五十个。", "of": {"text": "x"}},
    ]
    lines = [json.dumps(row, ensure_ascii=row["id"] == "chinese") for row in rows]
    Path("in.jsonl").write_text("\n".join(lines), "utf-8")
    write("tests.jsonl", [{"question": item, "id": f"t{at}"} for at, item in enumerate(ITEMS)])
    return lines


OF_TESTS = {"test_text_field": "question"}
LONG = {"id": "long", "text": ENGLISH[0]}


def write(name, records):
    Path(name).write_text("\n".join(map(json.dumps, records)), "utf-8")


def test_files(folder):
    before = set(Path().iterdir())
    files = ["in.jsonl"], ["tests.jsonl"]
    # The report alone is written where no output is named.
    contamination_files(*files, report="found.csv", **OF_TESTS)
    assert set(Path().iterdir()) - before == {Path("found.csv")}
    assert Path("found.csv").read_text("utf-8").count("\n") >= 3
    result = contamination_files(*files, "out.jsonl", report="found.jsonl", **OF_TESTS)
    assert Path("out.jsonl").read_text("utf-8") == f"{folder[0]}\n"
    rows = [json.loads(line) for line in Path("found.jsonl").read_text("utf-8").splitlines()]
    assert rows == result.findings.to_pylist()
    assert [(row["id"], row["test_id"]) for row in rows] == [("english", "t0"), ("chinese", "t5")]
    documents = [json.loads(line)["text"] for line in folder]
    assert [row["text"] for row in rows] == [
        documents[index][row["begin"] : row["end"]] for index, row in enumerate(rows, 1)
    ]
    assert result.kept is None
    assert (result.summary.kept, result.summary.contaminated) == (1, 2)
    same = contamination(documents, ITEMS).findings
    columns = ["cover", "begin", "end", "test_begin", "test_end", "text"]
    assert same.select(columns).equals(result.findings.select(columns))


@pytest.mark.usefixtures("folder")
def test_bad_records_on_both_sides():
    for name in ("in.jsonl", "tests.jsonl"):
        with Path(name).open("ab") as file:
            file.write(b'\nnot {json}\n{"id": "no text"}\n{"text": 7, "question": 7}\n')
    result = contamination_files(["in.jsonl"], ["tests.jsonl"], "out.jsonl", **OF_TESTS)
    summary = result.summary
    assert (summary.read, summary.unreadable, summary.tests) == (6, 3, len(ITEMS) + 3)
    assert (summary.findings, summary.short) == (2, 3)
    # As in dedup, a record that cannot be read is kept.
    assert Path("out.jsonl").read_bytes().count(b"\n") == summary.kept == 4
    assert summary.problems == len(result.problems) == 6


BOTH_SIDES = "in.jsonl has both documents and test items, so all of its items are found."
SHORT = "shorter than 20 Chinese characters or 40 letters, and ignored (min_item_length=): {}."
NOTES = [
    (["in.jsonl"], "in.jsonl", [f"1 test item is {SHORT.format('clean')}", BOTH_SIDES], 2),
    (
        ["in.jsonl"],
        "short.jsonl",
        [f"30 test items are {SHORT.format(', '.join(f'q{at}' for at in range(20)) + ', ...')}"],
        1,
    ),
    (
        ["many.jsonl"],
        "long.jsonl",
        [
            "1 test item occurs only as boilerplate of more than 100 documents (max_documents=): "
            "long."
        ],
        0,
    ),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("inputs", "tests", "notes", "findings"), NOTES)
def test_notes_list_short_items_boilerplate_and_documents(inputs, tests, notes, findings):
    write("short.jsonl", [*({"id": f"q{at}", "text": "short"} for at in range(30)), LONG])
    write("many.jsonl", [{"text": f"{ENGLISH[0]} {at}"} for at in range(200)])
    write("long.jsonl", [LONG])
    progress = RecordedProgress()
    result = contamination_files(inputs, [tests], progress=progress)
    assert progress.notes == notes
    assert result.summary.findings == findings
    assert result.summary.common == (findings == 0)


def test_frames_come_back_as_they_are():
    table = pa.table({"body": [ENGLISH[0], "else"], "n": pa.array([1, 2], pa.int8())})
    result = contamination(table, pa.table({"q": ITEMS}), text_field="body", test_text_field="q")
    assert result.kept.equals(table.slice(1))
    assert result.keep.dtype == np.bool_


# Items of splits that occur in other splits.


@pytest.fixture
def splits(tmp_path):
    texts = {
        "train": [*ENGLISH[:2], "A text on the ferries of the northern islands and their crews."],
        "dev": [ENGLISH[0].upper(), "short"],
        "test": ["Question: " + ENGLISH[1].replace("baker", "cook"), ENGLISH[3]],
    }
    for name, of_split in texts.items():
        records = [{"id": f"{name}-{at}", "text": text} for at, text in enumerate(of_split)]
        write(tmp_path / f"{name}.jsonl", records)
    return {name: [tmp_path / f"{name}.jsonl"] for name in texts}


def test_each_split_in_each_other(splits, tmp_path):
    report = tmp_path / "leaks.jsonl"
    result = contamination_files(splits, report=report)
    for pair in result.splits:
        assert pair["found"] == ("train" in (pair["split"], pair["other"]))
        if pair["split"] == "dev":
            assert (pair["items"], pair["short"]) == (1, 1)
    assert len({(pair["split"], pair["other"]) for pair in result.splits}) == 6
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert lines == result.findings.to_pylist()
    pairs = {(line["split"], line["test_id"], line["other"], line["id"]) for line in lines}
    assert ("dev", "dev-0", "train", "train-0") in pairs
    assert result.keep.tolist() == [False, False, True, False, True, False, True]
    summary = result.summary
    assert (summary.read, summary.contaminated, summary.tests, summary.short) == (7, 4, 7, 1)
    assert (summary.tests_found, summary.findings) == (4, len(lines))


@pytest.mark.parametrize("piped", ["train", "dev", "test"])
def test_a_split_from_standard_input_is_as_from_a_file(splits, piped, monkeypatch):
    from_files = contamination_files(splits)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(splits[piped][0].read_bytes())))
    assert contamination_files({**splits, piped: ["-"]}).splits == from_files.splits


@pytest.mark.parametrize(
    ("content", "problems"), [("", 1), (json.dumps({"text": "short"}), 0), ("{no JSON\n{none", 2)]
)
def test_split_without_items_has_no_findings(splits, content, problems, tmp_path):
    (tmp_path / "dev.jsonl").write_text(content)
    result = contamination_files(splits)
    rows = [pair for pair in result.splits if "dev" in (pair["split"], pair["other"])]
    assert [pair["found"] for pair in rows] == [0] * 4
    assert [pair["items"] for pair in rows if pair["split"] == "dev"] == [0, 0]
    # Each problem counts once, however often the split is read.
    assert result.summary.problems == problems


@pytest.mark.parametrize("options", [{"text_field": "body"}, {"test_text_field": "question"}])
def test_items_are_in_the_text_field_unless_another_is_named(tmp_path, options):
    splits = {}
    for name in ("train", "test"):
        texts = ("question", ENGLISH[0]), ("body", ENGLISH[0]), ("text", "Ask: " + ENGLISH[0])
        splits[name] = [tmp_path / f"{name}.jsonl"]
        splits[name][0].write_text(json.dumps(dict(texts)))
    result = contamination_files(splits, **options)
    assert [pair["found"] for pair in result.splits] == [1, 1]
    begin = 0 if "text_field" in options else len("Ask: ")
    assert result.findings["begin"].to_pylist() == [begin, begin]


def test_invalid_splits_are_refused(splits, tmp_path):
    with pytest.raises(ParameterError, match=r"'inputs' .* standard input .* 2 times"):
        contamination_files({**splits, "train": ["-"], "dev": ["-"]})
    with pytest.raises(ParameterError, match=r"must be at least two\. Got 'train' instead"):
        contamination_files({"train": splits["train"]})
    for name in ("tests", "output"):
        with pytest.raises(ParameterError, match=f"'{name}' .* left out for splits"):
            contamination_files(splits, **{name: [tmp_path / "a.jsonl"]})
    report = tmp_path / "leaks.jsonl"
    with pytest.raises(InputError, match=r"none\.jsonl: no such file"):
        contamination_files({**splits, "none": [tmp_path / "none.jsonl"]}, report=report)
    assert not report.exists()
