"""Recipes: the settings of the stages that turn a text into a sketch.

An immutable value, saved as TOML, with an id that changes whenever its results would.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from neardup.base.files import read_whole
from neardup.base.messages import Message
from neardup.base.validation import bad
from neardup.exceptions import InputError, ParameterError
from neardup.recipe.assets import digest
from neardup.recipe.checks import check_recipe
from neardup.recipe.stages import BUNDLED, CORPUS, FILES, STAGES, Stages, in_folder, path_of

#: Names of the built-in recipes, the default first.
BuiltIn = Literal[
    "general",
    "strict",
    "containment",
    "aligned",
    "characters",
    "classic",
    "keywords",
    "improved",
    "shingle",
    "shingle-sample",
    "minhash",
    "news",
    "news-words",
    "bkdr",
]
NAMES: tuple[str, ...] = get_args(BuiltIn)


@dataclass(frozen=True, kw_only=True)
class Recipe(Stages):
    """The stages that turn a text into a sketch, and the definition of a duplicate.

    Parameters
    ----------
    name : str
        Name for display.
    description : str, default=""
        Description in one line.
    normalize, segment, weigh, sketch, decide
        The settings of each stage.

    Raises
    ------
    ParameterError
        If a setting is out of the bounds that its stage documents.

    See Also
    --------
    load_recipe : a recipe by name or from a TOML file.

    Examples
    --------
    >>> from neardup import load_recipe
    >>> recipe = load_recipe("classic")
    >>> recipe.sketch.bits, recipe.weigh.scheme
    (64, 'tf')
    >>> recipe.replace(sketch={"bits": 128}).id == recipe.id
    False
    """

    #: The TOML file that the recipe was read from.
    _file: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        check_recipe(self)

    @property
    def files(self) -> list[str]:
        """The TOML file that the recipe is from, and the files that it refers to."""
        values = [
            (name, getattr(getattr(self, stage), name), words) for stage, name, words in FILES
        ]
        named = [path_of(name, value) for name, value, words in values if value not in words]
        return named if self._file is None else [self._file, *named]

    def _from_file(self, path: str | None) -> Recipe:
        """Remember a file, which is not a setting."""
        if path is not None:
            object.__setattr__(self, "_file", path)
        return self

    @property
    def id(self) -> str:
        """The name and a digest of all that affects a sketch, and of the version of the measure.

        That version is included if a threshold of a measure decides that may change; the other
        settings of `decide` are not.
        """
        return f"{self.name}-{digest(self)}"

    def replace(self, **stages: Any) -> Recipe:
        """Return a copy with some settings changed.

        Parameters
        ----------
        **stages
            ``name`` or ``description`` as str; a stage as a dict of the
            settings to change.

        Returns
        -------
        Recipe

        Raises
        ------
        ParameterError
            If a setting is unknown or out of bounds.
        """
        changes: dict[str, Any] = {}
        for key, value in stages.items():
            if key in STAGES and isinstance(value, dict):
                known = {f.name for f in dataclasses.fields(STAGES[key])}
                for setting in value:
                    if setting not in known:
                        raise _unknown_error(f"{key}.{setting}", known)
                changes[key] = dataclasses.replace(getattr(self, key), **value)
            elif key in ("name", "description"):
                changes[key] = value
            else:
                raise _unknown_error(key, {"name", "description", *STAGES})
        return dataclasses.replace(self, **changes)._from_file(self._file)

    def for_single_texts(self) -> Recipe:
        """Return the recipe with bundled frequencies in place of the corpus.

        Returns
        -------
        Recipe

        Notes
        -----
        A single text has no corpus to count, and neither has the beginning of a stream. So no
        word is left out as rare either. The id tells which table was used.
        """
        if self.weigh.idf == CORPUS:
            # The bundled table has no document counts of words.
            return self.replace(weigh={"idf": BUNDLED, "min_document_frequency": 1})
        return self

    def to_toml(self) -> str:
        """Return the recipe as TOML, for :func:`load_recipe`."""
        import tomli_w

        table = dataclasses.asdict(self)
        table["normalize"] = self.normalize.settings()
        table["segment"] = self.segment.settings()
        table["sketch"] = self.sketch.settings()
        table["decide"] = self.decide.settings()
        for stage in STAGES:
            table[stage] = {k: v for k, v in table[stage].items() if v is not None}
        return tomli_w.dumps(table)


#: What names a recipe: a built-in name, a .toml file, or the recipe itself.
AnyRecipe: TypeAlias = BuiltIn | str | Path | Recipe


def load_recipe(recipe: AnyRecipe = NAMES[0]) -> Recipe:
    """Return a recipe by name, from a TOML file, or unchanged.

    Parameters
    ----------
    recipe : str, Path or Recipe, default="general"
        A built-in name (see :data:`neardup.recipe.NAMES`), or a path that ends
        in ``.toml``. Paths inside the file are relative to the file.

    Returns
    -------
    Recipe

    Raises
    ------
    ParameterError
        If there is no such recipe, or a setting is out of bounds.
    InputError
        If the file cannot be read or is not TOML.

    Examples
    --------
    >>> load_recipe("news").sketch.hash
    'news'
    """
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, (str, os.PathLike)):
        raise bad("recipe", "a name, a path or a Recipe", recipe)
    if isinstance(recipe, str) and recipe in NAMES:
        return _load_built_in(recipe)
    path = Path(recipe)
    if path.suffix != ".toml":
        choices, kind = ", ".join(NAMES), str(recipe).lower()
        names = [name for name in NAMES if _load_built_in(name).sketch.kind == kind]
        expected = Message("one of {choices} or a .toml file", choices=choices)
        if names:
            of_kind = {"kind": kind, "names": ", ".join(names)}
            expected = Message(
                "one of {choices} or a .toml file; recipes of the kind {kind}: {names}",
                choices=choices,
                **of_kind,
            )
        got = repr(str(recipe)[:60])
        raise ParameterError(
            Message(
                "{parameter:named} must be {expected}. Got {value} instead.",
                parameter="recipe",
                expected=expected,
                value=got,
            )
        )
    content = read_whole(path)
    try:
        table = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:  # of TOML, of UTF-8, of a number's length
        raise InputError(
            Message("{file}: not a TOML file: {reason}.", file=str(path), reason=str(error))
        ) from error
    made = _from_table(table, default_name=path.stem, folder=path.parent)
    return made._from_file(str(path))


def recipe_from_table(table: dict[str, Any]) -> Recipe:
    """Return the recipe of a parsed result of :meth:`Recipe.to_toml`.

    Parameters
    ----------
    table : dict
        Paths in it are not resolved.
    """
    return _from_table(table, default_name="recipe", folder=None)


@lru_cache(maxsize=len(NAMES))
def _load_built_in(name: str) -> Recipe:
    text = Path(__file__).with_name("presets").joinpath(f"{name}.toml").read_text("utf-8")
    return _from_table(tomllib.loads(text), default_name=name, folder=None)


def _from_table(table: dict[str, Any], *, default_name: str, folder: Path | None) -> Recipe:
    stages: dict[str, Any] = {}
    for key, value in table.items():
        if key in STAGES:
            if not isinstance(value, dict):
                raise bad(key, "a table", value)
            stages[key] = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
        elif key in ("name", "description"):
            stages[key] = value
        else:
            raise _unknown_error(key, {"name", "description", *STAGES})
    if folder is not None:
        _resolve_paths(stages, folder)
    return Recipe(name=default_name).replace(**stages)


def _resolve_paths(stages: dict[str, Any], folder: Path) -> None:
    for stage, setting, words in FILES:
        value = stages.get(stage, {}).get(setting)
        if isinstance(value, str) and value not in words:
            stages[stage][setting] = in_folder(setting, value, folder)


def _unknown_error(name: str, known: set[str]) -> ParameterError:
    choices = ", ".join(sorted(known))
    return ParameterError(
        Message(
            "A recipe has no setting '{setting}'. It must be one of {choices}.",
            setting=name,
            choices=choices,
        )
    )
