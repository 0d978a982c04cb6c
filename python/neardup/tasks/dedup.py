"""Drop the near-duplicates of a collection: all eight stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from neardup.base.display import DOUBTFUL
from neardup.base.lazy import NDArray, _core, np, pa
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.options.groups import DedupFilesParameters, DedupParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.readers.collection import Collection
from neardup.recipe.decisions import Decisions
from neardup.run.document_set import DocumentSet
from neardup.run.documents import describe_documents, titles_of_pairs, titles_of_rows
from neardup.run.file_run import FileRun
from neardup.run.pipeline import Pipeline
from neardup.run.plan import plan_of
from neardup.run.removals import Removals
from neardup.run.restore_ids import read_ids, restore
from neardup.run.run_options import RunOptions, check_against_only
from neardup.run.sketch_file import Others, SketchFiles
from neardup.tasks.dedup_result import DedupResult, Rows
from neardup.writers import Output, OutputFolder
from neardup.writers.edits import COPIES, FIELDS, Annotations, check_free
from neardup.writers.rows import removed_schema, write_rows

if TYPE_CHECKING:
    from neardup.tasks.review import Review, Texts


#: Bytes of an input that is read again for a few titles, within hundredths of a second.
_SMALL = 1 << 24


@takes_options
def dedup(
    data: Rows, *, against: Any = None, **options: Unpack[DedupParameters]
) -> DedupResult[Rows]:
    """Drop the near-duplicates of a collection.

    Parameters
    ----------
    data : Arrow table, pandas or polars DataFrame, list of str, list of dict
        Also a polars LazyFrame, a Hugging Face Dataset, and any other object with the Arrow
        stream interface, of which ``kept`` is an Arrow table. The first item of a list decides
        whether it has texts or records; a later one of another kind is a problem.
    against : same kinds or Index, optional
        Another collection, all of which counts as kept: a document that is similar to one of
        its documents is dropped. Of an index, these are the documents that it keeps.
    {options}

    Returns
    -------
    DedupResult
        ``kept`` is of the same kind as `data`.

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.
    InputError
        If there is no text column; if a record cannot be read and `on_error`
        is ``stop``.

    See Also
    --------
    pairs : all verified pairs, instead of kept documents.

    Notes
    -----
    One rule decides. Documents are in priority order. A document is dropped if and only if it is
    verified similar to an earlier document that is kept. It points at the most similar such
    document, or at the earliest of equally similar ones. Documents of `against` come before all
    others, and are not compared with each other. Time is near-linear with the default recipe; with
    ``shingle`` and with recipes that make fingerprints it is quadratic among documents that share a
    template. Memory is about 160 bytes per document, plus `memory` for texts, sketches, keys, ids
    and compared data. A table of common shingles takes about 150 MB more. The result does not
    depend on threads, batches or memory.

    Examples
    --------
    >>> import neardup
    >>> result = neardup.dedup([
    ...     "The council will open the new bridge on Sunday morning.",
    ...     "Rain is expected along the coast until Thursday.",
    ...     "The council will open the new bridge on Sunday morning!",
    ... ], threshold=0.8)
    >>> len(result.kept)
    2
    >>> result.removed.to_pylist()[0]["kept_id"]
    '0'

    Find the texts of today that were not there yesterday:

    >>> yesterday = ["The council will open the new bridge on Sunday morning."]
    >>> today = ["The council will open the new bridge on Sunday morning!", "Rain is expected."]
    >>> neardup.dedup(today, against=yesterday, threshold=0.8).kept
    ['Rain is expected.']
    """
    from neardup.readers import open_table
    from neardup.readers.tables import open_others

    chosen = RunOptions(complete_options(dedup, options))
    check_against_only(chosen.given, against)
    source = open_table(data, **chosen.reader)
    others = None
    if against is not None:
        others = open_others(against, **chosen.reader_of_others)
    result, collected, decided = _decide(
        Pipeline(chosen), source, others, kept=source.kept, titles=True
    )
    return replace(result, _reviewed=_make_reviewer(result, collected, decided, source, others))


@takes_options
def dedup_files(
    inputs: Sequence[str | Path],
    output: str | Path,
    *,
    removed: str | Path | None = None,
    against: Sequence[str | Path] | None = None,
    review: str | Path | None = None,
    **options: Unpack[DedupFilesParameters],
) -> DedupResult[None]:
    """Drop the near-duplicates of files, and write the kept records.

    Parameters
    ----------
    inputs : sequence of str or Path
        Files, folders, patterns, or ``-``; see
        :func:`neardup.readers.open_sources`.
    output : str or Path
        File for the kept records; format by extension. A str that ends in a slash (a Path loses
        it), or a folder that exists, gets one file for each input, with its path, format and
        compression, or numbered parts of `part_size`.
    removed : str, Path or None, default=None
        File or folder for the dropped documents and the reasons, likewise.
    against : sequence of str or Path, optional
        Files, folders or patterns of another collection, or the location of an index. All of
        it counts as kept, and none is written.
    review : str, Path or None, default=None
        File for a page that shows what was dropped, as HTML; see :meth:`DedupResult.review`. The
        inputs are read once more for it.
    {options}

    Returns
    -------
    DedupResult
        ``kept`` is None.

    Raises
    ------
    ParameterError, InputError
        As for :func:`dedup`, before anything is written.
    OutputError
        If an output exists, or cannot be written. No output is left behind.
    """
    chosen = RunOptions(complete_options(dedup_files, options))
    check_against_only(chosen.given, against)
    records = {} if chosen.dry_run else {"output": output, "removed": removed}
    fields = _choose_fields(chosen)
    path = chosen.restore
    restored = None if path is None else partial(restore, read_ids(path), path)
    texts = {"review": review}
    with FileRun("dedup", chosen, inputs, against, records=records, texts=texts) as run:
        outputs = run.outputs.records
        if fields:
            check_free(run.sources.sources, fields)
        result, collected, decided = _decide(
            run.pipeline,
            run.sources,
            run.against,
            titles="removed" in outputs,
            restored=restored,
        )
        mask: Any = result._flags
        edits = None
        if chosen.annotate:
            mask = result.keep | (decided.columns()[0][collected.against :] >= 0)
        if fields:
            kept = np.frombuffer(mask, np.bool_)
            edits = _make_annotations(fields, run.pipeline, collected, decided, kept)
        run.report_sources()
        if not chosen.dry_run:
            left_out = run.pipeline.write_kept(run.sources, mask, outputs["output"], edits)
            result.summary.kept -= left_out
            result.summary.left_out = left_out
        if "removed" in outputs:
            _write_removed(result, outputs["removed"], collected.against)
        if review is not None:
            page = _make_reviewer(result, collected, decided, run.sources, run.against)()
            run.outputs.files["review"].write(page.to_html(language=chosen.language).encode())
            result = replace(result, _reviewed=lambda: page)
        run.pipeline.clock.lap("write")
        run.report(result.summary, collected, result.plan)
    return result


def _write_removed(result: DedupResult[None], output: Output | OutputFolder, first: int) -> None:
    """Write the removed documents; the input begins with the number `first`."""
    assert result._removals is not None, "a result that was not pickled"
    numbers = result._removals.arrays()["number"] - first
    write_rows(output, result.removed, removed_schema(result.removed.column_names), numbers)


def _choose_fields(options: RunOptions) -> tuple[str, ...]:
    """Return the fields that are added to the kept records."""
    fields = FIELDS if options.annotate else ("cluster_size",) * options.cluster_size
    return (*fields, *(COPIES,) * options.copies)


def _make_reviewer(
    result: DedupResult[Any],
    collected: DocumentSet,
    decided: Decisions,
    source: Collection,
    against: Others,
) -> Callable[[], Review]:
    """Return what makes a review; it holds the numbers of documents, and reads the texts."""

    assert result._removals is not None
    columns, first, ids = result._removals.arrays(), collected.against, collected.ids.column()
    both_kept = [
        {"number": number, "id": ids[number].as_py(), "kept": kept, "kept_id": ids[kept].as_py()}
        | {"similarity": similarity}
        for number, kept, similarity in decided.kept_by_unique_text
    ]
    others: Texts = partial(_read_normalized, collected.corpus)
    # A file of sketches has normalized texts only.
    if against is not None and not isinstance(against, SketchFiles):
        others = partial(describe_documents, against)

    # The documents are not held: only the input itself, from which texts are read again.
    def make_page() -> Review:
        from neardup.tasks.review import make_review, pick

        plan, removed = result.plan, result.removed
        picked = pick(columns, removed.select(["id", "kept_id"]))
        rule = (plan.measure, plan.threshold, plan.max_distance)
        texts = partial(describe_documents, source)
        return make_review(picked, first, texts, others, result.summary, rule, both_kept)

    return make_page


def _read_normalized(
    corpus: _core.Corpus, documents: Sequence[int], length: int
) -> dict[int, dict[str, Any]]:
    read = {number: pa.array(corpus.texts(number, number + 1)) for number in documents}
    texts = {number: str(text[0]) for number, text in read.items()}
    return {n: {"text": text[:length], "length": len(text)} for n, text in texts.items()}


def _decide(
    pipeline: Pipeline,
    source: Collection,
    against: Others = None,
    *,
    kept: Callable[[NDArray[np.bool_]], Any] | None = None,
    titles: bool = False,
    restored: Callable[[DocumentSet, Decisions, Progress], None] | None = None,
) -> tuple[DedupResult[Any], DocumentSet, Decisions]:
    """Read and decide all documents; `kept` returns the rows for a mask.

    `titles` reads the titles of removed documents; `restored` keeps some that repeat others.
    """
    options = pipeline.options
    collected = pipeline.read(source, against, looks_up=True)
    decided = pipeline.decide(collected)
    if restored is not None:
        restored(collected, decided, pipeline.progress)
    flags = decided.all.kept_flags(collected.against)
    if options.on_error == "drop":
        is_readable = collected.corpus.features()[collected.against :] >= 0
        flags = (np.frombuffer(flags, np.bool_) & is_readable).tobytes()
    removals = Removals(collected, decided, pipeline.rule.measure, has_against=against is not None)
    _note_repeated(removals.repeated_ids, pipeline.progress)
    # Of the others with one text, the first is a near-duplicate, and the rest repeat its text.
    near = collected.corpus.distinct_texts(removals.others)
    some: dict[int, dict[str, str | None]] = {}
    if titles:
        pairs = np.asarray(removals.documents), np.asarray(removals.kept_for)
        removals.titles = titles_of_pairs(source, against, collected.against, *pairs)
    elif pipeline.bytes_read <= _SMALL:
        some = titles_of_rows(
            source, against, collected.against, removals, removals.least_similar(DOUBTFUL)
        )
    pipeline.clock.lap("candidates, verify, cluster")
    summary = pipeline.summary(
        "dedup",
        collected,
        exact_duplicates=len(removals) - near,
        near_duplicates=near,
        kept=flags.count(1),
        largest_cluster=max(removals.cluster_sizes, default=min(1, len(flags))),
        **decided.counts,
    )
    result = DedupResult(
        kept=None if kept is None else kept(np.frombuffer(flags, np.bool_)),
        summary=summary,
        plan=plan_of(options.recipe, pipeline.rule, len(collected.corpus), look_ups=True),
        problems=pipeline.problems,
        _removals=removals,
        _flags=flags,
        _titles=some,
    )
    return result, collected, decided


def _note_repeated(count: int, progress: Progress) -> None:
    """Tell of ids that several records have."""
    if count:
        progress.note(
            Message.counted(
                "{count:,} record has the id of another record. The columns 'record' "
                "and 'kept_record' of the removed documents tell these apart; or name "
                "a field of unique ids with {given[id_field]}.",
                "{count:,} records have the id of another record. The columns "
                "'record' and 'kept_record' of the removed documents tell these "
                "apart; or name a field of unique ids with {given[id_field]}.",
                count=count,
            )
        )


def _make_annotations(
    names: tuple[str, ...],
    pipeline: Pipeline,
    collected: DocumentSet,
    decided: Decisions,
    mask: NDArray[np.bool_],
) -> Annotations:
    """Return the fields of the records of a mask."""
    documents = collected.against + np.flatnonzero(mask)
    kept_for, similarity, *_ = decided.columns()
    return Annotations(
        names,
        ids=collected.ids.column(),
        kept_for=kept_for,
        similarity=similarity,
        measure=pipeline.rule.measure,
        documents=documents,
        readable=collected.corpus.features()[documents] >= 0,
    )
