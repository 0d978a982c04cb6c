"""Weights of words: tables of document frequencies, and titles."""

import gzip

import pytest
from tests.reference import sketch, weigh
from tests.weights import weights_of

from neardup import (
    DocumentFrequencies,
    InputError,
    OutputError,
    ParameterError,
    compare,
    count_idf,
    dedup,
    fingerprint,
    fingerprint_many,
    load_idf,
    load_recipe,
)
from neardup.readers import open_table
from neardup.recipe.assets import compiled
from neardup.run.document_set import DocumentSet
from neardup.run.pipeline import Pipeline
from neardup.run.run_options import RunOptions

TEXTS = ["渡轮 的 票价", "渡轮 书店 渡轮", "书店", "。", "Ferry ferry TEA"]


def test_counts_by_hand():
    table = count_idf(TEXTS)
    assert (table.documents, table.units) == (5, "words")
    assert dict(table.counts) == {"书店": 2, "渡轮": 2, "票价": 1, "ferry": 1, "tea": 1}
    assert list(table.counts) == sorted(table.counts)


@pytest.mark.parametrize("name", ["t.idf", "t.gz", "t.zst"])
def test_round_trip(name, tmp_path):
    path, table = tmp_path / name, count_idf(TEXTS)
    table.save(path)
    assert load_idf(path) == table
    odd = DocumentFrequencies(9, {"a\tb": 1, "back\\slash": 2, "line\nend\r": 9, "雨": 3}, "words")
    with pytest.raises(OutputError, match="exists"):
        odd.save(path)
    assert load_idf(path) == table
    odd.save(path, force=True)
    assert load_idf(path) == odd


def test_the_form_of_the_file(tmp_path):
    count_idf(TEXTS[:2]).save(tmp_path / "t")
    assert (tmp_path / "t").read_text("utf-8") == (
        "#neardup-idf\t1\n#units\twords\n#documents\t2\n书店\t1\n渡轮\t2\n票价\t1\n"
    )


HEAD = "#neardup-idf\t1\n#units\twords\n#documents\t3\n"


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ("", "not a table"),
        ("word\t3\n", "not a table"),
        (HEAD.replace("\t1\n", "\t2\n"), "format 2, this version reads 1"),
        (HEAD.replace("\t3", "\tmany"), "not a table"),
        (HEAD + "word\n", "line 4"),
        (HEAD + "a\t1\nword\t4\n", "line 5: expected .* from 1 to 3, found 'word"),
        (HEAD + "word\t0\n", "line 4"),
        (HEAD + "word\t-1\n", "line 4"),
        (HEAD + "word\t1.5\n", "line 4"),
        (b"#neardup-idf\t1\n\xff", "byte 15 is not valid UTF-8"),
        (HEAD + "a\t1\na\t2\n", "line 5"),
        (HEAD + "word\t\u00b2\n", "line 4"),
        (HEAD.replace("\t3", "\t\u00b3"), "not a table"),
    ],
)
def test_wrong_tables(contents, message, tmp_path):
    path = tmp_path / "t.idf"
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    recipe = load_recipe("keywords").replace(weigh={"idf": str(path)})
    for use in (lambda: load_idf(path), lambda: fingerprint("text", recipe=recipe)):
        with pytest.raises(InputError, match=rf"t.idf: {message}"):
            use()


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_idf(tmp_path / "gone")
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(HEAD.encode())[:-9])
    with pytest.raises(InputError, match=r"t\.gz"):
        load_idf(path)


def test_saved_table_gives_the_result_of_its_corpus(tmp_path):
    path = tmp_path / "t.idf"
    for name in ("keywords", "improved"):
        count_idf(TEXTS, recipe=name).save(path, force=True)
        recipe = load_recipe(name)
        by_table = recipe.replace(description=name, weigh={"idf": str(path)})
        assert (
            fingerprint_many(TEXTS, recipe=by_table) == fingerprint_many(TEXTS, recipe=recipe)
        ).all()
        assert by_table.id != recipe.id


def test_the_table_decides_the_weights(tmp_path):
    path = tmp_path / "t.idf"
    DocumentFrequencies(1000, {"渡轮": 10, "书店": 1000}, "words").save(path)
    recipe = load_recipe("keywords").replace(weigh={"idf": str(path)})
    weights = weights_of(compiled(recipe), "渡轮书店渡轮票价", None)
    df = {"渡轮": 10, "书店": 1000}
    assert weights == weigh.tf_idf(["渡轮", "书店", "渡轮", "票价"], 1000, df)
    assert fingerprint("渡轮书店", recipe=recipe).recipe_id == recipe.id


def test_a_table_of_other_units_is_refused(tmp_path):
    """Words of one segmenter say nothing about another's."""
    path = tmp_path / "t.idf"
    count_idf(TEXTS).save(path)
    recipe = load_recipe("keywords").replace(
        segment={"units": "shingles"}, weigh={"idf": str(path)}
    )
    with pytest.raises((InputError, ParameterError), match=r"words.*shingles:2|shingles:2.*words"):
        fingerprint("渡轮书店", recipe=recipe)


def test_recipes_without_frequencies_count_none():
    with pytest.raises(ParameterError, match=r"'recipe'.*document frequency.*Got 'characters'"):
        count_idf(TEXTS, recipe="characters")


# The minimum document frequency: words of few documents are left out.

FERRIES = ["渡轮 码头 票价 船长", "渡轮 码头 票价", "渡轮 码头", "渡轮 书店 书店", "书架", "书桌"]
DF = {"渡轮": 4, "码头": 3, "票价": 2, "船长": 1, "书店": 1, "书架": 1, "书桌": 1}


def keywords(least, idf="corpus", min_features=1):
    return load_recipe("keywords").replace(
        weigh={"idf": str(idf), "min_document_frequency": least},
        decide={"min_features": min_features},
    )


def expected(text, least):
    """Return the fingerprint of the twin, 0 where no word is left."""
    words = weigh.frequent(text.split(), DF, least)
    features = weigh.tf_idf(words, len(FERRIES), DF)
    return sketch.simhash(features, 64, sketch.xxh3, 0) if features else 0


@pytest.mark.parametrize("least", [1, 2, 3, 4, 5])
def test_fingerprints_are_the_twins(least, tmp_path):
    """Of the corpus' own table and of a saved one: the bound is inclusive."""
    table = tmp_path / "t.idf"
    counted = count_idf(FERRIES, recipe=keywords(least))
    assert dict(counted.counts) == DF, "a table has all words, whatever its user leaves out"
    counted.save(table)
    values = [expected(text, least) for text in FERRIES]
    for idf in ("corpus", table):
        assert fingerprint_many(FERRIES, recipe=keywords(least, idf))[:, 0].tolist() == values
    item = fingerprint(FERRIES[0], recipe=keywords(least, table))
    assert (0 if item is None else item.value) == values[0]


def test_word_missing_in_the_table_counts_as_in_one_document(tmp_path):
    table = tmp_path / "t.idf"
    count_idf(FERRIES).save(table)
    for least, words in ((1, {"渡轮", "灯塔"}), (2, {"渡轮"})):
        core = compiled(keywords(least, table))
        assert {row[0] for row in core.features("渡轮灯塔", None)} == words


def test_length_is_among_the_remaining_words(tmp_path):
    """In `improved`, a word that is left out has no say in what the others weigh."""
    texts = ["渡轮 码头", "渡轮 码头", "渡轮 码头 图书馆"]
    table = tmp_path / "t.idf"
    count_idf(texts).save(table)
    recipe = load_recipe("improved").replace(weigh={"idf": str(table), "min_document_frequency": 2})
    core = compiled(recipe)
    assert core.features("渡轮码头图书馆", None) == core.features("渡轮码头", None)


@pytest.mark.parametrize("saved", [False, True])
def test_texts_without_a_remaining_word_equal_only_themselves(saved, tmp_path):
    """They have no fingerprint, and equal only an identical text, in both ways alike."""
    texts = [*FERRIES, "书架", "书架！", "渡轮 码头 船长"]
    idf = "corpus"
    if saved:
        idf = tmp_path / "t.idf"
        count_idf(texts).save(idf)
    recipe = keywords(4, idf)
    result = dedup(texts, recipe=recipe, max_distance=0)
    # The first two have the same words left, the rest of the words are rare.
    assert result.keep.tolist() == [True, False, False, True, True, True, False, True, False]
    assert result.summary.without_features == 4


def test_number_of_features_is_the_number_of_remaining_words(tmp_path):
    table = tmp_path / "t.idf"
    count_idf(FERRIES).save(table)
    core = compiled(keywords(3, table))
    assert [core.sketch(text, None)[0] for text in FERRIES] == [2, 2, 2, 1, 0, 0]
    # With fewer words left than min_features, texts are no duplicates.
    similar = [FERRIES[0] + " 灯塔", FERRIES[0] + " 书架"]
    assert dedup(similar, recipe=keywords(3, table)).keep.tolist() == [True, False]
    strict = keywords(3, table, min_features=3)
    assert dedup(similar, recipe=strict).keep.tolist() == [True, True]


def test_a_single_text_has_no_corpus_to_count():
    """The bundled table counts no documents, so nothing is left out with it."""
    recipe = keywords(3).for_single_texts()
    assert (recipe.weigh.idf, recipe.weigh.min_document_frequency) == ("bundled", 1)
    result = fingerprint(FERRIES[0], recipe=keywords(3))
    assert result.recipe_id == recipe.id == keywords(1).for_single_texts().id


# Titles: where they come from, and that they reach the weights.

TEXT = "渡口的新渡轮下周试航，船长说票价两元，旧渡轮送进博物馆。"
TITLE = "渡轮进博物馆"


def test_title_adds_to_its_words():
    recipe = load_recipe("improved").for_single_texts()
    core = compiled(recipe)
    plain = weights_of(core, TEXT, None)
    titled = weights_of(core, TEXT, TITLE)
    raised = {word for word in plain if titled[word] > plain[word]}
    assert raised == {word for word in plain if word in TITLE} >= {"渡轮", "博物馆"}
    assert all(titled[word] == plain[word] for word in plain.keys() - raised)


def test_titles_change_fingerprints():
    plain, titled = (
        fingerprint(TEXT, recipe="improved"),
        fingerprint(TEXT, title=TITLE, recipe="improved"),
    )
    assert plain != titled
    assert plain.recipe_id == titled.recipe_id
    rows = fingerprint_many([TEXT, TEXT], titles=[None, TITLE], recipe="improved")
    assert (rows[0] != rows[1]).any()
    assert compare(TEXT, TEXT, title_b=TITLE, recipe="improved").distance == plain.distance(titled)


def test_other_recipes_do_not_see_titles():
    assert fingerprint(TEXT, title=TITLE) == fingerprint(TEXT)


@pytest.mark.parametrize("field", ["title", "headline"])
def test_titles_of_records(field):
    records = [{"text": TEXT, field: TITLE}, {"text": TEXT}, {"text": TEXT, field: TITLE}]
    options = {"recipe": "improved", "max_distance": 0}
    options |= {} if field == "title" else {"title_field": field}
    assert dedup(records, **options).keep.tolist() == [True, True, False]
    if field != "title":
        del options["title_field"]
        assert dedup(records, **options).keep.tolist() == [True, False, False]


def test_the_first_line_as_title():
    text = f"\n {TITLE} \n{TEXT}"
    options = {"recipe": "improved", "max_distance": 0}
    given = dedup([{"text": text, "title": TITLE}, {"text": text}], **options)
    assert given.keep.tolist() == [True, True]
    both = [{"text": text}, {"text": text}]
    taken = dedup(both, title_from_first_line=True, **options)
    assert taken.keep.tolist() == [True, False]


def test_titles_must_be_as_many_as_texts():
    with pytest.raises(ParameterError, match=r"'titles'.*one title per text, 2 of them. Got"):
        fingerprint_many(["a", "b"], titles=["a"])


def test_the_same_text_under_two_titles_is_a_duplicate_where_texts_decide():
    text = "渡口的新渡轮下周一试航，票价三元，旅客须提前半小时到码头排队候船，雨天停航一日。" * 2
    comparison = compare(
        text,
        text,
        title_a="渡口 新渡轮",
        title_b="码头 排队 雨天",
        recipe="improved",
        measure="content",
        threshold=0.5,
        max_distance=0,
    )
    assert comparison.distance > 0
    assert comparison.duplicate


@pytest.mark.parametrize("batch_records", [1, 2, 100])
def test_first_lines_are_taken_record_by_record(batch_records):
    recipe = load_recipe("improved").for_single_texts()
    text = f"城市公园\n{TEXT}"
    rows = [{"text": text}, {"text": text, "title": "别的"}, {"text": text}]
    batches = open_table(rows).batches(titles=True, batch_records=batch_records)
    options = RunOptions({"recipe": recipe, "title_from_first_line": True}, compares=False)
    pipeline = Pipeline(options)
    collected = DocumentSet(recipe, pipeline.corpus(recipe))
    assert sum(map(len, pipeline.push(batches, collected))) == len(rows)
    collected.corpus.finish()
    words = collected.corpus.fingerprints().ravel().tolist()
    assert words[0] == words[2] != words[1]
