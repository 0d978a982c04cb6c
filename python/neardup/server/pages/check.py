"""The pages ``/check`` and ``/check/JOB``: check papers against a library, and each other."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from neardup.base.messages import in_language
from neardup.papers.align import LEAST
from neardup.server.api.check import state_of
from neardup.server.jobs.submission import FIELDS, submission_of
from neardup.server.pages.page import field, page, see, words_of
from neardup.server.pages.rendering import language_of_request, render
from neardup.server.problems import ProblemError

__all__ = ["router"]

_FIELDS = (*FIELDS, "among")
#: Fields that the page shows on request.
_MORE = tuple(name for name in FIELDS if name not in ("library", "least"))
#: Words for a wrong value of a field.
_TOLD = {
    "file": "refused_file",
    "least": "refused_least",
    "pass_below": "refused_percent",
    "reject_above": "refused_percent",
    "title": "refused_cover",
    "author": "refused_cover",
    "number": "refused_cover",
}

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
        with state.jobs.room():
            asked, _ = await submission_of(form, state.settings, others=("among",), several=True)
            job = await state.store.run(state.jobs.submit, asked)
    except ProblemError as error:
        if error.status_code >= 429:
            raise
        # The page has its own sentence for a wrong value in the form.
        told = _TOLD.get(error.field or "") if error.status_code == 422 else None
        detail = words(told) if told else in_language(error.detail, words.language)
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
        given=dict.fromkeys(_FIELDS, "") | {"library": "index", "least": LEAST} | given,
        libraries=[
            {"name": name, "documents": documents}
            for name, documents in state.jobs.libraries.listed()
        ],
        # What was given stays in view; files must be chosen again.
        more=any(given.get(name) for name in _MORE),
        limit=state.settings.max_upload_bytes,
        problem=problem,
    )
