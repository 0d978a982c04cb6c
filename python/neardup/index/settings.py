"""The settings that an index was created with and decides by, stored and compared on opening."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.base.messages import Message
from neardup.base.validation import check_threshold, check_whole, list_differences
from neardup.exceptions import IndexMismatchError, InputError
from neardup.recipe import FILES, Recipe, recipe_from_table
from neardup.recipe.rule import Rule, chosen_recipe, rule
from neardup.recipe.stages import STAGES, in_folder

#: Default number of documents that an index is tuned for.
EXPECTED = 1_000_000


@dataclass(frozen=True)
class Settings:
    """Everything that decisions of an index depend on."""

    recipe: Recipe
    #: None for the recipe's own.
    threshold: float | None
    max_distance: int | None
    #: Number of documents that the candidate search is tuned for.
    expected: int

    @property
    def rule(self) -> Rule:
        """The rule by which a document repeats another."""
        return rule(self.recipe, threshold=self.threshold, max_distance=self.max_distance)

    @property
    def counts(self) -> bool:
        """Whether decisions depend on background statistics of the documents."""
        return self.rule.common or self.rule.scheme == "postings"

    def to_rows(self) -> dict[str, str]:
        """Return the stored form of the settings: values by name."""
        table = dataclasses.asdict(self)
        del table["recipe"]
        table["recipe_id"] = _make_deciding_id(self.recipe, self.threshold)
        return {"recipe": self.recipe.to_toml(), "settings": json.dumps(table, sort_keys=True)}

    @classmethod
    def from_rows(cls, rows: dict[str, str], location: str) -> Settings:
        """Return settings from their stored form, or raise if its sketches cannot be made here."""
        recipe = recipe_from_table(tomllib.loads(rows["recipe"]))
        table: dict[str, Any] = json.loads(rows["settings"])
        stored = table.pop("recipe_id")
        try:
            now = _make_deciding_id(recipe, table["threshold"])
        except InputError as error:
            raise IndexMismatchError(
                Message(
                    "{location}: its recipe '{recipe}' needs a file: {reason} Put it back.",
                    location=location,
                    recipe=stored,
                    reason=error.args[0],
                )
            ) from error
        if now != stored:
            raise IndexMismatchError(
                Message(
                    "{location}: its sketches have the recipe '{recipe}', which is '{found}' "
                    "here. Put the recipe's files back, or export the index with the neardup "
                    "that made it.",
                    location=location,
                    recipe=stored,
                    found=now,
                )
            )
        return cls(recipe=recipe, **table)


def _make_deciding_id(recipe: Recipe, threshold: float | None) -> str:
    """Return the recipe's id with the threshold of the index, if it has one."""
    if threshold is None:
        return recipe.id
    return recipe.replace(decide={"threshold": threshold}).id


def make_settings(wanted: Mapping[str, Any]) -> Settings:
    """Return the settings of an index to be created; None means the default."""
    chosen = {name: value for name, value in wanted.items() if value is not None}
    settings = Settings(
        recipe=_make_paths_absolute(_choose_recipe({"recipe": "general"} | chosen)),
        threshold=wanted["threshold"],
        max_distance=wanted["max_distance"],
        expected=chosen.get("expected", EXPECTED),
    )
    # Raises if threshold or distance do not suit the recipe.
    _ = settings.rule
    return settings


def check_same(stored: Settings, location: str, wanted: Mapping[str, Any]) -> None:
    """Raise unless the wanted settings, where not None, equal the stored ones."""
    listed = compare_settings(stored, wanted)
    if listed is not None:
        raise IndexMismatchError(
            Message(
                "{location}: was created with other settings than requested: {differences}. Leave "
                "them out to use the stored ones, or create another index.",
                location=location,
                differences=listed,
            )
        )


def compare_settings(stored: Settings, wanted: Mapping[str, Any]) -> Message | None:
    """Return the settings that are wanted, not None and not as stored, each with both values."""
    if wanted["threshold"] is not None:
        check_threshold(wanted["threshold"])
    if wanted["max_distance"] is not None:
        check_whole(wanted["max_distance"], "max_distance", 0)
    held: dict[str, Any] = {"expected": stored.expected, "measure": stored.recipe.decide.measure}
    held["ignore"] = stored.recipe.normalize.ignore
    for name in ("threshold", "max_distance"):
        setting = getattr(stored, name)
        held[name] = getattr(stored.rule, name) if setting is None else setting
    asked = {name: wanted[name] for name in held if wanted[name] is not None}
    if wanted["recipe"] is not None:
        recipe = _make_paths_absolute(_choose_recipe(wanted))
        # The recipe has them too.
        for name in ("measure", "ignore"):
            asked.pop(name, None)
        # The id covers only sketches; the definition of a duplicate is compared separately.
        if (recipe.id, recipe.decide) != (stored.recipe.id, stored.recipe.decide):
            held |= _list_values(stored.recipe)
            asked |= _list_values(recipe)
    return list_differences(held, asked)


def _list_values(recipe: Recipe) -> dict[str, Any]:
    """Return the id and the settings of a recipe."""
    stages = {stage: dataclasses.asdict(getattr(recipe, stage)) for stage in STAGES}
    settings = {f"{at}.{name}": value for at, of in stages.items() for name, value in of.items()}
    return {"recipe": recipe.id, **settings}


def _choose_recipe(wanted: Mapping[str, Any]) -> Recipe:
    """Return the recipe of an index, with the measure and what to ignore that were asked for."""
    return chosen_recipe(wanted).for_single_texts()


def _make_paths_absolute(recipe: Recipe) -> Recipe:
    """Return the recipe with absolute paths: the working directory may differ next time."""
    for stage, setting, words in FILES:
        value = getattr(getattr(recipe, stage), setting)
        if value not in words:
            path = in_folder(setting, value, Path.cwd())
            recipe = recipe.replace(**{stage: {setting: path}})
    return recipe
