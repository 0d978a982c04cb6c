"""Texts that the tests of papers share."""

import random

from tests.index.written import letters

#: Letters that nobody sees; they hold a place in a Hangul syllable.
FILLERS = "\u115f\u1160\u3164\uffa0"


def counted(text):
    """Return how many characters of a text count."""
    return sum(c.isalnum() and c not in FILLERS for c in text)


def unrelated(seed, length=80):
    """Return a text that has nothing in common with that of another seed."""
    return letters(random.Random(seed), length)


def around(middle, first=900, second=901, length=80):
    """Return a text between two unrelated ones."""
    return unrelated(first, length) + middle + unrelated(second, length)
