"""Edits: the words of a piece that its source does not have, and the reverse.

A Chinese character is a word here. Runs of five words that both texts have exactly once are fixed
points (patience diff); the short parts between them are compared by Ratcliff and Obershelp. So the
time is linear in the length. Parts of hundreds of words without a fixed point count as edited
entirely.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from neardup.base.lazy import _core

Span = tuple[int, int]

#: Chinese characters and kana, for a character class of a pattern.
HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

#: Accents, and the points of Hebrew and Arabic.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c2\u05c4-\u05c7\u064b-\u065f\u0670"
#: A word: a Chinese character or kana, or a word of another script with its marks.
_WORD = re.compile(f"[{HAN}]|[^\\W_{HAN}](?:[^\\W_{HAN}]|[{_MARKS}])*")
#: Two letters of one word.
_LETTERS = re.compile(f"[^\\W_{HAN}]{{2}}")
#: Scripts that have no spaces between words: Thai, Lao, Burmese, Khmer.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
#: Two letters between which no word ends.
_CUT = re.compile(f"[^\\W_{HAN}{_UNSPACED}]{{2}}")
#: Largest number of letters by which a span is extended to the bounds of words.
_WIDENED = 40
#: Number of words of a fixed point.
_POINT = 5
#: Largest number of pairs of words that are compared between two fixed points.
_PAIRS = 40_000


def make_fold() -> Callable[[str], str]:
    """Return a function that maps equivalent characters to the same one, and points to none.

    Look-alikes are not folded here: which letter replaces one depends on the text around it.
    """
    plain = _core.Aligner().plain
    known: dict[str, str] = {}

    def fold(character: str) -> str:
        if character not in known:
            known[character] = plain(character).casefold()
        return known[character]

    return fold


def find_replacements(
    text: str, other_text: str, fold: Callable[[str], str]
) -> Iterator[tuple[Span, Span]]:
    """Yield the places where two texts differ, each with its place in the other text, in order.

    Only words are compared, so a place begins and ends with a word. It is empty where the other
    text has more words; it is then the place before the next word.

    Examples
    --------
    >>> list(find_replacements("渡轮明天试航。", "渡轮后天免费试航。", make_fold()))
    [((2, 3), (2, 3)), ((4, 4), (4, 6))]
    """
    places, other_places = find_words(text), find_words(other_text)
    words, others = _fold_words(text, places, fold), _fold_words(other_text, other_places, fold)
    if words == others:
        return
    for low, high, other_low, other_high in _find_differing(words, others):
        here = _find_span(places, low, high, len(text))
        yield here, _find_span(other_places, other_low, other_high, len(other_text))


def find_equal_words(
    text: str, other_text: str, fold: Callable[[str], str]
) -> Iterator[tuple[Span, Span]]:
    """Yield the words that two texts have in common, each with its place in the other text.

    Examples
    --------
    >>> list(find_equal_words("The ferry", "the ferry", make_fold()))
    [((0, 3), (0, 3)), ((4, 9), (4, 9))]
    """
    places, other_places = find_words(text), find_words(other_text)
    words, others = _fold_words(text, places, fold), _fold_words(other_text, other_places, fold)
    differing = [] if words == others else list(_find_differing(words, others))
    begin = other_begin = 0
    for low, high, other_low, other_high in [*differing, (len(words), 0, len(others), 0)]:
        yield from zip(places[begin:low], other_places[other_begin:other_low], strict=False)
        begin, other_begin = high, other_high


def _fold_words(text: str, places: Sequence[Span], fold: Callable[[str], str]) -> list[str]:
    # Composed: a letter and its accent may be one code point or two.
    return [
        unicodedata.normalize("NFC", "".join(map(fold, text[begin:end]))) for begin, end in places
    ]


def trim_to_words(text: str, source: str, piece: Sequence[int]) -> tuple[int, int, int, int]:
    """Return a piece, with its spans in both texts, without parts of words at its ends.

    A word that ends like one of the source is not a copy. A piece within one word stays. More than
    40 letters stay too: they are not a word.

    Examples
    --------
    >>> trim_to_words("reporting the arrival", "transporting the arrival", (2, 21, 5, 24))
    (10, 21, 13, 24)
    """
    begin, end, source_begin, source_end = piece
    cut, cut_end = _is_cut(text, begin), _is_cut(text, end)
    if not (cut or cut_end):
        return begin, end, source_begin, source_end
    words = [(begin + low, begin + high) for low, high in find_words(text[begin:end])]
    cut &= words[0][1] - words[0][0] <= _WIDENED
    cut_end &= words[-1][1] - words[-1][0] <= _WIDENED
    kept = words[cut : len(words) - cut_end]
    letters = [at for at in range(source_begin, source_end) if source[at].isalnum()]
    # The source has the same letters at both ends.
    first = sum(map(str.isalnum, text[begin : words[0][1]])) if cut else 0
    last = sum(map(str.isalnum, text[words[-1][0] : end])) if cut_end else 0
    left = letters[first : len(letters) - last]
    if not kept or not left:
        return begin, end, source_begin, source_end
    return (
        kept[0][0] if cut else begin,
        kept[-1][1] if cut_end else end,
        left[0] if cut else source_begin,
        left[-1] + 1 if cut_end else source_end,
    )


def _is_cut(text: str, place: int) -> bool:
    """Return whether a place is within a word of a script that has spaces between words."""
    return place > 0 and _CUT.fullmatch(text, place - 1, place + 1) is not None


def extend_to_words(text: str, begin: int, end: int) -> Span:
    """Return a span extended to the bounds of the words in which it begins and ends."""
    first, last = max(begin - _WIDENED, 0), min(end + _WIDENED, len(text))
    while first < begin < end and _LETTERS.fullmatch(text, begin - 1, begin + 1):
        begin -= 1
    while begin < end < last and _LETTERS.fullmatch(text, end - 1, end + 1):
        end += 1
    return begin, end


def _find_span(places: Sequence[Span], low: int, high: int, length: int) -> Span:
    if low < high:
        return places[low][0], places[high - 1][1]
    begin = places[low][0] if low < len(places) else length
    return begin, begin


def union_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the same places as spans that do not overlap, in order."""
    union: list[Span] = []
    for begin, end in sorted(spans):
        if union and begin <= union[-1][1]:
            union[-1] = union[-1][0], max(end, union[-1][1])
        else:
            union.append((begin, end))
    return union


def replace_spans(text: str, replacements: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with other text in place of spans, which are in order.

    Examples
    --------
    >>> replace_spans("The ferry sails.", [(4, 9, "boat")])
    'The boat sails.'
    """
    parts, done = [], 0
    for begin, end, replacement in replacements:
        parts += [text[done:begin], replacement]
        done = end
    return "".join([*parts, text[done:]])


def find_words(text: str) -> list[Span]:
    """Return the spans of the words of a text."""
    return [word.span() for word in _WORD.finditer(text)]


def _find_differing(
    words: list[str], other_words: list[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the differing spans of both, in order."""
    low = other_low = 0
    for high, other_high in [
        *_find_fixed_points(words, other_words),
        (len(words), len(other_words)),
    ]:
        if high < low or other_high < other_low:
            continue
        yield from _compare_between(words, other_words, low, high, other_low, other_high)
        low, other_low = high, other_high


def _compare_between(
    words: list[str], other_words: list[str], low: int, high: int, other_low: int, other_high: int
) -> Iterator[tuple[int, int, int, int]]:
    while low < high and other_low < other_high and words[low] == other_words[other_low]:
        low, other_low = low + 1, other_low + 1
    while low < high and other_low < other_high and words[high - 1] == other_words[other_high - 1]:
        high, other_high = high - 1, other_high - 1
    if low == high and other_low == other_high:
        return
    if (high - low) * (other_high - other_low) > _PAIRS:
        yield low, high, other_low, other_high
        return
    matcher = SequenceMatcher(
        None, words[low:high], other_words[other_low:other_high], autojunk=False
    )
    for kind, begin, end, other_begin, other_end in matcher.get_opcodes():
        if kind != "equal":
            yield low + begin, low + end, other_low + other_begin, other_low + other_end


def _find_fixed_points(words: list[str], other_words: list[str]) -> list[tuple[int, int]]:
    """Return the positions of runs that both have once, the most that are in the same order."""
    runs, other_runs = _find_unique_runs(words), _find_unique_runs(other_words)
    pairs = [(position, other_runs[run]) for run, position in runs.items() if run in other_runs]
    # The longest increasing subsequence, by patience sorting.
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for number, (_, other_position) in enumerate(pairs):
        pile = bisect_left(tops, other_position)
        before.append(top_pairs[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [other_position]
        top_pairs[pile : pile + 1] = [number]
    kept = []
    number = top_pairs[-1] if top_pairs else -1
    while number >= 0:
        kept.append(pairs[number])
        number = before[number]
    return kept[::-1]


def _find_unique_runs(words: list[str]) -> dict[tuple[str, ...], int]:
    runs = [tuple(words[begin : begin + _POINT]) for begin in range(len(words) - _POINT + 1)]
    counts = Counter(runs)
    return {run: begin for begin, run in enumerate(runs) if counts[run] == 1}
