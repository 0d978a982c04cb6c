"""Splits of a collection, and what is right, wrong or set aside on them."""

import numpy as np
import pyarrow as pa
import pytest

from neardup import InputError, load_recipe
from neardup.lab import Scores
from neardup.lab.datasets.collection import Collection, Documents, read_collection
from neardup.lab.datasets.split import make_split
from neardup.lab.experiments.zhang_he_2020.methods import Matches, Method, find
from neardup.lab.experiments.zhang_he_2020.results import ASIDE, RIGHT, WRONG, Scorer


@pytest.fixture(scope="module")
def collection(collection_folder):
    return read_collection(collection_folder)


def documents(texts, name="d"):
    ids = tuple(f"{name}{index}" for index in range(len(texts)))
    return Documents(ids, (None,) * len(texts), tuple(texts))


def test_files_become_topics(collection):
    assert list(collection.topics) == ["harbour", "market"]
    assert [len(chosen) for chosen in collection.topics.values()] == [13, 12]
    assert len(collection.distractors) == 20
    assert collection.topics["harbour"].titles[3] == "港3"


@pytest.mark.parametrize("name", ["test", "development"])
def test_a_split_has_a_copy_of_each_original(collection, name):
    split = make_split(collection, name)
    copies = np.flatnonzero(~split.untouched)
    assert len(split.base) == 2 * 6 + 2 * 6 + 20
    assert np.bincount(split.topic + 1).tolist() == [20, 12, 12]
    assert len(set(split.base[copies])) == len(copies) == 12
    assert split.untouched[split.base[copies]].all()
    assert (split.topic[copies] == split.topic[split.base[copies]]).all()
    table = split.table("edits", rate=0.05)
    texts = table["text"].to_pylist()
    for place in range(len(texts)):
        came = split.documents.texts[place]
        assert (texts[place] == came) == bool(split.untouched[place])
        assert abs(len(texts[place]) - len(came)) <= round(0.05 * len(came))
    assert table["id"].to_pylist() == [str(place) for place in range(len(texts))]


def test_splits_share_no_original_and_no_pool_with_their_documents(collection):
    test, development = (make_split(collection, name) for name in ("test", "development"))

    def originals(split):
        return {split.documents.ids[index] for index in np.flatnonzero(split.topic >= 0)}

    assert not originals(test) & originals(development)
    for split in (test, development):
        assert not set(split.pool) & set(split.documents.texts)
        assert len(split.pool) == 7 + 6
    assert test.seed != development.seed


def test_a_split_is_the_same_for_the_same_seed(collection):
    once, again, other = (make_split(collection, "test", seed=seed) for seed in (1, 1, 2))
    assert once.table("edits").equals(again.table("edits"))
    assert not once.table("edits").equals(other.table("edits"))
    assert once.documents.ids != other.documents.ids


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "must have a topic file such as finance.jsonl. Got none"),
        ({"distractors.jsonl": 2}, "must have a topic file"),
        ({"a.jsonl": 1}, "a.jsonl: must have at least two documents with text. Got 1"),
        ({"all.jsonl": 2}, "must not be named 'all': the results use this name"),
    ],
)
def test_folders_without_topics(tmp_path, files, expected):
    for name, count in files.items():
        (tmp_path / name).write_text('{"id": "1", "text": "some words"}\n' * count)
    with pytest.raises(InputError, match=expected):
        read_collection(tmp_path)
    with pytest.raises(InputError, match="must be a folder"):
        read_collection(tmp_path / "missing")


def test_records_without_text_are_told_and_left_out(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "x"}\n{"id": 2}\n{"text": "y"}\n')
    told = []

    class Listener:
        def problem(self, problem):
            told.append(str(problem))

    read = read_collection(tmp_path, progress=Listener())
    assert read.topics["a"].texts == ("x", "y")
    assert len(told) == 1
    assert "record 2" in told[0]


@pytest.fixture
def judged(write):
    """Two topics; the originals of one repeat a distractor each."""
    first = [write(f"a{index}") for index in range(4)]
    second = [write(f"b{index}") for index in range(4)]
    collection = Collection(
        {"one": documents(first, "a"), "two": documents(second, "b")},
        documents([text + "另行通知。" for text in first] + [write("c0")], "c"),
    )
    split = make_split(collection, "test")
    scorer = Scorer(split, split.table("edits", rate=0.05))
    return split, scorer.natural, scorer


def places(split, topic, *, copies):
    return np.flatnonzero((split.topic == topic) & (split.untouched != copies))


def test_natural_repeats_are_pairs_of_untouched_documents(judged):
    split, natural, _ = judged
    assert len(natural) == 2
    assert split.untouched[natural].all()
    assert (np.sort(split.topic[natural], axis=1) == [-1, 0]).all()


def test_right_wrong_and_aside(judged):
    split, natural, scorer = judged
    assert scorer.true_pairs == 4
    copies = places(split, 0, copies=True)
    originals = split.base[copies]
    repeats = [int(natural[(natural == index).any(axis=1)].sum()) - index for index in originals]
    other = places(split, 1, copies=False)
    cases = [
        (copies[0], originals[0], RIGHT),
        (originals[0], copies[0], RIGHT),
        (originals[0], repeats[0], ASIDE),
        (copies[0], repeats[0], ASIDE),
        (repeats[1], copies[1], ASIDE),
        (copies[0], repeats[1], WRONG),
        (copies[0], copies[1], WRONG),
        (originals[0], other[0], WRONG),
    ]
    a, b, expected = (np.array(column) for column in zip(*cases, strict=True))
    assert scorer.labels(a, b).tolist() == expected.tolist()


def test_a_pair_counts_for_both_topics_and_once_over_all(judged):
    split, natural, scorer = judged
    copies = places(split, 0, copies=True)
    other = places(split, 1, copies=False)
    far = np.flatnonzero(split.topic == -1)
    rows = [(copies[0], split.base[copies[0]]), (copies[0], other[0]), far[:2], natural[0]]
    a, b = np.array(rows).T
    matches = Matches(a, b, np.zeros(len(a)), ())
    first_topic, two, every = scorer.tallies(matches)
    assert (first_topic.topic, first_topic.scores, first_topic.aside) == ("one", Scores(1, 1, 1), 1)
    assert (two.topic, two.scores, two.aside) == ("two", Scores(0, 1, 2), 0)
    assert (every.topic, every.scores, every.aside) == ("all", Scores(1, 2, 3), 1)
    assert every.strict_precision == 1 / 4


def test_documents_count_once(judged):
    split, natural, scorer = judged
    first, second = places(split, 0, copies=True)
    other = places(split, 1, copies=False)
    far = np.setdiff1d(np.flatnonzero(split.topic == -1), natural)
    original = split.base[first]
    # A right pair, two wrong ones of its document, one of two others, one set aside.
    repeat = natural[(natural == split.base[second]).any(axis=1)][0]
    rows = [(first, original), (first, other[0]), (original, far[0]), (other[0], other[1]), repeat]
    a, b = np.array(rows).T
    matches = Matches(a, b, np.zeros(len(a)), ())
    first_topic, two, every = scorer.document_tallies(matches)
    # Right: copy and original; wrong: the other topic's document and the distractor.
    assert (first_topic.topic, first_topic.scores, first_topic.aside) == ("one", Scores(2, 2, 2), 2)
    # A document of another topic that a wrong pair brings in is wrong in this one.
    assert (two.topic, two.scores, two.aside) == ("two", Scores(0, 3, 4), 0)
    assert (every.topic, every.scores, every.aside) == ("all", Scores(2, 3, 6), 2)


def test_only_copies_that_were_searched_with_their_originals_count(judged):
    split, _, scorer = judged
    nothing = Matches(*(np.array([], np.int64),) * 2, np.array([]), ())
    copy = places(split, 0, copies=True)[0]
    chosen = np.array([copy, split.base[copy], places(split, 1, copies=True)[0]])
    documents = [tally.scores for tally in scorer.document_tallies(nothing, chosen)]
    assert documents == [Scores(0, 0, 2), Scores(0, 0, 0), Scores(0, 0, 2)]
    pairs = [tally.scores for tally in scorer.tallies(nothing, chosen)]
    assert pairs == [Scores(0, 0, 1), Scores(0, 0, 0), Scores(0, 0, 1)]


def test_the_first_documents_have_their_partners(collection):
    split = make_split(collection, "test")
    everything = len(split.base)
    assert split.first(everything).tolist() == list(range(everything))
    assert len(split.first(0)) == 0
    for count in range(1, everything):
        first = split.first(count)
        assert len(first) == count
        assert (np.diff(first) > 0).all()
        assert set(split.first(count - 1)) < set(first)
        copies = np.flatnonzero(~split.untouched)
        alone = np.isin(copies, first) != np.isin(split.base[copies], first)
        assert alone.sum() <= 1


def test_a_sweep_filters_inclusively(judged):
    split, _, scorer = judged
    copies = places(split, 0, copies=True)
    a, b = copies, split.base[copies]
    by_distance = Method("m", load_recipe("classic"), (4, 3, 5))
    matches = Matches(a, b, np.array([4.0, 5.0]), ())
    assert [(c, s.tp) for c, s in scorer.sweep(matches, by_distance)] == [(3, 0), (4, 1), (5, 2)]
    by_similarity = Method("m", load_recipe("general"), (0.4, 0.6, 0.5))
    matches = Matches(a, b, np.array([0.5, 0.4]), ())
    swept = [(c, s.tp) for c, s in scorer.sweep(matches, by_similarity)]
    assert swept == [(0.6, 0), (0.5, 1), (0.4, 2)]


@pytest.mark.parametrize("name", ["classic", "general"])
def test_a_filtered_sweep_is_what_the_runs_find(collection, name):
    """For a distance exactly; a similarity may lose what its search does not reach."""
    method = Method.of(name)
    split = make_split(collection, "test")
    table = split.table("edits")
    scorer = Scorer(split, table)
    loosest = find(method, table, method.loosest)
    swept = dict(scorer.sweep(loosest, method))
    for cut_off in (method.default, method.cut_offs[len(method.cut_offs) // 2]):
        scores = scorer.tallies(find(method, table, cut_off))[-1].scores
        if method.by_threshold:
            assert scores.tp <= swept[cut_off].tp <= scores.tp + 1
        else:
            assert scores == swept[cut_off]


def test_identical_texts_without_fingerprint_have_distance_zero():
    table = pa.table({"id": ["0", "1", "2"], "title": ["", "", ""], "text": ["…", "…", "。"]})
    method = Method.of("classic")
    result = find(method, table, 3)
    assert (result.a.tolist(), result.b.tolist(), result.value.tolist()) == ([0], [1], [0.0])
