"""``neardup index``: places without an index, and outputs that cannot be written."""

import os
from pathlib import Path

import pytest
from tests.cli.conftest import B


@pytest.mark.slow
@pytest.mark.parametrize("name", ["n.db", "n.db-wal", "n.db-shm", "n.db-commits", "link.jsonl"])
def test_the_index_is_not_overwritten(run, index, name):
    os.symlink(index, "link.jsonl")
    for words in (
        ["export", index, "--whole", "-o", name],
        ["export", index, "-o", name],
        ["export", index, "--decisions", name],
        ["clusters", index, "-o", name],
        ["add", index, "in.jsonl", "--report", name],
        ["add", index, "in.jsonl", "--removed", name],
    ):
        result = run("index", *words, "--force", code=2)
        assert f"{name}: must not be written, since it is a file of the index n.db" in result.err
        assert result.out == ""
    assert run("index", "check", index).err == "no damage found\n"


COMMANDS = {
    "add": ["in.jsonl"],
    "query": ["text"],
    "explain": ["id"],
    "clusters": [],
    "stats": [],
    "remove": ["id"],
    "expire": ["--older-than", "3d"],
    "reconsider": [],
    "export": [],
    "recount": [],
    "backup": ["copy.db"],
    "compact": [],
    "check": [],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_places_without_an_index(run, files, command):
    Path("text.db").write_text(B * 100, "utf-8")
    Path("empty.db").touch()
    Path("folder").mkdir()
    for place, said in (
        # Adding makes a new index in a folder that exists.
        ("nosuch/n.db", "must be in a folder that exists")
        if command == "add"
        else ("nosuch.db", "no such file. Create an index first"),
        ("text.db", "must be an index"),
        ("empty.db", "must hold an index. Got an empty database"),
        ("folder", "must be a file. Got a folder instead"),
        ("mysql://host/db", "must be the path of a file, or begin with postgresql://"),
        ("postgresql://u:secret@127.0.0.1:1/x", "cannot connect"),
    ):
        result = run("index", command, place, *COMMANDS[command], code=2)
        assert said in result.err
        assert result.err.count("\n") == 1
        assert "secret" not in result.err
        assert result.out == ""
    assert files() == ["empty.db", "in.jsonl", "text.db"]
