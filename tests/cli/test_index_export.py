"""``neardup index``: export, recount, compact and check."""

import json
import os
from pathlib import Path

from tests.cli.conftest import records, records_of


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
    cut = dumped.stdout[: len(dumped.stdout) // 2]
    for words, stdin, said in (
        (["--from", "-"], cut, "No index was made; export again."),
        (["--from", "-"], Path("dump.gz").read_bytes(), "must not be compressed"),
        (["--from", "-"], b"", "must begin with the first line"),
    ):
        assert said in run("index", "create", "bad.db", *words, stdin=stdin, code=2).err
        assert files() == before
    said = "includes the decisions"
    words = ["--whole", "--decisions", "d.csv"]
    assert said in run("index", "export", index, *words, code=2).err


def test_an_index_without_texts_says_so(run):
    run("index", "create", "n.db", "--store", "sketch", "-q")
    run("index", "add", "n.db", "in.jsonl", "-q")
    found = run("index", "export", "n.db")
    assert "stores no texts" in found.err
    assert records(found.out)[0]["text"] is None


def test_upkeep(run, index):
    assert run("index", "recount", index).err.endswith(" texts counted\n")
    run("index", "create", "news.db", "-r", "news", "-q")
    said = "nothing counted: the rule does not use statistics\n"
    assert run("index", "recount", "news.db").err == said
    assert "MB before" in run("index", "compact", index).err
    assert run("index", "check", index).err == "no damage found\n"
    run("index", "backup", index, "copy.db")
    stats = json.loads(run("index", "stats", "copy.db", "--json").out)
    assert stats["documents"] == 31
    for name in ("copy.db", f"{index}-wal"):
        assert f"{name}: " in run("index", "backup", index, name, code=2).err


def test_check_of_a_damaged_file(run, index):
    data = bytearray(Path(index).read_bytes())
    middle = len(data) * 3 // 4 // 4096 * 4096
    data[middle : middle + 4096] = os.urandom(4096)
    Path(index).write_bytes(data)
    found = run("index", "check", index, code=2)
    assert found.out or "damaged" in found.err
