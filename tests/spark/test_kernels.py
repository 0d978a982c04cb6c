"""Kernels without Spark: from blobs to blobs."""

import itertools
import json
import random
from dataclasses import replace
from inspect import signature

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup import _core
from neardup.base.messages import Message
from neardup.readers import Problem
from neardup.readers.fields import Fields
from neardup.recipe import load_recipe
from neardup.spark import decisions, io, kernels, rows, sketching, units
from neardup.spark.blobs import Blob, Inbox, from_rows, group_blobs, to_rows
from neardup.spark.job import make_settings
from neardup.spark.ordering import (
    BEGIN,
    PATH,
    PLACE_BITS,
    BatchNumberer,
    File,
    Layout,
    order_files,
    split_by_part,
)
from tests.spark.collections import forms, sentence, texts

pytestmark = pytest.mark.slow


class Broadcast:
    def __init__(self, value):
        self.value = value


def of(blobs, *kinds):
    return [blob for blob in blobs if blob.kind in kinds]


def swapped(blobs):
    return [blob._replace(receiver=blob.sender, sender=blob.receiver) for blob in blobs]


def settings_for(recipe, decide):
    given = dict.fromkeys(("measure", "threshold", "max_distance"))
    given |= {"recipe": recipe, "exhaustive": False, "against_only": False} | decide
    return replace(make_settings(given, Fields(), lines=False), columns=("text",))


def sketched(parts, settings, most):
    """The blobs of all parts, a task each."""
    known = {"settings": settings, "files": {}, "limit": most}
    for task, part in enumerate(parts):
        table = pa.record_batch({"text": pa.array(part, pa.string())})
        yield from sketching.sketch([table], task=task, **known)


class Job:
    """All kernels in one process."""

    def __init__(self, texts, recipe, decide, *, most, buckets, tasks):
        settings = settings_for(recipe, decide)
        self.given = (texts, recipe, decide)
        size = -(-len(texts) // tasks)
        parts = [texts[task * size : (task + 1) * size] for task in range(tasks)]
        self.documents = list(sketched(parts, settings, most))
        infos = [json.loads(blob.body) for blob in of(self.documents, "info")]
        self.batches = sorted(info["batch"] for info in infos)
        self.layout = Layout((i["batch"], i["group"], i["documents"]) for i in infos)
        assert self.layout.documents == len(texts)
        self.settings = replace(
            settings,
            documents=len(texts),
            groups=self.layout.groups,
            buckets=buckets,
            units=3,
            text_units=2,
        )
        #: The pairs before and after samples ruled some out, in all rounds.
        self.asked = self.left_open = 0
        found = self.for_each(of(self.documents, "features", "identities"), kernels.deal_identities)
        self.repeats = self.for_each(found, kernels.find_repeats)
        self.group = of(self.documents, "features", "sketches") + of(self.repeats, "repeats")
        self.counts = self.for_each(self.for_each(self.group, kernels.deal_keys), kernels.count)
        self.background = None
        if settings.compares_samples:
            self.background = Broadcast(self.common_shingles())

    def for_each(self, blobs, kernel, **known):
        if "settings" in signature(kernel).parameters:
            known["settings"] = self.settings
        return [made for inbox in group_blobs(blobs) for made in kernel(inbox, **known)]

    def served(self, requests, kernel, *kinds, **known):
        """What a kernel makes of each blob with requests."""
        for blob in of(self.documents, *kinds):
            asked = [request for request in requests if request.receiver == blob.sender]
            if asked:
                stored = blob._replace(receiver=blob.sender)
                yield from kernel(Inbox(blob.sender, [stored, *asked]), **known)

    def common_shingles(self):
        subtracted = self.served(of(self.repeats, "elsewhere"), kernels.uncount, "samples")
        counts = of(self.documents, "hashes") + list(subtracted)
        (made,) = self.for_each(self.for_each(counts, kernels.count_hashes), kernels.merge_common)
        return made.body

    def lists(self, kernel=kernels.file, changed=()):
        entries = self.for_each([*self.group, *self.counts, *changed], kernel)
        return self.for_each([*entries, *swapped(self.counts)], kernels.make_lists)

    def similar(self, candidates):
        """The pairs that are similar by samples and texts."""
        known = {"background": self.background}
        requests = candidates
        if self.settings.compares_samples:
            samples = self.served(
                of(candidates, "needs"), units.send, "samples", settings=self.settings
            )
            pairs = of(candidates, "pairs")
            requests = self.for_each([*pairs, *samples], units.rule_out, **known)
            self.asked += pairs_in(candidates)
            self.left_open += pairs_in(requests)
        kinds = ["features", "records", "sketches"]
        documents = self.served(of(requests, "needs"), units.send, *kinds, settings=self.settings)
        pairs = of(requests, "pairs")
        return self.for_each([*pairs, *documents], units.verify, **known)

    def decided(self, *blobs):
        decided = list(
            decisions.decide(group_blobs(itertools.chain(*blobs)), self.settings, self.layout)
        )
        return decided, json.loads(of(decided, "result")[0].body)

    def run(self):
        """The rows of the removed table."""
        inputs = [*self.group, *self.counts]
        first = self.for_each([*inputs, *self.lists()], kernels.find_candidates)
        pairs = [*of(first, "found", "full"), *self.similar(first), *of(self.repeats, "copies")]
        decided, result = self.decided(pairs)
        wanted = None
        while result["wanted"] != wanted:
            wanted = result["wanted"]
            again = of(decided, "again")
            more = self.for_each([*of(first, "waiting"), *again], kernels.awaken)
            lists = self.lists(kernels.admit, of(decided, "admitted", "left_out"))
            more += self.for_each([*inputs, *lists, *again], kernels.find_more_candidates)
            decided, result = self.decided(pairs, of(more, "found"), self.similar(more))
        ids = of(self.documents, "ids")
        names = dict.fromkeys(self.batches, ("", 0))
        known = {"layout": self.layout, "names": names}
        answers = self.for_each([*ids, *of(decided, "decisions")], decisions.answer_groups, **known)
        made = decisions.list_removed(group_blobs([*ids, *answers]), self.settings, names)
        return sorted(row for rows in made for row in zip(*self.columns(rows), strict=True))

    def columns(self, rows):
        """The positions of documents, and what was decided."""
        for name in ("number", "kept"):
            yield self.layout.find_places(rows.column(name).to_numpy()).tolist()
        for name in ("similarity", "distance", "cluster_size"):
            yield rows.column(name).to_pylist()

    def removed_alike(self):
        """The number of removed documents, which are those that one machine removes."""
        texts, recipe, decide = self.given
        records = [{"text": text} for text in texts]
        expected = neardup.dedup(records, recipe=recipe, **decide).removed.to_pylist()
        assert self.run() == [
            (int(r["id"]), int(r["kept_id"]), r["similarity"], r["distance"], r["cluster_size"])
            for r in expected
        ]
        return len(expected)


def test_blobs_come_back_from_rows():
    blobs = [Blob(1, "a", 7, b"\xff"), Blob(1, "b", 2, b"\x00"), Blob(1 << 62, "a", 0, b"")]
    rows = list(to_rows(blobs))
    assert len(rows) == len(blobs)
    assert list(from_rows(rows)) == blobs
    first, last = group_blobs(reversed(blobs))
    assert first.get_blobs("a") + first.get_blobs("b") + last.get_blobs("a") == blobs
    assert (first.receiver, last.receiver, last.get_blobs("b")) == (1, 1 << 62, [])


@pytest.mark.parametrize("documents", [1, 3, 30])
def test_a_chain_of_pairs(documents):
    """Pairs within a batch and of several batches, of so many documents each."""
    chain = [(number, number - 1) for number in range(2, 9)] + [(20, 4), (20, 3), (21, 20)]
    layout = Layout((batch, 0, documents) for batch in range(30))
    pairs = np.zeros(len(chain), rows.JUDGED)
    for name, numbers in zip(("later", "earlier"), np.transpose(chain), strict=True):
        pairs[name] = (numbers // documents << PLACE_BITS) + numbers % documents
    blobs = [
        Blob(int(pair["later"]) >> PLACE_BITS, "similar", number, pair.tobytes())
        for number, pair in enumerate(pairs)
    ]
    decided = decisions.decide(group_blobs(blobs), settings_for("general", {}), layout)
    removed = b"".join(blob.body for blob in of(list(decided), "removed"))
    assert layout.find_places(np.frombuffer(removed, np.int64)).tolist() == [2, 4, 6, 8, 20]


def pairs_in(blobs):
    return sum(len(blob.body) for blob in of(blobs, "pairs")) // rows.PAIR.itemsize


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
# Groups of one document, so that every one meets every other one; and some of several.
@pytest.mark.parametrize(
    ("documents", "group", "most", "buckets", "tasks"), [(80, 1, 1, 1, 3), (240, 30, 7, 5, 2)]
)
def test_kernels_remove_the_same_as_one_machine(
    recipe, decide, documents, group, most, buckets, tasks, monkeypatch
):
    monkeypatch.setattr(sketching, "GROUP_DOCUMENTS", group)
    job = Job(texts(most, documents), recipe, decide, most=most, buckets=buckets, tasks=tasks)
    assert job.removed_alike() > documents / 10


@pytest.mark.parametrize("contents", [["", "", None], ["one text alone"]])
def test_next_to_nothing(contents):
    Job(contents, "general", {}, most=2, buckets=1, tasks=2).removed_alike()


def test_an_exhaustive_search_closes_no_list():
    job = Job(forms(60), "general", {"exhaustive": True}, most=16, buckets=2, tasks=1)
    assert job.removed_alike() >= 20
    assert not of(job.lists(), "full")


def test_samples_rule_out_pairs_before_texts_move():
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
        job = Job([text] * documents, recipe, {}, most=documents, buckets=1, tasks=1)
        # As if no copy were exact.
        job.group = of(job.documents, "features", "sketches")
        job.counts = job.for_each(job.for_each(job.group, kernels.deal_keys), kernels.count)
        made = job.lists()
        (inbox,) = group_blobs(made)
        return inbox.get_bodies("lists")[0], inbox.read_rows("full", rows.FILED)

    assert not len(lists(longest)[1])
    entries, full = lists(longest + 3)
    is_admitted, is_left_out = decisions.find_admitted(full, some_of([0, 2, longest]), longest)
    keys = np.unique(full["key"])
    assert full["number"].tolist() == len(keys) * list(range(longest + 3))
    # Two documents less, and one that was to come next.
    assert full["number"][is_admitted].tolist() == len(keys) * [longest + 1, longest + 2]
    assert not is_left_out.any()
    is_admitted, is_left_out = decisions.find_admitted(full, some_of([]), longest)
    assert not is_admitted.any()
    assert full["number"][is_left_out].tolist() == len(keys) * list(range(longest, longest + 3))
    # Lists leave out the others.
    entry = np.dtype([("key", "<u4"), ("share", "<u2"), ("number", "<u8")])
    # The number of entries comes first.
    assert set(np.frombuffer(entries, entry, offset=8)["number"].tolist()) == set(range(longest))


def some_of(numbers):
    """A set of documents of a single batch."""
    documents = decisions.Documents(Layout([(0, 0, 2000)]))
    documents.add(np.array(numbers, np.int64))
    return documents


def units_of(pairs, batch, groups, count):
    later, earlier = np.array(pairs, np.int64).reshape(-1, 2).T
    settings = replace(settings_for("general", {}), units=count)
    asked = np.empty(len(later), rows.PAIR)
    asked["later"], asked["earlier"] = later + (batch << PLACE_BITS), earlier
    return units.assign_units(asked, settings, groups)


def test_similar_documents_meet_in_one_unit():
    # 9 may repeat 2 and 5, and 5 may repeat 2; in another batch, so may 70,000.
    units = units_of([(9, 5), (9, 2), (5, 2), (6, 3)], 0, 100, 1 << 20)
    assert units[0] == units[1] == units[2] != units[3]
    assert units_of([(70_000, 2)], 1, 100, 1 << 20) == units[0]
    assert not len(units_of([], 0, 100, 7))


@pytest.mark.parametrize("of_batch", [1, 100])
def test_frequent_candidate_is_divided_among_units(of_batch):
    batches = 20 * units.UNIT_DOCUMENTS // of_batch
    many = [(number, 2) for number in range(100, 100 + of_batch)]
    documents = {}
    for batch in range(0, batches, batches // 500):
        (unit,) = set(units_of(many, batch, batches, 1 << 20).tolist())
        documents[unit] = documents.get(unit, 0) + 1
    assert len(documents) == 20
    assert max(documents.values()) < 3 * min(documents.values())


@pytest.mark.parametrize("tasks", [1, 3])
def test_each_text_is_counted_once(tasks):
    every = texts(3, 200)
    recipe = sketching.compile_recipe(settings_for("general", {}))
    corpus = _core.Corpus(recipe, keeps_texts=False, shingle=5, workers=1)
    nothing = pa.nulls(len(every), pa.large_string())
    corpus.push(pa.array(every, pa.large_string()), titles=nothing, units=None)
    corpus.finish()
    job = Job(every * 3, "general", {}, most=50, buckets=4, tasks=tasks)
    found = _core.Background.from_bytes(job.common_shingles())
    documents, shingles, _ = found.counts()
    assert documents == 600
    assert shingles == _core.Background(corpus).counts()[1] > 50


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
    remedy = Message("input: files must be of one format on Spark. Got a and b instead.")
    reason = Message("must be text", code="not_a_text")
    problems = [
        Problem("", 3, "text", reason, "12", remedy),
        Problem("", None, None, "must be text", None),
    ]
    info = io.BatchInfo(0, 0, 1, 1, 1, 0, 2, "a.jsonl", 10)
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
        (path, begin, "".join(rows.column(0).to_pylist()))
        for path, begin, rows in split_by_part(batch, 2)
    ]
    assert parts == [(1, 0, "ab"), (1, 0, "c"), (1, 9, "d"), (2, 9, "ef"), (2, 9, "g")]


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [
        ("characters", "none for 128 bits within 41. Give a smaller max_distance"),
        ("bkdr", "none for 32 bits within 15. Give a smaller max_distance"),
        ("keywords", "idf = 'corpus'. Give it a file of 'neardup idf'"),
        (
            load_recipe("improved").replace(weigh={"idf": "bundled"}),
            "depends on them. Choose another scheme",
        ),
    ],
)
def test_recipe_of_one_machine_is_refused(recipe, reason):
    with pytest.raises(neardup.ParameterError, match=f"'recipe' parameter.*{reason}.*the engine"):
        settings_for(recipe, {})
