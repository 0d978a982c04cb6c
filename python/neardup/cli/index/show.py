"""How answers of an index look."""

from __future__ import annotations

import dataclasses
import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from neardup.index import Document, Event, Match, Stats

_BACKGROUNDS = {
    "own": "own, counted again as the index grows",
    "given": "given, counted for good",
    "none": "none: the rule does not look at it",
}

#: Characters of a text that are shown.
_SHOWN = 60


def as_json(answer: Any) -> None:
    """Print a result as one line."""
    table = answer if isinstance(answer, dict) else dataclasses.asdict(answer)
    typer.echo(json.dumps(table, ensure_ascii=False, default=_iso))


def _iso(value: datetime) -> str:
    return value.isoformat()


def plain(text: str) -> str:
    """Return a text on one line that no terminal takes for commands."""
    from neardup.readers.streams import printable

    return printable(" ".join(text.split()))


def beginning(document: Document | None) -> str:
    """Return title or text of a document, cut."""
    if document is None:
        return ""
    line = plain(document.title or (document.text or "")[: 4 * _SHOWN])
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def match_words(match: Match) -> str:
    """Return what a document repeats and how surely, as words."""
    if match.identical:
        return f"repeats {plain(match.id)}: the same text"
    distance = "" if match.distance is None else f", distance {match.distance}"
    return f"repeats {plain(match.id)}: {match.measure} {match.similarity:.4f}{distance}"


def event_words(event: Event) -> str:
    """Return what is known of an event beside its name, with what stands between them."""
    details = event.details
    if "repeated" in details:
        way = "has expired" if details.get("which") == "expired" else "was removed"
        return f": it repeated {plain(details['repeated'])}, which {way}"
    if "repeats" in details:
        return f": it repeats {plain(details['repeats'])}"
    return ": kept" if event.action == "reconsidered" else ""


def time_words(at: datetime | None) -> str:
    """Return a time in UTC."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def rule_words(measure: str, threshold: float | None, max_distance: int | None) -> str:
    """Return when a document is a duplicate."""
    if threshold is None:
        return f"distance <= {max_distance} bits"
    return f"{measure} >= {threshold:g}"


def rows(table: list[tuple[str, str]], *, err: bool = False) -> None:
    """Print names and values in two columns."""
    width = max(len(name) for name, _ in table)
    for name, value in table:
        typer.echo(f"{name:<{width}}  {value}".rstrip(), err=err)


def stats_rows(stats: Stats) -> list[tuple[str, str]]:
    """Return sizes and settings as names and values."""
    background = _BACKGROUNDS[stats.background]
    if stats.background_texts:
        background += f"; now {stats.background_texts:,} texts"
    return [
        ("index", stats.location),
        ("created", time_words(stats.created)),
        ("documents", f"{stats.documents:,}"),
        ("  kept", f"{stats.kept:,}"),
        ("  dropped", f"{stats.dropped:,}"),
        ("  freed", f"{stats.freed:,}"),
        ("first arrival", time_words(stats.first)),
        ("last arrival", time_words(stats.last)),
        ("size", f"{stats.bytes / 1e6:,.1f} MB"),
        ("recipe", stats.recipe_id),
        ("a duplicate", rule_words(stats.measure, stats.threshold, stats.max_distance)),
        ("stored", "texts" if stats.store == "text" else "sketches only"),
        ("search", stats.scheme),
        ("background", background),
    ]
