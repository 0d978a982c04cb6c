"""Which items of a test occur in training documents, verified by alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack, get_args

from neardup.base.messages import Message
from neardup.base.progress import Progress, share_of
from neardup.base.reprs import ReprMixin
from neardup.base.validation import check_choice, check_path, paths_of
from neardup.exceptions import InputError, ParameterError
from neardup.options.groups import ContaminationFilesParameters, ContaminationParameters
from neardup.options.signatures import completed, takes_options
from neardup.run.run import Run
from neardup.run.summary import Costs

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.readers import Problem
    from neardup.writers.edits import Cuts, Span

#: Replaces an item in a document where it is masked.
MASK = "[...]"

#: Fewer documents with a wording are not called many.
_FEW = 100

#: Wording that more than one in this many documents have is common.
_MANY = 1000

#: The most characters of a document that a finding shows.
_SHOWN = 200

#: Findings that the representation of a result names.
_FIRST = 5

Action = Literal["report", "drop", "mask"]


@dataclass
class ContaminationSummary(Costs):
    """Counts of a search for test items, and its :class:`neardup.run.summary.Costs`.

    Parameters
    ----------
    read : int
        Documents.
    unreadable : int
        Documents without a usable text.
    tests : int
        Test items.
    short : int
        Test items of fewer than 20 Chinese characters or 40 letters, which are not looked for.
    common : int
        Test items that occur only as wording which many documents share.
    tests_found : int
        Test items that occur in a document.
    contaminated : int
        Documents in which an item occurs.
    findings : int
        Occurrences of an item in a document.
    kept : int
        Documents that are kept.
    problems : int
        Problems in the documents and in the tests.
    """

    read: int = 0
    unreadable: int = 0
    tests: int = 0
    short: int = 0
    common: int = 0
    tests_found: int = 0
    contaminated: int = 0
    findings: int = 0
    kept: int = 0
    problems: int = 0


@dataclass(frozen=True, repr=False)
class ContaminationResult(ReprMixin):
    """The test items that occur in documents.

    Parameters
    ----------
    findings : pyarrow.Table
        One row per occurrence, in the order of the documents, then of the items: ``id`` and
        ``test_id`` (string), ``cover`` (float64, share of the item's letters and digits that the
        document has, in [0, 1]), ``begin`` and ``end`` (int64, half-open span of the document's
        text in code points), ``test_begin`` and ``test_end`` (the span of the item), ``text``
        (string, the first 200 characters of what the document has there).
    keep : ndarray of shape (n_documents,), dtype bool
        Whether no item occurs in each document, in input order.
    kept : same kind as the input, or None
        The documents in which no item occurs; None if they were written to a file.
    summary : ContaminationSummary
    problems : list of Problem
        Records that could not be read; at most 10,000 are remembered.
    """

    findings: pa.Table
    keep: NDArray[np.bool_]
    kept: Any
    summary: ContaminationSummary
    problems: list[Problem]

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        for name in ("read", "tests", "findings", "contaminated", "kept"):
            yield name, getattr(self.summary, name)
        for number, row in enumerate(self.findings.slice(0, _FIRST).to_pylist()):
            line = f"{row['cover']:.2f} of {row['test_id']} in {row['id']}: {row['text']}"
            yield "" if number else "first findings", line


@takes_options
def contamination(
    data: Any, tests: Any, **options: Unpack[ContaminationParameters]
) -> ContaminationResult:
    """Return which items of a test occur in training documents.

    Parameters
    ----------
    data : Arrow table, pandas or polars DataFrame, list of str, list of dict
        The documents, as for :func:`neardup.dedup`.
    tests : same kinds
        The items, such as the questions of a test.
    {options}

    Returns
    -------
    ContaminationResult

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.
    InputError
        If there is no text column, or no item is long enough to be looked for.

    See Also
    --------
    contamination_files : the same for files; it can also mask the items.

    Notes
    -----
    An item occurs in a document if the document has at least the share `cover` of its letters
    and digits, in passages that are near each other: verbatim, re-wrapped, in a paragraph, in
    markup, or with small edits. White space, punctuation, case and full-width forms make no
    difference. O(n) for n characters of documents, plus the alignment of candidates.

    Examples
    --------
    >>> import neardup
    >>> question = "Which of these rivers flows through three capitals on its way to the sea?"
    >>> found = neardup.contamination(
    ...     ["The ferry leaves at nine.", "Q: " + question.replace(" ", "\\n") + "\\nA: none"],
    ...     tests=[question],
    ... )
    >>> found.findings.select(["id", "test_id", "cover"]).to_pylist()
    [{'id': '1', 'test_id': '0', 'cover': 1.0}]
    >>> found.kept
    ['The ferry leaves at nine.']
    """
    from neardup.readers import open_table

    given = completed(contamination, options)
    names, of_tests = reader_fields(given)
    source = open_table(data, **names)
    items = open_table(tests, parameter="tests", **of_tests)
    search = ItemSearch(items, given, None)
    search.check_items()
    return search.search(source, source.kept)


@takes_options
def contamination_files(
    inputs: Sequence[str | Path],
    tests: Sequence[str | Path],
    output: str | Path | None = None,
    *,
    report: str | Path | None = None,
    do: Action | None = None,
    **options: Unpack[ContaminationFilesParameters],
) -> ContaminationResult:
    """Find the items of a test in files, and write the other documents.

    Parameters
    ----------
    inputs : sequence of str or Path
        Files of documents, as for :func:`neardup.dedup_files`.
    tests : sequence of str or Path
        Files of items.
    output : str, Path or None, default=None
        File for the documents; format by extension, ``-`` for standard output.
    report : str, Path or None, default=None
        File for the findings, as in `ContaminationResult`; format by extension.
    do : 'report', 'drop' or 'mask', optional
        What happens to a document with an item: nothing, it is not written, or ``[...]`` replaces
        the item. By default `drop` with an output, else `report`.
    {options}

    Returns
    -------
    ContaminationResult
        With None as `kept`.

    Raises
    ------
    ParameterError, InputError, OutputError
        As for :func:`neardup.dedup_files`.

    Notes
    -----
    The documents are read twice if there is an output, and never held in memory.
    """
    import numpy as np

    from neardup.readers import open_sources
    from neardup.writers import OutputSet, write_rows

    given = completed(contamination_files, options)
    action = _action(do, output)
    paths = {"inputs": paths_of(inputs, "inputs"), "tests": paths_of(tests, "tests")}
    if "-" in paths["inputs"] and "-" in paths["tests"]:
        raise ParameterError(
            Message(
                "{parameter:named} must name standard input ('-') at most once. Got "
                "it {times} times instead.",
                parameter="tests",
                times=2,
            )
        )
    wanted = {"output": output, "report": report}
    places = {name: check_path(path, name) for name, path in wanted.items() if path is not None}
    with OutputSet(chain(*paths.values()), places.values()) as output_set:
        outputs = {
            name: output_set.open(path, force=given["force"]) for name, path in places.items()
        }
        names, of_tests = reader_fields(given)
        sources = open_sources(paths["inputs"], **names, format=given["format"])
        items = open_sources(paths["tests"], **of_tests, format=given["format"])
        search = ItemSearch(items, given, given["progress"])
        search.check_items()
        for name in sources.shared_with(items):
            search.progress.note(
                Message(
                    "{file} is both a file of documents and of test items, so all of its "
                    "items are found.",
                    file=name,
                )
            )
        result = search.search(sources)
        summary = result.summary
        search.report_sources(sources, items)
        if action != "drop":
            summary.kept = summary.read
        if "output" in outputs:
            masks = search.masks(given["text_field"]) if action == "mask" else None
            keep = result.keep if masks is None else np.ones_like(result.keep)
            summary.kept -= search.write_kept(sources, keep, outputs["output"], masks)
        if "report" in outputs:
            write_rows(outputs["report"], result.findings, result.findings.schema)
        search.clock.lap("write")
        search.measure(summary)
    return result


def _action(do: str | None, output: str | Path | None) -> str:
    """Return what happens to documents with an item."""
    if do is None:
        return "report" if output is None else "drop"
    check_choice(do, "do", get_args(Action))
    if (do == "report") is (output is not None):
        if output is None:
            message = Message(
                "{named[do]} must be 'report' without an output. Got '{value}' instead. Name a "
                "file for the documents.",
                value=do,
            )
        else:
            message = Message(
                "{named[do]} must be 'drop' or 'mask' with an output. Got 'report' instead, "
                "which writes no documents. Name a file for the findings with {given[report]}."
            )
        raise ParameterError(message)
    return do


class _Finding(NamedTuple):
    document: int
    id: str
    item: int
    places: list[tuple[int, int, int, int]]
    text: str


def reader_fields(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters for the readers of the documents and of the test items."""
    documents = {name: given[name] for name in ("text_field", "id_field", "max_text")}
    tests = {
        "text_field": given["test_text_field"],
        "text_parameter": "test_text_field",
        "max_text": given["max_text"],
    }
    return documents, tests


class ItemSearch(Run):
    """A search for items: they are read first, then the documents."""

    def __init__(self, tests: Any, given: dict[str, Any], progress: Progress | None) -> None:
        import pyarrow as pa

        from neardup import _core
        from neardup.papers.align import aligner

        super().__init__(progress)
        self.summary = ContaminationSummary()
        self._given = given
        self._findings: list[_Finding] = []
        self._ids: list[Any] = []
        texts: list[Any] = []
        self.progress.stage("read tests", None)
        for batch in self.prefetch(tests.batches()):
            self.note_problems(batch.problems)
            texts.append(batch.texts)
            self._ids += batch.ids.to_pylist()
        core = aligner()
        array = pa.concat_arrays(texts) if texts else pa.array([], pa.large_string())
        self._items = _core.Items(core, array, workers=given["workers"])
        decidable = self._items.are_decidable()
        self.summary.tests = len(decidable)
        self.summary.short = decidable.count(False)
        self.clock.lap("read tests")

    def check_items(self) -> None:
        """Raise InputError if there is no item that is looked for."""
        from neardup import _core

        items = self.summary.tests
        if not items:
            raise InputError(Message("{named[tests]} must have items. Got none."))
        if self.summary.short == items:
            raise InputError(
                Message.counted(
                    "{named[tests]} must have an item of at least {least} Chinese characters or "
                    "{letters} letters. Got {count:,} item, which is shorter. Name the field of "
                    "the text with {given[test_text_field]}.",
                    "{named[tests]} must have an item of at least {least} Chinese characters or "
                    "{letters} letters. Got {count:,} items, all of which are shorter. Name the "
                    "field of the text with {given[test_text_field]}.",
                    count=items,
                    least=_core.SHORTEST_ITEM,
                    letters=2 * _core.SHORTEST_ITEM,
                )
            )

    def search(
        self, source: Any, kept: Callable[[Any], Any] = lambda _: None
    ) -> ContaminationResult:
        """Look for the items in all documents, and judge when it is known what many share."""
        import numpy as np

        given, summary = self._given, self.summary
        self.progress.stage("find tests", None, share_of(source))
        for batch in self.documents(source, summary):
            texts = batch.texts
            rows = self._items.find(texts, least_cover=given["cover"], workers=given["workers"])
            for row, item, _, places in rows:
                begin, end = _span(places, 0)
                text = texts[row].as_py()[begin : min(end, begin + _SHOWN)]
                self._findings.append(
                    _Finding(summary.read + row, batch.ids[row].as_py(), item, places, text)
                )
        self.clock.lap("find tests")
        most = given["common"]
        if most is None:
            most = max(_FEW, summary.read // _MANY)
        covers = [cover or 0.0 for cover in self._items.covers(most)]
        mentioned = {finding.item for finding in self._findings}
        accepted = [index for index, cover in enumerate(covers) if cover >= given["cover"]]
        self._findings = [self._findings[index] for index in accepted]
        items = {finding.item for finding in self._findings}
        self._note_common(mentioned - items, most)
        contaminated = sorted({finding.document for finding in self._findings})
        keep = np.ones(summary.read, np.bool_)
        keep[contaminated] = False
        summary.common, summary.tests_found = len(mentioned - items), len(items)
        summary.findings, summary.contaminated = len(self._findings), len(contaminated)
        summary.kept = summary.read - len(contaminated)
        self.measure(summary)
        table = self._table([covers[index] for index in accepted])
        return ContaminationResult(table, keep, kept(keep), summary, self.problems)

    def _note_common(self, items: set[int], most: int) -> None:
        if items:
            shown = ", ".join(self._ids[item] for item in sorted(items)[:3])
            self.progress.note(
                Message.counted(
                    "{count:,} test item occurs only as wording that more than {most:,} "
                    "documents have, which does not count ({given[common]}): {ids}.",
                    "{count:,} test items occur only as wording that more than {most:,} "
                    "documents have, which does not count ({given[common]}): {ids}.",
                    count=len(items),
                    most=most,
                    ids=shown + (", ..." if len(items) > 3 else ""),
                )
            )

    def _table(self, covers: list[float]) -> pa.Table:
        import pyarrow as pa

        findings = self._findings
        spans = [(*_span(finding.places, 0), *_span(finding.places, 2)) for finding in findings]
        names = ("begin", "end", "test_begin", "test_end")
        return pa.table(
            {
                "id": pa.array([finding.id for finding in findings], pa.string()),
                "test_id": pa.array([self._ids[finding.item] for finding in findings], pa.string()),
                "cover": pa.array(covers, pa.float64()),
                **{
                    name: pa.array([span[side] for span in spans], pa.int64())
                    for side, name in enumerate(names)
                },
                "text": pa.array([finding.text for finding in findings], pa.string()),
            }
        )

    def masks(self, text_field: str | None) -> Cuts:
        """Return what to replace in each document."""
        from neardup.writers.edits import Cuts, joined_spans

        spans: dict[int, list[Span]] = {}
        for finding in self._findings:
            spans.setdefault(finding.document, []).extend(place[:2] for place in finding.places)
        joined = {document: joined_spans(places) for document, places in spans.items()}
        of_each = (joined.get(document, ()) for document in range(self.summary.read))
        return Cuts(of_each, MASK, text_field)


def _span(places: Sequence[tuple[int, int, int, int]], side: int) -> tuple[int, int]:
    """Return the span from the first to the last passage, in the document (0) or the item (2)."""
    return min(place[side] for place in places), max(place[side + 1] for place in places)
