"""``neardup index``: query, explain, remove, expire, reconsider, export and check."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.conftest import ARTICLES, A, records, records_of

from neardup import Index

UNDAMAGED = "no damage found\n"


def test_remove(run, index):
    result = run("index", "remove", index, "bridge", "nosuch", code=2)
    repost, agency = result.out.splitlines()
    assert repost == "bridge-repost kept"
    assert agency.startswith("bridge-agency repeats bridge-repost: content(5) 0.9")
    assert "there is no document 'nosuch'" in result.err
    assert "1 document removed\n" in result.err
    assert "2 decided again: 1 kept, 1 dropped\n" in result.err
    gone = run("index", "explain", index, "bridge").out
    assert gone.startswith("bridge is not in the index any more.\n")
    explained = run("index", "explain", index, "bridge-repost").out
    assert "decided again, since bridge was removed: kept" in explained
    explained = run("index", "explain", index, "bridge-agency").out
    assert "decided again, since bridge was removed: it repeats bridge-repost" in explained


def test_reconsider(run, index):
    result = run("index", "reconsider", index, "bridge-repost", "ferry", "nosuch", code=2)
    assert result.out == "bridge-repost repeats bridge: the same text\n"
    assert "note: 'ferry' is already kept; skipped" in result.err
    assert "there is no document 'nosuch'" in result.err
    assert "1 decided again: 0 kept, 1 dropped\n" in result.err
    assert run("index", "reconsider", index).err == "6 decided again: 0 kept, 6 dropped\n"
    explained = run("index", "explain", index, "bridge-repost").out
    assert explained.count("decided again: it repeats bridge\n") == 2


def test_expire(run, index):
    result = run("index", "expire", index, "--before", "2025-03-03T00:00Z")
    assert result.err.startswith("1 document removed\n")
    assert result.out.startswith("bridge-repost kept\n")
    result = run("index", "expire", index, "--older-than", "1w")
    assert result.err == "30 documents removed\n"
    assert json.loads(run("index", "stats", index, "--json").out)["documents"] == 0


def test_export(run, index):
    words = ["-o", "kept.jsonl", "--decisions", "decisions.csv"]
    run("index", "export", index, *words)
    kept = records_of("kept.jsonl")
    assert len(kept) == 25
    assert list(kept[0]) == ["id", "text", "title", "source", "at", "date"]
    assert len(Path("decisions.csv").read_text("utf-8").splitlines()) == 7
    assert run("index", "export", index).out == Path("kept.jsonl").read_text("utf-8")


def test_the_whole_index_through_a_pipe(run, index):
    fields = ("--at-field", "at", "--source-field", "source", "--extra-field", "date", "-q")
    whole = run("index", "export", index, "--include-removed")
    assert whole.err == ""
    run("index", "create", "copy.db", "-q")
    run("index", "add", "copy.db", "-", *fields, stdin=whole.stdout)
    assert run("index", "export", "copy.db", "--include-removed").stdout == whole.stdout
    for place in (index, "copy.db"):
        run("index", "export", place, "-o", "kept.jsonl", "--decisions", f"{place}.csv", "-f")
    assert Path("copy.db.csv").read_bytes() == Path(f"{index}.csv").read_bytes()


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


def test_upkeep(run, index):
    assert run("index", "recount", index).err.endswith(" texts counted\n")
    run("index", "create", "news.db", "-r", "news", "-q")
    assert run("index", "recount", "news.db").err.startswith("nothing counted")
    assert "MB before" in run("index", "compact", index).err
    run("index", "backup", index, "copy.db")
    assert json.loads(run("index", "stats", "copy.db", "--json").out)["documents"] == 31
    assert run("index", "check", "copy.db").err == UNDAMAGED


def test_damage_is_named(run, index):
    assert run("index", "check", index).err == UNDAMAGED
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("UPDATE counters SET value = 50 WHERE name = 'kept'")
    result = run("index", "check", index, code=2)
    assert "counter 'kept' must be 25, and is 50" in result.err
    assert "make a new index from its sources or an export" in result.err


def test_a_damaged_file(run, index):
    data = bytearray(Path(index).read_bytes())
    middle = len(data) * 3 // 4 // 4096 * 4096
    data[middle : middle + 4096] = bytes(range(256)) * 16
    Path(index).write_bytes(data)
    assert "damaged" in run("index", "check", index, code=2).err


def test_query(run, index):
    first = records(ARTICLES.read_text("utf-8"))[0]
    text = first["text"]
    Path("text.txt").write_text(text + "\n", "utf-8")
    for words, stdin in (
        ([text], b""),
        (["-"], text.encode()),
        (["--file", "text.txt"], b""),
        (["--file", "-"], text.encode()),
    ):
        result = run("index", "query", index, *words, stdin=stdin)
        assert result.err == ""
        assert result.out == f"same text   {first['id']}  {first['title']}\n"
    (match,) = records(run("index", "query", index, text[:-20], "--json", "-k", "1").out)
    assert match["id"] == first["id"]
    assert match["similarity"] > 0.8
    assert not match["identical"]
    window = ["--within", "1d", "--at"]
    assert run("index", "query", index, text, *window, first["date"]).out.startswith("same text")
    result = run("index", "query", index, text, *window, "2031-01-01T08:00Z")
    assert result.out == ""
    assert "kept in the 1d before 2031-01-01 08:00:00 UTC" in result.err
    assert "in the 1d before 20" in run("index", "query", index, text, "--within", "1d").err


def test_query_without_an_answer(run, index):
    # The name of a file is refused as an argument, and can be asked about as a text.
    result = run("index", "query", index, "-", stdin=b"in.jsonl")
    assert result.out == ""
    assert result.err == "neardup: no kept document is similar enough.\n"
    result = run("index", "query", index, "没有人写过的一句话。", "--json")
    assert (result.out, result.err) == ("", "")


def test_explain(run, index):
    dropped = run("index", "explain", index, "bridge-agency").out
    assert "dropped: it repeats bridge: content(5) 0.9463" in dropped
    kept = run("index", "explain", index, "bridge").out
    assert "  kept\n" in kept
    assert "dropped for it: bridge-repost  same text" in kept
    found = json.loads(run("index", "explain", index, "bridge", "--json").out)
    assert found["document"]["state"] == "kept"
    assert [row["id"] for row in found["dropped"]] == ["bridge-repost", "bridge-agency"]


def test_no_terminal_takes_an_id_for_a_command(run):
    line = json.dumps({"id": "a\x1b[2J\n", "title": "t\x1b]0;x\x07", "text": A})
    run("index", "add", "n.db", "-", "-q", stdin=line.encode())
    for words in (["query", "n.db", A], ["explain", "n.db", "a\x1b[2J\n"]):
        out = run("index", *words).out
        assert "\x1b" not in out
        assert out.count("\n") == len(out.splitlines())
