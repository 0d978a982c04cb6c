"""Kernels without Spark: from tables to tables."""

import itertools
import json
import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import zstandard

import neardup
from neardup.base.messages import Message
from neardup.readers import Problem
from neardup.readers.fields import Fields
from neardup.recipe import load_recipe
from neardup.spark import io, kernels, sketching
from neardup.spark.job import settings_of
from neardup.spark.ordering import (
    BEGIN,
    PATH,
    PLACE_BITS,
    BatchNumberer,
    File,
    order_files,
    split_by_part,
)
from tests.spark.collections import forms, sentence, texts

pytestmark = pytest.mark.slow


class Broadcast:
    def __init__(self, value):
        self.value = value


def union(tables, schema):
    return pa.concat_tables([schema.empty_table(), *tables], promote_options="default")


def grouped(table, key):
    """The rows of each key, ascending."""
    for value in sorted(set(table.column(key).to_pylist()) - {None}):
        yield value, table.filter(pa.compute.equal(table.column(key), value))


def rows_of(table):
    for row in range(table.num_rows):
        yield {name: table.column(name)[row] for name in table.column_names}


def numbers_in(batches, column):
    """The numbers of all documents, and what a column of lists has of them."""
    for row in rows_of(batches):
        for place, value in enumerate(row[column].as_py()):
            yield (row["batch"].as_py() << PLACE_BITS) + place, value


def settings_for(recipe, decide, columns=("text",)):
    given = {
        "recipe": recipe,
        "measure": None,
        "threshold": None,
        "max_distance": None,
        "exhaustive": False,
        "against_only": False,
    }
    given |= decide
    settings = settings_of(given, Fields(), lines=False)
    return replace(settings, columns=columns)


def sketched(parts, settings, most, partitions=None):
    batches = []
    for task, part in enumerate(parts):
        table = pa.record_batch({"text": pa.array(part, pa.string())})
        batches += sketching.sketch(
            [table],
            settings=settings,
            files={},
            partition=task,
            partitions=partitions or len(parts),
            most=most,
        )
    return pa.Table.from_batches(batches)


class Job:
    """All kernels in one process."""

    def __init__(self, texts, recipe, decide, *, most, buckets, tasks):
        settings = settings_for(recipe, decide)
        self.given = (texts, recipe, decide)
        size = -(-len(texts) // tasks)
        parts = [texts[task * size : (task + 1) * size] for task in range(tasks)]
        self.batches = sketched(parts, settings, most)
        self.settings = replace(
            settings,
            documents=len(texts),
            batches=self.batches.num_rows,
            buckets=buckets,
            units=3,
            text_units=2,
        )
        #: The pairs before and after samples ruled some out, in all rounds.
        self.asked = self.left_open = 0
        self.numbers = [number for number, _ in numbers_in(self.batches, "features")]
        self.find_copies()
        self.count_keys()
        self.background = self.count_shingles()

    def find_copies(self):
        self.firsts, self.overcounted = {}, []
        first, groups = {}, set()
        features = dict(numbers_in(self.batches, "features"))
        group = {row["batch"].as_py(): row["batch_group"].as_py() for row in rows_of(self.batches)}
        for number, identity in numbers_in(self.batches, "identities"):
            if features[number] < 0:
                continue
            owner = first.setdefault(identity, number)
            is_new = (identity, group[number >> PLACE_BITS]) not in groups
            groups.add((identity, group[number >> PLACE_BITS]))
            if owner != number:
                self.firsts[number] = owner
                if is_new and features[number]:
                    self.overcounted.append(number)

    def count_keys(self):
        settings = self.settings
        self.counts = kernels.COUNTS.empty_table()
        keys = self.for_each_batch(kernels.keys, [skip(self.firsts)], kernels.KEYS)
        self.counts = union(
            (kernels.count(rows, settings=settings) for _, rows in grouped(keys, "bucket")),
            kernels.COUNTS,
        )

    def count_shingles(self):
        tables = [table for table in self.batches.column("counted").to_pylist() if table]
        if not tables:
            return None
        level = sketching.shingle_level(p for p in self.batches.column("probe").to_pylist() if p)
        again = []
        for row in rows_of(self.batches):
            here = [n & 0xFFFF for n in self.overcounted if n >> PLACE_BITS == row["batch"].as_py()]
            if here:
                texts = row["texts"].values.take(pa.array(here))
                again.append(sketching.count_again(texts, self.settings))
        counted = sketching.merge_shingles(tables, level)
        less = sketching.merge_shingles(again, level)
        return Broadcast(sketching.common_shingles(counted, less, self.settings.documents))

    def for_each_batch(self, kernel, told, schema):
        told = union([self.counts, *told], kernels.COUNTS)
        told_of = dict(grouped(told, "batch"))
        return union(
            (
                kernel(rows, told_of.get(batch, told[:0]), settings=self.settings)
                for batch, rows in grouped(self.batches, "batch")
            ),
            schema,
        )

    def lists(self, dropped):
        filed = self.for_each_batch(kernels.file, [skip(self.firsts), skip(dropped)], kernels.FILED)
        return union(
            (kernels.lists(rows, settings=self.settings) for _, rows in grouped(filed, "bucket")),
            kernels.LISTS,
        )

    def requested(self, rows):
        """The batches, units and places of all requests, each document once."""
        places = {}
        for row in rows.filter(rows["places"].is_valid()).to_pylist():
            places.setdefault((row["batch"], row["unit"]), set()).update(row["places"])
        return [(batch, unit, sorted(of_unit)) for (batch, unit), of_unit in places.items()]

    def for_each_unit(self, requests, got, kernel, schema):
        pairs = requests.filter(requests["pairs"].is_valid())
        got = dict(grouped(got, "unit"))
        known = {"settings": self.settings, "background": self.background}
        judged = (kernel(rows, got[unit], **known) for unit, rows in grouped(pairs, "unit"))
        return union(judged, schema)

    def ruled_out(self, candidates):
        """What samples say of the pairs."""
        samples = {}
        for row in rows_of(self.batches):
            batches, blobs = row["sampled"].as_py() or [], row["samples"].as_py() or []
            samples |= zip(batches, blobs, strict=True)
        selected = []
        for batch, unit, places in self.requested(candidates):
            needed = pa.array([[{"unit": unit, "places": places}]], NEEDED)
            row = {"batch": pa.scalar(batch), "samples": pa.scalar(samples[batch])}
            selected.append(kernels.select(row | {"needed": needed[0]}))
        got = union(selected, kernels.SAMPLES)
        return self.for_each_unit(candidates, got, kernels.rule_out, kernels.RULED)

    def judged(self, *told):
        """The similar pairs, and all judged pairs for the next round."""
        settings = self.settings
        candidates = self.for_each_batch(kernels.candidates, told, kernels.CANDIDATES)
        requests, known = candidates, []
        if settings.compares_samples:
            requests = self.ruled_out(candidates)
            known.append(requests)
            self.asked += pairs_in(candidates)
            self.left_open += pairs_in(requests)
        columns = ["features"]
        columns += ["texts"] if settings.rule.keeps_texts else []
        columns += ["sketches"] if settings.compares_sketches else []
        batches = {row["batch"].as_py(): row for row in rows_of(self.batches)}
        got = [
            {"unit": unit, "number": batch << PLACE_BITS | place}
            | {name: batches[batch][name].values[place].as_py() for name in columns}
            for batch, unit, places in self.requested(requests)
            for place in places
        ]
        types = {"unit": LONG, "number": LONG, "texts": pa.large_string()}
        types |= {"features": pa.int32(), "sketches": pa.large_binary()}
        schema = pa.schema([(name, types[name]) for name in ["unit", "number", *columns]])
        texts = pa.Table.from_pylist(got, schema)
        judged = self.for_each_unit(requests, texts, kernels.verify, kernels.JUDGED)
        known = [rows.select(["batch", "judged"]) for rows in [*known, judged]]
        similar = [rows.select(kernels.PAIRS.names) for rows in (candidates, judged)]
        pairs = [
            p for p in union(similar, kernels.PAIRS).to_pylist() if p["similarity"] is not None
        ]
        return pairs, [rows.filter(rows["judged"].is_valid()) for rows in known]

    def run(self):
        """The removed table as positions."""
        dropped, again, known = set(), [], []
        while True:
            waiting = skip(set(self.firsts) - set(again))
            lists = self.lists(dropped)
            similar, judged = self.judged(lists, waiting, *known)
            of_filed = [p for p in similar if p["later"] not in again]
            decided = apply_rule((p["later"], p["earlier"]) for p in of_filed)
            if decided == dropped:
                break
            dropped = decided
            again = [number for number, first in self.firsts.items() if first in dropped]
            known += judged
        best = {}
        kind = self.settings.recipe.sketch.kind
        least = max(self.settings.rule.min_features, 1)
        features = dict(numbers_in(self.batches, "features"))
        for number, first in self.firsts.items():
            if first not in dropped:
                has = kind == "simhash" and features[number] >= least
                best[number] = (1.0, -first, 0 if has else -1)
        for p in similar:
            if p["earlier"] not in dropped:
                of_pair = (p["similarity"], -p["earlier"], p["distance"])
                best[p["later"]] = max(best.get(p["later"], of_pair), of_pair)
        place = {number: position for position, number in enumerate(self.numbers)}
        return [
            (place[n], place[-kept], s, None if distance < 0 else distance)
            for n, (s, kept, distance) in sorted(best.items())
        ]

    def removed_alike(self):
        """The number of removed documents, which are those that one machine removes."""
        texts, recipe, decide = self.given
        records = [{"text": text} for text in texts]
        expected = neardup.dedup(records, recipe=recipe, **decide).removed.to_pylist()
        assert self.run() == [
            (int(r["id"]), int(r["kept_id"]), r["similarity"], r["distance"]) for r in expected
        ]
        return len(expected)


def apply_rule(pairs):
    """The dropped documents, from pairs in two batches."""
    ordered = np.array(sorted(pairs, key=lambda pair: pair[0]), np.int64).reshape(-1, 2)
    batches = [
        pa.record_batch({"later": half[:, 0], "earlier": half[:, 1]})
        for half in np.array_split(ordered, 2)
    ]
    dropped = [batch["number"].to_pylist() for batch in kernels.apply_rule(batches)]
    return {number for numbers in dropped for number in numbers}


def test_a_chain_of_pairs():
    pairs = [(number, number - 1) for number in range(2, 9)] + [(20, 4), (20, 3), (21, 20)]
    assert apply_rule(pairs) == {2, 4, 6, 8, 20}


def pairs_in(requests):
    return sum(map(len, requests["pairs"].drop_null().to_pylist())) // 16


def by_batch(table, column):
    return table.append_column("batch", pa.compute.shift_right(table.column(column), PLACE_BITS))


def skip(numbers):
    return by_batch(pa.table({"skipped": pa.array(sorted(numbers), pa.int64())}), "skipped")


@pytest.mark.parametrize(
    ("recipe", "decide"),
    [
        ("general", {}),
        ("general", {"threshold": 0.8}),
        ("minhash", {}),
        ("shingle", {}),
        ("shingle-sample", {}),
        ("news", {}),
        ("classic", {"max_distance": 6}),
        ("characters", {"max_distance": 7}),
        ("news", {"threshold": 0.3, "max_distance": 6}),
        (load_recipe("keywords").replace(weigh={"idf": "bundled"}), {"max_distance": 6}),
    ],
)
# Batches of one document, so that every one meets every other one; and some of several.
@pytest.mark.parametrize(("documents", "most", "buckets", "tasks"), [(80, 1, 1, 3), (240, 7, 5, 2)])
def test_kernels_give_what_one_machine_gives(recipe, decide, documents, most, buckets, tasks):
    job = Job(texts(most, documents), recipe, decide, most=most, buckets=buckets, tasks=tasks)
    assert job.removed_alike() > documents / 10


@pytest.mark.parametrize("contents", [["", "", None], ["one text alone"]])
def test_next_to_nothing(contents):
    Job(contents, "general", {}, most=2, buckets=1, tasks=2).removed_alike()


def test_an_exhaustive_search_closes_no_list():
    job = Job(forms(60), "general", {"exhaustive": True}, most=16, buckets=2, tasks=1)
    assert job.removed_alike() >= 20
    assert not any(job.lists(set())["closed"].combine_chunks().flatten().to_pylist())


@pytest.mark.shared
def test_news(shared):
    with zstandard.open(shared / "corpora" / "bulletins.jsonl.zst", "rt", encoding="utf-8") as file:
        every = [json.loads(line)["text"] for line in itertools.islice(file, 300)]
    # Few were published twice; so some come again, without their first words.
    every += [text[8:] for text in every[::5]]
    job = Job(every, "general", {}, most=64, buckets=3, tasks=5)
    assert job.removed_alike() > 20


def test_samples_rule_out_pairs_whose_texts_then_stay():
    random_ = random.Random(5)
    phrases = [sentence(random_, 12) for _ in range(60)]
    # Two texts have a few phrases in common, and every tenth is an edited copy.
    every = ["".join(random_.sample(phrases, 12)) for _ in range(200)]
    every[9::10] = [text[:-9] + sentence(random_, 2) for text in every[8::10]]
    job = Job(every, "general", {}, most=40, buckets=2, tasks=2)
    assert job.removed_alike() >= 20
    assert job.asked > 200
    assert job.left_open < job.asked / 2


@pytest.mark.parametrize(("recipe", "longest"), [("general", 32), ("minhash", 1000)])
def test_documents_in_a_closed_list(recipe, longest):
    text = texts(1, 40)[-1] or "桥梁市政府开放记者报道天气" * 9

    def lists(documents):
        job = Job([text], recipe, {}, most=1, buckets=1, tasks=1)
        sketch = job.batches.column("sketches")[0].as_py()
        settings = replace(job.settings, documents=documents)
        batches = pa.table(
            {"batch": [0], "features": [[99] * documents], "sketches": [sketch * documents]}
        )
        keys = kernels.keys(batches, skip([]), settings=settings)
        counts = kernels.count(keys, settings=settings)
        told = union([counts, skip([])], kernels.COUNTS)
        filed = kernels.file(batches, told, settings=settings)
        listed = kernels.lists(filed, settings=settings)
        closed, full, out = (
            listed.column(name).combine_chunks().flatten().to_pylist() for name in PASSED_ON
        )
        left_out = list(zip(full, out, strict=True))
        return listed.column("entries")[0].as_py(), closed, left_out

    assert lists(longest)[1:] == ([], [])
    entries, closed, left_out = lists(longest + 3)
    assert closed == list(range(longest))
    keys = {key for key, _ in left_out}
    assert sorted(left_out) == [(key, longest + n) for key in sorted(keys) for n in range(3)]
    # Lists leave out the others.
    entry = np.dtype([("key", "<u4"), ("share", "<u2"), ("number", "<u8")])
    assert set(np.frombuffer(entries, entry)["number"].tolist()) == set(range(longest))


PASSED_ON = ("closed", "full_key", "left_out")


def units_of(pairs, batch, batches, units):
    later, earlier = np.array(pairs, np.int64).reshape(-1, 2).T
    settings = replace(settings_for("general", {}), units=units)
    return kernels.units_of(later + (batch << PLACE_BITS), earlier, settings, batches)


def test_similar_documents_meet_in_one_unit():
    # 9 may repeat 2 and 5, and 5 may repeat 2; in another batch, so may 70,000.
    units = units_of([(9, 5), (9, 2), (5, 2), (6, 3)], 0, 100, 1 << 20)
    assert units[0] == units[1] == units[2] != units[3]
    assert units_of([(70_000, 2)], 1, 100, 1 << 20) == units[0]
    assert not len(units_of([], 0, 100, 7))


@pytest.mark.parametrize("of_batch", [1, 100])
def test_what_very_many_might_repeat_is_shared_by_units(of_batch):
    batches = 20 * kernels.UNIT_DOCUMENTS // of_batch
    many = [(number, 2) for number in range(100, 100 + of_batch)]
    documents = {}
    for batch in range(0, batches, batches // 500):
        (unit,) = set(units_of(many, batch, batches, 1 << 20).tolist())
        documents[unit] = documents.get(unit, 0) + 1
    assert len(documents) == 20
    assert max(documents.values()) < 3 * min(documents.values())


LONG = pa.int64()
NEEDED = pa.list_(pa.struct({"unit": LONG, "places": pa.list_(pa.int32())}))


def test_what_is_counted_twice_is_subtracted():
    settings = settings_for("general", {})
    every = texts(3, 200)

    def counted(parts):
        tables = sketched(parts, settings, 50, 1).column("counted").to_pylist()
        return sketching.merge_shingles(table for table in tables if table)

    once = counted([every])
    again = counted([every[:40]])
    twice = counted([every, every[:40]])
    common = sketching.common_shingles(once, None, 1)
    assert sketching.common_shingles(twice, None, 1) != common
    assert sketching.common_shingles(twice, again, 1) == common


def test_a_table_is_thinned_only_as_far_as_it_will_be():
    random = np.random.default_rng(1)
    hashes = random.integers(0, 2**32, 20_000_000, np.uint32)
    # Of each, one in 1024 by the last bits.
    probe = hashes[hashes % 1024 == 0].tobytes()
    assert sketching.shingle_level([probe, probe]) == 2
    # Long texts are counted by a share of their shingles: all of them of a high level.
    few = hashes[:4_000_000] >> np.uint64(5)
    assert sketching.shingle_level([few[few % 1024 == 0].tobytes()]) == 0


def test_numbers_are_in_the_order_of_the_input():
    files = order_files([("a", "a.jsonl", 100), ("b", "b.jsonl", 0), ("c", "c.jsonl", 7)])
    numberer = BatchNumberer(files, 5)
    numbers = [numberer.next(*part) for part in [("a", 0), ("a", 0), ("a", 50), ("c", 0)]]
    assert numbers == [0, 1, 50, 101]
    assert BatchNumberer({}, 2).next(0, 0) < BatchNumberer({}, 3).next(0, 0)


def test_more_batches_than_bytes_are_refused():
    numberer = BatchNumberer({1: File("tight.jsonl.zst", 0, 2)}, 0)
    numberer.next(1, 0)
    numberer.next(1, 0)
    with pytest.raises(neardup.InputError, match=r"tight.jsonl.zst: must not have more batches"):
        numberer.next(1, 0)


def test_problems_of_a_batch_stay_data():
    problems = [
        Problem(
            "",
            3,
            "text",
            Message("must be text", code="not_a_text"),
            "12",
            Message(
                "input: files must be of one format on Spark. Got JSON lines and Parquet instead."
            ),
        ),
        Problem("", None, None, "must be text", None),
    ]
    info = io.BatchInfo(0, 1, 1, 1, 0, 2, 0, "a.jsonl", 10)
    read = io.problems_from_json(sketching.problems_to_json(problems), info)
    assert [(p.source, p.record, p.found) for p in read] == [
        ("a.jsonl", 13, "12"),
        ("a.jsonl", None, None),
    ]
    assert read[0].reason.code == "not_a_text"
    assert isinstance(read[0].remedy, Message)
    assert (read[1].reason, type(read[1].reason)) == ("must be text", str)


def test_rows_are_split_where_the_part_changes():
    batch = pa.record_batch(
        {"value": list("abcdefg"), PATH: [1, 1, 1, 1, 2, 2, 2], BEGIN: [0, 0, 0, 9, 9, 9, 9]}
    )
    parts = [
        (path, begin, rows.column(0).to_pylist()) for path, begin, rows in split_by_part(batch, 2)
    ]
    assert parts == [
        (1, 0, ["a", "b"]),
        (1, 0, ["c"]),
        (1, 9, ["d"]),
        (2, 9, ["e", "f"]),
        (2, 9, ["g"]),
    ]


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [
        ("characters", r"a distance of \d+ instead. Give a smaller max_distance"),
        ("bkdr", "a distance of 15 instead. Give a smaller max_distance"),
        ("keywords", "idf = 'corpus' instead. Count the collection once with 'neardup idf'"),
        (
            load_recipe("improved").replace(weigh={"idf": "bundled"}),
            "depend on titles instead. Choose a recipe with another scheme",
        ),
    ],
)
def test_what_cannot_be_spread_is_refused(recipe, reason):
    with pytest.raises(neardup.ParameterError, match=f"'recipe' parameter.*{reason}.*the engine"):
        settings_for(recipe, {})
