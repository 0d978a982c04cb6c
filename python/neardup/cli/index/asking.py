"""Questions to an index: what a text repeats, why a document is dropped, how large it is."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.base.messages import Message
from neardup.cli import flags
from neardup.cli import options as o
from neardup.cli.index import options as io
from neardup.cli.terminal import tell

if TYPE_CHECKING:
    from neardup.index import Explanation, Index


def query(
    *,
    location: io.Location,
    text: Annotated[
        str | None,
        flags.Argument(
            metavar="[TEXT]", help="The text itself, or - for standard input.", show_default=False
        ),
    ] = None,
    file: Annotated[
        str | None,
        flags.Option(
            "--file",
            metavar="FILE",
            help="A file with the text.",
            rich_help_panel=o.INPUT,
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str | None,
        flags.Option(
            "--title",
            help="Its title, for recipes that weigh titles.",
            rich_help_panel=o.INPUT,
            show_default=False,
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        flags.Option(
            "--encoding",
            help="Encoding of file or standard input. By default detected.",
            rich_help_panel=o.INPUT,
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, flags.Option("-k", help="The most answers.", rich_help_panel=o.OUTPUT)] = 10,
    within: o.Within,
    at: Annotated[
        str | None,
        flags.Option(
            "--at",
            metavar="TIME",
            help="End of --within, such as 2024-03-09T08:00:00+08:00; now by default.",
            rich_help_panel=o.MATCHING,
            show_default=False,
        ),
    ] = None,
    json: io.Json = False,
) -> None:
    """Print the kept documents that a text repeats, the most similar first.

    Nothing is stored. No line means that the text repeats nothing.
    """
    from neardup.cli.compare import read_text
    from neardup.cli.index import show
    from neardup.exceptions import ParameterError

    if at is not None and within is None:
        raise ParameterError(Message("cli.at_without_within"))
    if (text is None) == (file is None):
        raise ParameterError(Message("cli.one_text"))
    if text is not None and text != "-" and os.path.isfile(text):
        name = show.plain(text)
        raise ParameterError(Message("cli.text_is_a_file", file=name))
    asked = text
    if file is not None or text == "-":
        asked = read_text(file or "-", encoding)
    with io.opened(location) as index:
        # Taken here, so that the message names the moment that was looked back from.
        end = datetime.now(UTC) if at is None else io.moment(at, "at")
        matches = index.query(asked or "", k, title=title, at=end, within=within)
        for match in matches:
            if json:
                show.as_json(match)
                continue
            how = "same text" if match.identical else f"{match.similarity:.4f}"
            if match.distance is not None:
                how += f", distance {match.distance}"
            line = f"{how:<10}  {show.plain(match.id)}  {show.beginning(index.get(match.id))}"
            typer.echo(line.rstrip())
        if not matches and not json:
            if within is None:
                tell(Message("cli.nothing_similar"))
            else:
                span, until = show.plain(str(within)), show.time_words(end)
                tell(Message("cli.nothing_similar_within", span=span, until=until))


def explain(
    location: io.Location,
    id: Annotated[
        str, flags.Argument(metavar="ID", help="Id of the document.", show_default=False)
    ],
    json: io.Json = False,
) -> None:
    """Say why a document is kept or dropped, and what happened to it since."""
    from neardup.cli.index import show

    with io.opened(location) as index:
        found = index.explain(id)
        if json:
            show.as_json(_explained(found))
            return
        for line in _lines(index, id, found):
            typer.echo(line)


def _explained(found: Explanation) -> dict[str, Any]:
    table = dataclasses.asdict(found)
    # Of each the kept document is the one that is explained.
    table["dropped"] = [{**dataclasses.asdict(match), "id": id} for id, match in found.dropped]
    return table


def _lines(index: Index, id: str, found: Explanation) -> Iterator[str]:
    from neardup.cli.index import show

    document = found.document
    if document is None:
        yield f"{show.plain(id)} is not in the index any more."
    else:
        yield f"{show.plain(id)}  {show.beginning(document)}".rstrip()
        come = f" from {show.plain(document.source)}" if document.source else ""
        yield f"  arrived {show.time_words(document.at)}{come}"
        match = document.repeats
        if match is not None:
            yield f"  dropped: it {show.match_words(match)}"
            kept = show.beginning(index.get(match.id))
            if kept:
                yield f"    {kept}"
            if found.threshold is not None and not match.identical:
                yield f"  a duplicate has {found.measure} of {found.threshold:g} or more"
        elif document.state == "freed":
            yield "  freed: what it repeated is gone; `neardup index reconsider` decides it again"
        else:
            yield "  kept"
    for other, match in found.dropped:
        how = "same text" if match.identical else f"{match.similarity:.4f}"
        yield f"  dropped for it: {show.plain(other)}  {how}"
    for event in found.events:
        line = f"  {show.time_words(event.at)}  {event.action}{show.event_words(event)}"
        yield line


def clusters(
    *,
    location: io.Location,
    output: Annotated[
        str,
        flags.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Records id, kept_id, similarity, measure, distance; format by extension, - for "
            "standard output.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = "-",
    force: o.Force,
) -> None:
    """List the dropped documents, by the kept ones that they repeat."""
    from neardup.writers import REMOVED, open_output, write_rows

    with io.opened(location) as index:
        io.check_outputs(index, output)
        with open_output(output, force=force) as file:
            write_rows(file, _dropped(index), REMOVED)


def _dropped(index: Index) -> Iterator[dict[str, Any]]:
    return (
        {
            "id": id,
            "kept_id": cluster.id,
            "similarity": match.similarity,
            "measure": match.measure,
            "distance": match.distance,
        }
        for cluster in index.clusters()
        for id, match in cluster.dropped
    )


def stats(location: io.Location, json: io.Json = False) -> None:
    """Print sizes and settings."""
    from neardup.cli.index import show

    with io.opened(location) as index:
        found = index.stats()
    if json:
        show.as_json(found)
    else:
        show.rows(show.stats_rows(found))
