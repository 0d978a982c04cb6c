"""What the commands write and print, and their exit codes."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import needs
from tests.cli.conftest import LINES, A, B, table

from neardup import load_recipe
from neardup.readers.formats import list_known
from neardup.recipe.assets import compiled

LETTERS = sum(map(str.isalnum, compiled(load_recipe("characters")).normalize(A)))


def write(**texts):
    for name, text in texts.items():
        Path(f"{name}.txt").write_bytes(text.encode() if isinstance(text, str) else text)


@pytest.mark.parametrize("arguments", [["a.txt", "b.txt"], ["a.txt", "-"], ["-", "b.txt"]])
def test_compare_reads_files_and_standard_input(run, arguments):
    write(a=A, b=A + "吧")
    stdin = (A if arguments[0] == "-" else A + "吧").encode()
    # The one output that is replaced unasked: scripts call it again and again.
    for more in ([], ["--json"]):
        words = [*arguments, "out.txt", "--recipe", "characters", *more]
        out = run("compare", *words, stdin=stdin).out
    measures = json.loads(out)
    assert measures["similarity"] == measures["resemblance"] == (LETTERS - 4) / (LETTERS - 3)
    assert Path("out.txt").read_bytes() == f"{measures['similarity']:.2f}\n".encode()


@pytest.mark.parametrize("options", [[], ["--passages"], ["--json", "-p"], ["-r", "characters"]])
def test_compare_strips_markup_from_all_output(run, options):
    """The same as of texts that have none; only the recipe is another."""
    marked = f"{A[:9]}<b>{A[9:12]}</b>{A[12:]}<i>票价</i>12&nbsp;元 &amp; 免费"
    write(a=marked, b=f"{A}票价10\xa0元 & 免费", plain=f"{A}票价12\xa0元 & 免费")
    words = ["b.txt", "--strip-markup", *options]
    result = run("compare", "a.txt", *words).out
    assert result == run("compare", "plain.txt", *words).out
    if "--passages" in options:
        assert "12 -> 10" in result
        assert "differences  1\n" in result


TAGGED = "渡轮/n 停靠/v 码头/n 旅客/n 换乘/v 渡轮/n"
OTHER = "渡轮/n 停航/v 三/m 天/q 旅客/n 改乘/v 汽车/n"


@pytest.mark.parametrize(
    ("a", "b", "words", "printed"),
    [
        (TAGGED, TAGGED, "-r bkdr", "相似度为1.0,超过阈值0.5,所以新闻1与新闻2是相似的"),
        # The typed threshold must be exceeded.
        (TAGGED, OTHER, "-r bkdr -t 0.84", "相似度为0.84375,超过阈值0.84,所以新闻1与新闻2是相似的"),
        (
            TAGGED,
            OTHER,
            "-r bkdr -t .84375",
            "相似度为0.84375,小于阈值0.84375,所以新闻1与新闻2不是相似的",
        ),
        (TAGGED, OTHER, "-r bkdr -d 3", "相似度为0.84375,小于阈值0.875,所以新闻1与新闻2不是相似的"),
        ("一二三四五六", "一二三四五", "", "两篇文章(a.txt & b.txt)\n相似率为：0.83"),
    ],
)
def test_compare_prints_the_lines_of_the_original_program(run, a, b, words, printed):
    """docs/guide/sources.md has the others."""
    write(a=a, b=b)
    out = run("compare", "a.txt", "b.txt", *words.split(), "--format", "source").out
    assert out == f"{printed}\n"


@pytest.mark.parametrize(
    ("text", "reason"), [(A, "has no words with tags"), ("", "must contain text")]
)
def test_no_answer_about_an_unreadable_text(run, text, reason):
    """0.00 would look like a result."""
    write(a=TAGGED, b=text)
    error = run("compare", "a.txt", "b.txt", "out.txt", "-r", "bkdr", code=2).err
    assert error.startswith(f"neardup: b.txt: {reason}")
    assert not Path("out.txt").exists()
    assert run("explain", "b.txt", "-r", "bkdr", code=2).err.startswith("neardup: b.txt: ")


def test_compare_names_an_empty_text(run):
    write(a=A, b=" \n", empty="")
    for names, side in (("ab", "B"), ("ba", "A")):
        out = run("compare", *(f"{name}.txt" for name in names)).out
        assert f"Not duplicates: there is no text in {side}." in out
    words = ("compare", "a.txt", "empty.txt", "-r", "news", "--format", "source")
    assert "a.txt, empty.txt: a text without words" in run(*words, code=2).err


def test_incomparable_texts_are_reported(run):
    note = "This recipe finds nothing to compare in 4 texts"
    assert note in run("dedup", "in.jsonl", "-o", "kept.jsonl", "-r", "bkdr").err
    assert note not in run("dedup", "in.jsonl", "-o", "kept.jsonl", "-f", "-r", "news").err


@pytest.mark.parametrize(
    ("a", "b", "words", "answer"),
    [
        (A, A, "", "1.00"),
        (A, B, "", "0.06"),
        (A, "", "", "0.00"),
        (" \n", "", "", "0.00"),
        (" \n", " \n", "", "1.00"),
        # The edits, unless the command line says what decides, be it the default.
        (A, f"{A}{A[:12]}", "", "0.72"),
        (A, f"{A}{A[:12]}", "-r general", "0.00"),
        (A, f"{A}{A[:12]}", "--recipe=general", "0.00"),
        (A, f"{A}{A[:12]}", "-t 0.45", "0.00"),
        # Format and encoding are detected, or all bytes are text of the encoding.
        (A.encode("gb18030"), f"<!doctype html><p>{A}</p>", "", "1.00"),
        *(
            ("一二三四五".encode(name), "一二三四五六".encode(name), f"--encoding {name}", "0.83")
            for name in ("gb18030", "utf-16")
        ),
    ],
    ids=range(12),
)
def test_compare_writes_one_number(run, a, b, words, answer):
    write(a=a, b=b)
    result = run("compare", "a.txt", "b.txt", "out.txt", *words.split())
    assert Path("out.txt").read_text("ascii") == f"{answer}\n"
    assert ("read as gb18030 (likely)" in result.err) == (not words and isinstance(a, bytes))


def test_recipes(run):
    rows = table(run("recipes").out)
    assert {"general", "aligned", "classic", "improved", "minhash", "news", "bkdr"} < set(rows)
    # Other sketches than fingerprints have no width.
    without_bits = "general strict containment aligned shingle shingle-sample minhash"
    assert {name for name, row in rows.items() if " bits " not in row} == {*without_bits.split()}
    printed = run("recipes", "improved").out
    Path("mine.toml").write_text(printed, "utf-8")
    assert run("recipes", "mine.toml").out == printed


def test_the_words_of_lists(run):
    printed = run("recipes", "--words", "stop_words").out
    assert {"的", "the"} < set(printed.splitlines())
    # They are a list of one's own as they are printed.
    Path("own.txt").write_text(printed + "渡轮\n", "utf-8")
    Path("mine.toml").write_text('[weigh]\nstop_words = "own.txt"\n', "utf-8")
    assert run("recipes", "mine.toml", "--words", "stop_words").out == printed + "渡轮\n"
    assert "总之" in run("recipes", "improved", "--words", "markers").out.splitlines()
    assert run("recipes", "--words", "user_dictionary").out == ""
    error = run("recipes", "--words", "stopwords", code=2).err
    assert "--words must be one of user_dictionary, stop_words, markers" in error


@pytest.mark.parametrize("command", ["dedup", "pairs"])
def test_the_exit_code_tells_duplicates_and_errors_before_them(run, command):
    words = (command, "in.jsonl", "-o", "out.jsonl", "--force")
    run(*words)
    run(*words, "--fail-on-duplicates", code=1)
    run(*words, "--fail-on-duplicates", "--max-distance", "0", "-r", "news", code=1)
    Path("in.jsonl").write_text(f'{{"text": "{A}"}}\n{{"text": "{B}"}}\n', "utf-8")
    run(*words, "--fail-on-duplicates")
    Path("in.jsonl").write_text(LINES + "oops\n", "utf-8")
    run(*words, "--fail-on-duplicates", code=2)


FOUR = "normalize, segment, weigh, sketch"


@pytest.mark.parametrize(
    ("words", "stages"),
    [
        ("dedup in.jsonl -o k.csv", ["read and sketch", "candidates, verify, cluster", "write"]),
        ("compare in.txt in.txt", ["read", FOUR, "align", "verify"]),
        ("compare in.txt in.txt --passages", ["read", FOUR, "align", "verify"]),
    ],
)
def test_report_has_counts_settings_and_costs_of_each_stage(run, words, stages):
    Path("in.txt").write_text(A, "utf-8")
    run(*words.split(), "--report", "report.json")
    report = json.loads(Path("report.json").read_text("utf-8"))
    costs = report.get("summary", report)
    assert list(costs["stages"]) == list(costs["stage_memory"]) == stages
    assert 0 < sum(costs["stages"].values()) <= costs["seconds"]
    assert min(costs["stage_memory"].values()) > 0
    if "summary" in report:
        parts = "summary settings recipe plan problems notes versions"
        assert set(report) == {*parts.split()}
        counts = ("read", "exact_duplicates", "near_duplicates", "kept", "unreadable", "problems")
        assert [costs[name] for name in counts] == [4, 1, 1, 2, 0, 0]
        assert report["settings"]["inputs"] == ["in.jsonl"]
        assert (report["recipe"]["name"], report["plan"]["threshold"]) == ("general", 0.4)


def git(*words):
    subprocess.run(["git", *words], check=True, capture_output=True)


def add(texts):
    """Write files, and add them to the repository."""
    for name, text in texts.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    git("add", *texts)


@pytest.mark.skipif(shutil.which("git") is None, reason=needs.GIT)
def test_commit_hook_finds_copies_among_added_files(run):
    hook = Path(__file__).parents[2].joinpath(".pre-commit-hooks.yaml").read_text()
    entry, arguments, files = (
        re.search(rf"^  {name}: (.*)$", hook, re.M)[1] for name in ("entry", "args", "files")
    )
    for name in str(list_known()).split(" (")[0].split(", "):
        assert all(re.search(files.strip("'"), f"a{name}{more}") for more in ("", ".gz", ".zst"))
    assert not re.search(files.strip("'"), "a.py")
    program, *words = [*shlex.split(entry), *json.loads(arguments)]
    assert program == "neardup"
    run(*words, code=2)
    git("init")
    add({"broken.docx": "PK\3\4"})
    # That nothing could be compared is no success.
    assert "broken.docx" in run(*words, code=2).err
    git("rm", "-f", "broken.docx")
    # Equal files without text, of settings, and copies that are links or not added.
    package = '{\n  "name": "notes",\n  "private": true\n}\n'
    add(dict.fromkeys(["docs/empty.md", "docs/empty2.md"], ""))
    add(dict.fromkeys(["docs/blank.md", "docs/blank2.md"], "\n"))
    add({"package.json": package, "data/package.json": package})
    add({".gitignore": "node_modules\n", "data/counts.csv": "name,count\na,1\n"})
    assert run(*words).out == ""
    notes = f"# Notes\n\n{A}{B}\n"
    add({"docs/a.md": notes})
    Path("node_modules").mkdir()
    for name in ("node_modules/a.md", "docs/not_added.md"):
        Path(name).write_text(notes)
    os.symlink("a.md", "docs/link.md")
    git("add", "docs/link.md")
    assert run(*words).out == ""
    rows = '{{"id": "7", "text": "An unrelated line of {}."}}\n{{"id": "8", "text": "{}"}}\n'
    add({f"data/{name}.jsonl": rows.format(name, A + A[::-1]) for name in ("one", "two")})
    add({"docs/b.md": notes.replace("Notes", "Minutes")})
    pairs = [json.loads(line) for line in run(*words, code=1).out.splitlines()]
    assert [(pair["id_a"], pair["id_b"]) for pair in pairs] == [
        ("data/one.jsonl:2", "data/two.jsonl:2"),
        ("docs/a.md", "docs/b.md"),
    ]
    (pair,) = map(json.loads, run(*words[:-1], "docs", code=1).out.splitlines())
    assert pair["id_a"] == "docs/a.md"
    error = run(*words, "-o", "docs/a.md", "-f", code=2).err
    assert "docs/a.md: must not be both input and output" in error
    assert Path("docs/a.md").read_text() == notes
    action = Path(__file__).parents[2].joinpath("action.yml").read_text()
    assert f"run: {entry} $ARGUMENTS $PATHS" in action
