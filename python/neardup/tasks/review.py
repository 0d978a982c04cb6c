"""The removals of a run of `dedup`, to look at: the doubtful ones first, and the largest groups.

`pick` chooses what a review shows, by the numbers of documents; `make_review` reads their texts and
makes the `Review`: one self-contained HTML page, printable, searchable, without a server. Its check
boxes choose ids for `dedup --restore`.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.base.arrays import rows_of
from neardup.base.lazy import NDArray, np, pa
from neardup.base.messages import language_of_environment
from neardup.pages.excerpts import cut_beginning
from neardup.pages.templating import render
from neardup.pages.words import Words
from neardup.papers.alignment import align_sides
from neardup.run.restore_ids import line_of
from neardup.run.summary import Summary
from neardup.writers import write_file
from neardup.writers.rows import list_kinds

__all__ = ["Removal", "Review"]

#: Removals that are shown, for a page that a browser opens; those with their whole texts.
REMOVALS, ALIGNED = 50_000, 100

#: Groups that are shown, and the ids of a group.
GROUPS, IDS = 20, 8

#: The most code points of a text that are shown, of one in a list, and of one in a table.
LONGEST, LISTED, _BEGINNING = 20_000, 200, 120

#: Classes of similarity, of equal widths.
CLASSES = 20

#: A document as it is shown: its `id`, its `text` up to a length, the `length` of the whole text
#: in characters, and its `title`, `date` and `source`, each None if the record has none.
Document = dict[str, Any]

#: A kept document for which several were removed, as `Review` describes it.
Group = dict[str, Any]

#: A document that was kept for its unique text, as `Review` describes it.
KeptPair = dict[str, Any]

#: Returns the documents of a collection with these numbers, which ascend, without their ids and
#: with texts up to a length.
Texts = Callable[[Sequence[int], int], dict[int, Document]]


@dataclass(frozen=True)
class Removal:
    """A removed document and the kept one that it repeats.

    Parameters
    ----------
    removed, kept : dict
        Both documents: `id`; `text`, the first 20,000 characters, or 200 after the first 100
        removals; `length`, the characters of the whole text; and `title`, `date` and `source` as
        the record has them, or None. The date is its field date, time, published or at, the source
        its field source, site or publisher.
    similarity : float
        In [0, 1], by the measure of the run.
    distance : int or None
        Differing bits of the fingerprints; None without them.
    is_against : bool
        Whether the kept document is of the other collection.
    kind : {'identical', 'equal', 'similar'}
        Whether the normalized texts are the same, the similarity is 1, or it is lower.
    """

    removed: Document
    kept: Document
    similarity: float
    distance: int | None
    is_against: bool
    kind: str

    @property
    def line(self) -> str:
        """The removed document as a line of the file for `dedup --restore`."""
        return line_of(self.removed["id"])


@dataclass(frozen=True)
class Review:
    """The removals of a run, to look at.

    Parameters
    ----------
    removals : tuple of Removal
        Near-duplicates, the least similar first, and then repeats of the same text; at most 50,000.
    groups : tuple of dict
        The 20 kept documents for which most were removed, at least two for each: `kept` is the
        document, `count` the number of removed ones, `identical` of those with the same text,
        `least` the lowest similarity among them, and `ids` the first eight.
    kept_by_unique_text : tuple of dict
        Documents that were kept only because they, or the kept ones that they resemble, have unique
        text, the first ten in priority order: `document`; `other`, the kept one for which it
        would have been dropped; `similarity`, which the two would have; and `is_against`, whether
        the other one is of the other collection.
    classes : tuple of (float, float, int)
        Classes of similarity, from and to, with the number of removals in each whose text differs
        from the kept one, from the lowest class that has one to 1.
    summary : Summary
    measure : str
        The similarity measure.
    threshold : float or None
        The lowest similarity of a duplicate, inclusive.
    max_distance : int or None
        For fingerprints: the largest distance of a duplicate, inclusive.
    """

    removals: tuple[Removal, ...]
    groups: tuple[Group, ...]
    kept_by_unique_text: tuple[KeptPair, ...]
    classes: tuple[tuple[float, float, int], ...]
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
        words = Words(language or language_of_environment())
        pairs = [
            (removal, align_sides(removal.removed["text"], removal.kept["text"]))
            for removal in self.removals[:ALIGNED]
        ]
        return render(
            "review.html",
            words,
            files=("report.css", "sides.css", "review.css", "review.js"),
            review=self,
            summary=self.summary,
            pairs=pairs,
            kept_by_unique_text=[
                (row, align_sides(row["document"]["text"], row["other"]["text"]))
                for row in self.kept_by_unique_text
            ],
            others=self.removals[ALIGNED:],
            listed=lambda document: cut_beginning(document["text"][:LISTED], LISTED),
            all=self.summary.near_duplicates + self.summary.exact_duplicates,
            most=max((count for *_, count in self.classes), default=1),
            beginning=lambda text: cut_beginning(text[: 2 * _BEGINNING], _BEGINNING),
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
        write_file(path, self.to_html(language=language).encode(), force=True)

    def _repr_html_(self) -> str:
        """Return the page in a separate frame, so that its style stays inside."""
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" '
            'style="width:100%;height:40rem;border:1px solid #d4d0c7"></iframe>'
        )


def pick(
    removed: Mapping[str, NDArray[Any]], ids: pa.Table
) -> tuple[list[dict[str, Any]], list[Group], NDArray[np.int64]]:
    """Return what a review shows: removals, groups, and near-duplicates in each class.

    Both have a row for each removed document, in input order: the columns its `number`, the `kept`
    document, `similarity`, `distance` (-1 without fingerprints) and `identical`, the table its
    `id` and `kept_id`. The result has rows of both, and groups with numbers of documents.
    """
    names = ("number", "kept", "similarity", "identical")
    number, kept, similarity, identical = (removed[name] for name in names)
    order = np.lexsort((number, similarity, identical))[:REMOVALS]
    shown = {name: values[order].tolist() for name, values in removed.items()}
    shown |= {name: rows_of(ids[name], order).to_pylist() for name in ids.column_names}
    shown["kind"] = list_kinds(identical[order], similarity[order]).to_pylist()
    groups = []
    keepers, counts = np.unique(kept, return_counts=True)
    for largest in np.lexsort((keepers, -counts))[:GROUPS].tolist():
        if counts[largest] < 2:
            break
        rows = np.flatnonzero(kept == keepers[largest])
        groups.append(
            {
                "kept": int(keepers[largest]),
                "kept_id": ids["kept_id"][rows[0]].as_py(),
                "count": int(counts[largest]),
                "identical": int(identical[rows].sum()),
                "least": float(similarity[rows].min()),
                "ids": tuple(rows_of(ids["id"], rows[:IDS]).to_pylist()),
            }
        )
    near = similarity[~identical]
    # A value on a boundary is in the class above it, and 1 in the last one.
    classes = np.minimum(np.floor(near * CLASSES + 1e-9), CLASSES - 1)
    counts = np.bincount(classes.astype(np.int64), minlength=CLASSES)
    rows_shown = [dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)]
    return rows_shown, groups, counts


def make_review(
    picked: tuple[list[dict[str, Any]], list[Group], NDArray[np.int64]],
    first: int,
    own_texts: Texts,
    other_texts: Texts,
    summary: Summary,
    rule: tuple[str, float | None, int | None],
    both_kept: Sequence[dict[str, Any]] = (),
) -> Review:
    """Return the review of what `pick` chose, with texts of the input and the other collection.

    `first` is the first number of the input; the rule is the measure and its two bounds. The rows
    `both_kept` have numbers and ids, as the rows of `pick` have, and the similarity.
    """
    rows, groups, counts = picked
    named = [*rows, *both_kept]
    ids = {row["number"]: row["id"] for row in named}
    ids |= {row["kept"]: row["kept_id"] for row in [*named, *groups]}
    whole = {row[side] for row in [*rows[:ALIGNED], *both_kept] for side in ("number", "kept")}
    documents: dict[int, Document] = {}
    for numbers, length in ((ids.keys() - whole, LISTED), (whole, LONGEST)):
        wanted = sorted(numbers)
        inputs = [number - first for number in wanted if number >= first]
        texts = other_texts([number for number in wanted if number < first], length)
        texts |= {first + number: text for number, text in own_texts(inputs, length).items()}
        facts = dict.fromkeys(("title", "date", "source"))
        documents |= {n: {"id": ids[n], **facts, **document} for n, document in texts.items()}
    removals = (
        Removal(
            documents[row["number"]],
            documents[row["kept"]],
            row["similarity"],
            None if row["distance"] is None or row["distance"] < 0 else row["distance"],
            row["kept"] < first,
            row["kind"],
        )
        for row in rows
        if row["number"] in documents and row["kept"] in documents
    )
    shown = (
        {
            name: documents[group["kept"]] if name == "kept" else value
            for name, value in group.items()
        }
        for group in groups
        if group["kept"] in documents
    )
    kept_by_unique_text = tuple(
        {
            "document": documents[row["number"]],
            "other": documents[row["kept"]],
            "similarity": row["similarity"],
            "is_against": row["kept"] < first,
        }
        for row in both_kept
        if row["number"] in documents and row["kept"] in documents
    )
    return Review(
        tuple(removals), tuple(shown), kept_by_unique_text, _make_classes(counts), summary, *rule
    )


def _make_classes(counts: NDArray[np.int64]) -> tuple[tuple[float, float, int], ...]:
    """Return `Review.classes` from the number of near-duplicates in each class."""
    filled = np.flatnonzero(counts)
    begin = int(filled[0]) if len(filled) else CLASSES
    return tuple(
        (place / CLASSES, (place + 1) / CLASSES, int(counts[place]))
        for place in range(begin, CLASSES)
    )
