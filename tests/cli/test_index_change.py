"""``neardup index``: remove, expire and reconsider; export, check and rebuild."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.conftest import records, records_of

UNDAMAGED = "no damage found\n"


def test_remove_and_reconsider(run, index):
    result = run("index", "remove", index, "bridge", "nosuch", code=2)
    assert result.out == "bridge-repost freed\nbridge-agency freed\n"
    assert "there is no document 'nosuch'" in result.err
    assert "1 removed, 2 freed\n" in result.err
    assert "freed: what it repeated is gone" in run("index", "explain", index, "bridge-agency").out
    gone = run("index", "explain", index, "bridge").out
    assert gone.startswith("bridge is not in the index any more.\n")
    result = run("index", "reconsider", index, "bridge-repost", "ferry", "nosuch", code=2)
    assert result.out == "bridge-repost kept\n"
    assert "note: 'ferry' is already kept; skipped" in result.err
    assert "there is no document 'nosuch'" in result.err
    assert "1 decided again: 1 kept, 0 dropped\n" in result.err
    result = run("index", "reconsider", index)
    assert result.out.startswith("bridge-agency repeats bridge-repost: content(5) 0.9")
    assert result.err == "1 decided again: 0 kept, 1 dropped\n"
    explained = run("index", "explain", index, "bridge-agency").out
    assert "freed: it repeated bridge, which was removed" in explained
    assert "reconsidered: it repeats bridge-repost" in explained


def test_reconsider_at_once(run, index):
    result = run("index", "remove", index, "bridge", "--reconsider")
    assert result.out.startswith("bridge-repost kept\nbridge-agency repeats bridge-repost")


def test_expire(run, index):
    result = run("index", "expire", index, "--before", "2025-03-03T00:00Z", "--reconsider")
    assert result.err.startswith("1 removed, 2 freed\n")
    assert result.out.startswith("bridge-repost kept\n")
    assert run("index", "expire", index, "--older-than", "1w").err.startswith("30 removed, 0 freed")
    assert json.loads(run("index", "stats", index, "--json").out)["documents"] == 0


def test_export(run, index):
    words = ["-o", "kept.jsonl", "--decisions", "decisions.csv"]
    run("index", "export", index, *words)
    kept = records_of("kept.jsonl")
    assert len(kept) == 25
    assert list(kept[0]) == ["id", "text", "title", "source", "at", "date"]
    assert len(Path("decisions.csv").read_text("utf-8").splitlines()) == 7
    assert "exists already" in run("index", "export", index, *words, code=2).err
    run("index", "export", index, *words, "--force")
    assert run("index", "export", index).out == Path("kept.jsonl").read_text("utf-8")


def test_the_whole_index_through_a_pipe(run, index, files):
    run("index", "remove", index, "bridge")
    dumped = run("index", "export", index, "--whole")
    assert dumped.err == ""
    run("index", "create", "copy.db", "--from", "-", stdin=dumped.stdout)
    assert run("index", "export", "copy.db", "--whole").stdout == dumped.stdout
    run("index", "export", "copy.db", "--whole", "-o", "dump.gz")
    run("index", "create", "third.db", "--from", "dump.gz", "-q")
    assert run("index", "export", "third.db", "--whole").stdout == dumped.stdout
    before = files()
    for stdin in (dumped.stdout[: len(dumped.stdout) // 2], Path("dump.gz").read_bytes()):
        run("index", "create", "bad.db", "--from", "-", stdin=stdin, code=2)
        assert files() == before


def test_an_index_without_texts_says_so(run):
    run("index", "create", "n.db", "--store", "sketch", "-q")
    run("index", "add", "n.db", "in.jsonl", "-q")
    result = run("index", "export", "n.db")
    assert "stores no texts" in result.err
    assert records(result.out)[0]["text"] is None


def test_upkeep(run, index):
    assert run("index", "recount", index).err.endswith(" texts counted\n")
    run("index", "create", "news.db", "-r", "news", "-q")
    assert run("index", "recount", "news.db").err.startswith("nothing counted")
    assert "MB before" in run("index", "compact", index).err
    run("index", "backup", index, "copy.db")
    assert json.loads(run("index", "stats", "copy.db", "--json").out)["documents"] == 31
    assert run("index", "check", "copy.db").err == UNDAMAGED


def test_damage_is_printed_and_rebuilt(run, index):
    assert run("index", "check", index, "--full").err == UNDAMAGED
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("UPDATE documents SET features = 9000000000 WHERE number = 1")
        connection.execute("UPDATE counters SET value = 50 WHERE name = 'kept'")
    for words in ([], ["--full"]):
        result = run("index", "check", index, *words, code=2)
        assert "document 1: its 'features'" in result.out
        assert "counter 'kept'" in result.out
        assert "neardup index rebuild n.db NEW" in result.err
    assert run("index", "rebuild", index, "new.db").out == ""
    assert run("index", "check", "new.db", "--full").err == UNDAMAGED


def test_a_loss_is_printed(run, index):
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("DELETE FROM texts WHERE number = 1")
    result = run("index", "rebuild", index, "new.db", code=2)
    assert result.out.startswith("document 1 (")
    assert "is left out: its text is missing" in result.out
    run("index", "rebuild", index, "new.db", code=2)
    assert run("index", "check", "new.db").err == UNDAMAGED


def test_a_damaged_file(run, index):
    data = bytearray(Path(index).read_bytes())
    middle = len(data) * 3 // 4 // 4096 * 4096
    data[middle : middle + 4096] = bytes(range(256)) * 16
    Path(index).write_bytes(data)
    result = run("index", "check", index, code=2)
    assert result.out or "damaged" in result.err
