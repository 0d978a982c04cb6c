"""An index in a schema of a PostgreSQL database; writers take turns by an advisory lock.

All settings apply to one transaction, since a pooler may give each another connection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy import URL, Connection, Engine, create_engine, make_url, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import ArgumentError

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.exceptions import ParameterError
from neardup.index.backends.database import Database
from neardup.index.backends.failures import Failure
from neardup.index.backends.postgresql_failures import find_postgresql_failure
from neardup.index.schema import METADATA

DEFAULT_SCHEMA = "neardup"
_KEPT_CONNECTIONS = 4
#: Default connection timeout in seconds; the URL may override it.
_CONNECT_SECONDS = "10"
#: Parts of a URL that must not appear in messages.
_SECRET = ("password", "sslpassword", "passfile")
#: Longest name in bytes. The server truncates longer names without an error.
_NAME_BYTES = 63

# With `synchronous_commit` off, a crash could lose acknowledged commits; stronger settings stay.
# A batch looks up some ten thousand keys; a planner without statistics would prefer to read the
# whole table.
_SETTINGS = text(
    "SELECT set_config('search_path', :path, true), set_config('lock_timeout', :wait, true),"
    " set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),"
    " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
    " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)"
)


def _parse_address(location: str) -> tuple[URL, str]:
    if location.count("@") > 1:
        # The end of the password is ambiguous; a wrong guess would show part of it as the host
        # name.
        raise ParameterError(
            Message(
                "The address of a PostgreSQL database must have one @, before the host. Write an @ "
                "of the user, the password or an option as %40."
            )
        )
    try:
        url = make_url(location)
    except (ArgumentError, ValueError):
        # Show neither the address nor the text of the error: both may contain a password.
        raise ParameterError(
            Message(
                "The address of a PostgreSQL database must be of the form "
                "postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME. Write special "
                "characters as %XX."
            )
        ) from None
    schema = url.query.get("schema", DEFAULT_SCHEMA)
    if (
        not isinstance(schema, str)
        or not 0 < len(schema.encode("utf-8", "replace")) <= _NAME_BYTES
        or "\0" in schema
        or schema.startswith("pg_")
    ):
        raise ParameterError(
            Message(
                "The address must name a schema of 1 to {most} bytes, without pg_ in front. Got "
                "{value} instead.",
                most=_NAME_BYTES,
                value=repr(schema),
            )
        )
    return url.difference_update_query(["schema"]).set(drivername="postgresql+psycopg"), schema


def _format_url(url: URL, schema: str) -> str:
    # A new URL, because `set` ignores a password of None.
    public = URL.create(
        "postgresql", url.username, None, url.host, url.port, url.database, url.query
    ).difference_update_query(_SECRET)
    if schema != DEFAULT_SCHEMA:
        public = public.update_query_dict({"schema": schema})
    return public.render_as_string()


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class PostgreSQLSchema(Database):
    """A schema of a PostgreSQL database, accessed with psycopg 3."""

    dialect: ClassVar[str] = "postgresql"
    _elsewhere: ClassVar[str] = N_(
        "Name a database with an index, or an empty schema with ?schema=NAME."
    )

    def __init__(self, location: str) -> None:
        require(N_("An index in PostgreSQL"), "postgres", "psycopg")
        import psycopg

        self._driver_error = psycopg.Error
        self._url, self.schema = _parse_address(location)
        location = _format_url(self._url, self.schema)
        try:
            options = {k: v for k, v in self._url.query.items() if isinstance(v, str)}
            psycopg.conninfo.make_conninfo("", **options)
        except psycopg.ProgrammingError as error:
            raise ParameterError(
                Message(
                    "{location}: must have options that PostgreSQL knows, or schema. Got: "
                    "{reason}.",
                    location=location,
                    reason=str(error).strip(),
                )
            ) from None
        # Advisory locks belong to the whole database, so the lock's number includes the schema.
        digest = hashlib.blake2b(f"neardup {self.schema}".encode(), digest_size=8).digest()
        self._lock = int.from_bytes(digest, "little", signed=True)
        super().__init__(location)

    def _make_pool(self) -> Engine:
        """Return a new pool that tests a connection before it hands it out."""
        # Behind a pooler, the next transaction may use another server connection, where the
        # statements prepared here do not exist.
        options: dict[str, Any] = {"client_encoding": "utf8", "prepare_threshold": None}
        for name, value in (("connect_timeout", _CONNECT_SECONDS), ("application_name", "neardup")):
            if name not in self._url.query:
                options[name] = value
        return create_engine(
            self._url,
            connect_args=options,
            pool_size=_KEPT_CONNECTIONS,
            max_overflow=-1,
            pool_pre_ping=True,
            # Parameters include texts, and error messages would show them.
            hide_parameters=True,
        )

    def _begin(self, connection: Connection, *, write: bool) -> None:
        """Begin; a writer waits in the server's queue for the lock."""
        connection.execution_options(
            isolation_level="READ COMMITTED" if write else "REPEATABLE READ",
            postgresql_readonly=not write,
        )
        wait = f"{round(self.lock_seconds * 1000)}ms"
        connection.execute(_SETTINGS, {"path": _quote(self.schema), "wait": wait})
        if write:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": self._lock})

    def _can_commit(self, connection: Connection) -> bool:
        """Return False after a failed statement: the server would turn a commit into a rollback.

        It would report no error, so this must be checked before the commit.
        """
        from psycopg.pq import TransactionStatus

        driver: Any = connection.connection.driver_connection
        return bool(driver.info.transaction_status != TransactionStatus.INERROR)

    def _list_tables(self, connection: Connection) -> list[str]:
        """Return the names of the schema's tables; empty if the schema does not exist."""
        rows = connection.execute(
            text("SELECT tablename FROM pg_tables WHERE schemaname = :schema"),
            {"schema": self.schema},
        )
        return sorted(name for (name,) in rows)

    def _prepare(self, connection: Connection) -> None:
        """Check that the database's encoding can hold any text."""
        encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
        if encoding != "UTF8":
            raise self._make_format_error(
                N_(
                    "{location}: must be a database with the encoding UTF8, not {encoding}. Make "
                    "one with: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0"
                ),
                encoding=encoding,
            )

    def _make_room(self, connection: Connection) -> None:
        """Create the schema if it is missing; only then is the right to create one needed."""
        present = connection.execute(
            text("SELECT count(*) FROM pg_namespace WHERE nspname = :schema"),
            {"schema": self.schema},
        ).scalar_one()
        if not present:
            connection.exec_driver_sql(f"CREATE SCHEMA {_quote(self.schema)}".replace("%", "%%"))

    def _find_failure(self, error: BaseException, *, connected: bool) -> Failure | None:
        return find_postgresql_failure(error, connected=connected)

    def measure_size(self) -> int:
        """Return the bytes of all tables and their indexes, without the server's log."""
        query = text(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = :schema AND c.relkind = 'r' AND c.relname = ANY(:names)"
        )
        names = {"schema": self.schema, "names": list(METADATA.tables)}
        with self._upkeep() as connection:
            return int(connection.execute(query, names).scalar_one())

    def compact(self) -> None:
        """Make the space of removed rows reusable, and update the planner's statistics."""
        names = ", ".join(f"{_quote(self.schema)}.{_quote(name)}" for name in METADATA.tables)
        with self._taking_turn(), self._upkeep() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.exec_driver_sql(f"VACUUM (ANALYZE) {names}".replace("%", "%%"))

    @classmethod
    def make_values_table(cls, of: str = "numbers") -> sa.FromClause:
        """Return the elements of an array."""
        kind: Any = sa.BigInteger() if of == "numbers" else sa.Text()
        parameter = sa.bindparam("values", type_=sa.Text() if of == "numbers" else ARRAY(kind))
        array = sa.func.unnest(sa.cast(parameter, ARRAY(kind)))
        return array.table_valued(sa.column("value", kind), name="given").render_derived()

    @classmethod
    def bind_values(cls, values: Sequence[Any]) -> dict[str, Any]:
        """Return the array."""
        return {"values": _pack_array(values)}

    @classmethod
    def join_values(cls, values: sa.FromClause, wanted: sa.Select[Any]) -> sa.Select[Any]:
        """Return a lateral join: for a long list, a plain one would read the whole table."""
        # The offset keeps PostgreSQL from flattening the subquery into a plain join.
        each = wanted.correlate(values).offset(sa.literal_column("0")).lateral("each")
        return sa.select(*each.c).select_from(values.join(each, sa.true()))

    @classmethod
    def insert_rows(
        cls, connection: Connection, table: sa.Table, columns: Mapping[str, Sequence[Any]]
    ) -> None:
        """Insert all rows with one statement, a parameter for each column."""
        # A collation is no part of the type.
        kinds = [
            table.c[name].type.compile(connection.dialect).partition(" COLLATE")[0]
            for name in columns
        ]
        arrays = ", ".join(f"%s::{kind}[]" for kind in kinds)
        head = f"INSERT INTO {table.name} ({', '.join(columns)})"
        statement = f"{head} SELECT * FROM unnest({arrays})"
        connection.exec_driver_sql(statement, tuple(map(_pack_array, columns.values())))


def _pack_array(values: Sequence[Any]) -> list[Any] | str:
    """Return a list as a parameter. Numbers as text are ten times as fast."""
    if values and all(value.__class__ is int for value in values):
        return f"{{{','.join(map(str, values))}}}"
    return list(values)


def open_address(address: str) -> Database:
    """Return the database of an address, which is not connected yet."""
    return PostgreSQLSchema(address)
