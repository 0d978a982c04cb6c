"""Evaluation of your own labelled pairs: the default, the best setting, and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from neardup.base.extras import require
from neardup.base.messages import LANGUAGES, Message
from neardup.base.reprs import ReprMixin
from neardup.base.validation import (
    bad,
    check_choice,
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
from neardup.lab.experiments.labelled_pairs.evidence import Evidence, PairJudge
from neardup.lab.experiments.labelled_pairs.measures import (
    Decider,
    Measured,
    measure_all,
    own_cut_off,
)
from neardup.lab.experiments.labelled_pairs.pairs import Pairs, sharing_documents
from neardup.lab.experiments.labelled_pairs.ranking import MeasureResult, ranked
from neardup.lab.experiments.labelled_pairs.settings import Choice, choose, sentences
from neardup.lab.report import open_folder
from neardup.recipe import NAMES, Recipe, load_recipe

if TYPE_CHECKING:
    from neardup.base.progress import Progress

__all__ = ["MeasureResult", "PairsEvaluation", "evaluate_pairs"]

#: The recipe for text that is already segmented.
_SEGMENTED = "bkdr"


@dataclass(frozen=True, repr=False)
class PairsEvaluation(ReprMixin):
    """Evaluation of measures, recipes and thresholds on labelled pairs.

    Parameters
    ----------
    documents : Documents
        Those of the input that have a text.
    truth : Truth
    pairs : Pairs
        The labelled pairs, by place in `documents`.
    measures : tuple of MeasureResult
        The best first: by F1 on unseen pairs, then fewer false positives, then
        simpler.
    best : MeasureResult
        That of the best setting.
    choice : Choice
        The default and the best setting, compared.
    evidence : tuple of Evidence
        What the advised setting finds in each pair, and why it decides as it does.
    consequences : tuple of Consequence
        What `neardup.dedup` does by default, and with the best setting.
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
    best: MeasureResult
    choice: Choice
    evidence: tuple[Evidence, ...]
    consequences: tuple[Consequence, ...]
    contradictions: int
    problems: int
    folder: Path | None

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        duplicates = int(self.is_true.sum())
        yield "documents", len(self.documents)
        yield "labels", f"{duplicates:,} duplicates, {len(self.is_true) - duplicates:,} others"
        yield "verdict", sentences(self.choice)[0]
        for name, setting in (("default", self.choice.default), ("best", self.choice.best)):
            low, high = setting.accuracy.f1
            rule = f"{setting.measured.name} {setting.measured.bound(setting.cut_off)}"
            yield name, f"F1 {setting.accuracy.scores.f1:.3f} ({low:.3f} to {high:.3f}), {rule}"
        yield "errors", sum(len(self.mistakes(found=found)) for found in (True, False))
        yield "folder", self.folder or "-"

    @property
    def is_true(self) -> npt.NDArray[np.bool_]:
        """Whether each pair is labelled as duplicate."""
        return np.array([pair.duplicate for pair in self.truth.pairs], np.bool_)

    def mistakes(self, *, found: bool) -> list[int]:
        """Return the pairs that the advised setting is wrong about, the worst first.

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
        advised = self.choice.advised
        wrong = advised.called != self.is_true
        wrong &= self.is_true != found
        values = advised.measured.values
        likeness = np.nan_to_num(-values if advised.measured.by_distance else values, nan=-np.inf)
        order = np.argsort(-likeness if found else likeness, kind="stable")
        return [at for at in order.tolist() if wrong[at]]


def evaluate_pairs(
    inputs: str | Path | Sequence[str | Path],
    truth: str | Path,
    output: str | Path | None = None,
    *,
    format: str | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    title_field: str | None = None,
    recipes: Sequence[str | Path | Recipe] | None = None,
    seed: int = 0,
    language: str = "zh",
    workers: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> PairsEvaluation:
    """Find the setting that fits labelled pairs best, and compare it with the default.

    Parameters
    ----------
    inputs : str, Path or sequence of these
        Files or folders with the documents, as :func:`neardup.dedup_files`
        reads them: the whole collection, since what is rare in it matters.
    truth : str or Path
        The labelled pairs, a table separated by tabs or commas with the columns
        ``id_a``, ``id_b``, ``label`` and perhaps ``confidence`` and ``group``. The
        labels near-duplicate, duplicate, 1, true and yes mean duplicate, all others
        that it is none. If there are several groups, such as one for each source,
        they are left out one by one; else pairs that share documents.
    output : str or Path or None, default=None
        Folder for the results, created if it is missing. None writes nothing.
    format, text_field, id_field, title_field
        As in :func:`neardup.dedup_files`.
    recipes : sequence of str, Path or Recipe, default=None
        Those that are compared. None are all built-in ones but ``bkdr``, which
        is for text that is segmented already.
    seed : int, default=0
        Of the resamples; at least 0.
    language : {'zh', 'en'}, default='zh'
        Of the page with the errors.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes no result.
    force : bool, default=False
        Replace results in the folder.
    progress : neardup.run.ingest.Progress or None, default=None
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
        If scikit-learn is not installed, or matplotlib is not and results are to be
        written.

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
    >>> result.choice.advised.options, result.choice.best.options  # doctest: +SKIP
    ('', '--threshold 0.41')
    """
    from neardup.base.progress import Progress
    from neardup.lab.experiments.labelled_pairs.files import FILES, files_of

    check_whole(seed, "seed", 0)
    check_workers(workers)
    check_flag(force, "force")
    check_choice(language, "language", LANGUAGES)
    chosen = _check_recipes(recipes)
    paths = [inputs] if isinstance(inputs, (str, Path)) else inputs
    if not isinstance(paths, Sequence):
        raise bad("inputs", "expected.paths", inputs)
    paths = [check_path(path, "inputs") for path in paths]
    folder = None if output is None else Path(check_path(output, "output"))
    if folder is not None:
        require("lab.figures", "lab", "matplotlib")
    require("lab.metrics", "lab", "sklearn")
    with open_folder(folder, FILES, force=force) as write:
        labelled = read_truth(check_path(truth, "truth"))
        progress = progress or Progress()
        progress.stage("documents", None)
        documents, problems = read_documents(
            paths,
            format=format,
            text_field=check_field(text_field, "text_field"),
            id_field=check_field(id_field, "id_field"),
            title_field=check_field(title_field, "title_field"),
            progress=progress,
        )
        pairs = _located(labelled, documents)
        is_true = np.array([pair.duplicate for pair in labelled.pairs], np.bool_)
        progress.stage("evidence", None)
        usual = load_recipe()
        judge = PairJudge(documents, usual, workers=workers)
        evidence = judge.evidence(pairs, usual)
        measured = measure_all(pairs, chosen, judge, evidence, workers=workers, progress=progress)
        progress.stage("cut-offs", None)
        units = sharing_documents(pairs)
        folds, left_out = _folds(labelled, units)
        measures = ranked(measured, is_true, folds, units, seed)
        if not any(measure.can_decide for measure in measures):
            raise bad("recipes", "lab.deciding_recipe", recipes)
        deciding = [measure.measured for measure in measures if measure.is_usable]
        if not deciding:
            raise InputError(Message("lab.no_useful_cut_off", file=str(truth)))
        choice = choose(
            deciding,
            _default(usual, measured),
            is_true,
            folds=folds,
            units=units,
            left_out=left_out,
            seed=seed,
        )
        if choice.is_better:
            recipe = choice.best.recipe()
            if choice.best.decider.recipe != NAMES[0]:
                judge = PairJudge(documents, recipe, workers=workers)
            evidence = judge.evidence(pairs, recipe)
        progress.stage("consequences", None)
        places, clusters, contradictions = implied_clusters(pairs, is_true)
        consequences = [consequence("default", pairs, places, clusters, workers=workers)]
        consequences.append(
            consequence(
                "best",
                pairs,
                places,
                clusters,
                decider=choice.best.decider,
                cut_off=choice.best.cut_off,
                by_distance=choice.best.measured.by_distance,
                workers=workers,
            )
        )
        result = PairsEvaluation(
            documents=documents,
            truth=labelled,
            pairs=pairs,
            measures=measures,
            best=next(one for one in measures if one.measured is choice.best.measured),
            choice=choice,
            evidence=evidence,
            consequences=tuple(consequences),
            contradictions=contradictions,
            problems=problems,
            folder=folder,
        )
        if folder is not None:
            progress.stage("figures and report", None)
            write(files_of(result, language))
    return result


def _check_recipes(
    recipes: Sequence[str | Path | Recipe] | None,
) -> list[str | Path | Recipe]:
    if recipes is None:
        return [name for name in NAMES if name != _SEGMENTED]
    if isinstance(recipes, (str, Path, Recipe)) or not recipes:
        raise bad("recipes", "lab.list_of_recipes", recipes)
    loaded = [load_recipe(recipe) for recipe in recipes]
    names = [recipe.name for recipe in loaded]
    if len(set(names)) < len(names):
        raise bad("recipes", "lab.different_recipes", names)
    return list(recipes)


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


def _folds(truth: Truth, units: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], str]:
    """Return which pairs are left out together, and what that is."""
    names, numbers = np.unique([pair.group for pair in truth.pairs], return_inverse=True)
    if len(names) > 1:
        return numbers.astype(np.int64), "group"
    documents = {id for pair in truth.pairs for id in (pair.id_a, pair.id_b)}
    is_alone = len(np.unique(units)) == len(units) and len(documents) < 2 * len(units)
    return units, "pair" if is_alone else "shared"


def _default(recipe: Recipe, measured: list[Measured]) -> tuple[Decider, Measured]:
    """Return the default recipe with its own bound, and the measure that it decides by."""
    own = own_cut_off(recipe)
    assert own is not None
    name, cut_off = own
    return Decider(NAMES[0], recipe.name, cut_off), next(m for m in measured if m.name == name)
