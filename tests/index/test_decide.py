"""One rule: `dedup`, the first import and additions one by one and in batches answer alike."""

import io
import itertools
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.index.consistency import check_consistent, entries_of
from tests.index.written import count_background, documents, families, stream
from tests.kit.strategies import LONG_BASES, corpora

from neardup import Index, dedup, load_recipe
from neardup.index.backends import open_database
from neardup.index.background import plan_next_count
from neardup.index.ingest import first_import, transaction
from neardup.index.schema import events

#: Shorter shingles, so that short texts too have enough of them.
SHORT = {"segment": {"k": 3}, "decide": {"shingle": 3, "min_features": 4}}
#: The most documents of a transaction here, so that few documents need several.
TOGETHER = 80
#: After how many documents what is common is counted for the first time.
FIRST = plan_next_count(0)
#: Sizes of the calls of `add_together`, also beside that of its transactions.
SIZES = (1, 7, TOGETHER - 1, TOGETHER, TOGETHER + 1, 10**9)


@pytest.fixture(scope="module", autouse=True)
def sooner():
    """Transactions of fewer documents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transaction, "BATCH", TOGETHER)
        patch.setattr(first_import, "_WRITTEN", TOGETHER)
        yield


@dataclass
class Case:
    """A recipe with what `dedup` and `Index` are told beside it."""

    recipe: Any
    options: dict[str, Any] = field(default_factory=dict)
    #: Decisions depend on statistics of the collection.
    background: bool = False
    #: A search by bands is laid out for the number of documents.
    expected: bool = False

    def dedup(self, many):
        return answers_of(dedup(many, recipe=self.recipe, **self.options))

    def index(self, location, many):
        return Index(
            location,
            recipe=self.recipe,
            expected=max(len(many), 1) if self.expected else None,
            workers=1,
            **self.options,
        )


def recipe(name, **stages):
    return load_recipe(name).replace(**stages)


NOTHING_COMMON = {"segment": {"k": 3}, "decide": SHORT["decide"] | {"common": "none"}}
RESEMBLANCE = {"segment": {"k": 3}, "decide": SHORT["decide"] | {"measure": "resemblance"}}
CHARACTERS = {"decide": {"shingle": 3, "min_features": 4}}
CASES = {
    "general": Case(recipe("general", **SHORT), background=True),
    "general-low": Case(recipe("general", **SHORT), {"threshold": 0.2}, background=True),
    "nothing-common": Case(recipe("general", **NOTHING_COMMON), background=True),
    "resemblance": Case(recipe("general", **RESEMBLANCE), background=True),
    "shingle": Case(recipe("shingle", **SHORT)),
    "shingle-sample": Case(recipe("shingle-sample", **SHORT), background=True),
    "minhash": Case(recipe("minhash", **SHORT), {"threshold": 0.5}, expected=True),
    "characters": Case(recipe("characters", **CHARACTERS)),
    "characters-near": Case(recipe("characters", **CHARACTERS), {"max_distance": 6}),
    "news": Case(recipe("news"), {"max_distance": 5}),
    "classic": Case(recipe("classic")),
    "bkdr": Case(recipe("bkdr")),
    "callable": Case(recipe("classic", segment={"units": "tests.golden.segmenters:tokens"})),
}


@dataclass
class Answers:
    keep: list[bool]
    removed: list[dict[str, Any]]

    def __add__(self, other):
        return Answers(self.keep + other.keep, self.removed + other.removed)


def answers_of(result):
    """Return the answers without what an index does not say: kinds, titles and sizes."""
    unsaid = ("kind", "title", "kept_title", "cluster_size")
    rows = result.removed.to_pylist()
    removed = [{name: row[name] for name in row if name not in unsaid} for row in rows]
    return Answers(result.keep.tolist(), removed)


def one_by_one(index, many):
    answers = Answers([], [])
    for item in many:
        match = index.add(item["id"], item["text"])
        answers.keep.append(match is None)
        if match is not None:
            answers.removed.append(row_of(item["id"], match))
    return answers


def row_of(id, match):
    row = {"id": id, "kept_id": match.id, "similarity": match.similarity}
    return row | {"measure": match.measure, "distance": match.distance}


def in_batches(index, many, size):
    answers = Answers([], [])
    for begin in range(0, len(many), size):
        for decision in stream(index, many[begin : begin + size]):
            assert (decision.new, decision.problem) == (True, None)
            match = decision.repeats
            answers.keep.append(match is None)
            if match is not None:
                answers.removed.append(row_of(decision.id, match))
    return answers


def at_once(index, many):
    added = index.add_many(many)
    assert (added.problems, added.already, added.new) == ([], 0, len(many))
    return answers_of(added)


#: All documents in the first call of `add_many`.
FIRST_IMPORT = None


def check_ways(case, new_place, many, sizes, expected):
    """Every way of adding gives the expected answers, and leaves the same index."""
    left = []
    for size in (FIRST_IMPORT, *sizes):
        place = new_place()
        with case.index(place, many) as index:
            if size is FIRST_IMPORT:
                result = at_once(index, many)
            else:
                if case.background:
                    count_background(index, [row["text"] for row in many])
                result = in_batches(index, many, size) if size else one_by_one(index, many)
            assert result.keep == expected.keep, size
            assert result.removed == expected.removed, size
            kept = {row["id"] for row, keep in zip(many, result.keep, strict=True) if keep}
            assert {document.id for document in index.documents("kept")} == kept
        check_consistent(place)
        left.append(entries_of(place))
    assert all(entries == left[0] for entries in left)


#: Of cases that store the same, PostgreSQL takes one; SQLite takes all.
STORED_ALIKE = {
    *("general-low", "nothing-common", "resemblance", "shingle-sample", "characters-near"),
    *("bkdr", "callable"),
}


some_texts = st.one_of(corpora(), corpora(known=LONG_BASES))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(many=some_texts, size=st.integers(1, 9))
def test_small_collections(name, new_place, many, size):
    case, many = CASES[name], documents(many)
    if many:
        check_ways(case, new_place, many, (0, size), case.dedup(many))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "new_place"),
    [
        (name, database)
        for database in ("sqlite", "postgresql")
        for name in CASES
        if database == "sqlite" or name not in STORED_ALIKE
    ],
    indirect=["new_place"],
)
def test_families(name, new_place):
    """Some dozen documents, most of two forms, with copies of all degrees."""
    case, many = CASES[name], documents(families(1, 30))
    expected = case.dedup(many)
    assert sum(expected.keep) < len(many)
    check_ways(case, new_place, many, (0, 7, len(many)), expected)


@pytest.mark.slow
def test_batches_beside_a_transaction(new_place):
    many = documents(families(2, 90))
    assert len(many) > 2 * TOGETHER
    case = CASES["general"]
    expected = case.dedup(many)
    assert 60 < sum(expected.keep) < len(many) - 60
    # One by one, as many are added where the background is counted below.
    check_ways(case, new_place, many, SIZES[1:], expected)


@pytest.mark.slow
def test_weighted_titles_decide(new_place):
    """A stream has no corpus to count words in, so `dedup` is told the bundled table."""
    many = documents(f"{LONG_BASES[number % 2]}第{number // 2 % 7}次通报。" for number in range(40))
    for number, row in enumerate(many):
        row["title"] = (None, "水文站闸口水位", "渡船停开", "夜间值守")[number % 4]
    weighed = load_recipe("improved").replace(weigh={"idf": "bundled"})
    expected = answers_of(dedup(many, recipe=weighed, max_distance=6))
    for size in (0, 7, len(many)):
        with Index(new_place(), recipe="improved", max_distance=6) as index:
            if size:
                result = at_once(index, many[:size])
                if size < len(many):
                    result += answers_of(index.add_many(many[size:]))
            else:
                matches = [index.add(row["id"], row["text"], title=row["title"]) for row in many]
                result = Answers([match is None for match in matches], expected.removed)
            assert result == expected
    assert expected != answers_of(
        dedup([row | {"title": None} for row in many], recipe=weighed, max_distance=6)
    )


#: Enough for two counts of what is common by number, after `FIRST` and twice as many.
MANY = documents(families(4, 100))
COUNTING = Case(recipe("general", **SHORT), {"threshold": 0.3})


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """The answers of an index that counts what is common in it."""
    with COUNTING.index(tmp_path_factory.mktemp("own") / "index.db", MANY) as index:
        return in_batches(index, MANY, len(MANY))


#: When `MANY` is counted.
MOMENTS = [FIRST, 2 * FIRST]


def counts(place):
    """What the index says of its counts."""
    with open_database(place, must_exist=True) as database, database.reading() as connection:
        result = connection.execute(events.select().order_by(events.c.event)).all()
    assert {row.action for row in result} <= {"recounted"}
    return [json.loads(row.details) for row in result]


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, *SIZES, FIRST - 1, FIRST, FIRST + 1])
def test_own_background_is_counted_alike_however_documents_come(new_place, size, counted):
    assert 2 * FIRST < len(MANY) < 4 * FIRST
    place = new_place()
    with COUNTING.index(place, MANY) as index:
        result = in_batches(index, MANY, size) if size else one_by_one(index, MANY)
        read = index.stats().background_texts
    assert result == counted
    features = {id: row.features for id, row in check_consistent(place).items()}
    with_features = [sum(features[row["id"]] > 0 for row in MANY[:n]) for n in MOMENTS]
    told = counts(place)
    assert [line["arrived"] for line in told] == MOMENTS
    assert [line["texts"] for line in told] == with_features
    assert 0 < read <= with_features[-1]


@pytest.mark.slow
def test_own_background_counts_no_document_twice(tmp_path, counted):
    """Each batch begins with documents that were added before."""
    place = tmp_path / "index.db"
    with COUNTING.index(place, MANY) as index:
        for begin in range(0, len(MANY), 33):
            part, before = MANY[begin : begin + 33], MANY[max(0, begin - 50) : begin]
            decisions = stream(index, before + part)
            assert sum(decision.new for decision in decisions) == len(part)
            keep = [decision.repeats is None for decision in decisions[len(before) :]]
            assert keep == counted.keep[begin : begin + 33]
    assert [count["arrived"] for count in counts(place)] == MOMENTS


def read_first(path, count):
    with zstandard.open(path, "rb") as file:
        lines = itertools.islice(io.TextIOWrapper(file, "utf-8"), count)
        return [json.loads(line) for line in lines]


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", ["general", "minhash"])
def test_news_and_bulletins(name, new_place, shared):
    """Some hundred real texts; those of one form are many enough to close lists of keys."""
    corpora = shared / "corpora"
    news = read_first(corpora / "chinanews.jsonl.zst", 80)
    bulletins = read_first(corpora / "bulletins.jsonl.zst", 160)
    rows = [*bulletins[:80], *itertools.chain(*zip(news, bulletins[80:], strict=True))]
    many = [{"id": row["id"], "text": row["text"]} for row in rows]
    # Few were published twice; so some come again, without their first words.
    many += [{"id": f"{row['id']} again", "text": row["text"][8:]} for row in many[::5]]
    case = Case(load_recipe(name), background=name == "general", expected=name == "minhash")
    expected = case.dedup(many)
    assert 30 < len(expected.removed) < len(many) / 2
    check_ways(case, new_place, many, (0, TOGETHER - 1, len(many)), expected)
