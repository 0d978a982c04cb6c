"""Titles: where they come from, and that they reach the weights."""

import pytest
from tests.weights import weights_of

from neardup import ParameterError, compare, dedup, fingerprint, fingerprint_many, load_recipe
from neardup.readers import open_table
from neardup.recipe.assets import compiled
from neardup.run.document_set import DocumentSet
from neardup.run.pipeline import Pipeline
from neardup.run.run_options import RunOptions

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
