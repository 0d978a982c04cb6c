"""The pages ``/check`` and ``/check/JOB``: check papers against a library, and each other."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from neardup.base.messages import in_language
from neardup.papers.align import LEAST, LONGEST, SHORTEST
from neardup.server.api.check import state_of
from neardup.server.jobs.uploads import take
from neardup.server.pages.page import Refused, field, page, see, words_of
from neardup.server.pages.rendering import language_of_request, render
from neardup.server.problems import ProblemError

__all__ = ["router"]

_FIELDS = ("library", "least", "among")
_MOST_DIGITS = 6

router = APIRouter()


@router.get("/check", include_in_schema=False)
@page("read")
async def show(request: Request) -> Response:
    """Show the form."""
    return _answer(request)


@router.post("/check", include_in_schema=False)
@page("read")
async def check(request: Request) -> Response:
    """Accept papers, and show the progress of their check."""
    form = await request.form()
    state = request.app.state
    given = {name: field(form, name) for name in _FIELDS}
    words = words_of(request, form)
    try:
        least = given["least"]
        if not (least.isascii() and least.isdecimal() and len(least) <= _MOST_DIGITS):
            raise Refused(words("refused_least"))
        if not SHORTEST <= int(least) <= LONGEST:
            raise Refused(words("refused_least"))
        with state.jobs.room():
            most = state.settings.max_upload_bytes
            upload, _ = await take(form, "file", max_bytes=most, others=_FIELDS, several=True)
            submitted = upload, given["library"], int(least), bool(given["among"])
            job = await state.store.run(state.jobs.submit, *submitted)
    except Refused as refused:
        return _answer(request, 422, problem=str(refused), **given)
    except ProblemError as error:
        detail = in_language(error.detail, words.language)
        # An error in the form: no file was chosen, or it is empty.
        if error.field == "file" and error.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
            detail = words("refused_file")
        if error.status_code >= 429:
            raise
        return _answer(request, error.status_code, problem=detail, **given)
    return see(f"/check/{job.job}")


@router.get("/check/{job}", include_in_schema=False)
@page("read")
async def show_job(request: Request) -> Response:
    """Show the progress of a check, and links to its report."""
    settings = request.app.state.settings
    job = await request.app.state.store.run(state_of, request, request.path_params["job"])
    language = language_of_request(request)
    jobs, name = request.app.state.jobs, f"overview.{language}.html"
    overview = await request.app.state.store.run(jobs.report, job.job, name)
    return render(
        request,
        "job",
        here="check",
        job=job,
        # A page of our own, in which everything is escaped.
        overview=overview and Markup(overview.decode()),
        trouble="" if job.problem is None else in_language(job.problem.detail, language),
        kept_minutes=max(round(settings.job_seconds / 60), 1),
    )


def _answer(request: Request, status: int = 200, **given: Any) -> Response:
    state = request.app.state
    problem = given.pop("problem", "")
    return render(
        request,
        "check",
        status,
        here="check",
        given={"library": "index", "least": LEAST, "among": "", **given},
        libraries=[
            {"name": name, "documents": documents}
            for name, documents in state.jobs.libraries.listed()
        ],
        limit=state.settings.max_upload_bytes,
        problem=problem,
    )
