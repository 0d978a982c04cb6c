"""The report of an evaluation of labelled pairs, and all its files together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

import neardup
from neardup.lab.datasets.labels import DUPLICATE_LABELS
from neardup.lab.experiments.labelled_pairs.differences import BEGIN, END, differences
from neardup.lab.experiments.labelled_pairs.figures import FIGURES, figures
from neardup.lab.metrics import Scores, count_scores
from neardup.lab.report import Tables, file_names, image, markdown_table, plain_table
from neardup.lab.report import files_of as all_files

if TYPE_CHECKING:
    from neardup.lab.experiments.labelled_pairs import MeasureResult, PairsEvaluation

__all__ = ["FILES", "command", "files_of", "markdown", "tables", "terminal"]

#: Names of all files of the results.
FILES = file_names(("measures", "pairs"), FIGURES)

#: Mistakes of each kind that are shown, and differences of one of them.
_MISTAKES, _PLACES = 5, 8
#: Characters of a text that is shown as a whole.
_OPENING = 120
#: With fewer pairs of one kind than this, results are unreliable.
_FEW = 30

_MARKDOWN = re.compile(r"([\\`*_<>|\[\]#])")

_HOW = """\
## How to read this

- **F1 left out**: each pair is judged by the cut-off that is best on all other pairs. **best F1**
  is that of the cut-off that is best on these very pairs. It flatters; the difference says how
  much.
- Cut-offs are inclusive: `≥` a similarity, `≤` a distance in bits. A best cut-off lies about
  half-way between the last pair that it takes and the next one.
- **95 %** intervals are percentiles of 1,000 resamples of the pairs. That of a cut-off has the best
  cut-offs of the resamples.
- **own** is the cut-off of the recipe that decides by the measure; the first one, where several do.
- **lead**: how much higher the F1 of the recommended measure is, 95 % interval of paired
  resamples. Where it holds 0, these pairs do not tell which of the two is better.
- `rare` measures count only shingles that at most four different texts of the collection have;
  `aligned` is the edit similarity by words, or by characters of scripts without spaces.
- The values are exact. A search by fingerprints or signatures may besides miss pairs:
  `neardup plan` says how many.

## Files

`measures.csv` has all figures of the measures; `pairs.csv` all values of each pair. Figures are
there as SVG and PNG.
"""


def files_of(result: PairsEvaluation) -> dict[str, bytes]:
    """Return report, tables and figures by file name."""
    return all_files(markdown(result), tables(result), figures(result))


def command(result: PairsEvaluation) -> str:
    """Return the options of `neardup dedup` that do as recommended."""
    best = result.recommended
    option = "--max-distance" if best.measured.by_distance else "--threshold"
    return f"--recipe {result.decider.name} {option} {best.sweep.cut_off:.6g}"


def terminal(result: PairsEvaluation) -> str:
    """Return the measures as a plain table, and below it what is recommended."""
    rows = (_row(measure) for measure in result.measures)
    return "\n".join([plain_table(_HEADER, rows), "", *_recommendation(result, plain=True)])


def markdown(result: PairsEvaluation) -> str:
    """Return the report as Markdown; figures are named by relative path."""
    pairs, true = len(result.truth.pairs), int(result.is_true.sum())
    parts = [
        "# Which measure tells these duplicates, and where to cut",
        f"{pairs:,} labelled pairs, {true:,} of them duplicates, among {len(result.documents):,} "
        f"documents. neardup {neardup.__version__}.",
        "## Recommended",
        "\n".join(f"- {line}" for line in _recommendation(result, plain=False)),
        "## All measures",
        markdown_table(
            _HEADER, ((f"`{cells[0]}`", *cells[1:]) for cells in map(_row, result.measures))
        ),
        image("measures", "F1 of all measures"),
        image("precision_recall", "Precision and recall"),
        f"## Where to cut {result.recommended.name}",
        image("cut_offs", "Precision, recall and F1 by cut-off"),
        image("values", "Values by label"),
        "## Labels",
        *_labels(result),
        "## What it does to the collection",
        *_consequences(result),
        *_mistakes(result, found=True),
        *_mistakes(result, found=False),
        _HOW,
    ]
    return "\n\n".join(parts)


_HEADER = (
    "measure",
    "F1 left out",
    "95 %",
    "lead",
    "cut-off",
    "95 % of it",
    "best F1",
    "precision",
    "recall",
    "own",
    "own F1",
    "AP",
)


def _row(measure: MeasureResult) -> Sequence[str]:
    its, own = measure.sweep, measure.measured.own_cut_off
    return (
        measure.name,
        f"{its.left_out.f1:.3f}",
        _interval(its.left_out_interval),
        "" if measure.lead == (0, 0) else f"{measure.lead[0]:+.2f} to {measure.lead[1]:+.2f}",
        measure.measured.bound(its.cut_off),
        _ends(its.interval),
        f"{its.best.f1:.3f}",
        f"{its.best.precision:.3f}",
        f"{its.best.recall:.3f}",
        measure.measured.bound(own),
        "" if measure.default is None else f"{measure.default.f1:.3f}",
        f"{its.average_precision:.3f}",
    )


def _recommendation(result: PairsEvaluation, *, plain: bool) -> list[str]:
    """What to use and why, a sentence or two a line."""
    best = result.recommended
    its = best.sweep
    bold, code = ("", "") if plain else ("**", "`")
    lines = [
        f"{bold}{best.name} {best.measured.bound(its.cut_off)}{bold} "
        f"(95 % of best cut-offs: {_ends(its.interval)}): "
        f"{code}neardup dedup {command(result)}{code}",
        "Why: highest F1 with each pair left out of those that dedup can decide by, "
        f"{its.left_out.f1:.3f} ({_interval(its.left_out_interval)}), "
        f"{_counted(its.left_out)}.{_own(best)}",
    ]
    if best is not result.measures[0]:
        top = result.measures[0]
        lines.append(
            f"{top.name} has a higher one, {top.sweep.left_out.f1:.3f}, but no recipe decides by "
            "it."
        )
    own = max(
        (m for m in result.measures if m.default is not None),
        key=lambda m: m.default.f1 if m.default else 0.0,
        default=None,
    )
    if own is not None and own.default is not None and own.default.f1 >= its.left_out.f1:
        lines.append(
            f"{_owner(own)}, {own.name} {own.measured.bound(own.measured.own_cut_off)}, does no "
            f"worse as it is: F1 {own.default.f1:.3f}, and its cut-off was not chosen on these "
            "pairs. Stay with it unless more labels say otherwise."
        )
    others = [
        m for m in result.measures if m is not best and m.can_decide and m.lead[0] <= 0 <= m.lead[1]
    ]
    if others:
        names = ", ".join(m.name for m in others)
        lines.append(f"These pairs do not tell whether it is better than: {names}.")
    true = int(result.is_true.sum())
    if min(true, len(result.is_true) - true) < _FEW:
        lines.append(
            f"{true} duplicates and {len(result.is_true) - true} other pairs are few: read the "
            "intervals, and label more pairs near the cut-off."
        )
    return lines


def _own(best: MeasureResult) -> str:
    # If it is no worse, a line of its own says so.
    if best.default is None or best.default.f1 >= best.sweep.left_out.f1:
        return ""
    bound = best.measured.bound(best.measured.own_cut_off)
    return f" At the own cut-off of {_owner(best)}, {bound}, F1 is {best.default.f1:.3f}."


def _owner(measure: MeasureResult) -> str:
    """The recipe whose own cut-off is looked at."""
    return next(d.name for d in measure.measured.deciders if d.cut_off is not None)


def _labels(result: PairsEvaluation) -> Iterable[str]:
    met = result.truth.labels.items()
    rows = (
        (_text(label), "duplicate" if duplicate else "not", f"{count:,}")
        for label, (duplicate, count) in met
    )
    yield markdown_table(("label", "taken for", "pairs"), rows)
    yield (
        f"What means duplicate: {', '.join(f'`{label}`' for label in DUPLICATE_LABELS)}, in any "
        "case; all else means that it is none."
    )
    if result.truth.repeated:
        yield f"{result.truth.repeated:,} lines repeat a pair and were left out."
    if result.contradictions:
        yield (
            f"{result.contradictions:,} pairs are labelled as no duplicates, and other labels join "
            "their documents: look at these labels again."
        )
    levels = sorted({pair.confidence for pair in result.truth.pairs})
    if len(levels) > 1:
        yield "The recommended measure by confidence of the label, each pair left out:"
        yield markdown_table(
            ("confidence", "pairs", "F1", "precision", "recall"),
            (_by_confidence(result, level) for level in levels),
        )


def _by_confidence(result: PairsEvaluation, level: str) -> Sequence[str]:
    mine = np.array([pair.confidence == level for pair in result.truth.pairs])
    scores = count_scores(result.recommended.sweep.judged[mine], result.is_true[mine])
    shares = (scores.f1, scores.precision, scores.recall)
    return (_text(level) or "none", f"{mine.sum():,}", *(f"{share:.3f}" for share in shares))


def _consequences(result: PairsEvaluation) -> Iterable[str]:
    yield (
        "What `neardup.dedup` does to all documents, judged on those that occur in a labelled "
        "pair. Labelled duplicates, directly or over others, make a true cluster; a pair that "
        "nobody labelled makes none."
    )
    header = (
        "rule",
        "is",
        "dropped in all",
        "adjusted Rand",
        "B³ precision",
        "B³ recall",
        "B³ F1",
        "labelled: to drop",
        "dropped",
        "rightly",
        "clusters lost",
    )
    yield markdown_table(
        header,
        (
            (
                c.name,
                c.rule,
                f"{c.dropped_in_all:,}",
                *(
                    f"{x:.3f}"
                    for x in (c.adjusted_rand, c.b_cubed.precision, c.b_cubed.recall, c.b_cubed.f1)
                ),
                *(str(n) for n in (c.kept.to_drop, c.kept.dropped, c.kept.rightly, c.kept.lost)),
            )
            for c in result.consequences
        ),
    )


def _mistakes(result: PairsEvaluation, *, found: bool) -> Iterable[str]:
    best = result.recommended
    mistakes = result.mistakes(found=found)
    yield f"## {'Wrongly called duplicates' if found else 'Missed'}: {len(mistakes)}"
    what = "called duplicates, labelled otherwise" if found else "labelled as duplicates, not found"
    shown = mistakes[:_MISTAKES]
    if not shown:
        yield f"None at {best.name} {best.measured.bound(best.sweep.cut_off)}."
        return
    yield (
        f"Pairs {what}, at {best.name} {best.measured.bound(best.sweep.cut_off)}; the worst "
        f"{len(shown)}. What differs is between {BEGIN} and {END}; equal passages are left out."
    )
    for at in shown:
        yield from _side_by_side(result, at)


def _side_by_side(result: PairsEvaluation, at: int) -> Iterable[str]:
    pair, best = result.truth.pairs[at], result.recommended
    texts = result.documents.texts
    a, b = texts[int(result.pairs.a[at])], texts[int(result.pairs.b[at])]
    measured = (m.measured for m in result.measures if m is not best)
    values = ", ".join(f"{m.name} {m.values[at]:.4g}" for m in measured if m.kind == "text")
    yield f"### {_text(pair.id_a)} and {_text(pair.id_b)}"
    yield (
        f"{best.name} {best.measured.values[at]:.4g}; labelled {_text(pair.label)}"
        f"{f', confidence {_text(pair.confidence)}' if pair.confidence else ''}. {values}."
    )
    rows = [(_text(_opening(a)), _text(_opening(b)))]
    places = differences(a, b)
    rows += [(_text(place.a), _text(place.b)) for place in places[:_PLACES]]
    more = len(places) - _PLACES
    yield markdown_table((_text(pair.id_a), _text(pair.id_b)), rows)
    if more > 0:
        yield f"And {more:,} more differences."


def _opening(text: str) -> str:
    line = " ".join(text.split())
    cut = line if len(line) <= _OPENING else line[:_OPENING] + "…"
    return f"{cut} ({len(text):,} characters)"


def _counted(scores: Scores) -> str:
    return f"{scores.tp} right, {scores.fp} wrong, {scores.fn} missed"


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3f}-{ends[1]:.3f}"


def _ends(ends: tuple[float, float]) -> str:
    return " to ".join(f"{end:.4g}" for end in sorted(ends))


def _text(text: str) -> str:
    """Text of the input, so that nothing in it is taken for Markdown."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def tables(result: PairsEvaluation) -> Tables:
    """Return header and rows of the CSV files, by name.

    Returns
    -------
    mapping
        ``pairs`` has a row for each labelled pair with all measures; a value is empty where a
        text has no sketch. ``measures`` has a row for each measure, the best first.
    """
    best = result.recommended
    called = best.measured.passes(best.sweep.cut_off).tolist()
    left_out = best.sweep.judged.tolist()
    values = np.column_stack([m.measured.values for m in result.measures]).tolist()
    known = ("id_a", "id_b", "label", "confidence", "duplicate", "found", "found_left_out")
    pairs = [
        (
            *(pair.id_a, pair.id_b, pair.label, pair.confidence),
            *(int(pair.duplicate), int(called[at]), int(left_out[at])),
            *map(_number, values[at]),
        )
        for at, pair in enumerate(result.truth.pairs)
    ]
    rows = [_figures(measure, measure is best) for measure in result.measures]
    return {
        "measures": (list(rows[0]), [list(row.values()) for row in rows]),
        "pairs": ((*known, *(m.name for m in result.measures)), pairs),
    }


def _figures(measure: MeasureResult, recommended: bool) -> dict[str, object]:
    """A row of `measures` by column."""
    its, own = measure.sweep, measure.measured.own_cut_off
    numbers = {
        "left_out_f1": its.left_out.f1,
        "left_out_low": its.left_out_interval[0],
        "left_out_high": its.left_out_interval[1],
        "left_out_tp": its.left_out.tp,
        "left_out_fp": its.left_out.fp,
        "left_out_fn": its.left_out.fn,
        "cut_off": its.cut_off,
        "cut_off_low": its.interval[0],
        "cut_off_high": its.interval[1],
        "best_f1": its.best.f1,
        "best_f1_low": its.best_interval[0],
        "best_f1_high": its.best_interval[1],
        "best_precision": its.best.precision,
        "best_recall": its.best.recall,
        "default_cut_off": math.nan if own is None else own,
        "default_f1": math.nan if measure.default is None else measure.default.f1,
        "average_precision": its.average_precision,
        "lead_low": measure.lead[0],
        "lead_high": measure.lead[1],
    }
    return {
        "measure": measure.name,
        "kind": measure.measured.kind,
        "decided_by": " ".join(decider.name for decider in measure.measured.deciders),
        "recommended": int(recommended),
        **{name: _number(value) for name, value in numbers.items()},
    }


def _number(value: float) -> str:
    """Six significant places after the point at most; empty for no value."""
    if not math.isfinite(value):
        return ""
    return f"{value:.6f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
