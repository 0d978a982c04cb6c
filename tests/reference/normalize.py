"""normalize: text to text.

Eight steps, each of which can be left out, always in this order, and before them
that of `ends`:

1. A letter of another script inside a word becomes the letter of the word's script
   that it looks like.
2. NFKC on the whole text, so that full-width and half-width forms meet.
3. Drop what nobody sees: control characters that are not white space, and
   default-ignorable characters.
4. Fold letters one by one: traditional to simplified characters, letters with
   points to plain ones, radicals to characters.
5. Lower case, one character at a time: no context, so that the final sigma
   of a Greek word does not depend on what follows it.
6. What is neither a letter, a digit nor a mark on one is kept, or becomes a separator, as white
   space does; see `separate`. Blanks that stand after most characters are then dropped before
   step 2.
7. White space is kept, or each run of it becomes one space and none is left at
   the ends; by script, a run beside a character of a script that knows no
   spaces, or beside its punctuation, vanishes.
8. Numbers, dates and times are kept, or spelled by their value; see `numbers`.

Each step sees the finished result of the one before. So NFKC may compose what
an invisible character keeps apart only if that character is dropped *later*,
and a run of white space may be joined across a character dropped in step 3 or 4.
"""

import itertools
import re
import unicodedata
from functools import cache

import opencc

from . import look_alikes
from .characters import is_alphabetic, is_ignorable, is_letter, is_of_line_script
from .ends import without_ends as without_ends_of_posts
from .numbers import DAY_FIRST, SENTENCE_END, UNSURE, WORD_END, spell

# Unicode property White_Space. Not str.isspace(): that one also takes the
# information separators U+001C to U+001F, which are control characters.
WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)

# Punctuation that is written only with Han, Hiragana, Katakana and Bopomofo: symbols, marks of
# kana, vertical, compatibility and small forms, full-width and half-width forms.
is_unspaced_punctuation = re.compile(
    "[\u3000-\u303f\u30a0\u30fb\u30fc\ufe10-\ufe1f\ufe30-\ufe6f"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffe6]"
).match

# Forms of one letter that Unicode does not compose of the letter and a point:
# alef wasla, alef maksura, Farsi yeh, ta marbuta, keheh.
FORMS = dict(zip("\u0671\u0649\u06cc\u0629\u06a9", "\u0627\u064a\u064a\u0647\u0643", strict=True))

RADICALS = dict(
    zip(
        "⺟⺠⻁⻄⻅⻆⻉⻋⻑⻓⻔⻘⻙⻚⻛⻜⻢⻣⻤⻥⻦⻧⻨⻩⻫⻬⻭⻮⻯⻰⻲⻳",
        "母民虎西见角贝车长长门青韦页风飞马骨鬼鱼鸟卤麦黄斉齐歯齿竜龙亀龟",
        strict=True,
    )
)


def normalize(
    text,
    *,
    nfkc,
    lowercase,
    whitespace,
    drop_invisible,
    fold=(),
    punctuation="keep",
    numbers="keep",
    ends="keep",
):
    r"""Return the text that the later stages see.

    >>> settings = {"nfkc": True, "lowercase": True, "whitespace": "by-script"}
    >>> settings["drop_invisible"] = True
    >>> [normalize(text, **settings) == expected for text, expected in (
    ...     ("ＡＢＣ１２３", "abc123"),
    ...     ("ｶﾞラス", "ガラス"),
    ...     ("か\u3099", "が"),
    ...     ("新\u200b闻\ufeff", "新闻"),
    ...     ("a\u00adb\x00c\x1fd", "abcd"),
    ...     ("ΟΔΟΣ", "οδοσ"),
    ...     ("İ", "i\u0307"),
    ...     ("☂\ufe0f", "☂"),
    ...     ("ﬁne", "fine"),
    ... )]
    [True, True, True, True, True, True, True, True, True]
    >>> [normalize(text, **settings) for text in ("  one \t\r\n two　", "共 3 个 of 5。 E")]
    ['one two', '共3个of 5。e']

    A joiner keeps two characters apart in step 1 and is gone after step 2. The bracket is ASCII
    after NFKC, so the white space next to it stays.

    >>> normalize("か\u200b\u3099", **settings) == "か\u3099"
    True
    >>> normalize("x\n（y", **settings)
    'x (y'
    >>> settings |= {"nfkc": False, "lowercase": False, "drop_invisible": False}
    >>> normalize("x\n（y", **settings)
    'x（y'
    >>> normalize("第一行\n 第二行 ", **settings | {"whitespace": "collapse"})
    '第一行 第二行'
    """
    by_script = whitespace == "by-script"
    if ends == "drop":
        text = without_ends_of_posts(text)
    if "look-alikes" in fold:
        text, _ = look_alikes.unmask(text)
    pieces = text.split(" ") if punctuation == "drop" and is_spaced_out(text) else [text]
    text = "".join(unicodedata.normalize("NFKC", piece) if nfkc else piece for piece in pieces)
    if drop_invisible:
        text = "".join(c for c in text if not is_invisible(c))
    if "traditional" in fold:
        text = "".join(map(simplified, text))
    if "points" in fold:
        text = "".join(map(without_points, text))
    if "look-alikes" in fold:
        text = "".join(RADICALS.get(c, c) for c in text)
    if punctuation == "drop":
        text = separate(text, by_script=by_script)
    if lowercase:
        text = "".join(c.lower() for c in text)
    if punctuation == "keep" and whitespace != "keep":
        text = join_words(text, by_script=by_script)
    return spell(text) if numbers == "value" else text


def is_spaced_out(text):
    """Tell whether blanks are so many that they separate no words."""
    blanks = text.count(" ")
    return 16 * blanks > len(text.encode()) and 5 * blanks > 2 * len(text)


def separate(text, *, by_script):
    """Write each run of separators between two characters as what is left of it."""
    groups = [(is_run, "".join(group)) for is_run, group in itertools.groupby(text, is_separator)]
    out = ""
    for number, (is_run, group) in enumerate(groups):
        if not is_run:
            out += group
        elif out and number + 1 < len(groups):
            out += between(out[-1], group, groups[number + 1][1][0], by_script)
        elif out and by_script and is_unspaced(out[-1]) and ends_sentence(group):
            out += SENTENCE_END
    return out


def ends_sentence(run):
    return any(c in run for c in "。！？!?")


def between(before, run, after, by_script):
    """Return what is left of a run of separators."""
    if all("0" <= c <= "9" for c in before + after):
        return run if run in (".", ",", ":") else "-"
    if run in ("'", "’") and is_alphabetic(before) and is_alphabetic(after):
        return ""
    if by_script and (is_unspaced(before) or is_unspaced(after)):
        return SENTENCE_END if ends_sentence(run) else ""
    return WORD_END


@cache
def is_separator(character):
    """Tell whether a character is no letter, no digit and no mark on one."""
    is_attached = unicodedata.category(character) in ("Mn", "Mc")
    return not is_attached and not is_letter(character)


def without_ends(text):
    """Return a text without the ends of words and sentences, and the signs of dates."""
    return re.sub(f"[{WORD_END}{SENTENCE_END}{DAY_FIRST}{UNSURE}]", "", text)


@cache
def is_invisible(character):
    """Tell whether a character is one to drop."""
    if unicodedata.category(character) == "Cc":
        return character not in WHITE_SPACE
    return is_ignorable(character)


to_simplified = opencc.OpenCC("t2s").convert


@cache
def simplified(character):
    """Return what OpenCC makes of a character by itself; what NFKC changes is no letter here."""
    if ord(character) < 0x3400 or unicodedata.normalize("NFKC", character) != character:
        return character
    other = to_simplified(character)
    return character if other == character or len(other) > 1 else simplified(other)


@cache
def without_points(character):
    """Return the plain letter, or nothing for a point, in Hebrew and Arabic."""
    if not ("\u0590" <= character <= "\u08ff" or character == "\ufb1e"):
        return character
    parts = unicodedata.normalize("NFD", character)
    return "".join(FORMS.get(c, c) for c in parts if not is_point(c))


def is_point(character):
    """Tell whether a character of Hebrew or Arabic is a mark, tatweel, or a small letter above."""
    of_others = "\u0700" <= character <= "\u08c9"  # Syriac and what follows, newer Arabic
    is_mark = unicodedata.category(character) == "Mn" and not of_others
    return is_mark or character in "\u0640\u06e5\u06e6"


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
    return is_of_line_script(character) or is_unspaced_punctuation(character) is not None
