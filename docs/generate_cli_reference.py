"""Write ``cli-reference.md`` from the program's own option definitions.

Usage: python docs/generate_cli_reference.py [--check]

``--check`` writes nothing; it exits with 1 if the page is out of date. Help texts
are written once, in ``neardup/cli``; a command or an option without one is an
error.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path

import typer.main

from neardup.cli.program import declared

PAGE = Path(__file__).with_name("cli-reference.md")

_WORDS = {int: "NUMBER", float: "NUMBER", str: "TEXT", Path: "FILE"}

_HEAD = """\
# Command-line reference

Generated from the program by `docs/generate_cli_reference.py`; do not edit.

Results go to standard output or to the named files. Everything else goes to
standard error, each line with the prefix `neardup:`.

| exit code | meaning |
|---|---|
| 0 | success; also if the reader of the output closes the pipe |
| 1 | success, and duplicates were found (only with `--fail-on-duplicates`),\
 or a paper exceeds `--fail-above` |
| 2 | an error, or at least one problem in the input |
| 130 | interrupted by Ctrl-C (SIGINT); 143 by SIGTERM, 129 by SIGHUP |

All errors and problems are on the page [errors](errors.md).
"""


def page() -> str:
    """Return the whole page."""
    group = typer.main.get_command(declared())
    parts = [_HEAD, "| command | does |", "|---|---|"]
    commands = dict(_commands(group))
    for name, command in commands.items():
        anchor = f"neardup {name}".replace(" ", "-")
        parts.append(f"| [`neardup {name}`](#{anchor}) | {_summary(name, command)} |")
    parts.append("")
    parts += _options("Options of `neardup` itself", group, group.params)
    for name, command in commands.items():
        parts += _command(name, command)
    return "\n".join(parts).rstrip() + "\n"


def _commands(group: typing.Any, before: str = "") -> Iterator[tuple[str, typing.Any]]:
    """Yield all commands with their names; the name of a group precedes those of its commands."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            if command.invoke_without_command:
                # A command of its own, too.
                yield f"{before}{name}", command
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _command(name: str, command: typing.Any) -> list[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    usage = " ".join(["neardup", name, *("[OPTIONS]" for _ in options[:1])])
    usage = " ".join([usage, *(a.metavar or a.name.upper() for a in arguments)])
    parts = [f"## neardup {name}", "", f"    {usage}", "", inspect.cleandoc(command.help or ""), ""]
    if command.epilog:
        title, *examples = command.epilog.split("\n\n")
        parts += [title, "", *(f"    {line}" for line in examples), ""]
    if arguments:
        parts += ["| argument | meaning | default |", "|---|---|---|"]
        for a in arguments:
            parts.append(
                f"| `{_cell(a.metavar or a.name.upper())}` | {_help(name, a)} | {_default(a)} |"
            )
        parts.append("")
    panels: dict[str, list[typing.Any]] = {}
    for option in options:
        panels.setdefault(option.rich_help_panel or "Output", []).append(option)
    for panel in _in_order_of_the_stages(panels):
        parts += _options(panel, command, panels[panel], owner=name)
    return parts


def _options(
    title: str, command: typing.Any, options: list[typing.Any], owner: str = "neardup"
) -> list[str]:
    hints = {
        name: typing.get_args(parameter.annotation)[0]
        for name, parameter in inspect.signature(command.callback).parameters.items()
        if typing.get_args(parameter.annotation)
    }
    options = [option for option in options if not option.name.endswith("_completion")]
    if not options:
        return []
    parts = [f"**{title}**", "", "| option | meaning | default |", "|---|---|---|"]
    for option in options:
        names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len, reverse=True))
        value = "" if option.is_flag else f" `{_cell(option.metavar or _word(hints, option.name))}`"
        parts.append(f"| {names}{value} | {_help(owner, option)} | {_default(option)} |")
    parts.append("")
    return parts


def _in_order_of_the_stages(panels: dict[str, list[typing.Any]]) -> list[str]:
    known = ["Service", "Input", "Library", "Text", "Matching"]
    known += ["Alignment", "Output", "Limits", "Run"]
    return [p for p in known if p in panels] + [p for p in panels if p not in known]


def _summary(name: str, command: typing.Any) -> str:
    text = inspect.cleandoc(command.help or "").partition("\n")[0].strip()
    if not text:
        sys.exit(f"neardup {name} has no help.")
    return _cell(text)


def _help(owner: str, parameter: typing.Any) -> str:
    text = " ".join((parameter.help or "").split())
    if not text:
        sys.exit(f"The parameter '{parameter.name}' of {owner} has no help.")
    return _cell(text)


def _default(parameter: typing.Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    if parameter.param_type_name == "option" and parameter.is_flag:
        return "on" if value is True else "off"
    if value is None or not isinstance(value, (str, int, float, Path)):
        return ""
    return f"`{value}`"


def _word(hints: dict[str, typing.Any], name: str) -> str:
    hint = hints.get(name, str)
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        hint = next(kind for kind in typing.get_args(hint) if kind is not type(None))
    return _WORDS.get(hint, "TEXT")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write or check the page, and return the exit code."""
    wanted = page()
    if sys.argv[1:] == ["--check"]:
        found = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if found != wanted:
            print(
                f"{PAGE.name} is out of date; run: python docs/{Path(__file__).name}",
                file=sys.stderr,
            )
            return 1
        return 0
    if sys.argv[1:]:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    PAGE.write_text(wanted, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
