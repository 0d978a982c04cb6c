"""Ingest: the pass that reads documents into a corpus, for dedup, pairs and idf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup._engine.id_spool import Ids
from neardup._engine.messages import Message
from neardup._engine.prefetch import ahead
from neardup._engine.sketch_file import SavedSketches
from neardup._engine.summary import Progress as Progress
from neardup._engine.summary import check_progress
from neardup._engine.validation import check_workers
from neardup.exceptions import InputError
from neardup.recipe import Recipe
from neardup.recipe.assets import compiled
from neardup.recipe.segmenters import encoded_units, load_segmenter

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup import _core
    from neardup.readers import Batch, Problem

#: Problems remembered with their texts; all are counted.
REMEMBERED = 10_000


@dataclass
class Collected:
    """A corpus of sketches, and the other data of its records."""

    recipe: Recipe
    corpus: _core.Corpus
    #: Documents of another collection, which come first and are kept in any case.
    against: int = 0
    ids: Ids = field(default_factory=Ids)
    lengths: list[NDArray[np.int64]] = field(default_factory=list)
    values: dict[str, list[Any]] = field(default_factory=dict)
    #: Readable documents, in priority order.
    order: Any = None
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    bytes_read: int = 0
    #: The counts of all shingles, if they are kept.
    counted: bytes | None = None

    def id_column(self) -> pa.ChunkedArray[Any]:
        """All ids, in input order."""
        return self.ids.column()

    def recipe_id(self) -> str:
        """The recipe's id, with a digest of the frequencies that the corpus gave."""
        digest = self.corpus.frequencies_digest()
        return self.recipe.id if digest is None else f"{self.recipe.id}-{digest:016x}"

    def texts(self, documents: list[int]) -> dict[int, str]:
        """Return the normalized texts of documents, as far as they are kept."""
        found = {one: self.corpus.texts(one, one + 1) for one in documents}
        return {one: text[0].as_py() for one, text in found.items()}

    def features(self) -> NDArray[np.int64]:
        """Number of features of each document; -1 if it could not be read."""
        return self.corpus.features()


def collect(
    batches: Iterable[Batch],
    recipe: Recipe,
    *,
    against: Iterable[Batch] | SavedSketches = (),
    workers: int = 0,
    keeps_texts: bool = True,
    counted_shingle: int | None = None,
    value_fields: Sequence[str] = (),
    lengths: bool = False,
    title_from_first_line: bool = False,
    stop_on_error: bool = False,
    sketch: bool = True,
    keeps_counts: bool = False,
    memory: _core.Memory | None = None,
    ids: Ids | None = None,
    progress: Progress | None = None,
    share: Callable[[], float] | None = None,
) -> Collected:
    """Read all batches into a corpus, those of another collection `against` first.

    `keeps_counts` tells whether the counts of all shingles are stored as `Collected.counted`.

    `keeps_texts` tells whether candidate pairs are verified later, and `counted_shingle`
    the length of the shingles to count over the collection for that. `memory` bounds the
    corpus, and `ids` stores the ids.

    Raises
    ------
    InputError
        At the first record that cannot be read, if `stop_on_error`.
    """
    from neardup import _core

    progress = check_progress(progress)
    core = compiled(recipe)
    corpus = _core.Corpus(
        core,
        keeps_texts=keeps_texts,
        shingle=counted_shingle,
        workers=check_workers(workers),
        memory=memory,
    )
    collected = Collected(recipe, corpus, ids=ids or Ids())
    uses_titles = recipe.weigh.scheme == "improved"
    progress.stage("read and sketch", None, share)

    def push(batch: Batch) -> None:
        texts, units, problems = readable(batch, recipe, core)
        for problem in problems:
            if stop_on_error:
                raise stopped(problem)
            progress.problem(problem)
            collected.problem_count += problem.count
            if len(collected.problems) < REMEMBERED:
                collected.problems.append(problem)
        titles = batch.titles if uses_titles else None
        if uses_titles and title_from_first_line:
            titles = with_first_lines(titles, texts)
        corpus.push(texts, titles=titles, units=units)
        collected.ids.append(batch.ids)
        collected.bytes_read += batch.bytes_read
        progress.advance(len(batch), batch.bytes_read)

    # Closing ends the reading thread also if an error leaves the loop.
    if isinstance(against, SavedSketches):
        against.put_into(collected, progress)
        collected.against = len(corpus)
    elif against:
        with closing(ahead(against)) as coming:
            for batch in coming:
                push(batch)
        collected.against = len(corpus)
    with closing(ahead(batches)) as coming:
        for batch in coming:
            push(batch)
            if lengths:
                import pyarrow.compute as pc

                characters: Any = pc.utf8_length(batch.texts)
                collected.lengths.append(characters.fill_null(0).to_numpy(zero_copy_only=False))
            for name in value_fields:
                collected.values.setdefault(name, []).extend(batch.extra[name])
    if keeps_counts:
        # A finished corpus has the counts of common shingles only.
        collected.counted = corpus.counted_shingles()
    if sketch:
        corpus.finish()
    return collected


def stopped(problem: Problem) -> InputError:
    """Return the error that ends a run at its first problem."""
    return InputError(Message("readers.stopped", problem=problem.message))


def readable(
    batch: Batch, recipe: Recipe, core: _core.Recipe
) -> tuple[pa.LargeStringArray, pa.LargeStringArray | None, list[Problem]]:
    """Return the texts of a batch, their units, and all problems.

    A text that cannot be sketched is null. Units are None unless the recipe has a callable
    segmenter.
    """
    texts = batch.texts
    if recipe.callable_name is None:
        return texts, None, batch.problems
    import pyarrow as pa
    import pyarrow.compute as pc

    units, failed = _segmented(recipe.callable_name, core, batch, texts)
    texts = pc.if_else(units.is_null(), pa.scalar(None, pa.large_string()), texts)
    return texts, units, [*batch.problems, *failed]


def _segmented(
    name: str, core: _core.Recipe, batch: Batch, texts: pa.LargeStringArray
) -> tuple[pa.LargeStringArray, list[Problem]]:
    """Return the units by the user's callable, null for a text that it fails on, and problems."""
    import pyarrow as pa

    from neardup.readers import Problem
    from neardup.readers.batch import place_of, show

    segmenter = load_segmenter(name)
    units: list[str | None] = []
    problems = []
    for at, text in enumerate(texts.to_pylist()):
        encoded = None
        if text is not None:
            try:
                encoded = encoded_units(segmenter, core.normalize(text))
            except InputError as error:
                reason = Message("readers.segmenter_must_take")
                said = error.values["reason"]
                found = said if isinstance(said, Message) else show(said)
                problems.append(Problem(*place_of(batch.runs, at), None, reason, found))
        units.append(encoded)
    return pa.array(units, pa.large_string()), problems


def with_first_lines(
    titles: pa.LargeStringArray | None, texts: pa.LargeStringArray
) -> pa.LargeStringArray:
    """Return titles, with the first line of the text for a record without one."""
    import pyarrow as pa

    given = [None] * len(texts) if titles is None else titles.to_pylist()
    filled = [
        first_line(text) if title is None else title
        for title, text in zip(given, texts.to_pylist(), strict=True)
    ]
    return pa.array(filled, pa.large_string())


def first_line(text: str | None) -> str | None:
    """Return the first non-blank line of a text."""
    if text is None:
        return None
    return next((line.strip() for line in text.splitlines() if line.strip()), None)
