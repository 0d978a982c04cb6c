"""segment: text to units.

A unit is a piece of text and, where the segmenter knows one, its part of
speech. Every function yields the units in the order of the text, each as often
as it occurs. Counting is the next stage's work.
"""

from functools import cache

from .characters import is_letter, is_mark, is_of_dense_script, is_of_dense_scripts_only
from .normalize import SENTENCE_END, split_at_white_space, without_ends

#: From Thai on, from Hiragana to Hangul, compatibility ideographs, from Tangut to Nushu, and the
#: supplementary ideographs.
WIDE = [
    ("\u0e00", "\u1dff"),
    ("\u3040", "\ud7ff"),
    ("\uf900", "\ufaff"),
    ("\U00017000", "\U0001bfff"),
    ("\U00020000", "\U0010ffff"),
]


def shingles(text, k):
    """Return every run of k characters; a shorter text is one shingle."""
    text = without_ends(text)
    if not text:
        return []
    return [text[i : i + k] for i in range(max(len(text) - k + 1, 1))]


def script_shingles(text, k):
    """Return the runs of at least 8 k: wide letters and what is near one weigh 8, all else 7.

    The last one ends with the text, though it may weigh less.
    """
    text = without_ends(text)
    weights = [8 if any(map(is_wide, text[max(i - 4, 0) : i + 5])) else 7 for i in range(len(text))]
    found, end, weight = [], 0, 0
    for begin in range(len(text)):
        before = end
        while weight < 8 * k and end < len(text):
            weight += weights[end]
            end += 1
        if weight >= 8 * k or end > before:
            found.append(text[begin:end])
        weight -= weights[begin]
    return found


def is_wide(character):
    """Say whether a character is in a block of letters of scripts without spaces."""
    return any(first <= character <= last for first, last in WIDE)


def by_script(text, k=2):
    r"""Return shingles where a script has no spaces, and words elsewhere.

    >>> by_script("用rust写的，2020年")
    ['用', 'rust', '写的', '2020', '年']
    >>> by_script("naïve café, twice、。!? ")
    ['naïve', 'café', 'twice']
    >>> by_script("コーヒー"), by_script("人々")
    (['コー', 'ーヒ', 'ヒー'], ['人々'])

    A mark goes with the character before it.

    >>> [by_script(text) == units for text, units in (
    ...     ("か\u3099く", ["か\u3099", "\u3099く"]),
    ...     ("雨\u0301a", ["雨\u0301", "a"]),
    ...     ("\u0301a", ["\u0301a"]),
    ...     ("q\u0303a", ["q\u0303a"]),
    ...     ("Ⓐ雪", ["Ⓐ", "雪"]),
    ... )]
    [True, True, True, True, True]
    """
    units = []
    for kind, run in runs(text.replace(SENTENCE_END, "")):
        if kind == "dense":
            units += shingles(run, k)
        elif kind == "wordy":
            units.append(run)
    return units


def runs(text):
    """Return (kind, run) for the maximal runs of characters of one kind.

    An attached mark is of the kind of the character before it; one that has
    none, or follows a separator, begins a word.
    """
    units = []
    for character in text:
        kind = kind_of(character)
        if kind == "attached":
            before = units[-1][0] if units else "separating"
            kind = "wordy" if before == "separating" else before
        if units and units[-1][0] == kind:
            units[-1] = (kind, units[-1][1] + character)
        else:
            units.append((kind, character))
    return units


@cache
def kind_of(character):
    """Return "dense", "wordy", "attached" or "separating"."""
    mark = is_mark(character)
    if not mark and not is_letter(character):
        return "separating"
    if is_of_dense_script(character) or is_of_dense_scripts_only(character):
        return "dense"
    return "attached" if mark else "wordy"


def tagged(text, drop_tags=()):
    """Return (word, tag) of text that is already segmented, ``word/tag word/tag``.

    Tokens are split at white space, line ends included. A token without ``/``
    is not a word; a token that contains one of ``drop_tags`` anywhere is left
    out. The word is what comes before the first ``/``, the tag what follows the
    last.

    >>> tagged("城市/n ，/wd 、/wn //w 无标记 雨/n 1/2/m 澜江/null", drop_tags=("wd", "wn"))
    [('城市', 'n'), ('', 'w'), ('雨', 'n'), ('1', 'm'), ('澜江', '')]
    """
    return words_of(split_at_white_space(text), drop_tags)


def words_of(tokens, drop_tags):
    """Return (word, tag) of tokens ``word/tag``."""
    units = []
    for token in tokens:
        if "/" not in token or any(tag in token for tag in drop_tags):
            continue
        units.append((token.split("/")[0], tag_of(token.split("/")[-1])))
    return units


def ictclas(text, drop_tags=()):
    """Return (word, tag) as the BKDR program reads them.

    Lines are joined with nothing between them, and only U+0020 separates tokens.
    """
    tokens = "".join(text.replace("\r", "\n").split("\n")).split(" ")
    return words_of(tokens, drop_tags)


def external(text):
    r"""Return (word, tag) of units that another program made.

    U+001E stands between units and U+001F between a word and its tag. A unit
    without text is no unit.

    >>> external("雨\x1fn\x1e\x1e下\x1e\x1fx\x1e")
    [('雨', 'n'), ('下', '')]
    """
    pairs = [unit.partition("\x1f") for unit in text.split("\x1e")]
    return [(word, tag_of(tag)) for word, _, tag in pairs if word]


def tag_of(written):
    """Return a tag as it counts: ``null`` is what ANSJ writes where it has none."""
    return "" if written == "null" else written
