"""Items of splits that occur in other splits."""

import io
import json
import sys
from pathlib import Path

import pytest

from neardup import contamination_files
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
    result = contamination_files(splits, report=report)
    found = {(pair["split"], pair["other"]): pair["found"] for pair in result.splits}
    assert found == {
        ("train", "dev"): 1,
        ("train", "test"): 1,
        ("dev", "train"): 1,
        ("dev", "test"): 0,
        ("test", "train"): 1,
        ("test", "dev"): 0,
    }
    assert [(pair["items"], pair["short"]) for pair in result.splits if pair["split"] == "dev"] == [
        (1, 1)
    ] * 2
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert lines == result.findings.to_pylist()
    pairs = {(line["split"], line["test_id"], line["other"], line["id"]) for line in lines}
    assert ("dev", "dev-0", "train", "train-0") in pairs
    assert result.keep.tolist() == [False, False, True, False, True, False, True]
    summary = result.summary
    assert (summary.read, summary.contaminated, summary.tests, summary.short) == (7, 4, 7, 1)
    assert (summary.tests_found, summary.findings) == (4, len(lines))


class StandardInput:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("piped", ["train", "dev", "test"])
def test_a_split_from_standard_input_is_as_from_a_file(splits, piped, monkeypatch):
    from_files = contamination_files(splits)
    monkeypatch.setattr(sys, "stdin", StandardInput(splits[piped][0].read_bytes()))
    assert contamination_files({**splits, piped: ["-"]}).splits == from_files.splits


def test_standard_input_is_one_split(splits):
    with pytest.raises(ParameterError, match=r"'inputs' .* standard input") as caught:
        contamination_files({**splits, "train": ["-"], "dev": ["-"]})
    assert caught.value.values["times"] == 2


@pytest.mark.parametrize("content", ["", json.dumps({"text": "short"})])
def test_a_split_without_items_has_none_that_occur(splits, content, tmp_path):
    (tmp_path / "dev.jsonl").write_text(content)
    result = contamination_files(splits)
    rows = [pair for pair in result.splits if "dev" in (pair["split"], pair["other"])]
    assert [pair["found"] for pair in rows] == [0] * 4
    assert [pair["items"] for pair in rows if pair["split"] == "dev"] == [0, 0]
    assert result.summary.problems == (not content)


def test_a_problem_of_a_split_counts_once(splits):
    path = Path(splits["train"][0])
    path.write_text(path.read_text() + "\n{no JSON\n{none either\n")
    assert contamination_files(splits).summary.problems == 2


@pytest.mark.parametrize("options", [{"text_field": "body"}, {"test_text_field": "question"}])
def test_items_are_in_the_text_field_unless_another_is_named(tmp_path, options):
    splits = {}
    for name in ("train", "test"):
        texts = ("question", QUESTIONS[0]), ("body", QUESTIONS[0]), ("text", "Ask: " + QUESTIONS[0])
        splits[name] = [tmp_path / f"{name}.jsonl"]
        splits[name][0].write_text(json.dumps(dict(texts)))
    result = contamination_files(splits, **options)
    assert [pair["found"] for pair in result.splits] == [1, 1]
    begin = 0 if "text_field" in options else len("Ask: ")
    assert result.findings["begin"].to_pylist() == [begin, begin]


def test_invalid_splits_are_refused(splits, tmp_path):
    with pytest.raises(ParameterError, match=r"must be at least two\. Got 'train' instead"):
        contamination_files({"train": splits["train"]})
    for name in ("tests", "output"):
        with pytest.raises(ParameterError, match=f"'{name}' .* left out for splits"):
            contamination_files(splits, **{name: [tmp_path / "a.jsonl"]})
    report = tmp_path / "leaks.jsonl"
    with pytest.raises(InputError):
        contamination_files({**splits, "none": [tmp_path / "none.jsonl"]}, report=report)
    assert not report.exists()
