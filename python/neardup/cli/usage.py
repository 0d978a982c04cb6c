"""Usage errors: what the command line says to arguments that it cannot take.

Typer finds them and has sentences for them in English only. Here they become messages:
one line with a way out, in the user's language.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from neardup.base.messages import Message
from neardup.options.signatures import suggestions

__all__ = ["Command", "Group", "UsageError", "epilog_of", "explained", "is_help"]

#: The class of all usage errors. Typer has it from Click, or from a copy of Click.
UsageError: Any = typer.BadParameter.__mro__[1]


def epilog_of(examples: Iterable[str]) -> str:
    """Return what the help of a command ends with."""
    # A blank line between two lines keeps them apart.
    return "\n\n".join(("Examples:", *examples))


class _InContext:
    """Arguments are parsed so that every usage error has its command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments."""
        try:
            parsing: Any = super()
            rest: list[str] = parsing.parse_args(ctx, args)
        except UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        return rest


class Command(_InContext, TyperCommand):
    """A command that names the arguments that it does not take."""

    allow_extra_args = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; raise UsageError if some are left."""
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            problem = Message(
                "cli.unexpected_arguments", command=ctx.command_path, arguments=" ".join(rest)
            )
            ctx.fail(_with_names(problem, [], ctx))
        return rest


class Group(_InContext, TyperGroup):
    """A group of commands that suggests a command for a name that it does not have."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first argument names."""
        name = args[0]
        if name not in self.commands and not ctx.resilient_parsing:
            problem = Message("cli.no_such_command", command=ctx.command_path, name=name)
            ctx.fail(_with_names(problem, get_close_matches(name, self.commands), ctx))
        return super().resolve_command(ctx, args)


def is_help(error: Any) -> bool:
    """Return whether the help was printed because there were no arguments at all."""
    return type(error).__name__ == "NoArgsIsHelpError"


def explained(error: Any) -> str:
    """Return the message of a usage error."""
    said: str = error.message
    if isinstance(said, Message):
        return said
    context, kind = error.ctx, type(error).__name__
    problem: str
    if kind == "NoSuchOption":
        problem = Message(
            "cli.no_such_option", command=context.command_path, option=error.option_name
        )
        known = [flag for one in context.command.params for flag in one.opts]
        names = suggestions(error.option_name, known) or list(error.possibilities or ())
        return _with_names(problem, names, context)
    if kind == "MissingParameter":
        if error.param.param_type_name == "option":
            problem = Message("cli.missing_option", option=error.param.opts[0])
        else:
            problem = Message("cli.missing_argument", argument=_shown(error.param))
    elif kind == "BadOptionUsage":
        flags = {flag for one in context.command.params if _is_flag(one) for flag in one.opts}
        takes = "takes_no_value" if error.option_name in flags else "needs_value"
        problem = Message(f"cli.option_{takes}", option=error.option_name)
    elif kind == "BadParameter":
        problem = Message(f"cli.{_expected(context, error.param)}", name=_shown(error.param))
    elif isinstance(context.command, TyperGroup):
        problem = Message("cli.missing_command")
    else:
        problem = said
    return _with_names(problem, [], context)


def _with_names(problem: str, names: list[str], context: Any) -> Message:
    """Return a problem with the way out: near names if there are any, else the help."""
    if names:
        return Message("cli.did_you_mean", problem=problem, names=", ".join(names))
    return Message("cli.see_help", problem=problem, command=context.command_path)


def _shown(parameter: Any) -> str:
    """Return the flag of an option or the name of an argument, as the help shows it."""
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    name: str = parameter.metavar or parameter.name.upper()
    return name.strip("[].")


def _is_flag(parameter: Any) -> bool:
    return bool(getattr(parameter, "is_flag", False))


def _expected(context: Any, parameter: Any) -> str:
    """Return the code of the value that a parameter takes; only numbers can be wrong."""
    kind = inspect.signature(context.command.callback).parameters[parameter.name].annotation
    kinds = get_args(kind)[:1]
    is_whole = int in (*kinds, *get_args(kinds[0]))
    return "whole_number_expected" if is_whole else "number_expected"
