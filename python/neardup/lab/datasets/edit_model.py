"""An edit model: near-duplicates of a text, as re-posts and editors make them."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Sequence
from typing import Any

from neardup.base.messages import Message
from neardup.base.validation import bad, check_string, check_whole
from neardup.exceptions import ParameterError
from neardup.lab.datasets import sentences as spans
from neardup.lab.datasets.draws import Draws

#: A copy's own rate is drawn between these, unless one is given.
RATES = (0.02, 0.10)
MAX_RATE = 0.5

#: Share of copies in which a line at head or tail is tried.
_LINES = 0.5
#: Budget share of the dominant level; the other two halve the rest.
_LEADING = 0.6
#: Texts of the pool that one copy takes its material from.
_DONORS = 4
#: Failed draws after which a level ends: hardly any room is left.
_TRIES = 60

_LEVELS = ("sentence", "word", "character")
_OPERATIONS = ("insertion", "deletion", "replacement", "reordering")


#: Lines that a re-post puts around a text; all names in them are made up.
_HEADS = {
    True: (
        "（本报记者 林一舟）",
        "本报讯　",
        "（通讯员 何青 本报记者 周禾）",
        "本网综合报道：",
        "【转载】",
        "来源：晨江在线\n",
        "据晨江日报消息，",
    ),
    False: (
        "By a staff reporter\n",
        "(Harbour Wire) - ",
        "Source: The Daily Harbour\n",
        "Reposted from our partner site.\n",
        "UPDATED: ",
    ),
}
_TAILS = {
    True: (
        "（完）",
        "\n来源：晨江在线",
        "\n编辑：许知远",
        "\n（责任编辑：何青）",
        "\n本文转自晨江日报，版权归原作者所有。",
        "\n更多内容请关注本站。",
    ),
    False: (
        "\nSource: The Daily Harbour",
        "\nEditing by J. Mill",
        "\n(c) Harbour Wire. All rights reserved.",
        "\nRead more on our site.",
        "\n-- END --",
    ),
}

#: Forms of such lines in texts as they come, at the very begin and end.
_HAS_HEAD = re.compile(
    r"[（(【]?(?:本报|本网|本刊|[^\s，。,.]{2,8}(?:社|网))[^\n。]{0,24}?(?:电|讯|报道|记者[^\n，。)）]{0,8})"
    r"[】)）]?[\s:：]*"
    r"|(?:作者|来源|记者)[:：][^\n]{1,20}\n"
    r"|[A-Z][A-Z .,]{2,30}(?:\([^)\n]{2,20}\))? ?[-–—]{1,2} "
)
_HAS_TAIL = re.compile(
    r"(?:\s*(?:[（(]完[）)]|[【（(]?(?:责任编辑|编辑|来源|稿件来源)[:：][^\n】)）]{1,20}[】)）]?))+\s*\Z"
)
#: A tail is searched in this many last characters.
_TAIL_REACH = 80


class EditModel:
    """Makes edited copies of texts; the same for the same seed and id.

    Edits are drawn until the *rate* of the text's characters is spent. In half of the copies, a
    line of the source or the editor, at head or tail, changes first. Sentences, words and
    characters are then inserted, deleted, replaced and reordered. One of these three levels, drawn
    for each copy, gets three fifths of the rest; the other two get a fifth each. A level passes on
    to the next smaller one what it cannot spend.

    Parameters
    ----------
    pool : iterable of str
        Texts that inserted material is taken from; at least one with a word.
        A text is never its own donor where the pool has another.
    seed : int, default=0
        At least 0.
    rate : float or None, default=None
        Share of a text's characters that edits touch, in [0, 0.5]. None draws
        it for each copy, uniformly from 0.02 to 0.10.

    Raises
    ------
    ParameterError
        If the pool has no word, or a parameter is out of bounds.

    Notes
    -----
    The cost of an edit is the number of characters that it deletes and inserts; a replacement costs
    the longer of the two. No two edits touch the same place. So the cost of a copy is a close upper
    bound of its Levenshtein distance from the text. The draws come from PCG64, seeded by a hash of
    seed and document id: copies do not depend on which others are made, nor on their order. A copy
    takes O(n) for n characters.

    Examples
    --------
    >>> model = EditModel(["码头上的吊车昨夜停了。", "渡船改在清晨开出。"], rate=0.2)
    >>> model.copy("灯塔今天重新点亮，港口的居民都来观看。", "a1")
    '头塔今天重新上的，港口的居民都来观。'
    """

    def __init__(self, pool: Iterable[str], *, seed: int = 0, rate: float | None = None) -> None:
        is_list = isinstance(pool, Iterable) and not isinstance(pool, str)
        texts = list(pool) if is_list else []
        if not is_list or not all(isinstance(text, str) for text in texts):
            raise bad("pool", "a list of text", pool)
        self._pool = [text for text in texts if spans.find_words(text[:200])]
        if not self._pool:
            raise ParameterError(
                Message(
                    "{parameter:named} must have a text with a word. Give texts of the collection "
                    "itself.",
                    parameter="pool",
                )
            )
        self._seed = check_whole(seed, "seed", 0)
        self._rate = None if rate is None else check_rate(rate)

    def copy(self, text: str, id: str) -> str:
        """Return an edited copy of a text.

        Parameters
        ----------
        text : str
        id : str
            The document's id; together with the seed it decides the draws.

        Returns
        -------
        str
            Equal to the text where the rate is less than one character.
        """
        draw = Draws(f"{self._seed}\n{check_string(id, 'id')}")
        check_string(text, "text")
        low, high = RATES
        rate = low + (high - low) * draw.share() if self._rate is None else self._rate
        budget = round(rate * len(text))
        if not budget:
            return text
        edits = _Edits(text, draw, _collect_pieces(self._pool, text, draw))
        if draw.share() < _LINES:
            edits.change_line(budget)
        rest = budget - edits.touched
        leading = draw.pick(_LEVELS)
        limit = float(edits.touched)
        for level in _LEVELS[:-1]:
            limit += rest * (_LEADING if level == leading else (1 - _LEADING) / 2)
            edits.spend(level, round(limit))
        edits.spend(_LEVELS[-1], budget)
        return edits.join_text()


def check_rate(value: Any) -> float:
    """Return a share of edited characters, in [0, 0.5]."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not 0 <= float(value) <= MAX_RATE:
        raise bad("rate", "a number from 0 to {most}", value, most=MAX_RATE)
    return float(value)


def _collect_pieces(pool: Sequence[str], text: str, draw: Draws) -> dict[str, list[str]]:
    """Return the sentences, words and characters of a few texts of the pool."""
    drawn = [draw.pick(pool) for _ in range(_DONORS)]
    texts = [donor for donor in drawn if donor != text]
    if not texts:
        texts = [donor for donor in pool if donor != text][:1] or drawn[:1]
    words = [donor[b:e] for donor in texts for b, e in spans.find_words(donor)]
    return {
        "sentence": [donor[b:e] for donor in texts for b, e in spans.find_sentences(donor)],
        "word": words,
        "character": [character for word in words for character in word.strip()],
    }


class _Edits:
    """A text under edit: what now replaces each character of it."""

    def __init__(self, text: str, draw: Draws, pieces: dict[str, list[str]]) -> None:
        self._text = text
        self._now = list(text)
        self._free = bytearray(b"\1" * len(text))
        self._before = self._after = ""
        self._draw = draw
        self._pieces = pieces
        self._spans: dict[str, list[spans.Span]] = {
            "word": spans.find_words(text),
            "sentence": spans.find_sentences(text),
            # A line break separates lines and is not edited.
            "character": [(i, i + 1) for i, c in enumerate(text) if c != "\n"],
        }
        self.touched = 0

    def join_text(self) -> str:
        """The text as edited."""
        return "".join((self._before, *self._now, self._after))

    def change_line(self, limit: int) -> None:
        """Change the line of a source at the head or the tail, if there is room."""
        at_head = self._draw.share() < 0.5
        begin, end = (find_head if at_head else find_tail)(self._text)
        line = self._draw.pick((_HEADS if at_head else _TAILS)[spans.is_chinese(self._text)])
        if begin == end:
            if len(line) <= limit:
                if at_head:
                    self._before = line
                else:
                    self._after = line
                self.touched += len(line)
        elif self._draw.share() < 0.5:
            self._put(begin, end, "", limit)
        else:
            self._put(begin, end, line, limit)

    def spend(self, level: str, limit: int) -> None:
        """Edit at one level until `limit` characters are touched in all."""
        spans = self._spans[level]
        in_vain = 0
        while self.touched < limit and spans and in_vain < _TRIES:
            done = self._edit(level, spans, self._draw.draw_below(len(spans)), limit)
            in_vain = 0 if done else in_vain + 1

    def _edit(self, level: str, spans: list[spans.Span], index: int, limit: int) -> bool:
        begin, end = spans[index]
        operation = self._draw.pick(_OPERATIONS)
        if operation == "deletion":
            return self._put(begin, end, "", limit)
        if operation == "reordering":
            if level == "sentence":
                return self._move(begin, end, spans, limit)
            follows = spans[index + 1 : index + 2]
            return bool(follows) and self._swap((begin, end), follows[0], limit)
        if not self._pieces[level]:
            return False
        piece = self._draw.pick(self._pieces[level])
        if operation == "replacement":
            return self._put(begin, end, piece, limit)
        # What is put before a place takes its first character, unchanged.
        kept = self._text[begin : begin + 1]
        return self._put(begin, begin + 1, piece + kept, limit, len(piece))

    def _put(self, begin: int, end: int, new: str, limit: int, cost: int | None = None) -> bool:
        if cost is None:
            cost = max(end - begin, len(new))
        unchanged = new == self._text[begin:end]
        if unchanged or self.touched + cost > limit or not self._take(begin, end):
            return False
        self._now[begin:end] = [new, *[""] * (end - begin - 1)]
        self.touched += cost
        return True

    def _swap(self, a: spans.Span, b: spans.Span, limit: int) -> bool:
        """Swap two neighbours; what is between them stays."""
        first, second = self._text[slice(*a)], self._text[slice(*b)]
        # Blanks after a word belong to its position, not to the word.
        first, second = first.rstrip(" \t"), second.rstrip(" \t")
        between = self._text[a[0] + len(first) : b[0]]
        # Cost: the shorter one moves past the text between, or both are replaced.
        shorter, longer = sorted((len(first), len(second)))
        cost = 2 * min(shorter + len(between), longer)
        if first == second or self.touched + cost > limit or not self._take(a[0], b[1]):
            return False
        rest = self._text[b[0] + len(second) : b[1]]
        self._now[a[0] : b[1]] = [second + between + first + rest, *[""] * (b[1] - a[0] - 1)]
        self.touched += cost
        return True

    def _move(self, begin: int, end: int, spans: list[spans.Span], limit: int) -> bool:
        """Move a sentence to the place before another one."""
        goal = self._draw.pick(spans)[0]
        cost = 2 * (end - begin)
        if begin <= goal <= end or self.touched + cost > limit:
            return False
        if not self._free[goal] or not self._take(begin, end):
            return False
        self._free[goal] = 0
        self._now[begin:end] = [""] * (end - begin)
        self._now[goal] = self._text[begin:end] + self._text[goal]
        self.touched += cost
        return True

    def _take(self, begin: int, end: int) -> bool:
        """Mark a place as touched, unless a part of it is."""
        if 0 in self._free[begin:end]:
            return False
        self._free[begin:end] = bytes(end - begin)
        return True


def find_head(text: str) -> spans.Span:
    """Return the span of the text's own opening line of a source.

    >>> find_head("本报讯 渡口关闭。"), find_head("渡口关闭。")
    ((0, 4), (0, 0))
    """
    line = _HAS_HEAD.match(text)
    return (0, 0) if line is None else line.span()


def find_tail(text: str) -> spans.Span:
    """Return the span of the text's own closing line of a source.

    >>> find_tail("渡口关闭。(完)"), find_tail("渡口关闭。")
    ((5, 8), (5, 5))
    """
    begin = max(0, len(text) - _TAIL_REACH)
    line = _HAS_TAIL.search(text, begin)
    return (len(text), len(text)) if line is None else line.span()
