"""``neardup index``: query, explain and stats."""

import json
from pathlib import Path

from tests.cli.conftest import ARTICLES, A, records


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
