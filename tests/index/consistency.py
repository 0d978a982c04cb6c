"""What must be true of an index at any moment, read past the class `Index`."""

from collections import Counter

from sqlalchemy import select, union_all

from neardup.index.backends import open_database
from neardup.index.schema import counters, documents, keys, recent_keys, texts
from neardup.index.values import KEPT, STATES

#: The postings of both tables.
all_keys = union_all(select(keys), select(recent_keys)).subquery("all_keys")


def check_consistent(location):
    """Hold tables against each other; return the documents by id, in order of arrival."""
    with open_database(location, must_exist=True) as database, database.reading() as connection:

        def rows(statement):
            return connection.execute(statement).all()

        counted = {row.name: row.value for row in rows(counters.select())}
        stored = rows(documents.select().order_by(documents.c.number))
        with_text = sorted(row.number for row in rows(select(texts.c.number)))
        entries = rows(select(all_keys))
        recent = len(rows(select(recent_keys)))
        assert database.check() is None
    by_number = {row.number: row for row in stored}
    assert len({row.id for row in stored}) == len(stored)
    assert all(0 < row.number < counted["next"] for row in stored)
    states = Counter(STATES[row.state] for row in stored)
    assert {name: counted[name] for name in STATES} == {name: states[name] for name in STATES}
    assert counted["arrived"] >= len(stored)
    for row in stored:
        reasons = (row.kept_number, row.similarity, row.reason)
        if row.state == KEPT:
            assert reasons == (None, None, None)
            continue
        assert None not in reasons
        assert row.kept_number < row.number
        assert by_number[row.kept_number].state == KEPT
    assert with_text == sorted(by_number)
    assert len({(entry.key, entry.number) for entry in entries}) == len(entries)
    # Removal does not count them: it may have been fewer.
    assert recent <= counted["recent"]
    for entry in entries:
        assert by_number[entry.number].state == KEPT
        assert entry.share >= 0
    return {row.id: row for row in stored}


def verdicts(location):
    """Return for each document the id it repeats, None if it is kept; all of it sound."""
    stored = check_consistent(location)
    ids = {row.number: id for id, row in stored.items()}
    return {id: ids.get(row.kept_number) for id, row in stored.items()}


def entries_of(location):
    """Return the table of keys with ids for numbers, sorted."""
    with open_database(location, must_exist=True) as database, database.reading() as connection:
        columns = (all_keys.c.key, documents.c.id, all_keys.c.share)
        joined = all_keys.join(documents, documents.c.number == all_keys.c.number)
        return sorted(map(tuple, connection.execute(select(*columns).select_from(joined))))
