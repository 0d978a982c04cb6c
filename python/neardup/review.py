"""What a run of `dedup` removed, to look at: the doubtful removals first, and the largest groups.

A review names the documents that it shows by their numbers (`pick`), reads their texts
(`Picks.with_texts`), and is one self-contained HTML page: printable, searchable, without a server.
Its check boxes choose ids for `dedup --restore`.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.base.messages import language_of_environment
from neardup.pages.excerpts import beginning
from neardup.pages.templating import render
from neardup.pages.words import load_words
from neardup.papers.align import align_sides
from neardup.run.restored import line_of
from neardup.writers.rows import kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup.run.summary import Summary

__all__ = ["Evidence", "Group", "Removal", "Review", "Shown"]

#: Removals that are shown, for a page that a browser opens; those with their whole texts.
REMOVALS, ALIGNED = 50_000, 100

#: Groups that are shown, and the ids of a group.
GROUPS, IDS = 20, 8

#: The most code points of a text that are shown, of one in a list, and of one in a table.
LONGEST, LISTED, _BEGINNING = 20_000, 200, 120

#: Classes of similarity, of equal widths.
CLASSES = 20

#: Returns the fields of `Shown` but the id for documents by their numbers in a collection, which
#: ascend, with texts up to a length.
Texts = Callable[[Sequence[int], int], dict[int, dict[str, Any]]]


@dataclass(frozen=True)
class Shown:
    """A document of a review.

    Parameters
    ----------
    id : str
    text : str
        Its first 20,000 characters; for removals after the first 100, its first 200.
    length : int
        Characters of the whole text.
    title, date, source : str or None
        As the record has them: its title; its field date, time, published or at; its field
        source, site or publisher.
    """

    id: str
    text: str
    length: int
    title: str | None = None
    date: str | None = None
    source: str | None = None


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
    kind : {'identical', 'equal', 'similar'}
        Whether the normalized texts are the same, the similarity is 1, or it is lower.
    """

    removed: Shown
    kept: Shown
    similarity: float
    distance: int | None
    is_against: bool
    kind: str

    @property
    def line(self) -> str:
        """The removed document as a line of the file for `dedup --restore`."""
        return line_of(self.removed.id)


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
        Near-duplicates, the least similar first, and then repeats of the same text; at most 50,000.
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
class Dropped:
    """Columns of what was dropped, in input order; documents by their numbers."""

    numbers: NDArray[np.intp]
    kept_for: NDArray[np.int64]
    similarity: NDArray[np.float64]
    distance: NDArray[np.int32]
    identical: NDArray[np.bool_]
    #: Arrow columns of ids.
    ids: Any
    kept_ids: Any


@dataclass(frozen=True)
class Picks:
    """Documents to show, by their numbers; their texts are not read yet.

    A removal is the removed and the kept document, similarity, distance (-1 without
    fingerprints) and kind; a group the kept document, the numbers of removed and of identical
    ones, the lowest similarity, and some removed documents. `ids` are those of all of them;
    `first` is the first number of the input.
    """

    removals: list[tuple[int, int, float, int, str]]
    groups: list[tuple[int, int, int, float, list[int]]]
    classes: tuple[tuple[float, float, int], ...]
    ids: dict[int, str]
    first: int

    def with_texts(self, own_texts: Texts, other_texts: Texts) -> Evidence:
        """Return the evidence, with texts of the input and of the other collection."""
        listed = {number for pair in self.removals for number in pair[:2]}
        listed |= {group[0] for group in self.groups}
        whole = {number for pair in self.removals[:ALIGNED] for number in pair[:2]}
        shown: dict[int, Shown] = {}
        for numbers, length in ((listed - whole, LISTED), (whole, LONGEST)):
            wanted = sorted(numbers)
            own = [number - self.first for number in wanted if number >= self.first]
            found = other_texts([number for number in wanted if number < self.first], length)
            found |= {self.first + n: fields for n, fields in own_texts(own, length).items()}
            shown |= {number: Shown(self.ids[number], **found[number]) for number in found}
        return Evidence(
            tuple(
                Removal(
                    shown[removed],
                    shown[kept],
                    similarity,
                    None if distance < 0 else distance,
                    kept < self.first,
                    kind,
                )
                for removed, kept, similarity, distance, kind in self.removals
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


def pick(dropped: Dropped, first: int) -> Picks:
    """Return what to show; `first` is the first number of the input."""
    similarity = dropped.similarity
    order = np.lexsort((dropped.numbers, similarity, dropped.identical))[:REMOVALS]
    removals = list(
        zip(
            dropped.numbers[order].tolist(),
            dropped.kept_for[order].tolist(),
            similarity[order].tolist(),
            dropped.distance[order].tolist(),
            map(str, kinds(dropped.identical[order], similarity[order]).to_pylist()),
            strict=True,
        )
    )
    groups, rows = _groups(dropped)
    ids: dict[int, str] = {}
    for row in {*order.tolist(), *rows}:
        ids[int(dropped.numbers[row])] = dropped.ids[row].as_py()
        ids[int(dropped.kept_for[row])] = dropped.kept_ids[row].as_py()
    near = similarity[~dropped.identical]
    # A value on a boundary is in the class above it, and 1 in the last one.
    classes = np.minimum(np.floor(near * CLASSES + 1e-9), CLASSES - 1)
    counts = np.bincount(classes.astype(np.int64), minlength=CLASSES)
    return Picks(removals, groups, classes_of(counts), ids, first)


def _groups(
    dropped: Dropped,
) -> tuple[list[tuple[int, int, int, float, list[int]]], list[int]]:
    """Return the largest groups, and the rows of their removed documents that are named."""
    kept, counts = np.unique(dropped.kept_for, return_counts=True)
    groups, named = [], []
    for largest in np.lexsort((kept, -counts))[:GROUPS].tolist():
        if counts[largest] < 2:
            break
        rows = np.flatnonzero(dropped.kept_for == kept[largest])
        same = int(dropped.identical[rows].sum())
        members = dropped.numbers[rows[:IDS]].tolist()
        least = float(dropped.similarity[rows].min())
        groups.append((int(kept[largest]), int(counts[largest]), same, least, members))
        named += rows[:IDS].tolist()
    return groups, named


def classes_of(counts: NDArray[np.int64]) -> tuple[tuple[float, float, int], ...]:
    """Return `Evidence.classes` from the number of near-duplicates in each class."""
    filled = np.flatnonzero(counts)
    begin = int(filled[0]) if len(filled) else CLASSES
    return tuple(
        (place / CLASSES, (place + 1) / CLASSES, int(counts[place]))
        for place in range(begin, CLASSES)
    )


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
            The page, to be written as UTF-8: 100 pairs of 2,000 characters make 2 MB, and 10,000
            further removals 20 MB.

        Raises
        ------
        ParameterError
            If there is no such language.
        """
        words = load_words(language or language_of_environment(), "review")
        removals = self.evidence.removals
        pairs = [
            (removal, align_sides(removal.removed.text, removal.kept.text))
            for removal in removals[:ALIGNED]
        ]
        return render(
            "review.html",
            words,
            files=("report.css", "sides.css", "review.css", "review.js"),
            review=self,
            summary=self.summary,
            evidence=self.evidence,
            pairs=pairs,
            others=removals[ALIGNED:],
            listed=lambda document: beginning(document.text[:LISTED], LISTED),
            all=self.summary.near_duplicates + self.summary.exact_duplicates,
            most=max((count for *_, count in self.evidence.classes), default=1),
            beginning=lambda text: beginning(text[: 2 * _BEGINNING], _BEGINNING),
            has_pieces=any(sides.pieces for _, sides in pairs),
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

        with OutputSet((), [path]) as outputs:
            outputs.open_text(path, force=True).write(self.to_html(language=language).encode())

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, so that its style stays inside."""
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" '
            'style="width:100%;height:40rem;border:1px solid #d4d0c7"></iframe>'
        )
