"""Connections that end, and a server that is killed: what was told stays true."""

import pytest
from tests.index.databases import put, refused, values, write

from neardup.exceptions import IndexUnavailableError


@pytest.fixture
def database(database_url, opened, caplog):
    """An index that works again after the test, and has nothing of it."""
    database = opened(database_url)
    write(database, "before")
    yield database
    write(database, "after")
    assert set(values(database)) == {"before", "after"}
    # The pool would log what it could not clean up.
    assert not caplog.records


def lose(database, kind, postgres, then):
    """Lose all connections in the middle of a transaction."""
    with getattr(database, kind)() as connection:
        put(connection, "lost", 1) if kind == "writing" else ask(connection)
        postgres.end_connections()
        then(connection)


def ask(connection):
    connection.exec_driver_sql("SELECT 1")


def nothing(_connection):
    pass


def fail(_connection):
    raise ValueError("of the caller")


def test_between_two_transactions(postgres, database):
    assert postgres.end_connections() > 0
    assert set(values(database)) == {"before"}


@pytest.mark.parametrize(
    ("kind", "then", "happened", "stored"),
    [
        ("writing", ask, "was lost", "nothing of this change was stored. The next call connects"),
        # Whether a commit that gets no answer was stored, nobody can tell from here.
        ("writing", nothing, "may or may not", "the same documents again is safe"),
        ("reading", ask, "was lost", "The next call connects again."),
        ("reading", nothing, "was lost", "The next call connects again."),
    ],
)
def test_lost_connection_in_a_transaction_is_reported(
    postgres, database, kind, then, happened, stored
):
    message = refused(
        IndexUnavailableError,
        happened,
        database.location,
        lambda: lose(database, kind, postgres, then),
    )
    assert stored in message
    assert kind == "writing" or "stored" not in message


def test_error_of_the_caller_survives_a_lost_connection(postgres, database):
    with pytest.raises(ValueError, match="of the caller"):
        lose(database, "writing", postgres, fail)


def test_a_killed_server(postgres, database):
    def lose():
        with database.writing() as connection:
            put(connection, "lost", 1)
            postgres.kill()
            put(connection, "later", 1)

    try:
        message = refused(IndexUnavailableError, "was lost", database.location, lose)
        assert "nothing of this change was stored" in message
        refused(IndexUnavailableError, "cannot connect", database.location, lambda: write(database))
    finally:
        postgres.start()
