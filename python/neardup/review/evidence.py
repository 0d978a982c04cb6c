"""Which removals and groups a review shows, and their texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup.run.pipeline import Decided

__all__ = ["Evidence", "Group", "Picks", "Removal", "Shown", "classes_of", "pick", "texts_of"]

#: Returns the texts of documents by their numbers in a collection, which ascend.
Texts = Callable[[list[int]], dict[int, str]]

#: Removals and groups that are shown, and the ids of a group.
REMOVALS, GROUPS, IDS = 50, 20, 8

#: The most code points of a text that are shown.
LONGEST = 20_000

#: Classes of similarity, of equal widths.
CLASSES = 20


@dataclass(frozen=True)
class Shown:
    """A document of a review.

    Parameters
    ----------
    id : str
    text : str
        Its first 20,000 characters.
    length : int
        Characters of the whole text.
    """

    id: str
    text: str
    length: int


@dataclass(frozen=True)
class Removal:
    """A removed document and the kept one that it repeats.

    Parameters
    ----------
    removed, kept : Shown
    similarity : float
        In [0, 1], by the measure of the run.
    distance : int or None
        Differing bits of the fingerprints; None without them.
    is_against : bool
        Whether the kept document is of the other collection.
    """

    removed: Shown
    kept: Shown
    similarity: float
    distance: int | None
    is_against: bool


@dataclass(frozen=True)
class Group:
    """A kept document and what was removed for it.

    Parameters
    ----------
    kept : Shown
    count : int
        Removed documents.
    identical : int
        Those of the same text.
    least : float
        The lowest similarity among them.
    ids : tuple of str
        The first eight of them.
    """

    kept: Shown
    count: int
    identical: int
    least: float
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """What a review shows.

    Parameters
    ----------
    removals : tuple of Removal
        The 50 least similar near-duplicates, the least similar first.
    groups : tuple of Group
        The 20 kept documents for which most were removed, at least two for each.
    classes : tuple of (float, float, int)
        Classes of similarity, from and to, with the number of near-duplicates in each, from the
        lowest class that has one to 1.
    """

    removals: tuple[Removal, ...]
    groups: tuple[Group, ...]
    classes: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True)
class Picks:
    """Documents to show, by their numbers; their texts are not read yet.

    Parameters
    ----------
    removals : list of (int, int, float, int)
        Removed and kept document, similarity, distance (-1 without fingerprints).
    groups : list of (int, int, int, float, list of int)
        Kept document, removed ones, identical ones, lowest similarity, some removed documents.
    classes : tuple
        As in `Evidence`.
    ids : dict of int to str
        The ids of all these documents.
    first : int
        The number of the first document of the input.
    """

    removals: list[tuple[int, int, float, int]]
    groups: list[tuple[int, int, int, float, list[int]]]
    classes: tuple[tuple[float, float, int], ...]
    ids: dict[int, str]
    first: int

    def with_texts(self, own: Texts, others: Texts) -> Evidence:
        """Return the evidence, with texts of the input and of the other collection."""
        wanted = {number for pair in self.removals for number in pair[:2]}
        wanted |= {group[0] for group in self.groups}
        texts = others(sorted(number for number in wanted if number < self.first))
        of_input = own(sorted(number - self.first for number in wanted if number >= self.first))
        texts |= {self.first + number: text for number, text in of_input.items()}
        shown = {
            number: Shown(self.ids[number], texts.get(number, "")[:LONGEST], len(texts[number]))
            for number in wanted
            if number in texts
        }
        return Evidence(
            tuple(
                Removal(
                    shown[removed],
                    shown[kept],
                    similarity,
                    None if distance < 0 else distance,
                    kept < self.first,
                )
                for removed, kept, similarity, distance in self.removals
                if removed in shown and kept in shown
            ),
            tuple(
                Group(shown[kept], count, same, least, tuple(self.ids[one] for one in some))
                for kept, count, same, least, some in self.groups
                if kept in shown
            ),
            self.classes,
        )


def pick(decided: Decided, ids: Any, first: int) -> Picks:
    """Return what to show of the decisions; `ids` is a column of all ids."""
    dropped = np.flatnonzero(decided.kept_for >= 0)
    kept_for, similarity = decided.kept_for[dropped], decided.similarity[dropped]
    near = np.flatnonzero(~decided.identical[dropped])
    order = near[np.lexsort((dropped[near], similarity[near]))][:REMOVALS]
    removals = [
        (int(dropped[at]), int(kept_for[at]), float(similarity[at]), int(decided.distance[one]))
        for at, one in zip(order.tolist(), dropped[order].tolist(), strict=True)
    ]
    groups = _groups(decided, dropped, kept_for, similarity)
    numbers = {number for pair in removals for number in pair[:2]}
    for kept, *_, some in groups:
        numbers |= {kept, *some}
    named = {number: str(ids[number].as_py()) for number in numbers}
    # A value on a boundary is in the class above it, and 1 in the last one.
    classes = np.minimum(np.floor(similarity[near] * CLASSES + 1e-9), CLASSES - 1)
    counts = np.bincount(classes.astype(np.int64), minlength=CLASSES)
    return Picks(removals, groups, classes_of(counts), named, first)


def _groups(
    decided: Decided,
    dropped: NDArray[np.intp],
    kept_for: NDArray[np.int64],
    similarity: NDArray[np.float64],
) -> list[tuple[int, int, int, float, list[int]]]:
    kept, counts = np.unique(kept_for, return_counts=True)
    largest = np.lexsort((kept, -counts))[:GROUPS]
    found = []
    for at in largest.tolist():
        if counts[at] < 2:
            break
        own = np.flatnonzero(kept_for == kept[at])
        same = int(decided.identical[dropped[own]].sum())
        some = dropped[own[:IDS]].tolist()
        found.append((int(kept[at]), int(counts[at]), same, float(similarity[own].min()), some))
    return found


def classes_of(counts: NDArray[np.int64]) -> tuple[tuple[float, float, int], ...]:
    """Return `Evidence.classes` from the number of near-duplicates in each class."""
    filled = np.flatnonzero(counts)
    begin = int(filled[0]) if len(filled) else CLASSES
    return tuple(
        (at / CLASSES, (at + 1) / CLASSES, int(counts[at])) for at in range(begin, CLASSES)
    )


def texts_of(source: Any, wanted: list[int]) -> dict[int, str]:
    """Return texts of a source by their numbers, which ascend. Reads as far as it must."""
    found: dict[int, str] = {}
    if not wanted:
        return found
    at = begin = 0
    for batch in source.batches():
        end = begin + len(batch)
        while at < len(wanted) and wanted[at] < end:
            found[wanted[at]] = batch.texts[wanted[at] - begin].as_py() or ""
            at += 1
        if at == len(wanted):
            break
        begin = end
    return found
