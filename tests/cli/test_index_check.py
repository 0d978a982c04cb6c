"""``neardup index check``: what it prints, and how it ends."""

import sqlite3
from contextlib import closing


def test_damage_is_printed_and_repaired(run, index):
    assert run("index", "check", index, "--full").err == "no damage found\n"
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("UPDATE documents SET features = 9000000000 WHERE number = 1")
        connection.execute("UPDATE counters SET value = 50 WHERE name = 'kept'")
    for words in ([], ["--full"]):
        found = run("index", "check", index, *words, code=2)
        assert "document 1: its 'features' must be a whole number from 0" in found.out
        assert "counter 'kept': must be" in found.out
        assert "--repair" in found.err
    done = run("index", "check", index, "--repair")
    assert "repaired: document 1: its 'features' is made again" in done.out
    assert "no damage is left" in done.err
    assert run("index", "check", index, "--repair").err == "no damage found\n"
