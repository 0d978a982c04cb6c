"""What the commands write and print, and their exit codes."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import A, B

from neardup import load_recipe


def lines_of(path):
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def test_dedup(run):
    found = run("dedup", "in.jsonl", "-o", "kept.jsonl", "--removed", "removed.jsonl")
    assert Path("kept.jsonl").read_bytes() == b"".join(
        Path("in.jsonl").read_bytes().splitlines(keepends=True)[:2]
    )
    removed = lines_of("removed.jsonl")
    assert [(r["id"], r["kept_id"]) for r in removed] == [("c", "a"), ("d", "b")]
    assert removed[1] == {
        "id": "d",
        "kept_id": "b",
        "similarity": 1.0,
        "measure": "content(5)",
        "distance": None,
    }
    assert found.out == ""
    for line in (
        "read             4",
        "exact duplicates             1",
        "near-duplicates             1",
        "kept             2",
    ):
        assert line in found.err


def test_dedup_by_a_recipe_that_makes_fingerprints(run):
    run("dedup", "in.jsonl", "-o", "kept.jsonl", "--removed", "removed.jsonl", "-r", "characters")
    assert [(r["id"], r["measure"], r["distance"]) for r in lines_of("removed.jsonl")][1] == (
        "d",
        "resemblance(5)",
        0,
    )


def test_pairs(run):
    found = run("pairs", "in.jsonl")
    assert [(r["id_a"], r["id_b"]) for r in map(json.loads, found.out.splitlines())] == [
        ("a", "c"),
        ("b", "d"),
    ]
    run("pairs", "in.jsonl", "-o", "p.csv", "-q")
    assert Path("p.csv").read_text("utf-8").splitlines()[0] == (
        "id_a,id_b,similarity,measure,distance"
    )


def test_fingerprint(run):
    from neardup import fingerprint

    found = run("fingerprint", "in.jsonl", "-r", "classic")
    records = [json.loads(line) for line in found.out.splitlines()]
    assert [r["id"] for r in records] == list("abcd")
    expected = fingerprint(A, recipe="classic")
    assert records[0]["fingerprint"] == str(expected)
    assert records[0]["recipe"] == expected.recipe_id
    assert records[0]["features"] > 5


@pytest.mark.parametrize("arguments", [["a.txt", "b.txt"], ["a.txt", "-"], ["-", "b.txt"]])
def test_compare(run, arguments):
    texts = {"a.txt": A, "b.txt": A + "！"}
    for name, text in texts.items():
        Path(name).write_text(text, "utf-8")
    missing = next((name for name in texts if name not in arguments), "a.txt")
    options = ["out.txt", "--recipe", "characters"]
    found = run("compare", *arguments, *options, "--json", stdin=texts[missing].encode())
    measures = json.loads(found.out)
    assert measures["similarity"] == measures["resemblance"] == (len(A) - 4) / (len(A) - 3)
    assert Path("out.txt").read_bytes() == f"{measures['similarity']:.2f}\n".encode()
    # The one output that is replaced unasked: scripts call it again and again.
    run("compare", *arguments, *options, stdin=texts[missing].encode())


@pytest.mark.parametrize(
    ("other", "numbers", "verdict"),
    [
        (
            A + "！",
            "1 agree, 0 differ",
            "Duplicates: similarity 1.0000 by content(5), at least 0.45 needed; a text is short, "
            "so letters and digits decide.",
        ),
        (
            A.replace("三百", "五百"),
            "0 agree, 1 differ, 1 of them replaced",
            "Not duplicates: similarity 0.0000 by content(5), at least 0.45 needed; a text is "
            "short, and a number differs.",
        ),
        (
            B,
            "0 agree, 1 differ",
            "Not duplicates: similarity 0.0000 by content(5), at least 0.45 needed; a text is "
            "short, so letters and digits decide.",
        ),
        (
            A * 2,
            "1 agree, 0 differ",
            "Not duplicates: similarity 0.0000 by content(5), at least 0.45 needed; a text is "
            "short, so letters and digits decide.",
        ),
    ],
)
def test_compare_says_what_decides(run, other, numbers, verdict):
    Path("a.txt").write_text(A, "utf-8")
    Path("b.txt").write_text(other, "utf-8")
    lines = run("compare", "a.txt", "b.txt").out.splitlines()
    said = {line.split()[0]: line.partition(" ")[2].strip() for line in lines[3:]}
    assert said["similarity"].endswith("by content(5)")
    assert (said["numbers"], lines[1]) == (numbers, verdict)
    assert lines[0].endswith(" % the same, counted by edits.")
    assert "distance" not in said


def test_compare_says_what_replaced_numbers_take(run):
    text = 2 * A + "粮站建于1958年，占地1200平方米，二〇〇一年停用。"
    Path("a.txt").write_text(text, "utf-8")
    Path("b.txt").write_text(text.replace("1200", "1500"), "utf-8")
    lines = run("compare", "a.txt", "b.txt").out.splitlines()
    assert lines == [
        "98.89 % the same, counted by edits.",
        "Not duplicates: similarity 0.2866 by content(5), at least 0.45 needed; 1 number is "
        "replaced by another, which lowers the similarity from 0.8438.",
        "",
        "similarity   0.2866  by content(5)",
        "resemblance  0.8438  of 5-character shingles",
        "weighted     0.8438  resemblance; text that many documents share counts less",
        "containment  0.9153  of A in B, 0.9153 of B in A",
        "edits        0.9889  1 - edits / length of the longer",
        "word edits   0.9857  the same by words, or by characters of scripts without spaces",
        "aligned      0.9857  of the shorter text, in the same order",
        "numbers      4 agree, 1 differ, 1 of them replaced: penalty 0.5571",
        f"recipe       {load_recipe('general').id}",
    ]


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        (["-t", "0.9"], "similarity 1.0000 by resemblance(5), at least 0.9 needed"),
        (["-d", "0"], "0 of 128 bits differ, at most 0 allowed"),
        (
            ["--max-distance", "7", "--threshold", "0.5"],
            "0 of 128 bits differ, at most 7 allowed; similarity 1.0000 by resemblance(5), at "
            "least 0.5 needed",
        ),
    ],
)
def test_compare_by_bounds_of_the_command_line(run, bounds, reason):
    for name in ("a.txt", "b.txt"):
        Path(name).write_text(A, "utf-8")
    found = run("compare", "a.txt", "b.txt", "out.txt", "-r", "characters", *bounds)
    assert f"\nDuplicates: {reason}.\n" in "\n" + found.out
    found = run("compare", "a.txt", "b.txt", "-r", "characters", *bounds, "--json")
    assert json.loads(found.out)["verdict"] == f"Duplicates: {reason}."


def test_compare_weighs_titles(run):
    Path("a.txt").write_text(A, "utf-8")
    words = ["compare", "a.txt", "a.txt", "-r", "improved", "--json"]
    alone = json.loads(run(*words).out)["distance"]
    titled = json.loads(run(*words, "--title-a", "旧粮站改成书店").out)["distance"]
    assert alone == 0 < titled
    both = ["--title-a", "旧粮站改成书店", "--title-b", "旧粮站改成书店"]
    assert json.loads(run(*words, *both).out)["distance"] == 0


@pytest.mark.parametrize("output", ["nosuch/out.txt", "folder", "a.txt", "./b.txt"])
def test_compare_checks_the_output_before_it_prints(run, files, output):
    Path("folder").mkdir()
    Path("a.txt").write_text(A, "utf-8")
    Path("b.txt").write_text(B, "utf-8")
    before = files()
    found = run("compare", "a.txt", "b.txt", output, code=2)
    assert found.out == ""
    assert found.err.splitlines()[1:] == ["neardup: no output was written."]
    assert Path(output).name in found.err
    assert files() == before
    assert Path("a.txt").read_text("utf-8") == A


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (["-t", "80"], "(did you mean 0.8?). Got 80.0"),
        (["-d", "3"], "--max-distance must be left out: it is for fingerprints"),
        (["-d", "129", "-r", "characters"], "--max-distance must be a whole number"),
        (["-d", "-1", "-r", "characters"], "--max-distance must be a whole number"),
    ],
)
def test_compare_refuses_wrong_bounds(run, files, bounds, words):
    Path("a.txt").write_text(A, "utf-8")
    found = run("compare", "a.txt", "a.txt", "out.txt", *bounds, code=2)
    assert words in found.err
    assert found.out == ""
    assert files() == ["a.txt", "in.jsonl"]


def test_compare_of_white_space_gives_one_answer(run):
    Path("a.txt").write_text(" \n", "utf-8")
    Path("b.txt").write_text("", "utf-8")
    found = run("compare", "a.txt", "b.txt", "out.txt", "--json")
    answers = json.loads(found.out)
    names = ("similarity", "resemblance", "containment_a", "containment_b", "edit_similarity")
    assert [answers[name] for name in names] == [0.0] * 5
    assert Path("out.txt").read_text("ascii") == "0.00\n"
    run("compare", "a.txt", "a.txt", "out.txt")
    assert Path("out.txt").read_text("ascii") == "1.00\n"


def test_compare_writes_what_a_named_recipe_measures(run):
    """Also if the recipe that is named is the default one."""
    Path("a.txt").write_text(A, "utf-8")
    Path("b.txt").write_text(f"{A}{A[:12]}", "utf-8")
    answers = json.loads(run("compare", "a.txt", "b.txt", "out.txt", "--json").out)
    edits, measured = f"{answers['edit_similarity']:.2f}\n", f"{answers['similarity']:.2f}\n"
    assert edits != measured
    assert Path("out.txt").read_text("ascii") == edits
    for named in (["-r", "general"], ["--recipe=general"], ["-t", "0.45"]):
        run("compare", "a.txt", "b.txt", "out.txt", *named)
        assert Path("out.txt").read_text("ascii") == measured


@pytest.mark.parametrize("text", ["渡口停航三天", "渡口停航三天。" * 100])
def test_compare_of_texts_in_place_of_files_suggests_how(run, text):
    found = run("compare", text, "渡口停航四天", code=2)
    assert "no such file. A and B must be names of files. To compare two texts" in found.err
    assert len(found.err) < 300


@pytest.mark.parametrize(("b", "expected"), [(A, "1.00\n"), (B, "0.06\n"), ("", "0.00\n")])
def test_compare_writes_two_decimals(run, b, expected):
    Path("a.txt").write_text(A, "utf-8")
    Path("b.txt").write_text(b, "utf-8")
    run("compare", "a.txt", "b.txt", "out.txt")
    assert Path("out.txt").read_text("ascii") == expected


@pytest.mark.parametrize("encoding", ["gb18030", "big5", "utf-16", "gbk"])
def test_compare_reads_encodings(run, encoding):
    Path("a.txt").write_text("一二三四五", encoding)
    Path("b.txt").write_text("一二三四五六", encoding)
    run("compare", "a.txt", "b.txt", "out.txt", "--encoding", encoding)
    # Five of six letters, and no text: a byte too many or too few would show.
    assert Path("out.txt").read_text("ascii") == "0.83\n"


def test_compare_detects_format_and_encoding(run):
    Path("a.txt").write_bytes(A.encode("gb18030"))
    Path("b.html").write_text(f"<!doctype html><p>{A}</p>", "utf-8")
    found = run("compare", "a.txt", "b.html", "out.txt")
    assert Path("out.txt").read_text("ascii") == "1.00\n"
    assert found.err == "neardup: a.txt: read as gb18030 (likely).\n"


def test_plan(run):
    assert "content(5) >= 0.4" in run("plan").out
    assert "resemblance(5) >= 0.55" in run("plan", "-r", "characters").out
    plans = json.loads(run("plan", "5000", "-r", "news", "--json").out)
    assert plans["dedup"]["documents"] == plans["pairs"]["documents"] == 5000
    assert plans["pairs"]["max_distance"] == 3


@pytest.mark.parametrize(
    ("recipe", "candidates", "recall"),
    [
        ("general", "share enough of at most 22 sampled shingles", "1.0000"),
        ("shingle", "share one of the rarest shingles that the threshold needs", "1.0000"),
        ("minhash", "agree on one of", "0.99"),
        ("shingle-sample", "share enough of at most 22 sampled shingles", "1.0000"),
    ],
)
def test_plan_of_each_scheme(run, recipe, candidates, recall):
    lines = run("plan", "5000", "-r", recipe).out.splitlines()
    said = {line.partition("  ")[0]: line.partition("  ")[2].strip() for line in lines}
    assert said["documents"] == "5,000"
    assert said["candidates"].startswith(candidates)
    assert said["predicted recall"].startswith(recall)
    plans = json.loads(run("plan", "5000", "-r", recipe, "--json").out)
    # `pairs` files documents under more keys of a sample, and in longer lists.
    assert (plans["dedup"] == plans["pairs"]) is (recipe == "shingle")
    assert len(plans["pairs"]["s_curve"]) == (21 if recipe == "minhash" else 0)


def test_recipes(run):
    listed = run("recipes").out.splitlines()
    names = [line.split()[0] for line in listed]
    assert names == [
        "general",
        "containment",
        "aligned",
        "characters",
        "classic",
        "keywords",
        "improved",
        "shingle",
        "shingle-sample",
        "minhash",
        "news",
        "bkdr",
    ]
    # Other sketches than fingerprints have no width.
    without_bits = {"general", "containment", "aligned", "shingle", "shingle-sample", "minhash"}
    assert {line.split()[0] for line in listed if " bits " not in line} == without_bits
    printed = run("recipes", "improved").out
    Path("mine.toml").write_text(printed, "utf-8")
    assert run("recipes", "mine.toml").out == printed


def test_idf(run):
    from neardup import load_idf

    run("idf", "in.jsonl", "-o", "t.idf", "--quiet")
    assert load_idf("t.idf").documents == 4
    Path("mine.toml").write_text(
        '[segment]\nunits = "words"\n'
        '[weigh]\nscheme = "tf-idf"\nidf = "t.idf"\ndrop_punctuation = true\n'
        "[decide]\nmax_distance = 3\n",
        "utf-8",
    )
    run("dedup", "in.jsonl", "-o", "kept.jsonl", "-r", "mine.toml", "-q")
    assert len(lines_of("kept.jsonl")) == 2


@pytest.mark.parametrize(
    ("command", "flags", "code"),
    [
        ("dedup", [], 0),
        ("dedup", ["--fail-on-duplicates"], 1),
        ("dedup", ["--fail-on-duplicates", "--max-distance", "0", "-r", "news"], 1),
        ("pairs", [], 0),
        ("pairs", ["--fail-on-duplicates"], 1),
    ],
)
def test_exit_code_of_duplicates(run, command, flags, code):
    run(command, "in.jsonl", "-o", "out.jsonl", *flags, code=code)
    assert Path("out.jsonl").exists()


@pytest.mark.parametrize("command", ["dedup", "pairs"])
def test_exit_code_without_duplicates(run, command):
    Path("two.jsonl").write_text(f'{{"text": "{A}"}}\n{{"text": "{B}"}}\n', "utf-8")
    run(command, "two.jsonl", "-o", "out.jsonl", "--fail-on-duplicates")


def test_an_error_wins_over_found(run):
    with Path("in.jsonl").open("a") as lines:
        lines.write("oops\n")
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--fail-on-duplicates", code=2)
    assert len(Path("out.jsonl").read_bytes().splitlines()) == 3


@pytest.mark.parametrize("command", ["dedup", "pairs", "fingerprint", "idf"])
def test_quiet_prints_nothing(run, command):
    found = run(command, "in.jsonl", "-o", "out.jsonl", "--quiet")
    assert (found.out, found.err) == ("", "")


@pytest.mark.parametrize("command", ["dedup", "pairs", "fingerprint", "idf"])
def test_no_progress_when_nobody_watches(run, command):
    found = run(command, "in.jsonl", "-o", "out.jsonl")
    assert "\r" not in found.err
    assert "\x1b" not in found.err


def test_the_report(run):
    run("dedup", "in.jsonl", "-o", "k.jsonl", "--removed", "r.jsonl", "--report", "report.json")
    report = json.loads(Path("report.json").read_text("utf-8"))
    assert set(report) == {"summary", "settings", "recipe", "plan", "problems", "notes", "versions"}
    counts = ("read", "exact_duplicates", "near_duplicates", "kept", "unreadable", "problems")
    assert [report["summary"][name] for name in counts] == [4, 1, 1, 2, 0, 0]
    assert report["settings"]["inputs"] == ["in.jsonl"]
    assert report["recipe"]["name"] == "general"
    assert report["plan"]["threshold"] == 0.45


def test_priority_and_fields(run):
    Path("named.jsonl").write_text(
        f'{{"url": "x", "words": "{A}", "rank": 2}}\n{{"url": "y", "words": "{A}", "rank": 1}}\n',
        "utf-8",
    )
    fields = ["--text-field", "words", "--id-field", "url"]
    run("dedup", "named.jsonl", "-o", "k.jsonl", *fields, "--priority", "field:rank")
    assert [r["url"] for r in lines_of("k.jsonl")] == ["y"]


def test_strip_markup(run):
    Path("page.jsonl").write_text(
        f'{{"text": "<p>{A}</p>"}}\n{{"text": "<div><b>{A}</b></div>"}}\n', "utf-8"
    )
    run("dedup", "page.jsonl", "-o", "k.jsonl", "--strip-markup", "--threshold", "1")
    assert len(lines_of("k.jsonl")) == 1


def test_several_inputs_and_formats(run):
    Path("more.csv").write_text(f"id,text\ne,{A}\nf,something else entirely\n", "utf-8")
    options = ["--threshold", "1", "-r", "characters"]
    run("pairs", "in.jsonl", "more.csv", "-o", "p.jsonl", *options)
    assert {(r["id_a"], r["id_b"]) for r in lines_of("p.jsonl")} == {("a", "e"), ("b", "d")}


def test_ids_that_repeat_are_told(run):
    text = "青岚市澜江三桥昨日上午八时正式通车，两岸居民过江更快了。"
    lines = [json.dumps({"id": 7, "text": text}, ensure_ascii=False)] * 3
    Path("same.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    found = run("dedup", "same.jsonl", "-o", "k.jsonl", "--removed", "r.jsonl")
    assert "neardup: note: 2 records have the id of another record" in found.err
    numbers = [(row["record"], row["kept_record"]) for row in lines_of("r.jsonl")]
    assert numbers == [(2, 1), (3, 1)]
    options = ["--against", "same.jsonl", "-o", "n.jsonl", "--removed", "r.jsonl", "--force"]
    run("dedup", "same.jsonl", *options)
    row = lines_of("r.jsonl")[2]
    assert (row["kept_from"], row["record"], row["kept_record"]) == ("against", 3, 1)
