"""Messages of the command line in English and Chinese; results are the same in both."""

import json
from pathlib import Path

import pytest

RECORDS = [
    {"id": "a", "text": "今天天气很好，我们去公园散步，看见了很多花。"},
    {"id": "b", "text": "今天天气很好，我们去公园散步，看见了很多花。"},
    {"id": "c", "text": 3},
]


@pytest.fixture
def dedup(run):
    """Remove the duplicates of three records and a line that is none."""
    lines = [json.dumps(record, ensure_ascii=False) for record in RECORDS]
    Path("a.jsonl").write_text("\n".join([*lines, "nope"]), "utf-8")

    def dedup_in(*language):
        found = run(*language, "dedup", "a.jsonl", "-o", "out.jsonl", "-f", code=2)
        return found.err, Path("out.jsonl").read_bytes()

    return dedup_in


def test_the_same_results_in_both_languages(dedup):
    english, kept = dedup()
    chinese, again = dedup("--language", "zh")
    assert kept == again
    assert "field 'text': must be text. Got 3 instead." in english
    assert "exact duplicates             1  same text" in english
    assert "第 3 条记录的字段“text”" in chinese
    assert "完全重复             1  文本相同" in chinese
    assert "must" not in chinese


def test_the_environment_names_the_language(dedup, monkeypatch):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "完全重复" in dedup()[0]
    assert "exact duplicates" in dedup("--language", "en")[0]


def test_errors_in_chinese(run):
    missing = run("--language", "zh", "dedup", "nosuch.jsonl", "-o", "out.jsonl", code=2)
    assert missing.err.startswith("neardup: nosuch.jsonl：")
    wrong = run("--language", "zh", "dedup", "in.jsonl", "-o", "o.jsonl", "-t", "80", code=2)
    assert "应为" in wrong.err


def test_a_language_that_is_none(run):
    found = run("--language", "fr", "recipes", code=2)
    assert found.err == ("neardup: --language must be one of zh, en. Got 'fr' instead.\n")
