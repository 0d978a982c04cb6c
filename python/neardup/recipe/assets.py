"""Files that a recipe refers to: word lists, dictionaries, tables. Their contents are in its id."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from functools import lru_cache
from typing import Any

from neardup.base.files import read_whole
from neardup.base.lazy import _core
from neardup.base.messages import Message, system_words
from neardup.exceptions import InputError
from neardup.recipe.frequencies import load_idf
from neardup.recipe.measures import MEASURES_OF_TEXTS
from neardup.recipe.stages import (
    BUNDLED,
    CORPUS,
    FILES,
    NONE,
    PLAIN,
    PLAIN_UNITS,
    RUNS,
    SEPARATED,
    Sketch,
    Stages,
    path_of,
)
from neardup.recipe.word_lists import words_of

#: Incremented whenever the bits of a recipe change; see :func:`_find_last_change`.
FORMAT = 9

# State of each file that a recipe names.
_States = tuple[tuple[int, int, int], ...]


def digest(recipe: Stages) -> str:
    """Return twelve hexadecimal digits of all settings and files that affect a recipe's results."""
    return _digest(recipe, _find_states(recipe))


def compiled(recipe: Stages) -> _core.Recipe:
    """Return the core's recipe, with its files loaded."""
    return _compile(recipe, _find_states(recipe))


def core_settings(recipe: Stages) -> dict[str, Any]:
    """Return the settings of the first four stages as the core takes them, without files."""
    table = dataclasses.asdict(recipe)
    settings = {stage: table[stage] for stage in ("normalize", "segment", "weigh")}
    settings["normalize"] |= {
        "ignore": recipe.normalize.settings()["ignore"],
        "drop_punctuation": is_plain(recipe, "punctuation"),
        "drop_ends": is_plain(recipe, "ends"),
        "spell_numbers": is_plain(recipe, "numbers"),
    }
    for name in PLAIN:
        del settings["normalize"][name]
    segment, weigh = settings["segment"], settings["weigh"]
    if recipe.callable_name:
        segment["units"] = "external"
    del segment["user_dictionary"], weigh["markers"]
    if recipe.segment.units != SEPARATED:
        del segment["by"]
    weigh["drop_stop_words"] = weigh.pop("stop_words") != NONE
    if weigh["idf"] not in (NONE, BUNDLED, CORPUS):
        weigh["idf"] = "table"
    return {**settings, "sketch": recipe.sketch.settings()}


def is_plain(recipe: Stages, setting: str) -> bool:
    """Tell whether one of the settings `PLAIN` is on and applies to the units."""
    is_on = getattr(recipe.normalize, setting) == PLAIN[setting]
    return is_on and recipe.segment.units in PLAIN_UNITS


def units_name(recipe: Stages) -> str:
    """Return the name of a recipe's kind of units, for tables that count them."""
    segment = recipe.segment
    if segment.units in RUNS:
        return f"{segment.units}:{segment.k}"
    if segment.units == SEPARATED:
        return f"{segment.units}:{segment.by}"
    return segment.units


def _find_states(recipe: Stages) -> _States:
    states = []
    for stage, setting, words in FILES:
        value = getattr(getattr(recipe, stage), setting)
        if value not in words:
            try:
                status = os.stat(path_of(setting, value))
            except OSError as error:
                # The value may be a misspelt name of a list.
                names = ", ".join(word for word in words if word)
                values = {"file": value, "reason": system_words(error)}
                if names:
                    named = {"setting": f"{stage}.{setting}", "choices": names}
                    message = Message(
                        "{file}: cannot be read: {reason}. '{setting}' takes {choices} or a file.",
                        **values,
                        **named,
                    )
                else:
                    message = Message(
                        "{file}: cannot be read: {reason}.", code="cannot_be_read", **values
                    )
                raise InputError(message) from error
            states.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(states)


@lru_cache(maxsize=64)
def _digest(recipe: Stages, _: _States) -> str:
    table = dataclasses.asdict(recipe)
    for not_of_the_bits in ("name", "description", "decide"):
        del table[not_of_the_bits]
    table["normalize"] = recipe.normalize.settings()
    if not recipe.normalize.fold:
        # As before this setting existed.
        del table["normalize"]["fold"]
    if not recipe.normalize.ignore:
        del table["normalize"]["ignore"]
    for name in PLAIN:
        if not is_plain(recipe, name):
            del table["normalize"][name]
    table["segment"] = recipe.segment.settings()
    table["sketch"] = recipe.sketch.settings()
    if recipe.sketch.seed == Sketch.seed:
        table["sketch"].pop("seed", None)
    if recipe.weigh.min_document_frequency == 1:
        # Keeps the ids of recipes from before this setting existed.
        del table["weigh"]["min_document_frequency"]
    if recipe.weigh.marker_match == "word":
        del table["weigh"]["marker_match"]
    for stage, setting, words in FILES:
        value = table[stage][setting]
        if value not in words:
            # The contents affect the bits, the path does not. A dictionary is always an addition.
            path = path_of(setting, value)
            added = "+" if path != value and setting != "user_dictionary" else ""
            table[stage][setting] = added + hashlib.sha256(read_whole(path)).hexdigest()
    name, measure = recipe.decide.measure, MEASURES_OF_TEXTS.get(recipe.decide.measure)
    if measure and measure.version and recipe.decide.threshold is not None:
        # What a stored decision means changes with the measure.
        table[name] = measure.version
    format = _find_last_change(recipe)
    canonical = json.dumps([format, table], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def _find_last_change(recipe: Stages) -> int:
    """Return the format in which a recipe's bits last changed.

    A recipe whose bits did not change keeps its id, so that data stored with it
    remains readable.
    """
    # Formats 8 and 9 dropped punctuation and ends, spelled numbers by their values, read am and pm,
    # and made shingles of scripts with spaces shorter.
    has_plain = any(is_plain(recipe, name) for name in PLAIN)
    if has_plain or recipe.normalize.ignore or recipe.segment.units == "script-shingles":
        return FORMAT
    # Format 7 read letters in numbers as digits.
    if "look-alikes" in recipe.normalize.fold:
        return 7
    # Format 5 took the keys of samples from the leading half of a hash.
    if recipe.sketch.kind == "sample":
        return 5
    # Format 4 changed the BKDR remainder.
    if recipe.sketch.hash == "bkdr":
        return 4
    # Format 3 changed short markers, the tag null, and the word before the first slash.
    if recipe.weigh.scheme == "improved" or recipe.segment.units == "tagged":
        return 3
    return 2


@lru_cache(maxsize=8)
def _compile(recipe: Stages, _: _States) -> _core.Recipe:
    settings, weigh = core_settings(recipe), recipe.weigh
    idf = None
    if settings["weigh"]["idf"] == "table":
        idf = load_idf(weigh.idf)
        if idf.units != units_name(recipe):
            raise InputError(
                Message(
                    "{file}: counts units of the kind '{found}', and the recipe "
                    "'{recipe}' makes '{expected}'. Count again with: neardup idf "
                    "--recipe {recipe}",
                    file=weigh.idf,
                    found=idf.units,
                    recipe=recipe.name,
                    expected=units_name(recipe),
                )
            )
    return _core.Recipe(
        json.dumps(settings),
        stop_words=None if weigh.stop_words in (NONE, BUNDLED) else words_of(recipe, "stop_words"),
        markers=words_of(recipe, "markers"),
        user_dictionary="\n".join(words_of(recipe, "user_dictionary")) or None,
        idf=None if idf is None else (idf.documents, list(idf.counts), list(idf.counts.values())),
    )
