"""The steps of a recipe on a text: words, weights, votes and bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Unpack, get_args

from neardup.base.display import ReprMixin
from neardup.base.lazy import pa
from neardup.base.validation import check_max_distance
from neardup.options.groups import ExplainParameters
from neardup.options.options import Form
from neardup.options.signatures import complete_options, takes_options
from neardup.recipe import Recipe
from neardup.recipe.assets import compiled
from neardup.recipe.batches import first_line
from neardup.recipe.rule import chosen_recipe
from neardup.recipe.stages import NONE, RUNS
from neardup.recipe.text_inputs import check_tagged, checked_text, prepare_text
from neardup.tasks.compare import compare
from neardup.tasks.fingerprints import Fingerprint, join_words

#: One in the fixed point of the core's weights.
_ONE = 1 << 16

#: The features that are named for a differing bit.
_DECISIVE = 3

#: The distance of blocks, for a recipe that names none.
_DISTANCE = 3


@dataclass(frozen=True)
class Feature:
    """A feature of a text, and what its weight is made of.

    Parameters
    ----------
    word : str
        Its text.
    tag : str
        The tag of its first occurrence; empty without one.
    occurrences : int
    tf : float
        Share of the feature in all feature occurrences of the text, in (0, 1]. Features
        that `top` leaves out are counted too.
    idf : float or None
        Inverse document frequency; None if the weights use none.
    part_of_speech, mark, title : int or None
        Terms of the scheme ``improved``: 1 to 3, 0 or 5, 0 or 5; None with another scheme.
    length : float or None
        The term for the length, in [0, 1].
    score : float
        The weight as the method defines it, a fraction.
    weight : int
        The weight that votes: `score` without the divisor that all features share, with
        logarithms rounded to 16 binary places.
    hash : int
        Bit j votes for a one at position j if it is set, else for a zero.
    """

    word: str
    tag: str
    occurrences: int
    tf: float
    idf: float | None
    part_of_speech: int | None
    length: float | None
    mark: int | None
    title: int | None
    score: float
    weight: int
    hash: int

    def votes(self, bit: int) -> int:
        """Return what the feature adds to the sum at a position."""
        return self.weight if self.hash >> bit & 1 else -self.weight


@dataclass(frozen=True, repr=False)
class ExplainedText(ReprMixin):
    """The steps of a recipe on one text.

    Parameters
    ----------
    words : tuple of (str, str)
        The units of the normalized text in order, each with its tag; empty for a recipe of
        shingles.
    features : tuple of Feature
        By descending weight, ties by code points. For a recipe that does not make
        fingerprints, each weighs 1.
    sums : tuple of int
        The sum of the votes at each position, the lowest first; empty without a fingerprint.
    fingerprint : Fingerprint or None
        None for a text without features, or with a recipe that makes none.
    max_distance : int
        The distance that `Fingerprint.blocks` are shown for.
    values : tuple of int
        The keys of a sample, or the values of a signature; empty for a fingerprint.
    """

    words: tuple[tuple[str, str], ...]
    features: tuple[Feature, ...]
    sums: tuple[int, ...]
    fingerprint: Fingerprint | None
    max_distance: int
    values: tuple[int, ...]

    def to_table(self) -> pa.Table:
        """Return the features as a table, a row for each; `hash` is hexadecimal."""
        digits = max((feature.hash.bit_length() for feature in self.features), default=4)
        if self.fingerprint is not None:
            digits = self.fingerprint.bits
        rows = [
            vars(feature) | {"hash": f"{feature.hash:0{-(-digits // 4)}x}"}
            for feature in self.features
        ]
        return pa.Table.from_pylist(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        values: dict[str, Any] = {
            "words": [list(pair) for pair in self.words],
            "features": self.to_table().to_pylist(),
        }
        if self.fingerprint is None:
            return values | ({"values": list(self.values)} if self.values else {})
        forms = {form.replace("-", "_"): self.fingerprint.written(form) for form in get_args(Form)}
        return values | {
            "sums": list(self.sums),
            "fingerprint": forms,
            "max_distance": self.max_distance,
            "blocks": list(self.fingerprint.blocks(self.max_distance)),
            "source_blocks": list(self.fingerprint.source_blocks(self.max_distance)),
        }

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        yield "words", len(self.words)
        yield "features", len(self.features)
        yield "heaviest", " ".join(feature.word for feature in self.features[:_DECISIVE])
        if self.fingerprint is not None:
            yield "fingerprint", self.fingerprint


@dataclass(frozen=True)
class DifferingBit:
    """A bit in which two fingerprints differ.

    Parameters
    ----------
    bit : int
        Its position, the lowest is 0.
    sum_a, sum_b : int
        The sums of the votes there.
    decisive : tuple of (str, int)
        The features whose votes differ most in the direction of the difference, with what
        they add to ``sum_b - sum_a``; at most three.
    """

    bit: int
    sum_a: int
    sum_b: int
    decisive: tuple[tuple[str, int], ...]


@dataclass(frozen=True, repr=False)
class Explanation(ReprMixin):
    """The steps of a recipe on one or two texts, and why two are duplicates or not.

    Parameters
    ----------
    recipe_id : str
    a : ExplainedText
    b : ExplainedText or None
        None if one text was given; then `shared`, `differing` and `verdict` are empty too.
    shared : tuple of str
        The features that both texts have, the heaviest in `a` first.
    differing : tuple of DifferingBit
        The bits in which the fingerprints differ, the lowest first.
    verdict : str
        The sentence of :func:`neardup.compare`.
    frequencies : str or None
        Where the inverse document frequencies are from: ``bundled``, the general table, or the
        name of a file; None if the weights use none.
    """

    recipe_id: str
    a: ExplainedText
    b: ExplainedText | None = None
    shared: tuple[str, ...] = ()
    differing: tuple[DifferingBit, ...] = ()
    verdict: str = ""
    frequencies: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        values = {
            "recipe_id": self.recipe_id,
            "frequencies": self.frequencies,
            "a": self.a.to_dict(),
        }
        if self.b is None:
            return values
        bits = [vars(bit) | {"decisive": dict(bit.decisive)} for bit in self.differing]
        shared = list(self.shared)
        return values | {
            "b": self.b.to_dict(),
            "shared": shared,
            "differing": bits,
            "verdict": str(self.verdict),
        }

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        yield from self.a._summary_rows()
        if self.b is not None:
            yield "fingerprint of b", self.b.fingerprint
            yield "shared features", len(self.shared)
            yield "differing bits", len(self.differing)
            yield "verdict", self.verdict


@takes_options
def explain(a: str, b: str | None = None, **options: Unpack[ExplainParameters]) -> Explanation:
    """Explain what a recipe makes of a text, or of two and their verdict.

    Parameters
    ----------
    a : str
    b : str or None, default=None
        A second text, to be compared with the first.
    {options}

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        If a text has a lone surrogate.
    ParameterError
        If there is no such recipe, or the distance is out of bounds.

    See Also
    --------
    fingerprint : only the fingerprint, faster.
    compare : only the similarity and the verdict.

    Notes
    -----
    A recipe that counts document frequencies in the corpus uses the bundled table here; name a
    table of your own with ``load_recipe(...).replace(weigh={"idf": "table.json"})``.
    O(n log n) for n characters, and O(bits) for each feature.

    Examples
    --------
    The worked example of eight bits: the word that occurs twice outweighs the two others, so
    its hash is the fingerprint.

    >>> import neardup
    >>> eight_bits = neardup.load_recipe("bkdr").replace(
    ...     sketch={"bits": 8}, decide={"max_distance": 3})
    >>> found = neardup.explain("渡轮/n 停靠/v 码头/n 渡轮/n", recipe=eight_bits)
    >>> [(one.word, one.weight, f"{one.hash:08b}") for one in found.a.features]
    [('渡轮', 4, '01101101'), ('停靠', 1, '10000100'), ('码头', 1, '01010011')]
    >>> found.a.sums
    (4, -4, 4, 2, -4, 2, 4, -4)
    >>> str(found.a.fingerprint), found.a.fingerprint.written("bits")
    ('6d', '01101101')
    """
    values = complete_options(explain, options)
    recipe = chosen_recipe(values).for_single_texts()
    distance = values["max_distance"]
    frequencies = None if recipe.weigh.idf == NONE else recipe.weigh.idf
    titles = {name: values[name] for name in ("title_a", "title_b")}
    if values["title_from_first_line"]:
        for name, text in (("title_a", a), ("title_b", b)):
            if titles[name] is None:
                titles[name] = first_line(text)
    first = _explain_text(a, "a", titles["title_a"], recipe, distance)
    if b is None:
        return Explanation(recipe.id, first, frequencies=frequencies)
    second = _explain_text(b, "b", titles["title_b"], recipe, distance)
    verdict = compare(a, b, recipe=recipe, max_distance=distance, **titles).verdict
    others = {feature.word for feature in second.features}
    shared = tuple(feature.word for feature in first.features if feature.word in others)
    differing = _find_differing(first, second)
    return Explanation(recipe.id, first, second, shared, differing, verdict, frequencies)


def _explain_text(
    text: str, name: str, title: str | None, recipe: Recipe, max_distance: int | None
) -> ExplainedText:
    core = compiled(recipe)
    check_tagged(checked_text(text, name), recipe, name)
    _, units = prepare_text(core, recipe, text)
    title = None if title is None else checked_text(title, f"title_{name}")
    # Runs of characters are no words, and have no tags.
    pairs = [] if recipe.segment.units in RUNS else core.units(units)
    tags: dict[str, str] = {}
    for word, tag in pairs:
        tags.setdefault(word.lower() if recipe.weigh.lowercase_units else word, tag)
    raw = core.features(units, title)
    every = raw
    if recipe.weigh.top is not None:
        # A word has a share of all features, with those that `top` leaves out.
        every = compiled(recipe.replace(weigh={"top": None})).features(units, title)
    total = sum(occurrences for _, occurrences, *_ in every)
    features = tuple(_make_feature(item, tags, total, recipe.weigh.scheme) for item in raw)
    count, words, values = core.sketch(units, title)
    bits = recipe.sketch.bits
    if recipe.sketch.kind != "simhash":
        return ExplainedText(tuple(pairs), features, (), None, 0, tuple(values))
    if max_distance is None:
        max_distance = recipe.decide.max_distance
    if max_distance is None:
        max_distance = _DISTANCE
    return ExplainedText(
        words=tuple(pairs),
        features=features,
        sums=tuple(sum(feature.votes(bit) for feature in features) for bit in range(bits)),
        fingerprint=Fingerprint(join_words(words), bits, recipe.id) if count else None,
        max_distance=min(check_max_distance(max_distance, bits), bits - 1),
        values=(),
    )


def _make_feature(
    raw: tuple[str, int, int | None, list[int] | None, int, list[int]],
    tags: dict[str, str],
    total: int,
    scheme: str,
) -> Feature:
    word, occurrences, idf, factors, weight, hashed = raw
    tf = occurrences / total
    rarity = None if idf is None else idf / _ONE
    part_of_speech = length = mark = title = None
    score = {"once": 1.0, "tf": float(occurrences), "share": tf * occurrences}.get(scheme)
    if score is None:
        score = tf * (rarity or 0.0)
    if factors is not None:
        part_of_speech, fixed, mark, title = factors
        length = fixed / _ONE
        score *= 1 + part_of_speech + length + mark + title
    return Feature(
        word=word,
        tag=tags.get(word, ""),
        occurrences=occurrences,
        tf=tf,
        idf=rarity,
        part_of_speech=part_of_speech,
        length=length,
        mark=mark,
        title=title,
        score=score,
        weight=weight,
        hash=join_words(hashed),
    )


def _find_differing(a: ExplainedText, b: ExplainedText) -> tuple[DifferingBit, ...]:
    """Return the bits in which two fingerprints differ, with the features that decided them."""
    if a.fingerprint is None or b.fingerprint is None:
        return ()
    of_a = {feature.word: feature for feature in a.features}
    of_b = {feature.word: feature for feature in b.features}
    words = of_a.keys() | of_b.keys()
    bits = []
    for bit in range(a.fingerprint.bits):
        if (a.fingerprint.value ^ b.fingerprint.value) >> bit & 1 == 0:
            continue
        rises = b.fingerprint.value >> bit & 1
        changes = {
            word: sum(
                sign * of[word].votes(bit) for of, sign in ((of_a, -1), (of_b, 1)) if word in of
            )
            for word in words
        }
        sign = -1 if rises else 1
        by_change = sorted(changes.items(), key=lambda item: (sign * item[1], item[0]))
        decisive = [item for item in by_change[:_DECISIVE] if sign * item[1] < 0]
        bits.append(DifferingBit(bit, a.sums[bit], b.sums[bit], tuple(decisive)))
    return tuple(bits)
