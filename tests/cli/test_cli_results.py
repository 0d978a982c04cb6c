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


@pytest.mark.parametrize("arguments", [["a.txt", "b.txt"], ["a.txt", "-"], ["-", "b.txt"]])
def test_compare(run, arguments):
    texts = {"a.txt": A, "b.txt": A + "吧"}
    for name, text in texts.items():
        Path(name).write_text(text, "utf-8")
    missing = next((name for name in texts if name not in arguments), "a.txt")
    options = ["out.txt", "--recipe", "characters"]
    result = run("compare", *arguments, *options, "--json", stdin=texts[missing].encode())
    measures = json.loads(result.out)
    assert measures["similarity"] == measures["resemblance"] == (LETTERS - 4) / (LETTERS - 3)
    assert Path("out.txt").read_bytes() == f"{measures['similarity']:.2f}\n".encode()
    # The one output that is replaced unasked: scripts call it again and again.
    run("compare", *arguments, *options, stdin=texts[missing].encode())


@pytest.mark.parametrize("options", [[], ["--passages"], ["--json", "-p"], ["-r", "characters"]])
def test_compare_strips_markup_from_all_output(run, options):
    """The same as of texts that have none; only the recipe is another."""
    marked = f"{A[:9]}<b>{A[9:12]}</b>{A[12:]}<i>票价</i>12&nbsp;元 &amp; 免费"
    Path("a.txt").write_text(marked, "utf-8")
    Path("b.txt").write_text(f"{A}票价10\xa0元 & 免费", "utf-8")
    Path("plain.txt").write_text(f"{A}票价12\xa0元 & 免费", "utf-8")
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
        (TAGGED, OTHER, "-r bkdr", "相似度为0.84375,超过阈值0.5,所以新闻1与新闻2是相似的"),
        (TAGGED, TAGGED, "-r bkdr", "相似度为1.0,超过阈值0.5,所以新闻1与新闻2是相似的"),
        # The typed threshold, which must be exceeded.
        *(
            (TAGGED, OTHER, f"-r bkdr -t {typed}", f"相似度为0.84375,{sentence}")
            for typed, sentence in (
                ("0.84", "超过阈值0.84,所以新闻1与新闻2是相似的"),
                ("0.84375", "小于阈值0.84375,所以新闻1与新闻2不是相似的"),
                (".90", "小于阈值0.9,所以新闻1与新闻2不是相似的"),
            )
        ),
        (TAGGED, OTHER, "-r bkdr --bits 8", "相似度为0.875,超过阈值0.5,所以新闻1与新闻2是相似的"),
        (TAGGED, OTHER, "-r bkdr --bits 5", "相似度为1.0,超过阈值0.5,所以新闻1与新闻2是相似的"),
        (TAGGED, OTHER, "-r bkdr -d 3", "相似度为0.84375,小于阈值0.875,所以新闻1与新闻2不是相似的"),
        ("灯塔", "灯塔", "-r keywords", "两篇文章(a.txt & b.txt)\n相似率为：1.0"),
        ("一二三四五六", "一二三四五", "", "两篇文章(a.txt & b.txt)\n相似率为：0.83"),
    ],
)
def test_compare_prints_the_lines_of_the_original_program(run, a, b, words, printed):
    for name, text in (("a.txt", a), ("b.txt", b)):
        Path(name).write_text(text, "utf-8")
    out = run("compare", "a.txt", "b.txt", *words.split(), "--format", "source").out
    assert out == f"{printed}\n"


def test_compare_prints_the_lines_of_the_news_program(run):
    from neardup import fingerprint

    texts = {"a.txt": "渡轮,停靠,Ferry, ,码头", "b.txt": "渡轮,停靠,新,码头"}
    for name, text in texts.items():
        Path(name).write_text(text, "utf-8")
    prints = [fingerprint(text, recipe="news-words") for text in texts.values()]
    out = run("compare", *texts, "-r", "news-words", "--format", "source").out
    assert out.split("\n") == [
        "渡轮 停靠 ferry   码头 ",
        "渡轮 停靠 新 码头 ",
        "simhash的二进制表示:",
        *(f"{one.value:064b}"[::-1] for one in prints),
        "simhash的BigInteger表示:",
        *(str(one.value) for one in prints),
        "ns1与ns的汉明距离",
        str(prints[0].distance(prints[1])),
        "",
    ]
    Path("b.txt").write_text("")
    error = run("compare", "a.txt", "b.txt", "-r", "news", "--format", "source", code=2).err
    assert "a.txt, b.txt: a text without words" in error


@pytest.mark.parametrize("text", [A, ""])
def test_no_answer_about_an_unreadable_text(run, text):
    """0.00 would look like a result."""
    Path("a.txt").write_text(TAGGED, "utf-8")
    Path("b.txt").write_text(text, "utf-8")
    error = run("compare", "a.txt", "b.txt", "out.txt", "-r", "bkdr", code=2).err
    assert error.startswith(
        "neardup: b.txt: has no words with tags" if text else "neardup: b.txt: must contain text"
    )
    assert not Path("out.txt").exists()
    error = run("explain", "b.txt", "-r", "bkdr", code=2).err
    assert error.startswith("neardup: b.txt: ")


def test_compare_names_an_empty_text(run):
    Path("a.txt").write_text(A, "utf-8")
    Path("b.txt").write_text(" \n")
    assert "Not duplicates: there is no text in B." in run("compare", "a.txt", "b.txt").out
    assert "Not duplicates: there is no text in A." in run("compare", "b.txt", "a.txt").out


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
    for name, text in (("a.txt", a), ("b.txt", b)):
        Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    result = run("compare", "a.txt", "b.txt", "out.txt", *words.split())
    assert Path("out.txt").read_text("ascii") == f"{answer}\n"
    assert ("read as gb18030 (likely)" in result.err) == (not words and isinstance(a, bytes))


def test_recipes(run):
    rows = table(run("recipes").out)
    assert {"general", "aligned", "classic", "improved", "minhash", "news", "bkdr"} < set(rows)
    # Other sketches than fingerprints have no width.
    without_bits = {
        "general",
        "strict",
        "containment",
        "aligned",
        "shingle",
        "shingle-sample",
        "minhash",
    }
    assert {name for name, row in rows.items() if " bits " not in row} == without_bits
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


def test_the_report(run):
    run("dedup", "in.jsonl", "-o", "k.jsonl", "--removed", "r.jsonl", "--report", "report.json")
    report = json.loads(Path("report.json").read_text("utf-8"))
    assert set(report) == {"summary", "settings", "recipe", "plan", "problems", "notes", "versions"}
    counts = ("read", "exact_duplicates", "near_duplicates", "kept", "unreadable", "problems")
    assert [report["summary"][name] for name in counts] == [4, 1, 1, 2, 0, 0]
    assert report["settings"]["inputs"] == ["in.jsonl"]
    assert report["recipe"]["name"] == "general"
    assert report["plan"]["threshold"] == 0.4


FOUR = "normalize, segment, weigh, sketch"


@pytest.mark.parametrize(
    ("words", "stages"),
    [
        ("dedup in.jsonl -o k.csv", ["read and sketch", "candidates, verify, cluster", "write"]),
        ("compare in.txt in.txt", ["read", FOUR, "align", "verify"]),
        ("compare in.txt in.txt --passages", ["read", FOUR, "align", "verify"]),
    ],
)
def test_report_has_seconds_and_memory_of_each_stage(run, words, stages):
    Path("in.txt").write_text(A, "utf-8")
    run(*words.split(), "--report", "report.json")
    report = json.loads(Path("report.json").read_text("utf-8"))
    costs = report.get("summary", report)
    assert list(costs["stages"]) == list(costs["stage_memory"]) == stages
    assert 0 < sum(costs["stages"].values()) <= costs["seconds"]
    assert min(costs["stage_memory"].values()) > 0


def git(*words):
    subprocess.run(["git", *words], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason=needs.GIT)
def test_commit_hook_runs(run):
    root = Path(__file__).parents[2]
    entry, arguments, files = (
        re.search(rf"^  {name}: (.*)$", (root / ".pre-commit-hooks.yaml").read_text(), re.M)[1]
        for name in ("entry", "args", "files")
    )
    for name in str(list_known()).split(" (")[0].split(", "):
        assert all(re.search(files.strip("'"), f"a{name}{more}") for more in ("", ".gz", ".zst"))
    assert not re.search(files.strip("'"), "a.py")
    program, *words = [*shlex.split(entry), *json.loads(arguments)]
    assert program == "neardup"
    run(*words, code=2)
    git("init")
    Path("broken.docx").write_bytes(b"PK\3\4")
    git("add", "broken.docx")
    # That nothing could be compared is no success.
    assert "broken.docx" in run(*words, code=2).err
    git("rm", "-f", "broken.docx")
    for folder in ("docs", "data", "node_modules"):
        Path(folder).mkdir()
    Path(".gitignore").write_text("node_modules\n")
    Path("package.json").write_text('{\n  "name": "notes",\n  "private": true\n}\n')
    Path("data/counts.csv").write_text("name,count\na,1\n")
    Path("docs/empty.md").touch()
    Path("docs/blank.md").write_text("\n")
    shutil.copy("docs/empty.md", "docs/empty2.md")
    shutil.copy("docs/blank.md", "docs/blank2.md")
    shutil.copy("package.json", "data/package.json")
    git("add", "docs", "data", "package.json", ".gitignore")
    assert run(*words).out == ""
    Path("docs/a.md").write_text(f"# Notes\n\n{A}{B}\n")
    Path("node_modules/a.md").write_text(f"# Notes\n\n{A}{B}\n")
    git("add", "docs/a.md")
    os.symlink("a.md", "docs/link.md")
    Path("docs/not_added.md").write_text(f"# Notes\n\n{A}{B}\n")
    assert run(*words).out == ""
    git("add", "docs/link.md")
    assert run(*words).out == ""
    Path("docs/b.md").write_text(f"# Minutes\n\n{A}{B}\n")
    for name in ("one", "two"):
        rows = (
            {"id": "7", "text": f"An unrelated line of {name}."},
            {"id": "8", "text": f"{A}{A[::-1]}"},
        )
        Path(f"data/{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    git("add", "docs/b.md", "data")
    pairs = [json.loads(line) for line in run(*words, code=1).out.splitlines()]
    assert [(pair["id_a"], pair["id_b"]) for pair in pairs] == [
        ("data/one.jsonl:2", "data/two.jsonl:2"),
        ("docs/a.md", "docs/b.md"),
    ]
    (pair,) = map(json.loads, run(*words[:-1], "docs", code=1).out.splitlines())
    error = run(*words, "-o", "docs/a.md", "-f", code=2).err
    assert "docs/a.md: must not be both input and output" in error
    assert Path("docs/a.md").read_text() == f"# Notes\n\n{A}{B}\n"
    assert pair["id_a"] == "docs/a.md"
    assert f"run: {entry} $ARGUMENTS $PATHS" in (root / "action.yml").read_text()
