"""Both databases, small changes of an index, and the message of a call that fails."""

import pytest

from neardup.index.schema import counters

#: Tests run on SQLite, and on PostgreSQL too if what they show could differ.
BOTH = pytest.mark.databases("sqlite", "postgresql")


def put(connection, name, value):
    connection.execute(counters.insert().values(name=name, value=value))


def write(database, name="more"):
    with database.writing() as connection:
        put(connection, name, 1)


def values(database):
    with database.reading() as connection:
        return {row.name: row.value for row in connection.execute(counters.select())}


def refused(kind, words, location, call):
    """The error of a call, which names the place and says what happened."""
    with pytest.raises(kind) as told:
        call()
    message = str(told.value)
    assert message.startswith(f"{location}: ")
    assert words in message
    return message
