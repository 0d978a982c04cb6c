"""What is known of checks, in a folder that the processes of a service share.

A job is a folder whose name is its id: 128 random bits, so that who knows an id was told
it. ``state.json`` says how far it is; once it is done the report stands beside it. Files
are replaced as a whole, so a reader never sees half of one. Papers themselves are never
here: they wait in files without a name.

With several processes a client may ask another one than that which checks. It reads the
same files; and as each process holds a lock as long as it lives, a job whose process was
killed is known to have ended. A folder that nobody locks any more is removed by the next
service that starts.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from neardup._engine.messages import LANGUAGES, Message, from_plain, to_plain
from neardup.exceptions import ParameterError
from neardup.server.clock import Clock
from neardup.server.jobs.temporary_folders import (
    CHECKS,
    hold_lock,
    is_free,
    lock_path,
    remove_abandoned,
)

__all__ = ["FINISHED", "STOPPED", "JobFolder", "JobState", "Trouble"]

_ID = re.compile("[0-9a-f]{32}")
_FILES = (*(f"{language}.html" for language in LANGUAGES), "report.json")

#: States after which nothing comes.
FINISHED = ("done", "failed")


@dataclass(frozen=True)
class Trouble:
    """Why a check failed, as a problem document has it.

    Parameters
    ----------
    status : int
        What an answer would have had, had it been known at once.
    title, detail : Message
    field : str or None, default=None
        The field of the request that it is about.
    """

    status: int
    title: str
    detail: str
    field: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return to_plain(vars(self))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Trouble:
        """Return what `to_dict` returned."""
        return cls(**from_plain(stored))


#: Of a check whose service ended before it.
STOPPED = Trouble(503, Message("server.title_stopped"), Message("server.stops"))


@dataclass(frozen=True)
class JobState:
    """How far a check is.

    Parameters
    ----------
    job : str
        Its id.
    paper : str
        What the client called the file; a label and no path.
    library : str
    owner : str
        The process that checks.
    state : {'queued', 'running', 'done', 'failed'}
    progress : float
        Share of the work that is done, in [0, 1].
    stage : {'waiting', 'library', 'reading', 'comparing', 'report', 'done'}
    rates : dict of str to float, or None
        Of a report that is done: ``total``, ``without_quotations``, ``largest_source``.
    problem : Trouble or None
        Why it failed.
    client : str or None, default=None
        Who asked for it: see `neardup.server.security.clients`. No answer shows it.
    """

    job: str
    paper: str
    library: str
    owner: str
    state: str = "queued"
    progress: float = 0.0
    stage: str = "waiting"
    rates: dict[str, float] | None = None
    problem: Trouble | None = None
    client: str | None = None


@dataclass(frozen=True)
class _Report:
    """The files of a report: when they were made, of which job and client, and their size."""

    made: float
    job: str
    client: str | None
    size: int
    finished: bool


class JobFolder:
    """The folder of jobs; to be opened before anything else.

    Parameters
    ----------
    seconds : float
        How long a result is kept.
    clock : Clock or None, default=None
        What time is measured with. None takes the system's.

    Attributes
    ----------
    path : Path
    owner : str
        What this process is called in it.
    """

    path: Path

    def __init__(self, seconds: float, clock: Clock | None = None) -> None:
        self._seconds = seconds
        self._clock = clock or Clock()
        self._shared = True
        self._lock: int | None = None
        self.owner = secrets.token_hex(8)

    def open(self, path: Path | None = None) -> None:
        """Open the folder, and remove what services that were killed left behind.

        Parameters
        ----------
        path : Path or None, default=None
            A folder that other processes of the service use, too; made if it is not there.
            None makes one that goes when it is closed.

        Raises
        ------
        ParameterError
            If others than this user may look into the folder.
        """
        remove_abandoned()
        self._shared = path is not None
        self.path = path or Path(tempfile.mkdtemp(prefix=CHECKS))
        self._there()

    def create(self, paper: str, library: str, client: str | None = None) -> JobState:
        """Make a job that waits."""
        self._there()
        state = JobState(secrets.token_hex(16), paper, library, self.owner, client=client)
        os.mkdir(self.path / state.job, 0o700)
        self.write(state)
        return state

    def write(self, state: JobState) -> bool:
        """Note how far a job is; False if it was removed."""
        stored = asdict(state)
        if state.problem is not None:
            stored["problem"] = state.problem.to_dict()
        return self._replace(state.job, "state.json", orjson.dumps(stored))

    def read(self, job: str) -> JobState | None:
        """Return how far a job is, None if there is none with this id."""
        data = self._read(job, "state.json")
        if data is None:
            return None
        found: dict[str, Any] = orjson.loads(data)
        if found["problem"] is not None:
            found["problem"] = Trouble.from_dict(found["problem"])
        state = JobState(**found)
        if state.state in FINISHED or self._lives(state.owner):
            return state
        return replace(state, state="failed", problem=STOPPED)

    def get(self, job: str, name: str) -> bytes | None:
        """Return one of the files of a report, None if it is not there."""
        return self._read(job, name) if name in _FILES else None

    def has(self, job: str) -> bool:
        """Return whether a job is there."""
        return _ID.fullmatch(job) is not None and (self.path / job).is_dir()

    def remove(self, job: str) -> bool:
        """Remove a job with all it has; False if there is none with this id."""
        if not self.has(job):
            return False
        shutil.rmtree(self.path / job, ignore_errors=True)
        return True

    def remove_report(self, job: str) -> None:
        """Remove the files of a report; the job stays."""
        for name in _FILES:
            with contextlib.suppress(OSError):
                (self.path / job / name).unlink()

    def expire(self) -> None:
        """Remove jobs that ended longer ago than results are kept."""
        before = self._clock.time() - self._seconds
        with contextlib.suppress(OSError):
            for job in os.listdir(self.path):
                if not _ID.fullmatch(job):
                    continue
                with contextlib.suppress(OSError, orjson.JSONDecodeError):
                    if (self.path / job / "state.json").stat().st_mtime < before:
                        state = self.read(job)
                        if state is not None and state.state in FINISHED:
                            self.remove(job)

    def make_room(self, job: str, max_bytes: int, max_client_bytes: int) -> bool:
        """Remove reports until all that are stored are within limits, a new one among them.

        Parameters
        ----------
        job : str
            The job of the new report. It is not removed.
        max_bytes : int
            Limit of all reports. Beyond it the oldest ones of the client with the most go.
        max_client_bytes : int
            Limit of the reports of one client, of which the oldest ones go. It does not hold
            for jobs without a client.

        Returns
        -------
        bool
            False if the new report alone is too large; nothing is removed then.
        """
        reports = self._reports()
        new = next((one for one in reports if one.job == job), None)
        if new is None:
            return True
        if new.size > (max_bytes if new.client is None else min(max_bytes, max_client_bytes)):
            return False
        sizes: Counter[str | None] = Counter()
        for one in reports:
            sizes[one.client] += one.size
        # Oldest first.
        removable = [one for one in reports if one.job != job and one.finished]
        while removable:
            if new.client is not None and sizes[new.client] > max_client_bytes:
                clients: set[str | None] = {new.client}
            elif sizes.total() > max_bytes:
                most = max(sizes[one.client] for one in removable)
                clients = {one.client for one in removable if sizes[one.client] == most}
            else:
                break
            oldest = next((one for one in removable if one.client in clients), None)
            if oldest is None:
                break
            self.remove(oldest.job)
            removable.remove(oldest)
            sizes[oldest.client] -= oldest.size
        return True

    def _reports(self) -> list[_Report]:
        """Return the reports that are stored, the oldest first."""
        found = []
        with contextlib.suppress(OSError):
            for job in os.listdir(self.path):
                state = self.read(job)
                if state is None:
                    continue
                size, made = 0, 0.0
                for name in _FILES:
                    with contextlib.suppress(OSError):
                        status = (self.path / job / name).stat()
                        size += status.st_size
                        made = max(made, status.st_mtime)
                if size:
                    found.append(_Report(made, job, state.client, size, state.state in FINISHED))
        return sorted(found, key=lambda one: (one.made, one.job))

    def close(self) -> None:
        """Give up the lock; remove the folder if it was made here."""
        if self._lock is not None:
            with contextlib.suppress(OSError):
                lock_path(self.path, self.owner).unlink()
            os.close(self._lock)
            self._lock = None
        if not self._shared:
            shutil.rmtree(self.path, ignore_errors=True)

    def _there(self) -> None:
        """Make sure of the folder; whatever tidies temporary folders may have removed it."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = self.path.lstat()
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
            raise ParameterError(Message("server.checks_folder_open", folder=str(self.path)))
        if lock_path(self.path, self.owner).exists():
            return
        if self._lock is not None:
            os.close(self._lock)
        self._lock = hold_lock(self.path, self.owner)

    def _lives(self, owner: str) -> bool:
        return owner == self.owner or not is_free(lock_path(self.path, owner))

    def _read(self, job: str, name: str) -> bytes | None:
        if not _ID.fullmatch(job):
            return None
        try:
            return (self.path / job / name).read_bytes()
        except OSError:
            return None

    def _replace(self, job: str, name: str, data: bytes) -> bool:
        target = self.path / job / name
        new = target.with_name(f".{name}")
        try:
            new.write_bytes(data)
            new.replace(target)
        except FileNotFoundError:
            return False
        return True
