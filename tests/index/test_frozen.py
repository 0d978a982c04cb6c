"""An index that an earlier version wrote is opened, answers as then, and goes on."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from tests.index.consistency import check_consistent
from tests.index.fixtures import make_index as frozen

from neardup import Index, IndexMismatchError
from neardup.index import shingles
from neardup.papers import open_library
from neardup.papers.library import made_by


@pytest.fixture
def copy(tmp_path):
    return str(shutil.copy(frozen.DATABASE, tmp_path / "index.db"))


@pytest.fixture
def recorded():
    return json.loads(frozen.ANSWERS.read_text("utf-8"))


def test_decisions_by_another_version_of_content_are_refused(copy):
    with closing(sqlite3.connect(copy)) as connection, connection:
        settings = "UPDATE meta SET value = replace(value, ?, ?) WHERE name = 'settings'"
        with Index(copy) as index:
            now = index.stats().recipe_id
        connection.execute(settings, [now, "frozen-355a72cfbf2c"])
    with pytest.raises(IndexMismatchError, match=f"355a72cfbf2c.*{now}.*is of another version"):
        Index(copy)


@pytest.mark.parametrize("part", ["documents", "clusters", "queries", "events", "stats"])
def test_it_answers_as_then(copy, recorded, part):
    with Index(copy, must_exist=True) as index:
        assert frozen.answers(index)[part] == recorded[part]


def test_it_takes_more(copy, recorded):
    """What comes is decided by what is there, and what was freed decided again."""
    before = check_consistent(copy)
    with Index(copy) as index:
        again = [record for record in frozen.records() if record["id"] in before]
        states = {record["id"]: record["state"] for record in recorded["documents"]}
        added = index.add_many(again, at_field="day", source_field="from", extra_fields=["n"])
        assert added.problem_count == 0
        assert added.already == sum(state != "freed" for state in states.values())
        assert index.stats().freed == 0
        asked = [index.query(text, 1) for text in frozen.QUERIES]
        result = [index.add(f"new/{number}", text) for number, text in enumerate(frozen.QUERIES)]
        assert [[item] if item else [] for item in result] == asked
        assert sum(item is not None for item in result) > 4
        index.expire(before="1970-01-01")
        index.remove("notice/0")
        index.reconsider()
    after = check_consistent(copy)
    assert {"new/0", "notice/5"} <= set(after)


def test_it_is_a_library(copy):
    """Shingles that were stored are not made again, and what was added is."""
    with Index(copy) as index:
        handle = index._engine
        assert shingles.count_missing(handle, made_by(), after=0) == 0
        assert len(open_library(index)) == len(index)
        assert shingles.count_missing(handle, made_by(), after=0) == 0
