"""The editor's pages: removals as a table and one by one, and what people decided."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, BaseModel, Field, model_validator

from neardup.base.messages import in_language
from neardup.base.validation import bad
from neardup.exceptions import InputError
from neardup.index import Event, RemovalFilter
from neardup.pages.words import Words
from neardup.papers.alignment import align_sides
from neardup.server.pages.page import READ, WRITE, Form, limit_path, read_field, redirect
from neardup.server.pages.rendering import choose_language, render
from neardup.server.security import auth
from neardup.tasks.compare import describe_differences
from neardup.writers.cells import write_spreadsheet_parts

if TYPE_CHECKING:
    from neardup.index import Document, Index, Removal
    from neardup.pages.sides import Sides

_ROWS, _EVENTS = 40, 100
#: Numbers of documents and events.
_NUMBER = r"^[0-9]{1,18}$"
#: Longer pairs of texts, by the product of their lengths, have no reason in the table.
_COMPARED = 100_000_000

_State = Literal["open", "confirmed", "all"]
_STATES = {"open": False, "confirmed": True, "all": None}
_Order = Literal["doubt", "newest", "cluster"]
_DECISIONS = ("keep", "confirm", "undo")
_COLUMNS = (
    *("id", "title", "source", "at", "kept_id", "kept_title"),
    *("similarity", "measure", "kind", "confirmed"),
)

router = APIRouter()

Line = Annotated[
    str, Field(max_length=200), AfterValidator(lambda text: "".join(filter(str.isprintable, text)))
]
Percent = Annotated[float, Field(allow_inf_nan=False)]


class View(BaseModel):
    """The query of an address: a filter, and a place."""

    search: Line = ""
    source: Line = ""
    # There is no day after the last one.
    since: date | None = None
    until: Annotated[date, Field(lt=date.max)] | None = None
    lowest: Percent | None = Field(None, alias="from")
    highest: Percent | None = Field(None, alias="to")
    state: _State = "open"
    order: _Order = "doubt"
    after: str = Field("", pattern=r"^([0-9.e-]+:[0-9]{1,18})?$")

    @model_validator(mode="before")
    @classmethod
    def drop_empty(cls, query: dict[str, Any]) -> dict[str, Any]:
        """Leave out fields that a form has sent empty."""
        return {name: value for name, value in query.items() if value != ""}

    @property
    def filter(self) -> RemovalFilter:
        """The filter; days are in UTC, and the last one is included."""
        return RemovalFilter(
            search=self.search.strip(),
            source=self.source.strip(),
            since=_begin_day(self.since),
            until=_begin_day(self.until and self.until + timedelta(days=1)),
            min_similarity=0.0 if self.lowest is None else self.lowest / 100,
            max_similarity=1.0 if self.highest is None else self.highest / 100,
            confirmed=_STATES[self.state],
            order=self.order,
        )

    @property
    def filtered(self) -> bool:
        """Whether anything but the order is asked for."""
        return bool(self.model_fields_set - {"state", "order", "after"})

    def link(self, path: str, **changes: str) -> str:
        """Return the address of a page with this filter."""
        query = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        values = {name: value for name, value in {**query, "after": "", **changes}.items() if value}
        return path + (f"?{urlencode(values, errors='replace')}" if values else "")


Asked = Annotated[View, Query()]


def _begin_day(day: date | None) -> datetime | None:
    return None if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC)


@router.get("/removals", dependencies=READ)
async def show(request: Request, view: Asked) -> Response:
    """Show a page of removals."""
    store = request.app.state.store
    words = Words(choose_language(request))
    rows, count = await store.run(lambda: _read_table(store.index, view, words))
    more = len(rows) > _ROWS
    return render(
        request,
        "removals",
        here="removals",
        view=view,
        rows=rows[:_ROWS],
        count=None if view.search else count,
        next_link=view.link("/removals", after=rows[_ROWS - 1]["position"]) if more else "",
        first_link=view.link("/removals") if view.after else "",
        back=view.link("/removals", after=view.after),
        said=read_flash(request),
    )


def _read_table(index: Index, view: View, words: Words) -> tuple[list[dict[str, Any]], int]:
    removals = islice(index.removals(view.filter, after=view.after), _ROWS + 1)
    rows = [{**vars(removal), "reason": _explain_removal(words, removal)} for removal in removals]
    return rows, index.count_removals(view.filter)


@router.get("/removals/review", dependencies=READ)
async def review(request: Request, view: Asked) -> Response:
    """Show the first removal after a place, to be decided."""
    store = request.app.state.store
    words = Words(choose_language(request))
    removal, left, sides = await store.run(lambda: _read_first(store.index, view))
    here = view.link("/removals/review", after=view.after)
    following = "" if removal is None else view.link("/removals/review", after=removal.position)
    # Rendering two long texts takes long, too.
    answer: Response = await store.run(
        render,
        request,
        "removal",
        here="removals",
        removal=removal,
        reason="" if removal is None else _explain_removal(words, removal),
        sides=sides,
        left=left,
        table=view.link("/removals"),
        following=following,
        back=here,
        said=read_flash(request),
    )
    return answer


def _read_first(index: Index, view: View) -> tuple[Removal | None, int, Sides | None]:
    removal = next(index.removals(view.filter, after=view.after), None)
    sides = None
    if removal is not None:
        a, b = removal.document.text, removal.kept.text
        sides = None if a is None or b is None else align_sides(a, b)
    return removal, index.count_removals(view.filter), sides


def _explain_removal(words: Words, removal: Removal) -> str:
    """Return why a document was removed, in words."""
    match, kept = removal.document.repeats, removal.kept
    assert match is not None, "a removed document repeats another"
    if match.identical:
        return words("Same text")
    a, b = removal.document.text, kept.text
    if a is None or b is None or len(a) * len(b) > _COMPARED:
        return words("Similar text")
    return in_language(describe_differences(a, b), words.language)


@router.get("/removals.csv", dependencies=READ)
async def export(request: Request, view: Asked) -> Response:
    """Send all removals of a view as a CSV file, while they are read."""
    store = request.app.state.store
    # An index that is away is found before the response begins.
    rows = await store.run(lambda: _make_rows(store.index, view))
    headers = {"Content-Disposition": 'attachment; filename="removals.csv"'}
    return StreamingResponse(write_spreadsheet_parts(rows), headers=headers, media_type="text/csv")


def _make_rows(index: Index, view: View) -> Iterator[Sequence[Any]]:
    """Return the rows of a CSV file; the first removal is read at once."""
    removals = index.removals(view.filter)
    first = list(islice(removals, 1))

    def rows() -> Iterator[Sequence[Any]]:
        yield _COLUMNS
        for removal in chain(first, removals):
            document, kept, match = removal.document, removal.kept, removal.document.repeats
            assert match is not None, "a removed document repeats another"
            yield (
                document.id,
                document.title,
                document.source,
                document.at.isoformat(),
                kept.id,
                kept.title,
                match.similarity,
                match.measure,
                "identical" if match.identical else "similar",
                removal.confirmed,
            )

    return rows()


@router.post("/removals/decide", dependencies=WRITE)
async def decide(request: Request, form: Form) -> Response:
    """Keep or confirm removals, or undo what was decided; return to the page of the form."""
    store = request.app.state.store
    decision, back = read_field(form, "decision"), limit_path(read_field(form, "back"))
    ids = [id for id in form.getlist("id") if isinstance(id, str)]
    event = read_field(form, "event")
    options: dict[str, Any] = {}
    if decision == "undo" and event:
        # Without a number, the last decision is undone.
        if not re.match(_NUMBER, event):
            raise bad("event", "the number of a decision", event)
        options["event"] = int(event)
    key = auth.identify(request)
    done = 0
    if decision in _DECISIONS:
        options["by"] = None if key is None else key.name
        done = await store.run(lambda: _decide(getattr(store.index, decision), ids, options))
    outcome = {"said": decision if done else "nothing", "count": str(done)}
    if done == len(ids) == 1:
        outcome["id"] = ids[0]
    joint = "&" if "?" in back else "?"
    return redirect(f"{back}{joint}{urlencode(outcome, errors='replace')}")


def _decide(decide: Callable[..., None], ids: Sequence[str], options: dict[str, Any]) -> int:
    done = 0
    for id in ids:
        try:
            decide(id, **options)
        except InputError:
            # Somebody else was faster; the page shows the state.
            continue
        done += 1
    return done


def read_flash(request: Request) -> dict[str, str]:
    """Return what an action that redirected here did; empty if there was none."""
    query = request.query_params
    outcome = query.get("said", "")
    if outcome not in (*_DECISIONS, "nothing"):
        return {}
    count = query.get("count", "")
    return {
        "said": outcome,
        "count": count if count.isdecimal() else "1",
        "id": query.get("id", "") if outcome != "nothing" else "",
    }


@router.get("/decisions", dependencies=READ)
async def show_decisions(
    request: Request, before: Annotated[str | None, Query(pattern=_NUMBER)] = None
) -> Response:
    """Show what people decided, the latest first."""
    store = request.app.state.store
    rows = await store.run(
        lambda: _list_decisions(store.index, None if before is None else int(before))
    )
    more = len(rows) > _EVENTS
    return render(
        request,
        "decisions",
        here="decisions",
        rows=rows[:_EVENTS],
        next_link=f"/decisions?before={rows[_EVENTS - 1]['number']}" if more else "",
        first_link="/decisions" if before else "",
        back="/decisions" + (f"?before={before}" if before else ""),
        said=read_flash(request),
    )


def _list_decisions(index: Index, before: int | None) -> list[dict[str, Any]]:
    """Return decisions with the document; the last one about a document can be undone."""
    events: list[Event] = list(islice(index.decisions(before=before), _EVENTS + 1))
    documents = index.get_many([event.id or "" for event in events], texts=False)
    rows = []
    for event in events:
        document: Document | None = documents.get(event.id or "")
        rows.append(
            {
                **vars(event),
                "what": event.details.get("what", ""),
                "by": event.details.get("by"),
                "title": None if document is None else document.title,
                "can_undo": event.is_last and document is not None,
            }
        )
    return rows
