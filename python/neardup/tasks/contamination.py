"""Which items of a test occur in training documents, verified by alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, permutations
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from neardup.base.lazy import NDArray, _core, np, pa
from neardup.base.messages import Message
from neardup.base.progress import Progress, share_of
from neardup.base.validation import paths_of
from neardup.exceptions import InputError, ParameterError
from neardup.options.groups import ContaminationFilesParameters, ContaminationParameters
from neardup.options.reader_parameters import reader_parameters
from neardup.options.signatures import complete_options, takes_options
from neardup.papers.alignment import get_aligner
from neardup.readers import Problem, Sources, open_sources
from neardup.readers.batch import list_texts
from neardup.readers.collection import Collection
from neardup.readers.sources import check_standard_input
from neardup.run.run import Run
from neardup.tasks.contamination_result import (
    ContaminationResult,
    ContaminationSummary,
    Finding,
    find_span,
    make_table,
)
from neardup.writers import OutputSet, write_rows

#: Wording is common if more than one document in `_MANY` has it, and more than `_FEW` have.
_FEW, _MANY = 100, 1000

#: The most characters of a document that a finding shows.
_SHOWN = 200

#: The number of too short items that a note names.
_NAMED = 20


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
    contamination_files : the same for files, and for the splits of a data set.

    Notes
    -----
    An item occurs in a document if the document has at least the share `min_share` of its letters
    and digits. They are in passages that are near each other: verbatim, re-wrapped, in a paragraph,
    in markup, or with small edits. White space, punctuation, case and full-width forms make no
    difference. Items shorter than `min_item_length` are not looked for. O(n) for n characters of
    documents, plus the alignment of candidates.

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

    values = complete_options(contamination, options)
    source = open_table(data, **reader_parameters(values))
    search = _Search(values, None)
    items = search.read_items(open_table(tests, parameter="tests", **_choose_reader(values)))
    items.check()
    return search.find(items, source, source.kept)


@takes_options
def contamination_files(
    inputs: Sequence[str | Path] | Mapping[str, Sequence[str | Path]],
    tests: Sequence[str | Path] | None = None,
    output: str | Path | None = None,
    *,
    report: str | Path | None = None,
    **options: Unpack[ContaminationFilesParameters],
) -> ContaminationResult:
    """Find the items of a test in files, and write the other documents.

    Parameters
    ----------
    inputs : sequence of str or Path, or dict of str to such sequences
        Files of documents, as for :func:`neardup.dedup_files`. Or by name the files of at least
        two splits of a data set: the items of each split are looked for in each other split.
    tests : sequence of str or Path, optional
        Files of items; none for splits.
    output : str, Path or None, default=None
        File for the documents without an item, ``-`` for standard output, or a folder; as for
        :func:`neardup.dedup_files`. None for splits.
    report : str, Path or None, default=None
        File for the findings, as in `ContaminationResult`; format by extension.
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
    The documents are read twice if there is an output, and never held in memory. A split is read
    once for each other one; its items are in `test_text_field`, by default in `text_field`.

    Examples
    --------
    >>> import json, neardup, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> question = "Which of these rivers flows through three capitals on its way to the sea?"
    >>> other = "Who of the following wrote a play about a ferryman and his seven daughters?"
    >>> splits = {"train": [question, other], "test": [question.upper()]}
    >>> for name, texts in splits.items():
    ...     path = pathlib.Path(folder.name, f"{name}.jsonl")
    ...     _ = path.write_text("".join(json.dumps({"text": text}) + "\\n" for text in texts))
    ...     splits[name] = [path]
    >>> for pair in neardup.contamination_files(splits).splits:
    ...     pair["split"], pair["other"], pair["found"], pair["items"]
    ('train', 'test', 1, 2)
    ('test', 'train', 1, 1)
    >>> folder.cleanup()
    """
    values = complete_options(contamination_files, options)
    of_splits = isinstance(inputs, Mapping)
    if isinstance(inputs, Mapping):
        _check_splits(inputs, tests, output)
        paths = {name: paths_of(files, "inputs") for name, files in inputs.items()}
    else:
        paths = {"": paths_of(inputs, "inputs")}
    test_paths = [] if of_splits else paths_of(tests, "tests")
    files_read = list(chain(*paths.values(), test_paths))
    check_standard_input(files_read, "tests" if "-" in test_paths else "inputs")
    shared = {name: values[name] for name in ("force", "part_size", "progress")}
    with OutputSet(files_read, {"output": output}, rows={"report": report}, **shared) as outputs:
        read = reader_parameters(values)
        # Opened once, since standard input can be read only by what has copied it.
        documents = {name: open_sources(files, **read) for name, files in paths.items()}
        if output is not None:
            outputs.take(documents[""], copies="output")
        search = _Search(values, values["progress"], repeatedly=of_splits)
        if of_splits:
            result = _search_splits(search, documents, values["test_text_field"])
        else:
            tests_read = open_sources(test_paths, **_choose_reader(values))
            result = _search_documents(search, documents[""], tests_read)
        if output is not None:
            kept = outputs.records["output"]
            left_out = search.write_kept(documents[""], result.keep, kept, None)
            result.summary.kept -= left_out
        else:
            result.summary.kept = result.summary.read
        if report is not None:
            write_rows(outputs.files["report"], result.findings, result.findings.schema)
        search.clock.lap("write")
        search.measure(result.summary)
    return result


def _check_splits(splits: Mapping[str, Any], tests: Any, output: Any) -> None:
    """Raise ParameterError unless there are several splits, and nothing that is for documents."""
    if len(splits) < 2:
        raise ParameterError(
            Message(
                "Splits are compared with each other, so there must be at least two. Got {found} "
                "instead.",
                parameter="inputs",
                found=f"'{', '.join(splits)}'" if splits else "none",
            )
        )
    for name, value in (("tests", tests), ("output", output)):
        if value is not None:
            raise ParameterError(
                Message(
                    "{parameter:named} must be left out for splits, which are compared with each "
                    "other.",
                    parameter=name,
                )
            )


def _search_documents(search: _Search, documents: Sources, tests: Sources) -> ContaminationResult:
    """Return the items of a test that occur in documents."""
    items = search.read_items(tests)
    items.check()
    search.note_short(items)
    for name in documents.shared_with(tests):
        search.progress.note(
            Message(
                "{file} has both documents and test items, so all of its items are found.",
                file=name,
            )
        )
    result = search.find(items, documents)
    search.report_sources(documents, tests)
    return result


def _search_splits(
    search: _Search, documents: dict[str, Sources], text_field: str | None
) -> ContaminationResult:
    """Return the items of each split that occur in each other split."""
    sources = documents
    if text_field is not None:
        sources = {
            name: of_split.with_text_field(text_field, "test_text_field")
            for name, of_split in documents.items()
        }
    counts: list[dict[str, Any]] = []
    tables: list[pa.Table] = []
    keep: dict[str, NDArray[np.bool_]] = {}
    of_each: dict[str, ContaminationSummary] = {}
    unreadable: dict[str, int] = {}
    too_short: list[str] = []
    for split, other in permutations(documents, 2):
        items = search.read_items(sources[split])
        if split not in of_each:
            search.note_short(items, split)
            too_short += items.too_short
        result = search.find(items, documents[other])
        summary, findings = result.summary, result.findings
        counts.append(
            {
                "split": split,
                "other": other,
                "items": summary.tests - summary.short,
                "short": summary.short,
                "found": summary.tests_found,
            }
        )
        columns = [pa.array([name] * len(findings), pa.string()) for name in (split, other)]
        tables.append(
            pa.table([*columns, *findings.columns], ["split", "other", *findings.column_names])
        )
        keep[other] = result.keep & keep[other] if other in keep else result.keep
        of_each[split], unreadable[other] = summary, summary.unreadable
    search.report_sources(*documents.values())
    clean = np.concatenate([keep[name] for name in documents])
    total = ContaminationSummary(
        read=len(clean),
        unreadable=sum(unreadable.values()),
        tests=sum(summary.tests for summary in of_each.values()),
        short=sum(summary.short for summary in of_each.values()),
        tests_found=sum(pair["found"] for pair in counts),
        contaminated=int((~clean).sum()),
        findings=sum(map(len, tables)),
    )
    return ContaminationResult(
        pa.concat_tables(tables), clean, None, total, search.problems, counts, too_short
    )


def _choose_reader(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters for a reader of the test items; no option names the field of ids."""
    text = {"text_field": values["test_text_field"], "text_parameter": "test_text_field"}
    return reader_parameters(values) | text | {"id_field": None}


class _Items(NamedTuple):
    """The items of a test, and the ids of those that are too short to be looked for."""

    core: _core.Items
    ids: list[str]
    too_short: list[str]
    least: int

    def check(self) -> None:
        """Raise InputError if there is no item that is looked for."""
        if not self.ids:
            raise InputError(Message("{named[tests]} must have items. Got none."))
        if len(self.too_short) == len(self.ids):
            raise InputError(
                Message.counted(
                    "{named[tests]} must have an item of at least {least} Chinese characters or "
                    "{letters} letters. The only item is shorter: see {given[min_item_length]}, or "
                    "name the text field with {given[test_text_field]}.",
                    "{named[tests]} must have an item of at least {least} Chinese characters or "
                    "{letters} letters. All {count:,} are shorter: see {given[min_item_length]}, "
                    "or name the text field with {given[test_text_field]}.",
                    count=len(self.ids),
                    least=self.least,
                    letters=2 * self.least,
                )
            )


class _Search(Run):
    """Searches for items: the items of a test are read first, then documents.

    With `repeatedly`, each file may be read several times, and its problems count once.
    """

    def __init__(
        self, values: dict[str, Any], progress: Progress | None, *, repeatedly: bool = False
    ) -> None:
        super().__init__(progress)
        self._given = values
        self._known: set[Problem] | None = set() if repeatedly else None

    def note_problems(self, problems: Iterable[Problem]) -> None:
        if self._known is not None:
            problems = [problem for problem in problems if problem not in self._known]
            self._known.update(problems)
        super().note_problems(problems)

    def read_items(self, tests: Any) -> _Items:
        """Read the items of a test."""
        texts: list[Any] = []
        ids: list[str] = []
        self.progress.stage("read tests", None)
        for batch in self.prefetch(tests.batches()):
            self.note_problems(batch.problems)
            texts.append(batch.texts)
            ids += list_texts(batch.ids)
        array = pa.concat_arrays(texts) if texts else pa.array([], pa.large_string())
        least = self._given["min_item_length"]
        core = _core.Items(get_aligner(), array, shortest=least, workers=self._given["workers"])
        self.clock.lap("read tests")
        decidable = zip(ids, core.are_decidable(), strict=True)
        return _Items(core, ids, [id for id, is_long in decidable if not is_long], least)

    def find(
        self, items: _Items, source: Collection, kept: Callable[[Any], Any] = lambda _: None
    ) -> ContaminationResult:
        """Look for the items in all documents, and judge when it is known what many share.

        The search counts the documents of each wording, so it serves once.
        """
        given, core = self._given, items.core
        summary = ContaminationSummary(tests=len(items.ids), short=len(items.too_short))
        findings: list[Finding] = []
        self.progress.stage("find tests", None, share_of(source))
        for batch in self.documents(source, summary):
            texts = batch.texts
            rows = core.find(texts, least_cover=given["min_share"], workers=given["workers"])
            for row, item, _, places in rows:
                begin, end = find_span(places, 0)
                text = texts[row].as_py()[begin : min(end, begin + _SHOWN)]
                number, name = summary.read + row, batch.ids[row].as_py()
                findings.append(Finding(number, name, item, places, text))
        self.clock.lap("find tests")
        limit = given["max_documents"]
        if limit is None:
            limit = max(_FEW, summary.read // _MANY)
        covers = [cover or 0.0 for cover in core.covers(limit)]
        mentioned = {finding.item for finding in findings}
        accepted = [index for index, cover in enumerate(covers) if cover >= given["min_share"]]
        findings = [findings[index] for index in accepted]
        accepted_items = {finding.item for finding in findings}
        self._note_common([items.ids[item] for item in sorted(mentioned - accepted_items)], limit)
        contaminated = sorted({finding.document for finding in findings})
        keep = np.ones(summary.read, np.bool_)
        keep[contaminated] = False
        summary.common, summary.tests_found = len(mentioned - accepted_items), len(accepted_items)
        summary.findings, summary.contaminated = len(findings), len(contaminated)
        summary.kept = summary.read - len(contaminated)
        self.measure(summary)
        table = make_table(findings, items.ids, [covers[index] for index in accepted])
        return ContaminationResult(
            table, keep, kept(keep), summary, self.problems, too_short=items.too_short
        )

    def note_short(self, items: _Items, split: str | None = None) -> None:
        """List the items that are too short, or say that all of a split are."""
        if split is not None and len(items.too_short) == len(items.ids):
            message = Message(
                "Split '{split}' has no item that is long enough to be looked for.", split=split
            )
            self.progress.note(message)
        elif items.too_short:
            self.progress.note(
                Message.counted(
                    "{count:,} test item is shorter than {least} Chinese characters or {letters} "
                    "letters, and ignored ({given[min_item_length]}): {ids}.",
                    "{count:,} test items are shorter than {least} Chinese characters or "
                    "{letters} letters, and ignored ({given[min_item_length]}): {ids}.",
                    count=len(items.too_short),
                    least=items.least,
                    letters=2 * items.least,
                    ids=_list_some(items.too_short, _NAMED),
                )
            )

    def _note_common(self, ids: list[str], limit: int) -> None:
        if ids:
            self.progress.note(
                Message.counted(
                    "{count:,} test item occurs only as boilerplate of more than {most:,} "
                    "documents ({given[max_documents]}): {ids}.",
                    "{count:,} test items occur only as boilerplate of more than {most:,} "
                    "documents ({given[max_documents]}): {ids}.",
                    count=len(ids),
                    most=limit,
                    ids=_list_some(ids, 3),
                )
            )


def _list_some(ids: list[str], count: int) -> str:
    """Return the first ids, for a message."""
    return ", ".join(ids[:count]) + (", ..." if len(ids) > count else "")
