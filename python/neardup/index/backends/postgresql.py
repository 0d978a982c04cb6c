"""An index in a schema of a PostgreSQL database.

Writers take turns with an advisory lock, which a transaction holds to its end.
Each sees what the one before it committed. Everything is set for one
transaction at a time (``SET LOCAL``), so that poolers such as PgBouncer, which
give each transaction another connection, see no difference.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import URL, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError

from neardup._engine.messages import Message
from neardup.exceptions import IndexFormatError, MissingDependencyError, ParameterError
from neardup.index.backends.backend import Backend
from neardup.index.schema import METADATA

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["DEFAULT_SCHEMA", "PostgreSQLSchema"]

DEFAULT_SCHEMA = "neardup"
_KEPT_CONNECTIONS = 4
#: Seconds, unless the URL says otherwise.
_CONNECT_SECONDS = "10"
#: Parts of a URL that nobody must see in a message.
_SECRET = ("password", "sslpassword", "passfile")
#: The server cuts longer names without a word.
_NAME_BYTES = 63

# Weaker settings of a server or user would acknowledge what a crash can take
# back; stronger ones are left as they are. A batch looks some ten thousand keys up, and a
# planner that has no statistics yet would rather read the whole table once.
_SETTINGS = text(
    "SELECT set_config('search_path', :path, true), set_config('lock_timeout', :wait, true),"
    " set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),"
    " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
    " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)"
)


def _url(location: str) -> tuple[URL, str]:
    if location.count("@") > 1:
        # Where the password ends is a guess, and a wrong one would show the rest of it as
        # the host.
        raise ParameterError(Message("index.several_at_signs"))
    try:
        url = make_url(location)
    except (ArgumentError, ValueError):
        # Neither the address nor the error's words: a password may be in both.
        raise ParameterError(Message("index.no_address")) from None
    schema = url.query.get("schema", DEFAULT_SCHEMA)
    if (
        not isinstance(schema, str)
        or not 0 < len(schema.encode("utf-8", "replace")) <= _NAME_BYTES
        or "\0" in schema
        or schema.startswith("pg_")
    ):
        raise ParameterError(Message("index.no_schema_name", most=_NAME_BYTES, value=repr(schema)))
    return url.difference_update_query(["schema"]).set(drivername="postgresql+psycopg"), schema


def _shown(url: URL, schema: str) -> str:
    # Made anew: `set` takes a password of None for one that was not given.
    public = URL.create(
        "postgresql", url.username, None, url.host, url.port, url.database, url.query
    ).difference_update_query(_SECRET)
    if schema != DEFAULT_SCHEMA:
        public = public.update_query_dict({"schema": schema})
    return public.render_as_string()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class PostgreSQLSchema(Backend):
    """A schema of a database on a server, reached with psycopg 3."""

    dialect: ClassVar[str] = "postgresql"
    elsewhere: ClassVar[str] = "index.elsewhere_schema"

    def __init__(self, location: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingDependencyError(Message("index.needs_psycopg")) from error
        self.driver_error = psycopg.Error
        self._url, self.schema = _url(location)
        self.location = _shown(self._url, self.schema)
        try:
            options = {k: v for k, v in self._url.query.items() if isinstance(v, str)}
            psycopg.conninfo.make_conninfo("", **options)
        except psycopg.ProgrammingError as error:
            raise ParameterError(
                Message("index.options_unknown", location=self.location, reason=str(error).strip())
            ) from None
        # The lock belongs to the database by itself; the name tells schemas apart.
        digest = hashlib.blake2b(f"neardup {self.schema}".encode(), digest_size=8).digest()
        self._lock = int.from_bytes(digest, "little", signed=True)

    def engine(self) -> Engine:
        """Return a new pool that tries a connection before it gives it away."""
        # Behind a pooler, the next transaction may run on a connection of the server that
        # knows nothing of statements prepared on this one.
        options: dict[str, Any] = {"client_encoding": "utf8", "prepare_threshold": None}
        for name, value in (
            ("connect_timeout", _CONNECT_SECONDS),
            ("application_name", "neardup"),
        ):
            if name not in self._url.query:
                options[name] = value
        return create_engine(
            self._url,
            connect_args=options,
            pool_size=_KEPT_CONNECTIONS,
            max_overflow=-1,
            pool_pre_ping=True,
            # Texts are among the parameters, and errors show them.
            hide_parameters=True,
        )

    def begin(self, connection: Connection, *, write: bool) -> None:
        """Begin; a writer waits for the lock in the server's queue."""
        connection.execution_options(
            isolation_level="READ COMMITTED" if write else "REPEATABLE READ",
            postgresql_readonly=not write,
        )
        wait = f"{round(self.lock_seconds * 1000)}ms"
        connection.execute(_SETTINGS, {"path": _quoted(self.schema), "wait": wait})
        if write:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": self._lock})

    def can_commit(self, connection: Connection) -> bool:
        """Return False after a failed statement: the server would turn a commit into its opposite.

        No error would tell, so this has to be asked before.
        """
        from psycopg.pq import TransactionStatus

        driver: Any = connection.connection.driver_connection
        return bool(driver.info.transaction_status != TransactionStatus.INERROR)

    def tables(self, connection: Connection) -> list[str]:
        """Return the names of the schema's tables; none if there is no such schema."""
        rows = connection.execute(
            text("SELECT tablename FROM pg_tables WHERE schemaname = :schema"),
            {"schema": self.schema},
        )
        return sorted(name for (name,) in rows)

    def prepare(self, connection: Connection) -> None:
        """Check that the database can hold any text."""
        encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
        if encoding != "UTF8":
            raise IndexFormatError(
                Message("index.encoding_of_database", location=self.location, encoding=encoding)
            )

    def make_room(self, connection: Connection) -> None:
        """Make the schema, unless it is there: then no right to make one is needed."""
        there = connection.execute(
            text("SELECT count(*) FROM pg_namespace WHERE nspname = :schema"),
            {"schema": self.schema},
        ).scalar_one()
        if not there:
            connection.exec_driver_sql(f"CREATE SCHEMA {_quoted(self.schema)}".replace("%", "%%"))

    def size(self, connection: Connection) -> int:
        """Return the bytes of all tables with their indexes, the log not counted."""
        found = connection.execute(
            text(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
                " JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = :schema AND c.relkind = 'r' AND c.relname = ANY(:names)"
            ),
            {"schema": self.schema, "names": list(METADATA.tables)},
        ).scalar_one()
        return int(found)

    def compact(self, connection: Connection) -> None:
        """Let the space of removed rows be used again, and count rows for the planner."""
        names = ", ".join(f"{_quoted(self.schema)}.{_quoted(name)}" for name in METADATA.tables)
        connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.exec_driver_sql(f"VACUUM (ANALYZE) {names}".replace("%", "%%"))
