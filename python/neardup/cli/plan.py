"""``neardup plan``: what a search would do, and what it costs."""

from __future__ import annotations

from typing import Annotated

import typer

from neardup.cli import options as o

NAME = "plan"
NEEDS_ARGUMENTS = False


def run(
    documents: Annotated[
        int, typer.Argument(metavar="[DOCUMENTS]", help="Number of documents.")
    ] = 1_000_000,
    threshold: o.Threshold = None,
    max_distance: o.MaxDistance = None,
    recipe: o.RecipeName = "general",
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print the search plan for a number of documents: for `dedup` and for `pairs`."""
    from neardup import plan

    plans = {
        task: plan(
            documents,
            recipe=o.recipe_of(recipe),
            threshold=threshold,
            max_distance=max_distance,
            look_ups=task == "dedup",
        )
        for task in ("dedup", "pairs")
    }
    if json:
        import dataclasses
        from json import dumps

        typer.echo(dumps({task: dataclasses.asdict(p) for task, p in plans.items()}))
        return
    one = plans["pairs"]
    typer.echo(f"recipe            {one.recipe_id}")
    typer.echo(f"documents         {one.documents:,}")
    if one.threshold is None:
        typer.echo(f"a duplicate is    within {one.max_distance} of {one.bits} bits")
    else:
        typer.echo(f"a duplicate has   {one.measure} >= {one.threshold:g}")
        typer.echo(f"candidates are    within {one.max_distance} of {one.bits} bits")
        typer.echo(f"predicted recall  {one.predicted_recall:.4f} of pairs just at the threshold")
    chance = f"{one.random_pairs:,.0f} pairs of unrelated fingerprints"
    if one.threshold is not None:
        chance += f", about {one.verify_seconds:,.1f} s to verify; real texts have more"
    typer.echo(f"by chance         {chance}")
    for task, p in plans.items():
        scheme = "SIMD scan of all fingerprints"
        if p.scheme == "blocks":
            scheme = f"{p.blocks} blocks, {p.tables:,} tables of {p.key_bits}-bit keys"
        typer.echo(f"{task:<18}{scheme}")
        typer.echo(
            f"{'':<18}{p.comparisons:.3g} comparisons, about {p.seconds:,.2f} s on one core, "
            f"{p.bytes_per_document:,.0f} bytes a document"
        )
