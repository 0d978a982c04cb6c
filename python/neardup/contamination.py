"""Which items of a test occur in training documents, verified by alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack, get_args

from neardup.base.messages import Message
from neardup.base.progress import Progress, check_progress, share_of
from neardup.base.reprs import ReprMixin
from neardup.base.validation import check_choice, check_path, paths_of
from neardup.exceptions import InputError, ParameterError
from neardup.options.groups import ContaminationFilesParameters, ContaminationParameters
from neardup.options.signatures import completed, takes_options
from neardup.run.text_pass import TextPass

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.readers import Problem, Sources
    from neardup.writers import Output
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
class ContaminationSummary:
    """Counts and costs of a search for test items.

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
    bytes_read : int
        Uncompressed bytes of the documents.
    seconds : float
    peak_memory : int
        Largest resident size of the process so far, in bytes.
    stages : dict of str to float
        Seconds of each part of the run.
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
    bytes_read: int = 0
    seconds: float = 0.0
    peak_memory: int = 0
    stages: dict[str, float] = field(default_factory=dict)


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
        for at, row in enumerate(self.findings.slice(0, _FIRST).to_pylist()):
            told = f"{row['cover']:.2f} of {row['test_id']} in {row['id']}: {row['text']}"
            yield "" if at else "first findings", told


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
    names, of_tests = _fields(given)
    source = open_table(data, **names)
    items = open_table(tests, parameter="tests", **of_tests)
    search = _Search(items, given, check_progress(None))
    search.look_through(source)
    return search.result(source.kept)


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
    with OutputSet() as output_set:
        outputs = {
            name: output_set.open(path, force=given["force"]) for name, path in places.items()
        }
        of_files = {"format": given["format"], "output_paths": list(places.values())}
        names, of_tests = _fields(given)
        sources = open_sources(paths["inputs"], **names, **of_files)
        items = open_sources(paths["tests"], **of_tests, **of_files)
        search = _Search(items, given, check_progress(given["progress"]))
        for name in sources.shared_with(items):
            search.progress.note(
                Message(
                    "{file} is both a file of documents and of test items, so all of its "
                    "items are found.",
                    file=name,
                )
            )
        search.look_through(sources)
        result = search.result()
        summary = result.summary
        summary.problems += sources.report_to(search.progress) + items.report_to(search.progress)
        if action != "drop":
            summary.kept = summary.read
        if "output" in outputs:
            search.write(sources, outputs["output"], given["text_field"], masks=action == "mask")
        if "report" in outputs:
            write_rows(outputs["report"], result.findings, result.findings.schema)
        search.clock.lap("write")
        search.measure()
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


def _fields(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters for the readers of the documents and of the test items."""
    documents = {name: given[name] for name in ("text_field", "id_field", "max_text")}
    tests = {
        "text_field": given["test_text_field"],
        "text_parameter": "test_text_field",
        "max_text": given["max_text"],
    }
    return documents, tests


class _Search(TextPass):
    """A search for items: they are read first, then the documents."""

    summary: ContaminationSummary

    def __init__(self, tests: Any, given: dict[str, Any], progress: Progress) -> None:
        import pyarrow as pa

        from neardup import _core
        from neardup.papers.align import aligner

        super().__init__(ContaminationSummary(), progress)
        self._given = given
        self._found: list[_Finding] = []
        self._ids: list[str] = []
        texts: list[Any] = []
        progress.stage("read tests", None)
        for batch in tests.batches():
            self.note_problems(batch.problems)
            texts.append(batch.texts)
            self._ids += batch.ids.to_pylist()
            progress.advance(len(batch), batch.bytes_read)
        core, _ = aligner()
        array = pa.concat_arrays(texts) if texts else pa.array([], pa.large_string())
        self._items = _core.Items(core, array, workers=given["workers"])
        decidable = self._items.are_decidable()
        self.summary.tests = len(decidable)
        self.summary.short = decidable.count(False)
        if not any(decidable):
            least = _core.SHORTEST_ITEM
            if not decidable:
                raise InputError(Message("{named[tests]} must have items. Got none."))
            raise InputError(
                Message.counted(
                    "{named[tests]} must have an item of at least {least} Chinese characters or "
                    "{letters} letters. Got {count:,} item, which is shorter. Name the field of "
                    "the text with {given[test_text_field]}.",
                    "{named[tests]} must have an item of at least {least} Chinese characters or "
                    "{letters} letters. Got {count:,} items, all of which are shorter. Name the "
                    "field of the text with {given[test_text_field]}.",
                    count=len(decidable),
                    least=least,
                    letters=2 * least,
                )
            )
        self.clock.lap("read tests")

    def look_through(self, documents: Any) -> None:
        """Look for the items in all documents."""
        given = self._given
        self.progress.stage("find tests", None, share_of(documents))
        for batch in self.documents(documents):
            texts = batch.texts
            rows = self._items.find(texts, least_cover=given["cover"], workers=given["workers"])
            for at, item, _, places in rows:
                begin, end = _span(places, 0)
                text = texts[at].as_py()[begin : min(end, begin + _SHOWN)]
                self._found.append(
                    _Finding(self.summary.read + at, batch.ids[at].as_py(), item, places, text)
                )
        self.clock.lap("find tests")

    def result(self, kept: Callable[[Any], Any] | None = None) -> ContaminationResult:
        """Judge the findings, now that it is known what many documents share."""
        import numpy as np

        given, summary = self._given, self.summary
        most = given["common"]
        if most is None:
            most = max(_FEW, summary.read // _MANY)
        covers = self._items.covers(most)
        judged = list(zip(self._found, covers, strict=True))
        is_found = [cover is not None and cover >= given["cover"] for cover in covers]
        self._found = [one for one, is_one in zip(self._found, is_found, strict=True) if is_one]
        items = {one.item for one in self._found}
        common = {one.item for one, _ in judged} - items
        if common:
            count = len(common)
            shown = ", ".join(self._ids[item] for item in sorted(common)[:3])
            shown += ", ..." if count > 3 else ""
            self.progress.note(
                Message.counted(
                    "{count:,} test item occurs only as wording that more than {most:,} "
                    "documents have, which does not count ({given[common]}): {ids}.",
                    "{count:,} test items occur only as wording that more than {most:,} "
                    "documents have, which does not count ({given[common]}): {ids}.",
                    count=count,
                    most=most,
                    ids=shown,
                )
            )
        contaminated = sorted({one.document for one in self._found})
        keep = np.ones(summary.read, np.bool_)
        keep[contaminated] = False
        summary.common, summary.tests_found = len(common), len(items)
        summary.findings, summary.contaminated = len(self._found), len(contaminated)
        summary.kept = summary.read - len(contaminated)
        self.measure()
        self._keep = keep
        shares = [cover for cover, is_one in zip(covers, is_found, strict=True) if is_one]
        return ContaminationResult(
            self._table(shares), keep, None if kept is None else kept(keep), summary, self.problems
        )

    def _table(self, covers: list[float | None]) -> pa.Table:
        import pyarrow as pa

        here = [_span(one.places, 0) for one in self._found]
        there = [_span(one.places, 2) for one in self._found]
        return pa.table(
            {
                "id": pa.array([one.id for one in self._found], pa.string()),
                "test_id": pa.array([self._ids[one.item] for one in self._found], pa.string()),
                "cover": pa.array(covers, pa.float64()),
                "begin": pa.array([begin for begin, _ in here], pa.int64()),
                "end": pa.array([end for _, end in here], pa.int64()),
                "test_begin": pa.array([begin for begin, _ in there], pa.int64()),
                "test_end": pa.array([end for _, end in there], pa.int64()),
                "text": pa.array([one.text for one in self._found], pa.string()),
            }
        )

    def write(
        self, sources: Sources, output: Output, text_field: str | None, *, masks: bool
    ) -> None:
        """Write the documents: those without items, or all with the items masked."""
        import numpy as np

        keep = np.ones_like(self._keep) if masks else self._keep
        cuts = self._cuts(text_field) if masks else None
        self.summary.kept -= self.write_records(sources, keep, output, cuts)

    def _cuts(self, text_field: str | None) -> Cuts:
        from neardup.writers.edits import Cuts, joined_spans

        spans: dict[int, list[Span]] = {}
        for one in self._found:
            spans.setdefault(one.document, []).extend(place[:2] for place in one.places)
        joined = {document: joined_spans(some) for document, some in spans.items()}
        of_each = (joined.get(document, ()) for document in range(self.summary.read))
        return Cuts(of_each, MASK, text_field)


def _span(places: Sequence[tuple[int, int, int, int]], side: int) -> tuple[int, int]:
    """Return the span from the first to the last passage, in the document (0) or the item (2)."""
    return min(one[side] for one in places), max(one[side + 1] for one in places)
