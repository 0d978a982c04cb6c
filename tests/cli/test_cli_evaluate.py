"""``neardup evaluate``: the examples that the project carries, options, exit codes."""

import csv
import io
import json
from pathlib import Path

import pytest
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples" / "evaluate"
PAIRS = (EXAMPLES / "documents.jsonl", "--truth", EXAMPLES / "pairs.tsv")


def test_pairs(run, files):
    words = ("evaluate", "pairs", *PAIRS, "--recipes", "classic, characters")
    found = run(*words, "-o", "out")
    advice, usual, best, *rows = found.out.splitlines()
    assert advice.startswith("Stay with the default")
    assert "general" in usual
    assert "--recipe classic --max-distance 8" in best
    names = [row.split()[0] for row in rows if row]
    assert {"default", "best,", "measure", "classic", "characters", "aligned"} <= set(names)
    for name in ("out/report.md", "out/errors.html"):
        assert found.err.count(name) == files().count(name) == 1
    result = json.loads(run(*words, "--json", "-o", "zh", "--language", "zh").out)
    assert '<html lang="zh' in Path("zh/errors.html").read_text("utf-8")
    assert result["verdict"]["advised"] == "default"
    assert len(result["pairs"]) == 15


def test_published(run):
    options = ["--recipes", "classic,characters", "--sizes", "10,20"]
    edits = ["--copies", "edits", "--rate", "0.05"]
    result = run("evaluate", "published", EXAMPLES / "topics", "-o", "out", *options, *edits)
    verdict, _, rows = (part.splitlines() for part in result.out.split("\n\n"))
    assert verdict[0].startswith("Best on these copies: characters, F1 ")
    assert [row.split()[0] for row in rows[2:]] == ["classic", "characters"] * 2
    runs = csv.DictReader(io.StringIO(Path("out/runs.csv").read_text("utf-8")))
    assert {row["documents"] for row in runs} == {"10", "20", "36"}
    assert "5% of the characters edited" in Path("out/report.md").read_text("utf-8")


@pytest.mark.parametrize(
    "command",
    [
        ("pairs", *PAIRS, "--recipes", "classic"),
        ("published", EXAMPLES / "topics", "--recipes", "classic", "--sizes", "20"),
    ],
)
def test_without_output_the_table_alone(run, files, command):
    before = files()
    result = run("evaluate", *command)
    assert "classic" in result.out
    assert result.err == ""
    assert files() == before


def test_results_are_replaced_only_by_force(run, files):
    Path("out").mkdir()
    Path("out/report.md").write_text("mine", "utf-8")
    result = run("evaluate", "pairs", *PAIRS, "-o", "out", code=2)
    assert "--force" in result.err
    assert files() == ["in.jsonl", "out/report.md"]


def test_a_bad_record_is_told_and_the_rest_evaluated(run):
    Path("more.jsonl").write_text('{"id": "x", "text": 7}\n', "utf-8")
    docs, *truth = PAIRS
    words = ["evaluate", "pairs", docs, "more.jsonl", *truth, "-o", "out", "--recipes", "classic"]
    result = run(*words, code=2)
    assert "more.jsonl: record 1, field 'text': must be text" in result.err
    assert Path("out/report.md").exists()
