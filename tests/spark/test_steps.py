"""Steps without Spark: pure functions from bytes to bytes."""

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup import _core
from neardup._engine.messages import Message
from neardup.readers import Problem
from neardup.readers.fields import Fields
from neardup.recipe import load_recipe
from neardup.spark import commonness, sketching, steps, verifying
from neardup.spark.blobs import batch_from_bytes, pack
from neardup.spark.numbering import BEGIN, PATH, File, Numberer, ranked, runs
from neardup.spark.records import Named, problems_to_bytes
from neardup.spark.settings import core_recipe, exchange, settings_of
from neardup.spark.steps import State
from tests.spark.collections import texts

pytestmark = pytest.mark.slow


def job(texts, recipe, decide, *, most, buckets, tasks):
    """All steps in one process; returns the removed table as positions."""
    settings = settings_of(
        load_recipe(recipe), **{"threshold": None, **decide}, fields=Fields(), lines=False
    )
    rows = []
    size = -(-len(texts) // tasks)
    for task in range(tasks):
        some = pa.array(texts[task * size : (task + 1) * size], pa.string())
        table = pa.record_batch({"text": some})
        for row in sketching.sketch(
            [table], settings=settings, files={}, partition=task, partitions=tasks, most=most
        ):
            rows += row.to_pylist()
    batches = [row for row in rows if row["documents"]]
    core = exchange(settings, len(texts), buckets)
    columns = ("batch", "batch_group", "identities", "features", "sketches")
    asked = [steps.ask(core, buckets, *(row[c] for c in columns)) for row in batches]
    told = [steps.count(core, [blobs[at] for blobs in asked]) for at in range(buckets)]
    prepared = [
        steps.prepare(
            row["batch"],
            row["identities"],
            row["features"],
            settings.rule.min_features,
            [answers[at] for answers in told],
        )
        for at, row in enumerate(batches)
    ]
    states = [State.from_bytes(state) for state, _ in prepared]
    common = background(rows, batches, states, settings, len(texts))
    owner = {row["batch"]: at for at, row in enumerate(batches)}

    def verified(at, lists, is_asked, known):
        pairs = steps.candidates(
            core,
            states[at],
            batches[at]["sketches"],
            prepared[at][1],
            [answers[at] for answers in lists],
            is_asked,
            known,
        )
        is_new = pairs.similarity == steps.UNKNOWN
        found, pairs = [pairs[~is_new]], pairs[is_new]
        units = steps.units_of(pairs, at, len(batches), 3)
        sent = {}
        for batch, blob in steps.needed(pairs, units):
            row = batches[owner[batch]]
            answers = verifying.answer(
                batch,
                row["records"] if settings.rule.keeps_texts else None,
                row["features"] if settings.compares_sketches else None,
                row["sketches"] if settings.compares_sketches else None,
                [blob, blob],
                settings,
            )
            for unit, body in answers:
                sent.setdefault(unit, []).append(body)
        found += (
            verifying.verify(some, sent[unit], common, settings, len(texts))
            for unit, some in pairs.by(units)
        )
        return steps.Pairs.together(some.to_bytes() for some in found)

    dropped = np.zeros(0, np.int64)
    known = [[] for _ in batches]
    while True:
        filed = [
            steps.file(core, state, row["sketches"], counts, dropped)
            for state, row, (_, counts) in zip(states, batches, prepared, strict=True)
        ]
        lists = [steps.lists(core, [blobs[at] for blobs in filed])[0] for at in range(buckets)]
        now = [verified(at, lists, s.is_searched, known[at]) for at, s in enumerate(states)]
        similar = [pairs[pairs.similarity >= 0].columns for pairs in now]
        later, earlier, *_ = (np.concatenate(column) for column in zip(*similar, strict=True))
        found = verifying.dropped_of(later, earlier)
        if np.array_equal(found, dropped):
            break
        dropped = found
        for blobs, pairs in zip(known, now, strict=True):
            blobs.append(pairs.to_bytes())
    best = {}
    for at, state in enumerate(states):
        repeats = (state.firsts != state.numbers) & (state.firsts >= 0)
        again = repeats & np.isin(state.firsts, dropped)
        pairs = verified(at, lists, again, [])
        similar.append(pairs[pairs.similarity >= 0].columns)
        same = repeats & ~again
        for number, first, has in zip(
            state.numbers[same], state.firsts[same], state.has_sketch[same], strict=True
        ):
            best[number] = (1.0, -first, 0 if has and settings.rule.scheme == "near" else -1)
    for columns in similar:
        for number, kept, similarity, distance in zip(*columns, strict=True):
            best[number] = max(best.get(number, (0.0, 0, 0)), (similarity, -kept, distance))
    every = np.concatenate([state.numbers for state in states])
    place = {number: at for at, number in enumerate(every.tolist())}
    return [
        (place[n], place[-kept], s, None if distance < 0 else distance)
        for n, (s, kept, distance) in sorted(best.items())
    ]


def background(rows, batches, states, settings, documents):
    tables = [row["counted"] for row in rows if not row["documents"]]
    if not tables:
        return None
    level = commonness.level_of([commonness.probed(table)[1] for table in tables])
    table = commonness.merged([commonness.thinned(table, level) for table in tables])
    again = [
        count_again(batch_from_bytes(row["records"]), places, settings)
        for row, state in zip(batches, states, strict=True)
        if len(places := np.flatnonzero(state.overcounted))
    ]
    if again:
        table = commonness.without(table, commonness.merged(again))
    return commonness.background(table, documents)


def count_again(records, places, settings):
    counting = commonness.Counting(settings)
    counting.add(records, places)
    return counting.table()


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
@pytest.mark.parametrize(("most", "buckets", "tasks"), [(1, 1, 3), (7, 5, 2), (64, 3, 5)])
@pytest.mark.parametrize("seed", [1, 2])
def test_steps_give_what_one_machine_gives(recipe, decide, most, buckets, tasks, seed):
    # Every batch meets every other one.
    some = texts(seed, 80 if most == 1 else 240)
    expected = neardup.dedup(
        [{"text": text} for text in some], recipe=recipe, **decide
    ).removed.to_pylist()
    found = job(some, recipe, decide, most=most, buckets=buckets, tasks=tasks)
    assert len(expected) > len(some) / 10
    assert found == [
        (int(r["id"]), int(r["kept_id"]), r["similarity"], r["distance"]) for r in expected
    ]


@pytest.mark.parametrize(("recipe", "longest"), [("general", 32), ("minhash", 1000)])
def test_who_stands_in_a_closed_list(recipe, longest):
    settings = settings_of(load_recipe(recipe), threshold=None, fields=Fields(), lines=False)
    core = exchange(settings, 4 * longest, 1)
    recipe_ = core_recipe(settings)
    corpus = _core.Corpus(recipe_, keeps_texts=False, shingle=None, workers=1)
    corpus.push(
        pa.array([texts(1, 40)[-1] or "桥梁市政府开放记者报道天气" * 9]), titles=None, units=None
    )
    sketch = corpus.sketches()

    def told(documents):
        every = sketch * documents
        numbers = np.arange(documents)
        counts = core.count(core.keys(every, documents))
        state = State(numbers, numbers, numbers >= 0, numbers < 0)
        return steps.file(core, state, pack(every), pack(counts), np.zeros(0, np.int64))

    assert not len(steps.lists(core, told(longest))[1])
    filed = told(longest + 3)
    (found,), closed = steps.lists(core, filed)
    assert closed.tolist() == list(range(longest))
    # Lists leave out the others.
    entry = np.dtype([("key", "<u4"), ("share", "<u2"), ("number", "<u8")])
    assert set(np.frombuffer(found, entry)["number"].tolist()) == set(range(longest))


def unverified(*pairs):
    later, earlier = np.array(pairs, np.int64).reshape(-1, 2).T
    count = len(later)
    return steps.Pairs(later, earlier, np.full(count, -1.0), np.full(count, -1, np.int32))


def test_similar_documents_meet_in_one_unit():
    # 9 may repeat 2 and 5, and 5 may repeat 2; in another batch, so may 70,000.
    units = steps.units_of(unverified((9, 5), (9, 2), (5, 2), (6, 3)), 0, 100, 1 << 20)
    assert units[0] == units[1] == units[2] != units[3]
    assert steps.units_of(unverified((70_000, 2)), 1, 100, 1 << 20) == units[0]
    assert not len(steps.units_of(unverified(), 0, 100, 7))


@pytest.mark.parametrize("of_batch", [1, 100])
def test_what_very_many_might_repeat_is_shared_by_units(of_batch):
    batches = 20 * steps.UNIT_DOCUMENTS // of_batch
    many = unverified(*((at, 2) for at in range(100, 100 + of_batch)))
    documents = {}
    for batch in range(0, batches, batches // 500):
        (unit,) = set(steps.units_of(many, batch, batches, 1 << 20).tolist())
        documents[unit] = documents.get(unit, 0) + 1
    assert len(documents) == 20
    assert max(documents.values()) < 3 * min(documents.values())


def test_units_need_each_document_once():
    pairs = unverified((65_537, 65_536), (65_538, 65_536), (65_539, 4), (7, 4))
    asked = dict(steps.needed(pairs, np.array([5, 5, 6, 6])))
    assert sorted(asked) == [0, 1]
    found = {
        batch: {unit: some.tolist() for unit, some in steps.needed_by_unit([blob, blob]).items()}
        for batch, blob in asked.items()
    }
    assert found == {0: {6: [4, 7]}, 1: {5: [0, 1, 2], 6: [3]}}
    assert steps.needed(unverified(), np.zeros(0, np.int64)) == []


def test_what_is_counted_twice_is_taken_off():
    settings = settings_of(load_recipe("general"), threshold=None, fields=Fields(), lines=False)
    some = texts(3, 200)

    def counted(parts):
        tables = []
        for task, part in enumerate(parts):
            table = pa.record_batch({"text": pa.array(part, pa.string())})
            made = sketching.sketch(
                [table], settings=settings, files={}, partition=task, partitions=1, most=50
            )
            tables += [row["counted"] for batch in made for row in batch.to_pylist()]
        return commonness.merged([table for table in tables if table])

    once = counted([some])
    again = counted([some[:40]])
    twice = counted([some, some[:40]])
    assert commonness.background(twice, 1) != commonness.background(once, 1)
    left = commonness.without(twice, again)
    assert commonness.background(left, 1) == commonness.background(once, 1)


def test_a_table_is_thinned_only_as_far_as_it_will_be():
    random = np.random.default_rng(1)
    hashes = random.integers(0, 2**64, 20_000_000, np.uint64)
    # Of each, one in 1024 by the last bits.
    probe = hashes[hashes % 1024 == 0].tobytes()
    assert commonness.level_of([probe, probe]) == 2
    # Long texts are counted by a share of their shingles: all of them of a high level.
    few = hashes[:4_000_000] >> np.uint64(5)
    assert commonness.level_of([few[few % 1024 == 0].tobytes()]) == 0


def test_numbers_are_in_the_order_of_the_input():
    files = ranked([("a", "a.jsonl", 100), ("b", "b.jsonl", 0), ("c", "c.jsonl", 7)])
    numberer = Numberer(files, 5)
    found = [numberer.next(*part) for part in [("a", 0), ("a", 0), ("a", 50), ("c", 0)]]
    assert found == [(0, 0), (0, 1), (0, 50), (2, 101)]
    assert Numberer({}, 2).next(0, 0) < Numberer({}, 3).next(0, 0)


def test_more_batches_than_bytes_are_refused():
    numberer = Numberer({1: File("tight.jsonl.zst", 0, 0, 2)}, 0)
    numberer.next(1, 0)
    numberer.next(1, 0)
    with pytest.raises(neardup.InputError, match=r"tight.jsonl.zst: must not have more batches"):
        numberer.next(1, 0)


def test_problems_of_a_batch_stay_data():
    problems = [
        Problem("", 3, "text", Message("readers.must_be_text"), "12", Message("spark.two_formats")),
        Problem("", None, None, "must be text", None),
    ]
    found = Named("a.jsonl", 10).problems(problems_to_bytes(problems))
    assert [(p.source, p.record, p.found) for p in found] == [
        ("a.jsonl", 13, "12"),
        ("a.jsonl", None, None),
    ]
    assert (found[0].reason.code, found[0].remedy.code) == (
        "readers.must_be_text",
        "spark.two_formats",
    )
    assert (found[1].reason, type(found[1].reason)) == ("must be text", str)


def test_rows_are_cut_where_the_part_changes():
    batch = pa.record_batch(
        {"value": list("abcdefg"), PATH: [1, 1, 1, 1, 2, 2, 2], BEGIN: [0, 0, 0, 9, 9, 9, 9]}
    )
    found = [(path, begin, rows.column(0).to_pylist()) for path, begin, rows in runs(batch, 2)]
    assert found == [
        (1, 0, ["a", "b"]),
        (1, 0, ["c"]),
        (1, 9, ["d"]),
        (2, 9, ["e", "f"]),
        (2, 9, ["g"]),
    ]


@pytest.mark.parametrize(
    ("recipe", "found"),
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
def test_what_cannot_be_spread_is_refused(recipe, found):
    with pytest.raises(neardup.ParameterError, match=f"'recipe' parameter.*{found}.*the engine"):
        settings_of(load_recipe(recipe), threshold=None, fields=Fields(), lines=False)
