"""Segmenters that recipes of the tests name as module:function."""

import sys


def tokens(text):
    """Split a text whose tokens stand divided by U+001D; spaces are tokens too."""
    return [(token, "") for token in text.split("\x1d")]


def weighted(text):
    """Read ``word*n word*n ...``: n occurrences each."""
    for item in text.split():
        word, _, times = item.rpartition("*")
        yield from [(word, "n")] * int(times)


def three_parts(text):
    """Give something that is no pair."""
    return [(text, "", "")]


def failing(text):
    """Fail as a user's function may."""
    raise ZeroDivisionError(f"no words in {len(text)} characters")


def exiting(text):
    """End the program, as a script that was not meant to be imported does."""
    sys.exit(f"no words in {text}")


def no_result(_text):
    """Return nothing at all."""


def failing_on_rain(text):
    """Fail on some texts only."""
    if "rain" in text:
        raise RuntimeError("no model for rain")
    return [(word, "") for word in text.split()]


def only_words(text):
    """Forget the tags, as many a library's function does."""
    return text.split()


def nothing(_text):
    """Find no word in any text."""
    return []


def letters(text):
    """Cut into single characters, all of which are nouns."""
    return [(letter, "n") for letter in text]
