"""Evaluation of your own labelled pairs: the default, the best setting, and their mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.base.validation import bad, check_path
from neardup.exceptions import InputError
from neardup.lab.datasets.collection import read_documents
from neardup.lab.datasets.labels import read_truth
from neardup.lab.experiments import check_recipes
from neardup.lab.experiments.labelled_pairs.cases import choose_folds, locate_pairs, number_units
from neardup.lab.experiments.labelled_pairs.measures import (
    Decider,
    MeasureResult,
    MeasureScores,
    PairJudge,
    find_cut_off,
    measure_all,
    rank_measures,
)
from neardup.lab.experiments.labelled_pairs.report import FILES, make_contents
from neardup.lab.experiments.labelled_pairs.settings import PairsEvaluation, choose
from neardup.lab.report import ReportFolder
from neardup.options.groups import EvaluatePairsParameters
from neardup.options.reader_parameters import reader_parameters
from neardup.options.signatures import complete_options, takes_options
from neardup.recipe import NAMES, Recipe, load_recipe

#: The recipe for text that is already segmented.
_SEGMENTED = "bkdr"


@takes_options
def evaluate_pairs(
    inputs: str | Path | Sequence[str | Path],
    truth: str | Path,
    output: str | Path | None = None,
    *,
    recipes: Sequence[str | Path | Recipe] | None = None,
    **options: Unpack[EvaluatePairsParameters],
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
    recipes : sequence of str, Path or Recipe, default=None
        Those that are compared. None are all built-in ones but ``bkdr``, which
        is for text that is segmented already.
    {options}

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
    values = complete_options(evaluate_pairs, options)
    seed, workers, callbacks = values["seed"], values["workers"], values["progress"]
    chosen = check_recipes(recipes, [name for name in NAMES if name != _SEGMENTED])
    paths = [inputs] if isinstance(inputs, (str, Path)) else inputs
    if not isinstance(paths, Sequence):
        raise bad("inputs", "a path or a list of paths", inputs)
    paths = [check_path(path, "inputs") for path in paths]
    require(N_("A metric"), "lab", "sklearn")

    truth = check_path(truth, "truth")
    read = [*paths, truth, *(file for recipe in chosen for file in load_recipe(recipe).files)]
    with ReportFolder.open(output, FILES, inputs=read, force=values["force"]) as folder:
        labelled = read_truth(truth)
        callbacks.stage("documents", None)
        documents, problems = read_documents(paths, callbacks, **reader_parameters(values))
        cases = locate_pairs(labelled, documents)
        usual = load_recipe()
        judge = PairJudge(cases, usual, workers=workers)
        measured = measure_all(cases, chosen, judge, workers=workers, progress=callbacks)
        callbacks.stage("cut-offs", None)
        units = number_units(cases)
        folds, left_out = choose_folds(labelled, units)
        measures = rank_measures(measured, cases.is_true, folds, seed=seed)
        choice = choose(
            _select_deciding(measures, recipes, labelled.source),
            _find_default(usual, measured),
            cases.is_true,
            folds=folds,
            units=units,
            left_out=left_out,
            seed=seed,
        )
        callbacks.stage("evidence", None)
        advised = choice.advised.make_recipe()
        if choice.advised.decider.recipe != NAMES[0]:
            judge = PairJudge(cases, advised, workers=workers)
        result = PairsEvaluation(
            cases=cases,
            measures=measures,
            choice=choice,
            evidence=judge.collect_evidence(advised),
            problems=problems,
            folder=folder.path,
        )
        if folder.path is not None:
            callbacks.stage("figures and report", None)
            folder.write(make_contents(result))
    return result


def _select_deciding(
    measures: Sequence[MeasureResult],
    recipes: Sequence[str | Path | Recipe] | None,
    source: str,
) -> list[MeasureScores]:
    """Return the measures that `neardup.dedup` can decide by, at their best cut-offs."""
    if not any(measure.can_decide for measure in measures):
        raise bad("recipes", "at least one recipe that says what a duplicate is", recipes)
    deciding = [measure.measured for measure in measures if measure.is_usable]
    if not deciding:
        raise InputError(
            Message(
                "{file}: on these labels, no cut-off is better than one answer for all pairs. "
                "Check whether labels or ids are swapped, or try other recipes.",
                file=source,
            )
        )
    return deciding


def _find_default(recipe: Recipe, measured: list[MeasureScores]) -> tuple[Decider, MeasureScores]:
    """Return the default recipe with its own bound, and the measure that it decides by."""
    decision = find_cut_off(recipe)
    assert decision is not None
    name, cut_off = decision
    return Decider(NAMES[0], recipe.name, cut_off), next(m for m in measured if m.name == name)
