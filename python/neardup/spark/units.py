"""Kernels of units: what judges candidate pairs, and what batches send to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.base.lazy import NDArray, _core
from neardup.spark.blobs import Blob, Inbox, pack, unpack, unpack_array
from neardup.spark.ordering import MAX_BATCH, PLACE_BITS
from neardup.spark.rows import JUDGED, NEED, PAIR, are_new, divide_rows, find_distinct
from neardup.spark.sketching import TEXT, Settings, compile_recipe, read_texts

#: Documents per verification unit. A unit holds the texts of some of them.
UNIT_DOCUMENTS = 1 << 14

#: Documents per unit that judges by samples. The fewer units, the fewer need the same sample.
UNIT_SAMPLES = 1 << 19


@lru_cache(maxsize=8)
def compile_rule(settings: Settings) -> _core.Rule:
    """Return the core's rule; computed once per process."""
    return settings.rule.compiled(settings.documents)


def request_documents(pairs: NDArray[Any], units: NDArray[np.int64], sender: int) -> Iterator[Blob]:
    """Yield the pairs of each unit, and for each batch the documents that units need."""
    batches, needs = [np.empty(0, np.int64)], [np.empty(0, NEED)]
    for unit, part in divide_rows(units, pairs):
        yield Blob(unit, "pairs", sender, part.tobytes())
        numbers = find_distinct(part.view(np.int64))
        need = np.empty(len(numbers), NEED)
        need["unit"], need["place"] = unit, numbers & (MAX_BATCH - 1)
        batches.append(numbers >> PLACE_BITS)
        needs.append(need)
    for batch, part in divide_rows(np.concatenate(batches), np.concatenate(needs)):
        yield Blob(batch, "needs", sender, part.tobytes())


def _read_needs(inbox: Inbox) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each unit and the places of the documents of a batch that it needs, ascending."""
    needs = inbox.read_rows("needs", NEED)
    for unit, part in divide_rows(needs["unit"], needs["place"]):
        # Several groups may ask for the same document.
        yield unit, find_distinct(part).astype(np.int64)


def send(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return what each unit needs of the samples, features, sketches or texts of a batch."""
    first = inbox.receiver << PLACE_BITS
    for body in inbox.get_bodies("samples"):
        for unit, places in _read_needs(inbox):
            yield Blob(unit, "samples", inbox.receiver, _core.select_samples(body, first + places))
    for body in inbox.get_bodies("features"):
        features = np.frombuffer(body, np.int32)
        for unit, places in _read_needs(inbox):
            yield Blob(unit, "features", inbox.receiver, features[places].tobytes())
    for sketches in map(unpack_array, inbox.get_bodies("sketches")):
        for unit, places in _read_needs(inbox):
            picked = sketches.take(pa.array(places))
            yield Blob(unit, "sketches", inbox.receiver, pack(picked))
    for records in map(unpack, inbox.get_bodies("records")):
        every = find_distinct(inbox.read_rows("needs", NEED)["place"])
        texts = read_texts(records, every, settings)
        for unit, places in _read_needs(inbox):
            picked = texts.take(pa.array(np.searchsorted(every, places)))
            yield Blob(unit, "texts", inbox.receiver, pack(picked))


def rule_out(inbox: Inbox, settings: Settings, background: Any) -> Iterator[Blob]:
    """Return the pairs of a unit that samples leave open, with requests for the texts."""
    known = _decode_background(background.value)
    bodies = inbox.get_bodies("pairs")
    if known is not None:
        rules = compile_rule(settings), compile_recipe(settings)
        bodies = [_core.open_pairs(*rules, known, inbox.get_bodies("samples"), bodies)]
    pairs = np.frombuffer(b"".join(bodies), PAIR)
    units = assign_units(pairs, replace(settings, units=settings.text_units), 1)
    yield from request_documents(pairs, units, inbox.receiver)


def assign_units(pairs: NDArray[Any], settings: Settings, groups: int) -> NDArray[np.int64]:
    """Return the unit that judges each pair.

    The pairs are of one group of `groups`; the pairs of a later document follow each other.

    The unit is chosen by the first candidate of the later document: thus the pairs of similar
    documents meet, and each document is sent to few units. These pairs estimate, for all groups,
    how many later documents a first candidate has. If a unit should have fewer, its pairs are
    divided by batch among as many units as they need.
    """
    later, earlier = pairs["later"], pairs["earlier"]
    begins = np.flatnonzero(are_new(later))
    if not len(begins):
        return np.empty(0, np.int64)
    firsts, inverse, laters = np.unique(
        np.minimum.reduceat(earlier, begins), return_inverse=True, return_counts=True
    )
    parts = (-(-laters * groups // UNIT_DOCUMENTS)).astype(np.uint64)
    spread = _mix(firsts)[inverse] ^ _mix(_mix(later[begins] >> PLACE_BITS) % parts[inverse])
    unit = (_mix(spread) % np.uint64(settings.units)).astype(np.int64)
    return np.repeat(unit, np.diff(np.append(begins, len(later))))


def _mix(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Return hashes of integers."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ mixed >> np.uint64(32)


def verify(inbox: Inbox, settings: Settings, background: Any) -> Iterator[Blob]:
    """Return the similar pairs of a unit, with similarities and distances.

    `background` are the common shingles, as bytes that Spark has broadcast, or None.
    """
    asked = inbox.read_rows("pairs", PAIR)
    if not len(asked):
        return
    # Batches ascend, and so do the documents of each.
    numbers = find_distinct(asked.view(np.int64))
    texts: Any = pa.nulls(len(numbers), TEXT)
    if settings.rule.keeps_texts:
        texts = pa.concat_arrays(map(unpack_array, inbox.get_bodies("texts"))).fill_null("")
    sketches: list[Any] = [_make_empty_sketch(settings)] * len(numbers)
    if settings.compares_sketches:
        sketches = [
            sketch
            for body in inbox.get_bodies("sketches")
            for sketch in unpack_array(body).to_pylist()
        ]
    judged = np.empty(len(asked), JUDGED)
    judged["later"], judged["earlier"] = asked["later"], asked["earlier"]
    judged["similarity"], judged["distance"] = _core.judge_pairs(
        compile_rule(settings),
        compile_recipe(settings),
        None if background is None else _decode_background(background.value),
        texts,
        sketches,
        inbox.read_rows("features", np.int32).astype(np.uint32),
        np.searchsorted(numbers, asked["later"]).astype(np.uint32),
        np.searchsorted(numbers, asked["earlier"]).astype(np.uint32),
    )
    similar = judged[~np.isnan(judged["similarity"])]
    for batch, part in divide_rows(similar["later"] >> PLACE_BITS, similar):
        yield Blob(batch, "similar", inbox.receiver, part.tobytes())


@lru_cache(maxsize=8)
def _make_empty_sketch(settings: Settings) -> bytes:
    """Return an empty sketch, a placeholder where the rule does not compare sketches."""
    corpus = _core.Corpus(compile_recipe(settings), keeps_texts=False, shingle=None, workers=1)
    corpus.push(pa.array([""], TEXT), titles=None, units=None)
    return bytes(pa.array(corpus.rows(0, 1)[2])[0].as_py())


@lru_cache(maxsize=2)
def _decode_background(common: bytes | None) -> _core.Background | None:
    """Return the background statistics; decoded once per process."""
    return None if common is None else _core.Background.from_bytes(common)
