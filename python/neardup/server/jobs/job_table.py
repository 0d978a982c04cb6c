"""Paper checks: their states, and their reports in a database without a name.

The id of a job is 128 random bits, so only a client that was given it can know it. Reports may be
larger than memory, so they are in an SQLite database. It has no name: the system removes it when
the process ends for any reason.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, InstanceOf, PlainSerializer

from neardup.papers.results import Rates
from neardup.papers.verdict import NoVerdict
from neardup.server.problems import Problem, ProblemError, make_problem

#: Final states.
FINISHED = ("done", "failed")

_TABLE = """
    PRAGMA auto_vacuum = FULL;
    PRAGMA synchronous = OFF;
    CREATE TABLE reports (job TEXT, name TEXT, content BLOB, PRIMARY KEY (job, name));
"""


#: Why a paper has no verdict.
Reason = Annotated[
    NoVerdict | None,
    Field(description="Why there is no verdict: `nothing_compared` also means no rates."),
]


@dataclass(frozen=True)
class PaperState:
    """The result of one paper of a check of several."""

    paper: str
    rates: Rates | None
    verdict: Literal["pass", "review", "reject"] | None
    no_verdict: Reason
    problem: Annotated[str | None, Field(description="Why the paper could not be checked.")]


@dataclass(frozen=True)
class JobState:
    """State and progress of a check."""

    job: str
    paper: Annotated[str, Field(description="The client's name for the file, not a path.")]
    state: Literal["queued", "running", "done", "failed"]
    progress: Annotated[float, Field(description="In [0, 1].")]
    stage: Literal["waiting", "library", "reading", "comparing", "report", "done"]
    rates: Annotated[Rates | None, Field(description="Of a finished check.")]
    problem: (
        Annotated[InstanceOf[ProblemError], PlainSerializer(make_problem, return_type=Problem)]
        | None
    )
    verdict: Annotated[
        Literal["pass", "review", "reject"] | None,
        Field(description="By `pass_below` and `reject_above`; null without them."),
    ] = None
    no_verdict: Reason = None
    papers: Annotated[
        tuple[PaperState, ...],
        Field(description="Of a finished check of several papers, in their order."),
    ] = ()


class JobTable:
    """The jobs of a service; results are kept for `seconds`. Any thread may use it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._states: dict[str, JobState] = {}
        #: When finished jobs ended, in this order.
        self._ends: dict[str, float] = {}
        #: Bytes of the stored reports, the oldest first.
        self._sizes: dict[str, int] = {}
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.executescript(_TABLE)

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._database.close()

    def create(self, paper: str) -> JobState:
        """Create a waiting job."""
        job = JobState(secrets.token_hex(16), paper, "queued", 0.0, "waiting", None, None)
        with self._lock:
            self._states[job.job] = job
        return job

    def save(self, job: JobState) -> bool:
        """Store the state of a job; False if the job was removed."""
        with self._lock:
            if job.job not in self._states:
                return False
            self._states[job.job] = job
            if job.state in FINISHED:
                self._ends[job.job] = time.time()
            return True

    def save_report(self, job: str, files: Mapping[str, str], *, limit: int) -> bool:
        """Store more files of a job, and remove the oldest other jobs beyond `limit` bytes in all.

        False if the job alone has more; then nothing is stored or removed.
        """
        rows = [(job, name, content.encode()) for name, content in files.items()]
        with self._lock:
            size = self._sizes.get(job, 0) + sum(len(content) for _, _, content in rows)
            if size > limit:
                return False
            if job not in self._states:
                return True
            self._database.executemany("INSERT INTO reports VALUES (?, ?, ?)", rows)
            self._sizes.pop(job, None)
            self._sizes[job] = size
            room = limit
            for stored, stored_bytes in reversed(list(self._sizes.items())):
                room -= stored_bytes
                if room < 0:
                    self._remove(stored)
            return True

    def get(self, job: str) -> JobState | None:
        """Return the state of a job, None if no job has this id."""
        return self._states.get(job)

    def read_report(self, job: str, name: str) -> bytes | None:
        """Return a file of a job's report, None if there is none."""
        with self._lock:
            query = "SELECT content FROM reports WHERE job = ? AND name = ?"
            row = self._database.execute(query, (job, name)).fetchone()
            return None if row is None else bytes(row[0])

    def remove(self, job: str) -> bool:
        """Remove a job with its report; False if no job has this id."""
        with self._lock:
            return self._remove(job)

    def remove_expired(self) -> None:
        """Remove finished jobs whose results have expired."""
        oldest = time.time() - self._seconds
        with self._lock:
            for job in [job for job, end in self._ends.items() if end < oldest]:
                self._remove(job)

    def _remove(self, job: str) -> bool:
        self._ends.pop(job, None)
        if self._sizes.pop(job, None) is not None:
            self._database.execute("DELETE FROM reports WHERE job = ?", (job,))
        return self._states.pop(job, None) is not None
