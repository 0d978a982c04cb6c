"""Write ``cli-reference.md`` from the program's own option definitions.

Usage: python docs/generate_cli_reference.py [--check]

``--check`` writes nothing; it exits with 1 if the page is out of date. Help texts
are written once, in ``neardup/cli``; a command or an option without one is an
error.
"""

import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from neardup.cli.parser import COMMANDS, Parameter, command, help_of, parameters_of

PAGE = Path(__file__).with_name("cli-reference.md")

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
    parts = [_HEAD, "| command | does |", "|---|---|"]
    for name in COMMANDS:
        anchor = f"neardup {name}".replace(" ", "-")
        summary = help_of(name)[0].partition("\n")[0]
        if not summary:
            sys.exit(f"neardup {name} has no help.")
        parts.append(f"| [`neardup {name}`](#{anchor}) | {_cell(summary)} |")
    parts += ["", *_options("Options of `neardup` itself", parameters_of(command("")))]
    for name in COMMANDS:
        parts += _command(name)
    return "\n".join(parts).rstrip() + "\n"


def _command(name: str) -> list[str]:
    parameters = parameters_of(command(name))
    arguments = [parameter for parameter in parameters if not parameter.flags]
    options = [parameter for parameter in parameters if parameter.flags]
    usage = ["neardup", name, *("[OPTIONS]" for _ in options[:1])]
    usage += [argument.metavar for argument in arguments]
    text, examples = help_of(name)
    parts = [f"## neardup {name}", "", f"    {' '.join(usage)}", "", text, ""]
    parts += ["Examples:", "", *(f"    {line}" for line in examples), ""]
    if arguments:
        parts += ["| argument | meaning | default |", "|---|---|---|"]
        for argument in arguments:
            shown = f"`{_cell(argument.metavar)}`"
            parts.append(f"| {shown} | {_help(argument)} | {_default(argument)} |")
        parts.append("")
    for panel, shown in groupby(options, lambda option: option.option.panel):
        parts += _options(panel, list(shown))
    return parts


def _options(title: str, options: Sequence[Parameter]) -> list[str]:
    parts = [f"**{title}**", "", "| option | meaning | default |", "|---|---|---|"]
    for option in options:
        names = ", ".join(f"`{flag}`" for flag in option.flags)
        value = "" if option.is_flag else f" `{_cell(option.metavar)}`"
        parts.append(f"| {names}{value} | {_help(option)} | {_default(option)} |")
    return [*parts, ""]


def _help(parameter: Parameter) -> str:
    if not parameter.option.help:
        sys.exit(f"The parameter '{parameter.name}' has no help.")
    return _cell(parameter.option.help)


def _default(parameter: Parameter) -> str:
    if parameter.is_required:
        return "required"
    default = parameter.option.default
    if parameter.is_flag:
        return "off"
    return "" if default in (None, ()) else f"`{default}`"


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
