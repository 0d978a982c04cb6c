"""The checked options of a run: what `dedup`, `pairs`, `sketch` and `fingerprint` share."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from neardup.base.messages import Language, Message
from neardup.base.priority import fields_of
from neardup.base.progress import Progress
from neardup.exceptions import ParameterError
from neardup.options.groups import DedupFilesParameters, FingerprintFilesParameters
from neardup.options.options import INPUT, MATCHING, TEXT, Form
from neardup.options.reader_parameters import reader_parameters
from neardup.options.signatures import options_of
from neardup.readers.formats import FormatName
from neardup.recipe.measures import MeasureName
from neardup.recipe.recipe import Recipe
from neardup.recipe.rule import Rule, chosen_recipe, rule

_OPTIONS = options_of(FingerprintFilesParameters) | options_of(DedupFilesParameters)

#: Options of those panels that are applied after the documents are sketched.
_LATER = ("on_error", "restore")


class RunOptions:
    """The options of a run by their names, with the recipe loaded and the rule.

    An option that the task does not take has its default.

    Parameters
    ----------
    given : mapping
        The options of a call, as `completed` returns them.
    compares : bool, default=True
        Whether documents are compared; else `rule` is None.

    Raises
    ------
    ParameterError
        If documents are compared by a bound that does not apply to the recipe, or no text has a
        length within the bounds.
    TypeError
        If there is no such option.
    """

    # Input.
    text_field: str | None
    id_field: str | None
    title_field: str | None
    title_from_first_line: bool
    max_text: int
    format: FormatName | None
    encoding: str | None
    on_error: Literal["keep", "drop", "stop"]
    # Text and matching.
    recipe: Recipe
    ignore: Sequence[str]
    measure: MeasureName | None
    threshold: float | None
    max_distance: int | None
    exhaustive: bool
    priority: str
    against_only: bool
    min_length: int | None
    max_length: int | None
    group_field: str | None
    restore: str | None
    #: None if documents are not compared.
    rule: Rule | None
    # Output.
    form: Form
    blocks: int | None
    part_size: int | None
    report: str | Path | None
    annotate: bool
    cluster_size: bool
    copies: bool
    dry_run: bool
    force: bool
    # Run.
    workers: int
    memory: int
    work: str | Path | None
    progress: Progress | None
    language: Language | None

    def __init__(self, given: Mapping[str, Any], *, compares: bool = True) -> None:
        if unknown := given.keys() - _OPTIONS.keys():
            raise TypeError(f"no options of a run: {', '.join(sorted(unknown))}")
        self.given = given
        for name, (_, option) in _OPTIONS.items():
            value = given[name] if name in given else option.checked(option.default, name)
            setattr(self, name, value)
        _check_lengths(self.min_length, self.max_length)
        self.recipe = chosen_recipe(given)
        bounds = {name: getattr(self, name) for name in ("threshold", "max_distance", "exhaustive")}
        self.rule = rule(self.recipe, **bounds) if compares else None

    @property
    def reader(self) -> dict[str, Any]:
        """The parameters for a reader of the input."""
        names = [*fields_of(self.priority), *self.reader_of_others["extra_fields"]]
        return reader_parameters(self.given, names)

    @property
    def reader_of_others(self) -> dict[str, Any]:
        """The parameters for a reader of another collection, which has no priority."""
        return reader_parameters(
            self.given, () if self.group_field is None else (self.group_field,)
        )

    def decisive(self) -> dict[str, Any]:
        """Return the settings that sketches and decisions depend on, as plain data."""
        chosen = {
            name: getattr(self, name)
            for name, (_, option) in _OPTIONS.items()
            if option.panel in (INPUT, TEXT, MATCHING) and name not in _LATER
        }
        rule = {} if self.rule is None else asdict(self.rule)
        bounds = {name: rule.pop(name, None) for name in ("threshold", "max_distance")}
        chosen |= {"recipe": self.recipe.id, "measure": rule.pop("measured", None)}
        return chosen | bounds | {"rule": rule}

    @property
    def reads_titles(self) -> bool:
        """Whether the recipe uses titles."""
        return self.recipe.weigh.scheme == "improved"


def _check_lengths(least: int | None, most: int | None) -> None:
    """Raise if no text is long enough and short enough."""
    if least is not None and most is not None and least > most:
        raise ParameterError(
            Message(
                "{named[min_length]} must be at most {named[max_length]}. Got {least:,} and "
                "{most:,} instead.",
                least=least,
                most=most,
            )
        )


def check_against_only(given: Mapping[str, Any], against: object) -> None:
    """Raise if only another collection counts, and there is none."""
    if given["against_only"] and against is None:
        raise ParameterError(
            Message(
                "{parameter:named} must be left out without another collection. Name "
                "one with {given[against]}.",
                parameter="against_only",
            )
        )
