"""Labelled pairs: human judgements on pairs of documents, read from a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from neardup.base.files import read_whole
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import show
from neardup.readers.encodings import decode

#: Labels that mean duplicate, in any case; every other label means that it is none.
DUPLICATE_LABELS = ("near-duplicate", "duplicate", "1", "true", "yes")

_NEEDED = ("id_a", "id_b", "label")
_CONFIDENCE, _GROUP = "confidence", "group"


@dataclass(frozen=True)
class LabelledPair:
    """Two documents and their label."""

    id_a: str
    id_b: str
    label: str
    duplicate: bool
    confidence: str
    group: str
    line: int


@dataclass(frozen=True)
class Truth:
    """Labelled pairs, each once."""

    source: str
    pairs: tuple[LabelledPair, ...]
    repeated: int

    @property
    def labels(self) -> dict[str, tuple[bool, int]]:
        """For each label met whether it means duplicate, and of how many pairs."""
        labels: dict[str, tuple[bool, int]] = {}
        for pair in self.pairs:
            count = labels.get(pair.label, (pair.duplicate, 0))[1]
            labels[pair.label] = (pair.duplicate, count + 1)
        return dict(sorted(labels.items(), key=lambda item: (not item[1][0], item[0])))


def read_truth(path: str | Path) -> Truth:
    """Return the labelled pairs of a file."""
    source = str(path)
    text = decode(read_whole(path)).text
    first: dict[tuple[str, str], LabelledPair] = {}
    repeated = 0
    for pair in _read_rows(source, text):
        key = (min(pair.id_a, pair.id_b), max(pair.id_a, pair.id_b))
        known = first.setdefault(key, pair)
        if known.duplicate != pair.duplicate:
            raise InputError(
                Message(
                    "{file}: line {line}: must label a pair as line {known_line} does, "
                    "where it is '{expected}'. Got '{found}' instead.",
                    file=source,
                    line=pair.line,
                    known_line=known.line,
                    expected=show(known.label),
                    found=show(pair.label),
                )
            )
        repeated += known is not pair
    pairs = tuple(first.values())
    if not pairs:
        raise InputError(
            Message("{file}: must have at least one labelled pair. Got none instead.", file=source)
        )
    if len({pair.duplicate for pair in pairs}) == 1:
        labels = ", ".join(sorted({f"'{show(pair.label)}'" for pair in pairs}))
        raise InputError(
            Message(
                "{file}: must have both duplicates and other pairs. Got only {labels}; duplicates "
                "are labelled {choices}.",
                file=source,
                labels=labels,
                choices=", ".join(DUPLICATE_LABELS),
            )
        )
    return Truth(source, pairs, repeated)


def _read_rows(source: str, text: str) -> Iterator[LabelledPair]:
    file = io.StringIO(text, newline="")
    delimiter = "\t" if "\t" in file.readline() else ","
    file.seek(0)
    lines = csv.reader(file, delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(lines, [])]
        missing = [name for name in _NEEDED if name not in names]
        if missing:
            raise InputError(
                Message(
                    "{file}: line 1: must name the columns id_a, id_b and label, "
                    "separated by tabs or commas. Got none called {names} instead.",
                    file=source,
                    names=", ".join(missing),
                )
            )
        for row in lines:
            if any(cell.strip() for cell in row):
                yield _parse_pair(source, lines.line_num, dict(zip(names, row, strict=False)))
    except csv.Error as error:
        raise InputError(
            Message(
                "{file}: line {line}: cannot be read: {reason}.",
                file=source,
                line=lines.line_num,
                reason=str(error),
            )
        ) from None


def _parse_pair(source: str, line: int, cells: dict[str, str]) -> LabelledPair:
    id_a, id_b, label = (cells.get(name, "").strip() for name in _NEEDED)
    for name, value in zip(_NEEDED, (id_a, id_b, label), strict=True):
        if not value:
            raise InputError(
                Message(
                    "{file}: line {line}: must have a value in '{field}'. Got none.",
                    file=source,
                    line=line,
                    field=name,
                )
            )
    if id_a == id_b:
        raise InputError(
            Message(
                "{file}: line {line}: must pair two documents. Got '{found}' twice instead.",
                file=source,
                line=line,
                found=show(id_a),
            )
        )
    duplicate = label.lower() in DUPLICATE_LABELS
    confidence, group = (cells.get(name, "").strip() for name in (_CONFIDENCE, _GROUP))
    return LabelledPair(id_a, id_b, label, duplicate, confidence, group, line)
