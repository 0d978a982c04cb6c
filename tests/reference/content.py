"""verify: what two normalized texts share beside the form that many share.

Three things decide. Shingles that many texts of the collection carry count
less. Numbers that contradict each other rule a pair out. Short texts are
compared by their letters and digits alone.

Shingles are named by their 64-bit hashes here, because the sample of a text is
chosen by these: at level l, the shingles whose hash begins with l zero bits.
"""

import re
import unicodedata
from collections import Counter
from fractions import Fraction
from functools import cache, lru_cache

from .normalize import WHITE_SPACE, is_within
from .segment import ENCLOSED_LETTERS, shingles
from .sketch import xxh3

# In collections of fewer than 40,000 texts, as all are here.
RARE = 4
SAMPLE = 128
KNOWN = 24
SHORT = 40

NUMBER = re.compile(r"[0-9]+(?:[.,:][0-9]+)*|[〇零一二两三四五六七八九十百千]+")
DIGITS = dict(zip("〇零一二两三四五六七八九", (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
POWERS = {"十": 10, "百": 100, "千": 1000}


@lru_cache(maxsize=1000)
def hashes(text, k):
    """Return the hashes of the text's distinct shingles."""
    return frozenset(xxh3(shingle, 64) for shingle in shingles(text, k))


def is_spaced(text):
    """Say whether most letters are of scripts with spaces, four for one of others."""
    narrow = len(re.findall("[A-Za-z\u00c0-\u0dff]", text))
    return narrow > 4 * sum(c >= "\u0e00" for c in text)


# Common shingles


def level_of(count):
    """Return the largest level at which `count` shingles are still 128 on average."""
    level = 0
    while count >= SAMPLE * 2 ** (level + 1):
        level += 1
    return level


def is_of(level, hashed):
    """Return whether the leading bits of a hash are zero."""
    return hashed < 2 ** (64 - level)


def commonness(texts, k, entries):
    """Return in how many texts each sampled shingle stands, and the table's level.

    Each text is counted at its own level. The table's level is the least one at
    which it has no more than `entries` shingles.
    """
    counts = Counter()
    for text in texts:
        own = hashes(text, k)
        counts.update(h for h in own if is_of(level_of(len(own)), h))
    level = 0
    while level < 64 and sum(is_of(level, h) for h in counts) > entries:
        level += 1
    return {h: n for h, n in counts.items() if is_of(level, h)}, level


def weigh(first, second, table):
    """Sort out the shingles of two texts; None if none that both have is common."""
    counts, least = table
    level = max(level_of(len(first)), level_of(len(second)), least)
    a, b = ({h for h in one if is_of(level, h)} for one in (first, second))
    carried = {h: counts.get(h, 0) for h in a | b}
    common = sorted(carried[h] for h in a & b if carried[h] > RARE)
    if not common or len(a | b) < KNOWN:
        return None
    median = common[(len(common) - 1) // 2]

    def is_majority(h):
        return carried[h] >= Fraction(8, 10) * median

    major_a, major_b = (sum(map(is_majority, one)) for one in (a - b, b - a))
    other_a, other_b = len(a - b) - major_a, len(b - a) - major_b
    # What departs from the majority form of the other text is an edit.
    differs_a, differs_b = max(0, other_a - major_b), max(0, other_b - major_a)
    return {
        "level": level,
        "rare": len(a & b) - len(common),
        "common": len(common),
        "median": median,
        "differs_a": differs_a,
        "differs_b": differs_b,
        "edits": len(a ^ b) - differs_a - differs_b,
    }


def share(weighed):
    """Return the content in common of shingles that were sorted out."""
    common = Fraction(3, 10)
    shared = weighed["rare"] + common * weighed["common"]
    differs = weighed["differs_a"] + weighed["differs_b"] + common * weighed["edits"]
    return float(shared / (shared + differs))


# Numbers


def value(number):
    """Return what a number says: 1,200 is 1200, 十三 is 13, 二〇二三 is 2023."""
    if number[0] not in DIGITS and number[0] not in POWERS:
        return number.replace(",", "")
    if not POWERS.keys() & set(number):
        return "".join(str(DIGITS[c]) for c in number)
    total = digit = 0
    for c in number:
        if c in DIGITS:
            digit = DIGITS[c]
        else:
            total += (digit or 1) * POWERS[c]
            digit = 0
    return str(total + digit)


def numbers(text):
    """Return (unit, value) of each number; the unit is the next visible character."""
    found = Counter()
    for match in NUMBER.finditer(text):
        rest = (c for c in text[match.end() :] if c not in WHITE_SPACE)
        found[next(rest, None), value(match[0])] += 1
    return found


def compare_numbers(a, b):
    """Return how many numbers agree, and how many of one unit differ."""
    first, second = numbers(a), numbers(b)
    left_a, left_b = Counter(), Counter()
    for left, rest in ((left_a, first - second), (left_b, second - first)):
        for (unit, _), times in rest.items():
            left[unit] += times
    return (first & second).total(), (left_a & left_b).total()


def contradict(agree, differ, contained):
    """Return whether too many numbers differ, for texts that share so much."""
    if not differ:
        return False
    return Fraction(differ, agree + differ) > Fraction(15, 100) + (1 - contained) / 2


# Short texts


@cache
def is_letter(character):
    """Tell whether a character is a letter or a digit."""
    return unicodedata.category(character)[0] in "LN" or is_within(character, ENCLOSED_LETTERS)


@lru_cache(maxsize=1000)
def letters(text):
    """Return the letters and digits of a text, in order."""
    return "".join(filter(is_letter, text))


def short_similarity(a, b):
    """Return the share of the longer text's letters and digits that the shorter is."""
    short, long = sorted((letters(a), letters(b)), key=len)
    if not long:
        return float(a == b)
    if short and short in long and 4 * len(short) >= 3 * len(long):
        return len(short) / len(long)
    return 0.0


def content(a, b, k=5, counted=(), entries=8_000_000):
    """Return everything that decides about two texts, as a dict.

    `counted` are the texts of the collection, each once. The texts are similar
    if `similarity` reaches the threshold and nothing `contradicts`.
    """
    longer = -(-8 * k // 5)
    first, second = (hashes(text, longer if is_spaced(text) else k) for text in (a, b))
    shared, union = len(first & second), len(first | second)
    smaller = min(len(first), len(second))
    agree, differ = compare_numbers(a, b)
    short = min(len(letters(a)), len(letters(b))) < SHORT
    weighed = None
    if not short and not is_spaced(a) and not is_spaced(b):
        weighed = weigh(first, second, commonness(counted, k, entries))
    if short:
        similarity = short_similarity(a, b)
    elif weighed:
        similarity = share(weighed)
    else:
        similarity = shared / union
    return {
        "similarity": similarity,
        "short": short,
        "agree": agree,
        "differ": differ,
        "contradicts": contradict(agree, differ, Fraction(shared, smaller or 1)),
        "weighed": weighed,
    }
