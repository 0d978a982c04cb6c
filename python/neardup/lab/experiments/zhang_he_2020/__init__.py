"""The experiment of Zhang and He (2020): methods compared by topic and by size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from neardup.base.lazy import pa
from neardup.base.messages import N_, Message
from neardup.base.validation import bad, check_path, check_whole
from neardup.lab.datasets.collection import read_collection
from neardup.lab.datasets.edit_model import check_rate
from neardup.lab.experiments import check_recipes
from neardup.lab.experiments.zhang_he_2020.cases import REPOSTS, Cases, make_cases
from neardup.lab.experiments.zhang_he_2020.report import FILES, make_contents
from neardup.lab.experiments.zhang_he_2020.runs import (
    PublishedResult,
    Scorer,
    list_methods,
    time_run,
)
from neardup.lab.report import ReportFolder
from neardup.options.groups import PublishedParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.recipe import NAMES, Recipe, load_recipe

#: Numbers of documents for the times; all documents are added.
SIZES = (1_000, 2_500, 5_000)


@takes_options
def published(
    data: str | Path,
    output: str | Path | None = None,
    *,
    recipes: Sequence[str | Path | Recipe] | None = None,
    sizes: Iterable[int] | None = None,
    **options: Unpack[PublishedParameters],
) -> PublishedResult:
    """Run the published experiment [1]_ and write its report, figure and table.

    Parameters
    ----------
    data : str or Path
        Folder of topic files ``*.jsonl``, plain or compressed (.gz, .zst, .xz,
        .bz2), with the fields ``id``, ``title`` and ``text``. The documents of a file
        ``distractors`` belong to no topic.
    output : str or Path or None, default=None
        Folder for the results, created if it is missing. None writes nothing.
    recipes : sequence of str, Path or Recipe, default=None
        Those that are measured beside the paper's methods, each at its own cut-off.
        None means the default recipe.
    sizes : iterable of int, default=None
        Numbers of documents that are measured, each at least 1 and at most all.
        None means those of 1,000, 2,500 and 5,000 that are less than all. All
        documents are measured in any case.
    {options}

    Returns
    -------
    PublishedResult

    Raises
    ------
    ParameterError
        If a parameter is out of bounds, or `rate` is given for re-posts.
    InputError
        If the folder has no topics, or one has less than two documents.
    OutputError
        If results exist and `force` is false, or the folder cannot be written to.
        This is checked before the experiment begins; no file was changed.
    MissingDependencyError
        If results are to be written and matplotlib is not installed.

    Notes
    -----
    Deterministic except for the times. Each method runs five times: about five minutes
    for 12,500 documents on two cores.

    References
    ----------
    .. [1] Zhang, He. Computer Science and Application 10(2), 2020.
       doi:10.12677/csa.2020.102038

    Examples
    --------
    >>> from neardup.lab import published
    >>> result = published("topics/", "results/")  # doctest: +SKIP
    >>> *_, improved, general = result.complete  # doctest: +SKIP
    >>> improved.name, round(improved.precision, 3), round(improved.recall, 3)  # doctest: +SKIP
    ('improved', 0.998, 0.958)
    """
    values = complete_options(published, options)
    copies, rate, seed, workers = (values[name] for name in ("copies", "rate", "seed", "workers"))
    if rate is not None:
        if copies == REPOSTS:
            raise bad("rate", "left out unless {given[copies='edits']}", rate)
        rate = check_rate(rate)
    methods = {recipe.name: recipe for recipe in list_methods()}
    for recipe in map(load_recipe, check_recipes(recipes, NAMES[:1])):
        if recipe.decide.threshold is None and recipe.decide.max_distance is None:
            raise bad("recipes", "recipes that say what a duplicate is", recipe.name)
        methods.setdefault(recipe.name, recipe)
    listed = _check_sizes(sizes)
    callbacks = values["progress"]

    data = check_path(data, "data")
    read = [data, *(file for recipe in methods.values() for file in recipe.files)]
    with ReportFolder.open(output, FILES, inputs=read, force=values["force"]) as folder:
        collection = read_collection(data, callbacks)
        callbacks.stage("copies", None)
        cases = make_cases(collection, seed=seed)
        table = cases.make_table(copies, rate)
        scorer = Scorer(cases, table, workers=workers)
        runs = []
        for recipe in methods.values():
            for size in (*_choose_sizes(listed, len(table)), len(table)):
                stage = Message("{recipe}, {count:,} documents", recipe=recipe.name, count=size)
                callbacks.stage(stage, None)
                places = cases.take_first(size)
                runs.append(time_run(recipe, table, scorer, places, workers=workers))
        lengthened, unchanged = _measure_additions(cases, table)
        result = PublishedResult(
            topics=cases.topics,
            documents=len(table),
            true_pairs=cases.true_pairs,
            natural=len(scorer.natural),
            seed=seed,
            copies=copies,
            rate=rate,
            lengthened=lengthened,
            unchanged=unchanged,
            runs=tuple(runs),
            folder=folder.path,
        )
        if folder.path is not None:
            folder.write(make_contents(result))
    return result


def _measure_additions(cases: Cases, table: pa.Table) -> tuple[float, float]:
    """Return the mean share by which copies are longer, and the share of unchanged copies."""
    originals, texts = cases.documents.texts, table["text"].to_pylist()
    copies = np.flatnonzero(~cases.untouched)
    pairs = [(originals[place], str(texts[place])) for place in copies]
    longer = np.mean([len(copy) / max(1, len(text)) - 1 for text, copy in pairs])
    return float(longer), float(np.mean([text == copy for text, copy in pairs]))


def _check_sizes(sizes: Any) -> list[int] | None:
    if sizes is None:
        return None
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise bad("sizes", "a list of numbers of documents", sizes)
    return [check_whole(size, "sizes", 1) for size in sizes]


def _choose_sizes(sizes: list[int] | None, documents: int) -> list[int]:
    """Numbers of documents to time, in order, without the number of all of them."""
    if sizes is None:
        return [size for size in SIZES if size < documents]
    expected = N_("a whole number from {least} to {most}, the number of documents")
    wanted = {check_whole(size, "sizes", 1, documents, expected) for size in sizes}
    return sorted(wanted - {documents})
