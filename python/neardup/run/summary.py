"""The numbers of a run: its closing summary, and what its results depend on."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup.base.files import without_secrets
from neardup.base.messages import Message
from neardup.base.report import report_bytes
from neardup.recipe.fit import fit_notes, pair_notes
from neardup.recipe.rule import Rule

#: Fewer documents are not worth a note.
_WORTH_TELLING = 10_000

#: A group of at least so many that are dropped is worth a note if it is this share of the input.
_LEAST_GROUP, _GROUP = 20, 0.1

#: A smaller share of all pairs that capped lists left out hides next to nothing.
_LEFT_OUT = 0.07


@dataclass(kw_only=True)
class Costs:
    """The counts of a run over documents, its time and its memory.

    Parameters
    ----------
    bytes_read : int
        Uncompressed bytes of the documents, including another collection.
    bytes_against : int
        Those of the other collection.
    seconds : float
    peak_memory : int
        Largest resident size of the process so far, in bytes.
    stages : dict of str to float
        Seconds of each part of the run.
    stage_memory : dict of str to int
        `peak_memory` at the end of each part; empty on a cluster.
    budgets : dict of str to dict
        For each part of the documents, ``texts``, ``sketches`` and ``samples``: its share of the
        memory limit (None if it has no limit), and its bytes in memory and in a temporary file.
    """

    bytes_read: int = 0
    bytes_against: int = 0
    seconds: float = 0.0
    peak_memory: int = 0
    stages: dict[str, float] = field(default_factory=dict)
    stage_memory: dict[str, int] = field(default_factory=dict)
    budgets: dict[str, dict[str, int | None]] = field(default_factory=dict)


@dataclass
class Summary(Costs):
    """Counts of one run, and its `Costs`.

    Parameters
    ----------
    task : str
        ``dedup``, ``pairs`` or ``sketch``.
    read : int
        Records of the input.
    against : int
        Records of the other collection, which are not counted in `read`.
    unreadable : int
        Records without a usable text.
    exact_duplicates, near_duplicates : int
        Dropped records whose normalized text equals that of an earlier record, kept or not; and
        the other dropped records.
    kept : int
        Kept records, with unreadable ones if they were kept.
    left_out : int
        Kept records that cannot be written in the output's format.
    pairs : int
        Pairs reported, for ``pairs``.
    problems : int
        Problems in the input.
    visited : int
        Entries of posting lists met in all look-ups.
    candidates : int
        Pairs whose similarity was computed.
    verified : int
        Candidate pairs found similar. Of the candidates of a document that is dropped, only the
        one that it repeats.
    bytes_compared : int
        Bytes of the texts that were read again because sketches left a pair open.
    without_features : int
        Readable records whose text has no features, such as empty ones.
    too_short, too_long : int
        Readable records that are left alone, by `min_length` and by `max_length`.
    largest_cluster : int
        Size of the largest cluster, with its kept document; 0 for `pairs`.
    capped_lists : int
        Posting lists that took no further documents and left some out.
    skipped_documents : int
        Documents that at least one capped list left out.
    skipped_pairs : int
        Largest possible number of pairs that the same capped list left out: they are compared
        only if they share other keys.
    largest_form : int
        Texts with the most frequent key of a sample: how many share a template.
    kept_by_unique_text : int
        Kept documents that share most of their text with a kept one, and with many others, and
        were kept because one of the two has unique text; 0 for `pairs` and on a cluster.
    """

    task: str
    read: int = 0
    against: int = 0
    unreadable: int = 0
    exact_duplicates: int = 0
    near_duplicates: int = 0
    kept: int = 0
    left_out: int = 0
    pairs: int = 0
    problems: int = 0
    visited: int = 0
    candidates: int = 0
    verified: int = 0
    bytes_compared: int = 0
    without_features: int = 0
    too_short: int = 0
    too_long: int = 0
    largest_cluster: int = 0
    capped_lists: int = 0
    skipped_documents: int = 0
    skipped_pairs: int = 0
    largest_form: int = 0
    kept_by_unique_text: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, and then the costs."""
        summary = dataclasses.asdict(self)
        for cost in dataclasses.fields(Costs):
            summary[cost.name] = summary.pop(cost.name)
        return summary


def in_both(file: str) -> Message:
    """Return the note on a file of the input that is also of the other collection."""
    return Message(
        "{file} is also in the other collection, so all of its documents are dropped.", file=file
    )


def template_notes(summary: Summary, rule: Rule | None = None) -> list[Message]:
    """Return notes on very many similar documents, and on pairs that they hide."""
    read, notes = summary.read - summary.unreadable, []
    if rule is not None:
        notes += fit_notes(summary.near_duplicates, read, summary.bytes_read, rule)
        notes += pair_notes(summary.pairs, read, rule)
    if 1 < read == summary.without_features:
        notes.append(
            Message(
                "This recipe finds nothing to compare in {count:,} texts, so only identical ones "
                "are duplicates. With the recipe bkdr, texts need word/tag tokens.",
                count=read,
            )
        )
    elif summary.without_features >= _WORTH_TELLING:
        notes.append(
            Message(
                "{count:,} records have a text with nothing to compare, such as an "
                "empty text; they duplicate only identical texts.",
                count=summary.without_features,
            )
        )
    if summary.kept_by_unique_text:
        notes.append(
            Message.counted(
                "{count:,} record was kept for its unique text, next to text that many share.",
                "{count:,} records were kept for their unique text, next to text that many share.",
                count=summary.kept_by_unique_text,
            )
        )
    dropped = summary.largest_cluster - 1
    if dropped >= _WORTH_TELLING or (dropped >= _LEAST_GROUP and dropped > _GROUP * read):
        notes.append(
            Message(
                "{count:,} records were dropped for one kept record; check that they "
                "are duplicates.",
                count=dropped,
            )
        )
    # What is dropped is not filed; `pairs` files all, and keeps none.
    filed = summary.against + (summary.kept or summary.read)
    share = summary.skipped_pairs / max(1, filed * (filed - 1) // 2)
    if share >= _LEFT_OUT:
        notes.append(
            Message(
                "Very many records share phrases, so up to {share:.0%} of all pairs were perhaps "
                "skipped. {given[exhaustive=True]} compares all, which takes longer.",
                share=share,
            )
        )
    return notes


def run_report(
    summary: Summary,
    settings: Mapping[str, Any],
    *,
    recipe: dict[str, Any],
    plan: dict[str, Any],
    problems: Iterable[object],
    notes: Sequence[str],
) -> bytes:
    """Return the report of a run as JSON."""
    content = {
        "summary": summary.to_dict(),
        # The recipe has its own part.
        "settings": {
            n: _hide_passwords(v) for n, v in settings.items() if n not in ("recipe", "progress")
        },
        "recipe": recipe,
        "plan": plan,
        "problems": list(map(str, problems)),
        "notes": notes,
    }
    return report_bytes(content)


def _hide_passwords(value: Any) -> Any:
    """Return a setting without the passwords of addresses."""
    if isinstance(value, (str, os.PathLike)):
        return without_secrets(os.fspath(value))
    return list(map(_hide_passwords, value)) if isinstance(value, (list, tuple)) else value
