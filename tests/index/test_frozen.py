"""An index that an earlier version wrote is opened, answers as then, and goes on."""

import json
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import closing

import pytest
from tests.index.consistency import check_consistent
from tests.index.fixtures import make_index as frozen

from neardup import Index, IndexFormatError, IndexMismatchError
from neardup.index import shingles
from neardup.papers import open_library
from neardup.papers.library import made_by
from neardup.recipe import recipe_from_table

#: The id of the recipe when the files were frozen, and with the version that `content` has now.
THEN, NOW = "frozen-355a72cfbf2c", "frozen-fbcc6d594376"
NEARDUP = (sys.executable, "-m", "neardup")


@pytest.fixture(params=frozen.VERSIONS)
def version(request):
    return request.param


@pytest.fixture
def database(version):
    return frozen.files(version)[0]


@pytest.fixture
def untouched(database, tmp_path):
    return str(shutil.copy(database, tmp_path / "index.db"))


@pytest.fixture
def copy(untouched):
    """The file with the id that its recipe has now: `content` is of another version since."""
    with closing(sqlite3.connect(untouched)) as connection:
        result = dict(connection.execute("SELECT name, value FROM meta"))
        assert recipe_from_table(tomllib.loads(result["recipe"])).id == NOW
        settings = json.loads(result["settings"]) | {"recipe_id": NOW}
        connection.execute(
            "UPDATE meta SET value = ? WHERE name = 'settings'", [json.dumps(settings)]
        )
        connection.commit()
    return untouched


@pytest.fixture
def recorded(version):
    result = json.loads(frozen.files(version)[1].read_text("utf-8"))
    assert result["stats"]["recipe_id"] == THEN
    result["stats"]["recipe_id"] = NOW
    # These were not counted then.
    result["stats"]["unlisted"] = None
    return result


def test_decisions_by_another_version_of_content_are_refused(untouched):
    with pytest.raises(IndexMismatchError, match=f"{THEN}.*{NOW}.*is of another version"):
        Index(untouched)


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


def test_it_is_a_library(copy, version):
    """Shingles that were stored are not made again, and what was added is."""
    with Index(copy) as index:
        handle = index._engine
        # The table of variants is another package's, and may be another one here.
        missing = shingles.count_missing(handle, made_by(), after=0)
        assert missing in ((0, len(index)) if version > 1 else (len(index),))
        assert len(open_library(index)) == len(index)
        assert shingles.count_missing(handle, made_by(), after=0) == 0


@pytest.mark.slow
def test_an_upgrade_is_told(version, copy, capfd):
    for told in (version == 1, False):
        assert subprocess.run([*NEARDUP, "index", "stats", copy]).returncode == 0
        assert ("from schema 1 to 2, the schema of this version" in capfd.readouterr().err) == told


def test_tables_of_another_version_are_refused(copy, version):
    other = str(3 - version)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE meta SET value = ? WHERE name = 'schema'", [other])
    with pytest.raises(IndexFormatError) as refusal:
        Index(copy)
    assert refusal.value.code == "index_format"
    assert refusal.value.message.values["tables"] == str(version)
