"""Checks of the settings of a recipe."""

from __future__ import annotations

import dataclasses
from typing import get_args

from neardup.base.validation import (
    MeasureName,
    bad,
    check_choice,
    check_flag,
    check_max_distance,
    check_string,
    check_threshold,
    check_whole,
)
from neardup.exceptions import ParameterError
from neardup.recipe.ignored import check_ignored
from neardup.recipe.stages import (
    BUNDLED,
    CORPUS,
    FOLDINGS,
    NONE,
    OF_KIND,
    PLAIN,
    RUNS,
    SEPARATED,
    STAGES,
    TAGGED,
    Decide,
    Sketch,
    Stages,
)

_CHOICES = {
    ("normalize", "whitespace"): ("keep", "collapse", "by-script"),
    **{("normalize", name): (value, "keep") for name, value in PLAIN.items()},
    ("weigh", "scheme"): ("once", "tf", "share", "tf-idf", "improved"),
    ("weigh", "marker_match"): ("word", "contains"),
    ("sketch", "kind"): tuple(OF_KIND),
    ("sketch", "hash"): ("xxh3", "news", "bkdr"),
    ("sketch", "tie"): (0, 1),
    ("decide", "measure"): get_args(MeasureName),
    ("decide", "direction"): ("contained", "either", "both"),
    ("decide", "common"): (CORPUS, NONE),
}
#: Longest shingle in characters, and largest value of any count.
_MAX_SHINGLE, _MAX_COUNT = 64, 2**31 - 1
#: Widths of fingerprints by XXH3, and the widest by the other hashes.
_WIDTHS, _WIDEST = (32, 64, 128, 256), {"news": 256, "bkdr": 64}
_UNITS = ("words", "unicode-words", *RUNS, *TAGGED, SEPARATED)


def measures_of_texts() -> tuple[str, ...]:
    """Return the measures of a recipe that compare two texts, not their sketches."""
    return tuple(str(name) for name in _CHOICES["decide", "measure"] if name != "sketch")


def check_recipe(recipe: Stages) -> None:
    """Raise ParameterError if a setting is out of the bounds that its stage documents."""
    check_string(recipe.name, "name")
    check_string(recipe.description, "description")
    for stage, kind in STAGES.items():
        settings = getattr(recipe, stage)
        if not isinstance(settings, kind):
            raise bad(stage, "a {type}", settings, type=kind.__name__)
        for item in dataclasses.fields(kind):
            value = getattr(settings, item.name)
            choices = _CHOICES.get((stage, item.name))
            if choices is not None:
                # 64.0 equals 64, but is not accepted as a number of bits.
                if isinstance(value, float):
                    raise bad(f"{stage}.{item.name}", "a whole number", value)
                check_choice(value, f"{stage}.{item.name}", choices)
            elif isinstance(item.default, bool):
                check_flag(value, f"{stage}.{item.name}")
            elif isinstance(item.default, str):
                check_string(value, f"{stage}.{item.name}")
    fold = recipe.normalize.fold
    if not isinstance(fold, tuple) or any(name not in FOLDINGS for name in fold):
        raise bad("normalize.fold", "a list of {choices}", fold, choices=", ".join(FOLDINGS))
    check_ignored(recipe.normalize.ignore, "normalize.ignore")
    segment, weigh, sketch, decide = recipe.segment, recipe.weigh, recipe.sketch, recipe.decide
    if segment.units not in _UNITS and ":" not in segment.units:
        listed = ", ".join(_UNITS)
        raise bad(
            "segment.units", "one of {choices}, or module:function", segment.units, choices=listed
        )
    check_whole(segment.k, "segment.k", 1, _MAX_SHINGLE)
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
    tags = segment.drop_tags
    if not isinstance(tags, tuple) or not all(isinstance(tag, str) for tag in tags):
        raise bad("segment.drop_tags", "a list of text", tags)
    if weigh.top is not None:
        check_whole(weigh.top, "weigh.top", 1, _MAX_COUNT)
    check_whole(weigh.min_document_frequency, "weigh.min_document_frequency", 1, _MAX_COUNT)
    check_whole(sketch.num_perm, "sketch.num_perm", 16, 1024)
    check_whole(sketch.size, "sketch.size", 0, _MAX_COUNT)
    check_whole(sketch.seed, "sketch.seed", 1, _MAX_COUNT)
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
    if decide.threshold is not None:
        check_threshold(decide.threshold, "decide.threshold")
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
    check_whole(decide.shingle, "decide.shingle", 1, _MAX_SHINGLE)
    check_whole(decide.min_features, "decide.min_features", 1, _MAX_COUNT)


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
