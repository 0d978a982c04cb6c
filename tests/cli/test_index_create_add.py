"""``neardup index``: create and add, and what they say of wrong input."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import ARTICLES, LINES, A, environment, records, records_of, table
from tests.cli.interrupted import MESSAGE, run_interrupted
from tests.waiting import PATIENCE

from neardup._core import MAX_BATCH
from neardup.index.backends import open_database


def test_create(run, files):
    found = run("index", "create", "n.db", "--recipe", "news", "--expected", 500)
    assert found.out == ""
    assert "recipe         news-" in found.err
    assert files() == ["in.jsonl", "n.db"]
    stats = json.loads(run("index", "stats", "n.db", "--json").out)
    assert stats["documents"] == 0
    assert stats["background"] == "none"


def test_create_with_settings(run):
    words = ["--threshold", "0.7", "--store", "sketch", "--strip-markup", "-q"]
    assert run("index", "create", "n.db", *words).err == ""
    stats = json.loads(run("index", "stats", "n.db", "--json").out)
    assert (stats["threshold"], stats["store"]) == (0.7, "sketch")
    assert not stats["recipe_id"].startswith("general-3")


def test_create_with_a_background(run):
    Path("more.csv").write_text("text\n另外一段文字。\n", "utf-8")
    run("index", "create", "n.db", "-b", ARTICLES, "--background", "more.csv")
    stats = json.loads(run("index", "stats", "n.db", "--json").out)
    assert stats["background"] == "given"
    assert stats["background_texts"] > 25


def test_add(run):
    run("index", "create", "n.db", "-q")
    found = run("index", "add", "n.db", ARTICLES, "--removed", "removed.jsonl")
    assert found.out == ""
    said = table(found.err)
    assert said["read"] == said["new"] == "31"
    assert said["kept"] == "25  of the records read, new or already there"
    assert said["dropped"] == "6  content(5) >= 0.45"
    removed = records_of("removed.jsonl")
    assert {row["id"]: row["kept_id"] for row in removed}["bridge-repost"] == "bridge"
    assert list(removed[0]) == ["id", "kept_id", "similarity", "measure", "distance"]


def test_again_it_passes_over_what_is_there(run, index):
    first = run("index", "add", index, ARTICLES, "--removed", "first.jsonl")
    again = run("index", "add", index, ARTICLES, "--removed", "again.jsonl")
    assert table(again.err.replace("already there", "already")) == {
        **table(first.err.replace("already there", "already")),
        "already": "31",
        "new": "0",
    }
    assert Path("first.jsonl").read_bytes() == Path("again.jsonl").read_bytes()


def test_add_makes_the_index_and_says_so(run, files):
    found = run("index", "add", "new.db", "in.jsonl")
    assert found.out == ""
    first = found.err.splitlines()[0]
    assert first.startswith("neardup: note: created the index ")
    assert "new.db with the recipe general." in first
    assert files() == ["in.jsonl", "new.db"]
    assert "created the index" not in run("index", "add", "new.db", "in.jsonl").err
    assert run("index", "add", "other.db", "in.jsonl", "-q").err == ""


def test_duplicates_and_problems_in_the_exit_code(run):
    run("index", "create", "n.db", "-q")
    run("index", "add", "n.db", "in.jsonl", "--fail-on-duplicates", "-q", code=1)
    run("index", "add", "n.db", "in.jsonl", "--fail-on-duplicates", "-q", code=1)
    Path("bad.jsonl").write_text('{"id": "x", "text": 7}\n' + LINES, "utf-8")
    found = run("index", "add", "n.db", "bad.jsonl", "--fail-on-duplicates", code=2)
    assert "bad.jsonl: record 1, field 'text': must be text. Got 7 instead." in found.err
    assert table(found.err)["refused"] == "1"
    Path("empty.jsonl").touch()
    assert "empty.jsonl: no records." in run("index", "add", "n.db", "empty.jsonl", code=2).err


def test_another_text_under_an_id(run, index):
    Path("other.jsonl").write_text('{"id": "bridge", "text": "另一段文字。"}\n', "utf-8")
    found = run("index", "add", index, "other.jsonl", code=2)
    assert "'bridge' already belongs to another text" in found.err


def test_within(run):
    run("index", "create", "n.db", "-q")
    rows = [("a", "2024-03-01"), ("b", "2024-03-10"), ("c", "2024-03-12")]
    lines = [json.dumps({"id": id, "text": A, "when": when}) for id, when in rows]
    Path("w.jsonl").write_text("\n".join(lines), "utf-8")
    run("index", "add", "n.db", "w.jsonl", "--at-field", "when", "--within", "7d", "-q")
    found = records(run("index", "clusters", "n.db").out)
    assert [(row["id"], row["kept_id"]) for row in found] == [("c", "b")]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("batches", [1, 2])
def test_after_an_interrupt_the_same_command_continues(run, here, files, number, batches):
    with (here / "many.jsonl").open("w", encoding="utf-8") as lines:
        for at in range(3 * MAX_BATCH):
            text = "".join(chr(0x4E00 + (at * 7919 + i * i * 31) % 9000) for i in range(50))
            lines.write(json.dumps({"id": f"d{at}", "text": text}, ensure_ascii=False) + "\n")
    run("index", "create", "n.db", "-q")
    words = ["index", "add", "n.db", "many.jsonl", "--removed", "removed.jsonl"]
    # The first step is that of counting, which reads all files before any document is added.
    code, errors = run_interrupted(f"advance {batches + 1}", number, *words)
    stored = json.loads(run("index", "stats", "n.db", "--json").out)["documents"]
    assert stored == batches * MAX_BATCH
    so_far = f"The first {stored:,} records are stored; the same command continues from there."
    assert (code, errors) == (128 + number, f"{MESSAGE.rstrip()} {so_far}\n")
    assert "removed.jsonl" not in files()
    found = table(run(*words).err)
    assert found["already"].split() == ["there", f"{stored:,}"]
    assert found["read"] == f"{3 * MAX_BATCH:,}"


def test_the_report_of_add(run, index):
    rows = [{"id": f"p{at}", "text": "text", "date": "spring"} for at in range(150)]
    Path("bad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("empty.jsonl").touch()
    words = [
        ARTICLES,
        "bad.jsonl",
        "empty.jsonl",
        "--at-field",
        "date",
        "--at-zone",
        "UTC",
        "--within",
        "14d",
    ]
    found = run("index", "add", index, *words, "--report", "report.json", code=2)
    assert found.err.startswith("neardup: bad.jsonl: 150 records: field 'date' must be a time"), (
        found.err
    )
    assert " (records 1, 2, 3, …). Record 1: got spring instead.\n" in found.err
    assert "\nneardup: empty.jsonl: no records.\n" in found.err
    report = json.loads(Path("report.json").read_text("utf-8"))
    counts = report["summary"]
    assert (counts["read"], counts["refused"], counts["new"]) == (181, 150, 0)
    assert counts["already"] + counts["new"] == counts["kept"] + counts["dropped"] == 31
    assert counts["problems"] == len(report["problems"]) == 151
    assert report["problems"][149].startswith("bad.jsonl: record 150, field 'date': must be a time")
    assert report["problems"][150] == "empty.jsonl: no records."
    assert report["settings"]["within"] == "14d"
    assert report["settings"]["inputs"] == [str(ARTICLES), "bad.jsonl", "empty.jsonl"]
    assert report["index"]["documents"] == 31
    assert "neardup" in report["versions"]


def test_problems_of_a_background(run):
    Path("bad.jsonl").write_text("oops\n" * 101)
    Path("empty.jsonl").touch()
    found = run("index", "create", "n.db", "-b", "bad.jsonl", "-b", "empty.jsonl", code=2)
    assert "bad.jsonl: 101 records must be valid JSON (records 1, 2, 3, …)." in found.err
    assert "\nneardup: empty.jsonl: no records.\n" in found.err


def test_times_without_a_zone(run):
    run("index", "create", "n.db", "-q")
    line = json.dumps({"id": "a", "text": A, "date": "2020-3-30 23:37:00"})
    words = ["--at-field", "date", "--at-zone"]
    said = run("index", "add", "n.db", "-", *words, "Shanghai", stdin=line.encode(), code=2).err
    assert "--at-zone must be the name of a time zone" in said
    run("index", "add", "n.db", "-", *words, "Asia/Shanghai", "-q", stdin=line.encode())
    assert "arrived 2020-03-30 15:37:00 UTC" in run("index", "explain", "n.db", "a").out


def test_a_zone_that_is_assumed_is_named_once(run):
    Path("with.jsonl").write_text(json.dumps({"text": A, "date": "2020-04-01T17:04:00Z"}))
    Path("without.jsonl").write_text(json.dumps({"text": A, "date": "2020-4-1 17:04:00"}))
    words = ["index", "add", "n.db", "--at-field", "date"]
    assert "zone" not in run(*words, "with.jsonl").err
    found = run(*words, "with.jsonl", "without.jsonl", "without.jsonl")
    assert found.err.count("read as UTC. To set their zone, for example: --at-zone Asia/") == 1
    assert "zone" not in run(*words, "without.jsonl", "--at-zone", "UTC").err
    assert "is read as UTC" in run("index", "expire", "n.db", "--before", "2000-01-01").err


@pytest.mark.slow
def test_a_writer_that_waits_says_so_once(index):
    holder = open_database(index, must_exist=True)
    with holder.writing():
        process = subprocess.Popen(
            [sys.executable, "-m", "neardup", "index", "add", index, "in.jsonl"],
            stderr=subprocess.PIPE,
            env=environment(),
        )
        first = process.stderr.readline().decode()
    rest = process.communicate(timeout=PATIENCE)[1].decode()
    holder.close()
    assert first == "neardup: note: waiting for another writer.\n"
    assert "waiting" not in rest
    assert process.returncode == 0, rest


def test_a_field_that_no_record_has(run):
    words = ["index", "add", "n.db", "in.jsonl", "--at-field", "dat"]
    found = run(*words)
    said = "note: No record has a value in the field 'dat'. Check its name."
    assert f"neardup: {said}" in found.err
    assert "字段“dat”" in run("--language", "zh", *words).err
    assert run(*words, "-q").err == ""
