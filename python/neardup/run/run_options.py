"""The validated options of a run: what `dedup`, `pairs`, `sketch` and `fingerprint` share."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from neardup.base.priority import fields_of
from neardup.base.progress import Progress
from neardup.recipe import Recipe, load_recipe
from neardup.recipe.rule import Rule, measured_by, rule


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of a run, as `DedupParameters` documents them, with the recipe loaded."""

    recipe: Recipe
    #: None if nothing is compared.
    rule: Rule | None = None
    text_field: str | None = None
    id_field: str | None = None
    title_field: str | None = None
    max_text: int
    title_from_first_line: bool = False
    on_error: str = "keep"
    priority: str = "first"
    against_only: bool = False
    #: In letters and digits; None if texts of all lengths are compared.
    min_length: int | None = None
    #: None if all documents are compared.
    group_field: str | None = None
    workers: int = 0
    #: In bytes; None if what is collected stays in memory.
    memory: int | None = None
    progress: Progress | None = None
    #: Of a run over files.
    format: str | None = None
    encoding: str | None = None
    force: bool = False
    work: str | Path | None = None
    report: str | Path | None = None
    restore: str | Path | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any], *, compares: bool = True) -> Self:
        """Return the options of a call, as `completed` returns them.

        ParameterError if documents are compared by a bound that does not apply to the recipe.
        """
        recipe = measured_by(load_recipe(options["recipe"]), options.get("measure"))
        exhaustive = options.get("exhaustive", False)
        bounds: dict[str, Any] = {name: options.get(name) for name in ("threshold", "max_distance")}
        given = {field.name: options[field.name] for field in fields(cls) if field.name in options}
        given["recipe"] = recipe
        given["rule"] = rule(recipe, **bounds, exhaustive=exhaustive) if compares else None
        return cls(**given)

    @property
    def fields(self) -> dict[str, Any]:
        """The fields to read, by the readers' names for them."""
        extra = dict.fromkeys([*fields_of(self.priority), *self.fields_of_others["extra_fields"]])
        return self.fields_of_others | {"extra_fields": tuple(extra)}

    @property
    def fields_of_others(self) -> dict[str, Any]:
        """The fields to read of another collection, which has no priority."""
        names = ("text_field", "id_field", "title_field", "max_text")
        return {name: getattr(self, name) for name in names} | {
            "extra_fields": () if self.group_field is None else (self.group_field,)
        }

    def described(self) -> dict[str, Any]:
        """Return all settings that decisions depend on, as plain data."""
        rule = {} if self.rule is None else asdict(self.rule)
        names = ("text_field", "id_field", "title_field", "max_text", "title_from_first_line")
        return {
            "recipe": self.recipe.id,
            "threshold": rule.pop("threshold", None),
            "max_distance": rule.pop("max_distance", None),
            "rule": rule,
            "priority": self.priority,
            "against_only": self.against_only,
            "min_length": self.min_length,
            "group_field": self.group_field,
            **{name: getattr(self, name) for name in names},
        }

    @property
    def reads_titles(self) -> bool:
        """Whether the recipe uses titles."""
        return self.recipe.weigh.scheme == "improved"
