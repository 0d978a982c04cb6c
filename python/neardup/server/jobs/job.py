"""The state of a check, and the error of a failed one."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.base.messages import Message
from neardup.server.problems import ProblemError

__all__ = ["FINISHED", "STOPPED", "JobError", "JobState"]

#: Final states.
FINISHED = ("done", "failed")


class JobError(ProblemError):
    """Why a check failed; the status is that of an equivalent immediate response."""


#: Arguments of `JobError` for a check that was cut short because the service stopped.
STOPPED = (503, Message("server.title_stopped"), Message("server.stops"))


@dataclass(frozen=True)
class JobState:
    """State and progress of a check.

    Parameters
    ----------
    job : str
        Its id.
    paper : str
        The client's name for the file: a label, not a path.
    library : str
    process : int
        Id of the process that runs the check.
    client : str or None, default=None
        Who sent it: see `neardup.server.security.clients`. No response shows it.
    state : {'queued', 'running', 'done', 'failed'}
    stage : {'waiting', 'library', 'reading', 'comparing', 'report', 'done'}
    progress : float
        Finished share of the work, in [0, 1].
    rates : dict of str to float, or None
        Rates of a finished report: ``total``, ``without_quotations``, ``largest_source``.
    problem : JobError or None
        Why it failed.
    """

    job: str
    paper: str
    library: str
    process: int
    client: str | None = None
    state: str = "queued"
    stage: str = "waiting"
    progress: float = 0.0
    rates: dict[str, float] | None = None
    problem: JobError | None = None
