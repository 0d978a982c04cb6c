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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from neardup.exceptions import ParameterError
from neardup.server.clock import Clock
from neardup.server.temporary_folders import (
    CHECKS,
    hold_lock,
    is_free,
    lock_path,
    remove_abandoned,
)

__all__ = ["FINISHED", "JobFolder", "JobState", "Trouble"]

_ID = re.compile("[0-9a-f]{32}")
_FILES = ("zh.html", "en.html", "report.json")

#: States after which nothing comes.
FINISHED = ("done", "failed")


@dataclass(frozen=True)
class Trouble:
    """Why a check failed, as a problem document has it.

    Parameters
    ----------
    status : int
        What an answer would have had, had it been known at once.
    title, detail : str
    field : str or None, default=None
        The field of the request that it is about.
    """

    status: int
    title: str
    detail: str
    field: str | None = None


_STOPPED = Trouble(503, "The service stopped", "The service stops. Send the paper again later.")


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

    def create(self, paper: str, library: str) -> JobState:
        """Make a job that waits."""
        self._there()
        state = JobState(secrets.token_hex(16), paper, library, self.owner)
        os.mkdir(self.path / state.job, 0o700)
        self._replace(state.job, "state.json", orjson.dumps(asdict(state)))
        return state

    def write(self, state: JobState) -> bool:
        """Note how far a job is; False if it was removed."""
        return self._replace(state.job, "state.json", orjson.dumps(asdict(state)))

    def read(self, job: str) -> JobState | None:
        """Return how far a job is, None if there is none with this id."""
        data = self._read(job, "state.json")
        if data is None:
            return None
        found: dict[str, Any] = orjson.loads(data)
        if found["problem"] is not None:
            found["problem"] = Trouble(**found["problem"])
        state = JobState(**found)
        if state.state in FINISHED or self._lives(state.owner):
            return state
        return replace(state, state="failed", problem=_STOPPED)

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
            raise ParameterError(
                f"The folder of checks must be this user's alone. Got {self.path} instead, which"
                f" others may open. Name another one, or: chmod 700 {self.path}"
            )
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
