"""The page ``/ask``: look a text up in the index, or add it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from neardup.base.messages import in_language
from neardup.index import NewDocument
from neardup.papers.alignment import align_sides
from neardup.server.api.body import MAX_LINE, check_length
from neardup.server.api.documents import check_id
from neardup.server.pages.page import (
    READ,
    WRITE,
    Form,
    choose_words,
    read_field,
    read_text,
    redirect,
)
from neardup.server.pages.rendering import link_document, render
from neardup.server.problems import ProblemError

if TYPE_CHECKING:
    from starlette.datastructures import FormData

    from neardup.index import Index

#: Choices of the form; empty means no limit.
_SPANS = ("", "1d", "7d", "30d", "365d")
#: Documents that are always shown, if there are any: duplicates, then near misses.
_CLOSEST = 3
_NOTHING = {"text": "", "title": "", "within": "", "id": ""}

router = APIRouter()


@router.get("/ask", dependencies=READ)
async def show(request: Request) -> Response:
    """Show the form."""
    return _answer(request, _NOTHING)


@router.post("/ask", dependencies=READ)
async def ask(request: Request, form: Form) -> Response:
    """Look the text of the form up."""
    fields = _read_fields(form)
    language = form.get("language")
    try:
        check_length(fields["title"], "title", MAX_LINE)
        fields["text"] = await read_text(request, form, "text")
    except ProblemError as error:
        problem = in_language(error, choose_words(request, form).language)
        return _answer(request, fields, 422, language=language, problem=problem)
    return await _answer_found(request, fields, language=language)


@router.post("/ask/add", dependencies=WRITE)
async def add(request: Request, form: Form) -> Response:
    """Add the text, and show the document or the error."""
    fields = _read_fields(form)
    language = choose_words(request, form).language
    try:
        check_length(fields["title"], "title", MAX_LINE)
        fields["text"] = await read_text(request, form, "text")
    except ProblemError as error:
        return _answer(request, fields, 422, problem=in_language(error, language))
    try:
        check_id(fields["id"])
    except ProblemError as error:
        return await _answer_found(request, fields, 422, problem=in_language(error, language))
    state = request.app.state
    made = await state.writer.add(
        [NewDocument(fields["id"], fields["text"], fields["title"] or None)]
    )
    state.metrics.count_decisions(made)
    decision = made[0]
    if decision.problem is not None:
        words = choose_words(request, form)
        problem = words("Another text is stored under this id. Choose another id.")
        return await _answer_found(request, fields, 409, problem=problem)
    kind = "added_dropped" if decision.repeats else "added_kept"
    return redirect(link_document(fields["id"], said=kind if decision.new else "there"))


def _read_fields(form: FormData) -> dict[str, str]:
    fields = {name: read_field(form, name, lines=name == "text") for name in _NOTHING}
    if fields["within"] not in _SPANS:
        fields["within"] = ""
    return fields


async def _answer_found(
    request: Request, fields: dict[str, str], status: int = 200, **values: Any
) -> Response:
    store = request.app.state.store
    values |= await store.run(lambda: _search(store.index, fields))
    # Rendering two long texts takes long, too.
    answer: Response = await store.run(_answer, request, fields, status, asked=True, **values)
    return answer


def _search(index: Index, fields: dict[str, str]) -> dict[str, Any]:
    """Return the matches, the first one next to the text, and near misses up to three in all."""
    matches: list[dict[str, Any]] = []
    near: list[dict[str, Any]] = []
    sides = None
    for match in index.query(
        fields["text"], title=fields["title"] or None, within=fields["within"] or None
    ):
        # The document may be removed between the two queries.
        document = index.get(match.id)
        if document is None:
            continue
        if not matches and document.text is not None:
            sides = align_sides(fields["text"], document.text)
        matches.append({"match": match, "title": document.title, "at": document.at})
    if len(matches) < _CLOSEST:
        title = fields["title"] or None
        misses = index.near_misses(fields["text"], _CLOSEST - len(matches), title=title)
        for match in misses:
            document = index.get(match.id)
            if document is not None and document.text is not None:
                row = {"match": match, "title": document.title, "at": document.at}
                near.append({**row, "sides": align_sides(fields["text"], document.text)})
    return {"matches": matches, "sides": sides, "near": near}


def _answer(request: Request, fields: dict[str, str], status: int = 200, **values: Any) -> Response:
    again = request.method == "POST"
    limit = request.app.state.settings.max_body_bytes
    values = {"asked": False, "problem": "", "again": again, "limit": limit, **values}
    return render(request, "ask", status, here="ask", given=fields, spans=_SPANS, **values)
