"""The experiment of Zhang and He (2020): methods compared by topic and by size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.base.messages import N_
from neardup.base.progress import Progress
from neardup.base.validation import (
    bad,
    check_choice,
    check_flag,
    check_path,
    check_whole,
    check_workers,
)
from neardup.lab.datasets.collection import Collection, read_collection
from neardup.lab.datasets.edit_model import check_rate
from neardup.lab.datasets.split import COPIES, REPOSTS, Split, make_split
from neardup.lab.experiments import check_recipes
from neardup.lab.experiments.zhang_he_2020.figures import FIGURES, figures
from neardup.lab.experiments.zhang_he_2020.methods import (
    RECIPES,
    Matches,
    Method,
    find,
    find_timed,
    paper_methods,
)
from neardup.lab.experiments.zhang_he_2020.report import markdown, tables
from neardup.lab.experiments.zhang_he_2020.results import (
    BEST,
    DEFAULT,
    PAPER,
    Point,
    PublishedResult,
    Run,
    Scorer,
    score_run,
)
from neardup.lab.report import Report, file_names, run_experiment
from neardup.recipe import Recipe

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FILES", "published"]

#: Names of all files of the results.
FILES = file_names(("runs", "cut_offs", "rates"), FIGURES)
#: Numbers of documents for the times; all documents are added.
SIZES = (1_000, 2_500, 5_000)
#: Shares of edited characters of the rate sweep.
SWEPT_RATES = (0.02, 0.05, 0.10, 0.15, 0.20, 0.25, 0.30)


def published(
    data: str | Path,
    output: str | Path | None = None,
    *,
    copies: str = REPOSTS,
    seed: int = 0,
    rate: float | None = None,
    recipes: Sequence[str | Path | Recipe] | None = None,
    sizes: Iterable[int] | None = None,
    workers: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> PublishedResult:
    """Run the published experiment [1]_ and write its tables, figures and report.

    Parameters
    ----------
    data : str or Path
        Folder of topic files ``*.jsonl``, plain or compressed (.gz, .zst), with
        the fields ``id``, ``title`` and ``text``. The documents of a file
        ``distractors`` belong to no topic.
    output : str or Path or None, default=None
        Folder for the results, created if it is missing. None writes nothing.
    copies : {"reposts", "edits"}, default="reposts"
        How copies are made: by :class:`RepostModel`, which adds a line at the
        head or the tail, or by :class:`EditModel`.
    seed : int, default=0
        Seed of halves, order and copies; at least 0.
    rate : float or None, default=None
        Share of each copy's characters that edits touch, in [0, 0.5]; only with
        ``copies="edits"``. None draws it for each copy, uniformly from 0.02 to
        0.10.
    recipes : sequence of str, Path or Recipe, default=None
        Those that are compared at their best cut-offs. None means eight built-in
        ones. The paper's own methods and
        MinHash are measured in any case, at the distance 3 or the resemblance .5.
    sizes : iterable of int, default=None
        Numbers of documents for which these are timed, each at least 1 and at most
        all. None means those of 1,000, 2,500 and 5,000 that are less than all.
        All documents are timed in any case.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes times only.
    force : bool, default=False
        Replace results in the folder.
    progress : neardup.base.progress.Progress or None, default=None
        Progress callbacks; None ignores them.

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
    Deterministic except for the times. Each method runs about twenty times over all
    documents: about seven minutes for all methods and 12,500 documents on two cores.

    References
    ----------
    .. [1] Zhang, He. Computer Science and Application 10(2), 2020.
       doi:10.12677/csa.2020.102038

    Examples
    --------
    >>> from neardup.lab import published
    >>> result = published("topics/", "results/", recipes=["general"])  # doctest: +SKIP
    >>> improved = result.paper_methods[-1]  # doctest: +SKIP
    >>> improved.name, round(improved.precision, 3), round(improved.recall, 3)  # doctest: +SKIP
    ('improved', 0.998, 0.95)
    """
    check_choice(copies, "copies", COPIES)
    check_whole(seed, "seed", 0)
    if rate is not None:
        if copies == REPOSTS:
            raise bad("rate", "left out unless {given[copies='edits']}", rate)
        rate = check_rate(rate)
    check_workers(workers)
    check_flag(force, "force")
    chosen = [Method.of(recipe) for recipe in check_recipes(recipes, RECIPES)]
    listed = _check_list(sizes)

    def measure(folder: Path | None) -> PublishedResult:
        collection = read_collection(check_path(data, "data"), progress=progress)
        experiment = _Experiment(collection, seed, copies, rate, workers, progress)
        wanted = _sizes_below(listed, len(experiment.table))
        return _measure(experiment, chosen, wanted, folder)

    def report(result: PublishedResult) -> Report:
        return Report(markdown(result), tables(result), figures(result))

    read = [check_path(data, "data")]
    read += [file for method in chosen for file in method.recipe.files]
    return run_experiment(output, FILES, measure, report, inputs=read, force=force)


def _measure(
    experiment: _Experiment,
    methods: Sequence[Method],
    sizes: Sequence[int],
    folder: Path | None,
) -> PublishedResult:
    documents = len(experiment.table)
    paper = [
        experiment.run(method, PAPER, method.cut_offs[0], size)
        for method in paper_methods()
        for size in (*sizes, documents)
    ]
    runs: list[Run] = []
    sweep: list[Point] = []
    for method in methods:
        swept = experiment.sweep(method)
        sweep += swept
        # Of equal cut-offs, the first is the strictest.
        best = max(swept, key=lambda point: point.scores.f1).cut_off
        runs += [
            experiment.run(method, choice, cut_off, documents)
            for choice, cut_off in ((DEFAULT, method.default), (BEST, best))
        ]
    lengthened, unchanged = experiment.added()
    return PublishedResult(
        topics=experiment.split.topics,
        documents=documents,
        true_pairs=experiment.scorer.true_pairs,
        natural=len(experiment.scorer.natural),
        seed=experiment.seed,
        copies=experiment.copies,
        rate=experiment.rate,
        lengthened=lengthened,
        unchanged=unchanged,
        as_published=tuple(paper),
        runs=tuple(runs),
        sweep=tuple(sweep),
        rates=tuple(experiment.rates(runs[1::2])),
        folder=folder,
    )


class _Experiment:
    """Both splits of a collection, and what is measured on them."""

    def __init__(
        self,
        collection: Collection,
        seed: int,
        copies: str,
        rate: float | None,
        workers: int,
        progress: Progress | None,
    ) -> None:
        self.seed, self.copies, self.rate = seed, copies, rate
        self._workers = workers
        self._progress = progress or Progress()
        self._timed: dict[tuple[str, float, int], Matches] = {}
        self._progress.stage("copies", None)
        self.split, self.table, self.scorer = self._open(collection, "test")
        _, self._development, self._development_scorer = self._open(collection, "development")

    def added(self) -> tuple[float, float]:
        """Mean share by which copies are longer, and share of unchanged copies."""
        originals = self.split.documents.texts
        texts = self.table["text"].to_pylist()
        copies = np.flatnonzero(~self.split.untouched)
        pairs = [(originals[place], str(texts[place])) for place in copies]
        longer = np.mean([len(copy) / max(1, len(text)) - 1 for text, copy in pairs])
        return float(longer), float(np.mean([text == copy for text, copy in pairs]))

    def run(self, method: Method, choice: str, cut_off: float, documents: int) -> Run:
        """One cut-off on a number of documents of the test split, timed."""
        self._progress.stage(f"{method.name}: {choice} cut-off, {documents:,} documents", None)
        places = self.split.first(documents)
        # One method at one cut-off has one time, whoever chose the cut-off.
        key = (method.recipe.id, cut_off, documents)
        if key not in self._timed:
            table = self.table.take(places)
            self._timed[key] = find_timed(method, table, cut_off, workers=self._workers)
        matches = self._timed[key]
        return score_run(method, choice, cut_off, matches, self.scorer, places)

    def sweep(self, method: Method) -> list[Point]:
        """All cut-offs on the development split, the strictest first."""
        self._progress.stage(f"{method.name}: all cut-offs", None)
        matches = find(method, self._development, method.loosest, workers=self._workers)
        points = self._development_scorer.sweep(matches, method)
        return [Point(method.name, cut_off, None, scores) for cut_off, scores in points]

    def rates(self, runs: Sequence[Run]) -> list[Point]:
        """All methods at all edit rates, by method."""
        points = []
        for rate in SWEPT_RATES:
            self._progress.stage(f"edits of {rate:.0%}", None)
            table = self.split.table("edits", rate)
            for run in runs:
                matches = find(run.method, table, run.cut_off, workers=self._workers)
                scores = self.scorer.tallies(matches)[-1].scores
                points.append(Point(run.name, run.cut_off, rate, scores))
        order = {run.name: place for place, run in enumerate(runs)}
        return sorted(points, key=lambda point: order[point.method])

    def _open(self, collection: Collection, name: str) -> tuple[Split, pa.Table, Scorer]:
        split = make_split(collection, name, seed=self.seed)
        table = split.table(self.copies, self.rate)
        return split, table, Scorer(split, table, workers=self._workers)


def _check_list(sizes: Any) -> list[int] | None:
    if sizes is None:
        return None
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise bad("sizes", "a list of numbers of documents", sizes)
    return [check_whole(size, "sizes", 1) for size in sizes]


def _sizes_below(sizes: list[int] | None, documents: int) -> list[int]:
    """Numbers of documents to time, in order, without the number of all of them."""
    if sizes is None:
        return [size for size in SIZES if size < documents]
    what = N_("a whole number from {least} to {most}, the number of documents")
    wanted = {check_whole(size, "sizes", 1, documents, what) for size in sizes}
    return sorted(wanted - {documents})
