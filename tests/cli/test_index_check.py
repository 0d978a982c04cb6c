"""``neardup index check`` and ``rebuild``: what they print, and how they end."""

import sqlite3
from contextlib import closing


def test_damage_is_printed_and_rebuilt(run, index):
    assert run("index", "check", index, "--full").err == "no damage found\n"
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("UPDATE documents SET features = 9000000000 WHERE number = 1")
        connection.execute("UPDATE counters SET value = 50 WHERE name = 'kept'")
    for words in ([], ["--full"]):
        found = run("index", "check", index, *words, code=2)
        assert "document 1: its 'features' must be a whole number from 0" in found.out
        assert "counter 'kept': must be" in found.out
        assert "neardup index rebuild n.db NEW" in found.err
    assert run("index", "rebuild", index, "new.db").out == ""
    assert run("index", "check", "new.db", "--full").err == "no damage found\n"


def test_a_loss_is_printed(run, index):
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("DELETE FROM texts WHERE number = 1")
    done = run("index", "rebuild", index, "new.db", code=2)
    assert done.out.startswith("document 1 (")
    assert "is left out: its text is missing. Add it again" in done.out
    run("index", "rebuild", index, "new.db", code=2)
    assert run("index", "check", "new.db").err == "no damage found\n"
