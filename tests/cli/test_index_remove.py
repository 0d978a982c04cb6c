"""``neardup index``: remove, expire and reconsider."""

import json


def test_remove_and_reconsider(run, index):
    found = run("index", "remove", index, "bridge")
    assert found.out == "bridge-repost freed\nbridge-agency freed\n"
    assert found.err.startswith("1 removed, 2 freed\n")
    assert "freed: what it repeated is gone" in run("index", "explain", index, "bridge-agency").out
    gone = run("index", "explain", index, "bridge").out
    assert gone.startswith("bridge is not in the index any more.\n")
    found = run("index", "reconsider", index, "bridge-repost", "ferry", "nosuch", code=2)
    assert found.out == "bridge-repost kept\n"
    assert found.err == (
        "neardup: note: 'ferry' is already kept; skipped.\n"
        f"neardup: {index}: there is no document 'nosuch'.\n"
        "1 decided again: 1 kept, 0 dropped\n"
        "neardup: done, except for what the lines above report.\n"
    )
    found = run("index", "reconsider", index)
    assert found.out.startswith("bridge-agency repeats bridge-repost: content(5) 0.9")
    assert found.err == "1 decided again: 0 kept, 1 dropped\n"
    explained = run("index", "explain", index, "bridge-agency").out
    assert "freed: it repeated bridge, which was removed" in explained
    assert "reconsidered: it repeats bridge-repost" in explained


def test_remove_several_at_once(run, index):
    found = run("index", "remove", index, "bridge", "nosuch", "bridge-repost", code=2)
    assert found.err.startswith(f"neardup: {index}: there is no document 'nosuch'.\n2 removed, 1 ")
    assert found.out == "bridge-agency freed\n"


def test_remove_with_reconsider(run, index):
    found = run("index", "remove", index, "bridge", "--reconsider")
    assert found.out.startswith("bridge-repost kept\nbridge-agency repeats bridge-repost")


def test_expire(run, index):
    found = run("index", "expire", index, "--before", "2025-03-03T00:00Z", "--reconsider")
    assert found.err.startswith("1 removed, 2 freed\n")
    assert found.out.startswith("bridge-repost kept\n")
    assert run("index", "expire", index, "--older-than", "1w").err.startswith("30 removed, 0 freed")
    assert json.loads(run("index", "stats", index, "--json").out)["documents"] == 0
