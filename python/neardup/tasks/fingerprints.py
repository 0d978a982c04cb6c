"""Fingerprints of texts in memory: stages normalize, segment, weigh and sketch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from neardup.base.lazy import NDArray, np
from neardup.base.messages import Message
from neardup.base.validation import bad, check_choice, check_whole
from neardup.exceptions import ParameterError, SketchMismatchError
from neardup.options.options import Form
from neardup.recipe import AnyRecipe, Recipe, load_recipe
from neardup.recipe.assets import compiled
from neardup.recipe.text_inputs import checked_text, prepare_text, sketch_texts
from neardup.tasks.near import check_rows


@dataclass(frozen=True)
class Fingerprint:
    """A SimHash fingerprint, and the id of the recipe that made it.

    Parameters
    ----------
    value : int
        The bits; bit j of the fingerprint is bit j of this number.
    bits : int
        Width: 1 to 256.
    recipe_id : str
        Id of the recipe; fingerprints of two recipes cannot be compared.
    """

    value: int
    bits: int
    recipe_id: str

    def __str__(self) -> str:
        return f"{self.value:0{-(-self.bits // 4)}x}"

    def distance(self, other: Fingerprint) -> int:
        """Return the number of differing bits.

        Parameters
        ----------
        other : Fingerprint

        Returns
        -------
        int
            Hamming distance in bits, 0 to `bits` inclusive.

        Raises
        ------
        SketchMismatchError
            If the two were made by different recipes.

        Examples
        --------
        >>> from neardup import fingerprint
        >>> a = fingerprint("the engine finds texts that say the same thing twice")
        >>> a.distance(a)
        0
        """
        if not isinstance(other, Fingerprint):
            raise bad("other", "a Fingerprint", other)
        if self.recipe_id != other.recipe_id:
            raise SketchMismatchError(
                Message(
                    "Fingerprints of two recipes cannot be compared: {recipe_id} and "
                    "{other_id}. Sketch both texts with one recipe.",
                    recipe_id=self.recipe_id,
                    other_id=other.recipe_id,
                )
            )
        return (self.value ^ other.value).bit_count()

    def similarity(self, other: Fingerprint) -> float:
        """Return the share of equal bits, in [0, 1]; see :meth:`distance`."""
        return 1 - self.distance(other) / self.bits

    def blocks(self, max_distance: int = 3) -> tuple[int, ...]:
        """Return the fingerprint cut into ``max_distance + 1`` blocks.

        Two fingerprints within `max_distance` bits share at least one block in the same position.
        So blocks can be keys of an index.

        Parameters
        ----------
        max_distance : int, default=3
            Largest number of differing bits, inclusive; 0 <= max_distance < bits.

        Returns
        -------
        tuple of int
            Lowest bits first. Widths differ by at most one bit, the wider first.

        Raises
        ------
        ParameterError
            If `max_distance` is out of bounds.

        Examples
        --------
        >>> Fingerprint(0x1234_5678_9ABC_DEF0, 64, "news").blocks(3) == (
        ...     0xDEF0, 0x9ABC, 0x5678, 0x1234)
        True
        >>> Fingerprint(0b10110, 5, "bkdr").blocks(1) == (0b110, 0b10)
        True
        """
        cut, rest = [], self.value
        for size in choose_block_widths(self.bits, max_distance):
            cut.append(rest & ((1 << size) - 1))
            rest >>= size
        return tuple(cut)

    def source_blocks(self, max_distance: int = 3) -> tuple[int, ...]:
        """Return the block keys of the news program, as it computes them.

        The bits are taken from the lowest up to the highest one that is set. Each
        ``bits // (max_distance + 1)`` of them are read as a binary number, the lowest bit first. A
        rest is left out. So there may be fewer keys than blocks, and two fingerprints within
        `max_distance` bits need not share one: use :meth:`blocks` for an index of your own.

        Parameters
        ----------
        max_distance : int, default=3
            0 <= max_distance < bits.

        Returns
        -------
        tuple of int

        Raises
        ------
        ParameterError
            If `max_distance` is out of bounds.

        Examples
        --------
        The published fingerprint 2307805473197:

        >>> Fingerprint(2307805473197, 64, "news").source_blocks(3)
        (46487, 14282)
        >>> Fingerprint(2307805473197, 64, "news").blocks(3)
        (59821, 21484, 537, 0)
        """
        check_whole(max_distance, "max_distance", 0, self.bits - 1)
        width = self.bits // (max_distance + 1)
        lowest_first = f"{self.value:b}"[::-1] if self.value else ""
        whole = len(lowest_first) // width * width
        return tuple(
            int(lowest_first[begin : begin + width], 2) for begin in range(0, whole, width)
        )

    def written(self, form: Form = "hex") -> str | int | None:
        """Return the fingerprint in a form for files and databases.

        Parameters
        ----------
        form : {"hex", "unsigned", "signed", "bits", "bits-lowest-first"}, default="hex"
            Hexadecimal digits; a whole number; the same as a number of 64 bits in two's
            complement, for columns without unsigned types; binary digits, the highest first;
            the same in reverse, as the news program writes them.

        Returns
        -------
        str or int or None
            None for a number of more than 64 bits.

        Raises
        ------
        ParameterError
            If there is no such form.

        Examples
        --------
        >>> high = Fingerprint(1 << 63, 64, "news")
        >>> high.written("hex"), high.written("unsigned"), high.written("signed")
        ('8000000000000000', 9223372036854775808, -9223372036854775808)
        >>> Fingerprint(5, 5, "bkdr").written("bits")
        '00101'
        >>> Fingerprint(5, 5, "bkdr").written("bits-lowest-first")
        '10100'
        """
        check_choice(form, "form", get_args(Form))
        if form == "hex":
            return str(self)
        if form in ("bits", "bits-lowest-first"):
            digits = f"{self.value:0{self.bits}b}"
            return digits if form == "bits" else digits[::-1]
        if self.bits > 64:
            return None
        wraps = form == "signed" and self.value >> 63
        return self.value - (1 << 64) if wraps else self.value


def fingerprint(
    text: str, *, title: str | None = None, recipe: AnyRecipe = "characters"
) -> Fingerprint | None:
    """Return the fingerprint of one text.

    Parameters
    ----------
    text : str
    title : str or None, default=None
        The title, for a recipe that weighs words of the title.
    recipe : str, Path or Recipe, default="characters"
        See :func:`neardup.load_recipe`. A recipe that counts document
        frequencies in the corpus uses the bundled table here.

    Returns
    -------
    Fingerprint or None
        None for a text without features: it has no sketch and duplicates only an
        identical text.

    Raises
    ------
    InputError
        If the text has a lone surrogate.
    ParameterError
        If there is no such recipe.

    See Also
    --------
    fingerprint_many : the same for many texts, faster.

    Notes
    -----
    O(n) for n characters; deterministic on every platform [1]_.

    References
    ----------
    .. [1] Charikar. Similarity estimation techniques from rounding algorithms.
       STOC 2002.

    Examples
    --------
    >>> import neardup
    >>> str(neardup.fingerprint("灯塔", recipe="classic"))
    '3051c97d53b77c3f'
    >>> neardup.fingerprint("...") is None
    True
    """
    chosen = load_fingerprinting(recipe).for_single_texts()
    core = compiled(chosen)
    _, units = prepare_text(core, chosen, checked_text(text, "text"))
    title = None if title is None else checked_text(title, "title")
    features, words, _ = core.sketch(units, title)
    if not features:
        return None
    return Fingerprint(join_words(words), chosen.sketch.bits, chosen.id)


def fingerprint_many(
    texts: Iterable[str],
    *,
    titles: Iterable[str | None] | None = None,
    recipe: AnyRecipe = "characters",
    workers: int = 0,
) -> NDArray[np.uint64]:
    """Return the fingerprints of many texts.

    Parameters
    ----------
    texts : iterable of str
    titles : iterable of str or None, default=None
        One per text, for a recipe that weighs words of the title.
    recipe : str, Path or Recipe, default="characters"
        See :func:`neardup.load_recipe`. A recipe that counts document
        frequencies in the corpus counts them in `texts`.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes no result.

    Returns
    -------
    ndarray of shape (n_texts, words), dtype uint64
        ``words`` is 1, 2 or 4: enough for the bits; word 0 has the lowest. A row of zeros
        is no fingerprint: it marks a text without features. Leave such rows out of
        a search with ``rows[rows.any(axis=1)]``.

    Raises
    ------
    InputError
        If a text is not a str or has a lone surrogate; names the text.
    ParameterError
        If there is no such recipe.

    Examples
    --------
    >>> import neardup
    >>> neardup.fingerprint_many(["去重", "..."], recipe="classic").shape
    (2, 1)
    """
    return sketch_texts(texts, titles, load_fingerprinting(recipe), workers).fingerprints()


def fingerprint_blocks(
    fingerprints: NDArray[np.uint64], *, bits: int = 64, max_distance: int = 3
) -> NDArray[np.uint64]:
    """Return the blocks of many fingerprints; see `Fingerprint.blocks`.

    Parameters
    ----------
    fingerprints : ndarray of shape (n, words) or (n,), dtype uint64
        As :func:`fingerprint_many` returns them.
    bits : int, default=64
        Width of a fingerprint: 1 to 256.
    max_distance : int, default=3
        0 <= max_distance < bits; a block must have at most 64 bits.

    Returns
    -------
    ndarray of shape (n, max_distance + 1), dtype uint64
        The block of the lowest bits first.

    Raises
    ------
    ParameterError
        If a parameter is out of bounds, or a block has more than 64 bits.

    Examples
    --------
    >>> import numpy as np
    >>> fingerprint_blocks(np.array([0x1234_5678_9ABC_DEF0], np.uint64)).tolist()
    [[57072, 39612, 22136, 4660]]
    """
    rows = check_rows(fingerprints, bits)
    widths = choose_block_widths(bits, max_distance, widest=64)
    blocks = np.zeros((len(rows), len(widths)), np.uint64)
    begin = 0
    for block, width in enumerate(widths):
        word, shift = divmod(begin, 64)
        values = rows[:, word] >> np.uint64(shift)
        if shift + width > 64:
            values = values | rows[:, word + 1] << np.uint64(64 - shift)
        blocks[:, block] = values & np.uint64((1 << width) - 1)
        begin += width
    return blocks


def choose_block_widths(
    bits: int, max_distance: int, *, widest: int | None = None, name: str = "max_distance"
) -> list[int]:
    """Return the bits of each block, for blocks of at most `widest` bits."""
    count = check_whole(max_distance, name, 0, bits - 1) + 1
    width, wider = divmod(bits, count)
    if widest is not None and width + (wider > 0) > widest:
        raise bad(
            name, "larger, so that a block has at most {bits} bits", max_distance, bits=widest
        )
    return [width + (block < wider) for block in range(count)]


def join_words(words: Sequence[int]) -> int:
    """Return the number that words of 64 bits make, the lowest first."""
    return sum(word << (64 * position) for position, word in enumerate(words))


def load_fingerprinting(recipe: AnyRecipe) -> Recipe:
    """Return a recipe; raise ParameterError if it does not make fingerprints."""
    chosen = load_recipe(recipe)
    if chosen.sketch.kind != "simhash":
        raise ParameterError(
            Message(
                "{parameter:named} must be a recipe with fingerprints, not '{value}' with "
                "'{kind}' sketches. Choose a recipe such as 'characters'.",
                parameter="recipe",
                value=chosen.name,
                kind=chosen.sketch.kind,
            )
        )
    return chosen
