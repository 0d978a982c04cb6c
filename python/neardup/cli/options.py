"""Options of commands: options of functions with flags, and options that only commands have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from neardup.cli import flags
from neardup.options.options import (
    INPUT,
    MATCHING,
    OUTPUT,
    RUN,
    TEXT,
    Checkpoint,
    FirstLine,
    Force,
    Format,
    Full,
    IdField,
    MaxDistance,
    Option,
    RecipeName,
    Report,
    TextField,
    Threshold,
    TitleField,
    Within,
    Workers,
)
from neardup.options.signatures import taken_options

if TYPE_CHECKING:
    from pathlib import Path

    from neardup.recipe import Recipe

__all__ = [
    "INPUT",
    "MATCHING",
    "OUTPUT",
    "RUN",
    "TEXT",
    "Checkpoint",
    "Encoding",
    "FailOnDuplicates",
    "FirstLine",
    "Force",
    "Format",
    "Full",
    "IdField",
    "Inputs",
    "MaxDistance",
    "Quiet",
    "RecipeName",
    "Report",
    "StripMarkup",
    "TextField",
    "Threshold",
    "TitleField",
    "Within",
    "Workers",
    "flags_of",
    "recipe_of",
    "signature_of",
    "typer_signature_of",
]

Inputs = Annotated[
    list[str],
    flags.Argument(
        metavar="INPUT...",
        help="Files (.jsonl .parquet .csv .tsv .txt .md .html .docx .pdf, each also .gz or "
        ".zst), folders of such files, patterns in quotes ('dump/**/*.jsonl*'), or - for "
        "standard input.",
        show_default=False,
    ),
]
StripMarkup = Annotated[
    bool,
    flags.Option(
        "--strip-markup",
        help="Drop HTML tags and decode entities before texts are compared.",
        rich_help_panel=TEXT,
    ),
]
Encoding = Annotated[
    str | None,
    flags.Option(
        "--encoding",
        help="Encoding of the files, which are then read as plain text. By default detected.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
FailOnDuplicates = Annotated[
    bool,
    flags.Option(
        "--fail-on-duplicates",
        help="Exit with 1 if duplicates were found.",
        rich_help_panel=RUN,
    ),
]
Quiet = Annotated[
    bool,
    flags.Option(
        "--quiet", "-q", help="Print errors only: no progress, no summary.", rich_help_panel=RUN
    ),
]


_PANELS = (INPUT, TEXT, MATCHING, OUTPUT, RUN)


def signature_of(run: Callable[..., None]) -> inspect.Signature:
    """Return the signature of a command: types annotated with flags.

    An option of the table takes its default from there.
    """
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(run, eval_str=True).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            parameters += [
                inspect.Parameter(
                    name,
                    parameter.KEYWORD_ONLY,
                    default=option.default,
                    annotation=_with_flags(kind, option),
                )
                for name, (kind, option) in taken_options(run).items()
                if option.flags
            ]
            continue
        if get_origin(parameter.annotation) is Annotated:
            kind, known = get_args(parameter.annotation)
            if isinstance(known, Option):
                parameter = parameter.replace(
                    default=known.default, annotation=_with_flags(kind, known)
                )
            elif isinstance(known, flags.Flags):
                parameter = parameter.replace(annotation=known.annotated(kind))
        parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
    # Panels are shown in the order of their first options.
    parameters.sort(key=lambda parameter: _panel(parameter.annotation))
    return inspect.Signature(parameters)


def typer_signature_of(run: Callable[..., None]) -> inspect.Signature:
    """Return the signature of a command as Typer reads it."""
    signature = signature_of(run)
    return signature.replace(
        parameters=[
            parameter.replace(annotation=_for_typer(parameter.annotation))
            for parameter in signature.parameters.values()
        ]
    )


def _for_typer(annotation: Any) -> Any:
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, known = get_args(annotation)
    return Annotated[kind, known.for_typer()] if isinstance(known, flags.Flags) else annotation


def _panel(annotation: Any) -> int:
    """Return the position of an option's panel; arguments come first."""
    known = get_args(annotation)[-1] if get_origin(annotation) is Annotated else None
    panel = getattr(known, "rich_help_panel", None)
    return _PANELS.index(panel) if panel in _PANELS else -1


def flags_of(run: Callable[..., None]) -> dict[str, str]:
    """Return what the user of a command calls each parameter: a flag, or the name in the help."""
    # An option of the program itself, before the command.
    found = {"language": "--language"}
    for name, parameter in signature_of(run).parameters.items():
        if get_origin(parameter.annotation) is not Annotated:
            continue
        declared = get_args(parameter.annotation)[-1]
        found[name] = declared.flags[0] if declared.flags else _argument(name, declared)
    return found


def _argument(name: str, declared: flags.Flags) -> str:
    """Return the name of an argument in the help."""
    metavar: str = declared.settings.get("metavar") or name.upper()
    return metavar.strip("[].")


def _with_flags(kind: Any, option: Option) -> Any:
    declared = flags.Option(
        *option.flags,
        help=option.help,
        rich_help_panel=option.panel,
        metavar=option.metavar,
        show_default=option.default is not None,
    )
    return declared.annotated(kind, option.command_type)


def recipe_of(recipe: str | Path | Recipe, strip_markup: bool = False) -> Recipe:
    """Return the recipe that the options name."""
    from neardup.recipe import load_recipe

    chosen = load_recipe(recipe)
    return chosen.replace(normalize={"strip_markup": True}) if strip_markup else chosen
