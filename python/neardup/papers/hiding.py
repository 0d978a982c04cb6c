"""What hides copied text from a comparison: look-alike letters, invisible characters, hidden text.

`revealed` returns the text that is compared, in which every character has its place of the original
text, and what was found. Full-width letters, mathematical letters and compatibility ideographs are
no concern of this module: NFKC folds them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neardup.papers.results import Finding, Place

if TYPE_CHECKING:
    from neardup.readers.files import FileText

__all__ = ["MOST_PLACES", "revealed", "unmasked"]

#: Places that a finding names; its count includes all.
MOST_PLACES = 1000

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
_AMBIGUOUS = frozenset(
    "".join("".join(table) for tables in (_TO_LATIN, _FROM_LATIN) for table in tables.values())
)

#: Katakana that look like Chinese characters.
_KATAKANA = dict(zip("エカタチトニハロ", "工力夕千卜二八口", strict=True))
#: Radicals with a code point beside that of the character; fonts of PDF files name them instead.
_RADICALS = {
    chr(radical): folded
    for radical in range(0x2F00, 0x2FD6)
    if len(folded := unicodedata.normalize("NFKC", chr(radical))) == 1
} | dict(
    zip(
        "⺟⺠⻁⻄⻅⻆⻉⻋⻑⻓⻔⻘⻙⻚⻛⻜⻢⻣⻤⻥⻦⻧⻨⻩⻫⻬⻭⻮⻯⻰⻲⻳",
        "母民虎西见角贝车長长门青韦页风飞马骨鬼鱼鸟卤麦黄斉齐歯齿竜龙亀龟",
        strict=True,
    )
)

_LATIN_LETTERS = "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_GREEK_LETTERS = "\u0370-\u0373\u0376-\u037d\u037f-\u03ff\u1f00-\u1fff"
_CYRILLIC_LETTERS = "\u0400-\u0481\u048a-\u052f\u1c80-\u1c88\ua640-\ua66e\ua680-\ua69d"
_OTHERS = _GREEK_LETTERS + _CYRILLIC_LETTERS
_LETTERS = _LATIN_LETTERS + _OTHERS
_HAN = "\u3005\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u30ff\uff66-\uff9f"
_HANGUL = "\u1100-\u115e\u1161-\u11ff\u3131-\u3163\uac00-\ud7a3"

#: Characters without a glyph that no word of these scripts needs.
_UNSEEN = (
    "\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u206f\ufeff\u115f\u1160\u3164\uffa0"
    "\U000e0000-\U000e007f"
)
#: Between two letters of one class. A soft hyphen is innocent in a word of an alphabet.
_INVISIBLE = re.compile(
    f"(?<=[{_LETTERS}])[{_UNSEEN}]+(?=[{_LETTERS}])"
    f"|(?<=[{_HAN}{_KANA}])[{_UNSEEN}\u00ad]+(?=[{_HAN}{_KANA}])"
    f"|(?<=[{_HANGUL}])[\u200b-\u200f\u202a-\u202e\u2060\ufeff]+(?=[{_HANGUL}])"
)

_ALIKE = "".join([*_CYRILLIC, *_GREEK])
_MIXED = re.compile(
    f"[{_LATIN_LETTERS}][{_UNSEEN}]*[{_OTHERS}]|[{_OTHERS}][{_UNSEEN}]*[{_LATIN_LETTERS}]"
    f"|(?<![{_LETTERS}])[{_ALIKE}][{_ALIKE}{_UNSEEN}]*(?![{_LETTERS}])"
)
_WORD_END = re.compile(f"[{_LETTERS}{_UNSEEN}]*")
_WORD_LETTER = re.compile(f"[{_LETTERS}{_UNSEEN}]")
_LONGEST_WORD = 200
_LETTER = re.compile(f"[{_LETTERS}]")
_OTHER = re.compile(f"[{_OTHERS}]")
_ONE_KATAKANA = re.compile(f"[{''.join(_KATAKANA)}]")
_ANY_HAN, _ANY_KANA = re.compile(f"[{_HAN}]"), re.compile(f"[{_KANA}]")
#: Before a katakana that counts, as in 三カ国.
_NUMERALS = frozenset("一二三四五六七八九十百千数數何幾")
_OTHER_KANA = re.compile(f"(?![{''.join(_KATAKANA)}])[\u3041-\u3096\u30a1-\u30fa]")
_RADICAL = re.compile("[\u2e80-\u2fd5]")
#: Code points beside a word that tell the script of its text.
_AROUND = 80


def revealed(paper: FileText) -> tuple[str, tuple[Finding, ...]]:
    """Return the text of a paper that is compared, and what would have hidden copied text.

    The text has spaces in place of letters that no reader of the paper sees, and letters of the
    word's own script in place of look-alikes. Pictures are counted, since text may be in them.
    """
    hidden: dict[str, list[tuple[int, int, int]]] = {}
    pieces = []
    done = 0
    for part in paper.hidden:
        hidden.setdefault(part.kind, []).append((part.begin, part.end, part.count))
        begin = max(part.begin, done)
        pieces += [paper.text[done:begin], " " * (part.end - begin)]
        done = max(part.end, done)
    text = "".join([*pieces, paper.text[done:]])
    compared, words = _unmask(text)
    unseen = [match.span() for match in _INVISIBLE.finditer(text)]
    found = {
        "look_alikes": words,
        "invisible": [(begin, end, end - begin) for begin, end in unseen],
        **hidden,
        "pictures": [(offset, offset, 1) for offset in paper.pictures],
    }
    findings = (_finding(kind, parts, paper.pages) for kind, parts in found.items() if parts)
    return compared, tuple(findings)


def _finding(kind: str, parts: Sequence[tuple[int, int, int]], pages: Sequence[int]) -> Finding:
    places = (
        Place(begin, end, bisect_right(pages, begin) or None)
        for begin, end, _ in parts[:MOST_PLACES]
    )
    return Finding(kind, sum(count for _, _, count in parts), tuple(places))


def unmasked(text: str) -> str:
    r"""Return a text with the letters of each word's own script in place of look-alikes.

    Every character keeps its place.

    Examples
    --------
    >>> unmasked("The f\u0435rry l\u0435aves at nine.") == "The ferry leaves at nine."
    True
    >>> unmasked("Паром уходит в 9.")
    'Паром уходит в 9.'
    """
    return _unmask(text)[0]


def _unmask(text: str) -> tuple[str, list[tuple[int, int, int]]]:
    """Return the text without look-alikes, and the words: begin, end and number of look-alikes."""
    if text.isascii():
        return text, []
    letters: dict[int, str] = {}
    if _RADICAL.search(text):
        letters = {
            match.start(): _RADICALS[match[0]]
            for match in _RADICAL.finditer(text)
            if match[0] in _RADICALS
        }
    words = []
    for begin, end, replaced in [*_alphabet_words(text), *_kana(text)]:
        words.append((begin, end, len(replaced)))
        letters |= replaced
    if not letters:
        return text, []
    characters = list(text)
    for position, letter in letters.items():
        characters[position] = letter
    return "".join(characters), sorted(words)


def _alphabet_words(text: str) -> Iterator[tuple[int, int, dict[int, str]]]:
    """Yield the words with look-alikes, with the letters that take their place."""
    if not _OTHER.search(text):
        return
    done = 0
    for match in _MIXED.finditer(text):
        begin = match.start()
        if begin < done:
            continue
        first = max(done, begin - _LONGEST_WORD)
        while begin > first and _WORD_LETTER.match(text, begin - 1):
            begin -= 1
        tail = _WORD_END.match(text, match.end())
        end = done = match.end() if tail is None else tail.end()
        word = [(at, text[at]) for at in range(begin, end) if _LETTER.match(text, at)]
        if replaced := _standard(word, _context(text, begin, end)):
            yield begin, end, replaced


def _script(letter: str) -> str:
    if "\u0370" <= letter <= "\u03ff" or "\u1f00" <= letter <= "\u1fff":
        return "greek"
    return "latin" if _OTHER.match(letter) is None else "cyrillic"


def _context(text: str, begin: int, end: int) -> frozenset[str]:
    """Return the scripts of the nearest letters of the line that look like no other, both sides."""
    before = text[max(begin - _AROUND, 0) : begin].rpartition("\n")[2]
    after = text[end : end + _AROUND].partition("\n")[0]
    nearest = (
        next(
            (_script(match[0]) for match in _LETTER.finditer(side) if match[0] not in _AMBIGUOUS),
            None,
        )
        for side in (before[::-1], after)
    )
    return frozenset(script for script in nearest if script)


def _standard(word: Sequence[tuple[int, str]], context: frozenset[str]) -> dict[int, str]:
    """Return the letters that take the place of a word's look-alikes; empty for a word as it is."""
    scripts = [_script(letter) for _, letter in word]
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


def _kana(text: str) -> Iterator[tuple[int, int, dict[int, str]]]:
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
