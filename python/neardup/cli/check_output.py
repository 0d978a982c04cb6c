"""The terminal's view of a check: a report, or a table of several, and the notes."""

from dataclasses import astuple

from neardup.base.messages import Message
from neardup.cli.terminal import get_language, print_line, print_rows, print_table, translate
from neardup.pages.words import Words
from neardup.papers.copies import SAME_TEXT
from neardup.papers.report import Report, explain_outcome, name_outcome, select_notes
from neardup.papers.report_files import name_largest_source, split_notes
from neardup.papers.results import HIDING, WORDING
from neardup.readers.batch import find_code, show

#: Columns of the labels.
_WIDTH = 18
#: Sources that the terminal shows.
_SHOWN = 10


def print_results(reports: list[Report], *, several: bool, is_json: bool) -> None:
    """Print reports and their notes; of one paper that was printed as JSON, only the notes."""
    if several:
        _print_papers(reports)
    elif not is_json:
        _print_report(reports[0])
    _print_notes(reports)


def _print_papers(reports: list[Report]) -> None:
    """Print a line for each paper, the highest rate first."""
    words = Words(get_language())
    rows = []
    has_verdicts = any(report.verdict or report.no_verdict for report in reports)
    for report in sorted(reports, key=lambda report: report.rank):
        rates = report.rates
        first = show(name_largest_source(report) or "-")
        shares = ["-"] * 3 if rates is None else [f"{share:7.2%}" for share in astuple(rates)]
        verdict = name_outcome(report, words) or "-"
        paper = f"{show(report.paper)}  {first}"
        rows.append([*shares, *([verdict] if has_verdicts else []), paper])
    columns = [Message("copied"), Message("no quot."), Message("largest")]
    if has_verdicts:
        columns.append(Message("verdict"))
    print_table([*columns, Message("paper, and its largest source")], rows, left=(3, 4))
    hiding = [
        (show(report.paper), value)
        for report in reports
        for label, value in _list_findings(report)[:1]
        if label == "possible hiding"
    ]
    if hiding:
        print(translate(Message("Possible attempts to hide copying:")))
        print_rows(hiding)


def _print_report(report: Report) -> None:
    """Print the rates of a paper, and its largest sources."""
    print_rows(
        [*_list_rates(report), *_list_passages(report), *_list_findings(report)], width=_WIDTH
    )
    for number, source in enumerate(report.sources[:_SHOWN], 1):
        title = f"  {show(source.title)}" if source.title else ""
        print(f"{number:>6}  {source.rate:7.2%}  {show(source.id)}{title}")
    if len(report.sources) > _SHOWN:
        more = Message.counted(
            "and {count:,} more source",
            "and {count:,} more sources",
            count=len(report.sources) - _SHOWN,
        )
        print(f"        {translate(more)}")


def _list_rates(report: Report) -> list[tuple[str, str]]:
    """Return the rows on the paper, its rates and its verdict."""
    rates = report.rates
    paper = Message.counted(
        "{paper}, {count:,} character",
        "{paper}, {count:,} characters",
        paper=show(report.paper),
        count=report.characters,
    )
    library = Message.counted(
        "{library}, {count:,} document",
        "{library}, {count:,} documents",
        library=show(report.library),
        count=report.library_documents,
    )
    largest = f"  {show(report.sources[0].id)}" if report.sources else ""
    rows: list[tuple[str, str]] = [
        (Message("paper"), paper),
        (Message("library"), library),
    ]
    if rates is not None:
        rows += [
            (Message("copied"), f"{rates.total:7.2%}"),
            (Message("without quotations"), f"{rates.without_quotations:7.2%}"),
            (Message("largest source"), f"{rates.largest_source:7.2%}{largest}"),
        ]
    if (outcome := explain_outcome(report, Words(get_language()))) is not None:
        rows.append((Message("verdict"), outcome))
    if report.similarity is not None:
        whole = Message("{share:7.2%}  to the most similar source", share=report.similarity)
        rows.append((Message("similarity"), whole))
    return rows


def _list_passages(report: Report) -> list[tuple[str, str]]:
    """Return the rows on passages, and on shared text that is not copied."""
    count, shown = sum(source.passages for source in report.sources), len(report.passages)
    passages = f"{count:,}"
    if count > shown:
        passages = Message("{found:,}  {shown:,} in the report", found=count, shown=shown)
    rows: list[tuple[str, str]] = [(Message("passages"), passages)]
    if report.shared:
        share = report.shared / report.characters
        shared = Message("{share:7.2%}  in many documents, not copied", share=share)
        rows.append((Message("shared text"), shared))
    wording = sum(aside.kind in WORDING and aside.kind != "shared" for aside in report.asides)
    if wording:
        stretches = Message.counted(
            "{count:,} stretch, not counted as copied",
            "{count:,} stretches, not counted as copied",
            count=wording,
        )
        rows.append((Message("wording"), stretches))
    return rows


def _list_findings(report: Report) -> list[tuple[str, str]]:
    """Return the rows on what may hide copied text, and on pictures; none without any."""
    words = Words(get_language())
    counts = {finding.kind: finding.count for finding in report.findings}
    pictures = counts.pop("pictures", 0)
    rows: list[tuple[str, str]] = []
    if counts:
        parts = [words(HIDING[kind], count=count) for kind, count in counts.items()]
        rows.append((Message("possible hiding"), "; ".join(parts)))
    if pictures:
        unread = Message("{count:,}, text in them is not read", count=pictures)
        rows.append((Message("pictures"), unread))
    return rows


def _print_notes(reports: list[Report]) -> None:
    """Print the notes; a note on all papers is printed once."""
    # The first two are problems, which were told.
    printed = ("damaged_page", "nothing_compared", SAME_TEXT)
    shown = [
        [note for note in select_notes(report.notes) if find_code(note) not in printed]
        for report in reports
    ]
    common, other_notes = split_notes(shown)
    if same := sum(SAME_TEXT in map(find_code, report.notes) for report in reports):
        common.append(Message("{count:,} papers have the text of another paper.", count=same))
    for note in common:
        print_line(Message("note: {note}", note=note))
    for report, notes in zip(reports, other_notes, strict=True):
        for note in notes:
            line = Message("note: {note}", note=note)
            if len(reports) > 1:
                line = Message("note: {paper}: {note}", paper=show(report.paper), note=note)
            print_line(line)
