"""look-alikes: letters of another script inside a word.

A word of two scripts becomes a word of one: the script of its letters that look like no other,
else that of such letters near it. See `standard` for the words that stay.
"""

import re


def table(letters, others):
    return dict(zip(letters, others, strict=True))


# The look-alikes of Latin letters (Unicode's confusables that fonts draw alike).
RUSSIAN = table("аеорсухікАВЕКМНОРСТУХІ", "aeopcyxikABEKMHOPCTYXI")
CYRILLIC = RUSSIAN | table("јѕһԁԛԝӏѵёїЁЇЈЅԌԚԜҮѴӀ", "jshdqwlvëïËÏJSGQWYVI")
GREEK = table("οΟΑΒΕΖΗΙΚΜΝΡΤΥΧ", "oOABEZHIKMNPTYX")
#: Greek letters of formulas: look-alikes only if one is between two letters of a word.
FORMULA = table("αρνικυγ", "apvikuy")
SHORTEST_GREEK = 4
TO_LATIN = {"cyrillic": CYRILLIC, "greek": GREEK | FORMULA | table("ϲϳϹ", "cjC")}
#: For words of a Russian or Greek text with Latin letters in them.
FROM_LATIN = {
    script: {latin: letter for letter, latin in letters.items()}
    for script, letters in (("cyrillic", RUSSIAN), ("greek", GREEK))
}
#: Letters that tell no script: those of the tables, on both sides.
AMBIGUOUS = {letter for each in TO_LATIN.values() for pair in each.items() for letter in pair}
#: Katakana that look like Chinese characters.
KATAKANA = table("エカタチトニハロ", "工力夕千卜二八口")
#: Before a katakana that counts, as in 三カ国.
NUMERALS = "一二三四五六七八九十百千数數何几幾"
#: Code points beside a word that tell the script of its text.
AROUND = 80

GREEK_LETTERS = "\u0370-\u0373\u0376-\u037d\u037f-\u03ff\u1f00-\u1fff"
OTHERS = GREEK_LETTERS + "\u0400-\u0481\u048a-\u052f\u1c80-\u1c88\ua640-\ua66e\ua680-\ua69d"
LATIN = "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
LETTERS = LATIN + OTHERS
#: Characters without a glyph that no word of these scripts needs.
UNSEEN = (
    "\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u206f\ufeff\u115f\u1160\u3164\uffa0"
    "\U000e0000-\U000e007f"
)
HAN = "\u2e80-\u2fd5\u3005\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3041-\u30ff\uff66-\uff9f"
ALIKE = "".join([*CYRILLIC, *GREEK])
SINGLE = "".join(KATAKANA)

LETTER = re.compile(f"[{LETTERS}]")
WORD = re.compile(f"[{LETTERS}{UNSEEN}]+")
#: Letters of two scripts side by side, or a word of look-alikes alone.
MIXED = re.compile(
    f"[{LATIN}][{UNSEEN}]*[{OTHERS}]|[{OTHERS}][{UNSEEN}]*[{LATIN}]"
    f"|(?<![{LETTERS}])[{ALIKE}][{ALIKE}{UNSEEN}]*(?![{LETTERS}])"
)
NUMBER = re.compile(
    f"(?<![{LETTERS}{UNSEEN}0-9])[0-9](?:[0-9OolIS]*[0-9])?O*(?![{LETTERS}{UNSEEN}0-9])"
)
DIGITS = table("OolIS", "00115")
ONE_KATAKANA = re.compile(
    f"(?<![{KANA}])(?:(?<=[{HAN}])[{SINGLE}]|[{SINGLE}](?=[{HAN}]))(?![{KANA}])"
)
OTHER_KANA = re.compile(f"(?![{SINGLE}])[\u3041-\u3096\u30a1-\u30fa]")


def unmask(text):
    """Return the text without look-alikes, and the words: begin, end and number of look-alikes."""
    found = [*words(text), *kana(text), *numbers(text)]
    letters = {at: letter for *_, replaced in found for at, letter in replaced.items()}
    unmasked = "".join(letters.get(at, letter) for at, letter in enumerate(text))
    return unmasked, sorted((*span, len(replaced)) for *span, replaced in found if replaced)


def words(text):
    """Yield the words that may have look-alikes, with the letters that take their place."""
    for match in WORD.finditer(text):
        if MIXED.search(match[0]):
            word = [(at, text[at]) for at in range(*match.span()) if LETTER.match(text[at])]
            before, after = around(text, *match.span())
            nearest = [
                next((script(c) for c in side if LETTER.match(c) and c not in AMBIGUOUS), None)
                for side in (before[::-1], after)
            ]
            yield *match.span(), standard(word, {*nearest} - {None})


def numbers(text):
    """Yield the numbers in which letters may stand for digits, with the digits."""
    for match in NUMBER.finditer(text):
        yield (
            *match.span(),
            {at: DIGITS[text[at]] for at in range(*match.span()) if text[at] in DIGITS},
        )


def kana(text):
    """Yield single katakana beside Chinese characters in a line without other kana."""
    for match in ONE_KATAKANA.finditer(text):
        before, after = around(text, *match.span())
        is_counter = before[-1:] and before[-1:] in NUMERALS
        if not (is_counter or OTHER_KANA.search(before) or OTHER_KANA.search(after)):
            yield *match.span(), {match.start(): KATAKANA[match[0]]}


def around(text, begin, end):
    """Return what stands near a word in its line: before it, nearest last, and after it."""
    before = text[max(begin - AROUND, 0) : begin].rpartition("\n")[2]
    return before, text[end : end + AROUND].partition("\n")[0]


def script(letter):
    """Return the script of a letter.

    >>> [script(letter) for letter in "xхχ"]
    ['latin', 'cyrillic', 'greek']
    """
    if re.match(f"[{LATIN}]", letter):
        return "latin"
    return "greek" if re.match(f"[{GREEK_LETTERS}]", letter) else "cyrillic"


def standard(word, context):
    """Return the letters that take the place of a word's look-alikes; empty for a word as it is.

    The context is the scripts of the nearest letters that look like no other, on both sides.
    """
    scripts = [script(letter) for _, letter in word]
    others = {*scripts} - {"latin"}
    if len(others) != 1:
        return {}
    (other,) = others
    replacing = TO_LATIN[other]
    known = {"latin": FROM_LATIN[other], other: replacing}
    sure = {name for name, (_, c) in zip(scripts, word, strict=True) if c not in known[name]}
    latin = scripts.count("latin")
    is_russian, is_long = other == "cyrillic", len(word) >= SHORTEST_GREEK
    if len(sure) > 1:
        return {}
    if not latin:
        # A whole word of look-alikes: only in a text of the other script, and no sign of a formula.
        is_sign = len(word) == 1 and word[0][1].isupper()
        is_masked = not sure and context & {"latin", other} == {"latin"} and not is_sign
        is_masked = is_masked and (is_russian or is_long)
    elif sure == {"latin"} or (not sure and ("latin" in context or not context)):
        # A foreign name with an ending of its own in a Russian or Greek text is innocent.
        is_masked = (not context or "latin" in context) and (is_russian or other not in context)
        if any(letter in FORMULA for _, letter in word):
            is_masked = is_masked and is_long and any(c in FORMULA for _, c in word[1:-1])
    else:
        replacing = FROM_LATIN[other]
        is_masked = (len(word) >= 3 if is_russian else is_long) and 2 * latin <= len(word) - latin
        is_masked = is_masked and (not context or other in context)
    own = other if replacing is FROM_LATIN[other] else "latin"
    return {at: replacing[c] for at, c in word if is_masked and script(c) != own}
