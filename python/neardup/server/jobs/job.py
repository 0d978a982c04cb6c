"""What is known of a check, and why one fails."""

from __future__ import annotations

from dataclasses import dataclass

from neardup._engine.messages import Message
from neardup.server.problems import ProblemError

__all__ = ["FINISHED", "STOPPED", "JobError", "JobState"]

#: States after which nothing changes.
FINISHED = ("done", "failed")


class JobError(ProblemError):
    """Why a check fails; the status is what an answer would have had, had it been known at once."""


#: What `JobError` takes for a check whose service ended before it.
STOPPED = (503, Message("server.title_stopped"), Message("server.stops"))


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
    process : int
        Number of the process that checks.
    client : str or None, default=None
        Who asked for it: see `neardup.server.security.clients`. No answer shows it.
    state : {'queued', 'running', 'done', 'failed'}
    stage : {'waiting', 'library', 'reading', 'comparing', 'report', 'done'}
    progress : float
        Share of the work that is done, in [0, 1].
    rates : dict of str to float, or None
        Of a report that is done: ``total``, ``without_quotations``, ``largest_source``.
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
