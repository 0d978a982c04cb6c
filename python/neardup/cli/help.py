"""The help of the commands, in the language of the user, and what a shell can complete."""

import argparse
import inspect
import re
from collections.abc import Iterator
from typing import Any

from neardup.base.display import width_of
from neardup.base.messages import Message
from neardup.cli.commands import (
    COMMANDS,
    GROUPS,
    find_command,
    format_command,
    list_children,
    list_parameters,
)
from neardup.cli.terminal import translate
from neardup.options.options import RUN
from neardup.options.signatures import literals
from neardup.recipe import NAMES, load_recipe

#: Names of values in the help that are files or folders.
_FILES = re.compile("FILE|FOLDER|DIR|INPUT|LOCATION|PATH")
#: What a line does not break in: a word of letters, or a Chinese character, with its punctuation.
_PIECE = re.compile(r"[（“\[]*(?:[!-~]+|.)[，、；：。）”…\]]*\s*")
#: An option or command in the help, and the space before what it does.
_HEADER = re.compile(r"^( +\S.*?\S)( {2,})(?=\S)", re.MULTILINE)


class HelpParser(argparse.ArgumentParser):
    """A parser that prints help in colours, if the terminal has them."""

    def _get_formatter(self) -> Any:
        from rich_argparse import RawDescriptionRichHelpFormatter

        class Formatter(RawDescriptionRichHelpFormatter):
            help_markup = text_markup = False

            def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
                super().add_usage(usage, actions, groups, prefix or translate(Message("Usage: ")))

            def _rich_split_lines(self, text: Any, width: int) -> Any:
                breaks = _find_breaks(text.plain, width)
                return text.divide(breaks) if breaks else super()._rich_split_lines(text, width)

            def format_help(self) -> str:
                return _HEADER.sub(_align_header, super().format_help())

        return Formatter(self.prog, max_help_position=32)


def _find_breaks(text: str, width: int) -> list[int]:
    """Return where the lines of a Chinese text end; nothing for other texts."""
    breaks: list[int] = []
    if width_of(text) == len(text):
        return breaks
    used = 0
    for piece in _PIECE.finditer(text):
        if used + width_of(piece[0].rstrip()) > width:
            breaks.append(piece.start())
            used = 0
        used += width_of(piece[0])
    return breaks


def _align_header(header: re.Match[str]) -> str:
    """Return the header of an option with less space after it for characters of two columns."""
    wide = sum(width_of(character) == 2 for character in header[1])
    return header[1] + " " * max(len(header[2]) - wide, 1)


def read_help(name: str) -> tuple[str, list[str]]:
    """Return what the help of a command or group says, and its examples."""
    docstring = GROUPS.get(name) or inspect.cleandoc(find_command(name).__doc__ or "")
    text, _, examples = docstring.partition("\n\nExamples:\n")
    return text, [line.strip() for line in examples.splitlines()]


def list_texts() -> Iterator[str]:
    """Yield what the help says, and the descriptions of the recipes, for translation."""
    yield from (load_recipe(name).description for name in NAMES)
    for name in dict.fromkeys((*GROUPS, *COMMANDS)):
        yield from read_help(name)[0].split("\n\n")
        for parameter in list_parameters(find_command(name)):
            yield parameter.option.help
            yield parameter.option.panel or RUN
            yield parameter.metavar


def describe_command(
    name: str, parser: argparse.ArgumentParser | None = None, *, completes: bool = False
) -> argparse.ArgumentParser:
    """Return the parser of a command or group with its help.

    Parameters
    ----------
    name : str
    parser : ArgumentParser, optional
        What is filled; by default a new one.
    completes : bool, default=False
        Whether to describe the commands of a group too, and what a shell can complete.
    """
    if completes:
        from shtab import FILE
    parser = parser or HelpParser(format_command(name), add_help=False)
    text, examples = read_help(name)
    paragraphs = [translate(Message(paragraph)) for paragraph in text.split("\n\n")]
    parser.description = "\n\n".join(paragraphs).replace("%", "%%")
    if examples:
        parser.epilog = "\n  ".join((translate(Message("Examples:")), *examples)).replace("%", "%%")
    parameters = list_parameters(find_command(name))
    arguments = [
        translate(Message(parameter.metavar)) for parameter in parameters if not parameter.flags
    ]
    below = (
        [translate(Message("COMMAND")), translate(Message("[ARGS]..."))]
        if list_children(name)
        else []
    )
    parser.usage = " ".join(("%(prog)s", translate(Message("[OPTIONS]")), *arguments, *below))
    arguments_title, options_title = translate(Message("Arguments")), translate(Message("Options"))
    panels = {title: parser.add_argument_group(title) for title in (arguments_title, options_title)}
    panels[options_title].add_argument(
        "-h", "--help", action="help", help=translate(Message("Show this message and exit."))
    )
    for parameter in parameters:
        title = translate(Message(parameter.option.panel or RUN)) if name else options_title
        title = title if parameter.flags else arguments_title
        if title not in panels:
            panels[title] = parser.add_argument_group(title)
        action = parameter.declare(panels[title], **parameter.described)
        choices = literals(parameter.kind)
        if completes and choices:
            action.choices = choices
        elif completes and (not parameter.flags or _FILES.search(parameter.metavar)):
            action.complete = FILE
    if list_children(name):
        commands = parser.add_subparsers(
            title=translate(Message("Commands")), metavar=below[0], prog=format_command(name)
        )
    for child in list_children(name):
        longer = f"{name} {child}".lstrip()
        summary = translate(Message(read_help(longer)[0].partition("\n\n")[0])).replace("%", "%%")
        child_parser = commands.add_parser(child, help=summary, add_help=False)
        if completes:
            describe_command(longer, child_parser, completes=True)
    return parser
