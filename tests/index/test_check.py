"""Damage is found by a check, and named by what meets it."""

import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa
from tests.index.written import documents, families

from neardup import Index
from neardup.exceptions import IndexFormatError
from neardup.index.backends import open_database

MANY = documents(families(11, 12))
OPTIONS = {"threshold": 0.3, "workers": 1}


@pytest.fixture
def place(tmp_path):
    with Index(tmp_path / "n.db", **OPTIONS) as index:
        index.add_many(MANY)
        index.check()
    return tmp_path / "n.db"


KEPT = "(SELECT min(kept_number) FROM documents WHERE state = 1)"

#: What is done to a file, and what the check says.
DAMAGES = {
    f"DELETE FROM texts WHERE number = {KEPT}": "must have the text of each document",
    f"UPDATE texts SET text = x'00112233' WHERE number = {KEPT}": "the text of document",
    "UPDATE texts SET text = (SELECT text FROM texts WHERE number = 2)": "does not match its text",
    f"UPDATE documents SET features = features + 1 WHERE number = {KEPT}": "'features' of document",
    f"UPDATE documents SET sketch = x'00' WHERE number = {KEPT}": "'sketch' of document",
    "UPDATE counters SET value = value + 1 WHERE name = 'kept'": "counter 'kept' must be",
    "UPDATE counters SET value = 2 WHERE name = 'next'": "counter 'next' must be more than",
    "UPDATE counters SET value = 'x' WHERE name = 'arrived'": "counter 'arrived'",
    "DELETE FROM counters WHERE name = 'background'": "counter 'background'",
    "UPDATE background SET data = x'0011'": "background 1 is damaged",
    "DELETE FROM background": "background 1 is damaged",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found(place, damage):
    with closing(sqlite3.connect(place)) as connection, connection:
        assert connection.execute(damage).rowcount != 0
    with Index(place) as index, pytest.raises(IndexFormatError) as told:
        index.check()
    assert DAMAGES[damage] in str(told.value)
    assert str(told.value).startswith(f"{place}: ")
    assert f"Restore a backup of {place}, or make a new index from its sources" in str(told.value)


def test_pages_of_an_sqlite_file(place):
    with closing(sqlite3.connect(place)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute(
            "SELECT max(pageno) FROM dbstat WHERE name = 'texts' AND pagetype = 'leaf'"
        ).fetchone()
    data = bytearray(place.read_bytes())
    data[(page - 1) * size : page * size] = bytes([0xA5]) * size
    place.write_bytes(data)
    with Index(place) as index, pytest.raises(IndexFormatError, match="is damaged"):
        index.check()


def test_a_sample_is_sketched_again(place, monkeypatch):
    monkeypatch.setattr("neardup.index.integrity._SAMPLE", 2)
    monkeypatch.setattr("neardup.index.integrity._TOGETHER", 1)
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE documents SET sketch = x'00' WHERE number = 2")
    with Index(place) as index:
        index.check()
    monkeypatch.setattr("neardup.index.integrity._SAMPLE", len(MANY))
    words = "of document 2 does not match"
    with Index(place) as index, pytest.raises(IndexFormatError, match=words):
        index.check()


@pytest.mark.parametrize("recipe", ["characters", "minhash", "classic", "improved"])
def test_other_recipes(recipe, tmp_path):
    with Index(tmp_path / "n.db", recipe=recipe, workers=1) as index:
        index.add_many([row | {"title": "t"} for row in MANY])
        index.check()


def test_postgresql(database_url):
    with Index(database_url, **OPTIONS) as index:
        index.add_many(MANY)
        index.check()
        with (
            open_database(database_url, must_exist=True) as database,
            database.writing() as connection,
        ):
            connection.execute(sa.text("DELETE FROM texts WHERE number = 4"))
        with pytest.raises(IndexFormatError, match="document 4"):
            index.check()
