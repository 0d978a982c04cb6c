"""How a text becomes a sketch: recipes, the first four stages with their settings.

A recipe is an immutable value. It prints and saves as TOML, and its id changes
whenever its results would, so sketches made by different recipes are never
compared by mistake.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from neardup._engine.messages import Message, system_words
from neardup._engine.validation import (
    bad,
    check_choice,
    check_flag,
    check_max_distance,
    check_string,
    check_threshold,
    check_whole,
)
from neardup.exceptions import InputError, ParameterError

#: The built-in recipes, the default first.
NAMES = (
    "general",
    "characters",
    "classic",
    "keywords",
    "improved",
    "shingle",
    "shingle-sample",
    "minhash",
    "news",
    "bkdr",
)

BUNDLED = "bundled"
EXTENDED = "extended"
NONE = "none"
CORPUS = "corpus"

#: Settings that name a file, unless they are one of these words.
FILES = (
    ("segment", "user_dictionary", ("",)),
    ("weigh", "idf", (NONE, BUNDLED, CORPUS)),
    ("weigh", "stop_words", (NONE, BUNDLED)),
    ("weigh", "markers", (NONE, BUNDLED, EXTENDED)),
)


@dataclass(frozen=True, kw_only=True)
class Normalize:
    """Stage normalize: what is evened out before anything is compared.

    Parameters
    ----------
    nfkc : bool, default=True
        Unicode compatibility form, so that full-width and half-width forms meet.
    lowercase : bool, default=True
        Lower case, character by character.
    whitespace : {"keep", "collapse", "by-script"}, default="collapse"
        ``collapse`` makes every run of white space one space and trims the
        text; ``by-script`` also removes a run that touches a Chinese or
        Japanese character, where line wraps mean nothing.
    drop_invisible : bool, default=True
        Drop control characters and invisible format characters.
    strip_markup : bool, default=False
        Drop HTML tags, comments, scripts and styles, and decode entities.
    """

    nfkc: bool = True
    lowercase: bool = True
    whitespace: str = "collapse"
    drop_invisible: bool = True
    strip_markup: bool = False


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Stage segment: what counts as a unit of text.

    Parameters
    ----------
    units : str, default="by-script"
        ``words`` (jieba, with part of speech), ``unicode-words``, ``shingles``
        (runs of `k` characters), ``by-script`` (runs of `k` characters in
        scripts without spaces, words elsewhere), ``tagged`` (the text is
        already ``word/tag word/tag``), or ``module:function``, a callable
        ``text -> [(word, tag), ...]``.
    k : int, default=2
        Characters in a shingle; 1 to 64.
    drop_tags : tuple of str, default=()
        For ``tagged``: tokens that contain one of these are dropped.
    user_dictionary : str, default=""
        For ``words``: a file of extra words in jieba's format.
    """

    units: str = "by-script"
    k: int = 2
    drop_tags: tuple[str, ...] = ()
    user_dictionary: str = ""


@dataclass(frozen=True, kw_only=True)
class Weigh:
    """Stage weigh: which units count, and for how much.

    Parameters
    ----------
    scheme : {"once", "tf", "share", "tf-idf", "improved"}, default="tf"
        The weight of a feature; see ``docs/methods.md``.
    idf : str, default="none"
        Where document frequencies come from: ``none``, ``corpus`` (counted in
        a first pass), ``bundled`` (a general table), or a file saved by
        ``neardup idf``.
    min_document_frequency : int, default=1
        Leave out words that fewer documents contain (scikit-learn's ``min_df``);
        at least 1, which leaves out none. Above 1, `idf` must be ``corpus`` or a
        file: elsewhere no documents are counted. A word that the file does not
        have counts as in one document.
    top : int or None, default=None
        Keep only so many features of highest weight; at least 1.
    stop_words : str, default="none"
        ``none``, ``bundled`` (Chinese and English), or a file of one word a line.
    markers : str, default="none"
        For ``improved``: ``none``, ``bundled`` (Chinese words of summary and
        contrast), ``extended`` (these and seven more groups), or a file of one
        marker a line. A marker of one or two characters marks only the word
        that it is, a longer one every word that contains it.
    drop_punctuation : bool, default=False
        Drop units without a letter or digit.
    lowercase_units : bool, default=False
        Lower-case each unit after segmenting.
    """

    scheme: str = "tf"
    idf: str = NONE
    min_document_frequency: int = 1
    top: int | None = None
    stop_words: str = NONE
    markers: str = NONE
    drop_punctuation: bool = False
    lowercase_units: bool = False


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """Stage sketch: features to a short summary.

    Parameters
    ----------
    kind : {"simhash", "minhash", "sample"}, default="simhash"
        ``simhash`` makes a fingerprint and weighs features; ``minhash`` makes a
        signature of the set of features, ``sample`` keeps a share of the
        features themselves. The latter two want the scheme ``once``.
    bits : int, default=128
        For ``simhash``: width of the fingerprint; 32, 64, 128 or 256 with the
        hash ``xxh3``, 1 to 64 with ``news`` and ``bkdr``.
    hash : {"xxh3", "news", "bkdr"}, default="xxh3"
        For ``simhash``: hash of a feature.
    tie : {0, 1}, default=0
        For ``simhash``: the bit where the weighted votes are equal.
    num_perm : int, default=128
        For ``minhash``: values of a signature; 16 to 1024.
    size : int, default=32
        For ``sample``: features kept of a long text, at least so many and about
        twice as many at most; 0 keeps all.

    Examples
    --------
    Five letters of weight 1 to 5, whose last five bits are their places in the
    alphabet: 00101, 11001, 00110, 10101 and 01011. The sums of the bits are -3,
    -1, 1, 1 and 9, so the fingerprint is 00111.

    >>> from neardup import fingerprint, load_recipe
    >>> five_bits = load_recipe("bkdr").replace(
    ...     weigh={"scheme": "tf"}, sketch={"bits": 5}, decide={"max_distance": 2})
    >>> text = "E/n Y/n Y/n F/n F/n F/n U/n U/n U/n U/n K/n K/n K/n K/n K/n"
    >>> f"{fingerprint(text, recipe=five_bits).value:05b}"
    '00111'

    By the recipe ``bkdr`` itself, eight bits. The word that occurs twice
    outweighs the two others, so the fingerprint is its hash.

    >>> eight_bits = load_recipe("bkdr").replace(sketch={"bits": 8}, decide={"max_distance": 3})
    >>> for word in ("渡轮", "码头"):
    ...     print(f"{fingerprint(word + '/n', recipe=eight_bits).value:08b}")
    01101101
    01010011
    >>> found = fingerprint("渡轮/n 停靠/v 码头/n 渡轮/n", recipe=eight_bits)
    >>> f"{found.value:08b}", str(found), found.blocks(2)
    ('01101101', '6d', (5, 5, 1))
    """

    kind: str = "simhash"
    bits: int = 128
    hash: str = "xxh3"
    tie: int = 0
    num_perm: int = 128
    size: int = 32

    def settings(self) -> dict[str, Any]:
        """Return what the kind of sketch looks at."""
        return {name: getattr(self, name) for name in ("kind", *_OF_KIND[self.kind])}


@dataclass(frozen=True, kw_only=True)
class Decide:
    """What counts as a duplicate unless the caller says otherwise.

    Parameters
    ----------
    threshold : float or None, default=None
        Smallest similarity, inclusive, in (0, 1].
    max_distance : int or None, default=None
        For fingerprints: largest number of differing bits, inclusive. With
        `threshold` it bounds the candidates; without, it decides.
    measure : {"content", "resemblance", "sketch"}, default="content"
        The similarity that a threshold is for. ``resemblance`` counts shingles;
        ``content`` besides tells content from template: shingles that many
        documents have count little, and texts whose numbers disagree are not
        similar. ``sketch`` is the similarity of the sketches, unverified.
    common : {"corpus", "none"}, default="corpus"
        For ``content``: where it is counted which shingles are common. ``none``
        takes all for rare.
    shingle : int, default=5
        Characters in the shingles that are compared; 1 to 64.
    min_features : int, default=5
        A text with fewer distinct features has no useful sketch: it equals
        only an identical text.
    """

    threshold: float | None = None
    max_distance: int | None = None
    measure: str = "content"
    common: str = CORPUS
    shingle: int = 5
    min_features: int = 5


#: The settings that each kind of sketch looks at.
_OF_KIND = {
    "simhash": ("bits", "hash", "tie"),
    "minhash": ("num_perm",),
    "sample": ("size",),
}

_CHOICES = {
    ("normalize", "whitespace"): ("keep", "collapse", "by-script"),
    ("weigh", "scheme"): ("once", "tf", "share", "tf-idf", "improved"),
    ("sketch", "kind"): tuple(_OF_KIND),
    ("sketch", "hash"): ("xxh3", "news", "bkdr"),
    ("sketch", "tie"): (0, 1),
    ("decide", "measure"): ("content", "resemblance", "sketch"),
    ("decide", "common"): (CORPUS, NONE),
}
#: Longest shingle in characters, and most of anything that is counted.
_MAX_SHINGLE, _MAX_COUNT = 64, 2**31 - 1
#: Widths of fingerprints by XXH3, and the widest by the other hashes.
_WIDTHS, _WIDEST = (32, 64, 128, 256), 64
_UNITS = ("words", "unicode-words", "shingles", "by-script", "tagged")
_STAGES = {
    "normalize": Normalize,
    "segment": Segment,
    "weigh": Weigh,
    "sketch": Sketch,
    "decide": Decide,
}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The stages that turn a text into a sketch, and what counts as a duplicate.

    Parameters
    ----------
    name : str
        What people call it.
    description : str, default=""
        One line.
    normalize, segment, weigh, sketch, decide
        The settings of each stage.

    Raises
    ------
    ParameterError
        If a setting is outside what its stage documents.

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

    name: str
    description: str = ""
    normalize: Normalize = field(default_factory=Normalize)
    segment: Segment = field(default_factory=Segment)
    weigh: Weigh = field(default_factory=Weigh)
    sketch: Sketch = field(default_factory=Sketch)
    decide: Decide = field(default_factory=Decide)

    def __post_init__(self) -> None:
        _validate(self)

    @property
    def id(self) -> str:
        """The name and a digest of all that decides the bits of a sketch."""
        from neardup._engine.recipe_assets import digest

        return f"{self.name}-{digest(self)}"

    @property
    def callable_name(self) -> str | None:
        """The ``module:function`` that segments, or None."""
        return self.segment.units if ":" in self.segment.units else None

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
            if key in _STAGES and isinstance(value, dict):
                known = {f.name for f in dataclasses.fields(_STAGES[key])}
                for setting in value:
                    if setting not in known:
                        raise _unknown(f"{key}.{setting}", known)
                changes[key] = dataclasses.replace(getattr(self, key), **value)
            elif key in ("name", "description"):
                changes[key] = value
            else:
                raise _unknown(key, {"name", "description", *_STAGES})
        return dataclasses.replace(self, **changes)

    def for_single_texts(self) -> Recipe:
        """Return the recipe with the bundled frequencies where it wants a corpus'.

        Returns
        -------
        Recipe

        Notes
        -----
        One text, or a stream that has only begun, has no corpus to count, so no
        word is left out as rare either. The id says which table was used.
        """
        if self.weigh.idf == CORPUS:
            # The bundled table has no number of documents for a word.
            return self.replace(weigh={"idf": BUNDLED, "min_document_frequency": 1})
        return self

    def to_toml(self) -> str:
        """Return the recipe as TOML that :func:`load_recipe` reads back."""
        import tomli_w

        table = dataclasses.asdict(self)
        table["sketch"] = self.sketch.settings()
        for stage in _STAGES:
            table[stage] = {k: v for k, v in table[stage].items() if v is not None}
        return tomli_w.dumps(table)


def load_recipe(recipe: str | Path | Recipe = NAMES[0]) -> Recipe:
    """Return a recipe by name, from a TOML file, or as it is.

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
        raise bad("recipe", "recipes.name_path_or_recipe", recipe)
    if isinstance(recipe, str) and recipe in NAMES:
        return _built_in(recipe)
    path = Path(recipe)
    if path.suffix != ".toml":
        expected = Message("recipes.name_or_toml", choices=", ".join(NAMES))
        got = repr(str(recipe)[:60])
        raise ParameterError(
            Message("options.must_be", parameter="recipe", expected=expected, value=got)
        )
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            Message("recipes.cannot_be_read", file=str(path), reason=system_words(error))
        ) from error
    except (ValueError, RecursionError) as error:  # of TOML, of UTF-8, of a number's length
        raise InputError(Message("recipes.not_toml", file=str(path), reason=str(error))) from error
    return _from_table(table, default_name=path.stem, folder=path.parent)


def recipe_from_table(table: dict[str, Any]) -> Recipe:
    """Return the recipe that :meth:`Recipe.to_toml` wrote, parsed.

    Parameters
    ----------
    table : dict
        Paths in it are taken as they are.
    """
    return _from_table(table, default_name="recipe", folder=None)


@lru_cache(maxsize=len(NAMES))
def _built_in(name: str) -> Recipe:
    text = resources.files("neardup.recipes").joinpath(f"{name}.toml").read_text("utf-8")
    return _from_table(tomllib.loads(text), default_name=name, folder=None)


def _from_table(table: dict[str, Any], *, default_name: str, folder: Path | None) -> Recipe:
    stages: dict[str, Any] = {}
    for key, value in table.items():
        if key in _STAGES:
            if not isinstance(value, dict):
                raise bad(key, "recipes.table", value)
            stages[key] = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
        elif key in ("name", "description"):
            stages[key] = value
        else:
            raise _unknown(key, {"name", "description", *_STAGES})
    if folder is not None:
        _resolve_paths(stages, folder)
    return Recipe(name=default_name).replace(**stages)


def _resolve_paths(stages: dict[str, Any], folder: Path) -> None:
    for stage, setting, words in FILES:
        value = stages.get(stage, {}).get(setting)
        if isinstance(value, str) and value not in words:
            stages[stage][setting] = str(folder / value)


def _unknown(name: str, known: set[str]) -> ParameterError:
    choices = ", ".join(sorted(known))
    return ParameterError(Message("recipes.no_such_setting", setting=name, choices=choices))


def _validate(recipe: Recipe) -> None:
    check_string(recipe.name, "name")
    check_string(recipe.description, "description")
    for stage, kind in _STAGES.items():
        settings = getattr(recipe, stage)
        if not isinstance(settings, kind):
            raise bad(stage, "recipes.stage", settings, type=kind.__name__)
        for item in dataclasses.fields(kind):
            value = getattr(settings, item.name)
            choices = _CHOICES.get((stage, item.name))
            if choices is not None:
                # 64.0 is equal to 64, and is no number of bits.
                if isinstance(value, float):
                    raise bad(f"{stage}.{item.name}", "recipes.whole_number", value)
                check_choice(value, f"{stage}.{item.name}", choices)
            elif isinstance(item.default, bool):
                check_flag(value, f"{stage}.{item.name}")
            elif isinstance(item.default, str):
                check_string(value, f"{stage}.{item.name}")
    segment, weigh, sketch, decide = recipe.segment, recipe.weigh, recipe.sketch, recipe.decide
    if segment.units not in _UNITS and ":" not in segment.units:
        listed = ", ".join(_UNITS)
        raise bad("segment.units", "recipes.units", segment.units, choices=listed)
    check_whole(segment.k, "segment.k", 1, _MAX_SHINGLE)
    tags = segment.drop_tags
    if not isinstance(tags, tuple) or not all(isinstance(tag, str) for tag in tags):
        raise bad("segment.drop_tags", "recipes.list_of_text", tags)
    if weigh.top is not None:
        check_whole(weigh.top, "weigh.top", 1, _MAX_COUNT)
    check_whole(weigh.min_document_frequency, "weigh.min_document_frequency", 1, _MAX_COUNT)
    check_whole(sketch.num_perm, "sketch.num_perm", 16, 1024)
    check_whole(sketch.size, "sketch.size", 0, _MAX_COUNT)
    _validate_kind(recipe)
    if weigh.scheme in ("tf-idf", "improved") and weigh.idf == NONE:
        raise bad("weigh.idf", "recipes.idf_source", weigh.idf, scheme=weigh.scheme)
    if weigh.min_document_frequency > 1 and weigh.idf in (NONE, BUNDLED):
        raise bad(
            "weigh.min_document_frequency",
            "recipes.one_with_idf",
            weigh.min_document_frequency,
            idf=weigh.idf,
        )
    if decide.threshold is not None:
        check_threshold(decide.threshold, "decide.threshold")
    check_whole(decide.shingle, "decide.shingle", 1, _MAX_SHINGLE)
    check_whole(decide.min_features, "decide.min_features", 1, _MAX_COUNT)


def _validate_kind(recipe: Recipe) -> None:
    """Refuse settings that the kind of sketch does not go with."""
    weigh, sketch, decide = recipe.weigh, recipe.sketch, recipe.decide
    kind = sketch.kind
    for name in sorted(set().union(*_OF_KIND.values()) - set(_OF_KIND[kind])):
        value = getattr(sketch, name)
        if value != getattr(Sketch, name):
            raise bad(f"sketch.{name}", "recipes.left_out_for_kind", value, kind=kind)
    if kind == "simhash":
        if sketch.hash == "xxh3":
            whole = check_whole(sketch.bits, "sketch.bits", 1)
            check_choice(whole, "sketch.bits", _WIDTHS)
        else:
            try:
                check_whole(sketch.bits, "sketch.bits", 1, _WIDEST)
            except ParameterError:
                bounds = {"least": 1, "most": _WIDEST, "hash": sketch.hash}
                raise bad("sketch.bits", "recipes.width_with_hash", sketch.bits, **bounds) from None
        if decide.measure == "sketch":
            raise bad(
                "decide.measure",
                "recipes.measure_of_fingerprints",
                decide.measure,
            )
        if decide.max_distance is not None:
            check_max_distance(decide.max_distance, sketch.bits, "decide.max_distance")
        return
    if weigh.scheme != "once" or weigh.top is not None:
        scheme = weigh.scheme if weigh.top is None else f"{weigh.scheme}, top {weigh.top}"
        raise bad("weigh.scheme", "recipes.once_without_top", scheme, kind=kind)
    if decide.max_distance is not None:
        raise bad(
            "decide.max_distance", "recipes.left_out_for_kind", decide.max_distance, kind=kind
        )
