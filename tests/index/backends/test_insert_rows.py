"""Many rows at once: all of them are stored, or nothing of their transaction."""

import pytest
from sqlalchemy.exc import IntegrityError
from tests.index.databases import BOTH

from neardup.index.schema import keys

pytestmark = BOTH


def columns(rows):
    return dict(zip(("key", "number", "share"), map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 600])
def test_all_rows_are_stored(count, location, opened):
    rows = [((-1) ** number * number << 40, number + 1, number % 7) for number in range(count)]
    database = opened(location)
    with database.writing() as connection:
        database.insert_rows(connection, keys, columns(rows))
    with database.reading() as connection:
        assert sorted(map(tuple, connection.execute(keys.select()))) == sorted(rows)


@pytest.mark.parametrize("position", [0, 100, 299])
def test_existing_row_undoes_the_transaction(position, location, opened):
    rows = [(key, 1, 0) for key in range(300)]
    database = opened(location)
    with database.writing() as connection:
        database.insert_rows(connection, keys, columns(rows[position : position + 1]))

    def insert():
        with database.writing() as connection:
            database.insert_rows(connection, keys, columns([(-1, 1, 0)]))
            database.insert_rows(connection, keys, columns(rows))

    with pytest.raises(IntegrityError):
        insert()
    with database.reading() as connection:
        assert [tuple(row) for row in connection.execute(keys.select())] == rows[
            position : position + 1
        ]
