"""Texts that the tests of papers share, and what a run tells."""

import random

#: What Chinese text is made of: text of rare characters only is refused as garbled.
USUAL = b"".join(
    bytes([lead, trail]) for lead in range(0xB0, 0xD7) for trail in range(0xA1, 0xFF)
).decode("gb2312")

#: Letters that nobody sees; they hold a place in a Hangul syllable.
FILLERS = "\u115f\u1160\u3164\uffa0"


def counted(text):
    """Return how many characters of a text count."""
    return sum(c.isalnum() and c not in FILLERS for c in text)


def letters(rng, length):
    """Return a text in which nothing repeats but by chance."""
    return "".join(rng.choices(USUAL, k=length))


def unrelated(seed, length=80):
    """Return a text that has nothing in common with that of another seed."""
    return letters(random.Random(seed), length)


def around(middle, first=900, second=901, length=80):
    """Return a text between two unrelated ones."""
    return unrelated(first, length) + middle + unrelated(second, length)
