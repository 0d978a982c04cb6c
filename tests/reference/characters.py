"""Classes of characters by their Unicode properties, from another library than the stages use."""

from functools import cache

import regex

# Lines of these scripts are joined without a space.
LINE_SCRIPTS = "Han Hiragana Katakana Bopomofo"
# Written without spaces between words; Hangul has spaces, but uses them freely.
DENSE_SCRIPTS = (
    f"{LINE_SCRIPTS} Hangul Yi Nushu Tangut Khitan_Small_Script Thai Lao Khmer Myanmar Tibetan "
    "Javanese Balinese Tai_Le New_Tai_Lue Tai_Tham Tai_Viet Lisu Cham Ahom"
)
# The only other ones that share letters with those.
OTHER_SCRIPTS = "Latin Buginese"


def characters_of(scripts, prop="sc"):
    """Return a regular expression for the characters of scripts."""
    return "[" + "".join(rf"\p{{{prop}={name}}}" for name in scripts.split()) + "]"


def _test(pattern):
    match = regex.compile(pattern, regex.V1).match
    return cache(lambda character: match(character) is not None)


is_letter = _test(r"[\p{Alphabetic}\p{N}]")
is_alphabetic = _test(r"\p{Alphabetic}")
is_mark = _test(r"\p{M}")
is_ignorable = _test(r"\p{Default_Ignorable_Code_Point}")
# Of a script with spaces between words.
is_of_word = _test(r"[\p{Alphabetic}--[\u0e00-\U0010ffff]]")
is_of_line_script = _test(characters_of(LINE_SCRIPTS))
is_of_dense_script = _test(characters_of(DENSE_SCRIPTS))
# Letters of no script whose Script_Extensions name dense ones alone.
is_of_dense_scripts_only = _test(
    rf"[{characters_of(DENSE_SCRIPTS, 'scx')}"
    rf"--{characters_of(OTHER_SCRIPTS, 'scx')}--[\p{{M}}]]"
)
