"""The report of an evaluation of labelled pairs: for a terminal, and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

import neardup
from neardup.base.messages import Message
from neardup.lab.datasets.labels import DUPLICATE_LABELS
from neardup.lab.experiments.labelled_pairs.settings import sentences
from neardup.lab.metrics import Scores, count_scores
from neardup.lab.report import image, markdown_table, plain_table

if TYPE_CHECKING:
    from neardup.lab.experiments.labelled_pairs import PairsEvaluation
    from neardup.lab.experiments.labelled_pairs.ranking import MeasureResult

__all__ = ["cautions", "markdown", "setting_rows", "terminal"]

#: Mistakes of each kind that are listed.
_MISTAKES = 20
#: With fewer pairs of one kind than this, results are unreliable.
_FEW = 30

_MARKDOWN = re.compile(r"([\\`*_<>|\[\]#])")

#: Columns of the table of measures in a terminal.
_COLUMNS = """\
F1, unseen cut  each pair is judged by the cut-off that is best on the other pairs; 95 % interval
best cut        on all pairs, inclusive: ≥ a similarity, ≤ a distance in bits
best F1         there, on the pairs that chose it: too good, the more so the fewer pairs there are
own cut         of the first recipe that decides by the measure, and F1 there
recipes         that decide by the measure; dedup cannot use a measure without one"""

#: What tells the F1 of the best setting from that of its measure.
_CHOICE = (
    "unseen choice: a pair is judged by the measure and the cut-off that are best on the other "
    "pairs. Of a measure, these choose the cut-off alone, so its F1 below may be higher."
)

_HOW = """\
## How to read this

- **unseen cut**: each pair is judged by the cut-off that is best on the other pairs. Pairs that
  share a document, or pairs of one `group` if the labels have several, are left out together.
  **best F1** is that of the cut-off that is best on these very pairs. It flatters; the difference
  says how much.
- **unseen choice**: each pair is judged by the measure, of those that a recipe can decide by, and
  the cut-off that are best on the other pairs. So its F1 may be lower than that of the same
  measure with an unseen cut. The figures of the default are of all pairs: it was not chosen on
  them.
- Cut-offs are inclusive: `≥` a similarity, `≤` a distance in bits. A best cut-off lies about
  half-way between the last pair that it takes and the next one.
- **95 %** intervals are percentiles of 1,000 resamples of the pairs; pairs that share a document
  are drawn together. That of a cut-off has the best cut-offs of the resamples.
- **own** is the cut-off of the recipe that decides by the measure; the first one, where several do.
- **lead**: how much higher the F1 of the best measure is, 95 % interval of paired resamples. Where
  it holds 0, these pairs do not tell which of the two is better.
- `weighted resemblance` discounts text that many documents of the collection share;
  `containment(5)` is the share of one text that lies in the other, by the same discount;
  `aligned` is the edit similarity by words, or by characters of scripts without spaces.
- The values are exact. A search by fingerprints or signatures may besides miss pairs:
  `neardup plan` says how many.

## Files

`errors.html` has the errors side by side; `evaluation.json` everything, for programs;
`measures.csv` all figures of the measures; `pairs.csv` all values and the evidence of each pair.
Figures are there as SVG and PNG.
"""


def terminal(result: PairsEvaluation) -> str:
    """Return the verdict, then settings and measures as plain tables, their columns explained."""
    settings = plain_table(_SETTINGS, setting_rows(result))
    measures = plain_table(_SHORT_HEADER, map(_short_row, result.measures))
    parts = ["\n".join(_verdict(result, plain=True)), f"{settings}\n{_CHOICE}"]
    return "\n\n".join([*parts, measures, _COLUMNS])


def markdown(result: PairsEvaluation) -> str:
    """Return the report as Markdown; figures are named by relative path."""
    pairs, true = len(result.truth.pairs), int(result.is_true.sum())
    best = result.best
    parts = [
        "# Which setting fits these labels",
        f"{pairs:,} labelled pairs, {true:,} of them duplicates, among {len(result.documents):,} "
        f"documents. neardup {neardup.__version__}.",
        "## Verdict",
        "\n".join(f"- {line}" for line in _verdict(result, plain=False)),
        markdown_table(_SETTINGS, setting_rows(result)),
        "## All measures",
        markdown_table(
            _HEADER, ((f"`{cells[0]}`", *cells[1:]) for cells in map(_row, result.measures))
        ),
        image("measures", "F1 of all measures"),
        image("precision_recall", "Precision and recall"),
        f"## Where to cut {best.name}",
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


_SETTINGS = ("setting", "F1", "95 %", "precision", "95 %", "recall", "95 %", "wrong", "missed")


def setting_rows(result: PairsEvaluation) -> Iterable[Sequence[str]]:
    """Yield a row for the default and the best setting: their scores with intervals."""
    choice = result.choice
    for name, one in (("default", choice.default), ("best, unseen choice", choice.best)):
        found = one.accuracy
        yield (
            name,
            f"{found.scores.f1:.3f}",
            _interval(found.f1),
            f"{found.scores.precision:.3f}",
            _interval(found.precision),
            f"{found.scores.recall:.3f}",
            _interval(found.recall),
            str(found.scores.fp),
            str(found.scores.fn),
        )


def cautions(result: PairsEvaluation) -> list[Message]:
    """Return why the figures may be worth little; empty if they are sound."""
    found = []
    true = int(result.is_true.sum())
    other = len(result.is_true) - true
    if min(true, other) < _FEW:
        found.append(Message("lab.few_labels", true=true, other=other))
    if result.choice.left_out == "pair":
        found.append(Message("lab.shared_documents"))
    usual = result.choice.default.accuracy.scores
    all_called = Scores(true, other, 0)
    if usual.f1 <= all_called.f1 and not result.choice.knows:
        found.append(Message("lab.hardly_agree"))
    if result.contradictions:
        found.append(Message("lab.contradictions", count=result.contradictions))
    return found


def _verdict(result: PairsEvaluation, *, plain: bool) -> list[str]:
    """What to use and why, a sentence or two a line."""
    lines = [*sentences(result.choice), *cautions(result)]
    if result.choice.is_promising:
        command = f"neardup dedup INPUT {result.choice.best.options}"
        said = Message("lab.to_try", command=command if plain else f"`{command}`")
        lines.insert(3, said)
    return [str(line) for line in lines]


_SHORT_HEADER = (
    "measure",
    "F1, unseen cut",
    "95 %",
    "best cut",
    "best F1",
    "own cut",
    "own F1",
    "recipes",
)


def _short_row(measure: MeasureResult) -> Sequence[str]:
    its, own = measure.sweep, measure.measured.own_cut_off
    return (
        measure.name,
        f"{its.left_out.f1:.3f}",
        _interval(its.left_out_interval),
        measure.measured.bound(its.cut_off),
        f"{its.best.f1:.3f}",
        measure.measured.bound(own),
        "" if measure.default is None else f"{measure.default.f1:.3f}",
        ", ".join(decider.name for decider in measure.measured.deciders),
    )


_HEADER = (
    "measure",
    "F1, unseen cut",
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
    levels = sorted({pair.confidence for pair in result.truth.pairs})
    if len(levels) > 1:
        yield "The best setting by confidence of the label, on pairs that did not choose it:"
        yield markdown_table(
            ("confidence", "pairs", "F1", "precision", "recall"),
            (_by_confidence(result, level) for level in levels),
        )


def _by_confidence(result: PairsEvaluation, level: str) -> Sequence[str]:
    mine = np.array([pair.confidence == level for pair in result.truth.pairs])
    scores = count_scores(result.choice.best.judged[mine], result.is_true[mine])
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
    mistakes = result.mistakes(found=found)
    yield f"## {'Wrongly called duplicates' if found else 'Missed'}: {len(mistakes)}"
    advised = result.choice.advised
    if not mistakes:
        yield f"None at {advised.measured.name} {advised.measured.bound(advised.cut_off)}."
        return
    what = "called duplicates, labelled otherwise" if found else "labelled as duplicates, not found"
    yield (
        f"Pairs {what}, at {advised.measured.name} {advised.measured.bound(advised.cut_off)}; the "
        f"worst first. [errors.html](errors.html) has them side by side."
    )
    yield markdown_table(
        ("first", "second", "label", advised.measured.name, "why"),
        (_mistake(result, at) for at in mistakes[:_MISTAKES]),
    )


def _mistake(result: PairsEvaluation, at: int) -> Sequence[str]:
    pair = result.truth.pairs[at]
    label = f"{pair.label}, {pair.confidence}" if pair.confidence else pair.label
    return (
        *(_text(cell) for cell in (pair.id_a, pair.id_b, label)),
        f"{result.choice.advised.measured.values[at]:.4g}",
        _text(" ".join(f"{reason}." for reason in result.evidence[at].reasons())),
    )


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3f}-{ends[1]:.3f}"


def _ends(ends: tuple[float, float]) -> str:
    return " to ".join(f"{end:.4g}" for end in sorted(ends))


def _text(text: str) -> str:
    """Text of the input, so that nothing in it is taken for Markdown."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
