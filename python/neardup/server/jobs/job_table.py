"""Paper checks as rows of a SQLite database: state, progress and report.

The id of a job is 128 random bits, so only a client that was given it can know it. The table
never stores papers: they wait in unnamed temporary files.

A service of one process has an unnamed database, which the system removes when the process
ends for any reason. Several processes of one service share a file, so that each can answer for
the checks of the others.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import orjson

from neardup.base.messages import from_plain, to_plain
from neardup.server.clock import Clock
from neardup.server.jobs.job import FINISHED, STOPPED, JobError, JobState

__all__ = ["JOBS_FILE", "JobTable", "fail_jobs_of"]

#: Name of the file in the folder that the processes of a service share.
JOBS_FILE = "jobs.db"

_TABLES = """
    PRAGMA auto_vacuum = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS jobs (
        job TEXT PRIMARY KEY, paper TEXT, library TEXT, process INTEGER, client TEXT,
        state TEXT, stage TEXT, progress REAL, rates TEXT, problem TEXT,
        ended REAL, report_bytes INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE IF NOT EXISTS reports (
        job TEXT REFERENCES jobs ON DELETE CASCADE, name TEXT, content BLOB,
        PRIMARY KEY (job, name)
    );
"""
_FIELDS = tuple(field.name for field in fields(JobState))

#: The oldest report of a finished job: of a given client, and of the client with the most.
_OLDEST = "SELECT job FROM jobs WHERE job != :new AND report_bytes > 0 AND ended IS NOT NULL"
_OLDEST_OF_CLIENT = f"{_OLDEST} AND client = :client ORDER BY ended, rowid LIMIT 1"
_OLDEST_OF_LARGEST = (
    _OLDEST.replace("FROM jobs", "FROM jobs AS one")
    + " ORDER BY (SELECT SUM(report_bytes) FROM jobs WHERE client IS one.client) DESC,"
    " ended, rowid LIMIT 1"
)


class JobTable:
    """The jobs of a service; call `open` before anything else.

    Parameters
    ----------
    seconds : float
        How long a result is kept, in seconds.
    clock : Clock or None, default=None
        Source of time. None uses the system clock.
    """

    _database: sqlite3.Connection

    def __init__(self, seconds: float, clock: Clock | None = None) -> None:
        self._seconds = seconds
        self._clock = clock or Clock()
        self._lock = threading.Lock()

    def open(self, path: Path | None = None) -> None:
        """Open the database.

        Parameters
        ----------
        path : Path or None, default=None
            The file that all processes of the service use; created if missing, readable by
            this user only. None creates an unnamed database.
        """
        self._database = _connect(path)

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            if hasattr(self, "_database"):
                self._database.close()

    def create(self, paper: str, library: str, client: str | None = None) -> JobState:
        """Create a waiting job."""
        job = JobState(secrets.token_hex(16), paper, library, os.getpid(), client)
        places = ", ".join(f":{name}" for name in _FIELDS)
        with self._lock, self._database as database:
            database.execute(
                f"INSERT INTO jobs ({', '.join(_FIELDS)}) VALUES ({places})", _to_row(job)
            )
        return job

    def save(self, job: JobState) -> bool:
        """Store the state of a job; False if the job was removed."""
        row = _to_row(job)
        row["ended"] = self._clock.time() if job.state in FINISHED else None
        changes = ", ".join(f"{name} = :{name}" for name in row)
        with self._lock, self._database as database:
            return database.execute(f"UPDATE jobs SET {changes} WHERE job = :job", row).rowcount > 0

    def save_report(
        self, job: JobState, report: Mapping[str, str], *, most: int, most_of_client: int
    ) -> bool:
        """Store the report of a job, and remove older reports until all fit.

        Parameters
        ----------
        job : JobState
        report : mapping of str to str
            Contents by name: ``report.json``, and ``zh.html`` for each language.
        most : int
            Limit of all reports, in bytes. Beyond it, the oldest reports of the client with
            the most are removed with their jobs.
        most_of_client : int
            Limit of the reports of one client, in bytes; beyond it, that client's oldest
            reports are removed. It does not apply to jobs without a client.

        Returns
        -------
        bool
            False if the report alone exceeds a limit; then nothing is stored or removed.
        """
        contents = {name: content.encode() for name, content in report.items()}
        size = sum(map(len, contents.values()))
        if size > (most if job.client is None else min(most, most_of_client)):
            return False
        with self._lock, self._database as database:
            sized = "UPDATE jobs SET report_bytes = ? WHERE job = ?"
            if not database.execute(sized, (size, job.job)).rowcount:
                return True
            rows = [(job.job, name, content) for name, content in contents.items()]
            database.executemany("INSERT INTO reports VALUES (?, ?, ?)", rows)
            values = {"new": job.job, "client": job.client}
            if job.client is not None:
                used = "SELECT SUM(report_bytes) FROM jobs WHERE client = :client"
                _remove_until(database, used, most_of_client, _OLDEST_OF_CLIENT, values)
            used = "SELECT SUM(report_bytes) FROM jobs"
            _remove_until(database, used, most, _OLDEST_OF_LARGEST, values)
        return True

    def get(self, job: str) -> JobState | None:
        """Return the state of a job, None if no job has this id."""
        row = self._one(f"SELECT {', '.join(_FIELDS)} FROM jobs WHERE job = ?", job)
        return None if row is None else _from_row(row)

    def report(self, job: str, name: str) -> bytes | None:
        """Return a part of a job's report, None if no part has this name."""
        row = self._one("SELECT content FROM reports WHERE job = ? AND name = ?", job, name)
        return None if row is None else row[0]

    def exists(self, job: str) -> bool:
        """Return whether a job exists."""
        return self._one("SELECT 1 FROM jobs WHERE job = ?", job) is not None

    def remove(self, job: str) -> bool:
        """Remove a job with its report; False if no job has this id."""
        with self._lock, self._database as database:
            return database.execute("DELETE FROM jobs WHERE job = ?", (job,)).rowcount > 0

    def remove_expired(self) -> None:
        """Remove finished jobs whose results have expired."""
        before = self._clock.time() - self._seconds
        with self._lock, self._database as database:
            database.execute("DELETE FROM jobs WHERE ended < ?", (before,))

    def _one(self, statement: str, *values: str) -> tuple[Any, ...] | None:
        with self._lock:
            try:
                row: tuple[Any, ...] | None = self._database.execute(statement, values).fetchone()
            except UnicodeEncodeError:
                # An address may contain lone surrogates; an id cannot.
                return None
            return row


def fail_jobs_of(process: int | None, path: Path) -> None:
    """Mark the unfinished jobs of a process that died as failed."""
    database = _connect(path)
    with database:
        database.execute(
            "UPDATE jobs SET state = 'failed', problem = ?, ended = ?"
            " WHERE process = ? AND ended IS NULL",
            (_problem_to_json(JobError(*STOPPED)), time.time(), process),
        )
    database.close()


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        path.touch(mode=0o600)
    database = sqlite3.connect(
        path or "", timeout=30.0, isolation_level="IMMEDIATE", check_same_thread=False
    )
    database.executescript(_TABLES)
    return database


def _remove_until(
    database: sqlite3.Connection, used: str, most: int, oldest: str, values: Mapping[str, Any]
) -> None:
    """Remove jobs, oldest first, until the used space is within the limit."""
    while database.execute(used, values).fetchone()[0] > most:
        found = database.execute(oldest, values).fetchone()
        if found is None:
            return
        database.execute("DELETE FROM jobs WHERE job = ?", found)


def _to_row(job: JobState) -> dict[str, Any]:
    return {
        **vars(job),
        "rates": orjson.dumps(job.rates).decode(),
        "problem": None if job.problem is None else _problem_to_json(job.problem),
    }


def _from_row(row: tuple[Any, ...]) -> JobState:
    values = dict(zip(_FIELDS, row, strict=True))
    problem = values["problem"] and JobError(**from_plain(orjson.loads(values["problem"])))
    return JobState(**{**values, "rates": orjson.loads(values["rates"]), "problem": problem})


def _problem_to_json(problem: JobError) -> str:
    said = to_plain({name: getattr(problem, name) for name in ("title", "detail", "field")})
    return orjson.dumps({"status": problem.status_code, **said}).decode()
