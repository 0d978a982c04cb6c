"""What a run of `dedup` removed, to look at: the doubtful removals first, and the largest groups.

A review names the documents that it shows by their numbers (`pick`), reads their texts
(`Picks.with_texts`), and is one self-contained HTML page: printable, searchable, without a server.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.base.messages import language_of_environment
from neardup.pages.excerpts import beginning
from neardup.pages.templating import render
from neardup.pages.words import load_words
from neardup.papers.align import align_sides

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup.run.pipeline import Decided
    from neardup.run.summary import Summary

__all__ = ["Evidence", "Group", "Removal", "Review", "Shown"]

#: Removals and groups that are shown, and the ids of a group.
REMOVALS, GROUPS, IDS = 50, 20, 8

#: The most code points of a text that are shown, and of one in a table.
LONGEST, _BEGINNING = 20_000, 120

#: Classes of similarity, of equal widths.
CLASSES = 20

#: Returns the texts of documents by their numbers in a collection, which ascend.
Texts = Callable[[list[int]], dict[int, str]]


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

    A removal is the removed and the kept document, similarity and distance (-1 without
    fingerprints); a group the kept document, the numbers of removed and of identical ones, the
    lowest similarity, and some removed documents. `ids` are those of all of them; `first` is the
    first number of the input.
    """

    removals: list[tuple[int, int, float, int]]
    groups: list[tuple[int, int, int, float, list[int]]]
    classes: tuple[tuple[float, float, int], ...]
    ids: dict[int, str]
    first: int

    def with_texts(self, own_texts: Texts, other_texts: Texts) -> Evidence:
        """Return the evidence, with texts of the input and of the other collection."""
        wanted = {number for pair in self.removals for number in pair[:2]}
        wanted |= {group[0] for group in self.groups}
        texts = other_texts(sorted(number for number in wanted if number < self.first))
        of_input = own_texts(
            sorted(number - self.first for number in wanted if number >= self.first)
        )
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
                Group(
                    shown[kept], count, same, least, tuple(self.ids[member] for member in members)
                )
                for kept, count, same, least, members in self.groups
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
        (
            int(dropped[row]),
            int(kept_for[row]),
            float(similarity[row]),
            int(decided.distance[dropped[row]]),
        )
        for row in order.tolist()
    ]
    groups = _groups(decided, dropped, kept_for, similarity)
    numbers = {number for pair in removals for number in pair[:2]}
    for kept, *_, members in groups:
        numbers |= {kept, *members}
    names = {number: str(ids[number].as_py()) for number in numbers}
    # A value on a boundary is in the class above it, and 1 in the last one.
    classes = np.minimum(np.floor(similarity[near] * CLASSES + 1e-9), CLASSES - 1)
    counts = np.bincount(classes.astype(np.int64), minlength=CLASSES)
    return Picks(removals, groups, classes_of(counts), names, first)


def _groups(
    decided: Decided,
    dropped: NDArray[np.intp],
    kept_for: NDArray[np.int64],
    similarity: NDArray[np.float64],
) -> list[tuple[int, int, int, float, list[int]]]:
    kept, counts = np.unique(kept_for, return_counts=True)
    groups = []
    for largest in np.lexsort((kept, -counts))[:GROUPS].tolist():
        if counts[largest] < 2:
            break
        rows = np.flatnonzero(kept_for == kept[largest])
        same = int(decided.identical[dropped[rows]].sum())
        members = dropped[rows[:IDS]].tolist()
        least = float(similarity[rows].min())
        groups.append((int(kept[largest]), int(counts[largest]), same, least, members))
    return groups


def classes_of(counts: NDArray[np.int64]) -> tuple[tuple[float, float, int], ...]:
    """Return `Evidence.classes` from the number of near-duplicates in each class."""
    filled = np.flatnonzero(counts)
    begin = int(filled[0]) if len(filled) else CLASSES
    return tuple(
        (place / CLASSES, (place + 1) / CLASSES, int(counts[place]))
        for place in range(begin, CLASSES)
    )


def texts_of(source: Any, wanted: list[int]) -> dict[int, str]:
    """Return texts of a source by their numbers, which ascend. Reads as far as it must."""
    texts: dict[int, str] = {}
    if not wanted:
        return texts
    done = begin = 0
    for batch in source.batches():
        end = begin + len(batch)
        while done < len(wanted) and wanted[done] < end:
            texts[wanted[done]] = batch.texts[wanted[done] - begin].as_py() or ""
            done += 1
        if done == len(wanted):
            break
        begin = end
    return texts


@dataclass(frozen=True)
class Review:
    """What a run removed, to look at.

    Parameters
    ----------
    evidence : Evidence
    summary : Summary
    measure : str
        The similarity measure.
    threshold : float or None
        The lowest similarity of a duplicate, inclusive.
    max_distance : int or None
        For fingerprints: the largest distance of a duplicate, inclusive.
    """

    evidence: Evidence
    summary: Summary
    measure: str
    threshold: float | None
    max_distance: int | None

    def to_html(self, *, language: str | None = None) -> str:
        """Return the review as one self-contained page.

        Parameters
        ----------
        language : {'zh', 'en'}, optional
            Language of the page; texts are not translated. By default that of the environment,
            which is English if the environment sets neither.

        Returns
        -------
        str
            The page, to be written as UTF-8: 50 pairs of 2,000 characters make 1 MB.

        Raises
        ------
        ParameterError
            If there is no such language.
        """
        words = load_words(language or language_of_environment(), "review")
        pairs = [
            (number, removal, align_sides(removal.removed.text, removal.kept.text))
            for number, removal in enumerate(self.evidence.removals, 1)
        ]
        return render(
            "review.html",
            words,
            files=("report.css", "sides.css", "review.css", "review.js"),
            review=self,
            summary=self.summary,
            evidence=self.evidence,
            pairs=pairs,
            most=max((count for *_, count in self.evidence.classes), default=1),
            beginning=lambda text: beginning(text[: 2 * _BEGINNING], _BEGINNING),
            has_pieces=any(sides.pieces for _, _, sides in pairs),
        )

    def save(self, path: str | Path, *, language: str | None = None) -> None:
        """Write the page to a file, and replace one that is there.

        Parameters
        ----------
        path : str or Path
        language : {'zh', 'en'}, optional
            As in `to_html`.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        from neardup.writers import OutputSet

        with OutputSet() as outputs:
            outputs.open_text(path, force=True).write(self.to_html(language=language).encode())

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, so that its style stays inside."""
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" '
            'style="width:100%;height:40rem;border:1px solid #d4d0c7"></iframe>'
        )
