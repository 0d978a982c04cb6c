"""The results of an evaluation of labelled pairs for programs: CSV tables and JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import orjson

import neardup
from neardup.lab.experiments.labelled_pairs.evidence import EVIDENCE
from neardup.lab.experiments.labelled_pairs.report import cautions
from neardup.lab.experiments.labelled_pairs.settings import Setting, sentences
from neardup.lab.report import Tables

if TYPE_CHECKING:
    from neardup.lab.experiments.labelled_pairs import PairsEvaluation
    from neardup.lab.experiments.labelled_pairs.ranking import MeasureResult

__all__ = ["as_dict", "as_json", "tables"]


def tables(result: PairsEvaluation) -> Tables:
    """Return header and rows of the CSV files, by name.

    Returns
    -------
    mapping
        ``pairs`` has a row for each labelled pair: its label, what the default and the best
        setting call it, all measures (empty where a text has no sketch), and the evidence of
        the advised setting. ``measures`` has a row for each measure, the best first.
    """
    pairs = [_pair(result, at) for at in range(len(result.pairs))]
    evidence = [f"evidence_{name}" for name in EVIDENCE]
    header = [*_known(pairs[0]), *pairs[0]["measures"], *evidence, "why"]
    rows = [
        [
            *map(_cell, _known(pair).values()),
            *map(_cell, pair["measures"].values()),
            *map(_cell, pair["evidence"].values()),
            " ".join(f"{reason}." for reason in pair["why"]),
        ]
        for pair in pairs
    ]
    measures = [_measure(measure, measure is result.best) for measure in result.measures]
    return {
        "measures": (list(measures[0]), [list(map(_cell, row.values())) for row in measures]),
        "pairs": (header, rows),
    }


def as_json(result: PairsEvaluation) -> bytes:
    """Return the results as JSON; see `as_dict`."""
    return orjson.dumps(as_dict(result), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def as_dict(result: PairsEvaluation) -> dict[str, Any]:
    """Return the results for JSON.

    Returns
    -------
    dict
        ``verdict``, ``settings`` with precision, recall and F1 and their intervals, ``measures``
        and ``pairs`` with their evidence. A value is None where there is none.
    """
    choice = result.choice
    return {
        "neardup": neardup.__version__,
        "documents": len(result.documents),
        "labels": {
            label: {"duplicate": duplicate, "pairs": count}
            for label, (duplicate, count) in result.truth.labels.items()
        },
        "verdict": {
            "advised": "best" if choice.is_better else "default",
            "options": choice.advised.options,
            "gain": choice.gain,
            "gain_interval": choice.interval,
            "larger_than_chance": choice.is_better,
            "left_out": choice.left_out,
            "folds": choice.folds,
            "sentences": [str(one) for one in (*sentences(choice), *cautions(result))],
        },
        "settings": {"default": _setting(choice.default), "best": _setting(choice.best)},
        "measures": [_measure(measure, measure is result.best) for measure in result.measures],
        "pairs": [_pair(result, at) for at in range(len(result.pairs))],
    }


def _setting(setting: Setting) -> dict[str, Any]:
    found = setting.accuracy
    shares = {
        name: {"value": getattr(found.scores, name), "interval": getattr(found, name)}
        for name in ("f1", "precision", "recall")
    }
    return {
        "recipe": setting.decider.name,
        "measure": setting.measured.name,
        "max_distance" if setting.measured.by_distance else "threshold": setting.cut_off,
        "options": setting.options,
        **shares,
        **{name: getattr(found.scores, name) for name in ("tp", "fp", "fn")},
    }


def _pair(result: PairsEvaluation, at: int) -> dict[str, Any]:
    pair, choice = result.truth.pairs[at], result.choice
    evidence = result.evidence[at]
    return {
        "id_a": pair.id_a,
        "id_b": pair.id_b,
        "label": pair.label,
        "confidence": pair.confidence,
        "group": pair.group,
        "duplicate": pair.duplicate,
        "found_by_default": bool(choice.default.called[at]),
        "found_by_best": bool(choice.best.called[at]),
        "found_by_best_unseen": bool(choice.best.judged[at]),
        "measures": {m.name: _finite(m.measured.values[at]) for m in result.measures},
        "evidence": {name: getattr(evidence.comparison, name) for name in EVIDENCE},
        "why": [str(reason) for reason in evidence.reasons()],
    }


def _known(pair: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a pair before and after the verdict, without its values."""
    return {name: value for name, value in pair.items() if not isinstance(value, (dict, list))}


def _measure(measure: MeasureResult, is_best: bool) -> dict[str, Any]:
    its, own = measure.sweep, measure.measured.own_cut_off
    numbers = {
        "unseen_f1": its.left_out.f1,
        "unseen_low": its.left_out_interval[0],
        "unseen_high": its.left_out_interval[1],
        "unseen_tp": its.left_out.tp,
        "unseen_fp": its.left_out.fp,
        "unseen_fn": its.left_out.fn,
        "cut_off": its.cut_off,
        "cut_off_low": its.interval[0],
        "cut_off_high": its.interval[1],
        "best_f1": its.best.f1,
        "best_f1_low": its.best_interval[0],
        "best_f1_high": its.best_interval[1],
        "best_precision": its.best.precision,
        "best_recall": its.best.recall,
        "own_cut_off": math.nan if own is None else own,
        "own_f1": math.nan if measure.default is None else measure.default.f1,
        "average_precision": its.average_precision,
        "lead_low": measure.lead[0],
        "lead_high": measure.lead[1],
    }
    return {
        "measure": measure.name,
        "kind": measure.measured.kind,
        "decided_by": " ".join(decider.name for decider in measure.measured.deciders),
        "best": is_best,
        **{name: _finite(value) for name, value in numbers.items()},
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _cell(value: object) -> object:
    """Six significant places after the point at most; empty for no value, 0 or 1 for a flag."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
    return "" if value is None else value
