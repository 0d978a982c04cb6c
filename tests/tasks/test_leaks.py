"""Items of splits that occur in other splits."""

import json

import pytest

import neardup
from neardup.exceptions import InputError, ParameterError

QUESTIONS = [
    "Which of these rivers flows through three capitals on its way to the sea?",
    "Who of the following wrote a play about a ferryman and his seven daughters?",
    "In what year did the council of the harbour decide to build a second lighthouse?",
    "How many grams of salt does a litre of water from the northern bay contain?",
]


@pytest.fixture
def splits(tmp_path):
    texts = {
        "train": [*QUESTIONS[:2], "A text on the ferries of the northern islands and their crews."],
        "dev": [QUESTIONS[0].upper(), "short"],
        "test": ["Question: " + QUESTIONS[1].replace("seven", "eight"), QUESTIONS[3]],
    }
    for name, of_split in texts.items():
        records = [{"id": f"{name}-{at}", "text": text} for at, text in enumerate(of_split)]
        lines = map(json.dumps, records)
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    return {name: [tmp_path / f"{name}.jsonl"] for name in texts}


def test_each_split_in_each_other(splits, tmp_path):
    report = tmp_path / "leaks.jsonl"
    leaks = neardup.split_leaks(splits, report)
    found = {(pair["split"], pair["other"]): pair["found"] for pair in leaks.counts}
    assert found == {
        ("train", "dev"): 1,
        ("train", "test"): 1,
        ("dev", "train"): 1,
        ("dev", "test"): 0,
        ("test", "train"): 1,
        ("test", "dev"): 0,
    }
    assert [(pair["items"], pair["short"]) for pair in leaks.counts if pair["split"] == "dev"] == [
        (1, 1)
    ] * 2
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert lines == leaks.findings.to_pylist()
    pairs = {(line["split"], line["test_id"], line["other"], line["id"]) for line in lines}
    assert ("dev", "dev-0", "train", "train-0") in pairs


def test_what_is_no_split(splits, tmp_path):
    with pytest.raises(ParameterError):
        neardup.split_leaks({"train": splits["train"]})
    report = tmp_path / "leaks.jsonl"
    with pytest.raises(InputError):
        neardup.split_leaks({**splits, "none": [tmp_path / "none.jsonl"]}, report)
    assert not report.exists()
