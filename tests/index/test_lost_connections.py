"""Connections that end, and a server that is killed: what was told stays true."""

import pytest
from tests.index.calls import put, refused, values, write

from neardup.exceptions import IndexUnavailableError
from neardup.index.schema import counters


@pytest.fixture
def database(database_url, opened):
    database = opened(database_url)
    write(database, "before")
    return database


def works_again(database, caplog, *stored):
    write(database, "after")
    assert set(values(database)) == {"before", "after", *stored}
    # The pool would log what it could not clean up.
    assert not caplog.records


def test_lost_between_two_transactions(postgres, database, caplog):
    assert postgres.end_connections() > 0
    works_again(database, caplog)


def test_lost_in_a_transaction(postgres, database, caplog):
    def lose():
        with database.writing() as connection:
            put(connection, "lost", 1)
            postgres.end_connections()
            put(connection, "later", 2)

    message = refused(IndexUnavailableError, "connection", database.location, lose)
    assert "was lost" in message
    assert "Nothing of this change was stored. The next call connects again." in message
    works_again(database, caplog)


def test_lost_before_a_commit(postgres, database, caplog):
    """Whether a commit that gets no answer was stored, nobody can tell from here."""

    def lose():
        with database.writing() as connection:
            put(connection, "lost", 1)
            postgres.end_connections()

    message = refused(IndexUnavailableError, "may or may not", database.location, lose)
    assert "Adding the same documents again is safe" in message
    works_again(database, caplog)


def test_lost_with_an_error_of_the_caller(postgres, database, caplog):
    def lose():
        with database.writing() as connection:
            put(connection, "lost", 1)
            postgres.end_connections()
            raise ValueError("of the caller")

    with pytest.raises(ValueError, match="of the caller"):
        lose()
    works_again(database, caplog)


@pytest.mark.parametrize("at_the_end", [False, True])
def test_lost_in_a_reader(at_the_end, postgres, database, caplog):
    def lose():
        with database.reading() as connection:
            connection.execute(counters.select()).all()
            postgres.end_connections()
            if not at_the_end:
                connection.execute(counters.select()).all()

    message = refused(IndexUnavailableError, "was lost", database.location, lose)
    assert "stored" not in message
    works_again(database, caplog)


def test_a_killed_server(postgres, database, caplog):
    def lose():
        with database.writing() as connection:
            put(connection, "lost", 1)
            postgres.kill()
            put(connection, "later", 1)

    try:
        message = refused(IndexUnavailableError, "was lost", database.location, lose)
        assert "Nothing of this change was stored" in message
        refused(IndexUnavailableError, "cannot connect", database.location, lambda: write(database))
    finally:
        postgres.start()
    works_again(database, caplog)
