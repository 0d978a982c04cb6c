"""Questions to an index: the documents that a text repeats, reasons, and sizes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from neardup.base.display import pad
from neardup.base.messages import Message
from neardup.cli.compare import read_texts
from neardup.cli.index import common
from neardup.cli.options import Quiet, declare_file
from neardup.cli.terminal import print_message, print_rows, translate
from neardup.cli.watch import Watch
from neardup.exceptions import ParameterError
from neardup.options import options as o
from neardup.options.index_groups import ExportParameters

if TYPE_CHECKING:
    from neardup.index import Explanation, Index


def query(
    *,
    location: common.Location,
    text: Annotated[
        str | None, o.Argument("The text itself, or - for standard input.", metavar="[TEXT]")
    ],
    file: Annotated[str | None, o.Option("A file with the text.", o.INPUT, metavar="FILE")],
    title: Annotated[str | None, o.Option("Its title, for recipes that weigh titles.", o.INPUT)],
    encoding: o.Encoding,
    k: Annotated[int, o.Option("The most answers.", o.OUTPUT, default=10, flag="-k")],
    within: o.Within,
    at: Annotated[
        str | None,
        o.Option(
            "End of --within, such as 2024-03-09T08:00:00+08:00; now by default.",
            o.MATCHING,
            metavar="TIME",
        ),
    ],
    json: common.Json,
) -> None:
    """Print the kept documents that a text repeats, the most similar first.

    Nothing is stored. No line means that the text repeats nothing.

    Examples:
        neardup index query news.db 'The ferry to Skerrow Island leaves every hour.'
        neardup index query news.db --file new.txt --json
    """
    if at is not None and within is None:
        raise ParameterError(
            Message(
                "The option --at sets the end of the period of --within. Give both, or neither."
            )
        )
    if (text is None) == (file is None):
        raise ParameterError(Message("Give one text: TEXT, - for standard input, or --file FILE."))
    if text is not None and text != "-" and os.path.isfile(text):
        name = common.format_line(text)
        raise ParameterError(
            Message(
                "'{file}' is the name of a file, whose text --file {file} takes. For these "
                "characters, write them to standard input, and give - as TEXT.",
                file=name,
            )
        )
    asked = text
    if file is not None or text == "-":
        asked = read_texts([file or "-"], encoding)[0]
    with common.open_for_command(location) as index:
        # Taken here, so that the message names the moment that was looked back from.
        end = datetime.now(UTC) if at is None else common.parse_moment(at, "at")
        matches = index.query(asked or "", k, title=title, at=end, within=within)
        for match in matches:
            if json:
                common.print_json(match)
                continue
            how = common.format_similarity(match)
            if match.distance is not None:
                how = common.add_distance(how, match.distance)
            kept = common.cut_beginning(index.get(match.id))
            line = f"{pad(translate(how), 10)}  {common.format_line(match.id)}  {kept}"
            print(line.rstrip())
        if not matches and not json:
            if within is None:
                print_message(Message("no kept document is similar enough."))
            else:
                span, until = common.format_line(str(within)), common.format_time(end)
                print_message(
                    Message(
                        "no document kept in the {span} before {until} is similar enough.",
                        span=span,
                        until=until,
                    )
                )


def explain(
    *,
    location: common.Location,
    id: Annotated[str, o.Argument("Id of the document.", metavar="ID")],
    json: common.Json,
) -> None:
    """Say why a document is kept or dropped, and what happened to it since.

    Examples:
        neardup index explain news.db bridge-repost
        neardup index explain news.db bridge --json
    """
    with common.open_for_command(location) as index:
        explanation = index.explain(id)
        if json:
            common.print_json(_convert(explanation))
            return
        for line in _format_lines(index, id, explanation):
            print(line)


def _convert(explanation: Explanation) -> dict[str, Any]:
    table = dataclasses.asdict(explanation)
    # Of each the kept document is the one that is explained.
    table["dropped"] = [
        {**dataclasses.asdict(match), "id": id} for id, match in explanation.dropped
    ]
    return table


def _format_lines(index: Index, id: str, explanation: Explanation) -> Iterator[str]:
    document = explanation.document
    if document is None:
        yield translate(Message("{id} is not in the index any more.", id=common.format_line(id)))
    else:
        yield f"{common.format_line(id)}  {common.cut_beginning(document)}".rstrip()
        arrived = Message("arrived {time}", time=common.format_time(document.at))
        if document.source:
            source = common.format_line(document.source)
            arrived = Message("{arrived} from {source}", arrived=arrived, source=source)
        yield f"  {translate(arrived)}"
        match, by_hand = document.repeats, common.find_decision(explanation.events)
        if match is not None:
            dropped = Message("dropped: it {repeats}", repeats=common.describe_match(match))
            yield f"  {translate(dropped)}"
            kept = common.cut_beginning(index.get(match.id))
            if kept:
                yield f"    {kept}"
            if explanation.threshold is not None and not match.identical:
                least = Message(
                    "a duplicate has {measure} of {threshold:g} or more",
                    measure=explanation.measure,
                    threshold=explanation.threshold,
                )
                yield f"  {translate(least)}"
            if by_hand is not None:
                yield f"  {translate(by_hand)}"
        else:
            yield f"  {translate(by_hand or Message('kept'))}"
    for other, match in explanation.dropped:
        dropped = Message("dropped for it: {id}", id=common.format_line(other))
        yield f"  {translate(dropped)}  {translate(common.format_similarity(match))}"
    for event in explanation.events:
        yield f"  {common.format_time(event.at)}  {translate(common.describe_event(event))}"


def stats(*, location: common.Location, json: common.Json) -> None:
    """Print sizes and settings.

    Examples:
        neardup index stats news.db
        neardup index stats news.db --json
    """
    with common.open_for_command(location) as index:
        stats = index.stats()
    if json:
        common.print_json(stats)
    else:
        print_rows(common.list_stats(stats))


def export(
    *,
    location: common.Location,
    output: Annotated[
        str | None,
        declare_file(
            "Kept documents: id, text, title, source, at and further fields; format by "
            "extension. - for standard output, the default.",
            "-o",
        ),
    ],
    decisions: Annotated[
        str | None,
        declare_file(
            "Decisions on the others: id, kept_id, similarity, measure, distance, reason, at."
        ),
    ],
    quiet: Quiet,
    **options: Unpack[ExportParameters],
) -> None:
    """Write the kept documents, with --include-removed the dropped ones too.

    All of it is as the index was at one moment, whatever others add meanwhile.
    `neardup index add` reads the output.

    Examples:
        neardup index export news.db -o kept.jsonl --decisions dropped.jsonl
        neardup index export news.db --include-removed -o news.jsonl.zst
    """
    with common.open_for_command(location, quiet=quiet) as index, Watch(quiet=quiet) as watch:
        options["progress"] = watch
        index.export(output or "-", decisions=decisions, **options)
