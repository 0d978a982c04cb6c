"""Labelled pairs: what people said about pairs of documents, from a file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from neardup.exceptions import InputError

__all__ = ["DUPLICATE_LABELS", "LabelledPair", "Truth", "read_truth"]

#: Labels that mean duplicate, in any case; every other label means that it is none.
DUPLICATE_LABELS = ("near-duplicate", "duplicate", "1", "true", "yes")

_NEEDED = ("id_a", "id_b", "label")
_CONFIDENCE = "confidence"


@dataclass(frozen=True)
class LabelledPair:
    """Two documents, and what was said about them.

    Parameters
    ----------
    id_a, id_b : str
    label : str
        As it stands in the file.
    duplicate : bool
        What the label is taken for.
    confidence : str
        As it stands in the file; empty without.
    line : int
        Where the pair stands in the file, from 1.
    """

    id_a: str
    id_b: str
    label: str
    duplicate: bool
    confidence: str
    line: int


@dataclass(frozen=True)
class Truth:
    """Labelled pairs, each once.

    Parameters
    ----------
    source : str
        The file, as it was named.
    pairs : tuple of LabelledPair
        In file order.
    repeated : int
        Lines left out because they repeat an earlier one.
    """

    source: str
    pairs: tuple[LabelledPair, ...]
    repeated: int

    @property
    def labels(self) -> dict[str, tuple[bool, int]]:
        """For each label met whether it means duplicate, and of how many pairs."""
        found: dict[str, tuple[bool, int]] = {}
        for pair in self.pairs:
            count = found.get(pair.label, (pair.duplicate, 0))[1]
            found[pair.label] = (pair.duplicate, count + 1)
        return dict(sorted(found.items(), key=lambda item: (not item[1][0], item[0])))


def read_truth(path: str | Path) -> Truth:
    """Return the labelled pairs of a file.

    Parameters
    ----------
    path : str or Path
        A table in UTF-8 with a header line, separated by tabs or commas:
        ``id_a``, ``id_b``, ``label`` and, if it is there, ``confidence``;
        further columns are not looked at. The labels ``near-duplicate``,
        ``duplicate``, ``1``, ``true`` and ``yes`` mean duplicate, in any case;
        every other label means that it is none.

    Returns
    -------
    Truth

    Raises
    ------
    InputError
        If the file cannot be read, has no pair, lacks a column or a value,
        pairs a document with itself, labels one pair in two ways, or has not
        both duplicates and other pairs. Names the file and the line.
    """
    from neardup.readers.batch import show

    source = str(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: must be UTF-8. Got other bytes at {error.start}.") from None
    first: dict[tuple[str, str], LabelledPair] = {}
    repeated = 0
    for pair in _rows(source, text):
        key = (min(pair.id_a, pair.id_b), max(pair.id_a, pair.id_b))
        known = first.setdefault(key, pair)
        if known.duplicate != pair.duplicate:
            raise InputError(
                f"{source}: line {pair.line}: must label a pair as line {known.line} does, where "
                f"it is '{show(known.label)}'. Got '{show(pair.label)}' instead."
            )
        repeated += known is not pair
    pairs = tuple(first.values())
    if not pairs:
        raise InputError(f"{source}: must have at least one labelled pair. Got none instead.")
    if len({pair.duplicate for pair in pairs}) == 1:
        labels = ", ".join(sorted({f"'{show(pair.label)}'" for pair in pairs}))
        raise InputError(
            f"{source}: must have both duplicates and other pairs. Got the labels {labels} only. "
            f"What means duplicate: {', '.join(DUPLICATE_LABELS)}."
        )
    return Truth(source, pairs, repeated)


def _rows(source: str, text: str) -> Iterator[LabelledPair]:
    header, _, _ = text.partition("\n")
    delimiter = "\t" if "\t" in header else ","
    lines = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(lines, [])]
        missing = [name for name in _NEEDED if name not in names]
        if missing:
            raise InputError(
                f"{source}: line 1: must name the columns id_a, id_b and label, separated by tabs "
                f"or commas. Got none called {' or '.join(missing)} instead."
            )
        for row in lines:
            if any(cell.strip() for cell in row):
                yield _pair(source, lines.line_num, dict(zip(names, row, strict=False)))
    except csv.Error as error:
        raise InputError(f"{source}: line {lines.line_num}: cannot be read: {error}.") from None


def _pair(source: str, line: int, cells: dict[str, str]) -> LabelledPair:
    from neardup.readers.batch import show

    id_a, id_b, label = (cells.get(name, "").strip() for name in _NEEDED)
    for name, value in zip(_NEEDED, (id_a, id_b, label), strict=True):
        if not value:
            raise InputError(f"{source}: line {line}: must have a value in '{name}'. Got none.")
    if id_a == id_b:
        raise InputError(
            f"{source}: line {line}: must pair two documents. Got '{show(id_a)}' twice instead."
        )
    duplicate = label.lower() in DUPLICATE_LABELS
    return LabelledPair(id_a, id_b, label, duplicate, cells.get(_CONFIDENCE, "").strip(), line)
