"""Cases made of a collection, and what is right, wrong or set aside among them."""

import numpy as np
import pyarrow as pa
import pytest
from tests.kit.progress import RecordedProgress
from tests.kit.sentences import written

import neardup
from neardup import InputError, load_recipe
from neardup.base.progress import Progress
from neardup.lab import Scores
from neardup.lab.datasets.collection import Collection, Documents, read_collection
from neardup.lab.experiments.zhang_he_2020.cases import make_cases
from neardup.lab.experiments.zhang_he_2020.runs import (
    ASIDE,
    RIGHT,
    WRONG,
    Run,
    Scorer,
    find_pairs,
)


@pytest.fixture(scope="module")
def collection(collection_folder):
    return read_collection(collection_folder, Progress())


def documents(texts, name="d"):
    ids = tuple(f"{name}{index}" for index in range(len(texts)))
    return Documents(ids, (None,) * len(texts), tuple(texts))


def test_each_original_has_a_copy(collection):
    assert {name: len(chosen) for name, chosen in collection.topics.items()} == {
        "harbour": 13,
        "market": 12,
    }
    assert collection.topics["harbour"].titles[3] == "港3"
    cases = make_cases(collection)
    copies = np.flatnonzero(~cases.untouched)
    assert len(cases.base) == 2 * 6 + 2 * 6 + len(collection.distractors) == 44
    assert np.bincount(cases.topic + 1).tolist() == [20, 12, 12]
    assert len(set(cases.base[copies])) == len(copies) == cases.true_pairs == 12
    assert cases.untouched[cases.base[copies]].all()
    assert (cases.topic[copies] == cases.topic[cases.base[copies]]).all()
    table = cases.make_table("edits", rate=0.05)
    assert table["id"].to_pylist() == [str(place) for place in range(44)]
    texts = zip(table["text"].to_pylist(), cases.documents.texts, cases.untouched, strict=True)
    for text, original, untouched in texts:
        assert (text == original) == bool(untouched)
        assert abs(len(text) - len(original)) <= round(0.05 * len(original))
    # Edits draw from texts outside the documents.
    assert not set(cases.pool) & set(cases.documents.texts)
    assert len(cases.pool) == 7 + 6


def test_the_same_for_the_same_seed(collection):
    once, again, other = (make_cases(collection, seed=seed) for seed in (1, 1, 2))
    assert once.make_table("edits").equals(again.make_table("edits"))
    assert not once.make_table("edits").equals(other.make_table("edits"))
    assert once.documents.ids != other.documents.ids


@pytest.mark.parametrize(
    ("folder", "files", "expected"),
    [
        (".", {}, "must have a topic file such as finance.jsonl. Got none"),
        (".", {"distractors.jsonl": 2}, "must have a topic file"),
        (".", {"a.jsonl": 1}, "a.jsonl: must have at least two documents with text. Got 1"),
        (".", {"all.jsonl": 2}, "must not be named 'all': the results use this name"),
        ("missing", {}, "missing: no such file"),
        ("a.jsonl", {"a.jsonl": 2}, r"must be a folder .* Got a file"),
    ],
)
def test_folders_without_topics(tmp_path, folder, files, expected):
    for name, count in files.items():
        (tmp_path / name).write_text('{"id": "1", "text": "some words"}\n' * count)
    with pytest.raises(InputError, match=expected):
        read_collection(tmp_path / folder, Progress())


def test_records_without_text_are_told_and_left_out(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "x"}\n{"id": 2}\n{"text": "y"}\n')
    progress = RecordedProgress()
    read = read_collection(tmp_path, progress)
    assert read.topics["a"].texts == ("x", "y")
    (problem,) = progress.problems
    assert "record 2" in problem


@pytest.fixture
def judged():
    """Two topics; the originals of one repeat a distractor each."""
    first = [written(f"a{index}") for index in range(4)]
    second = [written(f"b{index}") for index in range(4)]
    collection = Collection(
        {"one": documents(first, "a"), "two": documents(second, "b")},
        documents([text + "另行通知。" for text in first] + [written("c0")], "c"),
    )
    cases = make_cases(collection)
    scorer = Scorer(cases, cases.make_table("edits", rate=0.05))
    return cases, scorer.natural, scorer


def places(cases, topic, *, copies):
    return np.flatnonzero((cases.topic == topic) & (cases.untouched != copies))


def test_natural_repeats_are_pairs_of_untouched_documents(judged):
    cases, natural, _ = judged
    assert len(natural) == 2
    assert cases.untouched[natural].all()
    assert (np.sort(cases.topic[natural], axis=1) == [-1, 0]).all()


def test_right_wrong_and_aside(judged):
    cases, natural, scorer = judged
    assert cases.true_pairs == 4
    copies = places(cases, 0, copies=True)
    originals = cases.base[copies]
    repeats = [int(natural[(natural == index).any(axis=1)].sum()) - index for index in originals]
    other = places(cases, 1, copies=False)
    expected = {
        (copies[0], originals[0]): RIGHT,
        (originals[0], copies[0]): RIGHT,
        (originals[0], repeats[0]): ASIDE,
        (copies[0], repeats[0]): ASIDE,
        (repeats[1], copies[1]): ASIDE,
        (copies[0], repeats[1]): WRONG,
        (copies[0], copies[1]): WRONG,
        (originals[0], other[0]): WRONG,
    }
    assert scorer.label_pairs(np.array(list(expected))).tolist() == list(expected.values())


def test_a_pair_counts_for_both_topics_and_once_over_all(judged):
    cases, natural, scorer = judged
    copies = places(cases, 0, copies=True)
    other = places(cases, 1, copies=False)
    far = np.flatnonzero(cases.topic == -1)
    rows = [(copies[0], cases.base[copies[0]]), (copies[0], other[0]), far[:2], natural[0]]
    first_topic, two, every = scorer.count_pairs(np.array(rows))
    assert (first_topic.topic, first_topic.scores, first_topic.aside) == ("one", Scores(1, 1, 1), 1)
    assert (two.topic, two.scores, two.aside) == ("two", Scores(0, 1, 2), 0)
    assert (every.topic, every.scores, every.aside) == ("all", Scores(1, 2, 3), 1)
    assert every.strict_precision == 1 / 4


def test_documents_count_once(judged):
    cases, natural, scorer = judged
    first, second = places(cases, 0, copies=True)
    other = places(cases, 1, copies=False)
    far = np.setdiff1d(np.flatnonzero(cases.topic == -1), natural)
    original = cases.base[first]
    # A right pair, two wrong ones of its document, one of two others, one set aside.
    repeat = natural[(natural == cases.base[second]).any(axis=1)][0]
    rows = [(first, original), (first, other[0]), (original, far[0]), (other[0], other[1]), repeat]
    first_topic, two, every = scorer.count_documents(np.array(rows))
    # Right: copy and original; wrong: the other topic's document and the distractor.
    assert (first_topic.topic, first_topic.scores, first_topic.aside) == ("one", Scores(2, 2, 2), 2)
    # A document of another topic that a wrong pair brings in is wrong in this one.
    assert (two.topic, two.scores, two.aside) == ("two", Scores(0, 3, 4), 0)
    assert (every.topic, every.scores, every.aside) == ("all", Scores(2, 3, 6), 2)


def test_copies_searched_without_their_originals_do_not_count(judged):
    cases, _, scorer = judged
    nothing = np.empty((0, 2), np.int64)
    copy = places(cases, 0, copies=True)[0]
    chosen = np.array([copy, cases.base[copy], places(cases, 1, copies=True)[0]])
    documents = [tally.scores for tally in scorer.count_documents(nothing, chosen)]
    assert documents == [Scores(0, 0, 2), Scores(0, 0, 0), Scores(0, 0, 2)]
    pairs = [tally.scores for tally in scorer.count_pairs(nothing, chosen)]
    assert pairs == [Scores(0, 0, 1), Scores(0, 0, 0), Scores(0, 0, 1)]


def test_the_first_documents_have_their_partners(collection):
    cases = make_cases(collection)
    everything = len(cases.base)
    assert cases.take_first(everything).tolist() == list(range(everything))
    assert len(cases.take_first(0)) == 0
    for count in range(1, everything):
        first = cases.take_first(count)
        assert len(first) == count
        assert (np.diff(first) > 0).all()
        assert set(cases.take_first(count - 1)) < set(first)
        copies = np.flatnonzero(~cases.untouched)
        alone = np.isin(copies, first) != np.isin(cases.base[copies], first)
        assert alone.sum() <= 1


def test_identical_texts_without_fingerprint_are_found():
    table = pa.table({"id": ["0", "1", "2"], "title": ["", "", ""], "text": ["…", "…", "。"]})
    assert find_pairs(load_recipe("classic"), table).tolist() == [[0, 1]]


@pytest.mark.parametrize(("name", "cut_off"), [("classic", 3), ("general", 0.4)])
def test_recipe_finds_all_pairs_within_its_cut_off(collection, name, cut_off):
    table = make_cases(collection).make_table("edits")
    recipe = load_recipe(name)
    assert Run(recipe, 0, (), (), ()).cut_off == cut_off
    texts = table["text"].to_pylist()
    pairs = set(map(tuple, find_pairs(recipe, table).tolist()))
    for a, b in [*pairs, (0, 1), (1, 2)]:
        assert neardup.compare(texts[a], texts[b], recipe=name).duplicate == ((a, b) in pairs)
