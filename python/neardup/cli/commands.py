"""The commands: where each of them is, and its arguments and options."""

import argparse
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Unpack, get_args, get_origin

from neardup.base.messages import Message
from neardup.cli.terminal import translate
from neardup.options.options import INPUT, MATCHING, OUTPUT, RUN, TEXT, Option
from neardup.options.signatures import leaves, option_of, options_of

Run = Callable[..., None]

#: Module and function of each command, in the order of the help.
COMMANDS = {
    "dedup": "dedup:run",
    "pairs": "pairs:run",
    "sketch": "sketch:run",
    "contamination": "contamination:run",
    "repeats": "repeats:run",
    "compare": "compare:run",
    "explain": "explain:run",
    "check": "check:run",
    "fingerprint": "fingerprint:run",
    "recipes": "recipes:run",
    "idf": "idf:run",
    "index create": "index.add:create",
    "index add": "index.add:add",
    "index query": "index.query:query",
    "index explain": "index.query:explain",
    "index stats": "index.query:stats",
    "index remove": "index.remove:remove",
    "index rename": "index.remove:rename",
    "index keep": "index.remove:keep",
    "index expire": "index.remove:expire",
    "index reconsider": "index.remove:reconsider",
    "index export": "index.query:export",
    "index recount": "index.upkeep:recount",
    "index backup": "index.upkeep:backup",
    "index restore": "index.upkeep:restore",
    "index compact": "index.upkeep:compact",
    "index check": "index.upkeep:check",
    "serve": "serve:run",
    "serve key create": "serve_keys:create",
    "serve key list": "serve_keys:list_keys",
    "serve key revoke": "serve_keys:revoke",
    "mcp": "mcp:run",
    "evaluate pairs": "evaluate:pairs",
    "evaluate published": "evaluate:published",
}
#: What the help says of commands that share their first words.
GROUPS = {
    "": "Find near-duplicate texts, and say why. Chinese first, any language.",
    "index": "Keep an index of documents, and look up what it has seen before.",
    "serve key": "Make, list and revoke the API keys of a service.",
    "evaluate": "Measure methods and thresholds where the truth is known.",
}


#: Panels of the help, in their order.
PANELS = (
    *("Service", INPUT, "Library", TEXT, MATCHING, "Alignment"),
    *("Cover", OUTPUT, "Limits", RUN),
)


@dataclass(frozen=True)
class Parameter:
    """An argument or an option of a command."""

    name: str
    kind: Any
    option: Option

    @cached_property
    def flags(self) -> list[str]:
        """The flags, the long one first; none for an argument."""
        return self.option.flags(self.name)

    @property
    def title(self) -> str:
        """Its name in messages: a flag, or the name in the help."""
        return self.flags[0] if self.flags else translate(Message(self.metavar)).strip("[].")

    @property
    def metavar(self) -> str:
        """The name of its value in the help."""
        words = {int: "NUMBER", float: "NUMBER", Path: "FILE"}
        return self.option.metavar or words.get(self.word_type, "TEXT")

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return self.kind is bool

    @property
    def takes_many(self) -> bool:
        """Whether it takes several values."""
        kinds = [get_origin(kind) for kind in leaves(self.kind)]
        return self.option.repeated or list in kinds or Sequence in kinds

    @property
    def is_required(self) -> bool:
        """Whether it has no default, not even None."""
        return self.option.default is None and not {NoneType, Any} & set(leaves(self.kind))

    @property
    def word_type(self) -> Any:
        kinds = leaves(self.kind)
        numeric = [kind for kind in (int, float, Path) if kind in kinds and str not in kinds]
        return numeric[0] if numeric else str

    @property
    def described(self) -> dict[str, Any]:
        """The arguments of argparse for the help."""
        text, default = translate(Message(self.option.help)), self.option.default
        if self.is_required:
            text = f"{text} " + translate(Message("[required]"))
        elif default not in (None, False, ()):
            text = f"{text} " + translate(Message("[default: {value}]", value=default))
        shown = {} if self.is_flag else {"metavar": translate(Message(self.metavar))}
        return {"help": text.replace("%", "%%"), **shown}

    def declare(self, parser: argparse._ActionsContainer, **settings: Any) -> Any:
        """Add it to a parser; what is not on the command line is not in the result."""
        if not self.flags:
            nargs = "*" if self.takes_many else "?"
            return parser.add_argument(self.name, nargs=nargs, **settings)
        action = "append" if self.takes_many else "store_true" if self.is_flag else "store"
        settings |= {"dest": self.name, "action": action, "default": argparse.SUPPRESS}
        return parser.add_argument(*self.flags, **settings)


@cache
def list_parameters(run: Run) -> tuple[Parameter, ...]:
    """Return the arguments and the options of a command, in the order of the help."""
    parameters: list[Parameter] = []
    for name, hint in inspect.get_annotations(run, eval_str=True).items():
        origin: Any = get_origin(hint)
        if origin is Unpack:
            group = options_of(get_args(hint)[0]).items()
            parameters += [Parameter(name, *known) for name, known in group if known[1].panel]
        elif origin is Annotated:
            parameters.append(Parameter(name, *option_of(hint)))

    def rank_panel(parameter: Parameter) -> int:
        return PANELS.index(parameter.option.panel or RUN) if parameter.flags else -1

    return tuple(sorted(parameters, key=rank_panel))


@cache
def list_accepted(run: Run) -> tuple[Parameter, ...]:
    """Return the parameters of a command, with the program's language, which its help omits."""
    parameters = list_parameters(run)
    if any(parameter.name == "language" for parameter in parameters):
        return parameters
    return (*parameters, *(p for p in list_parameters(find_command("")) if p.name == "language"))


def map_flags(run: Run) -> dict[str, str]:
    """Return what the user of a command calls each parameter."""
    return {parameter.name: parameter.title for parameter in list_accepted(run)}


def find_command(name: str) -> Run:
    """Return the function of a command, with its module imported."""
    others = "commands:no_command" if name else "parser:run_program"
    module, _, function = COMMANDS.get(name, others).partition(":")
    run: Run = getattr(import_module(f"neardup.cli.{module}"), function)
    return run


def list_children(name: str) -> list[str]:
    """Return what may follow the name of a group."""
    before = f"{name} ".lstrip()
    longer = [other[len(before) :] for other in COMMANDS if other.startswith(before)]
    return list(dict.fromkeys(other.partition(" ")[0] for other in longer))


def format_command(name: str) -> str:
    """Return a command as its user called it."""
    is_module = os.path.basename(sys.argv[0]) == "__main__.py"
    return f"{'python -m ' if is_module else ''}neardup {name}".rstrip()


def no_command() -> None:
    """Have no options: a group of commands."""
