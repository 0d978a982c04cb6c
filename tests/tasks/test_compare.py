"""Two texts compared and explained: the verdict is the rule's, and so are its reasons."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.strategies import LONG_BASES, corpora, texts
from tests.reference import sketch

from neardup import InputError, compare, count_idf, dedup, explain, fingerprint, load_recipe, pairs
from neardup.base.messages import in_language

BULLETIN = (
    "水文站通报，今晨8时闸口水位13.5米，比昨日上涨十三厘米。请沿岸单位检查泵房、涵洞和仓库，"
    "夜间安排3人值守。渡船停开，复航时间另行通知。"
)
EDITED = BULLETIN.replace("渡船停开", "渡轮暂停")
OTHER_NUMBERS = BULLETIN.replace("8时", "9时").replace("13.5米", "12.1米").replace("十三厘", "2厘")


def test_replaced_numbers_lower_the_similarity():
    """8时, 13.5米 and 十三厘 are others in the other bulletin; 3人 is the same."""
    comparison = compare(BULLETIN, OTHER_NUMBERS)
    evidence = comparison.evidence
    assert (evidence.numbers_agree, evidence.numbers_differ, evidence.numbers_replaced) == (1, 3, 3)
    assert evidence.aligned == 54 / 57
    threshold = load_recipe("general").decide.threshold
    assert evidence.weighted_resemblance == comparison.resemblance > threshold
    assert evidence.number_penalty == comparison.resemblance - comparison.similarity > 0
    assert (comparison.measure, comparison.duplicate) == ("content(5)", False)
    assert not evidence.short
    assert "3 numbers are replaced by others" in comparison.verdict
    assert "3 处数字换成了别的" in in_language(comparison.verdict, "zh")
    by_shingles = compare(BULLETIN, OTHER_NUMBERS, recipe="shingle", threshold=0.5)
    assert by_shingles.duplicate
    assert by_shingles.evidence.number_penalty == evidence.number_penalty
    assert "number" not in by_shingles.verdict


@given(a=texts(), b=texts())
def test_content_is_at_most_the_weighted_resemblance_and_goes_by_the_alignment(a, b):
    comparison = compare(a, b)
    evidence = comparison.evidence
    if comparison.measure == "content(5)" and not evidence.short:
        without_numbers = comparison.similarity + evidence.number_penalty
        assert without_numbers <= evidence.weighted_resemblance + 1e-9
        if evidence.share == 1:
            assert without_numbers == pytest.approx(evidence.weighted_resemblance)
    else:
        assert evidence.number_penalty == 0
    assert 0 <= evidence.aligned <= 1
    assert min(evidence.core_a, evidence.core_b) >= 0
    assert max(evidence.share, evidence.core_a, evidence.core_b) <= 1
    assert 0 <= evidence.recurring <= evidence.replacements <= evidence.gaps
    assert 0 <= evidence.numbers_replaced <= evidence.numbers_differ


@pytest.mark.parametrize(
    ("b", "similarity", "reason"),
    [
        (
            "北岸的渡口停航三天！",
            1,
            "at least 0.4 needed; a text is short, so letters and digits decide.",
        ),
        ("北岸的渡口停航三天，改", 9 / 10, "letters and digits decide."),
        ("北岸的渡口停航三天，改乘车", 9 / 12, "letters and digits decide."),
        ("北岸的渡口停航三天，改乘汽车", 0, "Not duplicates: 100% of the shorter text agrees"),
        ("北岸的渡口停航四天", 0, "Not duplicates: a text is short, and a number differs."),
        (
            "北岸的渡船停航三天",
            0,
            "Not duplicates: 89% of the shorter text agrees; needed: an unbroken",
        ),
    ],
)
def test_short_texts_are_compared_by_their_letters(b, similarity, reason):
    """At least three quarters of one text, in one piece."""
    comparison = compare("北岸的渡口停航三天", b)
    assert comparison.evidence.short
    assert (comparison.similarity, comparison.measure) == (similarity, "content(5)")
    assert comparison.duplicate == (similarity > 0)
    assert reason in comparison.verdict
    assert "短" in in_language(comparison.verdict, "zh")


collections = st.one_of(corpora(max_documents=3), corpora(max_documents=3, known=LONG_BASES))
collections = collections.filter(lambda many: len(many) >= 2)


@pytest.mark.parametrize("name", ["shingle", "general", "minhash", "characters", "classic"])
@given(many=st.one_of(collections, st.lists(texts(), min_size=2, max_size=2)))
def test_compare_agrees_with_dedup(name, many):
    """Two texts alone have nothing in common that many have."""
    a, b = many[:2]
    comparison = compare(a, b, recipe=name)
    row = pairs([a, b], recipe=name).table.to_pylist()
    if row:
        assert comparison.duplicate
        assert comparison.similarity == row[0]["similarity"]
    elif name in ("shingle", "classic"):
        # Their searches miss nothing.
        assert not comparison.duplicate


#: Fingerprints alone are compared by distance, never by a threshold.
KINDS_AND_MEASURES = [
    (name, measure)
    for name in ("characters", "shingle", "general", "minhash")
    for measure in ("resemblance", "content", "sketch")
    if (name, measure) != ("characters", "sketch")
]


@pytest.mark.parametrize(("name", "measure"), KINDS_AND_MEASURES)
@pytest.mark.parametrize(("shared", "union"), [(30, 60), (48, 60), (60, 60)])
def test_the_threshold_is_inside(name, measure, shared, union):
    """At, just under and just over, for each measure and kind of sketch."""
    recipe = load_recipe(name).replace(
        normalize={"fold": ()},
        segment={"units": "shingles", "k": 1},
        decide={"measure": measure, "shingle": 1},
    )
    alphabet = [chr(0x4E10 + index) for index in range(union)]
    only_a = (union - shared) // 2
    a = "".join(alphabet[: shared + only_a])
    b = "".join(alphabet[:shared] + alphabet[shared + only_a :])
    exactly = compare(a, b, recipe=recipe).similarity
    if measure == "resemblance" or (measure, recipe.sketch.kind) == ("sketch", "sample"):
        assert exactly == shared / union
    # All pairs are candidates; signatures as these are share a band.
    widest = {"max_distance": 128} if name == "characters" else {}

    def is_dropped(threshold):
        options = {"threshold": threshold, "recipe": recipe, **widest}
        dropped = dedup([a, b], **options).removed.num_rows
        assert pairs([a, b], **options).table.num_rows == dropped
        comparison = compare(a, b, recipe=recipe, threshold=threshold)
        assert comparison.duplicate == bool(dropped)
        assert comparison.threshold == threshold
        # Rounded, the similarity is still on its side of the bound.
        shown = float(comparison.verdict.split("similarity ")[1].split()[0])
        assert (shown >= threshold) == bool(dropped)
        return bool(dropped)

    assert is_dropped(exactly)
    assert is_dropped(np.nextafter(exactly, 0))
    if exactly < 1:
        assert not is_dropped(np.nextafter(exactly, 1))


@pytest.mark.parametrize("change", [-1, 0, 1])
def test_the_distance_is_inside(change):
    alone = compare(BULLETIN, EDITED, recipe="characters")
    bits, most = alone.distance, alone.distance + change
    found = compare(BULLETIN, EDITED, recipe="characters", max_distance=most)
    assert found.duplicate == (change >= 0)
    word, chinese = ("Duplicates", "重复") if change >= 0 else ("Not duplicates", "不重复")
    assert found.verdict == f"{word}: {bits} of 128 bits differ, at most {most} allowed."
    assert in_language(found.verdict, "zh").startswith(f"{chinese}：128 位中有 {bits} 位不同")
    assert (found.measure, found.threshold, found.max_distance) == ("equal_bits", None, most)
    # Both bounds must hold.
    for least in (alone.similarity, float(np.nextafter(alone.similarity, 1))):
        both = {"max_distance": most, "threshold": least, "recipe": "characters"}
        is_inside = change >= 0 and least == alone.similarity
        assert compare(BULLETIN, EDITED, **both).duplicate is is_inside


def test_verdict_without_a_bound_gives_its_reason():
    for recipe in ("general", "shingle"):
        few = compare("灯塔", "灯塔山", recipe=recipe)
        assert "fewer than 5 features" in few.verdict
    assert "identical" in compare("灯塔", "灯塔 ").verdict
    unbounded = load_recipe("general").replace(decide={"threshold": None})
    assert "neither a threshold" in compare(BULLETIN, BULLETIN, recipe=unbounded).verdict


# The parts of a fingerprint: words, weights and votes.

A = "总之，市图书馆将于周六上午九点重新开放，读者凭身份证入馆。"
B = "（本报讯）" + A
BY_WORDS = ("classic", "keywords", "improved", "news")


@pytest.mark.parametrize("recipe", BY_WORDS)
def test_sums_equal_the_twin_and_give_the_fingerprint(recipe):
    text = explain(A, recipe=recipe).a
    weights = {feature.word: feature.weight for feature in text.features}
    hashes = {feature.word: feature.hash for feature in text.features}
    bits = text.fingerprint.bits
    assert list(text.sums) == sketch.sums(weights, bits, lambda word, _: hashes[word])
    function = {"news": sketch.news}.get(recipe, sketch.xxh3)
    assert all(value == function(word, bits) for word, value in hashes.items())
    assert text.fingerprint == fingerprint(A, recipe=recipe)


def test_the_factors_of_improved_make_the_score():
    text = explain(A, recipe="improved", title_a="图书馆重新开放").a
    features = {feature.word: feature for feature in text.features}
    marked, noun = features["总之"], features["读者"]
    assert (marked.mark, noun.mark, features["开放"].title) == (5, 0, 5)
    assert (noun.tag[0], noun.part_of_speech) == ("n", 3)
    for item in text.features:
        terms = 1 + item.part_of_speech + item.length + item.mark + item.title
        assert item.score == pytest.approx(item.tf * item.idf * terms)
    titled = explain("图书馆重新开放\n" + A, recipe="improved", title_from_first_line=True).a
    assert {f.word: f.title for f in titled.features}["开放"] == 5
    table = text.to_table()
    assert table.num_rows == len(features)
    assert table["hash"][0].as_py() == f"{text.features[0].hash:016x}"


@pytest.mark.parametrize("recipe", BY_WORDS)
def test_explained_bits_are_the_distance(recipe):
    result = explain(A, B, recipe=recipe)
    verdict = compare(A, B, recipe=recipe)
    assert result.verdict == verdict.verdict
    assert len(result.differing) == verdict.distance
    assert set(result.shared) <= {feature.word for feature in result.b.features}
    for bit in result.differing:
        rises = bit.sum_b > bit.sum_a
        assert bit.decisive
        assert all((change > 0) == rises for _, change in bit.decisive)
    json.dumps(result.to_dict())


def test_share_of_a_word_is_over_all_features():
    few = load_recipe("keywords").replace(weigh={"top": 3})
    all_of_them = load_recipe("keywords").replace(weigh={"top": 1000})
    left, every = (explain(A, recipe=recipe).a.features for recipe in (few, all_of_them))
    assert len(left) == 3 < len(every)
    assert [feature.tf for feature in left] == [feature.tf for feature in every[:3]]
    assert sum(feature.tf for feature in every) == pytest.approx(1)
    # What the weights vote is the same, whatever is left out.
    assert [feature.weight for feature in left] == [feature.weight for feature in every[:3]]


def test_the_table_of_document_frequencies_is_named(tmp_path):
    path = tmp_path / "own.idf"
    count_idf([{"text": A}], recipe="keywords").save(path)
    own = load_recipe("keywords").replace(weigh={"idf": str(path)})
    for recipe, name in (("classic", None), ("improved", "bundled"), (own, str(path))):
        result = explain(A, recipe=recipe)
        assert result.frequencies == result.to_dict()["frequencies"] == name


@pytest.mark.parametrize("call", [explain, compare])
def test_a_text_without_tags_is_named(call):
    tagged = "渡轮/n 停靠/v 码头/n"
    for pair, name in ((("渡轮停靠码头", tagged), "a"), ((tagged, "渡轮"), "b")):
        with pytest.raises(InputError, match=rf"^{name}: has no words with tags .*'bkdr'"):
            call(*pair, recipe="bkdr")
    with pytest.raises(InputError, match=r"^b: must contain text\. It is empty\."):
        call(tagged, " \n", recipe="bkdr")
    # Tokens that the recipe drops are tokens.
    assert call(tagged, "，/wd", recipe="bkdr").verdict.startswith("Not duplicates: ")


def test_recipes_without_words_and_texts_without_features():
    sample = explain(A, recipe="general").a
    assert (sample.words, sample.fingerprint, sample.sums) == ((), None, ())
    assert sample.values
    assert len(explain(A, recipe="minhash").a.values) == 128
    nothing = explain("。。。", recipe="classic").a
    assert (nothing.features, nothing.fingerprint) == ((), None)
    with pytest.raises(InputError, match=r"^a: expected Unicode text, .* U\+D800"):
        explain("\ud800")


def test_the_command_prints_blank_words_in_quotes_and_no_controls(capsys):
    from neardup.cli.explain import run

    options = {"encoding": None, "bits": None, "settings": [], "all": False, "json": False}
    for text in ("渡轮 停航\n\n", "渡轮\x1b[31m停航"):
        run(a=text, b=text, **options, recipe=load_recipe("news"))
    out = capsys.readouterr().out
    assert "words        渡轮/n ' '/x 停航/v " in out
    assert "\n' '   x  " in out
    assert "\x1b" not in out
