"""Boundaries of words and sentences, for edits.

They do not depend on any recipe, so that no method is tested with edits along its own units.
"""

from __future__ import annotations

import re

#: A piece of a text: begin and end in characters, end exclusive.
Span = tuple[int, int]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_WORD = re.compile(rf"[{_HAN}]{{1,2}}|(?:(?![{_HAN}])\w)+[ \t]*")
_SENTENCE = re.compile(r"[^\n]+?(?:[。！？!?]+[”’」』）)\"']*|\.[”’\"')]*(?=\s)|(?=\n)|\Z)[ \t]*")
_CHINESE = re.compile(rf"[{_HAN}]")

#: Shorter ones are fragments of lines, headings and list numbers.
_SHORTEST_SENTENCE = 4


def find_words(text: str) -> list[Span]:
    """Return the words of a text, in order: at most two Chinese characters, or letters and digits.

    >>> [text[b:e] for text in ["灯塔修好了 on Monday"] for b, e in find_words(text)]
    ['灯塔', '修好', '了', 'on ', 'Monday']
    """
    return [match.span() for match in _WORD.finditer(text)]


def find_sentences(text: str) -> list[Span]:
    """Return the sentences of a text, in order; a line break ends one too.

    >>> [text[b:e] for text in ["渡口关闭了。请走大桥！"] for b, e in find_sentences(text)]
    ['渡口关闭了。', '请走大桥！']
    """
    spans = (match.span() for match in _SENTENCE.finditer(text))
    return [(begin, end) for begin, end in spans if end - begin >= _SHORTEST_SENTENCE]


def is_chinese(text: str) -> bool:
    """Return whether a fifth of a text's first 200 characters are Chinese."""
    begin = text[:200]
    return len(_CHINESE.findall(begin)) * 5 > len(begin)
