"""Notes on a run whose recipe may not fit its texts."""

from __future__ import annotations

from neardup.base.messages import Message
from neardup.recipe.rule import Rule

#: Fewer near-duplicates that are most of the input are not worth a note.
_LEAST_DROPPED = 4

#: Bytes of a short record, on average.
_SHORT = 400


def fit_notes(dropped: int, read: int, bytes_read: int, rule: Rule) -> list[Message]:
    """Return a note if a rule that does not fit the texts may have dropped most of them."""
    if dropped < _LEAST_DROPPED or 2 * dropped <= read:
        return []
    if not rule.keeps_texts:
        return [
            Message(
                "{count:,} of {read:,} records were dropped for similar fingerprints, which "
                "short texts often have. Check the removals, or take {given[recipe='general']}.",
                count=dropped,
                read=read,
            )
        ]
    if bytes_read < _SHORT * read:
        return [
            Message(
                "{count:,} of {read:,} records were dropped, and most texts are short: those that "
                "share phrases resemble each other. {given[recipe='strict']} drops only nearly "
                "equal ones.",
                count=dropped,
                read=read,
            )
        ]
    return []


def pair_notes(pairs: int, read: int, rule: Rule) -> list[Message]:
    """Return a note if there are so many pairs that fingerprints may be alike by chance."""
    if rule.keeps_texts or pairs < _LEAST_DROPPED or pairs <= read:
        return []
    return [
        Message(
            "{count:,} pairs of {read:,} records have similar fingerprints, which short texts "
            "often have. Check the pairs, or take {given[recipe='general']}.",
            count=pairs,
            read=read,
        )
    ]
