"""Wording: passages that two texts share although nobody copied.

Three kinds of evidence, each from the paper and its library alone:

- many independent documents of the library have the same few words;
- what the paper shares with a source is a name or a title, and little else;
- it is furniture of the site that both texts are from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.papers.rates import marked
from neardup.papers.structure.furniture import furniture

if TYPE_CHECKING:
    from neardup import _core

__all__ = ["CONTEXT", "LONGEST", "Shared", "Wording", "many"]

#: Common wording has at most this weight: 100 Chinese characters. More is text.
LONGEST = 200

#: Code points on either side of a passage in its source, by which origins are compared.
CONTEXT = 120

#: Wording is common if a tenth of the library has it in independent documents. These are the
#: tenth, and the bounds of that number.
_ONE_IN, _FEWEST, _MOST = 10, 8, 16

#: A passage has at least this share of the smallest weight without names and furniture.
_OWN = 0.75

#: A passage of a name has less than this multiple of the smallest weight.
_SHORT_NAME = 1.5

_CAPITALIZED = re.compile(r"\b[A-Z\u00c0-\u00de][\w'’.-]*")
_TITLE = re.compile(r"《[^《》\r\n]{1,80}》")
#: Words of the names and titles of people, offices, events and laws.
_DESIGNATION = re.compile(
    "委员会|中心|研究[院所员]|大学|学院|公司|集团|协会|学会|联合会|基金会|办公[室厅]|管理局|总局|银行|博览会|论坛|大会|会议|"
    "主席|主任|院长|校长|教授|书记|秘书长|董事长|经理|合伙人|候选人|总统|总理|部长|局长|司长|发言人|条例|办法|规定|公约|协定"
)
#: Words that a sentence has and a name has not; and marks of clauses.
_SENTENCE = re.compile("[的了是在对将以也不而从被把就都要着过到说向让使之所并已，。；：！？,;:!?]")


def many(documents: int) -> int:
    """Return the number of independent documents that make wording common.

    It is a tenth of the library, at least 8 and at most 16. The minimum protects a source
    that some papers of a small library copied. The maximum is small enough for the
    candidates of a large library to include that many.

    Examples
    --------
    >>> [many(documents) for documents in (3, 80, 120, 1_000_000)]
    [8, 8, 12, 16]
    """
    return min(max(-(-documents // _ONE_IN), _FEWEST), _MOST)


@dataclass(frozen=True)
class Shared:
    """A passage as wording is judged: where it is in the paper, and beside what in its source.

    Parameters
    ----------
    begin, end : int
        Half-open span of the paper, in code points.
    pieces : list of tuple of int
        Its pieces in the paper.
    context : str
        What is before and after it in the source.
    is_most : bool
        Whether it is half of its source or more.
    """

    begin: int
    end: int
    pieces: list[tuple[int, int]]
    context: str
    is_most: bool


class Wording:
    """The parts of a paper that may be shared without a copy.

    Parameters
    ----------
    text : str
        The paper.
    counts : array of bool
        Its counted characters.
    least : int
        Smallest number of Chinese characters of a passage.
    shared : sequence of Shared
        All passages of the paper.
    """

    def __init__(
        self, text: str, counts: NDArray[np.bool_], least: int, shared: Sequence[Shared]
    ) -> None:
        self._text = text
        self._least = least
        self._shared = shared
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        is_dense = (codes >= 0x2E80) & (codes < 0xA000) | (codes >= 0xF900) & (codes < 0xFB00)
        is_dense |= codes >= 0x20000
        self._weights = np.where(is_dense, 2, 1) * counts
        steps = np.zeros(len(text) + 1, np.int64)
        for one in shared:
            steps[one.begin] += 1
            steps[one.end] -= 1
        #: How many passages each character is in.
        self._depths = np.cumsum(steps)[:-1]
        self._furniture = marked(len(text), furniture(text, self._depths > 0))
        names = [found.span() for found in _TITLE.finditer(text)]
        # In capital letters only, or without any, a text has no names to tell.
        if 2 * sum(map(str.isupper, text)) < sum(map(str.islower, text)):
            names += [found.span() for found in _CAPITALIZED.finditer(text)]
        self._names = marked(len(text), names)

    def kinds(self, core: _core.Aligner, documents: int) -> list[str | None]:
        """Return for each passage 'furniture' or 'common' if it is no copied text, else None.

        Parameters
        ----------
        core : Aligner
        documents : int
            Number of documents of the library.
        """
        whole = _weigh(self._weights)
        totals = [whole(one.pieces) for one in self._shared]
        is_common = self._common(totals, core, documents)
        both = list(zip(self._shared, is_common, strict=True))
        common = (piece for one, found in both if found for piece in one.pieces)
        apart = self._furniture | self._names | marked(len(self._text), common)
        own, beside = _weigh(self._weights * ~apart), _weigh(self._weights * self._furniture)
        found: list[str | None] = []
        for (one, is_wording), total in zip(both, totals, strict=True):
            if own(one.pieces) < 2 * _OWN * self._least:
                found.append("furniture" if 2 * beside(one.pieces) >= total else "common")
            else:
                found.append("common" if is_wording or self._is_name(one, total) else None)
        return found

    def _is_name(self, one: Shared, total: int) -> bool:
        """Return whether a short passage is a name or a title in Chinese."""
        if total >= 2 * _SHORT_NAME * self._least:
            return False
        stretch = self._text[one.begin : one.end]
        return bool(_DESIGNATION.search(stretch)) and not _SENTENCE.search(stretch)

    def _common(self, totals: Sequence[int], core: _core.Aligner, documents: int) -> list[bool]:
        """Return for each passage whether many documents of the library have it.

        Documents count once for each origin: those that have more of the paper than
        wording, and those whose passage is most of their text, are copies of one text; so
        are those that have the same text beside the passage.
        """
        enough = many(documents)
        found = [False] * len(totals)
        deep = np.concatenate([[0], np.cumsum(self._depths >= enough)])
        if not deep[-1]:
            return found
        half = int(self._weights.sum()) / 2
        begins = np.array([one.begin for one in self._shared])
        ends = np.array([one.end for one in self._shared])
        is_short = np.array(totals) <= LONGEST
        is_short &= (np.array(totals) < half) & (deep[ends] > deep[begins])
        origins = np.array(_origins(self._shared, is_short, core))
        known: dict[tuple[int, int], bool] = {}
        for at in np.flatnonzero(is_short).tolist():
            begin, end = span = self._shared[at].begin, self._shared[at].end
            if span not in known:
                common = np.minimum(ends, end) - np.maximum(begins, begin)
                having = origins[4 * common >= 3 * (end - begin)]
                known[span] = len(np.unique(having)) >= enough
            found[at] = known[span]
        return found


def _weigh(weights: NDArray[np.int64]) -> Callable[[Sequence[tuple[int, int]]], int]:
    """Return a function that adds up the weights within spans."""
    sums = np.concatenate([[0], np.cumsum(weights)]).tolist()
    return lambda spans: sum(sums[end] - sums[begin] for begin, end in spans)


def _origins(
    shared: Sequence[Shared], is_short: NDArray[np.bool_], core: _core.Aligner
) -> list[int]:
    """Return a number for the origin of each passage; -1 for those that are text."""
    import pyarrow as pa

    chosen = [at for at in np.flatnonzero(is_short).tolist() if not shared[at].is_most]
    contexts = pa.array([shared[at].context for at in chosen], pa.large_string())
    found = [-1] * len(shared)
    holders: dict[int, list[int]] = {}
    sizes: list[int] = []
    for at, packed in zip(chosen, core.sketches(contexts, workers=1), strict=True):
        shingles = np.frombuffer(packed, "<u4").tolist()
        if not shingles:
            continue
        agreeing = Counter(origin for one in shingles for origin in holders.get(one, ()))
        origin, count = max(agreeing.items(), key=lambda one: (one[1], -one[0]), default=(-1, 0))
        if origin < 0 or 2 * count < min(len(shingles), sizes[origin]):
            origin = len(sizes)
            sizes.append(len(shingles))
            for one in shingles:
                holders.setdefault(one, []).append(origin)
        found[at] = origin
    return found
