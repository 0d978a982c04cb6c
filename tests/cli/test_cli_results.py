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
from tests.cli.conftest import LINES, A, B, records_of, table

from neardup import load_recipe
from neardup.readers.formats import known
from neardup.recipe.assets import compiled


def test_summary_names_titles_and_counts_the_other_collection_apart(run):
    text, long = "The ferry leaves at nine from the old harbour, and at ten from the new one.", "字"
    ours = [{"id": "1", "title": "Ferry", "text": text}, {"id": "2", "text": f"(PTI) {text}"}]
    theirs = {"id": "x", "title": "Long", "text": long * 100_000}
    Path("ours.jsonl").write_text("".join(json.dumps(record) + "\n" for record in ours), "utf-8")
    Path("theirs.jsonl").write_text(json.dumps(theirs, ensure_ascii=False), "utf-8")
    words = ["dedup", "ours.jsonl", "-o", "kept.jsonl", "--against", "theirs.jsonl"]
    result = run(*words)
    assert re.search(r"read +2  0\.0 MB\n +compared with +1  0\.3 MB\n", result.err)
    assert re.search(r'0\.\d{3}  2 repeats 1 "Ferry"\n', result.err)
    chinese = run("--language", "zh", *words, "--force", "--removed", "removed.jsonl").err
    assert "2 与 1“Ferry” 重复" in chinese


def test_dedup(run):
    result = run("dedup", "in.jsonl", "-o", "kept.jsonl", "--removed", "removed.jsonl")
    assert Path("kept.jsonl").read_bytes() == b"".join(
        Path("in.jsonl").read_bytes().splitlines(keepends=True)[:2]
    )
    removed = records_of("removed.jsonl")
    assert [(r["id"], r["kept_id"]) for r in removed] == [("c", "a"), ("d", "b")]
    assert removed[1] == {
        "id": "d",
        "kept_id": "b",
        "similarity": 1.0,
        "measure": "content(5)",
        "distance": None,
        "kind": "identical",
        "cluster_size": 2,
    }
    assert result.out == ""
    rows = table(result.err)
    assert (rows["read"].split()[0], rows["kept"]) == ("4", "2")
    assert rows["exact"].split()[1] == rows["near-duplicates"].split()[0] == "1"


def test_pairs(run):
    result = run("pairs", "in.jsonl")
    assert [(r["id_a"], r["id_b"]) for r in map(json.loads, result.out.splitlines())] == [
        ("a", "c"),
        ("b", "d"),
    ]
    run("pairs", "in.jsonl", "-o", "p.csv", "-q")
    assert Path("p.csv").read_text("utf-8").splitlines()[0] == (
        "id_a,id_b,similarity,measure,distance"
    )


def test_fingerprint(run):
    from neardup import fingerprint

    result = run("fingerprint", "in.jsonl", "-r", "classic")
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [r["id"] for r in records] == list("abcd")
    expected = fingerprint(A, recipe="classic")
    assert records[0]["fingerprint"] == str(expected)
    assert records[0]["recipe"] == expected.recipe_id
    assert records[0]["features"] > 5


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


def test_compare_says_what_replaced_numbers_take(run):
    text = 2 * A + "粮站建于1958年，占地1200平方米，二〇〇一年停用。"
    Path("a.txt").write_text(text, "utf-8")
    Path("b.txt").write_text(text.replace("1200", "1500"), "utf-8")
    edits, verdict, _, *lines = run("compare", "a.txt", "b.txt").out.splitlines()
    assert edits.startswith("98.89 %")
    assert verdict.startswith("Not duplicates: similarity 0.1534 by content(5)")
    rows = table("\n".join(lines))
    assert {name: row.split()[0] for name, row in rows.items()} == {
        "similarity": "0.1534",
        "resemblance": "0.8305",
        "weighted": "0.8305",
        "containment": "0.9074",
        "edits": "0.9889",
        "word": "edits",
        "aligned": "0.9857",
        "core": "100%",
        "numbers": "4",
        "recipe": load_recipe("general").id,
    }
    assert rows["numbers"] == "4 agree, 1 differ, 1 of them replaced: penalty 0.6771"


@pytest.mark.parametrize("options", [[], ["--passages"], ["--json", "-p"], ["-r", "characters"]])
def test_compare_strips_markup_for_all_that_it_prints(run, options):
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


def test_compare_says_what_it_counts_as_equal(run):
    Path("a.txt").write_text("渡口的新渡輪下週一試航，The fеrry leaves.", "utf-8")
    Path("b.txt").write_text("渡口的新渡轮下周一试航，The ferry leaves.", "utf-8")
    lines = run("compare", "a.txt", "b.txt", "--passages").out.splitlines()
    assert "differences  none" in lines
    assert lines[-1] == "counted as equal  輪 = 轮, 週 = 周, 試 = 试, fеrry = ferry"


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
def test_no_answer_about_a_text_that_a_recipe_cannot_read(run, text):
    """0.00 would look like a result."""
    Path("a.txt").write_text(TAGGED, "utf-8")
    Path("b.txt").write_text(text, "utf-8")
    error = run("compare", "a.txt", "b.txt", "out.txt", "-r", "bkdr", code=2).err
    assert error.startswith(
        "neardup: b.txt: no word/tag tokens" if text else "neardup: b.txt: must contain text"
    )
    assert not Path("out.txt").exists()
    error = run("explain", "b.txt", "-r", "bkdr", code=2).err
    assert error.startswith("neardup: b.txt: ")


def test_compare_names_an_empty_text(run):
    Path("a.txt").write_text(A, "utf-8")
    Path("b.txt").write_text(" \n")
    assert "Not duplicates: there is no text in B." in run("compare", "a.txt", "b.txt").out
    assert "Not duplicates: there is no text in A." in run("compare", "b.txt", "a.txt").out


def test_texts_of_which_none_can_be_compared_are_told(run):
    note = "This recipe finds nothing to compare in any of the 4 texts"
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


def test_the_width_of_fingerprints_is_shown(run):
    Path("a.txt").write_text(TAGGED, "utf-8")
    Path("b.txt").write_text(OTHER, "utf-8")
    eight = ["-r", "bkdr", "--bits", "8"]
    assert "of 8 bits differs, at most 3 allowed" in run("compare", "a.txt", "b.txt", *eight).out
    assert len(table(run("explain", "a.txt", *eight).out)["bits"].split()[0]) == 8


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


def test_ids_that_repeat_are_told(run):
    text = "青岚市澜江三桥昨日上午八时正式通车，两岸居民过江更快了。"
    lines = [json.dumps({"id": 7, "text": text}, ensure_ascii=False)] * 3
    Path("same.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    result = run("dedup", "same.jsonl", "-o", "k.jsonl", "--removed", "r.jsonl")
    assert "neardup: note: 2 records have the id of another record" in result.err
    numbers = [(row["record"], row["kept_record"]) for row in records_of("r.jsonl")]
    assert numbers == [(2, 1), (3, 1)]
    options = ["--against", "same.jsonl", "-o", "n.jsonl", "--removed", "r.jsonl", "--force"]
    run("dedup", "same.jsonl", *options)
    row = records_of("r.jsonl")[2]
    assert (row["kept_from"], row["record"], row["kept_record"]) == ("against", 3, 1)


def test_leaks_between_splits(run):
    long = "Which of these rivers flows through three capitals on its way to the sea?"
    Path("train.jsonl").write_text(json.dumps({"text": long}) + "\n")
    Path("test.jsonl").write_text(json.dumps({"text": f"Q: {long}"}) + "\n")
    splits = ("--splits", "train=train.jsonl", "test=test.jsonl")
    result = run("contamination", *splits, "--report", "leaks.jsonl", "-q")
    assert [line.split() for line in result.out.splitlines()[1:]] == [
        ["train", "test", "1", "1", "100.00%"],
        ["test", "train", "1", "1", "100.00%"],
    ]
    assert [(r["split"], r["other"]) for r in records_of("leaks.jsonl")] == [
        ("train", "test"),
        ("test", "train"),
    ]
    run("contamination", *splits, "--fail-on-duplicates", code=1)
    for words in ((*splits, "--tests", "test.jsonl"), splits[:2], ("--splits", "train"), ()):
        run("contamination", *words, code=2)


def git(*words):
    subprocess.run(["git", *words], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason=needs.GIT)
def test_commit_hook_runs(run):
    root = Path(__file__).parents[2]
    entry, arguments, files = (
        re.search(rf"^  {name}: (.*)$", (root / ".pre-commit-hooks.yaml").read_text(), re.M)[1]
        for name in ("entry", "args", "files")
    )
    for name in str(known()).split(" (")[0].split(", "):
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
    Path("docs/a.md").write_text(f"# RecordedProgress\n\n{A}{B}\n")
    Path("node_modules/a.md").write_text(f"# RecordedProgress\n\n{A}{B}\n")
    git("add", "docs/a.md")
    os.symlink("a.md", "docs/link.md")
    Path("docs/not_added.md").write_text(f"# RecordedProgress\n\n{A}{B}\n")
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
    assert Path("docs/a.md").read_text() == f"# RecordedProgress\n\n{A}{B}\n"
    assert pair["id_a"] == "docs/a.md"
    assert f"run: {entry} $ARGUMENTS $PATHS" in (root / "action.yml").read_text()
