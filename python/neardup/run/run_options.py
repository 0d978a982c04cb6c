"""The validated options of a run: what `dedup`, `pairs`, `sketch` and `fingerprint` share."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from neardup.base.priority import fields_of
from neardup.recipe import Recipe, load_recipe
from neardup.recipe.rule import Rule, measured_by, rule


@dataclass(frozen=True)
class RunOptions:
    """The validated options of a run.

    Parameters
    ----------
    recipe : Recipe
    rule : Rule or None
        The definition of a duplicate; None if nothing is compared.
    text_field, id_field, title_field : str or None
        Fields that the user named.
    max_text : int
        Bytes of the longest record.
    title_from_first_line : bool
    on_error : {"keep", "drop", "stop"}
    priority : str
        See `DedupParameters`.
    against_only : bool
        Whether documents are compared only with those of another collection.
    workers : int
        Threads; 0 means one for each processor.
    memory : int
        In bytes.
    """

    recipe: Recipe
    rule: Rule | None
    text_field: str | None
    id_field: str | None
    title_field: str | None
    max_text: int
    title_from_first_line: bool
    on_error: str
    priority: str
    against_only: bool
    workers: int
    memory: int

    @classmethod
    def of(cls, options: Mapping[str, Any], *, compares: bool = True) -> Self:
        """Return the options of a call, with the recipe loaded and the rule derived.

        Parameters
        ----------
        options : mapping
            As `completed` returns it.
        compares : bool, default=True
            Whether documents are compared, which requires a bound.

        Raises
        ------
        ParameterError
            If there is no such recipe, or a bound does not apply to it; names the option.
        """
        recipe = measured_by(load_recipe(options["recipe"]), options.get("measure"))
        exhaustive = options.get("exhaustive", False)
        bounds: dict[str, Any] = {name: options.get(name) for name in ("threshold", "max_distance")}
        return cls(
            recipe=recipe,
            rule=rule(recipe, **bounds, exhaustive=exhaustive) if compares else None,
            text_field=options["text_field"],
            id_field=options["id_field"],
            title_field=options["title_field"],
            max_text=options["max_text"],
            title_from_first_line=options["title_from_first_line"],
            on_error=options["on_error"],
            priority=options.get("priority", "first"),
            against_only=options.get("against_only", False),
            workers=options["workers"],
            memory=options["memory"],
        )

    @property
    def fields(self) -> dict[str, Any]:
        """The fields to read, by the readers' names for them."""
        return {
            "text_field": self.text_field,
            "id_field": self.id_field,
            "title_field": self.title_field,
            "max_text": self.max_text,
            "extra_fields": fields_of(self.priority),
        }

    def described(self) -> dict[str, Any]:
        """Return all settings that decisions depend on, as plain data."""
        rule = {} if self.rule is None else asdict(self.rule)
        return {
            "recipe": self.recipe.id,
            "threshold": rule.pop("threshold", None),
            "max_distance": rule.pop("max_distance", None),
            "rule": rule,
            "priority": self.priority,
            "against_only": self.against_only,
            "text_field": self.text_field,
            "id_field": self.id_field,
            "title_field": self.title_field,
            "max_text": self.max_text,
            "title_from_first_line": self.title_from_first_line,
        }

    @property
    def reads_titles(self) -> bool:
        """Whether the recipe uses titles."""
        return self.recipe.weigh.scheme == "improved"
