"""Where an index is: the path of an SQLite file, or the address of a server."""

import os

from neardup.base.confinement import open_file

#: The database behind each scheme of an address; `index.backends` has a module of its name.
DATABASES = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "postgresql+psycopg": "postgresql",
}


def database_of(location: object) -> str | None:
    """Return the database that an address names; None if it is not the address of a known server.

    Examples
    --------
    >>> database_of("postgres://localhost/news"), database_of("news.db")
    ('postgresql', None)
    """
    if not isinstance(location, str):
        return None
    scheme, separator, _ = location.partition("://")
    return DATABASES.get(scheme) if separator else None


def is_index(path: str | os.PathLike[str]) -> bool:
    """Return whether a path or an address names a persistent index."""
    if database_of(os.fspath(path)):
        return True
    try:
        # A pipe can be read only once.
        if not os.path.isfile(path):
            return False
        with open_file(path) as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def index_files(location: str | os.PathLike[str]) -> list[str]:
    """Return the files of an index, whether or not they exist; none on a server."""
    if "://" in os.fspath(location):
        return []
    # SQLite follows a symbolic link and puts them next to its target.
    path = os.path.realpath(location)
    return [path + suffix for suffix in ("", "-wal", "-shm", "-journal")]
