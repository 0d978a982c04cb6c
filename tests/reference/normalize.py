"""normalize: text to text.

Four steps, each of which can be left out, always in this order:

1. NFKC on the whole text, so that full-width and half-width forms meet.
2. Drop what nobody sees: control characters that are not white space, and
   default-ignorable characters.
3. Lower case, one character at a time: no context, so that the final sigma
   of a Greek word does not depend on what follows it.
4. White space is kept, or each run of it becomes one space and none is left at
   the ends; by script, a run beside a character of a script that knows no
   spaces, or beside its punctuation, vanishes.

Each step sees the finished result of the one before. So NFKC may compose what
an invisible character keeps apart only if that character is dropped *later*,
and a run of white space may be joined across a character dropped in step 2.
"""

import itertools
import unicodedata
from functools import cache

from .characters import is_ignorable, is_of_line_script

# Unicode property White_Space. Not str.isspace(): that one also takes the
# information separators U+001C to U+001F, which are control characters.
WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)

# Punctuation that is written only with Han, Hiragana, Katakana and Bopomofo.
UNSPACED_PUNCTUATION = (
    (0x3000, 0x303F),  # CJK symbols and punctuation
    (0x30A0, 0x30A0),  # Kana marks that both syllabaries use
    (0x30FB, 0x30FC),
    (0xFE10, 0xFE1F),  # vertical forms
    (0xFE30, 0xFE6F),  # compatibility and small forms
    (0xFF01, 0xFF0F),  # full-width and half-width forms, not letters and digits
    (0xFF1A, 0xFF20),
    (0xFF3B, 0xFF40),
    (0xFF5B, 0xFF65),
    (0xFFE0, 0xFFE6),
)


def normalize(text, *, nfkc, lowercase, whitespace, drop_invisible):
    """Return the text that the later stages see."""
    if nfkc:
        text = unicodedata.normalize("NFKC", text)
    if drop_invisible:
        text = "".join(c for c in text if not is_invisible(c))
    if lowercase:
        text = "".join(c.lower() for c in text)
    if whitespace == "keep":
        return text
    if whitespace == "collapse":
        return join_words(text, by_script=False)
    if whitespace == "by-script":
        return join_words(text, by_script=True)
    raise ValueError(whitespace)


@cache
def is_invisible(character):
    """Tell whether a character is one to drop."""
    if unicodedata.category(character) == "Cc":
        return character not in WHITE_SPACE
    return is_ignorable(character)


def join_words(text, *, by_script):
    """Write each run of white space as one space, or, by script, as none."""
    words = split_at_white_space(text)
    joined = words[:1]
    for before, after in itertools.pairwise(words):
        if not (by_script and (is_unspaced(before[-1]) or is_unspaced(after[0]))):
            joined.append(" ")
        joined.append(after)
    return "".join(joined)


def split_at_white_space(text):
    """Return the maximal runs of characters that are not white space."""
    spaced = "".join(" " if c in WHITE_SPACE else c for c in text)
    return [word for word in spaced.split(" ") if word]


@cache
def is_unspaced(character):
    """Tell whether white space next to this character means nothing."""
    return is_of_line_script(character) or any(
        first <= ord(character) <= last for first, last in UNSPACED_PUNCTUATION
    )
