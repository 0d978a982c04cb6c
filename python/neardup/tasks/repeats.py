"""Sentences and paragraphs that recur across documents."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack, get_args

from neardup.base.display import ReprMixin
from neardup.base.lazy import NDArray, _core, np, pa
from neardup.base.messages import Message
from neardup.base.progress import Progress, share_of
from neardup.base.validation import check_choice, paths_of
from neardup.exceptions import ParameterError
from neardup.options.groups import RepeatsFilesParameters, RepeatsParameters
from neardup.options.options import KeptPlaces
from neardup.options.reader_parameters import reader_parameters
from neardup.options.signatures import complete_options, takes_options
from neardup.readers import Batch, Problem, open_sources
from neardup.readers.collection import Collection
from neardup.run.run import Run
from neardup.run.summary import Costs
from neardup.writers import OutputSet, RowWriter
from neardup.writers.edits import Cuts, Span

#: A Chinese character weighs as much as two letters of an alphabet.
_DENSE = 2

#: The most frequent repeats that a summary names, and the most characters of each.
_NAMED, _SHOWN = 5, 60


@dataclass
class RepeatsSummary(Costs):
    """Counts of a search for repeats, and its :class:`neardup.run.summary.Costs`.

    Parameters
    ----------
    read : int
        Documents.
    unreadable : int
        Documents without a usable text.
    units : int
        Sentences or paragraphs that are long enough.
    repeats : int
        Different ones that enough documents have, at two places at least.
    places : int
        Places where they occur, the first included.
    documents : int
        Documents that have one.
    removed : int
        Places that were cut out.
    emptied : int
        Documents of whose text nothing is left.
    problems : int
        Problems in the documents.
    frequent : list of (int, str)
        The five with the most places: their number, and the beginning of the text.
    """

    read: int = 0
    unreadable: int = 0
    units: int = 0
    repeats: int = 0
    places: int = 0
    documents: int = 0
    removed: int = 0
    emptied: int = 0
    problems: int = 0
    frequent: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, repr=False, eq=False)
class RepeatsResult(ReprMixin):
    """The sentences or paragraphs that recur across documents.

    Parameters
    ----------
    table : pyarrow.Table
        One row per repeat, in the order of their first places: ``repeat`` (string, 32
        hexadecimal digits, the same for equal letters in any collection), ``text`` (string, as
        it is at the first place), ``count`` (int64, places), ``documents`` (int64), ``id``
        (string, the first document), ``begin`` and ``end`` (int64, half-open span of its text
        in code points).
    places : pyarrow.Table
        One row per place, in the order of the documents: ``repeat``, ``id``, ``begin``, ``end``.
    summary : RepeatsSummary
    problems : list of Problem
        Records that could not be read; at most 10,000 are remembered.
    """

    table: pa.Table
    places: pa.Table
    summary: RepeatsSummary
    problems: list[Problem]

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        for name in ("read", "repeats", "places", "documents"):
            yield name, getattr(self.summary, name)
        for number, (count, text) in enumerate(self.summary.frequent):
            yield "" if number else "most frequent", f"{count:,} {text}"


@takes_options
def repeats(data: Any, **options: Unpack[RepeatsParameters]) -> RepeatsResult:
    """Return the sentences or paragraphs that recur across documents.

    Parameters
    ----------
    data : Arrow table, pandas or polars DataFrame, list of str, list of dict
        As for :func:`neardup.dedup`.
    {options}

    Returns
    -------
    RepeatsResult

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.
    InputError
        If there is no text column.

    See Also
    --------
    repeats_files : the same for files; it can also cut them out.

    Notes
    -----
    Two sentences are the same if their letters and digits are; white space, punctuation, case and
    full-width forms make no difference. Unicode Standard Annex 29 defines sentences, and a line end
    ends one too. A paragraph is a line. A line that ends in the middle of a sentence goes on with
    the next. In Chinese this holds only if the first 1,000 documents show that a program broke the
    lines. O(n) for n characters; 28 bytes per unit are sorted, in files beyond a quarter of
    `memory`.

    Examples
    --------
    >>> import neardup
    >>> found = neardup.repeats(
    ...     ["The ferry leaves at nine. All rights reserved.", "It rained. ALL RIGHTS RESERVED"],
    ...     min_unit_length=5,
    ... )
    >>> found.table.select(["text", "count", "id", "begin"]).to_pylist()
    [{'text': 'All rights reserved.', 'count': 2, 'id': '0', 'begin': 26}]
    >>> found.places.select(["id", "begin", "end"]).to_pylist()
    [{'id': '0', 'begin': 26, 'end': 46}, {'id': '1', 'begin': 11, 'end': 30}]
    """
    from neardup.readers import open_table

    values = complete_options(repeats, options)
    source = open_table(data, **reader_parameters(values))
    search = _Search(values, None)
    search.collect(source)
    rows = list(search.find_places(source))
    tables = [
        pa.Table.from_batches([pair[side][0] for pair in rows], schema)
        for side, schema in enumerate(_make_schemas())
    ]
    search.measure(search.summary)
    return RepeatsResult(tables[0], tables[1], search.summary, search.problems)


@takes_options
def repeats_files(
    inputs: Sequence[str | Path],
    output: str | Path | None = None,
    *,
    places: str | Path | None = None,
    remove: str | Path | None = None,
    keep: KeptPlaces | None = None,
    **options: Unpack[RepeatsFilesParameters],
) -> RepeatsSummary:
    """Find what recurs across the documents of files, and cut it out.

    Parameters
    ----------
    inputs : sequence of str or Path
        As for :func:`neardup.dedup_files`.
    output : str, Path or None, default=None
        File or folder for the repeats, as in `RepeatsResult`; as for :func:`neardup.dedup_files`.
    places : str, Path or None, default=None
        File or folder for all their places, likewise.
    remove : str, Path or None, default=None
        File or folder for all records without their repeats, likewise.
    keep : 'first' or 'none', optional
        With `remove`: whether a repeat stays at its first place. By default `first`.
    {options}

    Returns
    -------
    RepeatsSummary

    Raises
    ------
    ParameterError, InputError, OutputError
        As for :func:`neardup.dedup_files`.

    Notes
    -----
    The documents are read twice, or three times with `remove`, and never held in memory.
    """
    values = complete_options(repeats_files, options)
    if keep is None:
        keep = "first"
    elif remove is None:
        raise ParameterError(
            Message(
                "{named[keep]} must be left out without {given[remove]}, the file for the "
                "remaining records."
            )
        )
    check_choice(keep, "keep", get_args(KeptPlaces))
    paths = paths_of(inputs, "inputs")
    wanted = {"output": output, "places": places, "remove": remove}
    shared = {name: values[name] for name in ("force", "part_size", "progress")}
    with OutputSet(paths, wanted, **shared) as output_set:
        sources = open_sources(paths, **reader_parameters(values))
        output_set.take(sources, copies="remove", edits=True)
        outputs = output_set.records
        search = _Search(values, values["progress"])
        search.collect(sources)
        tables = [
            RowWriter(outputs[name], schema) if name in outputs else None
            for name, schema in zip(("output", "places"), _make_schemas(), strict=True)
        ]
        with _StoredSpans() as spans:
            cut = None if remove is None else spans
            for rows in search.find_places(sources, cut, keeps_first=keep == "first"):
                for table, (batch, documents) in zip(tables, rows, strict=True):
                    if table is not None:
                        table.write(batch, documents)
            for table in filter(None, tables):
                table.close()
            if cut is not None:
                everything = np.ones(search.summary.read, np.bool_)
                cuts = Cuts(iter(cut), values["text_field"])
                search.write_kept(sources, everything, outputs["remove"], cuts)
        search.report_sources(sources)
        search.clock.lap("write")
        search.measure(search.summary)
    return search.summary


class _Search(Run):
    """A search for repeats: units are collected first, then their places are found."""

    def __init__(self, values: dict[str, Any], progress: Progress | None) -> None:
        super().__init__(progress)
        self.summary = RepeatsSummary()
        self._documents = values["documents"]
        self._repeats = _core.Repeats(
            unit=values["unit"],
            least=_DENSE * values["min_unit_length"],
            memory=values["memory"] // 4,
            folder=None,
            workers=values["workers"],
        )

    def collect(self, source: Collection) -> None:
        """Take the units of all documents."""
        self.progress.stage("read units", None, share_of(source))
        for batch in self.documents(source, self.summary):
            self._repeats.push(batch.texts)
        self.summary.units = self._repeats.finish(self._documents)
        self.clock.lap("read units")

    def find_places(
        self, source: Collection, spans: _StoredSpans | None = None, *, keeps_first: bool = True
    ) -> Iterator[list[tuple[pa.RecordBatch, NDArray[np.int64]]]]:
        """Yield the repeats and the places of each batch, with the documents of the rows.

        The spans to cut are stored in `spans`.
        """
        self.progress.stage("find repeats", None, share_of(source))
        begin = 0
        for batch in self.prefetch(source.batches()):
            end = begin + len(batch)
            columns = self._repeats.before(end)
            documents = columns[0].astype(np.int64)
            first = np.flatnonzero(columns[4])
            summary = self.summary
            summary.places += len(documents)
            summary.repeats += len(first)
            summary.documents += len(np.unique(documents))
            pair = self._make_tables(batch, columns, documents - begin, first)
            if spans is not None:
                spans.append(self._find_cuts(batch, columns, begin, keeps_first=keeps_first))
            yield [(pair[0], documents[first]), (pair[1], documents)]
            begin = end
        self.clock.lap("find repeats")

    def _make_tables(
        self, batch: Batch, columns: Any, rows: NDArray[np.int64], first: NDArray[np.intp]
    ) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        _, begins, ends, hashes, counts, documents = columns
        hashes = pa.array(hashes).cast(pa.string())
        texts = []
        for place, row in zip(first.tolist(), rows[first].tolist(), strict=True):
            text = batch.texts[row].as_py()[int(begins[place]) : int(ends[place])]
            texts.append(text)
            self._count(int(counts[place]), text)
        ids = batch.ids.cast(pa.string())
        spans = [pa.array(column.astype(np.int64)) for column in (begins, ends)]
        table, places = _make_schemas()
        whole = [hashes, ids.take(pa.array(rows, pa.int64())), *spans]
        at_first = pa.array(first, pa.int64())
        of_first = [column.take(at_first) for column in whole]
        numbers = [pa.array(column[first].astype(np.int64)) for column in (counts, documents)]
        columns_of_table = [of_first[0], pa.array(texts, pa.string()), *numbers, *of_first[1:]]
        return (
            pa.RecordBatch.from_arrays(columns_of_table, schema=table),
            pa.RecordBatch.from_arrays(whole, schema=places),
        )

    def _count(self, count: int, text: str) -> None:
        """Remember one of the most frequent repeats; of equal ones the first."""
        frequent = self.summary.frequent
        if len(frequent) < _NAMED or count > frequent[-1][0]:
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
            frequent.append((count, shown))
            frequent.sort(key=lambda repeat: -repeat[0])
            del frequent[_NAMED:]

    def _find_cuts(
        self, batch: Batch, columns: Any, begin: int, *, keeps_first: bool
    ) -> list[list[Span]]:
        """Return what to cut out of each text of a batch."""
        units: dict[int, list[Span]] = {}
        documents, begins, ends, counts = (columns[side].tolist() for side in (0, 1, 2, 4))
        for document, first, last, count in zip(documents, begins, ends, counts, strict=True):
            if not (keeps_first and count):
                units.setdefault(document - begin, []).append((first, last))
        cuts: list[list[Span]] = [[] for _ in range(len(batch))]
        for row, dropped in units.items():
            text = batch.texts[row].as_py()
            cuts[row] = _core.cuts(text, dropped)
            self.summary.removed += len(dropped)
            self.summary.emptied += cuts[row] == [(0, len(text))]
        return cuts


def _make_schemas() -> tuple[pa.Schema, pa.Schema]:
    """Return the columns of the repeats and of their places."""
    place: list[Any] = [("id", pa.string()), ("begin", pa.int64()), ("end", pa.int64())]
    repeat: list[Any] = [("repeat", pa.string())]
    numbers: list[Any] = [("text", pa.string()), ("count", pa.int64()), ("documents", pa.int64())]
    return pa.schema([*repeat, *numbers, *place]), pa.schema([*repeat, *place])


class _StoredSpans:
    """The spans of each document, in a temporary file."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="neardup-")  # noqa: SIM115

    def __enter__(self) -> _StoredSpans:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def append(self, spans: list[list[Span]]) -> None:
        """Add the spans of the next documents."""
        counts = list(map(len, spans))
        flat = [number for document in spans for span in document for number in span]
        numbers = [len(counts), len(flat), *counts, *flat]
        self._file.write(np.array(numbers, np.uint32).tobytes())

    def __iter__(self) -> Iterator[list[Span]]:
        """Yield the spans of each document, from the first on."""
        self._file.seek(0)
        while head := self._file.read(8):
            documents, size = np.frombuffer(head, np.uint32).tolist()
            numbers = np.frombuffer(self._file.read(4 * (documents + size)), np.uint32).tolist()
            flat = iter(numbers[documents:])
            for count in numbers[:documents]:
                yield [(next(flat), next(flat)) for _ in range(count)]
