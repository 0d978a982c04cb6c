"""Storing decided documents in an open transaction, and logging the decisions after it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from neardup.index.decide import Verdicts
from neardup.index.ingest.incoming import IncomingBatch
from neardup.index.results import Match
from neardup.index.store.rows import RECENT, SKIPPED_DOCUMENTS
from neardup.index.values import DROPPED, IDENTICAL, KEPT, SIMILAR

if TYPE_CHECKING:
    from neardup.index.store.session import Session

_LOG = logging.getLogger("neardup.index")


def write(
    session: Session,
    batch: IncomingBatch,
    rows: Sequence[int],
    counters: Mapping[str, int],
    verdicts: Verdicts,
) -> None:
    """Store some rows of a batch, with the next numbers; the counters are the current ones."""
    first = counters["next"]
    identities, features, sketches = batch.sketches
    matches = verdicts.matches
    titles: list[Any] = [None] * len(batch) if batch.titles is None else batch.titles.to_pylist()
    columns: dict[str, Sequence[Any]] = {
        "number": range(first, first + len(rows)),
        "id": [batch.ids[row] for row in rows],
        "state": [KEPT if match is None else DROPPED for match in matches],
        "at": [batch.times[row] for row in rows],
        "source": [batch.sources[row] for row in rows],
        "title": [titles[row] for row in rows],
        "extra": [batch.extras[row] for row in rows],
        "identity": [identities[row] for row in rows],
        "features": [features[row] for row in rows],
        "sketch": [sketches[row] for row in rows],
        "kept_number": verdicts.kept_numbers,
        "similarity": [None if match is None else match.similarity for match in matches],
        "distance": [None if match is None else match.distance for match in matches],
        "reason": [_code_reason(match) for match in matches],
    }
    packed = [batch.packed[row] for row in rows]
    session.insert(columns, packed, verdicts.postings, counters[RECENT])
    kept = matches.count(None)
    changes = {"next": len(rows), "kept": kept, "dropped": len(rows) - kept}
    session.statistics.count({**changes, SKIPPED_DOCUMENTS: verdicts.skipped_documents})


def log_decisions(location: str, decided: Sequence[tuple[str, Match | None]]) -> None:
    """Log decisions after their commit."""
    if not decided or not _LOG.isEnabledFor(logging.INFO):
        return
    for id, match in decided:
        if match is None:
            _LOG.info("%s: kept %r", location, id)
        else:
            similarity = match.similarity
            _LOG.info("%s: dropped %r, repeats %r, %.4f", location, id, match.id, similarity)
    kept = sum(match is None for _, match in decided)
    dropped = len(decided) - kept
    _LOG.info("%s: decided %d, kept %d, dropped %d", location, len(decided), kept, dropped)


def _code_reason(match: Match | None) -> int | None:
    if match is None:
        return None
    return IDENTICAL if match.identical else SIMILAR
