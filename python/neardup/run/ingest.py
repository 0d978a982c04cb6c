"""Ingest: the pass that reads documents into a corpus, for dedup, pairs and idf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from neardup.base.prefetch import prefetch
from neardup.base.progress import Progress, check_progress
from neardup.base.validation import check_workers
from neardup.readers.batch import REMEMBERED, stopped
from neardup.recipe import Recipe
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable, with_first_lines
from neardup.run.collected import Collected, Ids
from neardup.run.sketch_file import SavedSketches

if TYPE_CHECKING:
    from neardup import _core
    from neardup.readers import Batch


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
        with closing(prefetch(against)) as coming:
            for batch in coming:
                push(batch)
        collected.against = len(corpus)
    with closing(prefetch(batches)) as coming:
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
        collected.frequencies = corpus.frequencies_digest()
    return collected
