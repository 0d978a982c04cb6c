"""An evaluation of labelled pairs as CSV files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.lab.experiments.zhang_he_2020.tables import written

if TYPE_CHECKING:
    from neardup.lab.experiments.labelled_pairs import MeasureResult, PairsEvaluation

__all__ = ["csv_files"]

_MEASURES = (
    "measure",
    "kind",
    "decided_by",
    "recommended",
    "left_out_f1",
    "left_out_low",
    "left_out_high",
    "left_out_tp",
    "left_out_fp",
    "left_out_fn",
    "cut_off",
    "cut_off_low",
    "cut_off_high",
    "best_f1",
    "best_f1_low",
    "best_f1_high",
    "best_precision",
    "best_recall",
    "default_cut_off",
    "default_f1",
    "average_precision",
    "lead_low",
    "lead_high",
)


def csv_files(result: PairsEvaluation) -> dict[str, bytes]:
    """Return the tables of an evaluation, by file name.

    Parameters
    ----------
    result : PairsEvaluation

    Returns
    -------
    dict of str to bytes
        UTF-8 with a header line and line feeds. ``pairs.csv`` has a row for each
        labelled pair with all measures; a value is empty where a text has no
        sketch. ``measures.csv`` has a row for each measure, the best first.
    """
    return {"pairs.csv": _pairs(result), "measures.csv": _measures(result)}


def _pairs(result: PairsEvaluation) -> bytes:
    best = result.recommended
    called = best.measured.passes(best.sweep.cut_off).tolist()
    left_out = best.sweep.judged.tolist()
    columns = [m.measured.values.tolist() for m in result.measures]
    names = [m.name for m in result.measures]
    header = ("id_a", "id_b", "label", "confidence", "duplicate", "found", "found_left_out", *names)
    return written(
        header,
        (
            (
                pair.id_a,
                pair.id_b,
                pair.label,
                pair.confidence,
                int(pair.duplicate),
                int(called[at]),
                int(left_out[at]),
                *(_number(column[at]) for column in columns),
            )
            for at, pair in enumerate(result.truth.pairs)
        ),
    )


def _measures(result: PairsEvaluation) -> bytes:
    return written(_MEASURES, (_row(result, measure) for measure in result.measures))


def _row(result: PairsEvaluation, measure: MeasureResult) -> Sequence[object]:
    its, own = measure.sweep, measure.measured.own_cut_off
    return (
        measure.name,
        measure.measured.kind,
        " ".join(decider.name for decider in measure.measured.deciders),
        int(measure is result.recommended),
        *map(_number, (its.left_out.f1, *its.left_out_interval)),
        its.left_out.tp,
        its.left_out.fp,
        its.left_out.fn,
        *map(_number, (its.cut_off, *its.interval)),
        *map(_number, (its.best.f1, *its.best_interval, its.best.precision, its.best.recall)),
        "" if own is None else _number(own),
        "" if measure.default is None else _number(measure.default.f1),
        *map(_number, (its.average_precision, *measure.lead)),
    )


def _number(value: float) -> str:
    """Six significant places after the point at most; empty for no value."""
    if not math.isfinite(value):
        return ""
    return f"{value:.6f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
