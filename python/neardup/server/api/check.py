"""Paper checks over HTTP: send a paper, poll its state, fetch the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import anyio.to_thread
from fastapi import APIRouter, Depends, Query, Request, Response

from neardup.base.messages import LANGUAGES, Message
from neardup.papers.align import LEAST, LONGEST, SHORTEST
from neardup.papers.cover import COVER_COLUMNS
from neardup.server.api.body import json_response
from neardup.server.api.openapi import problem_responses
from neardup.server.jobs.job_table import JobState
from neardup.server.jobs.libraries import INDEX
from neardup.server.jobs.submission import submission_of
from neardup.server.jobs.uploads import read_form
from neardup.server.problems import Problem, ProblemError, problem
from neardup.server.security.auth import require
from neardup.server.security.headers import report_policy

__all__ = ["router", "state_of"]

router = APIRouter(tags=["papers"], dependencies=[Depends(require("read"))])

Language = Annotated[
    Literal["zh", "en"] | None, Query(description="Of the interface; that of the service if unset.")
]

Paper = Annotated[
    int, Query(ge=1, description="Number of the paper, in a check of several from the pages.")
]

_PERCENT = {"type": "string", "examples": ["15"]}

_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "library"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "The paper: .docx, .pdf, .txt, .md or .html."
                            " Its name is a label, nothing else.",
                        },
                        "library": {
                            "type": "string",
                            "description": "A name that GET /v1/libraries lists.",
                            "examples": [INDEX],
                        },
                        "least": {
                            "type": "integer",
                            "minimum": SHORTEST,
                            "maximum": LONGEST,
                            "default": LEAST,
                            "description": "Chinese characters that a passage has at least in"
                            " common with its source; of an alphabet twice as many letters.",
                        },
                        "count_shared": {
                            "type": "boolean",
                            "default": False,
                            "description": "Whether text that many documents of the library share,"
                            " such as a declaration, counts as copied.",
                        },
                        "exclude": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "Files, or a .zip of them. What occurs in them, such as"
                            " a template, is neither copied nor counted.",
                        },
                        "pass_below": {**_PERCENT, "description": "The paper passes below it."},
                        "reject_above": {
                            **_PERCENT,
                            "description": "The paper is rejected above it; between the two it is"
                            " to be reviewed.",
                        },
                        "title": {"type": "string", "description": "For the cover of the report."},
                        "author": {"type": "string"},
                        "number": {"type": "string", "description": "Of the student or the paper."},
                        "institution": {"type": "string"},
                        "covers": {
                            "type": "string",
                            "format": "binary",
                            "description": "The same as a table: a CSV with the columns "
                            + ", ".join(COVER_COLUMNS)
                            + ".",
                        },
                        "language": {
                            "type": "string",
                            "enum": list(LANGUAGES),
                            "description": "Language of the report that `report` names.",
                        },
                    },
                }
            }
        },
    }
}


@dataclass(frozen=True)
class JobAnswer(JobState):
    """State and progress of a check.

    Parameters
    ----------
    paper : str
        The client's name for the paper.
    progress : float
        In [0, 1].
    rates : Rates or None
        Rates of a finished check.
    verdict : str or None
        By `pass_below` and `reject_above`; null without them.
    problem : Problem or None
        Error of a failed check.
    """

    problem: Problem | None  # type: ignore[assignment]


@dataclass(frozen=True)
class Accepted:
    """An accepted check.

    Parameters
    ----------
    job : str
        Id of the check. Anyone who knows it can read the check.
    status, report, report_json : str
        Addresses.
    """

    job: str
    state: str
    status: str
    report: str
    report_json: str


@dataclass(frozen=True)
class Library:
    """A library that papers can be checked against.

    Parameters
    ----------
    documents : int or None
        Null if the library is not open yet.
    """

    name: str
    documents: int | None


@dataclass(frozen=True)
class Libraries:
    """All libraries."""

    libraries: list[Library]


def state_of(request: Request, job: str) -> JobState:
    """Return the state of a job; raise `ProblemError` 404 if no job has this id."""
    state: JobState | None = request.app.state.jobs.state(job)
    if state is None:
        raise _gone()
    return state


@router.post(
    "/v1/check",
    status_code=202,
    summary="Hold a paper against a library",
    response_model=Accepted,
    responses=problem_responses(404),
    openapi_extra=_FORM,
)
async def post_check(request: Request) -> Response:
    """Accept a paper; the response has the address of the check's state.

    The bytes decide the file format. The file is read when its turn comes, so an unreadable
    file results in a failed check.
    """
    jobs, settings = request.app.state.jobs, request.app.state.settings
    with jobs.room():
        form = await read_form(request)
        try:
            submission, fields = await submission_of(form, settings, others=("language",))
        finally:
            await form.close()
        language = fields.get("language") or None
        if language is not None and language not in LANGUAGES:
            submission.close()
            choices = ", ".join(LANGUAGES)
            detail = Message("The field 'language' must be one of {choices}.", choices=choices)
            raise ProblemError("Invalid field", detail, "language")
        state = await anyio.to_thread.run_sync(jobs.submit, submission)
    where = f"/v1/check/{state.job}"
    asked = f"?language={language}" if language else ""
    report = f"{where}/report"
    answer = json_response(
        Accepted(state.job, state.state, where, f"{report}{asked}", f"{report}.json"), 202
    )
    answer.headers["Location"] = where
    return answer


@router.get(
    "/v1/check/{job}",
    summary="How far is a check?",
    response_model=JobAnswer,
    responses=problem_responses(404),
)
def get_check(request: Request, job: str) -> Response:
    """Return the state and progress of a check, and the rates once it is done."""
    state = state_of(request, job)
    members = None if state.problem is None else problem(state.problem)
    return json_response(vars(state) | {"problem": members})


@router.get(
    "/v1/check/{job}/report",
    summary="The report of a check, as a page",
    response_class=Response,
    responses={
        **problem_responses(404, 409),
        200: {"description": "A page that needs nothing else.", "content": {"text/html": {}}},
    },
)
def get_report(request: Request, job: str, language: Language = None, paper: Paper = 1) -> Response:
    """Return the report of a finished check."""
    _check_done(state_of(request, job))
    language = language or request.app.state.settings.language
    page = request.app.state.jobs.report(job, f"{paper}.{language}.html")
    if page is None:
        raise _gone()
    headers = {"Content-Security-Policy": report_policy(page.decode())}
    return Response(page, headers=headers, media_type="text/html; charset=utf-8")


@router.get(
    "/v1/check/{job}/report.json",
    summary="The report of a check, with all offsets",
    response_class=Response,
    responses={
        **problem_responses(404, 409),
        200: {
            "description": "Offsets count code points.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
    },
)
def get_report_json(request: Request, job: str, paper: Paper = 1) -> Response:
    """Return the report of a finished check as a JSON download."""
    _check_done(state_of(request, job))
    report = request.app.state.jobs.report(job, f"{paper}.report.json")
    if report is None:
        raise _gone()
    headers = {"Content-Disposition": 'attachment; filename="report.json"'}
    return Response(report, headers=headers, media_type="application/json")


@router.delete(
    "/v1/check/{job}",
    status_code=204,
    summary="Remove a check",
    response_class=Response,
    responses=problem_responses(404),
)
def delete_check(request: Request, job: str) -> Response:
    """Remove a check with its report; cancel it if it runs."""
    if not request.app.state.jobs.remove(job):
        raise _gone()
    return Response(status_code=204)


@router.get(
    "/v1/libraries",
    summary="The libraries that papers can be held against",
    response_model=Libraries,
)
async def get_libraries(request: Request) -> Response:
    """Return the names of all libraries, and the sizes of the open ones."""
    listed = request.app.state.jobs.libraries.listed()
    return json_response(Libraries([Library(*library) for library in listed]))


def _gone() -> ProblemError:
    return ProblemError(
        "No such check",
        Message("There is no check with this id, or its report has expired."),
    )


def _check_done(state: JobState) -> None:
    """Raise if the report of a check is not complete."""
    if state.state == "done":
        return
    if state.problem is not None:
        detail = Message("The check failed: {reason}", reason=state.problem.detail)
    else:
        detail = Message("The check is not finished. Request its state, and try again later.")
    raise ProblemError("No report", detail)
