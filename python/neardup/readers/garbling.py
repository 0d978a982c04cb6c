"""Whether text is in a language, or garbled by a font without its table or a wrong encoding.

Text is judged in pieces, by signs that no language has, in any script:

- capitals or signs inside most words;
- long runs of accented letters;
- rare Chinese characters only, or each character twice;
- characters without a meaning.

Code, tables, formulas and short texts have none of these signs.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.base.messages import N_
from neardup.readers.frequent_characters import FREQUENT_CHINESE

#: Characters of a piece, and the shortest text that is judged by more than single characters.
_PIECE, _SHORTEST = 1000, 100
#: A text without meaning is judged from this length on. Single characters without a meaning count
#: if there are more than this, and more than this share.
_FEW, _FEW_SHARE = 20, 0.001
#: A piece is garbled as a whole if that many of its characters have no meaning, or are in runs.
_NEARLY_ALL, _HALF = 0.8, 0.5

#: The first character of private use.
_PRIVATE = 0xE000
#: What `_list_codes` leaves out.
_WHITE = [code for code in range(0x3001) if chr(code).isspace() or not code]

# Bits of what a character is.
_UPPER, _LOWER, _LETTER, _SIGN, _UNKNOWN = 1, 2, 4, 8, 16
_HAN, _FREQUENT, _USUAL, _ACCENTED, _CASED_ABROAD = 32, 64, 128, 256, 512
_BITS = (_UPPER, _LOWER, _SIGN, _UNKNOWN, _HAN, _USUAL, _ACCENTED, _CASED_ABROAD)
#: Which of these bits each value has.
_MEMBERS = np.array([[value & bit > 0 for bit in _BITS] for value in range(1024)], np.float64)

_UNKNOWN_NAME = N_("characters without a meaning")
_CASES = N_("capital letters inside words")
_SIGNS = N_("signs inside words")
_RUNS = N_("runs of accented letters, as of a wrong encoding")
_RARE = N_("rare Chinese characters only")
_DOUBLED = N_("each character twice")

#: Letters and signs that the single-byte encodings of Windows have below U+00A0.
_WINDOWS = "ŠšŽžŒœŸƒˆ˜†‡‰"
#: Rows of the characters that are usual in Chinese and Japanese: encoding, lead and trail bytes.
_ROWS = (
    ("gb2312", range(0xB0, 0xD8), range(0xA1, 0xFF)),
    ("big5", range(0xA4, 0xC7), (*range(0x40, 0x7F), *range(0xA1, 0xFF))),
    ("euc_jp", range(0xB0, 0xD0), range(0xA1, 0xFF)),
)


class Garbling(NamedTuple):
    """The share of a text that is garbled, in [0, 1], what most of that has, and where it is.

    The share is of the characters but white space; the spans of the text are half-open.
    """

    share: float
    kind: str
    spans: tuple[tuple[int, int], ...] = ()


def measure_garbling(text: str) -> Garbling:
    """Return how much of a text is in no language, and how that shows.

    Examples
    --------
    >>> measure_garbling("城市湖泊中的水鸟群落随季节变化。" * 20).share
    0.0
    >>> measure_garbling("城市湖泊中的水鸟群落随季节变化。".encode("gbk").decode("latin-1") * 20)
    Garbling(share=1.0, kind='runs of accented letters, as of a wrong encoding', spans=((0, 640),))
    """
    codes = _list_codes(text)
    if len(codes) < _FEW:
        return Garbling(0.0, "")
    bits = _classify_characters()[codes]
    count = max(1, len(codes) // _PIECE)
    if not _may_be_garbled(codes, bits, len(codes) // count):
        return Garbling(0.0, "")
    begins = np.arange(count) * len(codes) // count
    sizes = np.diff(begins, append=len(codes))

    def total(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        return np.add.reduceat(mask, begins, dtype=np.int64)

    def has(bit: int) -> npt.NDArray[np.bool_]:
        return bits & bit > 0

    marks = {_UNKNOWN_NAME: total(has(_UNKNOWN)) > _NEARLY_ALL * sizes}
    if len(codes) >= _SHORTEST:
        runs = _find_runs(has(_ACCENTED))
        in_runs = total(runs)
        marks[_RUNS] = in_runs > _HALF * sizes
        cased = has(_UPPER | _LOWER)
        pairs = total(_find_pairs(cased, cased))
        rises = total(_find_pairs(has(_LOWER), has(_UPPER)))
        beyond = total(has(_CASED_ABROAD))
        marks[_CASES] = (pairs >= 50) & (rises > 0.12 * pairs) & (beyond > 0.15 * total(cased))
        letters, signs = has(_LETTER), has(_SIGN)
        words = total(letters & ~np.append(False, letters[:-1]))
        is_mixed = (total(signs) > 0.2 * sizes) & (total(signs) < 0.6 * sizes)
        is_mixed &= (total(letters) < 3 * words) & (pairs >= 20)
        is_mixed &= (rises > 0.12 * pairs) & (rises < 0.45 * pairs)
        marks[_SIGNS] = is_mixed & (_count_distinct(codes, signs, begins, is_mixed) >= 25)
        # In lists, characters stand alone.
        in_words = _find_pairs(has(_HAN), has(_HAN))
        han = total(in_words)
        is_rare = (han >= 80) & (total(in_words & has(_FREQUENT)) < 0.1 * han)
        is_rare &= total(in_words & has(_USUAL)) < 0.7 * han
        # A table of characters has each of them once.
        marks[_RARE] = is_rare & (_count_distinct(codes, in_words, begins, is_rare) < 0.8 * han)
        is_doubled = total(letters & _find_doubled(codes)) > 0.9 * total(letters)
        is_doubled &= total(letters) >= 100
        # Sequences of a few letters, such as genes, may be doubled.
        marks[_DOUBLED] = is_doubled & (_count_distinct(codes, letters, begins, is_doubled) >= 20)
    parts = {kind: np.repeat(is_garbled, sizes) for kind, is_garbled in marks.items()}
    # Control characters are in no text that was read from a document.
    single = has(_UNKNOWN) & (codes >= _PRIVATE)
    if np.count_nonzero(single) > _limit_few(len(codes)):
        parts[_UNKNOWN_NAME] |= single
    if len(codes) >= _SHORTEST and (in_runs > 0.3 * sizes).any():
        parts[_RUNS] |= runs
    places = np.logical_or.reduce(list(parts.values()))
    share = float(places.mean())
    if not share:
        return Garbling(0.0, "")
    kind = max(parts, key=lambda kind: np.count_nonzero(parts[kind]))
    return Garbling(share, kind, _find_spans(text, places))


def _limit_few(length: int) -> float:
    return max(min(_FEW, 0.3 * length), _FEW_SHARE * length)


def _find_spans(text: str, places: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Return the spans of a text in which all characters but white space are marked."""
    held = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    shown = np.flatnonzero(~np.isin(held, _WHITE))
    edges = np.flatnonzero(np.diff(places, prepend=False, append=False))
    begins, ends = shown[edges[::2]], shown[edges[1::2] - 1] + 1
    return tuple(zip(begins.tolist(), ends.tolist(), strict=True))


def _may_be_garbled(codes: npt.NDArray[np.uint16], bits: npt.NDArray[np.uint16], size: int) -> bool:
    """Return whether a piece of at least `size` characters may have one of the signs.

    By the characters of the whole text, which takes a fraction of the time: each file of a
    collection passes here, twice. Each bound follows from the bounds of the pieces.
    """
    counts = dict(zip(_BITS, (np.bincount(bits, minlength=1024) @ _MEMBERS).tolist(), strict=True))
    return bool(
        counts[_UNKNOWN] > _limit_few(len(codes))
        or counts[_ACCENTED] > 0.3 * size
        or (counts[_CASED_ABROAD] > 0.15 * 50 and counts[_UPPER] > 0.12 * 50)
        or (counts[_SIGN] > 0.2 * size and counts[_UPPER] > 0.12 * 20)
        or counts[_HAN] - counts[_USUAL] > 0.3 * 80
        or np.count_nonzero(codes[1:] == codes[:-1]) > 0.4 * 100
    )


def _list_codes(text: str) -> npt.NDArray[np.uint16]:
    """Return the code points of a text without white space, in 16 bits."""
    joined = "".join(text.replace("\0", "").split())
    codes = np.frombuffer(joined.encode("utf-32-le", "replace"), np.uint32)
    if len(codes) and codes.max() > 0xFFFF:
        # Beyond 16 bits there are symbols, private use and rare Chinese characters.
        beyond = np.where(codes >= 0xF0000, 0xE000, 0x2600)
        is_han = (codes >= 0x20000) & (codes < 0x40000)
        codes = np.where(codes > 0xFFFF, np.where(is_han, 0x3400 | codes & 0xFFF, beyond), codes)
    return codes.astype(np.uint16)


@cache
def _classify_characters() -> npt.NDArray[np.uint16]:
    """Return what each character of 16 bits is."""
    bits = np.zeros(1 << 16, np.uint16)
    of_category = {"Lu": _UPPER | _LETTER, "Ll": _LOWER | _LETTER, "Co": _UNKNOWN, "Cc": _UNKNOWN}
    of_class = {"L": _LETTER, "P": _SIGN, "S": _SIGN}
    for code in range(1 << 16):
        category = unicodedata.category(chr(code))
        bits[code] = of_category.get(category, of_class.get(category[0], 0))
    bits[0xFFFD] = _UNKNOWN
    abroad = bits[0x80:]
    abroad[abroad & (_UPPER | _LOWER) > 0] |= _CASED_ABROAD
    bits[0xA1:0x100] |= _ACCENTED
    bits[0x80:0xA0] |= _ACCENTED
    bits[list(map(ord, _WINDOWS))] |= _ACCENTED
    for begin, end in ((0x3400, 0xA000), (0xF900, 0xFB00)):
        bits[begin:end] |= _HAN | _LETTER
    bits[list(map(ord, FREQUENT_CHINESE))] |= _FREQUENT
    for encoding, leads, trails in _ROWS:
        row = b"".join(bytes([lead, trail]) for lead in leads for trail in trails)
        usual = set(map(ord, row.decode(encoding, "ignore")))
        bits[[code for code in usual if bits[code] & _HAN]] |= _USUAL
    return bits


def _find_pairs(
    mask: npt.NDArray[np.bool_], following: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return where a character of one mask precedes one of another."""
    followed: npt.NDArray[np.bool_] = mask & np.append(following[1:], False)
    return followed


def _find_runs(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which characters are in a run of at least four of a mask."""
    padded = np.concatenate([mask, np.zeros(3, bool)])
    starts: npt.NDArray[np.bool_] = padded[:-3] & padded[1:-2] & padded[2:-1] & padded[3:]
    runs = starts.copy()
    for distance in (1, 2, 3):
        runs[distance:] |= starts[:-distance]
    return runs


def _find_doubled(codes: npt.NDArray[np.uint16]) -> npt.NDArray[np.bool_]:
    """Return which characters are in a run of two or four equal ones."""
    begins = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    lengths = np.diff(begins, append=len(codes))
    is_even: npt.NDArray[np.bool_] = np.repeat((lengths == 2) | (lengths == 4), lengths)
    return is_even


def _count_distinct(
    codes: npt.NDArray[np.uint16],
    mask: npt.NDArray[np.bool_],
    begins: npt.NDArray[np.int64],
    wanted: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    """Return how many different characters of a mask each wanted piece has; 0 for the others."""
    counts = np.zeros(len(begins), np.int64)
    ends = np.append(begins[1:], len(codes))
    # Few pieces come this far, and sorting them costs more than all else.
    for piece in np.flatnonzero(wanted):
        span = slice(begins[piece], ends[piece])
        counts[piece] = len(np.unique(codes[span][mask[span]]))
    return counts
