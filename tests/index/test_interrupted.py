"""Ctrl-C in the middle of an addition."""

import sqlite3
import sys

import pytest
from sqlalchemy.engine import default

import neardup


def test_the_lock_is_given_back_though_the_traceback_lives_on(tmp_path, monkeypatch):
    place = tmp_path / "news.db"
    done = default.DefaultDialect.do_execute
    left = [1]

    def interrupted(self, cursor, statement, parameters, context=None):
        done(self, cursor, statement, parameters, context)
        if left and statement.startswith("SELECT counters"):
            left.pop()
            raise KeyboardInterrupt

    with neardup.Index(place, workers=1) as index:
        index.add("a", "The ferry to the islands leaves at nine from the second quay.")
        monkeypatch.setattr(default.DefaultDialect, "do_execute", interrupted)
        with pytest.raises(KeyboardInterrupt) as held:
            index.add("b", "The orchard on the hill lost half of its pears to the hail.")
        # As a notebook keeps the last exception, with all frames and their cursors.
        assert held.value.__traceback__ is not None
        other = sqlite3.connect(place, timeout=1, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
        other.close()
        assert "b" not in index
        assert index.add("b", "The orchard on the hill lost half of its pears.") is None
    assert sys.exc_info() == (None, None, None)
