"""The minimum document frequency: words of few documents are left out."""

import pytest
from tests.reference import sketch, weigh

from neardup import count_idf, dedup, fingerprint, fingerprint_many, load_recipe
from neardup.recipe.assets import compiled

TEXTS = [
    "渡轮 码头 票价 船长",
    "渡轮 码头 票价",
    "渡轮 码头",
    "渡轮 书店 书店",
    "书架",
    "书桌",
]
DF = {"渡轮": 4, "码头": 3, "票价": 2, "船长": 1, "书店": 1, "书架": 1, "书桌": 1}


def keywords(least, idf="corpus", min_features=1):
    return load_recipe("keywords").replace(
        weigh={"idf": str(idf), "min_document_frequency": least},
        decide={"min_features": min_features},
    )


def expected(text, least):
    """Return the fingerprint of the twin, 0 where no word is left."""
    words = weigh.frequent(text.split(), DF, least)
    features = weigh.tf_idf(words, len(TEXTS), DF)
    return sketch.simhash(features, 64, sketch.xxh3, 0) if features else 0


@pytest.mark.parametrize("least", [1, 2, 3, 4, 5])
def test_fingerprints_are_the_twins(least, tmp_path):
    """Of the corpus' own table and of a saved one: the bound is inclusive."""
    table = tmp_path / "t.idf"
    counted = count_idf(TEXTS, recipe=keywords(least))
    assert dict(counted.counts) == DF, "a table has all words, whatever its user leaves out"
    counted.save(table)
    values = [expected(text, least) for text in TEXTS]
    for idf in ("corpus", table):
        assert fingerprint_many(TEXTS, recipe=keywords(least, idf))[:, 0].tolist() == values
    item = fingerprint(TEXTS[0], recipe=keywords(least, table))
    assert (0 if item is None else item.value) == values[0]


def test_a_word_that_the_table_lacks_counts_as_in_one_document(tmp_path):
    table = tmp_path / "t.idf"
    count_idf(TEXTS).save(table)
    for least, words in ((1, {"渡轮", "灯塔"}), (2, {"渡轮"})):
        core = compiled(keywords(least, table))
        assert {row[0] for row in core.features("渡轮灯塔", None)} == words


def test_length_is_among_the_words_that_are_left(tmp_path):
    """In `improved`, a word that is left out has no say in what the others weigh."""
    texts = ["渡轮 码头", "渡轮 码头", "渡轮 码头 图书馆"]
    table = tmp_path / "t.idf"
    count_idf(texts).save(table)
    recipe = load_recipe("improved").replace(weigh={"idf": str(table), "min_document_frequency": 2})
    core = compiled(recipe)
    assert core.features("渡轮码头图书馆", None) == core.features("渡轮码头", None)


@pytest.mark.parametrize("saved", [False, True])
def test_texts_without_a_word_that_is_left(saved, tmp_path):
    """They have no fingerprint, and equal only an identical text, in both ways alike."""
    texts = [*TEXTS, "书架", "书架！", "渡轮 码头 船长"]
    idf = "corpus"
    if saved:
        idf = tmp_path / "t.idf"
        count_idf(texts).save(idf)
    recipe = keywords(4, idf)
    result = dedup(texts, recipe=recipe, max_distance=0)
    # The first two have the same words left, the rest of the words are rare.
    assert result.keep.tolist() == [True, False, False, True, True, True, False, True, False]
    assert result.summary.without_features == 4


def test_the_number_of_features_is_that_of_the_words_left(tmp_path):
    table = tmp_path / "t.idf"
    count_idf(TEXTS).save(table)
    core = compiled(keywords(3, table))
    assert [core.sketch(text, None)[0] for text in TEXTS] == [2, 2, 2, 1, 0, 0]
    # With fewer words left than min_features, texts are no duplicates.
    similar = [TEXTS[0] + " 灯塔", TEXTS[0] + " 书架"]
    assert dedup(similar, recipe=keywords(3, table)).keep.tolist() == [True, False]
    strict = keywords(3, table, min_features=3)
    assert dedup(similar, recipe=strict).keep.tolist() == [True, True]


def test_a_single_text_has_no_corpus_to_count():
    """The bundled table counts no documents, so nothing is left out with it."""
    recipe = keywords(3).for_single_texts()
    assert (recipe.weigh.idf, recipe.weigh.min_document_frequency) == ("bundled", 1)
    result = fingerprint(TEXTS[0], recipe=keywords(3))
    assert result.recipe_id == recipe.id == keywords(1).for_single_texts().id
