"""An empty place for an index, in SQLite and in PostgreSQL."""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from tests import needs
from tests.index.consistency import check_consistent
from tests.postgres import NoServer, Server

from neardup import Index
from neardup.index.backends import open_database, sqlite


@pytest.fixture(scope="module", autouse=True)
def quick_commits(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let SQLite not wait for the disk: only a crash of the machine could show it.

    A module with ``DURABLE = True`` runs with the settings that users get.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not getattr(request.module, "DURABLE", False):
            settings = tuple(
                pragma.replace("synchronous = FULL", "synchronous = OFF")
                for pragma in sqlite._PRAGMAS
            )
            assert settings != sqlite._PRAGMAS
            patch.setattr(sqlite, "_PRAGMAS", settings)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server for all tests; see `tests.postgres.Server` for what it can do."""
    try:
        # No test crashes the machine, and waiting for its disk takes most of the time.
        server = Server(fsync="off")
    except NoServer as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"{needs.POSTGRESQL} ({error})")
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture
def database_url(postgres: Server) -> Iterator[str]:
    """The address of an empty database."""
    url = postgres.new_database()
    yield url
    postgres.give_back(url)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on SQLite, or on each database that its marker `databases` names."""
    marker = metafunc.definition.get_closest_marker("databases")
    named = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    for place in {"location", "new_place"} & set(metafunc.fixturenames):
        if any(place in names for names in named):
            continue
        names = marker.args if marker else ("sqlite",)
        metafunc.parametrize(place, names, indirect=True)


@pytest.fixture
def location(request: pytest.FixtureRequest, tmp_path) -> str:
    """Where a new index can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "index.db")
    return request.getfixturevalue("database_url")


@pytest.fixture
def index(request: pytest.FixtureRequest, location: str) -> Iterator[Index]:
    """A new index, which is consistent after the test; a module may set its ``OPTIONS``."""
    with Index(location, **{"workers": 1, **getattr(request.module, "OPTIONS", {})}) as index:
        yield index
    check_consistent(location)


@pytest.fixture
def opened():
    """Open databases; what was opened is closed after the test."""
    with ExitStack() as stack:

        def open_location(location, *, tables=True, must_exist=False):
            database = stack.enter_context(open_database(location, must_exist=must_exist))
            if tables:
                database.create_tables()
            return database

        yield open_location


@pytest.fixture
def new_place(request: pytest.FixtureRequest, tmp_path) -> Callable[[], str]:
    """Give places for new indexes, as many as are asked for."""
    numbers = itertools.count(1)
    if request.param == "sqlite":
        return lambda: str(tmp_path / f"index{next(numbers)}.db")
    url = request.getfixturevalue("database_url")
    return lambda: f"{url}?schema=place{next(numbers)}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs on PostgreSQL as slow, since `make test-fast` does without a server.

    All of it is run by one worker: each further one would make a server of its own.
    """
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        needs_server = {"postgres", "database_url"} & set(getattr(item, "fixturenames", ()))
        is_there = any(
            isinstance(value, str) and value == "postgresql" for value in parameters.values()
        )
        if is_there or (needs_server and "location" not in parameters):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.xdist_group("postgresql"))
