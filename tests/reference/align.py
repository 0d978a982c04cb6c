"""align: which documents are worth holding against a paper, and how alike two texts are.

Letters are what remains of a text for this: letters and digits, NFKC, in lower
case, with all foldings. A letter of a script without spaces weighs 2,
another one 1. A shingle is the shortest run of letters that weighs 10.
"""

import itertools
import unicodedata

from . import look_alikes, verify
from .characters import is_letter
from .normalize import WHITE_SPACE, normalize
from .segment import kind_of

SHINGLE = 10
WINDOW = 8
BASE = 0x9E3779B97F4A7C15
BITS = 2**64 - 1

# A paragraph: 200 Chinese characters.
STRETCH = 400
MOST_OF_A_SHINGLE = 64


def plain(text):
    """Return the letters alone."""
    return alone(look_alikes.unmask(text)[0])


def alone(text):
    """Return the letters alone of a text without look-alikes."""
    settings = {"nfkc": True, "lowercase": True, "whitespace": "keep", "drop_invisible": True}
    folded = normalize(text, **settings, fold=("traditional", "points", "look-alikes"))
    return "".join(filter(is_letter, folded))


def letters(text):
    """Return (letter, begin, end) for each letter, with the span of the text it comes from.

    Letters that come of characters that combine have one span together.
    """
    return [
        (letter, begin, end) for begin, end in clusters(text) for letter in alone(text[begin:end])
    ]


def clusters(text):
    """Return the finest spans whose NFKC forms, one after the other, are that of the text."""
    whole = unicodedata.normalize("NFKC", text)
    parts = (
        [unicodedata.normalize("NFKC", part) for part in (text[:cut], text[cut:])]
        for cut in range(1, len(text))
    )
    cuts = [cut for cut, (before, after) in enumerate(parts, 1) if before + after == whole]
    return list(zip([0, *cuts], [*cuts, len(text)], strict=True))


def weight(letter):
    """Return what a letter weighs: a Chinese character says as much as two of an alphabet."""
    return 2 if kind_of(letter) == "dense" else 1


def shingles(plain):
    """Return the 64-bit hash of the shingle at each letter, as far as there are any.

    >>> [len(shingles(text)) for text in ("渡口停航", "渡口停航三", "ferryboat", "ferryboats")]
    [0, 1, 0, 1]
    """
    found = []
    for begin in range(len(plain)):
        ends = range(begin + 1, len(plain) + 1)
        long = (end for end in ends if sum(map(weight, plain[begin:end])) >= SHINGLE)
        found += [hash_of(plain[begin:end]) for end in itertools.islice(long, 1)]
    return found


def hash_of(letters):
    """Return the polynomial of the letters at BASE, mixed."""
    value = 0
    for letter in letters:
        value = (value * BASE + mixed(ord(letter) + 1)) & BITS
    return mixed(value)


def mixed(value):
    """Return the finalizer of MurmurHash3."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor & BITS
    return value ^ value >> 33


def sketch(text):
    """Return the smallest hash of each window of shingles, by upper halves, ascending."""
    hashes = [hash_ >> 32 for hash_ in shingles(plain(text))]
    if not hashes:
        return []
    windows = range(max(len(hashes) - WINDOW, 0) + 1)
    return sorted({min(hashes[begin : begin + WINDOW]) for begin in windows})


def candidates(paper, library, least):
    """Return (document, shingles that speak for it) for those worth a closer look.

    A shingle counts for a document if enough of their common shingles are within one
    stretch of the paper. It counts only for the first documents that have it.
    """
    text = plain(paper)
    first_places = {}
    for place, hash_ in enumerate(shingles(text)):
        first_places.setdefault(hash_, place)
    places = [[] for _ in library]
    sketches = [set(sketch(document)) for document in library]
    for hash_, place in first_places.items():
        having = [number for number, chosen in enumerate(sketches) if hash_ >> 32 in chosen]
        for number in having[:MOST_OF_A_SHINGLE]:
            places[number].append(place)
    asked = min(max((least + 1 - SHINGLE // 2) // WINDOW, 1), 3)
    hits = [(number, together(text, sorted(of_one), asked)) for number, of_one in enumerate(places)]
    return sorted([hit for hit in hits if hit[1]], key=lambda hit: (-hit[1], hit[0]))


def together(text, places, asked):
    """Count the places that are among `asked` in a row within one stretch."""
    counted = set()
    for begin in range(len(places) - asked + 1):
        stretch = places[begin : begin + asked]
        if sum(map(weight, text[stretch[0] : stretch[-1]])) <= STRETCH:
            counted.update(stretch)
    return len(counted)


def edit_similarity(a, b):
    """Return 1 - edit distance / the longer length, both without white space."""
    stripped = ["".join(c for c in text if c not in WHITE_SPACE) for text in (a, b)]
    return verify.edit_similarity(*stripped)
