"""``neardup evaluate``: outputs, options and exit codes. The guide has its first lines."""

import csv
import io
from pathlib import Path

import pytest
from tests.cli.conftest import EXAMPLES, few_topics

pytestmark = pytest.mark.slow

PAIRS = (EXAMPLES / "documents.jsonl", "--truth", EXAMPLES / "pairs.tsv", "--recipes", "classic")


def test_pairs_are_reported_and_a_report_is_replaced_only_by_force(run, files):
    words = ("evaluate", "pairs", *PAIRS, "-o", "out")
    found = run(*words)
    _, default, best, *rows = found.out.splitlines()
    assert ("general" in default, "--recipe classic" in best) == (True, True)
    assert {"default", "best,", "measure", "classic"} <= {row.split()[0] for row in rows if row}
    assert rows[-1].split()[:3] == ["missed", "clinic", "clinic-edited"]
    assert found.err.count("out/report.md") == files().count("out/report.md") == 1
    assert len(Path("out/pairs.csv").read_text("utf-8").splitlines()) == 16
    Path("out/report.md").write_text("mine", "utf-8")
    assert "--force" in run(*words, code=2).err
    assert Path("out/report.md").read_text("utf-8") == "mine"
    result = run(*words, "--force", "--quiet")
    assert result.out == result.err == ""
    assert "\n- Mistakes at " in Path("out/report.md").read_text("utf-8")


def test_published(run):
    few_topics(Path("topics"))
    options = ["--recipes", "keywords,characters", "--sizes", "20,40"]
    edits = ["--copies", "edits", "--rate", "0.05"]
    result = run("evaluate", "published", "topics", "-o", "out", *options, *edits)
    verdict, table, findings, *_ = (part.splitlines() for part in result.out.split("\n\n"))
    assert verdict[0].startswith("Best on these copies: characters ≥ ")
    assert [row.split()[0] for row in table[-3:]] == ["improved", "keywords", "characters"]
    assert len(findings) == 6
    runs = csv.DictReader(io.StringIO(Path("out/runs.csv").read_text("utf-8-sig")))
    assert {row["documents"] for row in runs} == {"20", "40", "144"}
    assert "Edited characters: 5% of each text." in Path("out/report.md").read_text("utf-8")


def test_the_shipped_topics_are_enough_for_the_papers_figures(run):
    """The texts are made by a program, so the other results need not be reproduced."""
    result = run("evaluate", "published", EXAMPLES / "topics", "--sizes", "200", "-q")
    assert "copies are few" not in result.out
    # As the guide says.
    figures = "the precision of 0.953 and the recall of 0.940 of improved: here 1.000 and 0.940"
    assert f"\nReproduced: {figures} by topic" in result.out


@pytest.mark.parametrize(
    "command",
    [
        ("pairs", *PAIRS),
        ("pairs", *PAIRS, "--quiet"),
        ("published", "topics", "--recipes", "classic", "--sizes", "20", "--quiet"),
    ],
)
def test_command_without_an_output_prints_the_result(run, files, command):
    few_topics(Path("topics"))
    before = files()
    result = run("evaluate", *command)
    assert ("classic" in result.out, result.err) == (True, "")
    assert files() == before


def test_a_bad_record_is_told_and_the_rest_evaluated(run):
    Path("more.jsonl").write_text('{"id": "x", "text": 7}\n', "utf-8")
    result = run("evaluate", "pairs", "more.jsonl", *PAIRS, "-o", "out", code=2)
    assert "more.jsonl: record 1, field 'text': must be text" in result.err
    assert Path("out/report.md").exists()
