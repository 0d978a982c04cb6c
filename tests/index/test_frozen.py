"""An index that an earlier version wrote is opened, answers as then, and goes on."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from tests.index.fixtures import make_index_v1 as v1
from tests.index.sound import check_sound

from neardup import Index


@pytest.fixture
def copy(tmp_path):
    return str(shutil.copy(v1.DATABASE, tmp_path / "index.db"))


@pytest.fixture(scope="module")
def recorded():
    return json.loads(v1.ANSWERS.read_text("utf-8"))


def test_the_file_is_what_was_frozen():
    assert v1.DATABASE.stat().st_size < 200_000
    with closing(sqlite3.connect(f"{v1.DATABASE.as_uri()}?mode=ro", uri=True)) as connection:
        found = dict(connection.execute("SELECT name, value FROM meta"))
    assert found["schema"] == "1"
    assert found["neardup"] == "0.1.0"


@pytest.mark.parametrize("part", ["documents", "clusters", "queries", "events", "stats"])
def test_it_answers_as_then(copy, recorded, part):
    with Index(copy, must_exist=True) as index:
        assert v1.answers(index)[part] == recorded[part]


def test_it_has_something_of_everything(recorded):
    assert {one["state"] for one in recorded["documents"]} == {"kept", "dropped", "freed"}
    assert any(one["identical"] for found in recorded["queries"] for one in found)
    assert any(0 < one["similarity"] < 1 for found in recorded["queries"] for one in found)
    assert recorded["stats"]["background"] == "given"


def test_it_takes_more(copy, recorded):
    """What comes is decided by what is there, and what was freed decided again."""
    before = check_sound(copy)
    with Index(copy) as index:
        again = [one for one in v1.records() if one["id"] in before]
        states = {one["id"]: one["state"] for one in recorded["documents"]}
        added = index.add_many(again, at="day", source="from", extra=["n"])
        assert added.problem_count == 0
        assert added.already == sum(state != "freed" for state in states.values())
        assert index.stats().freed == 0
        asked = [index.query(text, 1) for text in v1.QUERIES]
        found = [index.add(f"new/{at}", text) for at, text in enumerate(v1.QUERIES)]
        assert [[one] if one else [] for one in found] == asked
        assert sum(one is not None for one in found) > 4
        index.expire(before="1970-01-01")
        index.remove("notice/0")
        index.reconsider()
    after = check_sound(copy)
    assert {"new/0", "notice/5"} <= set(after)


def test_nothing_of_it_depends_on_where_it_was_made(copy):
    content = v1.DATABASE.read_bytes()
    assert b"make_index" not in content
    assert b"/home/" not in content
    Index(copy).close()
