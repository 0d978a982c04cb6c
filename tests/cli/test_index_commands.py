"""``neardup index``: how its commands end; tests/sessions/index.md has what they print."""

import gzip
import itertools
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from tests import forks
from tests.cli.conftest import ARTICLES, LINES, A, environment, records_of, table
from tests.cli.interrupted import MESSAGE, run_interrupted
from tests.waiting import PATIENCE

from neardup import Index
from neardup._core import MAX_BATCH
from neardup.index.backends import open_database
from neardup.index.backends.database import METADATA, Database
from neardup.index.backends.sqlite import SQLiteFile


def stats(run, index="n.db"):
    return json.loads(run("index", "stats", index, "--json").out)


#: Calls while an index is made, by the class or object that has them.
MAKING = {
    "_is_there": SQLiteFile,
    "create_all": METADATA,
    "_read_version": Database,
    "_prepare": SQLiteFile,
}


def run_killed(name, *words):
    """Run the command until it makes a call, which kills the process."""
    assert hasattr(MAKING[name], name)
    setattr(MAKING[name], name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    forks.run_command(*words)


@pytest.mark.parametrize("name", MAKING)
def test_a_kill_while_the_index_is_made(run, name):
    words = ("index", "add", "n.db", "in.jsonl")
    killed = forks.run(run_killed, name, *words, environment=environment())
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    run("index", "add", "n.db", "in.jsonl")
    assert stats(run)["documents"] == 4


def test_an_empty_file_becomes_an_index_and_nothing_else_does(run):
    Path("n.db").touch()
    run("index", "add", "n.db", "nosuch.jsonl", code=2)
    assert Path("n.db").read_bytes() == b""
    run("index", "add", "n.db", "in.jsonl")
    assert stats(run)["documents"] == 4
    before = Path("in.jsonl").read_bytes()
    assert "in.jsonl: must be an index" in run("index", "add", "in.jsonl", "in.jsonl", code=2).err
    assert Path("in.jsonl").read_bytes() == before


def test_create_with_settings(run, files):
    words = ["--threshold", "0.7", "--expected", 500, "--strip-markup"]
    result = run("index", "create", "n.db", *words)
    assert result.out == ""
    assert "recipe         general-" in result.err
    assert files() == ["in.jsonl", "n.db"]
    created = stats(run)
    assert (created["documents"], created["threshold"]) == (0, 0.7)
    assert run("index", "create", "q.db", "--recipe", "news", "-q").err == ""
    assert stats(run, "q.db")["background_texts"] is None


def test_second_add_names_the_same_duplicates(run):
    for name in ("first", "again"):
        result = run("index", "add", "n.db", ARTICLES, "--removed", f"{name}.jsonl")
        assert result.out == ""
        made = "neardup: note: created the index n.db with the recipe general."
        assert result.err.startswith(made) == (name == "first")
    counts = {"read": "31", "already": "there            31", "new": "0"}
    assert counts.items() <= table(result.err).items()
    assert table(result.err)["dropped"] == "6  content(5) >= 0.4"
    removed = records_of("first.jsonl")
    assert {row["id"]: row["kept_id"] for row in removed}["bridge-repost"] == "bridge"
    assert list(removed[0]) == ["id", "kept_id", "similarity", "measure", "distance"]
    assert Path("first.jsonl").read_bytes() == Path("again.jsonl").read_bytes()
    assert run("index", "add", "other.db", "-", "-q", stdin=LINES.encode()).err == ""
    run("index", "export", "other.db", "-o", "kept.jsonl", "--decisions", "dropped.jsonl")
    assert [row["id"] for row in records_of("dropped.jsonl")] == ["c", "d"]


def test_duplicates_and_problems_in_the_exit_code(run):
    words = ("index", "add", "n.db", "--fail-on-duplicates")
    for _ in range(2):
        run(*words, "in.jsonl", "-q", code=1)
    Path("bad.jsonl").write_text('{"id": "x", "text": 7}\n' + LINES, "utf-8")
    result = run(*words, "bad.jsonl", code=2)
    assert "bad.jsonl: record 1, field 'text'" in result.err
    assert table(result.err)["refused"] == "1"
    Path("other.jsonl").write_text('{"id": "a", "text": "另一段文字。"}\n', "utf-8")
    assert "'a' already belongs to another text" in run(*words, "other.jsonl", code=2).err


@pytest.mark.parametrize("name", ["cut.jsonl", "cut.jsonl.gz", "cut.jsonl.zst"])
def test_cut_file_is_reported_as_by_dedup(run, name):
    rows = [{"id": f"r{at}", "text": f"{A}{chr(0x4E00 + at) * 30}"} for at in range(60)]
    data = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    pack = {".gz": gzip.compress, ".zst": zstandard.compress}.get(Path(name).suffix, bytes)
    Path(name).write_bytes(pack(data)[:-9])
    expected = run("dedup", name, "-o", "kept.jsonl", "-q", code=2).err
    assert expected.startswith(f"neardup: {name}: record ")
    # Into a new index, and again into one that has all that was read.
    for _ in range(2):
        assert run("index", "add", "n.db", name, "-q", code=2).err == expected
    piped = run("index", "add", "m.db", "-", "-q", stdin=Path(name).read_bytes(), code=2).err
    assert piped == expected.replace(f"{name}: ", "-: ")


def numbered_texts(name, begin, end):
    """Write documents that do not repeat each other."""
    with Path(name).open("w", encoding="utf-8") as lines:
        for at in range(begin, end):
            text = "".join(chr(0x4E00 + (at * 7919 + i * i * 31) % 9000) for i in range(50))
            lines.write(json.dumps({"id": f"d{at}", "text": text}, ensure_ascii=False) + "\n")


@pytest.mark.parametrize(
    ("has_documents", "fails_at"), [(False, 1), (False, 3), (True, 1), (True, 5)]
)
def test_error_says_how_many_records_are_stored(run, monkeypatch, has_documents, fails_at):
    """Some batches are several transactions, since the index is counted again in between."""
    monkeypatch.setattr("neardup.index.ingest.first_import._WRITTEN", 1000)
    run("index", "create", "n.db", "-q")
    if has_documents:
        numbered_texts("few.jsonl", 0, 1500)
        run("index", "add", "n.db", "few.jsonl", "-q")
    numbered_texts("many.jsonl", 1500, 1500 + 5 * MAX_BATCH)
    before = stats(run)["documents"]
    begin, writes = SQLiteFile._begin, itertools.count(1)

    def fill_disk(database, connection, *, write):
        if write and next(writes) == fails_at:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        begin(database, connection, write=write)

    with monkeypatch.context() as patch:
        patch.setattr(SQLiteFile, "_begin", fill_disk)
        error = run("index", "add", "n.db", "many.jsonl", "-q", code=2).err
    stored = stats(run)["documents"] - before
    words = f"The first {stored:,} records are" if stored else "Nothing of the input was stored"
    assert "the disk is full" in error
    assert words in error
    run("index", "add", "n.db", "many.jsonl", "-q")
    assert stats(run)["documents"] == before + 5 * MAX_BATCH


def test_an_index_of_other_settings_is_not_made_again(run):
    run("index", "create", "n.db", "-t", "0.5", "-q")
    words = ("index", "create", "n.db", "-t", "0.6")
    assert "threshold 0.5 (0.6 requested)" in run(*words, code=2).err
    assert "threshold 为 0.5（要求 0.6）" in run("--language", "zh", *words, code=2).err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "transactions", "at_count"), [(signal.SIGINT, 1, 100), (signal.SIGTERM, 2, 200)]
)
def test_after_an_interrupt_the_same_command_continues(
    run, here, files, number, transactions, at_count
):
    numbered_texts(here / "many.jsonl", 0, 3 * MAX_BATCH)
    run("index", "create", "n.db", "-q")
    words = ["index", "add", "n.db", "many.jsonl", "--removed", "removed.jsonl"]
    # A first import stores nothing until all is read and decided.
    code, errors = run_interrupted("stage 2", number, *words)
    assert (code, stats(run)["documents"]) == (128 + number, 0)
    assert "Nothing of the input was stored" in errors
    run("index", "add", "n.db", "in.jsonl", "-q")
    code, errors = run_interrupted(f"advance {transactions}", number, *words)
    stored = stats(run)["documents"] - 4
    # The index is counted again, and a transaction ends, when it has so many documents.
    assert stored == at_count - 4
    assert code == 128 + number
    assert errors.startswith(MESSAGE.rstrip())
    assert f"The first {stored:,} records are stored" in errors
    assert "removed.jsonl" not in files()
    found = table(run(*words).err)
    assert found["already"].split() == ["there", f"{stored:,}"]
    assert found["read"] == f"{3 * MAX_BATCH:,}"


def test_the_report_of_add(run, index):
    rows = [{"id": f"p{at}", "text": "text", "date": "spring"} for at in range(150)]
    Path("bad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = [str(ARTICLES), "bad.jsonl", "--at-field", "date", "--at-zone", "UTC"]
    result = run(
        "index", "add", index, *words, "--within", "14d", "--report", "report.json", code=2
    )
    first = result.err.splitlines()[0]
    assert first.startswith("neardup: bad.jsonl: record 1, field 'date': must be a time")
    assert first.endswith("150 in all (bad.jsonl:1, bad.jsonl:2, bad.jsonl:3, …).")
    report = json.loads(Path("report.json").read_text("utf-8"))
    counts = {"read": 181, "refused": 150, "new": 0, "already": 31, "problems": 150}
    assert counts.items() <= report["summary"].items()
    assert report["summary"]["kept"] + report["summary"]["dropped"] == 31
    assert len(report["problems"]) == 150
    assert report["problems"][149].startswith("bad.jsonl: record 150, field 'date'")
    assert (report["settings"]["within"], report["settings"]["inputs"]) == ("14d", words[:2])
    assert report["index"]["documents"] == 31
    assert "neardup" in report["versions"]


def test_assumed_zone_is_named_once(run):
    Path("with.jsonl").write_text(json.dumps({"text": A, "date": "2020-04-01T17:04:00Z"}))
    Path("without.jsonl").write_text(json.dumps({"text": A, "date": "2020-4-1 17:04:00"}))
    words = ["index", "add", "n.db", "--at-field", "date"]
    assert "zone" not in run(*words, "with.jsonl").err
    result = run(*words, "with.jsonl", "without.jsonl", "without.jsonl")
    assert result.err.count("--at-zone Asia/") == 1
    assert "zone" not in run(*words, "without.jsonl", "--at-zone", "UTC").err
    assert "is read as UTC" in run("index", "expire", "n.db", "--before", "2000-01-01").err


@pytest.mark.slow
def test_waiting_writer_says_so_once(index):
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


def test_field_missing_in_all_records_is_noted(run):
    words = ["index", "add", "n.db", "in.jsonl", "--at-field", "dat"]
    assert "neardup: note: No record has a value in the field 'dat'." in run(*words).err
    assert "字段“dat”" in run("--language", "zh", *words).err
    assert run(*words, "-q").err == ""


@pytest.mark.parametrize(
    ("steps", "state"),
    [
        ("keep", r"kept by a person \(Li\) on 20\d\d-\d\d-\d\d \S+ UTC"),
        ("confirm", r"removal confirmed by a person \(Li\) on 20\d\d-\d\d-\d\d \S+ UTC"),
        # A decision that was undone is only in the history.
        ("keep undo", r"dropped: it repeats bridge: .*"),
        ("confirm undo", r"dropped: it repeats bridge: .*"),
    ],
)
def test_decision_of_a_person_is_explained(run, index, steps, state):
    with Index(index) as opened:
        for step in steps.split():
            getattr(opened, step)("bridge-repost", by="Li")
    explained = run("index", "explain", index, "bridge-repost").out
    assert re.search(rf"^  {state}$", explained, re.MULTILINE)
    assert (" on 20" in explained) == ("undo" not in steps)
    assert ("decision undone by a person (Li)" in explained) == ("undo" in steps)
    assert "人工" in run("--language", "zh", "index", "explain", index, "bridge-repost").out


def test_no_terminal_takes_an_id_for_a_command(run):
    line = json.dumps({"id": "a\x1b[2J\n", "title": "t\x1b]0;x\x07", "text": A})
    run("index", "add", "n.db", "-", "-q", stdin=line.encode())
    for words in (["query", "n.db", A], ["explain", "n.db", "a\x1b[2J\n"]):
        out = run("index", *words).out
        assert "\x1b" not in out
        assert out.count("\n") == len(out.splitlines())
