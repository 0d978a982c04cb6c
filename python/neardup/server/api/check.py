"""Paper checks over HTTP: send a paper, poll its state, fetch the report."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import anyio.to_thread
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask

from neardup.base.messages import Message
from neardup.papers.report_files import TABLE
from neardup.server.jobs.job_table import JobState
from neardup.server.jobs.overview import zip_reports
from neardup.server.jobs.submission import FORM_LIMITS, CheckForm, receive_submission
from neardup.server.problems import ProblemError
from neardup.server.security.auth import require
from neardup.server.security.headers import REPORT_POLICY

#: Bytes of an archive that are sent at once.
_CHUNK = 1 << 16

router = APIRouter(tags=["papers"], dependencies=[Depends(require("read"))])

Language = Annotated[
    Literal["zh", "en"] | None, Query(description="Of the interface; that of the service if unset.")
]

Paper = Annotated[
    int, Query(ge=1, description="Number of the paper, in a check of several from the pages.")
]


class AcceptedCheck(BaseModel):
    """An accepted check, with addresses of its state and its report."""

    job: str = Field(description="Anyone who knows this id can read the check.")
    state: str
    status: str
    report: str
    report_json: str


class Library(BaseModel):
    """A library that papers can be checked against."""

    name: str
    documents: int | None = Field(description="Null if the library is not open yet.")


class Libraries(BaseModel):
    """All libraries."""

    libraries: list[Library]


def get_state(request: Request, job: str) -> JobState:
    """Return the state of a job; raise `ProblemError` 404 if no job has this id."""
    state: JobState | None = request.app.state.jobs.get_state(job)
    if state is None:
        raise _make_missing_error()
    return state


@router.post(
    "/v1/check",
    status_code=202,
    summary="Hold a paper against a library",
    form_limits=FORM_LIMITS,
)
async def post_check(request: Request, response: Response, form: CheckForm) -> AcceptedCheck:
    """Accept a paper; the response has the address of the check's state.

    The bytes decide the file format. The file is read when its turn comes, so an unreadable
    file results in a failed check.
    """
    state = request.app.state
    submission = await receive_submission(form, state.settings)
    job = await anyio.to_thread.run_sync(state.jobs.submit, submission)
    where = f"/v1/check/{job.job}"
    response.headers["Location"] = where
    return AcceptedCheck(
        job=job.job,
        state=job.state,
        status=where,
        report=f"{where}/report" + (f"?language={form.language}" if form.language else ""),
        report_json=f"{where}/report.json",
    )


@router.get("/v1/check/{job}", summary="How far is a check?")
def get_check(request: Request, job: str) -> JobState:
    """Return the state and progress of a check, and the rates once it is done."""
    return get_state(request, job)


@router.get(
    "/v1/check/{job}/report",
    summary="The report of a check, as a page",
    response_class=Response,
    responses={
        200: {"description": "A page that needs nothing else.", "content": {"text/html": {}}}
    },
)
def get_report(request: Request, job: str, language: Language = None, paper: Paper = 1) -> Response:
    """Return the report of a finished check."""
    _check_done(get_state(request, job))
    page = _read_file(request, job, f"{paper}.{_choose_language(request, language)}.html")
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return Response(page, headers=headers, media_type="text/html; charset=utf-8")


@router.get(
    "/v1/check/{job}/report.json",
    summary="The report of a check, with all offsets",
    response_class=Response,
    responses={
        200: {
            "description": "Offsets count code points.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    },
)
def get_report_json(request: Request, job: str, paper: Paper = 1) -> Response:
    """Return the report of a finished check as a JSON download."""
    _check_done(get_state(request, job))
    report = _read_file(request, job, f"{paper}.report.json")
    headers = {"Content-Disposition": 'attachment; filename="report.json"'}
    return Response(report, headers=headers, media_type="application/json")


@router.get(
    "/v1/check/{job}/index.csv",
    summary="The rates of all papers of a check, as a table",
    response_class=Response,
    responses={200: {"description": "For a spreadsheet.", "content": {"text/csv": {}}}},
)
def get_table(request: Request, job: str, language: Language = None) -> Response:
    """Return the table of a finished check of several papers as a CSV download."""
    _check_several(get_state(request, job))
    table = _read_file(request, job, f"{_choose_language(request, language)}.{TABLE}")
    headers = {"Content-Disposition": f'attachment; filename="{TABLE}"'}
    return Response(table, headers=headers, media_type="text/csv; charset=utf-8")


@router.get(
    "/v1/check/{job}/reports.zip",
    summary="All reports of a check of several papers",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The reports, `index.html` with links to them, and `index.csv`.",
            "content": {"application/zip": {}},
        }
    },
)
def get_reports(request: Request, job: str, language: Language = None) -> StreamingResponse:
    """Return the reports of a finished check of several papers as a zip archive."""
    state = get_state(request, job)
    _check_several(state)
    papers = [one.paper for one in state.papers]
    stored = partial(request.app.state.jobs.read_report, job)
    archive = zip_reports(papers, _choose_language(request, language), stored)
    headers = {"Content-Disposition": 'attachment; filename="reports.zip"'}
    return StreamingResponse(
        iter(partial(archive.read, _CHUNK), b""),
        headers=headers,
        media_type="application/zip",
        background=BackgroundTask(archive.close),
    )


@router.delete("/v1/check/{job}", status_code=204, summary="Remove a check")
def delete_check(request: Request, job: str) -> None:
    """Remove a check with its report; cancel it if it runs."""
    if not request.app.state.jobs.remove(job):
        raise _make_missing_error()


@router.get("/v1/libraries", summary="The libraries that papers can be held against")
async def get_libraries(request: Request) -> Libraries:
    """Return the names of all libraries, and the sizes of the open ones."""
    listed = request.app.state.jobs.libraries.list_libraries()
    return Libraries(
        libraries=[Library(name=name, documents=documents) for name, documents in listed]
    )


def _choose_language(request: Request, language: str | None) -> str:
    return language or str(request.app.state.settings.language)


def _read_file(request: Request, job: str, name: str) -> bytes:
    """Return a file of a finished check; raise `ProblemError` 404 if it has expired."""
    content: bytes | None = request.app.state.jobs.read_report(job, name)
    if content is None:
        raise _make_missing_error()
    return content


def _check_several(state: JobState) -> None:
    """Raise if a check is not finished, or is of one paper."""
    _check_done(state)
    if not state.papers:
        raise ProblemError(
            409,
            "One paper",
            Message("The check is of one paper. Request its report instead."),
        )


def _make_missing_error() -> ProblemError:
    return ProblemError(
        404,
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
    raise ProblemError(409, "No report", detail)
