"""``neardup plan``: how documents would be searched, and at what cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Unpack

from neardup.options import options as o
from neardup.options.groups import MatchParameters

if TYPE_CHECKING:
    from neardup.plan import Plan


def run(
    *,
    documents: Annotated[
        int, o.Argument("Number of documents.", default=1_000_000, metavar="[DOCUMENTS]")
    ],
    json: Annotated[bool, o.Option("Print as JSON.", o.OUTPUT)],
    **options: Unpack[MatchParameters],
) -> None:
    """Print how `dedup` and `pairs` search a number of documents, and at what cost.

    Examples:
        neardup plan 10000000
        neardup plan --recipe minhash --threshold 0.8
    """
    from neardup import plan

    plans = {
        task: plan(documents, look_ups=task == "dedup", **options) for task in ("dedup", "pairs")
    }
    if json:
        import dataclasses
        from json import dumps

        print(dumps({task: dataclasses.asdict(p) for task, p in plans.items()}))
        return
    for line in _lines(plans):
        print(line)


def _lines(plans: dict[str, Plan]) -> Iterator[str]:
    one = plans["pairs"]
    yield f"recipe            {one.recipe_id}"
    yield f"documents         {one.documents:,}"
    if one.threshold is None:
        yield f"a duplicate is    within {one.max_distance} of {one.bits} bits"
    else:
        yield f"a duplicate has   {one.measure} >= {one.threshold:g}"
    if one.kind == "simhash":
        yield from _fingerprint_lines(plans)
        return
    if one.scheme == "bands":
        yield f"candidates        agree on one of {one.bands} bands of {one.rows} values each"
    elif one.scheme == "prefix":
        yield "candidates        share one of the rarest shingles that the threshold needs"
    else:
        keys = plans["dedup"].keys
        yield f"candidates        share enough of at most {keys} sampled shingles"
        yield f"                  (in pairs, of at most {one.keys})"
    most = plans["dedup"].max_list_len
    if most is not None:
        key = "band" if one.scheme == "bands" else "shingle"
        shown = f"the first {most:,} documents that have it (in pairs, {one.max_list_len:,})"
        yield f"{f'for each {key}':<18}{shown}"
    recall = plans["dedup"].predicted_recall
    if recall is not None:
        yield f"predicted recall  {recall:.4f} of pairs just at the threshold"
    if one.bytes_per_document is not None:
        yield f"memory            about {one.bytes_per_document:,.0f} bytes per document"
    if one.s_curve:
        yield "a pair of similarity  becomes a candidate with probability"
        for similarity, share in one.s_curve[2::2]:
            yield f"{similarity:<22.2f}{share:.4f}  {'#' * round(share * 40)}"


def _fingerprint_lines(plans: dict[str, Plan]) -> Iterator[str]:
    one = plans["pairs"]
    if one.threshold is not None:
        yield f"candidates are    within {one.max_distance} of {one.bits} bits"
        yield f"predicted recall  {one.predicted_recall:.4f} of pairs just at the threshold"
    chance = f"{one.random_pairs:,.0f} pairs of unrelated fingerprints"
    if one.threshold is not None:
        chance += f", about {one.verify_seconds:,.1f} s to verify; real texts have more"
    yield f"by chance         {chance}"
    for task, p in plans.items():
        scheme = "SIMD scan of all fingerprints"
        if p.scheme == "blocks":
            scheme = f"{p.blocks} blocks, {p.tables:,} tables of {p.key_bits}-bit keys"
        yield f"{task:<18}{scheme}"
        yield (
            f"{'':<18}{p.comparisons:.3g} comparisons, about {p.seconds:,.2f} s on one core, "
            f"{p.bytes_per_document:,.0f} bytes per document"
        )
