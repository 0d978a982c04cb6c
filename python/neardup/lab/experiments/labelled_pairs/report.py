"""The report of an evaluation of labelled pairs: for a terminal, as Markdown, CSV and JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import orjson

import neardup
from neardup.base.messages import N_, Message, in_language
from neardup.base.reprs import measure_words, one_line, padded, plain_table, width_of
from neardup.lab.datasets.labels import DUPLICATE_LABELS
from neardup.lab.experiments.labelled_pairs.measures import EVIDENCE
from neardup.lab.experiments.labelled_pairs.settings import (
    MeasureResult,
    PairsEvaluation,
    Setting,
    sentences,
)
from neardup.lab.figures import COLOURS, MARKERS, Figures
from neardup.lab.metrics import Scores
from neardup.lab.report import Tables, by_column, image, markdown_table

__all__ = ["FIGURES", "as_json", "cautions", "figures", "markdown", "tables", "terminal"]

#: Mistakes of each kind that are listed.
_MISTAKES = 20
#: With fewer pairs of one kind than this, results are unreliable.
_FEW = 30

_MARKDOWN = re.compile(r"([\\`*_<>|\[\]#])")

#: Columns of the table of measures in a terminal.
_COLUMNS = (
    (
        N_("F1, unseen cut"),
        N_("each pair is judged by the cut-off that is best on the other pairs; 95 % interval"),
    ),
    (
        N_("best cut"),
        N_("on all pairs, inclusive: ≥ a similarity, ≤ a distance in bits"),
    ),
    (
        N_("best F1"),
        N_("there, on the pairs that chose it: too good, the more so the fewer pairs there are"),
    ),
    (N_("own cut"), N_("of the first recipe that decides by the measure, and F1 there")),
    (
        N_("recipes"),
        N_("that decide by the measure; dedup cannot use a measure without one"),
    ),
)

#: What tells the F1 of the best setting from that of its measure.
_CHOICE = N_(
    "unseen choice: a pair is judged by the measure and the cut-off that are best on the other "
    "pairs. Of a measure, these choose the cut-off alone, so its F1 below may be higher."
)

_HOW = """\
*Unseen*: each pair is judged by what is best on the other pairs, **cut** by a cut-off, **choice**
by a measure and a cut-off. **best F1** is that of the cut-off that is best on these very pairs, and
flatters. Cut-offs are inclusive; **own** is that of the first recipe that decides by the measure.
95 % intervals are percentiles of 1,000 resamples of the pairs. The guide, *Measure methods and
thresholds*, defines all figures.

`measures.csv` has all figures of the measures, `pairs.csv` all values and the evidence of each
pair.
"""


def terminal(result: PairsEvaluation, language: str = "en") -> str:
    """Return the verdict, then settings and measures as plain tables, their columns explained."""

    def words(text: str) -> str:
        return in_language(text if isinstance(text, Message) else Message(text), language)

    verdict = "\n".join(map(words, (*sentences(result.choice), *cautions(result))))
    of_settings = ([words(name), *cells] for name, *cells in _setting_rows(result))
    settings = plain_table(list(map(words, _SETTINGS)), of_settings)
    names, rows = by_column(list(map(_row, result.measures)))
    of_measures = ([in_language(measure_words(name), language), *cells] for name, *cells in rows)
    measures = plain_table(list(map(words, names)), of_measures)
    columns = [(words(name), words(text)) for name, text in _COLUMNS]
    width = max(width_of(name) for name, _ in columns)
    explained = "\n".join(f"{padded(name, width)}  {text}" for name, text in columns)
    parts = [verdict, f"{settings}\n{words(_CHOICE)}", measures, explained]
    if mistakes := list(_mistakes(result, language)):
        rows = [list(map(one_line, row)) for row in mistakes]
        header = list(map(words, _MISTAKE))
        parts.append(
            f"{words(_of_mistakes(result))}\n{plain_table(header, rows, left=range(len(header)))}"
        )
    return "\n\n".join(parts)


def markdown(result: PairsEvaluation) -> str:
    """Return the report as Markdown; figures are named by relative path."""
    pairs, true = len(result.truth.pairs), int(result.is_true.sum())
    mistakes = [list(map(_text, row)) for row in _mistakes(result, "en")]
    parts = [
        "# Which setting fits these labels",
        f"{pairs:,} labelled pairs, {true:,} of them duplicates, among {len(result.documents):,} "
        f"documents. neardup {neardup.__version__}.",
        "## Verdict",
        "\n".join(f"- {line}" for line in (*sentences(result.choice), *cautions(result))),
        markdown_table(_SETTINGS, _setting_rows(result)),
        "## All measures",
        markdown_table(*by_column(list(map(_row, result.measures)))),
        image("precision_recall", "Precision and recall"),
        "## Labels",
        *_labels(result),
        "## Mistakes",
        str(_of_mistakes(result)),
        *([markdown_table(_MISTAKE, mistakes)] if mistakes else []),
        _HOW,
    ]
    return "\n\n".join(parts)


_SETTINGS = (
    *(N_("setting"), N_("F1"), N_("95 %"), N_("precision"), N_("95 %"), N_("recall"), N_("95 %")),
    *(N_("wrong"), N_("missed")),
)


def _setting_rows(result: PairsEvaluation) -> Iterable[Sequence[str]]:
    """Yield a row for the default and the best setting: their scores with intervals."""
    choice = result.choice
    for name, setting in (
        (N_("default"), choice.default),
        (N_("best, unseen choice"), choice.best),
    ):
        accuracy, scores = setting.accuracy, setting.accuracy.scores
        shares = (
            cell
            for measure in ("f1", "precision", "recall")
            for cell in (f"{getattr(scores, measure):.3f}", _interval(getattr(accuracy, measure)))
        )
        yield (name, *shares, str(scores.fp), str(scores.fn))


def cautions(result: PairsEvaluation) -> Iterator[Message]:
    """Yield why the figures may be worth little; nothing if they are sound."""
    true = int(result.is_true.sum())
    other = len(result.is_true) - true
    if min(true, other) < _FEW:
        yield Message(
            "{true} duplicates and {other} other pairs are few: read the "
            "intervals, and label more pairs near the cut-off.",
            true=true,
            other=other,
        )
    if result.choice.left_out == "pair":
        yield Message(
            "Most pairs are connected by shared documents, so each pair was left "
            "out by itself: the F1 on unseen labels may be too high, and its "
            "interval too narrow."
        )
    all_called = Scores(true, other, 0)
    if result.choice.default.accuracy.scores.f1 <= all_called.f1 and not result.choice.knows:
        yield Message(
            "No setting agrees with these labels: check whether labels or ids are swapped."
        )
    if result.contradictions:
        yield Message.counted(
            "{count} pair is labelled as no duplicate, but other labels connect "
            "its documents: check these labels.",
            "{count} pairs are labelled as no duplicates, but other labels "
            "connect their documents: check these labels.",
            count=result.contradictions,
        )


def _row(measure: MeasureResult) -> dict[str, str]:
    """Cells of a measure by heading."""
    measured, own = measure.measured, measure.measured.own_cut_off
    return {
        N_("measure"): measure.name,
        "F1, unseen cut": f"{measure.left_out.f1:.3f}",
        "95 %": _interval(measure.left_out_interval),
        "best cut": measured.bound(measure.cut_off),
        "best F1": f"{measure.best.f1:.3f}",
        "own cut": measured.bound(own),
        N_("own F1"): "" if measure.default is None else f"{measure.default.f1:.3f}",
        "recipes": ", ".join(decider.name for decider in measured.deciders),
    }


def _labels(result: PairsEvaluation) -> Iterable[str]:
    rows = (
        (_text(label), "duplicate" if duplicate else "not", f"{count:,}")
        for label, (duplicate, count) in result.truth.labels.items()
    )
    yield markdown_table(("label", "taken for", "pairs"), rows)
    yield (
        f"What means duplicate: {', '.join(f'`{label}`' for label in DUPLICATE_LABELS)}, in any "
        "case; all else means that it is none."
    )
    if result.truth.repeated:
        yield f"{result.truth.repeated:,} lines repeat a pair and were left out."


_MISTAKE = (N_("mistake"), "id_a", "id_b", "label", N_("measured"), N_("reason"))


def _of_mistakes(result: PairsEvaluation) -> Message:
    """Return what the table of mistakes shows."""
    advised = result.choice.advised
    return Message(
        "Mistakes at {bound}: {wrong} wrongly called duplicates, {missed} missed; the worst first, "
        "at most {most} of each.",
        wrong=len(result.mistakes(found=True)),
        missed=len(result.mistakes(found=False)),
        bound=f"{advised.measured.name} {advised.measured.bound(advised.cut_off)}",
        most=_MISTAKES,
    )


def _mistakes(result: PairsEvaluation, language: str) -> Iterator[Sequence[str]]:
    """Yield the worst pairs that the advised setting is wrong about, and why it decides so."""
    values = result.choice.advised.measured.values
    for kind, found in ((Message("wrong"), True), (Message("missed"), False)):
        for place in result.mistakes(found=found)[:_MISTAKES]:
            pair = result.truth.pairs[place]
            yield (
                in_language(kind, language),
                pair.id_a,
                pair.id_b,
                f"{pair.label}, {pair.confidence}" if pair.confidence else pair.label,
                f"{values[place]:.4g}",
                in_language(result.evidence[place].verdict, language),
            )


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3f}-{ends[1]:.3f}"


def _text(text: str) -> str:
    """Text of the input, so that nothing in it is taken for Markdown."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def tables(result: PairsEvaluation) -> Tables:
    """Return header and rows of the CSV files, by name."""
    pairs = [_pair(result, place) for place in range(len(result.pairs))]
    evidence = [f"evidence_{name}" for name in EVIDENCE]
    # What is known of a pair, without its values.
    known = [name for name, value in pairs[0].items() if not isinstance(value, (dict, list))]
    rows = [
        [
            *(_cell(pair[name]) for name in known),
            *map(_cell, pair["measures"].values()),
            *map(_cell, pair["evidence"].values()),
            pair["why"],
        ]
        for pair in pairs
    ]
    header, measures = by_column([_measure(m, m is result.best) for m in result.measures])
    return {
        "measures": (header, [list(map(_cell, row)) for row in measures]),
        "pairs": ([*known, *pairs[0]["measures"], *evidence, "why"], rows),
    }


def as_json(result: PairsEvaluation) -> bytes:
    """Return the results as JSON."""
    choice = result.choice
    values = {
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
            "sentences": [str(line) for line in (*sentences(choice), *cautions(result))],
        },
        "settings": {"default": _setting(choice.default), "best": _setting(choice.best)},
        "measures": [_measure(measure, measure is result.best) for measure in result.measures],
        "pairs": [_pair(result, place) for place in range(len(result.pairs))],
    }
    return orjson.dumps(values, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _setting(setting: Setting) -> dict[str, Any]:
    accuracy = setting.accuracy
    shares = {
        name: {"value": getattr(accuracy.scores, name), "interval": getattr(accuracy, name)}
        for name in ("f1", "precision", "recall")
    }
    return {
        "recipe": setting.decider.name,
        "measure": setting.measured.name,
        "max_distance" if setting.measured.by_distance else "threshold": setting.cut_off,
        "options": setting.options,
        **shares,
        **{name: getattr(accuracy.scores, name) for name in ("tp", "fp", "fn")},
    }


def _pair(result: PairsEvaluation, place: int) -> dict[str, Any]:
    pair, choice = result.truth.pairs[place], result.choice
    evidence = result.evidence[place]
    return {
        "id_a": pair.id_a,
        "id_b": pair.id_b,
        "label": pair.label,
        "confidence": pair.confidence,
        "group": pair.group,
        "duplicate": pair.duplicate,
        "found_by_default": bool(choice.default.called[place]),
        "found_by_best": bool(choice.best.called[place]),
        "found_by_best_unseen": bool(choice.best.judged[place]),
        "measures": {m.name: _finite(m.measured.values[place]) for m in result.measures},
        "evidence": {name: getattr(evidence, name) for name in EVIDENCE},
        "why": str(evidence.verdict),
    }


def _measure(measure: MeasureResult, is_best: bool) -> dict[str, Any]:
    own = measure.measured.own_cut_off
    numbers = {
        "unseen_f1": measure.left_out.f1,
        "unseen_low": measure.left_out_interval[0],
        "unseen_high": measure.left_out_interval[1],
        "unseen_tp": measure.left_out.tp,
        "unseen_fp": measure.left_out.fp,
        "unseen_fn": measure.left_out.fn,
        "cut_off": measure.cut_off,
        "best_f1": measure.best.f1,
        "best_precision": measure.best.precision,
        "best_recall": measure.best.recall,
        "own_cut_off": math.nan if own is None else own,
        "own_f1": math.nan if measure.default is None else measure.default.f1,
        "average_precision": measure.average_precision,
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


#: Most curves in one figure; more would be unreadable.
_CURVES = 5


def _precision_recall(figure: Any, result: PairsEvaluation) -> None:
    """The curves of the best measures, with a mark at each best cut-off."""
    from sklearn.metrics import precision_recall_curve

    axes = figure.add_subplot()
    shown = list(result.measures[:_CURVES])
    if result.best not in shown:
        shown[-1] = result.best
    for style, measure in enumerate(shown):
        curve = precision_recall_curve(result.is_true, measure.measured.likeness)
        precision, recall = (shares[:-1][curve[1][:-1] > 0] for shares in curve[:2])
        # Down to recall 0, with the precision where the first true pair is found.
        axes.step(
            [*recall, 0.0],
            [*precision, precision[-1]],
            where="post",
            color=COLOURS[style],
            # Of curves that coincide the later is the thinner one.
            linewidth=3.6 - 0.6 * style,
            label=f"{measure.name}, AP {measure.average_precision:.3f}",
            clip_on=False,
        )
        axes.plot(
            measure.best.recall,
            measure.best.precision,
            MARKERS[style],
            color=COLOURS[style],
            markeredgecolor="white",
            markersize=8,
            clip_on=False,
        )
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
    axes.set_title("Precision and recall of the best; marks at the best cut-off")
    figure.legend(loc="outside lower center", ncols=3)


#: How each figure is drawn.
FIGURES = {"precision_recall": _precision_recall}


def figures(result: PairsEvaluation) -> Figures:
    """Return how to draw the figures of an evaluation, by the names in `FIGURES`."""
    return {name: partial(fill, result=result) for name, fill in FIGURES.items()}
