"""Checks of the settings of a recipe."""

from __future__ import annotations

from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from neardup.base.validation import (
    bad,
    check_choice,
    check_flag,
    check_max_distance,
    check_string,
    check_whole,
)
from neardup.exceptions import ParameterError
from neardup.recipe.stages import (
    BUNDLED,
    NONE,
    OF_KIND,
    RUNS,
    SEPARATED,
    STAGES,
    TAGGED,
    Decide,
    Sketch,
    Stages,
)

#: Widths of fingerprints by XXH3, and the widest by the other hashes.
_WIDTHS, _WIDEST = (32, 64, 128, 256), {"news": 256, "bkdr": 64}
#: The type of each setting of a stage.
_hints = cache(partial(get_type_hints, include_extras=True))
_UNITS = ("words", "unicode-words", *RUNS, *TAGGED, SEPARATED)


def check_recipe(recipe: Stages) -> None:
    """Raise ParameterError if a setting is out of the bounds that its stage documents."""
    check_string(recipe.name, "name")
    check_string(recipe.description, "description")
    for stage, kind in STAGES.items():
        settings = getattr(recipe, stage)
        if not isinstance(settings, kind):
            raise bad(stage, "a {type}", settings, type=kind.__name__)
        for name, hint in _hints(kind).items():
            _check_setting(getattr(settings, name), f"{stage}.{name}", hint)
    segment, weigh, sketch, decide = recipe.segment, recipe.weigh, recipe.sketch, recipe.decide
    if segment.units not in _UNITS and ":" not in segment.units:
        listed = ", ".join(_UNITS)
        raise bad(
            "segment.units", "one of {choices}, or module:function", segment.units, choices=listed
        )
    if segment.units == SEPARATED and not segment.by:
        raise bad("segment.by", "the text between two words, such as ',' or ' '", segment.by)
    if recipe.normalize.ignore and segment.units in (*TAGGED, SEPARATED):
        raise bad(
            "normalize.ignore",
            "left out: texts of the units '{units}' are cut at their signs",
            recipe.normalize.ignore,
            units=segment.units,
        )
    if segment.units != SEPARATED and segment.by:
        raise bad("segment.by", "left out: it is for the units separated", segment.by)
    if sketch.hash != "bkdr" and sketch.seed != Sketch.seed:
        raise bad("sketch.seed", "left out: it is for the hash bkdr", sketch.seed)
    _validate_kind(recipe)
    if weigh.scheme in ("tf-idf", "improved") and weigh.idf == NONE:
        raise bad(
            "weigh.idf", "corpus, bundled or a file for '{scheme}'", weigh.idf, scheme=weigh.scheme
        )
    if weigh.min_document_frequency > 1 and weigh.idf in (NONE, BUNDLED):
        raise bad(
            "weigh.min_document_frequency",
            "1 with the idf '{idf}', for which no documents are counted",
            weigh.min_document_frequency,
            idf=weigh.idf,
        )
    if decide.measure == "containment" and sketch.kind != "sample":
        raise bad(
            "sketch.kind",
            "sample for the measure containment: other sketches find only texts of similar length",
            sketch.kind,
        )
    if decide.measure != "containment" and decide.direction != Decide.direction:
        raise bad(
            "decide.direction", "left out: it is for the measure containment", decide.direction
        )


def _check_setting(value: Any, name: str, hint: Any) -> None:
    """Raise ParameterError if a value is none of the type of its field."""
    origin, of = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if value is not None:
            _check_setting(value, name, of[0])
    elif origin is Annotated and callable(of[1]):
        of[1](value, name)
    elif origin is Annotated:
        check_whole(value, name, *of[1:])
    elif origin is Literal:
        # 1.0 equals 1, but is not accepted.
        if isinstance(value, float):
            raise bad(name, "a whole number", value)
        check_choice(value, name, of)
    elif origin is tuple and (choices := get_args(of[0])):
        if not isinstance(value, tuple) or any(one not in choices for one in value):
            raise bad(name, "a list of {choices}", value, choices=", ".join(choices))
    elif origin is tuple:
        if not isinstance(value, tuple) or not all(isinstance(one, of[0]) for one in value):
            raise bad(name, "a list of text", value)
    elif hint is bool:
        check_flag(value, name)
    elif hint is str:
        check_string(value, name)


def check_bits(bits: int, hash: str, name: str) -> int:
    """Return a width of fingerprints, or raise ParameterError if the hash does not have it."""
    if hash == "xxh3":
        whole = check_whole(bits, name, 1)
        check_choice(whole, name, _WIDTHS)
        return whole
    widest = _WIDEST[hash]
    try:
        return check_whole(bits, name, 1, widest)
    except ParameterError:
        bounds = {"least": 1, "most": widest, "hash": hash}
        raise bad(
            name, "a whole number from {least} to {most} with the hash '{hash}'", bits, **bounds
        ) from None


def _validate_kind(recipe: Stages) -> None:
    """Refuse settings that do not apply to the kind of sketch."""
    weigh, sketch, decide = recipe.weigh, recipe.sketch, recipe.decide
    kind = sketch.kind
    for name in sorted(set().union(*OF_KIND.values()) - set(OF_KIND[kind])):
        value = getattr(sketch, name)
        if value != getattr(Sketch, name):
            raise bad(f"sketch.{name}", "left out for the kind '{kind}'", value, kind=kind)
    if kind == "simhash":
        check_bits(sketch.bits, sketch.hash, "sketch.bits")
        if decide.max_distance is not None:
            check_max_distance(decide.max_distance, sketch.bits, "decide.max_distance")
        return
    if weigh.scheme != "once" or weigh.top is not None:
        scheme = weigh.scheme if weigh.top is None else f"{weigh.scheme}, top {weigh.top}"
        raise bad("weigh.scheme", "once, without top, for the kind '{kind}'", scheme, kind=kind)
    if decide.max_distance is not None:
        raise bad(
            "decide.max_distance", "left out for the kind '{kind}'", decide.max_distance, kind=kind
        )
