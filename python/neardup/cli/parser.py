"""The one parser: argparse, from the options that a command declares in its signature.

Only the parser of the command that is called is made, and its help only where it is asked for.
"""

import argparse
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

from neardup.base import __version__
from neardup.base.messages import LANGUAGES, Language, Message
from neardup.base.validation import check_choice
from neardup.cli.commands import (
    Parameter,
    Run,
    find_command,
    format_command,
    list_accepted,
    list_children,
    list_parameters,
    map_flags,
)
from neardup.cli.help import HelpParser, describe_command
from neardup.cli.terminal import choose_flags, choose_language
from neardup.exceptions import ParameterError
from neardup.options.options import Option
from neardup.options.signatures import leaves, suggestions

Shell = Literal["bash", "zsh", "fish"]
#: A word that is neither a number nor text in quotes nor standard input.
_OPTION = re.compile(r"-[^\d.\s]\S*")


def read_words(words: Sequence[str]) -> tuple[Run, dict[str, Any]]:
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
        run_program(**_collect_values(name, run_program, words[:count]))
        words = words[count:]
        if not words:
            raise _refuse(name, Message("A command is missing."))
    while words and words[0] in list_children(name):
        name, words = f"{name} {words[0]}".lstrip(), words[1:]
    is_group = bool(list_children(name))
    if is_group and words and not words[0].startswith("-"):
        problem = Message(
            "`{command}` has no command {name}.", command=format_command(name), name=words[0]
        )
        raise _refuse(name, problem, _find_near(words[0], list_children(name)))
    run = find_command(name)
    if not words and (is_group or any(parameter.is_required for parameter in list_parameters(run))):
        describe_command(name).print_help()
        raise SystemExit(2)
    return run, _collect_values(name, run, words)


def _collect_values(name: str, run: Run, words: Sequence[str]) -> dict[str, Any]:
    """Return the value of each parameter, the default for one that the words do not name."""
    parameters = list_parameters(run)
    given = _parse_words(name, list_accepted(run), words)
    if "language" in given:
        choose_flags(map_flags(run))
        choose_language(given["language"])
    values: dict[str, Any] = {}
    if "given" in run.__annotations__:
        values["given"] = set(given)
    for parameter in parameters:
        if parameter.name not in given and parameter.is_required:
            if parameter.flags:
                raise _refuse(
                    name, Message("The option {option} is missing.", option=parameter.title)
                )
            raise _refuse(
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
                raise _refuse(name, problem) from None
        values[parameter.name] = value
    return values


def _parse_words(
    name: str, parameters: Sequence[Parameter], words: Sequence[str]
) -> dict[str, Any]:
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
        raise _refuse_use(name, parameters, error, words) from None
    given = vars(namespace)
    if given.get("language") in LANGUAGES:
        # Before the help, and before the message about another word.
        choose_language(given["language"])
    if "help" in given:
        describe_command(name).print_help()
        raise SystemExit(0)
    for word in rest:
        if _OPTION.fullmatch(word):
            raise _refuse_option(name, parameters, word.partition("=")[0])
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
            command=format_command(name),
            arguments=arguments,
        )
        raise _refuse(name, problem)
    return given


def _refuse_use(
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
        return _refuse(name, Message("The option {option} takes no value.", option=flag))
    return _refuse(name, Message("The option {option} needs a value.", option=flag))


def _refuse_option(name: str, parameters: Sequence[Parameter], word: str) -> ParameterError:
    """Return the error for an option that a command does not have."""
    word = word if word.startswith("--") else word[:2]
    known = ["--help", *(flag for parameter in parameters for flag in parameter.flags)]
    near = suggestions(word, known)
    if not near and word.startswith("--"):
        near = _find_near(word, [flag for flag in known if flag.startswith("--")])
    problem = Message(
        "`{command}` has no option {option}.", command=format_command(name), option=word
    )
    return _refuse(name, problem, near)


def _find_near(word: str, known: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(word, known)


def _refuse(name: str, problem: Message, near: Sequence[str] = ()) -> ParameterError:
    """Return a problem with the way out: near names if there are any, else the help."""
    if near:
        return ParameterError(
            Message("{problem} Did you mean {names}?", problem=problem, names=", ".join(near))
        )
    return ParameterError(
        Message("{problem} See `{command} --help`.", problem=problem, command=format_command(name))
    )


def run_program(
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
    choose_flags(map_flags(run_program))
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
                describe_command("", HelpParser("neardup", add_help=False), completes=True),
                print_completion,
            )
        )
        raise SystemExit(0)
