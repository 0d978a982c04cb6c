"""Paper checks as rows of one SQLite table: state, progress and report.

The id of a job is 128 random bits, so only a client that was given it can know it. The table
never stores papers: they wait in unnamed temporary files. Its database has no name either: the
system removes it when the process ends for any reason.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import orjson

from neardup.base.messages import LANGUAGES, Message, from_plain, to_plain
from neardup.server.clock import Clock
from neardup.server.problems import ProblemError

__all__ = ["FINISHED", "STOPPED", "JobError", "JobState", "JobTable", "Rates"]

#: Final states.
FINISHED = ("done", "failed")

#: Files of a report: a page in each language, and the data.
_REPORT_FILES = (*(f"{language}.html" for language in LANGUAGES), "report.json")

_TABLE = f"""
    PRAGMA auto_vacuum = FULL;
    PRAGMA synchronous = OFF;
    CREATE TABLE jobs (
        job TEXT PRIMARY KEY, paper TEXT, state TEXT, progress REAL, stage TEXT,
        rates TEXT, problem TEXT,
        ended REAL, report_bytes INTEGER NOT NULL DEFAULT 0,
        {", ".join(f'"{name}" BLOB' for name in _REPORT_FILES)}
    );
"""


class JobError(ProblemError):
    """Why a check failed; the status is that of an equivalent immediate response."""


#: Arguments of `JobError` for a check that was cut short because the service stopped.
STOPPED = (
    503,
    Message("The service stopped"),
    Message("The service is stopping. Send the paper again later."),
)


@dataclass(frozen=True)
class Rates:
    """Shares of the paper's characters, in [0, 1]."""

    total: float
    without_quotations: float
    largest_source: float


@dataclass(frozen=True)
class JobState:
    """State and progress of a check; ``paper`` is the client's name for the file, not a path."""

    job: str
    paper: str
    state: Literal["queued", "running", "done", "failed"]
    progress: float
    stage: Literal["waiting", "library", "reading", "comparing", "report", "done"]
    rates: Rates | None
    problem: JobError | None


_FIELDS = tuple(field.name for field in fields(JobState))


class JobTable:
    """The jobs of a service; call `open` before anything else. Results are kept for `seconds`."""

    _database: sqlite3.Connection

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()

    def open(self) -> None:
        """Create the database."""
        self._database = sqlite3.connect("", isolation_level="IMMEDIATE", check_same_thread=False)
        self._database.executescript(_TABLE)

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            if hasattr(self, "_database"):
                self._database.close()

    def create(self, paper: str) -> JobState:
        """Create a waiting job."""
        job = JobState(secrets.token_hex(16), paper, "queued", 0.0, "waiting", None, None)
        places = ", ".join(f":{name}" for name in _FIELDS)
        self._change(f"INSERT INTO jobs ({', '.join(_FIELDS)}) VALUES ({places})", _to_row(job))
        return job

    def save(self, job: JobState) -> bool:
        """Store the state of a job; False if the job was removed."""
        row = _to_row(job)
        row["ended"] = self._clock.time() if job.state in FINISHED else None
        changes = ", ".join(f"{name} = :{name}" for name in row)
        return self._change(f"UPDATE jobs SET {changes} WHERE job = :job", row)

    def save_report(self, job: str, report: Mapping[str, str], *, most: int) -> bool:
        """Store a report by file name, and remove the oldest others beyond `most` bytes in all.

        False if it alone has more; then nothing is stored or removed.
        """
        contents = [report[name].encode() for name in _REPORT_FILES]
        size = sum(map(len, contents))
        if size > most:
            return False
        changes = ", ".join(f'"{name}" = ?' for name in _REPORT_FILES)
        self._change(
            f"UPDATE jobs SET report_bytes = ?, {changes} WHERE job = ?", (size, *contents, job)
        )
        # Each job goes whose report does not fit beside the newer ones.
        self._change(
            "DELETE FROM jobs WHERE job IN (SELECT job FROM"
            " (SELECT job, ended, SUM(report_bytes) OVER (ORDER BY ended DESC, rowid DESC) AS bytes"
            " FROM jobs WHERE job != :job AND report_bytes > 0 AND ended IS NOT NULL)"
            " WHERE bytes > :most - (SELECT SUM(report_bytes) FROM jobs"
            " WHERE job = :job OR ended IS NULL))",
            {"job": job, "most": most},
        )
        return True

    def get(self, job: str) -> JobState | None:
        """Return the state of a job, None if no job has this id."""
        row = self._row(f"SELECT {', '.join(_FIELDS)} FROM jobs WHERE job = ?", job)
        return None if row is None else _from_row(row)

    def report(self, job: str, name: str) -> bytes | None:
        """Return a file of a job's report, None if there is none."""
        row = self._row(f'SELECT "{name}" FROM jobs WHERE job = ?', job)
        return None if row is None else row[0]

    def exists(self, job: str) -> bool:
        """Return whether a job exists."""
        return self._row("SELECT 1 FROM jobs WHERE job = ?", job) is not None

    def remove(self, job: str) -> bool:
        """Remove a job with its report; False if no job has this id."""
        return self._change("DELETE FROM jobs WHERE job = ?", (job,))

    def remove_expired(self) -> None:
        """Remove finished jobs whose results have expired."""
        self._change("DELETE FROM jobs WHERE ended < ?", (self._clock.time() - self._seconds,))

    def _change(self, statement: str, values: Mapping[str, Any] | tuple[Any, ...]) -> bool:
        """Execute a statement; return whether it changed a row."""
        with self._lock, self._database as database:
            return database.execute(statement, values).rowcount > 0

    def _row(self, statement: str, job: str) -> tuple[Any, ...] | None:
        with self._lock:
            try:
                row: tuple[Any, ...] | None = self._database.execute(statement, (job,)).fetchone()
            except UnicodeEncodeError:
                # An address may contain lone surrogates; an id cannot.
                return None
            return row


def _to_row(job: JobState) -> dict[str, Any]:
    problem = None
    if job.problem is not None:
        names = ("title", "detail", "field")
        members = to_plain({name: getattr(job.problem, name) for name in names})
        problem = orjson.dumps({"status": job.problem.status_code, **members}).decode()
    return {**vars(job), "rates": orjson.dumps(job.rates).decode(), "problem": problem}


def _from_row(row: tuple[Any, ...]) -> JobState:
    values = dict(zip(_FIELDS, row, strict=True))
    problem = values["problem"] and JobError(**from_plain(orjson.loads(values["problem"])))
    rates = orjson.loads(values["rates"])
    values |= {"rates": rates and Rates(**rates), "problem": problem}
    return JobState(**values)
