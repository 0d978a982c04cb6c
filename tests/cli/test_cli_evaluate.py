"""``neardup evaluate``: the examples that the project carries, options, exit codes."""

import json
import sys
from pathlib import Path

import pytest
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples" / "evaluate"
PAIRS = (EXAMPLES / "documents.jsonl", "--truth", EXAMPLES / "pairs.tsv")


def test_pairs(run, files):
    found = run("evaluate", "pairs", *PAIRS, "-o", "out", "--recipes", "classic, characters")
    advice, usual, best, *rows = found.out.splitlines()
    assert advice.startswith("Stay with the default")
    assert usual.startswith("Your labels: the default (general: content(5)")
    assert "--recipe classic --max-distance 8" in best
    names = [row.split()[0] for row in rows if row]
    assert {"default", "best,", "measure", "classic", "characters", "aligned"} <= set(names)
    assert found.err.splitlines() == [
        "neardup: the report is out/report.md",
        "neardup: the errors side by side are out/errors.html",
    ]
    assert "out/errors.html" in files()
    assert "out/report.md" in files()
    assert "out/measures.svg" in files()


def test_pairs_as_json(run):
    found = run("evaluate", "pairs", *PAIRS, "--recipes", "general", "--json")
    result = json.loads(found.out)
    assert result["verdict"]["advised"] == "default"
    assert len(result["pairs"]) == 15
    assert result["pairs"][0]["why"]


def test_the_page_of_errors_is_in_the_language_asked_for(run):
    words = ["evaluate", "pairs", *PAIRS, "--recipes", "general", "-q"]
    for language, said in (("zh", "漏判的重复：1 对"), ("en", "Missed duplicates: 1")):
        run(*words, "-o", language, "--language", language)
        assert said in Path(language, "errors.html").read_text("utf-8")


def test_pairs_of_a_csv_and_other_fields(run):
    Path("d.csv").write_text("key,body\n1,第一段文字。\n2,第一段文字！\n3,另外一段。\n", "utf-8")
    Path("p.csv").write_text("id_a,id_b,label\n1,2,1\n1,3,0\n", "utf-8")
    words = ["evaluate", "pairs", "d.csv", "--truth", "p.csv", "--id-field", "key"]
    found = run(*words, "-o", "out", "--recipes", "classic", "-q")
    assert (found.out, found.err) == ("", "")
    assert Path("out/pairs.csv").read_text("utf-8").startswith("id_a,id_b,label")


def test_published(run):
    options = ["--methods", "classic,characters", "--sizes", "10,20"]
    edits = ["--copies", "edits", "--rate", "0.05"]
    found = run("evaluate", "published", EXAMPLES / "topics", "-o", "out", *options, *edits)
    verdict, first, rows, _ = (part.splitlines() for part in found.out.split("\n\n"))
    assert verdict[0].startswith("Best on these copies: characters, F1 ")
    names = [row.split()[0] for row in first[2:8]]
    assert names == ["Shingle,"] * 2 + ["traditional,"] * 2 + ["improved,", "improved"]
    assert [row.split()[0] for row in rows[2:]] == ["classic", "characters"] * 2
    assert found.err == "neardup: the report is out/report.md\n"
    sizes = Path("out/sizes.csv").read_text("utf-8").splitlines()
    assert [row.split(",")[2] for row in sizes[1:4]] == ["10", "20", "36"]
    assert "5% of the characters edited" in Path("out/report.md").read_text("utf-8")


@pytest.mark.parametrize(
    "command",
    [
        ("pairs", *PAIRS, "--recipes", "classic"),
        ("published", EXAMPLES / "topics", "--methods", "classic", "--sizes", "20"),
    ],
)
def test_without_output_the_table_alone(run, files, command):
    before = files()
    found = run("evaluate", *command)
    assert "classic" in found.out
    assert found.err == ""
    assert files() == before


def test_results_are_replaced_only_by_force(run, files):
    Path("out").mkdir()
    Path("out/report.md").write_text("mine", "utf-8")
    found = run("evaluate", "pairs", *PAIRS, "-o", "out", code=2)
    assert "--force" in found.err
    assert files() == ["in.jsonl", "out/report.md"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pairs", "in.jsonl", "-o", "out"), "--truth"),
        (("pairs", "in.jsonl", "--truth", "in.jsonl", "-o", "out"), "must name the columns"),
        (("published", ".", "-o", "out"), "at least two documents"),
        (("published", ".", "-o", "out", "--sizes", "1k"), "--sizes must be whole"),
        (("published", ".", "-o", "out", "--methods", "best"), "--methods"),
        (
            ("published", ".", "--copies", "edits", "--rate", "0.9"),
            "--rate must be a number",
        ),
        (("published", ".", "--rate", "0.05"), "--rate must be left out unless --copies edits"),
        (("published", ".", "--copies", "quotes"), "--copies must be"),
        (("nothing",), "has no command nothing"),
    ],
)
def test_what_is_refused(run, files, words, said):
    Path("in.jsonl").write_text('{"id": "a", "text": "b"}\n', "utf-8")
    found = run("evaluate", *words, code=2)
    assert said in found.err
    assert files() == ["in.jsonl"]


def test_a_bad_record_is_told_and_the_rest_evaluated(run):
    Path("more.jsonl").write_text('{"id": "x", "text": 7}\n', "utf-8")
    docs, *truth = PAIRS
    words = ["evaluate", "pairs", docs, "more.jsonl", *truth, "-o", "out", "--recipes", "classic"]
    found = run(*words, code=2)
    assert "more.jsonl: record 1, field 'text': must be text" in found.err
    assert Path("out/report.md").exists()


def test_a_missing_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = run("evaluate", "published", EXAMPLES / "topics", "-o", "out", code=2)
    assert "pip install 'neardup[lab]'" in found.err
