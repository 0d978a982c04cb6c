"""Documents that full posting lists leave out are counted."""

import dataclasses
import random

from sqlalchemy import delete
from tests import hard_texts

from neardup import Index
from neardup.index.backends import open_database
from neardup.index.schema import counters


def with_a_phrase(count):
    """Return documents of their own letters that share nothing but a phrase."""
    rng = random.Random(5)
    return [
        {"id": f"d{number}", "text": "本报记者顾雪芹报道" + hard_texts.letters(rng, 45)}
        for number in range(count)
    ]


def test_each_document_beyond_the_length_of_a_list_counts_once(index):
    index.add_many(with_a_phrase(32))
    assert index.stats().unlisted == 0
    index.add_many(with_a_phrase(40))
    assert (index.stats().kept, index.stats().unlisted) == (40, 8)
    for document in with_a_phrase(43)[40:]:
        index.add(**document)
    assert index.stats().unlisted == 11
    # What was there already counts no second time.
    index.add_many(with_a_phrase(43))
    assert index.stats().unlisted == 11


def test_a_dump_has_the_count(tmp_path):
    with Index(tmp_path / "first.db", workers=1) as index:
        index.add_many(with_a_phrase(40))
        index.dump(tmp_path / "dump.jsonl")
    with Index.load(tmp_path / "second.db", tmp_path / "dump.jsonl") as index:
        assert index.stats().unlisted == 8


def change(location, statement):
    with open_database(location, must_exist=True) as database, database.writing() as connection:
        connection.execute(statement)


def test_an_index_from_before_the_count_has_none(tmp_path):
    place = str(tmp_path / "index.db")
    with Index(place, workers=1) as index:
        index.add_many(with_a_phrase(40))
    change(place, delete(counters).where(counters.c.name == "unlisted"))
    with Index(place) as index:
        index.add_many(with_a_phrase(42))
        assert index.stats().unlisted is None
        assert "unlisted" in dataclasses.asdict(index.stats())
        assert index.check(full=True) == []
