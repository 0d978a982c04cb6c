"""``neardup index``: places without an index, and outputs that cannot be written."""

import os
from pathlib import Path

import pytest
from tests import needs
from tests.cli.conftest import A, B
from tests.forks import Fork, run_command
from tests.waiting import PATIENCE


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
        found = run("index", *words, "--force", code=2)
        assert f"{name}: must not be written, since it is a file of the index n.db" in found.err
        assert found.out == ""
    assert run("index", "check", index).err == "no damage found\n"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason=needs.LINUX)
@pytest.mark.parametrize(
    "words",
    [
        ["stats"],
        ["stats", "--json"],
        ["query", A],
        ["explain", "a"],
        ["clusters"],
        ["export"],
        ["export", "--whole"],
        ["remove", "a"],
        ["reconsider"],
        ["reconsider", "c"],
    ],
)
@pytest.mark.usefixtures("here")
def test_a_full_disk_behind_standard_output(run, words):
    run("index", "create", "n.db", "-q")
    run("index", "add", "n.db", "in.jsonl", "-q")
    if words == ["reconsider"]:
        run("index", "remove", "n.db", "a")
    full, errors = Path("/dev/full"), Path("errors.txt")
    command = Fork(run_command, "index", words[0], "n.db", *words[1:], stdout=full, stderr=errors)
    code = command.wait(PATIENCE)
    text = errors.read_text("utf-8")
    assert code == 2, text
    assert "Traceback" not in text
    assert "cannot be written: No space left on device" in text
    assert text.count("No space left") == 1


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
        found = run("index", command, place, *COMMANDS[command], code=2)
        assert said in found.err
        assert found.err.count("\n") == 1
        assert "secret" not in found.err
        assert found.out == ""
    assert files() == ["empty.db", "in.jsonl", "text.db"]
