"""``neardup plan``: how documents would be searched, and at what cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Unpack

from neardup.base.messages import N_, Message
from neardup.cli.options import Bits, recipe_of
from neardup.cli.terminal import print_rows, rule_words, say
from neardup.options import options as o
from neardup.options.groups import MatchParameters

if TYPE_CHECKING:
    from neardup.plan import Plan

#: Columns of the labels.
_WIDTH = 16


def run(
    *,
    documents: Annotated[
        int, o.Argument("Number of documents.", default=1_000_000, metavar="[DOCUMENTS]")
    ],
    bits: Bits,
    json: Annotated[bool, o.Option("Print as JSON.", o.OUTPUT)],
    **options: Unpack[MatchParameters],
) -> None:
    """Print how `dedup` and `pairs` search a number of documents, and at what cost.

    Examples:
        neardup plan 10000000
        neardup plan --recipe minhash --threshold 0.8
    """
    from neardup import plan

    options["recipe"] = recipe_of(options["recipe"], bits=bits)
    plans = {
        task: plan(documents, look_ups=task == "dedup", **options) for task in ("dedup", "pairs")
    }
    if json:
        import dataclasses
        from json import dumps

        print(dumps({task: dataclasses.asdict(p) for task, p in plans.items()}))
        return
    pairs = plans["pairs"]
    is_of_bits = pairs.kind == "simhash"
    print_rows([*_rule_rows(pairs), *(_bit_rows if is_of_bits else _key_rows)(plans)], width=_WIDTH)
    if pairs.s_curve:
        print(say(Message("a pair of similarity  becomes a candidate with probability")))
        for similarity, share in pairs.s_curve[2::2]:
            print(f"{similarity:<22.2f}{share:.4f}  {'#' * round(share * 40)}")


def _rule_rows(plan: Plan) -> Iterator[tuple[str, str]]:
    yield Message("recipe"), plan.recipe_id
    yield Message("documents"), f"{plan.documents:,}"
    if plan.threshold is None:
        bits = Message(
            "within {distance} of {bits} bits", distance=plan.max_distance, bits=plan.bits
        )
        yield Message("a duplicate is"), bits
    else:
        yield Message("a duplicate has"), rule_words(plan.measure, plan.threshold, None)


def _key_rows(plans: dict[str, Plan]) -> Iterator[tuple[str, str]]:
    label, plan, most = Message("candidates"), plans["pairs"], plans["dedup"].max_list_len
    if plan.scheme == "bands":
        bands = Message(
            "agree on one of {bands} bands of {rows} values each", bands=plan.bands, rows=plan.rows
        )
        yield label, bands
    elif plan.scheme == "prefix":
        yield label, Message("share one of the rarest shingles that the threshold needs")
    else:
        keys = plans["dedup"].keys
        yield label, Message("share enough of at most {keys} sampled shingles", keys=keys)
        yield "", Message("(in pairs, of at most {keys})", keys=plan.keys)
    if most is not None:
        key = N_("for each band") if plan.scheme == "bands" else N_("for each shingle")
        listed = Message(
            "the first {most:,} documents that have it (in pairs, {in_pairs:,})",
            most=most,
            in_pairs=plan.max_list_len,
        )
        yield Message(key), listed
    if plans["dedup"].predicted_recall is not None:
        yield _recall(plans["dedup"])
    if plan.bytes_per_document is not None:
        size = Message("about {bytes:,.0f} bytes per document", bytes=plan.bytes_per_document)
        yield Message("memory"), size


def _bit_rows(plans: dict[str, Plan]) -> Iterator[tuple[str, str]]:
    pairs = plans["pairs"]
    chance = Message("{pairs:,.0f} pairs of unrelated fingerprints", pairs=pairs.random_pairs)
    if pairs.threshold is not None:
        bits = Message(
            "within {distance} of {bits} bits",
            distance=pairs.max_distance,
            bits=pairs.bits,
        )
        yield Message("candidates are"), bits
        yield _recall(pairs)
        chance = Message(
            "{chance}, about {seconds:,.1f} s to verify; real texts have more",
            chance=chance,
            seconds=pairs.verify_seconds,
        )
    yield Message("by chance"), chance
    for task, plan in plans.items():
        scheme = Message("SIMD scan of all fingerprints")
        if plan.scheme == "blocks":
            scheme = Message(
                "{blocks} blocks, {tables:,} tables of {bits}-bit keys",
                blocks=plan.blocks,
                tables=plan.tables,
                bits=plan.key_bits,
            )
        yield task, scheme
        costs = Message(
            "{comparisons:.3g} comparisons, about {seconds:,.2f} s on one core, "
            "{bytes:,.0f} bytes per document",
            comparisons=plan.comparisons,
            seconds=plan.seconds,
            bytes=plan.bytes_per_document,
        )
        yield "", costs


def _recall(plan: Plan) -> tuple[str, str]:
    share = Message("{recall:.4f} of pairs just at the threshold", recall=plan.predicted_recall)
    return Message("predicted recall"), share
