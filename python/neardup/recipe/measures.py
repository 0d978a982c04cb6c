"""The measures that decide about a pair, and all that Python knows of each."""

from dataclasses import dataclass
from typing import Literal

from neardup.base.messages import N_, Message

#: The measures of a recipe; ``sketch`` compares sketches, the others compare texts.
MeasureName = Literal["content", "resemblance", "containment", "aligned", "sketch"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of two texts; the core computes it.

    Parameters
    ----------
    recipe : str
        The recipe whose threshold it has in a recipe with another measure.
    version : int
        Incremented whenever the similarity of two texts changes.
    has_shingles : bool
        Whether its name states the length of shingles.
    """

    recipe: str
    version: int = 0
    has_shingles: bool = True


MEASURES_OF_TEXTS = {
    "content": Measure("general", version=8),
    "resemblance": Measure("shingle"),
    "containment": Measure("containment", version=6),
    "aligned": Measure("aligned", version=2, has_shingles=False),
}
#: The name of the similarity of each kind of sketch.
_OF_SKETCHES = {
    "simhash": "equal_bits",
    "minhash": "equal_values",
    "sample": "sampled_resemblance",
}
#: Names that a translation explains.
_WORDS = {
    "content": N_("content{shingle}"),
    "resemblance": N_("resemblance{shingle}"),
    "containment": N_("containment{shingle}"),
    "aligned": N_("aligned{shingle}"),
    "equal_bits": N_("equal_bits{shingle}"),
    "equal_values": N_("equal_values{shingle}"),
    "sampled_resemblance": N_("sampled_resemblance{shingle}"),
    "identical": N_("identical{shingle}"),
}


def measure_name(measure: str, shingle: int, kind: str) -> str:
    """Return the name that outputs state for a measure; `kind` is the kind of sketch.

    Examples
    --------
    >>> measure_name("content", 5, "sample"), measure_name("sketch", 5, "simhash")
    ('content(5)', 'equal_bits')
    """
    if measure == "sketch":
        return _OF_SKETCHES[kind]
    return f"{measure}({shingle})" if MEASURES_OF_TEXTS[measure].has_shingles else measure


def least_shared(measure: str, threshold: float, shingle: int) -> float:
    """Return the share of shingles that two texts of equal length have in common at a threshold.

    For ``aligned`` it is the least: edits that are spread evenly change the most shingles.
    """
    if measure == "aligned":
        return threshold**shingle
    return 2 * threshold / (1 + threshold)


def least_resemblance(measure: str, threshold: float, shingle: int) -> float:
    """Return the least resemblance that a threshold implies: candidates are searched by it.

    A text may lie in one of any length, so it is 0 for ``containment``.
    """
    if measure == "containment":
        return 0.0
    if measure == "aligned":
        share = least_shared(measure, threshold, shingle)
        return share / (2 - share)
    return threshold


def measure_words(measure: str) -> str:
    """Return the name of a measure for a sentence; other languages say what it is.

    The names of measures that are named by a recipe are returned unchanged.

    Examples
    --------
    >>> print(measure_words("content(5)"))
    content(5)
    """
    name, bracket, shingle = measure.partition("(")
    if name not in _WORDS:
        return measure
    return Message(_WORDS[name], shingle=bracket + shingle)
