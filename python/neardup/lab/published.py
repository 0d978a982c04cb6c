"""The published experiment: methods compared by topic, size and edit rate.

Its shape is that of Zhang and He (2020): five topics, a tenfold of documents
around them, precision and recall by topic, time by number of documents. What
is a near-duplicate is known, since the edit model made it; what repeats by
itself is set aside. A method's best cut-off is chosen on one half of the
originals and measured on the other.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.lab.edit_model import check_rate
from neardup.lab.folder import check_free, write_files
from neardup.lab.judge import Judge, Tally, natural_repeats
from neardup.lab.methods import Found, Method, find, select_methods
from neardup.lab.metrics import Scores
from neardup.lab.trial import Collection, Split, make_split, read_collection
from neardup.parameters import bad, check_flag, check_path, check_whole, check_workers
from neardup.recipe import load_recipe

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.collect import Progress

__all__ = ["PublishedResult", "Run", "SizeTime", "SweepPoint", "published"]

#: Numbers of documents for the times; all documents are added.
SIZES = (1_000, 2_500, 5_000)
#: Shares of edited characters of the rate sweep.
SWEPT_RATES = (0.02, 0.05, 0.10, 0.15, 0.20, 0.25, 0.30)
#: A time is the median of so many runs.
_REPEATS = 3
#: Documents of the run before the first timed one, which loads word lists.
_WARM_UP = 20

DEFAULT, BEST = "default", "best"


@dataclass(frozen=True)
class Run:
    """One method at one cut-off on the test split.

    Parameters
    ----------
    method : str
    recipe_id : str
    choice : {"default", "best"}
        Whose cut-off: the recipe's own, or the best on the development split.
    measure : {"max_distance", "threshold"}
        What the cut-off is: a largest distance in bits, or a smallest
        similarity; both inclusive.
    cut_off : int or float
    tallies : tuple of Tally
        By topic, then of all documents.
    seconds, sketch_seconds, search_seconds : float
        Median of three runs over all documents; the parts are of the median
        run.
    """

    method: str
    recipe_id: str
    choice: str
    measure: str
    cut_off: float
    tallies: tuple[Tally, ...]
    seconds: float
    sketch_seconds: float
    search_seconds: float

    @property
    def label(self) -> str:
        """The method and its cut-off, for people."""
        return f"{self.method} {self.bound}"

    @property
    def bound(self) -> str:
        """The cut-off, for people: ``≤ 3`` bits, or ``≥ 0.55``."""
        return f"{'≥' if self.measure == 'threshold' else '≤'} {self.cut_off:g}"

    @property
    def overall(self) -> Tally:
        """The counts of all documents."""
        return self.tallies[-1]


@dataclass(frozen=True)
class SweepPoint:
    """Counts over all documents at one cut-off, or at one edit rate.

    Parameters
    ----------
    method : str
    cut_off : int or float
    rate : float or None
        Share of edited characters; None for each copy's own.
    scores : Scores
    """

    method: str
    cut_off: float
    rate: float | None
    scores: Scores


@dataclass(frozen=True)
class SizeTime:
    """Time of one method on so many documents.

    Parameters
    ----------
    method : str
    cut_off : int or float
    documents : int
    seconds : float
        Median of three runs.
    """

    method: str
    cut_off: float
    documents: int
    seconds: float


@dataclass(frozen=True)
class PublishedResult:
    """What the experiment measured.

    Parameters
    ----------
    topics : tuple of str
    documents : int
        Of the test split.
    true_pairs : int
        Pairs of a copy and its original, of the test split.
    natural : int
        Pairs of untouched documents that repeat each other by themselves.
    seed : int
    rate : float or None
        Share of edited characters; None for each copy's own.
    runs : tuple of Run
        By method; the default cut-off, then the best.
    sweep : tuple of SweepPoint
        By method and cut-off, on the development split.
    sizes : tuple of SizeTime
        By method and number of documents, at the best cut-off.
    rates : tuple of SweepPoint
        By method and edit rate, on the test split, at the best cut-off.
    folder : Path
        Where tables, figures and the report are.
    """

    topics: tuple[str, ...]
    documents: int
    true_pairs: int
    natural: int
    seed: int
    rate: float | None
    runs: tuple[Run, ...]
    sweep: tuple[SweepPoint, ...]
    sizes: tuple[SizeTime, ...]
    rates: tuple[SweepPoint, ...]
    folder: Path

    def chosen(self, choice: str = BEST) -> tuple[Run, ...]:
        """Return the runs at the ``"best"`` or at the ``"default"`` cut-offs."""
        return tuple(run for run in self.runs if run.choice == choice)


def published(
    data: str | Path,
    output: str | Path,
    *,
    seed: int = 0,
    rate: float | None = None,
    methods: Sequence[str | Method] | None = None,
    sizes: Iterable[int] | None = None,
    workers: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> PublishedResult:
    """Run the published experiment and write its tables, figures and report.

    Parameters
    ----------
    data : str or Path
        Folder of topic files ``*.jsonl``, plain or compressed (.gz, .zst), with
        the fields ``id``, ``title`` and ``text``. The documents of a file
        ``distractors`` belong to no topic.
    output : str or Path
        Folder for the results, made if it is missing.
    seed : int, default=0
        Of halves, order and edits; at least 0.
    rate : float or None, default=None
        Share of each copy's characters that edits touch, in [0, 0.5]. None draws
        it for each copy, uniformly from 0.02 to 0.10.
    methods : sequence of str or Method, default=None
        Names of :data:`neardup.lab.METHODS`, or methods of your own. None are
        all of them.
    sizes : iterable of int, default=None
        Numbers of documents to time, each at least 1 and at most all. None are
        1,000, 2,500 and 5,000, as far as there are so many; all documents are
        timed in any case.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes times only.
    force : bool, default=False
        Replace results in the folder.
    progress : neardup.collect.Progress or None, default=None
        Told what is going on.

    Returns
    -------
    PublishedResult

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.
    InputError
        If the folder has no topics, or one has less than two documents.
    OutputError
        If results exist and are not to be replaced, or cannot be written; none
        was changed then.
    MissingDependencyError
        If matplotlib is not installed.

    See Also
    --------
    EditModel : how the copies are made.

    Notes
    -----
    Deterministic but for the times. Each method runs fourteen times over all
    documents, and nine times over fewer: some four minutes for eight
    methods and 12,500 documents on two cores.

    References
    ----------
    .. [1] Zhang, He. Computer Science and Application 10(2), 2020.
       doi:10.12677/csa.2020.102038

    Examples
    --------
    >>> from neardup.lab import published
    >>> result = published("topics/", "results/", methods=["general"])  # doctest: +SKIP
    >>> result.chosen()[0].tallies[-1].scores.recall  # doctest: +SKIP
    0.9952
    """
    from neardup.lab.figures import require_matplotlib
    from neardup.lab.report import FILES, files_of

    check_whole(seed, "seed", 0)
    rate = None if rate is None else check_rate(rate)
    check_workers(workers)
    check_flag(force, "force")
    chosen = select_methods(methods)
    # Before minutes of work, not after.
    defaults = [method.default for method in chosen]
    folder = check_path(output, "output")
    require_matplotlib()
    check_free(folder, FILES, force=force)
    collection = read_collection(check_path(data, "data"), progress=progress)
    trial = _Trial(collection, seed, rate, workers, progress)
    wanted = _check_sizes(sizes, trial.documents)

    runs: list[Run] = []
    sweep: list[SweepPoint] = []
    times: list[SizeTime] = []
    best: list[float] = []
    for method, default in zip(chosen, defaults, strict=True):
        swept = trial.sweep(method)
        sweep.extend(swept)
        # The first of equals is the strictest.
        best.append(max(swept, key=lambda point: point.scores.f1).cut_off)
        own = trial.run(method, DEFAULT, default)
        same = best[-1] == default
        runs += [own, replace(own, choice=BEST) if same else trial.run(method, BEST, best[-1])]
        times.extend(trial.time(method, best[-1], size) for size in wanted)
        times.append(SizeTime(method.name, best[-1], trial.documents, runs[-1].seconds))
    result = PublishedResult(
        topics=trial.test.topics,
        documents=trial.documents,
        true_pairs=trial.judge.true_pairs[-1],
        natural=trial.natural,
        seed=seed,
        rate=rate,
        runs=tuple(runs),
        sweep=tuple(sweep),
        sizes=tuple(times),
        rates=tuple(trial.rates(chosen, best)),
        folder=folder,
    )
    write_files(folder, files_of(result), force=force)
    return result


class _Trial:
    """Both splits of a collection, and what is measured on them."""

    def __init__(
        self,
        collection: Collection,
        seed: int,
        rate: float | None,
        workers: int,
        progress: Progress | None,
    ) -> None:
        self._workers = workers
        self._progress = progress
        self._say("copies")
        self.test = make_split(collection, "test", seed=seed)
        self._table = self.test.table(rate)
        natural = natural_repeats(self.test, self._table, workers=workers)
        self.natural = len(natural)
        self.judge = Judge(self.test, natural)
        development = make_split(collection, "development", seed=seed)
        self._development_table = development.table(rate)
        self._development_judge = self._judge_of(development, self._development_table)
        self.documents = len(self._table)

    def sweep(self, method: Method) -> list[SweepPoint]:
        """All cut-offs on the development split, the strictest first."""
        self._say(f"{method.name}: all cut-offs")
        found = find(method, self._development_table, method.loosest, workers=self._workers)
        points = self._development_judge.sweep(found, method)
        return [SweepPoint(method.name, cut_off, None, scores) for cut_off, scores in points]

    def run(self, method: Method, choice: str, cut_off: float) -> Run:
        """One cut-off on the test split, timed."""
        self._say(f"{method.name}: {choice} cut-off")
        found = self._timed(method, cut_off, self._table)
        return Run(
            method=method.name,
            recipe_id=load_recipe(method.recipe).id,
            choice=choice,
            measure=method.measure,
            cut_off=cut_off,
            tallies=tuple(self.judge.tallies(found)),
            seconds=found.seconds,
            sketch_seconds=found.sketch_seconds,
            search_seconds=found.search_seconds,
        )

    def time(self, method: Method, cut_off: float, documents: int) -> SizeTime:
        """The time for the first so many documents."""
        self._say(f"{method.name}: {documents:,} documents")
        found = self._timed(method, cut_off, self._table.slice(0, documents))
        return SizeTime(method.name, cut_off, documents, found.seconds)

    def rates(self, methods: Sequence[Method], best: Sequence[float]) -> Iterable[SweepPoint]:
        """All methods at all edit rates, by method."""
        points = []
        for rate in SWEPT_RATES:
            self._say(f"edits of {rate:.0%}")
            table = self.test.table(rate)
            for method, cut_off in zip(methods, best, strict=True):
                found = find(method, table, cut_off, workers=self._workers)
                scores = self.judge.tallies(found)[-1].scores
                points.append(SweepPoint(method.name, cut_off, rate, scores))
        order = {method.name: at for at, method in enumerate(methods)}
        return sorted(points, key=lambda point: order[point.method])

    def _timed(self, method: Method, cut_off: float, table: pa.Table) -> Found:
        """The median run of three."""
        find(method, table.slice(0, _WARM_UP), cut_off, workers=self._workers)
        runs = [find(method, table, cut_off, workers=self._workers) for _ in range(_REPEATS)]
        median = statistics.median_low(run.seconds for run in runs)
        return next(run for run in runs if run.seconds == median)

    def _judge_of(self, split: Split, table: pa.Table) -> Judge:
        return Judge(split, natural_repeats(split, table, workers=self._workers))

    def _say(self, stage: str) -> None:
        if self._progress is not None:
            self._progress.stage(stage, None)


def _check_sizes(sizes: Any, documents: int) -> list[int]:
    """Numbers of documents to time, in order; all of them are not among them."""
    if sizes is None:
        return [size for size in SIZES if size < documents]
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise bad("sizes", "a list of numbers of documents", sizes)
    what = ", the number of documents"
    wanted = {check_whole(size, "sizes", 1, documents, what) for size in sizes}
    return sorted(wanted - {documents})
