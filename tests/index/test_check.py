"""Damage is found by a check, and named by what meets it."""

import pytest
from tests.index.consistency import check_consistent
from tests.index.databases import BOTH
from tests.index.written import documents, families

from neardup import Index
from neardup.exceptions import IndexFormatError
from neardup.index.backends import open_database
from neardup.index.schema import keys, recent_keys
from neardup.index.store import postings

MANY = documents(families(11, 12))


@pytest.fixture
def place(location):
    with Index(location, threshold=0.3, workers=1) as index:
        index.add_many(MANY)
        index.check()
    return location


def change(place, statement):
    """Change rows past the class `Index`; return how many."""
    with open_database(place, must_exist=True) as database, database.writing() as connection:
        return connection.exec_driver_sql(statement).rowcount


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
    assert change(place, damage) != 0
    with Index(place) as index, pytest.raises(IndexFormatError) as told:
        index.check()
    assert DAMAGES[damage] in str(told.value)
    assert str(told.value).startswith(f"{place}: ")
    assert f"Restore a backup of {place}, or make a new index from its sources" in str(told.value)


@BOTH
def test_a_sample_is_sketched_again(place, monkeypatch):
    change(place, "UPDATE documents SET features = 7 WHERE number = 2")
    monkeypatch.setattr("neardup.index.integrity._TOGETHER", 1)
    monkeypatch.setattr("neardup.index.integrity._SAMPLE", 2)
    with Index(place) as index:
        index.check()
        monkeypatch.setattr("neardup.index.integrity._SAMPLE", len(MANY))
        with pytest.raises(IndexFormatError, match="of document 2 does not match"):
            index.check()


@pytest.mark.parametrize("recipe", ["characters", "minhash", "classic", "improved"])
def test_other_recipes(recipe, location):
    with Index(location, recipe=recipe, workers=1) as index:
        index.add_many([row | {"title": "t"} for row in MANY])
        index.check()


@pytest.mark.parametrize(
    ("most", "is_filled"),
    [(1, [True, False]), (100, [True, True]), (postings.MOST_RECENT, [False, True])],
)
def test_new_keys_of_sqlite_move_from_a_small_table(location, monkeypatch, most, is_filled):
    monkeypatch.setattr(postings, "MOST_RECENT", most)
    with Index(location, workers=1) as index:
        for document in MANY:
            index.add(**document)
    with open_database(location, must_exist=True) as database, database.reading() as connection:
        tables = [connection.execute(table.select()).all() for table in (keys, recent_keys)]
    assert [len(rows) > 0 for rows in tables] == is_filled
    assert len(tables[1]) < most
    check_consistent(location)
