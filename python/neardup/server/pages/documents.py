"""The page of a document: next to the one that it repeats, with its history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from fastapi import APIRouter, Request, Response

from neardup.exceptions import InputError
from neardup.pages.sides import Sides
from neardup.pages.words import W_, Words
from neardup.papers.alignment import align_sides
from neardup.server.api.documents import MOST_DROPPED, check_id, make_missing_error
from neardup.server.pages.page import READ
from neardup.server.pages.removals import read_flash
from neardup.server.pages.rendering import choose_language, link_document, render

if TYPE_CHECKING:
    from neardup.index import Document, Event, Explanation, Index

#: Messages of a page that an action redirects to.
_SAID = ("added_kept", "added_dropped", "there")
#: Events, in words.
_ACTIONS = {
    "kept": W_("Kept after all."),
    "confirmed": W_("The removal was confirmed."),
    "undone": W_("The last decision was undone."),
    "removed": W_("Removed."),
    "replaced": W_("Replaced by a document with the same id."),
    "renamed": W_("Another document had this id, and has a new one."),
    "expired": W_("Expired."),
    "reconsidered": W_("Decided again."),
    "recounted": W_("The background was counted again."),
}

router = APIRouter(dependencies=READ)


# The query string can hold any id.
@router.get("/documents")
@router.get("/documents/{id:path}")
async def show(request: Request, id: str = "") -> Response:
    """Show a document."""
    check_id(id)
    store = request.app.state.store
    explanation: Explanation
    try:
        explanation, keeper, sides = await store.run(lambda: _read(store.index, id))
    except InputError:
        raise make_missing_error(id) from None
    if explanation.document is None:
        raise make_missing_error(id)
    outcome = request.query_params.get("said", "")
    words = Words(choose_language(request))
    # Rendering two long texts takes long, too.
    answer: Response = await store.run(
        render,
        request,
        "document",
        document=explanation.document,
        extra={
            name: value if isinstance(value, str) else orjson.dumps(value).decode()
            for name, value in explanation.document.extra.items()
        },
        keeper=keeper,
        sides=sides,
        outcome=outcome if outcome in _SAID else "",
        said=read_flash(request),
        back=link_document(id),
        last_action=explanation.events[-1].action if explanation.events else "",
        last_event=explanation.events[-1].number if explanation.events else "",
        dropped=explanation.dropped[:MOST_DROPPED],
        dropped_count=len(explanation.dropped),
        events=[_describe_event(words, event) for event in explanation.events],
        measure=explanation.measure,
        threshold=explanation.threshold,
    )
    return answer


def _read(index: Index, id: str) -> tuple[Explanation, Document | None, Sides | None]:
    explanation = index.explain(id)
    document = explanation.document
    if document is None or document.repeats is None:
        return explanation, None, None
    keeper = index.get(document.repeats.id)
    if keeper is None or keeper.text is None or document.text is None:
        return explanation, keeper, None
    return explanation, keeper, align_sides(document.text, keeper.text)


def _describe_event(words: Words, event: Event) -> dict[str, Any]:
    sentence = words(_ACTIONS[event.action]) if event.action in _ACTIONS else event.action
    details = event.details
    other = details.get("repeats") or details.get("repeated") or details.get("to")
    return {
        "at": event.at,
        "words": sentence,
        "by": details.get("by"),
        "other": other if isinstance(other, str) else None,
    }
