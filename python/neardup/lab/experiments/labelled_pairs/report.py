"""The report of an evaluation of labelled pairs: verdict, settings, measures, mistakes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from neardup.base import __version__
from neardup.base.messages import Message
from neardup.lab.datasets.labels import DUPLICATE_LABELS
from neardup.lab.experiments.labelled_pairs.cases import count_contradictions
from neardup.lab.experiments.labelled_pairs.measures import MeasureResult
from neardup.lab.experiments.labelled_pairs.settings import PairsEvaluation, Setting, list_sentences
from neardup.lab.figures import COLOURS, MARKERS, draw_svg
from neardup.lab.report import Part, Table, format_csv, format_markdown
from neardup.lab.scores import Scores, count_scores
from neardup.recipe.measures import measure_words

#: Names of all files of the results.
FILES = ("report.md", "measures.csv", "pairs.csv", "precision_recall.svg")

#: Mistakes of each kind that are listed.
_MISTAKES = 20
#: With fewer pairs of one kind than this, results are unreliable.
_FEW = 30
#: Most curves in the figure; more would be unreadable.
_CURVES = 5


def list_parts(result: PairsEvaluation) -> Iterator[Part]:
    """Yield the parts of the report."""
    choice = result.choice
    yield [*list_sentences(choice), *list_cautions(result)]
    yield Table(
        (
            *(Message("setting"), "F1", "95 %", Message("precision"), Message("recall")),
            *(Message("wrong"), Message("missed")),
        ),
        [
            _format_setting(Message("default"), choice.default),
            _format_setting(Message("best, unseen choice"), choice.best),
        ],
    )
    yield Table(
        (
            *(Message("measure"), Message("F1, unseen cut"), Message("best cut")),
            *(Message("own cut"), Message("own F1"), Message("recipes")),
        ),
        [_format_measure(measure) for measure in result.measures],
    )
    yield [
        Message(
            "unseen: a pair is judged by what is best on the other pairs: choice, by the best "
            "measure and its best cut-off; cut, by the best cut-off of the measure of the row."
        ),
        Message("best cut: on all pairs, inclusive: ≥ a similarity, ≤ a distance in bits."),
        Message("own cut: of the first recipe that decides by the measure, and F1 there."),
        Message(
            "recipes: those that decide by the measure. Only such a measure can be used by dedup."
        ),
    ]
    advised = choice.advised
    yield [
        Message(
            "Mistakes at {bound}: {wrong} wrongly called duplicates, {missed} missed; the worst "
            "first, at most {most} of each.",
            wrong=len(result.mistakes(found=True)),
            missed=len(result.mistakes(found=False)),
            bound=advised.rule,
            most=_MISTAKES,
        )
    ]
    if rows := list(_list_mistakes(result)):
        header = [Message("mistake"), "id_a", "id_b", "label", Message("measured")]
        yield Table([*header, Message("reason")], rows, text=len(header) + 1)


def _format_setting(name: str, setting: Setting) -> list[str]:
    """Return the row of a setting."""
    scores = setting.scores
    shares = (f"{share:.3f}" for share in (scores.precision, scores.recall))
    interval = "{:.3f}-{:.3f}".format(*setting.interval)
    return [name, f"{scores.f1:.3f}", interval, *shares, str(scores.fp), str(scores.fn)]


def _format_measure(measure: MeasureResult) -> list[str]:
    """Return the row of a measure."""
    measured = measure.measured
    return [
        measure_words(measure.name),
        f"{measure.left_out.f1:.3f}",
        measured.format_bound(measure.cut_off),
        measured.format_bound(measured.recipe_cut_off),
        "" if measure.own is None else f"{measure.own.f1:.3f}",
        ", ".join(decider.name for decider in measured.deciders),
    ]


def _list_mistakes(result: PairsEvaluation) -> Iterator[list[str]]:
    """Yield the worst pairs that the advised setting is wrong about, and why it decides so."""
    values = result.choice.advised.measured.values
    for kind, found in ((Message("wrong"), True), (Message("missed"), False)):
        for place in result.mistakes(found=found)[:_MISTAKES]:
            pair = result.cases.truth.pairs[place]
            label = f"{pair.label}, {pair.confidence}" if pair.confidence else pair.label
            measured, reason = f"{values[place]:.4g}", result.evidence[place].verdict
            yield [kind, pair.id_a, pair.id_b, label, measured, reason]


def list_cautions(result: PairsEvaluation) -> Iterator[Message]:
    """Yield why the figures may be worth little; nothing if they are sound."""
    is_true = result.cases.is_true
    true, other = int(is_true.sum()), int((~is_true).sum())
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
    if result.choice.default.scores.f1 <= all_called.f1 and not result.choice.knows:
        yield Message(
            "No setting agrees with these labels: check whether labels or ids are swapped."
        )
    if count := count_contradictions(result.cases):
        yield Message.counted(
            "{count} pair is labelled as no duplicate, but other labels connect "
            "its documents: check these labels.",
            "{count} pairs are labelled as no duplicates, but other labels "
            "connect their documents: check these labels.",
            count=count,
        )


def make_contents(result: PairsEvaluation) -> dict[str, bytes]:
    """Return the contents of the files."""
    truth, documents = result.cases.truth, result.cases.documents
    introduction = (
        f"{len(truth.pairs):,} labelled pairs, {truth.repeated:,} others repeated one of them, "
        f"among {len(documents):,} documents. Labels that mean duplicate: "
        f"{', '.join(DUPLICATE_LABELS)}. neardup {__version__}."
    )
    title, figure = "Which setting fits these labels", "precision_recall.svg"
    return {
        "report.md": format_markdown(title, introduction, list_parts(result), figure),
        "measures.csv": format_csv([_make_measure_row(measure) for measure in result.measures]),
        "pairs.csv": format_csv(list(_make_pair_rows(result))),
        figure: draw_svg(lambda empty: _draw_curves(empty, result)),
    }


def _make_measure_row(measure: MeasureResult) -> dict[str, object]:
    """Return a row of measures.csv."""
    return {
        "measure": measure.name,
        "decided_by": " ".join(decider.name for decider in measure.measured.deciders),
        "unseen_f1": measure.left_out.f1,
        "unseen_tp": measure.left_out.tp,
        "unseen_fp": measure.left_out.fp,
        "unseen_fn": measure.left_out.fn,
        "cut_off": measure.cut_off,
        "recipe_cut_off": measure.measured.recipe_cut_off,
        "own_f1": math.nan if measure.own is None else measure.own.f1,
        "average_precision": measure.average_precision,
    }


def _make_pair_rows(result: PairsEvaluation) -> Iterator[dict[str, object]]:
    """Yield the rows of pairs.csv."""
    choice = result.choice
    for place, pair in enumerate(result.cases.truth.pairs):
        yield {
            "id_a": pair.id_a,
            "id_b": pair.id_b,
            "label": pair.label,
            "confidence": pair.confidence,
            "group": pair.group,
            "duplicate": pair.duplicate,
            "found_by_default": bool(choice.default.called[place]),
            "found_by_best": bool(choice.best.called[place]),
            "found_by_best_unseen": bool(choice.best.judged[place]),
            **{m.name: float(m.measured.values[place]) for m in result.measures},
            "why": str(result.evidence[place].verdict),
        }


def _draw_curves(figure: Any, result: PairsEvaluation) -> None:
    """The curves of the best measures, with a mark at each best cut-off."""
    from sklearn.metrics import precision_recall_curve

    axes = figure.add_subplot()
    is_true = result.cases.is_true
    shown = list(result.measures[:_CURVES])
    if result.best not in shown:
        shown[-1] = result.best
    for style, measure in enumerate(shown):
        curve = precision_recall_curve(is_true, measure.measured.likeness)
        precision, recall = (shares[:-1][curve[1][:-1] > 0] for shares in curve[:2])
        # Down to recall 0, with the precision where the first true pair is found.
        axes.step(
            np.append(recall, 0.0),
            np.append(precision, precision[-1]),
            where="post",
            color=COLOURS[style],
            # Of curves that coincide the later is the thinner one.
            linewidth=3.6 - 0.6 * style,
            label=f"{measure.name}, AP {measure.average_precision:.3f}",
            clip_on=False,
        )
        at_best = count_scores(measure.measured.passes(measure.cut_off), is_true)
        axes.plot(
            at_best.recall,
            at_best.precision,
            MARKERS[style],
            color=COLOURS[style],
            markeredgecolor="white",
            markersize=8,
            clip_on=False,
        )
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
    axes.set_title("Precision and recall of the best; marks at the best cut-off")
    figure.legend(loc="outside lower center", ncols=3)
