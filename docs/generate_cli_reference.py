"""Write ``cli-reference.md`` from the program's own option definitions.

Usage: python docs/generate_cli_reference.py [--check]

A row that several commands have is written once, in a section of its own.

``--check`` writes nothing; it exits with 1 if the page is out of date. Help texts
are written once, in ``neardup/cli``; a command or an option without one is an
error.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from neardup.cli.commands import COMMANDS, Parameter, find_command, list_parameters
from neardup.cli.help import read_help

PAGE = Path(__file__).with_name("cli-reference.md")

_HEAD = """\
# Command-line reference

Generated from the program by `docs/generate_cli_reference.py`; do not edit.

Results go to standard output or to the named files, everything else to standard error.
[Errors](errors.md) has the exit codes. A flag is off by default.
"""


def page() -> str:
    """Return the whole page."""
    links = []
    for name in COMMANDS:
        if not read_help(name)[0]:
            sys.exit(f"neardup {name} has no help.")
        links.append(f"[{name}](#neardup-{name.replace(' ', '-')})")
    parts = [_HEAD, f"**Commands**: {', '.join(links)}."]
    parts += [
        "",
        "**Options of `neardup` itself**",
        "",
        *_table(list_parameters(find_command("")), {}),
    ]
    rows = Counter(_row(one) for name in COMMANDS for one in list_parameters(find_command(name)))
    # A name stands for one row: the one that the most commands have.
    shared = {row.split("`")[1]: row for row, count in reversed(rows.most_common()) if count > 1}
    parts += [_SHARED, *_shared(shared)]
    for name in COMMANDS:
        parts += _command(name, shared)
    return "\n".join(parts).rstrip() + "\n"


_SHARED = """\
## Options of several commands

Below its own options, each command names those of this table that it has. A row of a command that
begins with *As above* adds to the row of this table.
"""


def _shared(shared: dict[str, str]) -> list[str]:
    """Return the table of the shared rows by panel, in the order in which commands have them."""
    panels: dict[str, dict[str, Parameter]] = {}
    for name in COMMANDS:
        for one in list_parameters(find_command(name)):
            if _row(one) in shared.values():
                panels.setdefault(_panel(one), {}).setdefault(_row(one), one)
    return _table([one for rows in panels.values() for one in rows.values()], {})


def _command(name: str, shared: dict[str, str]) -> list[str]:
    parameters = list_parameters(find_command(name))
    options = [parameter for parameter in parameters if parameter.flags]
    usage = ["neardup", name, *("[OPTIONS]" for _ in options[:1])]
    usage += [argument.metavar for argument in parameters if not argument.flags]
    text, examples = read_help(name)
    parts = [f"## neardup {name}", "", f"    {' '.join(usage)}", "", text, ""]
    parts += [*(f"    {line}" for line in examples), ""]
    ours = [parameter for parameter in parameters if _row(parameter) not in shared.values()]
    if ours:
        parts += _table(ours, shared)
    # The usage line has the arguments.
    others = [_names(one)[0] for one in options if _row(one) in shared.values()]
    if others:
        parts += [f"Also {', '.join(others)}.", ""]
    return parts


def _panel(parameter: Parameter) -> str:
    return parameter.option.panel if parameter.flags else "Arguments"


def _table(parameters: Sequence[Parameter], shared: dict[str, str]) -> list[str]:
    rows = (_short(_row(one), shared) for one in parameters)
    return ["| option | meaning |", "|---|---|", *rows, ""]


def _short(row: str, shared: dict[str, str]) -> str:
    """Return a row of a command, without the help that its name has in the shared table."""
    same = shared.get(row.split("`")[1], "").removesuffix(" |").split(" Default: ")[0]
    return (
        f"{row.split(' | ')[0]} | As above.{row[len(same) :]}"
        if same and row.startswith(same)
        else row
    )


def _names(parameter: Parameter) -> list[str]:
    return [f"`{flag}`" for flag in parameter.flags] or [f"`{_cell(parameter.metavar)}`"]


def _row(parameter: Parameter) -> str:
    value = f" `{_cell(parameter.metavar)}`" if parameter.flags and not parameter.is_flag else ""
    shown = ", ".join(_names(parameter)) + value
    return f"| {shown} | {_help(parameter)}{_default(parameter)} |"


def _help(parameter: Parameter) -> str:
    if not parameter.option.help:
        sys.exit(f"The parameter '{parameter.name}' has no help.")
    return _cell(parameter.option.help)


def _default(parameter: Parameter) -> str:
    if parameter.is_required:
        return " Required." if parameter.flags else ""
    default = parameter.option.default
    return "" if parameter.is_flag or default in (None, ()) else f" Default: `{default}`."


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
