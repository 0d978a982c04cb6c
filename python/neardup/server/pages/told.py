"""Messages of the service in the language of a page.

A message is an English sentence, as clients of the API get it. Those that a reader of the
pages can meet stand with the words of the pages, under keys that begin with ``told_``, and
are recognised by their pattern; what the readers of files say, `neardup.papers.notes` knows.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache

from neardup.papers.notes import in_words
from neardup.papers.words import Words, load_words
from neardup.server.pages.words import page_words

__all__ = ["told"]

_PREFIX = "told_"

#: A longer message is none of these, and no name of a file can make matching slow.
_LONGEST = 800


def told(message: str, words: Words) -> str:
    """Say a message in the language of some words.

    Parameters
    ----------
    message : str
        In English.
    words : Words
        Of the pages.

    Returns
    -------
    str
        The message itself where it is not known.

    Examples
    --------
    >>> told("a.txt: must have text. Got none instead.", page_words("zh"))
    'a.txt：文件中没有文字。'
    """
    if words.language == "en" or len(message) > _LONGEST:
        return message
    for key, pattern in _patterns():
        found = pattern.fullmatch(message)
        if found is not None:
            return words(key, **found.groupdict())
    return in_words(message, load_words(words.language))


@lru_cache(maxsize=1)
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return the patterns of all messages; those with more words of their own come first."""
    patterns = []
    for key, template in page_words("en").table.items():
        if not key.startswith(_PREFIX):
            continue
        pattern = ""
        for literal, name, _, _ in string.Formatter().parse(template):
            pattern += re.escape(literal)
            if name is not None:
                pattern += f"(?P<{name}>.+?)"
        patterns.append((key, re.compile(pattern, re.S)))
    return sorted(patterns, key=lambda one: (-len(one[1].pattern), one[0]))
