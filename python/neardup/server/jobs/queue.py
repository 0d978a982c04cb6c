"""Paper checks as jobs in a bounded queue, served by a thread, each paper in its own process.

A check takes longer than a request may, so the client gets an id and polls. A job whose library
is still being opened lets others go first.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, TYPE_CHECKING, Literal

from neardup.base.messages import Message
from neardup.papers.paper_check import PaperCheck
from neardup.papers.reading import Reading
from neardup.readers.sandbox import Exchange, ExchangeEndedError
from neardup.server.jobs.job_table import JobState, JobTable
from neardup.server.jobs.libraries import Libraries
from neardup.server.jobs.overview import make_overview, make_paper_state
from neardup.server.jobs.paper_check import CHECK_PROCESS, SharedLibrary, check_paper, read_paper
from neardup.server.problems import ProblemError

if TYPE_CHECKING:
    from neardup.papers.library import Library
    from neardup.papers.report import Report
    from neardup.papers.settings import CheckSettings, Paper
    from neardup.readers.file_text import FileText
    from neardup.server.jobs.submission import Submission
    from neardup.server.jobs.uploads import Upload
    from neardup.server.metrics import Metrics
    from neardup.server.settings import Settings

#: Longest time for reading a file, in seconds, which is part of the check of a paper.
READ_SECONDS = 120.0

#: Most text of all papers of a check, in papers of most text.
MOST_TEXTS = 20

#: For a client that found the queue full, in seconds.
_RETRY = {"Retry-After": "10"}

#: How often an idle queue removes expired results, in seconds.
_TIDY = 30.0

#: Progress at which each stage of a check begins.
_READING, _COMPARING, _REPORT = 0.02, 0.2, 0.9

Stage = Literal["reading", "comparing", "report"]

#: Progress is stored in steps of this size.
_STEP = 0.02

_FAILED = (
    500,
    "Internal error",
    Message("The check failed. The log of the service has the details."),
)
_STOPPED = (
    503,
    "The service stopped",
    Message("The service is stopping. Send the paper again later."),
)

_log = logging.getLogger(__name__)


class _RemovedJobError(Exception):
    """The job was removed while it ran."""


class _TooMuchTextError(ProblemError):
    """All texts of a check together are too long."""


class _TooLongError(ProblemError):
    """The check of one paper took too long."""


@dataclass
class _Job:
    """A job, with the progress that was stored last, and the characters that were read."""

    state: JobState
    asked: Submission
    progress: float = -1.0
    characters: int = 0

    @property
    def is_several(self) -> bool:
        """Whether there may be several papers."""
        return bool(self.asked.papers.labels)

    @property
    def count(self) -> int:
        """Number of papers."""
        return max(len(self.asked.papers.labels), 1)


class Jobs:
    """The checks of a service, one at a time: the core runs each on all processors."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._table = JobTable(settings.job_seconds)
        self._changed = threading.Condition()
        self._waiting: list[_Job] = []
        self._running = 0
        metrics.checks.labels("waiting").set_function(lambda: len(self._waiting))
        metrics.checks.labels("running").set_function(lambda: self._running)
        self._ended = metrics.ended_checks
        self._stops = False
        self._time_is_up = False
        self.libraries = Libraries(settings, self._wake)
        self._thread = threading.Thread(target=self._work, name="check", daemon=True)

    def start(self) -> None:
        """Start the thread that runs checks."""
        self._thread.start()

    async def stop(self, seconds: float = 30.0) -> None:
        """Finish the running checks within so many seconds, and fail the waiting ones."""
        with self._changed:
            self._stops = True
            waiting, self._waiting = self._waiting, []
            self._changed.notify_all()
        for job in waiting:
            self._fail(job, ProblemError(*_STOPPED))
        await asyncio.to_thread(self._join, seconds)

    def _join(self, seconds: float) -> None:
        if self._thread.ident is not None:
            self._thread.join(seconds)
            self._time_is_up = True
            self._thread.join(5.0)
        self.libraries.close()
        self._table.close()

    def submit(self, asked: Submission) -> JobState:
        """Queue papers; raise 404 if there is no such library, 429 if too many wait."""
        try:
            self.libraries.check_name(asked.library)
            self._table.remove_expired()
            with self._changed:
                if self._stops:
                    raise ProblemError(*_STOPPED, headers=_RETRY)
                if len(self._waiting) >= self._settings.max_jobs:
                    detail = Message.counted(
                        "{count} paper waits already. Send it again later.",
                        "{count} papers wait already. Send it again later.",
                        count=self._settings.max_jobs,
                    )
                    raise ProblemError(429, "Too many papers", detail, headers=_RETRY)
                job = _Job(self._table.create(asked.papers.label), asked)
                self.libraries.prepare(asked.library)
                self._waiting.append(job)
                self._changed.notify()
        except BaseException:
            asked.close()
            raise
        return job.state

    def get_state(self, job: str) -> JobState | None:
        """Return the state of a job, None if no job has this id."""
        state = self._table.get(job)
        with self._changed:
            libraries = [
                waiting.asked.library for waiting in self._waiting if waiting.state.job == job
            ]
        if state is None or not libraries or self.libraries.is_ready(libraries[0]):
            return state
        opened = self.libraries.get_progress(libraries[0])
        return replace(state, stage="library", progress=_READING * opened)

    def read_report(self, job: str, name: str) -> bytes | None:
        """Return a file of a job, such as ``1.zh.html`` or ``1.report.json``, or None.

        The number is the number of the paper. Jobs of several papers also have the
        `make_overview`.
        """
        return self._table.read_report(job, name)

    def remove(self, job: str) -> bool:
        """Remove a job with all its data, and cancel it if it runs. False if there is none."""
        removed = self._table.remove(job)
        self._wake()
        return removed

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _work(self) -> None:
        while not self._is_over():
            try:
                self._take_one()
            except sqlite3.Error as error:
                # The disk may be full; this may be over for later jobs.
                _log.error("The reports of checks cannot be removed: %s", error)
                with self._changed:
                    self._changed.wait(_TIDY)

    def _is_over(self) -> bool:
        with self._changed:
            return self._stops and not self._waiting

    def _take_one(self) -> None:
        """Run the next job, or wait a limited time for one."""
        with self._changed:
            job = self._take_next()
            if job is None:
                if self._stops:
                    return
                self._changed.wait(_TIDY)
            else:
                self._running += 1
        if job is None:
            self._table.remove_expired()
            return
        try:
            self._run(job)
        finally:
            with self._changed:
                self._running -= 1

    def _take_next(self) -> _Job | None:
        """Take the first job that was removed, or whose library is ready."""
        for job in self._waiting:
            gone = self._table.get(job.state.job) is None
            if gone or self.libraries.is_ready(job.asked.library):
                self._waiting.remove(job)
                return job
        return None

    def _run(self, job: _Job) -> None:
        job.state = replace(job.state, state="running")
        try:
            self._end(job, self._check_papers(job))
        except ProblemError as error:
            self._fail(job, error)
        except _RemovedJobError:
            job.asked.close()
        except ExchangeEndedError as error:
            _log.error("The process of a check ended: %s", error)
            self._fail(job, ProblemError(*_FAILED))
        except Exception as error:
            _log.error("A check failed", exc_info=error)
            self._fail(job, ProblemError(*_FAILED))

    def _check_papers(self, job: _Job) -> JobState:
        """Run all stages of a check and return the final state."""
        asked, settings = job.asked, job.asked.settings
        if asked.exclude is not None:
            settings = replace(settings, excluded=self._read_excluded(job, asked.exclude))
        readings = list(self._read_papers(job))
        with self.libraries.use(asked.library) as library:
            among = asked.compare_papers and job.is_several
            check = PaperCheck(settings, SharedLibrary(library), among, asked.covers)
            checked = list(check.check_all(readings, job.count, partial(self._make_report, job)))
        done = replace(job.state, state="done", stage="done", progress=1.0)
        states = tuple(map(make_paper_state, checked))
        if job.is_several:
            self._look(job, "report", _REPORT)
            notes = asked.covers.list_gaps(asked.papers.labels)
            self._store(job, make_overview(job.state.job, checked, notes))
            return replace(done, papers=states)
        (state,) = states
        return replace(done, rates=state.rates, verdict=state.verdict, no_verdict=state.no_verdict)

    def _read_papers(self, job: _Job) -> Iterator[Reading]:
        """Yield the papers of a job; raise if it has only one, and that cannot be read."""
        for number, (label, file) in enumerate(job.asked.papers.open_papers()):
            self._look(job, "reading", _interpolate(_READING, _COMPARING, number / job.count))
            try:
                # No file of the library has such an id.
                yield Reading(label, self._read(job, file, label), id=f"./{label}")
            except ProblemError as error:
                is_of_all = isinstance(error, _TooMuchTextError) or error.status_code >= 500
                if not job.is_several or is_of_all:
                    raise
                yield Reading(label, None, error.detail)

    def _read_excluded(self, job: _Job, upload: Upload) -> list[str]:
        """Return the texts of excluded files; raise if one cannot be read."""
        try:
            return [self._read(job, file, label).text for label, file in upload.open_papers()]
        except ProblemError as error:
            raise ProblemError(error.status_code, error.title, error.detail, "exclude") from None

    def _read(self, job: _Job, file: IO[bytes], label: str) -> FileText:
        """Return the text of a file; raise if all texts of the job are too long together."""
        settings = self._settings
        text = read_paper(
            file,
            label,
            max_bytes=settings.max_upload_bytes,
            max_characters=settings.max_text_characters,
            seconds=min(READ_SECONDS, settings.check_seconds),
            look=lambda: self._look(job),
        )
        job.characters += len(text.text)
        limit = MOST_TEXTS * settings.max_text_characters
        if job.characters > limit:
            detail = Message("The papers must have at most {most:,} characters.", most=limit)
            raise _TooMuchTextError(413, "Paper too large", detail, "file")
        return text

    def _make_report(
        self, job: _Job, settings: CheckSettings, library: Library, paper: Paper
    ) -> Report | str:
        """Store the pages of a paper and return its report, or why it took too long."""
        labels = job.asked.papers.labels
        number = labels.index(paper.name) if labels else 0

        def done(share: float) -> None:
            progress = _interpolate(_COMPARING, _REPORT, (number + share) / job.count)
            self._look(job, "comparing", progress)

        try:
            with Exchange(CHECK_PROCESS, self._limit(job, paper.name)) as process:
                seconds = self._settings.check_seconds
                report = check_paper(process, settings, library, paper, seconds=seconds, done=done)
                if not job.is_several:
                    self._look(job, "report", _REPORT)
                pages: dict[str, str] = process.receive()
        except _TooLongError as error:
            if not job.is_several:
                raise
            return error.detail
        self._store(job, {f"{number + 1}.{name}": page for name, page in pages.items()})
        return report

    def _look(self, job: _Job, stage: Stage = "reading", progress: float = -1.0) -> None:
        """Raise if a check was removed, or if the service stops; store how far it is."""
        if self._time_is_up:
            raise ProblemError(*_STOPPED)
        if self._table.get(job.state.job) is None:
            raise _RemovedJobError
        if progress >= job.progress + _STEP:
            job.progress = progress
            self._table.save(replace(job.state, stage=stage, progress=round(progress, 3)))

    def _limit(self, job: _Job, label: str) -> Callable[[], None]:
        """Return a function that raises as `_look` does, or when the time of a paper is over."""
        seconds = self._settings.check_seconds
        end = time.monotonic() + seconds

        def look() -> None:
            self._look(job)
            if time.monotonic() > end:
                detail = Message(
                    "{file}: the check took longer than {seconds:g} seconds. Split the paper.",
                    file=label,
                    seconds=seconds,
                )
                raise _TooLongError(422, "The check took too long", detail, "file")

        return look

    def _store(self, job: _Job, files: dict[str, str]) -> None:
        limit = self._settings.max_report_bytes
        if not self._table.save_report(job.state.job, files, limit=limit):
            raise ProblemError(
                422,
                "Report too large",
                Message("The report is larger than this service stores. Split the paper."),
                "file",
            )

    def _end(self, job: _Job, state: JobState) -> None:
        job.asked.close()
        if self._table.save(state):
            self._ended.labels(state.state).inc()

    def _fail(self, job: _Job, error: ProblemError) -> None:
        # A copy: the traceback of the error would keep the text of the paper in memory.
        problem = ProblemError(error.status_code, error.title, error.detail, error.field)
        self._end(job, replace(job.state, state="failed", problem=problem))


def _interpolate(begin: float, end: float, share: float) -> float:
    return begin + (end - begin) * share
