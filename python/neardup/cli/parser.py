"""The one parser: argparse, from the options that a command declares in its signature.

Only the parser of the command that is called is made, and its help only where it is asked for.
"""

import argparse
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, Unpack, get_args, get_origin

from neardup.base import __version__
from neardup.base.display import width_of
from neardup.base.messages import LANGUAGES, Language, Message
from neardup.base.validation import check_choice
from neardup.cli.terminal import choose_flags, choose_language, translate
from neardup.exceptions import ParameterError
from neardup.options.options import INPUT, MATCHING, OUTPUT, RUN, TEXT, Option
from neardup.options.signatures import leaves, literals, option_of, options_of, suggestions
from neardup.recipe import NAMES, load_recipe

Run = Callable[..., None]
Shell = Literal["bash", "zsh", "fish"]

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
#: A word that is neither a number nor text in quotes nor standard input.
_OPTION = re.compile(r"-[^\d.\s]\S*")
#: Names of values in the help that are files or folders.
_FILES = re.compile("FILE|FOLDER|DIR|INPUT|LOCATION|PATH")
#: What a line does not break in: a word of letters, or a Chinese character, with its punctuation.
_PIECE = re.compile(r"[（“\[]*(?:[!-~]+|.)[，、；：。）”…\]]*\s*")
#: An option or command in the help, and the space before what it does.
_HEADER = re.compile(r"^( +\S.*?\S)( {2,})(?=\S)", re.MULTILINE)


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
def parameters_of(run: Run) -> tuple[Parameter, ...]:
    """Return the arguments and the options of a command, in the order of the help."""
    parameters: list[Parameter] = []
    for name, hint in inspect.get_annotations(run, eval_str=True).items():
        origin: Any = get_origin(hint)
        if origin is Unpack:
            group = options_of(get_args(hint)[0]).items()
            parameters += [Parameter(name, *known) for name, known in group if known[1].panel]
        elif origin is Annotated:
            parameters.append(Parameter(name, *option_of(hint)))

    def panel(parameter: Parameter) -> int:
        return PANELS.index(parameter.option.panel or RUN) if parameter.flags else -1

    return tuple(sorted(parameters, key=panel))


@cache
def _accepted_by(run: Run) -> tuple[Parameter, ...]:
    """Return the parameters of a command, with the program's language, which its help omits."""
    parameters = parameters_of(run)
    if any(parameter.name == "language" for parameter in parameters):
        return parameters
    return (*parameters, *(p for p in parameters_of(_run_program) if p.name == "language"))


def flags_of(run: Run) -> dict[str, str]:
    """Return what the user of a command calls each parameter."""
    return {parameter.name: parameter.title for parameter in _accepted_by(run)}


def read(words: Sequence[str]) -> tuple[Run, dict[str, Any]]:
    """Return the function of the command that is called, and a value of each parameter.

    Raises
    ------
    ParameterError
        If the words are none of its arguments and options; in one line, with a way out.
    SystemExit
        If they ask for help, for the version or for a script.
    """
    name, count = "", 0
    while count < len(words) and words[count].startswith("-"):
        count += 2 if words[count] in ("--language", "--print-completion") else 1
    if count:
        _run_program(**_values(name, _run_program, words[:count]))
        words = words[count:]
        if not words:
            raise _refused(name, Message("A command is missing."))
    while words and words[0] in children(name):
        name, words = f"{name} {words[0]}".lstrip(), words[1:]
    is_group = bool(children(name))
    if is_group and words and not words[0].startswith("-"):
        problem = Message("`{command}` has no command {name}.", command=_shown(name), name=words[0])
        raise _refused(name, problem, _near(words[0], children(name)))
    run = command(name)
    if not words and (is_group or any(parameter.is_required for parameter in parameters_of(run))):
        described(name).print_help()
        raise SystemExit(2)
    return run, _values(name, run, words)


def command(name: str) -> Run:
    """Return the function of a command, with its module imported."""
    if name not in COMMANDS:
        return _no_command if name else _run_program
    module, _, function = COMMANDS[name].partition(":")
    run: Run = getattr(import_module(f"neardup.cli.{module}"), function)
    return run


def children(name: str) -> list[str]:
    """Return what may follow the name of a group."""
    before = f"{name} ".lstrip()
    longer = [other[len(before) :] for other in COMMANDS if other.startswith(before)]
    return list(dict.fromkeys(other.partition(" ")[0] for other in longer))


def _values(name: str, run: Run, words: Sequence[str]) -> dict[str, Any]:
    """Return the value of each parameter, the default for one that the words do not name."""
    parameters = parameters_of(run)
    given = _given(name, _accepted_by(run), words)
    if "language" in given:
        choose_flags(flags_of(run))
        choose_language(given["language"])
    values: dict[str, Any] = {}
    if "given" in run.__annotations__:
        values["given"] = set(given)
    for parameter in parameters:
        if parameter.name not in given and parameter.is_required:
            if parameter.flags:
                raise _refused(
                    name, Message("The option {option} is missing.", option=parameter.title)
                )
            raise _refused(
                name, Message("The argument {argument} is missing.", argument=parameter.title)
            )
        value = given.get(parameter.name, parameter.option.default)
        if isinstance(value, str) and parameter.name in given:
            try:
                value = parameter.word_type(value)
            except ValueError:
                if int in leaves(parameter.kind):
                    problem = Message("{name} must be a whole number.", name=parameter.title)
                else:
                    problem = Message("{name} must be a number.", name=parameter.title)
                raise _refused(name, problem) from None
        values[parameter.name] = value
    return values


def _given(name: str, parameters: Sequence[Parameter], words: Sequence[str]) -> dict[str, Any]:
    """Return the words of each parameter that is on the command line."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("-h", "--help", action="store_true", default=argparse.SUPPRESS)
    for parameter in parameters:
        if parameter.flags:
            parameter.declare(parser)
    end = words.index("--") if "--" in words else len(words)
    with_value = {
        flag for parameter in parameters if not parameter.is_flag for flag in parameter.flags
    }
    joined, following = [], iter(words[:end])
    for word in following:
        # Joined, the value may begin with a dash.
        value = next(following, None) if word in with_value else None
        joined.append(word if value is None else f"{word}={value}")
    try:
        namespace, rest = parser.parse_known_args(joined)
    except argparse.ArgumentError as error:
        raise _misused(name, parameters, error, words) from None
    given = vars(namespace)
    if given.get("language") in LANGUAGES:
        # Before the help, and before the message about another word.
        choose_language(given["language"])
    if "help" in given:
        described(name).print_help()
        raise SystemExit(0)
    for word in rest:
        if _OPTION.fullmatch(word):
            raise _unknown(name, parameters, word.partition("=")[0])
    rest += words[end + 1 :]
    for parameter in parameters:
        if not parameter.flags and rest:
            count = len(rest) if parameter.takes_many else 1
            given[parameter.name] = rest if parameter.takes_many else rest[0]
            rest = rest[count:]
    if rest:
        arguments = " ".join(rest)
        problem = Message(
            "`{command}` does not take the argument {arguments}.",
            command=_shown(name),
            arguments=arguments,
        )
        raise _refused(name, problem)
    return given


def _misused(
    name: str, parameters: Sequence[Parameter], error: argparse.ArgumentError, words: Sequence[str]
) -> ParameterError:
    """Return the error for an option without its value, or for a flag with one."""
    # By default the only flag that is none of the command's own.
    flags, is_flag = ["--help", "-h"], True
    for parameter in parameters:
        if "/".join(parameter.flags) == error.argument_name:
            flags, is_flag = parameter.flags, parameter.is_flag
    used = [word.partition("=")[0] for word in words]
    flag = next((word for word in reversed(used) if word in flags), flags[0])
    if is_flag:
        return _refused(name, Message("The option {option} takes no value.", option=flag))
    return _refused(name, Message("The option {option} needs a value.", option=flag))


def _unknown(name: str, parameters: Sequence[Parameter], word: str) -> ParameterError:
    """Return the error for an option that a command does not have."""
    word = word if word.startswith("--") else word[:2]
    known = ["--help", *(flag for parameter in parameters for flag in parameter.flags)]
    near = suggestions(word, known)
    if not near and word.startswith("--"):
        near = _near(word, [flag for flag in known if flag.startswith("--")])
    problem = Message("`{command}` has no option {option}.", command=_shown(name), option=word)
    return _refused(name, problem, near)


def _near(word: str, known: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(word, known)


def _refused(name: str, problem: Message, near: Sequence[str] = ()) -> ParameterError:
    """Return a problem with the way out: near names if there are any, else the help."""
    if near:
        return ParameterError(
            Message("{problem} Did you mean {names}?", problem=problem, names=", ".join(near))
        )
    return ParameterError(
        Message("{problem} See `{command} --help`.", problem=problem, command=_shown(name))
    )


def _shown(name: str) -> str:
    """Return a command as its user called it."""
    is_module = os.path.basename(sys.argv[0]) == "__main__.py"
    return f"{'python -m ' if is_module else ''}neardup {name}".rstrip()


def _no_command() -> None:
    """Have no options: a group of commands."""


def _run_program(
    *,
    version: Annotated[bool, Option("Print the version.")],
    language: Annotated[
        Language | None,
        Option(
            "Language of help, messages, tables and reports. By default from LC_ALL, LC_MESSAGES "
            "or LANG. Data does not depend on it.",
            metavar="zh|en",
        ),
    ],
    print_completion: Annotated[
        Shell | None,
        Option(
            "Print the script that makes a shell complete commands, options and their values.",
            metavar="bash|zsh|fish",
        ),
    ],
) -> None:
    """Take the options that are given before the command."""
    choose_flags(flags_of(_run_program))
    if version:
        print(f"neardup {__version__}")
        raise SystemExit(0)
    if language is not None:
        choose_language(language)
    if print_completion is not None:
        check_choice(print_completion, "print_completion", get_args(Shell))
        import shtab

        print(
            shtab.complete(
                described("", _HelpParser("neardup", add_help=False), completes=True),
                print_completion,
            )
        )
        raise SystemExit(0)


class _HelpParser(argparse.ArgumentParser):
    """A parser that prints help in colours, if the terminal has them."""

    def _get_formatter(self) -> Any:
        from rich_argparse import RawDescriptionRichHelpFormatter

        class Formatter(RawDescriptionRichHelpFormatter):
            help_markup = text_markup = False

            def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
                super().add_usage(usage, actions, groups, prefix or translate(Message("Usage: ")))

            def _rich_split_lines(self, text: Any, width: int) -> Any:
                breaks = _breaks(text.plain, width)
                return text.divide(breaks) if breaks else super()._rich_split_lines(text, width)

            def format_help(self) -> str:
                return _HEADER.sub(_aligned, super().format_help())

        return Formatter(self.prog, max_help_position=32)


def _breaks(text: str, width: int) -> list[int]:
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


def _aligned(header: re.Match[str]) -> str:
    """Return the header of an option with less space after it for characters of two columns."""
    wide = sum(width_of(character) == 2 for character in header[1])
    return header[1] + " " * max(len(header[2]) - wide, 1)


def help_of(name: str) -> tuple[str, list[str]]:
    """Return what the help of a command or group says, and its examples."""
    docstring = GROUPS.get(name) or inspect.cleandoc(command(name).__doc__ or "")
    text, _, examples = docstring.partition("\n\nExamples:\n")
    return text, [line.strip() for line in examples.splitlines()]


def help_texts() -> Iterator[str]:
    """Yield what the help says, and the descriptions of the recipes, for translation."""
    yield from (load_recipe(name).description for name in NAMES)
    for name in dict.fromkeys((*GROUPS, *COMMANDS)):
        yield from help_of(name)[0].split("\n\n")
        for parameter in parameters_of(command(name)):
            yield parameter.option.help
            yield parameter.option.panel or RUN
            yield parameter.metavar


def described(
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
    parser = parser or _HelpParser(_shown(name), add_help=False)
    text, examples = help_of(name)
    paragraphs = [translate(Message(paragraph)) for paragraph in text.split("\n\n")]
    parser.description = "\n\n".join(paragraphs).replace("%", "%%")
    if examples:
        parser.epilog = "\n  ".join((translate(Message("Examples:")), *examples)).replace("%", "%%")
    parameters = parameters_of(command(name))
    arguments = [
        translate(Message(parameter.metavar)) for parameter in parameters if not parameter.flags
    ]
    below = (
        [translate(Message("COMMAND")), translate(Message("[ARGS]..."))] if children(name) else []
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
    if children(name):
        commands = parser.add_subparsers(
            title=translate(Message("Commands")), metavar=below[0], prog=_shown(name)
        )
    for child in children(name):
        longer = f"{name} {child}".lstrip()
        summary = translate(Message(help_of(longer)[0].partition("\n\n")[0])).replace("%", "%%")
        child_parser = commands.add_parser(child, help=summary, add_help=False)
        if completes:
            described(longer, child_parser, completes=True)
    return parser
