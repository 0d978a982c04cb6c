"""Batches of documents to be added to an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.base.arrays import texts_array
from neardup.base.lazy import _core
from neardup.base.messages import Message
from neardup.base.validation import bad, check_flag, check_string
from neardup.exceptions import InputError, NeardupError, ParameterError
from neardup.index.results import NewDocument
from neardup.index.store.rows import make_packer
from neardup.index.values import check_id, check_time, dump_json, replace_nul, stamp
from neardup.readers import Batch, Problem
from neardup.readers.batch import Run, show
from neardup.readers.fields import Fields
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable
from neardup.recipe.text_inputs import checked_text

if TYPE_CHECKING:
    from neardup.index.engine import Engine


@dataclass
class IncomingBatch:
    """A batch of documents to be added; all columns have the same length.

    `texts` is null where a text cannot be read; `units` has the units of a callable segmenter,
    `times` stamps, and `extras` JSON. Values derived from the texts are computed on first use.
    """

    engine: Engine
    ids: Sequence[str]
    texts: pa.LargeStringArray
    units: pa.LargeStringArray | None
    titles: pa.LargeStringArray | None
    times: Sequence[int]
    sources: Sequence[str | None]
    extras: Sequence[str | None]
    #: Problems found on reading, and the source of the rows; its row `begin` is the first here.
    problems: list[Problem] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    begin: int = 0
    bytes_read: int = 0
    #: Whether each document replaces a stored one with its id; empty if none does.
    replaces: Sequence[bool] = ()
    #: Why documents of callers cannot be stored, by row.
    errors: dict[int, NeardupError] = field(default_factory=dict)

    @classmethod
    def from_documents(
        cls, engine: Engine, documents: Sequence[NewDocument], zone: tzinfo = UTC
    ) -> IncomingBatch:
        """Return documents of callers as a batch; a row with an error has a null text."""
        errors: dict[int, NeardupError] = {}
        rows = []
        for row, document in enumerate(documents):
            try:
                rows.append(_convert_document(document, zone))
            except (InputError, ParameterError) as error:
                errors[row] = error
                rows.append(("", None, None, 0, None, None, False))
        ids, contents, titles, times, sources, extras, replaces = map(list, zip(*rows, strict=True))
        # Problems give the row as the record number, counted from 1.
        runs = [(0, "input", 1)]
        limit = Fields(max_text=_core.MAX_TEXT_BYTES)
        column, too_long = limit.drop_oversized(texts_array(contents), runs)
        row_problems = [(row, replace(problem(), remedy="")) for row, _, problem in too_long]
        keys = texts_array(ids)
        read = Batch(column, keys, row_problems=row_problems, runs=runs)
        recipe = engine.settings.recipe
        # Callers share a batch: where the segmenter fails on one text, the others are stored.
        texts, units, problems = readable(read, recipe, compiled(recipe), ends=False)
        title_column = texts_array(titles)
        batch = cls(engine, ids, texts, units, title_column, times, sources, extras, problems)
        batch.replaces, batch.errors = replaces, errors
        return batch

    def check(self) -> None:
        """Raise if a document of a caller cannot be stored."""
        if self.errors:
            raise next(iter(self.errors.values()))
        if self.problems:
            raise InputError(replace(self.problems[0], record=None).message)

    def explain_refusals(self, documents: Sequence[NewDocument]) -> dict[int, Message]:
        """Return why documents of callers cannot be stored, by row."""
        problems: dict[int, Message] = {row: error.args[0] for row, error in self.errors.items()}
        for unread in self.problems:
            row = (unread.record or 1) - 1
            named = Message("document '{id}'", id=show(documents[row].id))
            problems[row] = replace(unread, source=named, record=None).message
        return problems

    def __len__(self) -> int:
        return len(self.ids)

    def slice(self, begin: int, end: int | None = None) -> IncomingBatch:
        """Return a range of the rows; problems and bytes stay with the first range."""
        rows = slice(begin, end)
        return replace(
            self,
            ids=self.ids[rows],
            texts=self.texts[rows],
            units=None if self.units is None else self.units[rows],
            titles=None if self.titles is None else self.titles[rows],
            times=self.times[rows],
            sources=self.sources[rows],
            extras=self.extras[rows],
            replaces=self.replaces[rows],
            problems=[] if begin else self.problems,
            begin=self.begin + begin,
            bytes_read=0 if begin else self.bytes_read,
        )

    @cached_property
    def corpus(self) -> _core.Corpus:
        """The sketches and normalized texts."""
        return self.engine.sketch(self.texts, self.titles, self.units)

    @cached_property
    def sketches(self) -> tuple[list[bytes], list[int], list[bytes]]:
        """Identity, number of features (-1 if unreadable) and sketch of each document."""
        corpus = self.corpus
        columns: list[Any] = [pa.array(column) for column in corpus.rows(0, len(corpus))]
        identities, _, sketches = columns
        return identities.to_pylist(), corpus.features().tolist(), sketches.to_pylist()

    @cached_property
    def packed(self) -> list[bytes]:
        """The texts in stored form; empty where a text cannot be read."""
        pack = make_packer().compress
        texts: list[Any] = self.texts.cast(pa.large_binary()).to_pylist()
        return [b"" if text is None else pack(text) for text in texts]

    def prepare(self) -> IncomingBatch:
        """Sketch and compress the texts now; return the batch."""
        _ = self.sketches, self.packed
        return self


def check_text(text: Any, name: str) -> str:
    """Return a caller's text if it can be stored; raise if not."""
    return checked_text(check_string(text, name), name)


def check_optional(text: Any, name: str) -> str | None:
    """Return a caller's title or source in stored form; None for none."""
    return None if text is None else replace_nul(check_text(text, name))


def _convert_document(document: NewDocument, zone: tzinfo) -> tuple[Any, ...]:
    """Return a caller's document in stored form; raise if it cannot be stored."""
    if document.extra is not None and not isinstance(document.extra, dict):
        raise bad("extra", "a dict or None", document.extra)
    try:
        extra = dump_json(document.extra)
    except (TypeError, RecursionError) as error:
        raise InputError(
            Message(
                "extra: expected fields that JSON can represent, found {reason}.", reason=str(error)
            )
        ) from None
    time = document.at
    return (
        check_id(document.id),
        check_text(document.text, "text"),
        check_optional(document.title, "title"),
        stamp(datetime.now(UTC) if time is None else check_time(time, "at", zone)),
        check_optional(document.source, "source"),
        extra,
        check_flag(document.replace, "replace"),
    )
