"""Which items of a data set's splits occur in its other splits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from neardup.base.messages import Message
from neardup.base.reprs import ReprMixin
from neardup.base.validation import bad, check_path, paths_of
from neardup.contamination import ItemSearch, reader_fields
from neardup.exceptions import ParameterError
from neardup.options.groups import ContaminationFilesParameters
from neardup.options.signatures import completed, takes_options

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.readers import Problem


@dataclass(frozen=True, repr=False)
class Leaks(ReprMixin):
    """Items of splits that occur in other splits.

    Parameters
    ----------
    counts : list of dict
        For each ordered pair of splits: ``split``, ``other``, ``items`` (of the split that are
        long enough to be looked for), ``short`` (those that are not) and ``found`` (items that
        occur in the other split).
    findings : pyarrow.Table
        One row per occurrence: ``split`` and ``other`` (string), then the columns of
        `ContaminationResult.findings`, in which ``test_id`` is the item.
    problems : int
        Problems in the files, each counted once.
    """

    counts: list[dict[str, Any]]
    findings: pa.Table
    problems: int

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        for pair in self.counts:
            name = f"{pair['split']} in {pair['other']}"
            yield name, f"{pair['found']:,} of {pair['items']:,} items"


@takes_options
def split_leaks(
    splits: Mapping[str, Sequence[str | Path]],
    report: str | Path | None = None,
    **options: Unpack[ContaminationFilesParameters],
) -> Leaks:
    """Return which items of each split of a data set occur in each other split.

    Parameters
    ----------
    splits : dict of str to list of str or Path
        The files of each split, at least two splits; ``-`` is standard input, at most once.
    report : str, Path or None, default=None
        File for the findings; format by extension.
    {options}

    Returns
    -------
    Leaks

    Raises
    ------
    ParameterError
        If there are fewer than two splits, or standard input is named twice.
    InputError, OutputError
        As for :func:`neardup.contamination_files`.

    Notes
    -----
    Each split is read once for each other one; see :func:`neardup.contamination` for when an item
    occurs in a document. The items are in `test_text_field`, by default in `text_field`.

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
    >>> for pair in neardup.split_leaks(splits).counts:
    ...     pair["split"], pair["other"], pair["found"], pair["items"]
    ('train', 'test', 1, 2)
    ('test', 'train', 1, 1)
    >>> folder.cleanup()
    """
    import pyarrow as pa

    from neardup.readers import open_sources
    from neardup.writers import OutputSet, write_rows

    given = completed(split_leaks, options)
    if not isinstance(splits, Mapping) or len(splits) < 2:
        raise bad("splits", "the files of at least two splits, by name", splits)
    files = {name: paths_of(paths, "splits") for name, paths in splits.items()}
    if (times := list(chain.from_iterable(files.values())).count("-")) > 1:
        raise ParameterError(
            Message(
                "{parameter:named} must name standard input ('-') at most once. Got "
                "it {times} times instead.",
                parameter="splits",
                times=times,
            )
        )
    counts: list[dict[str, Any]] = []
    tables: list[pa.Table] = []
    known: set[Problem] = set()
    problems = 0
    report = None if report is None else check_path(report, "report")
    with OutputSet(chain(*files.values()), [report]) as outputs:
        output = None if report is None else outputs.open(report, force=given["force"])
        names, _ = reader_fields(given)
        # Opened once, since standard input can be read only by what has copied it.
        documents = {
            name: open_sources(of, **names, format=given["format"]) for name, of in files.items()
        }
        items = documents
        if field := given["test_text_field"]:
            items = {
                name: sources.with_text_field(field, "test_text_field")
                for name, sources in documents.items()
            }
        noted: set[str] = set()
        for split, other in permutations(files, 2):
            search = _SplitSearch(items[split], given, known)
            if search.summary.short == search.summary.tests and split not in noted:
                noted.add(split)
                search.progress.note(
                    Message(
                        "Split '{split}' has no item that is long enough to be looked for.",
                        split=split,
                    )
                )
            result = search.search(documents[other])
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
            problems += summary.problems
        search.problem_count = 0
        search.report_sources(*documents.values())
        problems += search.problem_count
        findings = pa.concat_tables(tables)
        if output is not None:
            write_rows(output, findings, findings.schema)
    return Leaks(counts, findings, problems)


class _SplitSearch(ItemSearch):
    """A search that notes only problems that are not `known` from an earlier reading."""

    def __init__(self, items: Any, given: dict[str, Any], known: set[Problem]) -> None:
        self._known = known
        super().__init__(items, given, given["progress"])

    def note_problems(self, problems: Iterable[Problem]) -> None:
        new = [problem for problem in problems if problem not in self._known]
        self._known.update(new)
        super().note_problems(new)
