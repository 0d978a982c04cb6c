"""A custom segmenter: a function from a text to pairs of word and tag.

The setting ``units`` in the ``[segment]`` part of a recipe names such a function
as ``module:function``. This one uses forward maximum matching: at each position
it takes the longest word of a lexicon that matches there, or else one character.
A real segmenter would wrap a library; docs/guide/segmenters.md shows several
wrappers.

Run this file to print its words and the distance between two texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Tags as in ICTCLAS: n... is a noun, v... a verb.
LEXICON = {
    "图书馆": "n",
    "阅览区": "n",
    "自习室": "n",
    "读者": "n",
    "问卷": "n",
    "馆员": "n",
    "末班车": "n",
    "公交公司": "n",
    "儿童区": "n",
    "开放": "v",
    "推迟": "v",
    "延长": "v",
    "闭馆": "v",
    "看书": "v",
    "轮流": "d",
    "时间": "n",
    "晚上": "t",
    "夜里": "t",
}
LONGEST = max(map(len, LEXICON))
LATIN_OR_DIGITS = re.compile(r"[a-z]+|[0-9]+", re.IGNORECASE)


def segment(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a text in order, with their parts of speech."""
    at = 0
    while at < len(text):
        word, tag = _longest_at(text, at)
        yield word, tag
        at += len(word)


def _longest_at(text: str, at: int) -> tuple[str, str]:
    run = LATIN_OR_DIGITS.match(text, at)
    if run:
        return run.group(), "eng" if run.group().isalpha() else "m"
    for length in range(min(LONGEST, len(text) - at), 1, -1):
        word = text[at : at + length]
        if word in LEXICON:
            return word, LEXICON[word]
    return text[at], "x"


def main() -> None:
    """Print the words of a sentence, and its distance to another one."""
    import neardup

    a = "图书馆的闭馆时间推迟到夜里十一点，自习室也对读者开放。"
    b = "图书馆的闭馆时间延长到夜里十一点，自习室也向读者开放。"
    print(" ".join(f"{word}/{tag}" for word, tag in segment(a)))

    recipe = neardup.load_recipe("classic").replace(
        name="lexicon", segment={"units": "segmenter_of_your_own:segment"}
    )
    found = neardup.compare(a, b, recipe=recipe)
    print(f"{found.distance} of {found.bits} bits differ, by {found.recipe_id}")


if __name__ == "__main__":
    main()
