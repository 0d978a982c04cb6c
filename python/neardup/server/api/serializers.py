"""Results of the package as JSON, written by orjson."""

from __future__ import annotations

import dataclasses
from typing import Any

import orjson
from fastapi import Response

from neardup.index import Decision, Explanation, Match, Stats

__all__ = ["MOST_DROPPED", "decision", "explanation", "json_response", "stats"]

#: Dropped documents that one answer lists; a text can be posted a million times.
MOST_DROPPED = 1000


def json_response(content: Any, status: int = 200) -> Response:
    """Return an answer; dataclasses are objects, times RFC 3339."""
    return Response(
        orjson.dumps(content, option=orjson.OPT_UTC_Z), status, media_type="application/json"
    )


def decision(made: Decision) -> dict[str, Any]:
    """Return what became of a document that was stored."""
    kept = made.repeats is None
    return {"id": made.id, "new": made.new, "kept": kept, "repeats": made.repeats}


def explanation(found: Explanation) -> dict[str, Any]:
    """Return why a document is kept or dropped."""
    return {
        "document": found.document,
        "measure": found.measure,
        "threshold": found.threshold,
        "dropped": [member(id, match) for id, match in found.dropped[:MOST_DROPPED]],
        "dropped_count": len(found.dropped),
        "events": found.events,
    }


def member(id: str, match: Match) -> dict[str, Any]:
    """Return a document that was dropped, and for what."""
    return {"id": id, "match": match}


def stats(found: Stats, waiting: int, version: str) -> dict[str, Any]:
    """Return sizes and settings; where the index is concerns no client."""
    sizes = dataclasses.asdict(found)
    del sizes["location"]
    return {**sizes, "waiting": waiting, "version": version}
