"""The report of the comparison of methods: what is best, and what of the paper is reproduced."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from neardup.base import __version__
from neardup.lab.datasets.edit_model import RATES
from neardup.lab.experiments.zhang_he_2020.runs import PUBLISHED, PublishedResult, Run
from neardup.lab.figures import COLOURS, MARKERS, draw_svg
from neardup.lab.report import Part, Table, format_csv, format_markdown
from neardup.lab.scores import Scores

#: The drawings, in the order of the paper's.
_FIGURES = ("precision_by_topic.svg", "recall_by_topic.svg", "time_by_documents.svg")

#: Names of all files of the results.
FILES = ("report.md", "runs.csv", *_FIGURES)

#: A figure at most this far from the paper's, above or below, counts as reproduced.
_MARGIN = 0.05
#: With fewer copies than this, a difference of a few copies decides.
_FEW = 100

#: What the paper reports of its methods: it gives the figures of `improved` only.
_OF_PAPER = {"improved": "{:.3f} / {:.3f}".format(*PUBLISHED)} | dict.fromkeys(
    ("Shingle", "traditional"), "behind"
)

#: How copies are made.
_MODELS = {
    "reposts": "the same article with a line added at the head, the tail or both (agency, editor, "
    "source, time). A line adds {lengthened:.1%} to the text on average; {unchanged:.1%} of the "
    "copies are unchanged",
    "edits": "characters, words and sentences are inserted, deleted, replaced and reordered, and "
    "lines of source and editor change. What is inserted comes from the half that takes no part. "
    "Edited characters: {rate}",
}

#: MinHash and the paper's three methods: of two readings, the one that it describes best.
_SHOWN = ("MinHash", "Shingle, sample of 64", "traditional, stop words out", "improved")


def list_parts(result: PublishedResult) -> Iterator[Part]:
    """Yield the parts of the report."""
    yield list_verdict(result)
    yield Table(
        (
            *("method", "cut-off", "precision", "recall", "paper's", "with distractors"),
            *("of pairs", "F1", "strict", "seconds"),
        ),
        [_format_row(run) for run in result.complete],
    )
    yield list_findings(result.runs)
    yield Table(
        ("method, by topic", *result.topics),
        [
            [run.name, *(_format_both(t.scores) for t in run.by_document[:-1])]
            for run in result.complete
        ],
    )
    yield list(_list_explanations(result))


def _format_row(run: Run) -> list[str]:
    """Return the row of a method."""
    pairs = run.overall.scores
    seconds = map(_format_seconds, (run.seconds, min(run.times), max(run.times)))
    return [
        run.name,
        run.bound,
        f"{run.precision:.3f}",
        f"{run.recall:.3f}",
        _OF_PAPER.get(_get_method(run), "-"),
        _format_both(run.everywhere),
        _format_both(pairs),
        f"{pairs.f1:.3f}",
        f"{run.overall.strict_precision:.3f}",
        "{} ({}-{})".format(*seconds),
    ]


def _format_both(scores: Scores) -> str:
    return f"{scores.precision:.3f} / {scores.recall:.3f}"


def _list_explanations(result: PublishedResult) -> Iterator[str]:
    """Yield what the columns are, and how the texts were made."""
    yield (
        "precision, recall: of documents, the mean of the topics, as Zhang and He (Computer "
        "Science and Application 10(2), 2020, doi 10.12677/csa.2020.102038) count; with "
        "distractors: of all documents at once; of pairs, F1: of pairs of documents."
    )
    yield (
        f"strict: the precision of pairs if the {result.natural:,} pairs of untouched documents "
        "count as wrong that repeat each other by themselves, with a resemblance(5) of at least "
        ".5; elsewhere they are neither right nor wrong."
    )
    yield "seconds: median and range of five runs with texts in memory."
    model = _MODELS[result.copies].format(
        lengthened=result.lengthened, unchanged=result.unchanged, rate=_format_rate(result)
    )
    yield (
        "documents: one half of each topic's are originals; one copy of each takes the place of "
        f"the other half. A copy: {model}."
    )
    yield (
        "The paper's texts are not public, and it does not say how its similar documents were "
        "made. It names no distance; here it is 3 of 64 bits. Where it gives no sample size or "
        "stop words, two readings are shown."
    )


def _format_rate(result: PublishedResult) -> str:
    """Return the share of edited characters, for people."""
    if result.rate is not None:
        return f"{result.rate:.0%} of each text"
    low, high = RATES
    return f"{low:.0%} to {high:.0%} of each text, drawn for each copy"


def _format_seconds(seconds: float) -> str:
    """Three digits that count, or two decimals."""
    return f"{seconds:.{2 if seconds >= 1 else 3 if seconds >= 0.1 else 4}f}"


def make_contents(result: PublishedResult) -> dict[str, bytes]:
    """Return the contents of the files."""
    introduction = (
        f"{result.documents:,} documents, {len(result.topics)} topics, {result.true_pairs:,} true "
        f"pairs of an original and its copy. Seed {result.seed}, neardup {__version__}."
    )
    title = "Methods on near-duplicates of known origin"
    precision, recall, times = _FIGURES
    return {
        "report.md": format_markdown(title, introduction, list_parts(result), *_FIGURES),
        "runs.csv": format_csv(list(_make_run_rows(result))),
        precision: draw_svg(lambda empty: _draw_topics(empty, result, "precision")),
        recall: draw_svg(lambda empty: _draw_topics(empty, result, "recall")),
        times: draw_svg(lambda empty: _draw_times(empty, result)),
    }


def _make_run_rows(result: PublishedResult) -> Iterator[dict[str, object]]:
    """Yield the rows of runs.csv: documents, then pairs, by topic and for all."""
    for run in result.runs:
        for counted, tallies in (("documents", run.by_document), ("pairs", run.pairs)):
            for tally in tallies:
                yield {
                    "method": run.name,
                    "recipe_id": run.recipe.id,
                    "cut_off": float(run.cut_off),
                    "documents": run.documents,
                    "counted": counted,
                    "topic": tally.topic,
                    "tp": tally.scores.tp,
                    "fp": tally.scores.fp,
                    "fn": tally.scores.fn,
                    "precision": tally.scores.precision,
                    "recall": tally.scores.recall,
                    "f1": tally.scores.f1,
                    "aside": tally.aside,
                    "seconds": run.seconds,
                }


def _draw_topics(figure: Any, result: PublishedResult, measure: str) -> None:
    """A line for each method over the topics: its precision, or its recall, of documents."""
    axes = figure.add_subplot()
    lowest = 1.0
    for style, name in enumerate(_SHOWN):
        (run,) = (run for run in result.complete if run.name == name)
        values = [getattr(tally.scores, measure) for tally in run.by_document[:-1]]
        lowest = min(lowest, *values)
        axes.plot(
            result.topics,
            values,
            label=name,
            color=COLOURS[style],
            marker=MARKERS[style],
            markersize=5,
        )
    # The differences between good methods are small.
    axes.set(ylabel=f"{measure} of documents", ylim=(max(0, lowest - 0.05), 1.02))
    axes.set_title(f"{measure.capitalize()} by topic")
    figure.legend(loc="outside lower center", ncols=4)


def _draw_times(figure: Any, result: PublishedResult) -> None:
    """A line for each method over numbers of documents, with the range of its runs."""
    axes = figure.add_subplot()
    for style, name in enumerate(_SHOWN):
        runs = sorted(
            (run for run in result.runs if run.name == name), key=lambda run: run.documents
        )
        seconds = [run.seconds for run in runs]
        axes.errorbar(
            [run.documents for run in runs],
            seconds,
            yerr=[
                [median - min(run.times) for run, median in zip(runs, seconds, strict=True)],
                [max(run.times) - median for run, median in zip(runs, seconds, strict=True)],
            ],
            label=name,
            color=COLOURS[style],
            marker=MARKERS[style],
            markersize=5,
        )
    axes.set(xlabel="documents", ylabel="seconds, median and range of 5 runs")
    axes.set_ylim(bottom=0)
    axes.set_title("Time by number of documents")
    figure.legend(loc="outside lower center", ncols=4)


def list_verdict(result: PublishedResult) -> list[str]:
    """Return what the experiment says, one sentence or two each.

    The best of several equal methods is the last, which is the user's own; the others are named.
    """
    runs = result.complete
    f1 = max(run.overall.scores.f1 for run in runs)
    *tied, best = (run for run in runs if run.overall.scores.f1 == f1)
    lines = [f"Best on these copies: {best.name} {best.bound}, F1 {f1:.3f} of pairs."]
    if tied:
        lines.append(f"A tie: F1 is the same for {_join_names(run.name for run in tied)}.")
    lines.append(count_reproduced(result))
    if result.true_pairs < _FEW:
        lines.append(f"{result.true_pairs} copies are few: one more or less moves the figures.")
    return lines


def count_reproduced(result: PublishedResult) -> str:
    """Return how many results of the paper are reproduced."""
    results = list_findings(result.runs)
    count = sum(line.startswith("Reproduced") for line in results)
    return f"Reproduced on these texts: {count} of the paper's {len(results)} results."


def list_findings(runs: Sequence[Run]) -> list[str]:
    """Return which results of the paper are reproduced, one sentence each."""
    by_size = sorted((run for run in runs if run.name == "improved"), key=lambda run: run.documents)
    smallest, improved = by_size[0], by_size[-1]
    complete = [run for run in runs if run.documents == improved.documents]
    shingle = [run for run in complete if _get_method(run) == "Shingle"]
    traditional = [run for run in complete if _get_method(run) == "traditional"]
    methods = [run for run in complete if _get_method(run) in _OF_PAPER]
    claims = [
        _claim_figures(improved),
        _claim_lead(improved, traditional),
        _claim_last(shingle, [*traditional, improved]),
        _claim_fastest(improved, [run for run in methods if run is not improved]),
    ]
    if len(improved.by_document) > 2:  # At least two topics, and all documents.
        claims.append(_claim_stability(improved, traditional, shingle))
    if smallest.documents < improved.documents:
        claims.append(_claim_growth(smallest, improved))
    return [f"{'Reproduced' if holds else 'Not reproduced'}: {claim}." for holds, claim in claims]


def _claim_figures(improved: Run) -> tuple[bool, str]:
    """Return whether `improved` reaches the figures of the paper, and those that it has."""
    measured = improved.precision, improved.recall
    holds = all(abs(one - paper) <= _MARGIN for one, paper in zip(measured, PUBLISHED, strict=True))
    precision, recall = PUBLISHED
    return holds, (
        f"the precision of {precision:.3f} and the recall of {recall:.3f} of improved: "
        f"here {improved.precision:.3f} and {improved.recall:.3f} by topic, at most "
        f"{_MARGIN} from these in either direction is reproduced; "
        f"{improved.everywhere.precision:.3f} and {improved.everywhere.recall:.3f} "
        "distractors included"
    )


def _claim_lead(improved: Run, traditional: Sequence[Run]) -> tuple[bool, str]:
    """Return whether `improved` is better than each reading of traditional SimHash."""
    holds = all(improved.f1 > run.f1 for run in traditional)
    readings = _list_readings(traditional, "f1")
    tie = "" if holds else _format_tie(improved, traditional)
    return holds, (
        f"improved before traditional SimHash: F1 {improved.f1:.3f} against {readings}{tie}"
    )


def _claim_last(shingle: Sequence[Run], others: Sequence[Run]) -> tuple[bool, str]:
    """Return whether each reading of Shingle is worse than all other methods."""
    weakest = min(others, key=lambda run: run.f1)
    holds = max(run.f1 for run in shingle) < weakest.f1
    readings = _list_readings(shingle, "f1")
    tie = "" if holds else _format_tie(weakest, shingle)
    return holds, (
        f"Shingle last: F1 {readings} against {weakest.f1:.3f} of the weakest other method{tie}"
    )


def _claim_fastest(improved: Run, others: Sequence[Run]) -> tuple[bool, str]:
    """Return whether no other method takes less time; another reading of `improved` may."""
    times = _join_names(f"{run.seconds:.3g} s ({run.name})" for run in others)
    holds = all(
        run.seconds >= improved.seconds
        for run in others
        if _get_method(run) != _get_method(improved)
    )
    return holds, f"improved fastest: {improved.seconds:.3g} s against {times}"


def _claim_stability(
    improved: Run, traditional: Sequence[Run], shingle: Sequence[Run]
) -> tuple[bool, str]:
    """Return whether the recall of `improved` differs less between topics."""
    return all(improved.spread < run.spread for run in traditional), (
        "improved more stable over topics than traditional SimHash: the standard "
        f"deviation of its recall is {improved.spread:.3f}, against "
        f"{_list_readings(traditional, 'spread')}; Shingle has "
        f"{_list_readings(shingle, 'spread')}"
    )


def _claim_growth(small: Run, large: Run) -> tuple[bool, str]:
    """Return whether the time hardly grows with the number of documents, and how it grows."""
    growth = large.seconds / small.seconds
    more = large.documents / small.documents
    hardly = growth <= math.sqrt(more)
    why = "" if hardly else ", since each document is segmented and weighed"
    claim = (
        f"time that hardly grows: {small.seconds:.3g} s for {small.documents:,} documents and "
        f"{large.seconds:.3g} s for {large.documents:,}, {growth:.1f} times for {more:.1f} times "
        f"as many documents{why}; at most {math.sqrt(more):.1f} times, the square root, is "
        "reproduced"
    )
    return hardly, claim


def _format_tie(run: Run, others: Sequence[Run]) -> str:
    """Return that a run is as good as the best of others, if it is."""
    return ", a tie" if run.f1 == max(other.f1 for other in others) else ""


def _get_method(run: Run) -> str:
    """The method as the paper calls it; its reading follows after a comma."""
    return run.name.partition(", ")[0]


def _list_readings(runs: Iterable[Run], measure: str) -> str:
    """Return a measure of each run, with the reading of the paper that the run is."""
    readings = ((getattr(run, measure), run.name.partition(", ")[2]) for run in runs)
    return _join_names(f"{value:.3f} ({reading})" for value, reading in readings)


def _join_names(parts: Iterable[str]) -> str:
    *first, final = parts
    return f"{', '.join(first)} and {final}" if first else final
