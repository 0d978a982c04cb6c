"""Stages cluster and keep, the one rule: dedup against its twin, and its laws."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import corpora, texts
from tests.reference import dedup as twin
from tests.reference import verify

from neardup import dedup, fingerprint, load_recipe, near_pairs, pairs
from neardup.recipe.assets import compiled

GENERAL = load_recipe("characters").replace(decide={"shingle": 3, "min_features": 5})
#: By distance alone, and of few bits, so that something is within it.
BY_BITS = load_recipe("characters").replace(sketch={"bits": 64}, decide={"threshold": None})
THRESHOLDS = (0.2, 0.5, 0.55, 2 / 3, 0.8, 1.0)
PRIORITIES = ("first", "last", "longest", "field:date", "field:date:desc")


def order_of(priority, documents):
    numbers = range(len(documents))
    if priority == "first":
        return list(numbers)
    if priority == "last":
        return list(reversed(numbers))
    if priority == "longest":
        return sorted(numbers, key=lambda at: -len(documents[at]["text"]))
    sign = -1 if priority.endswith("desc") else 1
    return sorted(numbers, key=lambda at: sign * documents[at]["date"])


class Judge:
    """Similarity of two documents by the twins, given the project's own sketches."""

    def __init__(self, many, recipe, threshold, max_distance):
        core = compiled(recipe)
        self.raw = many
        self.texts = [core.normalize(text) for text in many]
        self.prints = [fingerprint(text, recipe=recipe) for text in many]
        self.features = [core.sketch(text, None)[0] for text in self.texts]
        self.recipe, self.threshold, self.max_distance = recipe, threshold, max_distance

    def has_sketch(self, document):
        return self.features[document] >= self.recipe.decide.min_features

    def is_identical(self, a, b):
        if self.features[a] and self.features[b]:
            return self.texts[a] == self.texts[b]
        return self.raw[a] == self.raw[b]

    def distance(self, a, b):
        return self.prints[a].distance(self.prints[b])

    def similarity(self, a, b):
        """-1 for no candidate: no threshold takes that."""
        if not (self.has_sketch(a) and self.has_sketch(b)):
            return 1.0 if self.is_identical(a, b) else -1.0
        if self.distance(a, b) > self.max_distance:
            return -1.0
        if self.threshold is None:
            return 1 - self.distance(a, b) / self.recipe.sketch.bits
        return verify.resemblance(self.texts[a], self.texts[b], self.recipe.decide.shingle)

    @property
    def least(self):
        return 0.0 if self.threshold is None else self.threshold


def removed_of(result):
    rows = result.removed.to_pylist()
    return [twin.Removal(int(r["id"]), int(r["kept_id"]), r["similarity"]) for r in rows]


@given(
    many=corpora(),
    threshold=st.sampled_from(THRESHOLDS),
    max_distance=st.sampled_from((None, 0, 10, 40, 128)),
    priority=st.sampled_from(PRIORITIES),
    data=st.data(),
)
def test_dedup_is_the_twin_by_threshold(many, threshold, max_distance, priority, data):
    dates = st.lists(st.integers(1, 4), min_size=len(many), max_size=len(many))
    documents = [{"text": t, "date": d} for t, d in zip(many, data.draw(dates), strict=True)]
    options = {"threshold": threshold, "max_distance": max_distance, "recipe": GENERAL}
    if not documents:
        assert dedup([], **options).kept == []
        return
    result = dedup(documents, priority=priority, **options)
    judge = Judge(many, GENERAL, threshold, result.plan.max_distance)
    kept, removals = twin.dedup(
        len(many), judge.similarity, threshold, order_of(priority, documents)
    )
    assert np.flatnonzero(result.keep).tolist() == kept
    assert removed_of(result) == removals


@given(
    many=corpora(),
    max_distance=st.sampled_from((0, 1, 3, 10, 25, 64)),
    priority=st.sampled_from(("first", "last", "longest")),
)
def test_dedup_is_the_twin_by_distance(many, max_distance, priority):
    documents = [{"text": text} for text in many]
    result = dedup(
        documents, max_distance=max_distance, recipe=BY_BITS, priority=priority, text_field="text"
    )
    judge = Judge(many, BY_BITS, None, max_distance)
    kept, removals = twin.dedup(len(many), judge.similarity, 0.0, order_of(priority, documents))
    assert np.flatnonzero(result.keep).tolist() == kept
    assert removed_of(result) == removals
    for row in result.removed.to_pylist():
        assert row["measure"] == "equal_bits"
        a, b = int(row["id"]), int(row["kept_id"])
        both = judge.has_sketch(a) and judge.has_sketch(b)
        assert row["distance"] == (judge.distance(a, b) if both else None)


@given(many=corpora(), threshold=st.sampled_from(THRESHOLDS))
def test_pairs_are_all_pairs(many, threshold):
    """With every pair a candidate nothing can be missed."""
    found = pairs(many, threshold=threshold, max_distance=128, recipe=GENERAL).table.to_pylist()
    judge = Judge(many, GENERAL, threshold, 128)
    expected = [
        (a, b, judge.similarity(a, b))
        for a in range(len(many))
        for b in range(a + 1, len(many))
        if judge.similarity(a, b) >= threshold
    ]
    assert [(int(r["id_a"]), int(r["id_b"]), r["similarity"]) for r in found] == expected


@given(many=corpora(), max_distance=st.sampled_from((0, 3, 20, 64)))
def test_pairs_by_distance_are_all_pairs(many, max_distance):
    found = pairs(many, max_distance=max_distance, recipe=BY_BITS).table.to_pylist()
    judge = Judge(many, BY_BITS, None, max_distance)
    expected = [
        (a, b, judge.similarity(a, b))
        for a in range(len(many))
        for b in range(a + 1, len(many))
        if judge.similarity(a, b) >= 0
    ]
    assert [(int(r["id_a"]), int(r["id_b"]), r["similarity"]) for r in found] == expected


@given(
    many=corpora(), threshold=st.sampled_from(THRESHOLDS), priority=st.sampled_from(PRIORITIES[:3])
)
def test_laws_of_the_rule(many, threshold, priority):
    result = dedup(many, threshold=threshold, recipe=GENERAL, priority=priority)
    judge = Judge(many, GENERAL, threshold, result.plan.max_distance)
    order = order_of(priority, [{"text": text} for text in many])
    place = {document: at for at, document in enumerate(order)}
    dropped = {int(row["id"]): row for row in result.removed.to_pylist()}
    assert sorted(dropped) == np.flatnonzero(~result.keep).tolist()
    for document, row in dropped.items():
        keeper = int(row["kept_id"])
        assert result.keep[keeper]
        assert place[keeper] < place[document]
        assert row["similarity"] >= threshold
        assert judge.similarity(document, keeper) == row["similarity"]
    kept = np.flatnonzero(result.keep).tolist()
    for a in kept:
        for b in kept:
            assert a == b or judge.similarity(a, b) < threshold


@given(
    many=corpora(), threshold=st.sampled_from(THRESHOLDS), priority=st.sampled_from(PRIORITIES[:3])
)
def test_dedup_of_its_own_output_drops_nothing(many, threshold, priority):
    options = {"threshold": threshold, "recipe": GENERAL, "priority": priority}
    once = dedup(many, **options)
    again = dedup(once.kept, **options)
    assert again.kept == once.kept
    assert again.removed.num_rows == 0


@given(st.lists(texts(max_size=4), max_size=12))
def test_very_short_texts_equal_only_identical_ones(many):
    """Normalized texts are compared; without any feature, texts as they came."""
    recipe = GENERAL.replace(decide={"min_features": 1000})
    core = compiled(recipe)
    seen, expected = set(), []
    for text in many:
        normalized = core.normalize(text)
        key = (True, normalized) if core.units(normalized) else (False, text)
        expected.append(key not in seen)
        seen.add(key)
    assert dedup(many, recipe=recipe, threshold=0.01).keep.tolist() == expected


def test_a_chain_drops_nothing_that_no_kept_document_resembles():
    """b resembles a and c; a does not resemble c. With b first, both others go."""
    a, b, c = "0123456789abcdefghij", "456789abcdefghijklmn", "89abcdefghijklmnopqr"
    options = {"threshold": 0.6, "max_distance": 128}
    recipe = GENERAL.replace(segment={"units": "shingles"})
    resemblances = [verify.resemblance(*pair, 3) for pair in ((a, b), (b, c), (a, c))]
    assert resemblances == [14 / 22, 14 / 22, 10 / 26]
    assert dedup([a, b, c], recipe=recipe, **options).kept == [a, c]
    assert dedup([b, a, c], recipe=recipe, **options).kept == [b]
    assert dedup([c, b, a], recipe=recipe, **options).kept == [c, a]


@given(many=corpora(), max_distance=st.sampled_from((0, 3, 12, 30)))
def test_the_distance_of_pairs_is_the_one_that_near_pairs_tells(many, max_distance):
    from neardup import fingerprint_many

    long = [text for text in many if len(text) > 20]
    rows = fingerprint_many(long, recipe=BY_BITS)
    found = near_pairs(rows, max_distance=max_distance, bits=64)
    table = pairs(long, max_distance=max_distance, recipe=BY_BITS).table.to_pylist()
    expected = set(zip(found.a.tolist(), found.b.tolist(), found.distance.tolist(), strict=True))
    assert {(int(r["id_a"]), int(r["id_b"]), r["distance"]) for r in table} == expected
