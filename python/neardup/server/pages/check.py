"""The pages ``/check`` and ``/check/JOB``: check papers against a library, and each other."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from neardup.base.messages import in_language
from neardup.pages.words import W_, Words
from neardup.papers.verdict import NO_VERDICT, VERDICTS
from neardup.server.api.check import get_state
from neardup.server.jobs.libraries import INDEX
from neardup.server.jobs.submission import FORM_LIMITS, CheckFields, CheckForm, receive_submission
from neardup.server.jobs.uploads import EMPTY
from neardup.server.pages.page import READ, redirect
from neardup.server.pages.rendering import choose_language, render
from neardup.server.problems import ProblemError

#: Fields that the page shows on request.
_MORE = ("pass_below", "reject_above", "title", "author", "number", "institution")
#: Words for a wrong value of a field.
_THRESHOLD = W_(
    "A threshold must be 0, or a percentage from 1 to 100 such as 15; a paper cannot pass above "
    "the rate at which it is rejected."
)
_COVER = W_("Title, author and number are for one paper. For several papers, choose a table.")
_TOLD = {
    "file": W_("Choose a file first."),
    **dict.fromkeys(("pass_below", "reject_above"), _THRESHOLD),
    **dict.fromkeys(("title", "author", "number"), _COVER),
}

router = APIRouter(dependencies=READ)


@router.get("/check")
async def show(request: Request) -> Response:
    """Show the form."""
    return _answer(request)


@router.post("/check", form_limits=FORM_LIMITS)
async def check(request: Request, form: CheckForm) -> Response:
    """Accept papers, and show the progress of their check."""
    state = request.app.state
    try:
        asked = await receive_submission(form, state.settings, several=True)
        job = await state.store.run(state.jobs.submit, asked)
    except ProblemError as error:
        if error.status_code >= 429:
            raise
        # The page has its own sentence for a wrong value in the form.
        words = Words(choose_language(request))
        is_value = error.status_code == 422 and error.title != EMPTY
        sentence = _TOLD.get(error.field or "") if is_value else None
        detail = words(sentence) if sentence else in_language(error, words.language)
        return _answer(request, error.status_code, form, problem=detail)
    return redirect(f"/check/{job.job}")


@router.get("/check/{job}")
async def show_job(request: Request, job: str) -> Response:
    """Show the progress of a check, and links to its report."""
    state, language = request.app.state, choose_language(request)
    job_state = await state.store.run(get_state, request, job)
    overview = await state.store.run(state.jobs.read_report, job, f"overview.{language}.html")
    return render(
        request,
        "job",
        here="check",
        job=job_state,
        no_verdict=NO_VERDICT,
        verdicts=VERDICTS,
        # A page of our own, in which everything is escaped.
        overview=overview and Markup(overview.decode()),
        trouble="" if job_state.problem is None else in_language(job_state.problem, language),
        kept_minutes=max(round(state.settings.job_seconds / 60), 1),
    )


def _answer(
    request: Request, status: int = 200, form: CheckFields | None = None, problem: str = ""
) -> Response:
    state = request.app.state
    fields = form or CheckFields.model_validate({"library": INDEX})
    return render(
        request,
        "check",
        status,
        here="check",
        given=fields,
        libraries=[
            {"name": name, "documents": documents}
            for name, documents in state.jobs.libraries.list_libraries()
        ],
        # What was given stays in view; files must be chosen again.
        more=any(getattr(fields, name) for name in _MORE),
        limit=state.settings.max_upload_bytes,
        problem=problem,
    )
