"""look-alikes: letters of another script inside a word.

A word of two scripts becomes a word of one: the script of its letters that look like no other,
else that of such letters beside it. See `standard` for the words that stay.
"""

import re

# The look-alikes of Latin letters (Unicode's confusables that fonts draw alike).
_RUSSIAN = dict(zip("аеорсухікАВЕКМНОРСТУХІ", "aeopcyxikABEKMHOPCTYXI", strict=True))
_CYRILLIC = _RUSSIAN | dict(zip("јѕһԁԛԝӏѵёїЁЇЈЅԌԚԜҮѴӀ", "jshdqwlvëïËÏJSGQWYVI", strict=True))
_GREEK = dict(zip("οΟΑΒΕΖΗΙΚΜΝΡΤΥΧ", "oOABEZHIKMNPTYX", strict=True))
#: Greek letters of formulas: look-alikes only if one is between two letters of a word.
_FORMULA = dict(zip("αρνικυγ", "apvikuy", strict=True))
_SHORTEST_GREEK = 4
_TO_LATIN = {
    "cyrillic": _CYRILLIC,
    "greek": _GREEK | _FORMULA | dict(zip("ϲϳϹ", "cjC", strict=True)),
}
#: For words of a Russian or Greek text with Latin letters in them.
_FROM_LATIN = {
    script: {latin: letter for letter, latin in table.items()}
    for script, table in (("cyrillic", _RUSSIAN), ("greek", _GREEK))
}
#: Letters that tell no script: those of the tables, on both sides.
_AMBIGUOUS = frozenset(
    letter for table in _TO_LATIN.values() for pair in table.items() for letter in pair
)

#: Katakana that look like Chinese characters.
_KATAKANA = dict(zip("エカタチトニハロ", "工力夕千卜二八口", strict=True))
_LATIN_LETTERS = "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_GREEK_LETTERS = "\u0370-\u0373\u0376-\u037d\u037f-\u03ff\u1f00-\u1fff"
_CYRILLIC_LETTERS = "\u0400-\u0481\u048a-\u052f\u1c80-\u1c88\ua640-\ua66e\ua680-\ua69d"
_OTHERS = _GREEK_LETTERS + _CYRILLIC_LETTERS
_LETTERS = _LATIN_LETTERS + _OTHERS
_HAN = "\u2e80-\u2fd5\u3005\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u30ff\uff66-\uff9f"

#: Characters without a glyph that no word of these scripts needs.
_UNSEEN = (
    "\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u206f\ufeff\u115f\u1160\u3164\uffa0"
    "\U000e0000-\U000e007f"
)

_ALIKE = "".join([*_CYRILLIC, *_GREEK])
_MIXED = re.compile(
    f"[{_LATIN_LETTERS}][{_UNSEEN}]*[{_OTHERS}]|[{_OTHERS}][{_UNSEEN}]*[{_LATIN_LETTERS}]"
    f"|(?<![{_LETTERS}])[{_ALIKE}][{_ALIKE}{_UNSEEN}]*(?![{_LETTERS}])"
)
_WORD_END = re.compile(f"[{_LETTERS}{_UNSEEN}]*")
_WORD_LETTER = re.compile(f"[{_LETTERS}{_UNSEEN}]")
_LETTER = re.compile(f"[{_LETTERS}]")
_OTHER = re.compile(f"[{_OTHERS}]")
_OF_WORD = re.compile(f"[{_LETTERS}{_UNSEEN}]")
_ONE_KATAKANA = re.compile(f"[{''.join(_KATAKANA)}]")
_ANY_HAN, _ANY_KANA = re.compile(f"[{_HAN}]"), re.compile(f"[{_KANA}]")
#: Before a katakana that counts, as in 三カ国.
_NUMERALS = frozenset("一二三四五六七八九十百千数數何几幾")
_OTHER_KANA = re.compile(f"(?![{''.join(_KATAKANA)}])[\u3041-\u3096\u30a1-\u30fa]")
#: Code points beside a word that tell the script of its text.
_AROUND = 80


def unmask(text):
    """Return the text without look-alikes, and the words: begin, end and number of look-alikes."""
    letters = {}
    words = []
    for begin, end, replaced in [*alphabet_words(text), *kana(text), *numbers(text)]:
        words.append((begin, end, len(replaced)))
        letters |= replaced
    return "".join(letters.get(at, letter) for at, letter in enumerate(text)), sorted(words)


def alphabet_words(text):
    """Yield the words with look-alikes, with the letters that take their place."""
    if not _OTHER.search(text):
        return
    done = 0
    for match in _MIXED.finditer(text):
        begin = match.start()
        if begin < done:
            continue
        while begin > done and _WORD_LETTER.match(text, begin - 1):
            begin -= 1
        tail = _WORD_END.match(text, match.end())
        end = done = match.end() if tail is None else tail.end()
        word = [(at, text[at]) for at in range(begin, end) if _LETTER.match(text, at)]
        if replaced := standard(word, context_of(text, begin, end)):
            yield begin, end, replaced


def numbers(text):
    """Yield the numbers in which letters stand for digits, with the digits."""
    for match in re.finditer("[0-9OolIS]+", text):
        begin, end = match.span()
        beside = text[max(begin - 1, 0) : begin], text[end : end + 1]
        if any(map(_OF_WORD.match, beside)) or not re.fullmatch("[0-9](.*[0-9])?O*", match[0]):
            continue
        digits = dict(zip("OolIS", "00115", strict=True))
        replaced = {at: digits[text[at]] for at in range(begin, end) if text[at] in digits}
        if replaced:
            yield begin, end, replaced


def script(letter):
    if "\u0370" <= letter <= "\u03ff" or "\u1f00" <= letter <= "\u1fff":
        return "greek"
    return "latin" if _OTHER.match(letter) is None else "cyrillic"


def context_of(text, begin, end):
    """Return the scripts of the nearest letters of the line that look like no other, both sides."""
    before = text[max(begin - _AROUND, 0) : begin].rpartition("\n")[2]
    after = text[end : end + _AROUND].partition("\n")[0]
    nearest = (
        next(
            (script(match[0]) for match in _LETTER.finditer(side) if match[0] not in _AMBIGUOUS),
            None,
        )
        for side in (before[::-1], after)
    )
    return frozenset(script for script in nearest if script)


def standard(word, context):
    """Return the letters that take the place of a word's look-alikes; empty for a word as it is."""
    scripts = [script(letter) for _, letter in word]
    others = {*scripts} - {"latin"}
    if len(others) != 1:
        return {}
    (other,) = others
    to_latin, from_latin = _TO_LATIN[other], _FROM_LATIN[other]
    sure = {
        script
        for script, (_, letter) in zip(scripts, word, strict=True)
        if letter not in (from_latin if script == "latin" else to_latin)
    }
    if len(sure) > 1:
        return {}
    if "latin" not in scripts:
        # A whole word of look-alikes: only in a text of the other script, and no sign of a formula.
        is_sign = len(word) == 1 and word[0][1].isupper()
        if sure or context & {"latin", other} != {"latin"} or is_sign:
            return {}
        if other == "greek" and len(word) < _SHORTEST_GREEK:
            return {}
        return {at: to_latin[letter] for at, letter in word}
    latin = scripts.count("latin")
    is_latin = sure == {"latin"} or (not sure and ("latin" in context or not context))
    if is_latin:
        # A foreign name with an ending of its own in a Russian or Greek text is innocent.
        if (context and "latin" not in context) or (other == "greek" and other in context):
            return {}
        replaced = {
            at: to_latin[letter]
            for (at, letter), script in zip(word, scripts, strict=True)
            if script != "latin"
        }
        inside = {at for at, _ in word[1:-1]}
        formula = [at for at, letter in word if letter in _FORMULA]
        if formula and (len(word) < _SHORTEST_GREEK or inside.isdisjoint(formula)):
            return {}
        return replaced
    most = 3 if other == "cyrillic" else _SHORTEST_GREEK
    if len(word) < most or 2 * latin > len(word) - latin or (context and other not in context):
        return {}
    return {
        at: from_latin[letter]
        for (at, letter), script in zip(word, scripts, strict=True)
        if script == "latin"
    }


def kana(text):
    """Yield single katakana beside Chinese characters in a line without other kana."""
    if not any(letter in text for letter in _KATAKANA):
        return
    for match in _ONE_KATAKANA.finditer(text):
        at = match.start()
        sides = text[max(at - 1, 0) : at], text[at + 1 : at + 2]
        if any(map(_ANY_KANA.match, sides)) or not any(map(_ANY_HAN.match, sides)):
            continue
        before = text[max(at - _AROUND, 0) : at].rpartition("\n")[2]
        after = text[at + 1 : at + 1 + _AROUND].partition("\n")[0]
        is_counter = sides[0] in _NUMERALS
        if not (is_counter or _OTHER_KANA.search(before) or _OTHER_KANA.search(after)):
            yield at, at + 1, {at: _KATAKANA[match[0]]}
