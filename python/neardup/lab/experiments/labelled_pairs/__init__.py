"""Evaluation of your own labelled pairs: the best measure and its cut-off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from neardup._engine.extras import require
from neardup._engine.messages import Message
from neardup._engine.validation import (
    bad,
    check_field,
    check_flag,
    check_path,
    check_whole,
    check_workers,
)
from neardup.exceptions import InputError
from neardup.lab.datasets.collection import Documents, read_documents
from neardup.lab.datasets.labels import Truth, read_truth
from neardup.lab.experiments.labelled_pairs.consequences import (
    Consequence,
    consequence,
    implied_clusters,
)
from neardup.lab.experiments.labelled_pairs.measures import (
    Decider,
    Measured,
    Pairs,
    measure_all,
)
from neardup.lab.metrics import Scores, bootstrap_interval, count_scores, f1_of_sums
from neardup.lab.report import open_folder
from neardup.lab.thresholds import Sweep, sweep
from neardup.recipe import NAMES, Recipe, load_recipe

if TYPE_CHECKING:
    from neardup._engine.summary import Progress

__all__ = ["MeasureResult", "PairsEvaluation", "evaluate_pairs"]

#: The recipe for text that is already segmented.
_SEGMENTED = "bkdr"


@dataclass(frozen=True)
class MeasureResult:
    """How well one measure separates duplicates from other pairs.

    Parameters
    ----------
    measured : Measured
        Name, values, and the recipes that decide by it.
    sweep : Sweep
        At all cut-offs.
    default : Scores or None
        At the own cut-off of the first recipe that decides by it; None without.
    lead : (float, float)
        95 % interval of the F1 of the recommended measure minus that of this
        one, each pair left out in turn; from paired resamples.
    """

    measured: Measured
    sweep: Sweep
    default: Scores | None
    lead: tuple[float, float]

    @property
    def name(self) -> str:
        """Name of the measure."""
        return self.measured.name

    @property
    def can_decide(self) -> bool:
        """Whether a recipe decides by it, so that `neardup.dedup` can."""
        return bool(self.measured.deciders)


@dataclass(frozen=True)
class PairsEvaluation:
    """Evaluation of measures, recipes and thresholds on labelled pairs.

    Parameters
    ----------
    documents : Documents
        Those of the input that have a text.
    truth : Truth
    pairs : Pairs
        The labelled pairs, by place in `documents`.
    measures : tuple of MeasureResult
        The best first: by F1 with each pair left out, then fewer false
        positives, then simpler.
    recommended : MeasureResult
        The first of `measures` that `neardup.dedup` can decide by.
    consequences : tuple of Consequence
        What `neardup.dedup` does by default, and as recommended.
    contradictions : int
        Pairs labelled as no duplicates that other labels join.
    problems : int
        Records of the input without a usable text; they were left out.
    folder : Path or None
        Where tables, figures and the report are.
    """

    documents: Documents
    truth: Truth
    pairs: Pairs
    measures: tuple[MeasureResult, ...]
    recommended: MeasureResult
    consequences: tuple[Consequence, ...]
    contradictions: int
    problems: int
    folder: Path | None

    @property
    def is_true(self) -> npt.NDArray[np.bool_]:
        """Whether each pair is labelled as duplicate."""
        return np.array([pair.duplicate for pair in self.truth.pairs], np.bool_)

    @property
    def decider(self) -> Decider:
        """The recipe to use."""
        return self.recommended.measured.deciders[0]

    def mistakes(self, *, found: bool) -> list[int]:
        """Return the pairs that the recommended cut-off is wrong about, the worst first.

        Parameters
        ----------
        found : bool
            True for pairs that it wrongly calls duplicates, False for those
            that it misses.

        Returns
        -------
        list of int
            Places in `truth.pairs`.
        """
        best = self.recommended
        wrong = best.measured.passes(best.sweep.cut_off) != self.is_true
        wrong &= self.is_true != found
        likeness = -best.measured.values if best.measured.by_distance else best.measured.values
        likeness = np.nan_to_num(likeness, nan=-np.inf)
        order = np.argsort(-likeness if found else likeness, kind="stable")
        return [at for at in order.tolist() if wrong[at]]


def evaluate_pairs(
    docs: str | Path | Sequence[str | Path],
    truth: str | Path,
    output: str | Path | None = None,
    *,
    format: str | None = None,
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    recipes: Sequence[str | Path | Recipe] | None = None,
    seed: int = 0,
    workers: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> PairsEvaluation:
    """Find the measure and threshold that fit labelled pairs best.

    Parameters
    ----------
    docs : str, Path or sequence of these
        Files or folders with the documents, as :func:`neardup.dedup_files`
        reads them: the whole collection, since what is rare in it matters.
    truth : str or Path
        The labelled pairs, a table separated by tabs or commas with the columns
        ``id_a``, ``id_b``, ``label`` and perhaps ``confidence``. The labels
        near-duplicate, duplicate, 1, true and yes mean duplicate, all others
        that it is none.
    output : str or Path or None, default=None
        Folder for the results, created if it is missing. None writes nothing.
    format, text, id, title
        As in :func:`neardup.dedup_files`.
    recipes : sequence of str, Path or Recipe, default=None
        Those that are compared. None are all built-in ones but ``bkdr``, which
        is for text that is segmented already.
    seed : int, default=0
        Of the resamples; at least 0.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes no result.
    force : bool, default=False
        Replace results in the folder.
    progress : neardup._engine.ingest.Progress or None, default=None
        Progress callbacks; None ignores them.

    Returns
    -------
    PairsEvaluation

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.
    InputError
        If documents or pairs cannot be read, a pair names an unknown id or one
        that several documents have, or there are not both duplicates and other
        pairs.
    OutputError
        If results exist and `force` is false, or the folder cannot be written to.
        This is checked before the measurements begin; no file was changed.
    MissingDependencyError
        If scikit-learn is not installed, or matplotlib is not and results
        are to be written.

    See Also
    --------
    published : methods compared on near-duplicates of known origin.

    Notes
    -----
    The documents are held in memory. Deterministic. Values of a pair are exact;
    those by which a recipe decides are what `neardup.dedup` would verify,
    whether or not its search finds the pair.

    Examples
    --------
    >>> from neardup.lab import evaluate_pairs
    >>> result = evaluate_pairs("news.jsonl", "pairs.tsv", "results/")  # doctest: +SKIP
    >>> result.recommended.name, result.recommended.sweep.cut_off  # doctest: +SKIP
    ('resemblance(5)', 0.44)
    """
    from neardup._engine.summary import Progress
    from neardup.lab.experiments.labelled_pairs.report import FILES, files_of

    check_whole(seed, "seed", 0)
    check_workers(workers)
    check_flag(force, "force")
    chosen = _check_recipes(recipes)
    inputs = [docs] if isinstance(docs, (str, Path)) else docs
    if not isinstance(inputs, Sequence):
        raise bad("docs", "expected.paths", docs)
    inputs = [check_path(path, "docs") for path in inputs]
    folder = None if output is None else check_path(output, "output")
    if folder is not None:
        require("lab.figures", "lab", "matplotlib")
    require("lab.metrics", "lab", "sklearn")
    with open_folder(folder, FILES, force=force) as write:
        labelled = read_truth(check_path(truth, "truth"))
        progress = progress or Progress()
        progress.stage("documents", None)
        documents, problems = read_documents(
            inputs,
            format=format,
            text=check_field(text, "text"),
            id=check_field(id, "id"),
            title=check_field(title, "title"),
            progress=progress,
        )
        pairs = _located(labelled, documents)
        is_true = np.array([pair.duplicate for pair in labelled.pairs], np.bool_)
        measured = measure_all(pairs, chosen, workers=workers, progress=progress)
        progress.stage("cut-offs", None)
        measures = _ranked(measured, is_true, seed)
        deciding = [m for m in measures if m.can_decide]
        if not deciding:
            raise bad("recipes", "lab.deciding_recipe", recipes)
        recommended = next((m for m in deciding if _is_usable(m)), None)
        if recommended is None:
            raise InputError(Message("lab.no_useful_cut_off", file=str(truth)))
        progress.stage("consequences", None)
        places, clusters, contradictions = implied_clusters(pairs, is_true)
        consequences = [consequence("default", pairs, places, clusters, workers=workers)]
        consequences.append(
            consequence(
                "recommended",
                pairs,
                places,
                clusters,
                decider=recommended.measured.deciders[0],
                cut_off=recommended.sweep.cut_off,
                by_distance=recommended.measured.by_distance,
                workers=workers,
            )
        )
        result = PairsEvaluation(
            documents=documents,
            truth=labelled,
            pairs=pairs,
            measures=measures,
            recommended=recommended,
            consequences=tuple(consequences),
            contradictions=contradictions,
            problems=problems,
            folder=folder,
        )
        if folder is not None:
            progress.stage("figures and report", None)
            write(files_of(result))
    return result


def _check_recipes(recipes: Sequence[str | Path | Recipe] | None) -> list[str | Recipe]:
    if recipes is None:
        return [name for name in NAMES if name != _SEGMENTED]
    if isinstance(recipes, (str, Path, Recipe)) or not recipes:
        raise bad("recipes", "lab.list_of_recipes", recipes)
    loaded = [load_recipe(recipe) for recipe in recipes]
    names = [recipe.name for recipe in loaded]
    if len(set(names)) < len(names):
        raise bad("recipes", "lab.different_recipes", names)
    return list(loaded)


def _located(truth: Truth, documents: Documents) -> Pairs:
    """Return the positions of the labelled documents."""
    from neardup.readers.batch import show

    wanted = {id for pair in truth.pairs for id in (pair.id_a, pair.id_b)}
    place_of: dict[str, int] = {}
    several = set()
    for place, id in enumerate(documents.ids):
        if id in wanted and place_of.setdefault(id, place) != place:
            several.add(id)
    for pair in truth.pairs:
        for id in (pair.id_a, pair.id_b):
            where = {"file": truth.source, "line": pair.line}
            if id not in place_of:
                raise InputError(Message("lab.unknown_id", **where, id=show(id)))
            if id in several:
                raise InputError(Message("lab.ambiguous_id", **where, id=show(id)))
    a, b = ([place_of[getattr(p, name)] for p in truth.pairs] for name in ("id_a", "id_b"))
    return Pairs(documents, np.array(a, np.int64), np.array(b, np.int64))


def _ranked(
    measured: list[Measured], is_true: npt.NDArray[np.bool_], seed: int
) -> tuple[MeasureResult, ...]:
    """All measures, the best first; of equals the first one is simpler."""
    swept: list[tuple[Measured, Sweep]] = [
        (m, sweep(m.values, is_true, by_distance=m.by_distance, seed=seed)) for m in measured
    ]
    swept.sort(key=lambda entry: (-entry[1].left_out.f1, entry[1].left_out.fp))
    top = next((s for m, s in swept if m.deciders), swept[0][1])
    results = []
    for one, its in swept:
        own = one.own_cut_off
        default = None if own is None else count_scores(one.passes(own), is_true)
        results.append(MeasureResult(one, its, default, _lead(top, its, is_true, seed)))
    return tuple(results)


def _lead(
    top: Sweep, other: Sweep, is_true: npt.NDArray[np.bool_], seed: int
) -> tuple[float, float]:
    """Return the lead of one measure over another, on the same resamples of pairs."""
    rows = np.column_stack(
        [
            column
            for judged in (top.judged, other.judged)
            for column in (judged & is_true, judged & ~is_true, ~judged & is_true)
        ]
    )
    return bootstrap_interval(rows, lambda s: f1_of_sums(s[:3]) - f1_of_sums(s[3:]), seed=seed)


def _is_usable(measure: MeasureResult) -> bool:
    """Return whether dedup accepts the best cut-off: a distance, or a threshold in (0, 1]."""
    cut_off = measure.sweep.cut_off
    return math.isfinite(cut_off) if measure.measured.by_distance else 0 < cut_off <= 1
