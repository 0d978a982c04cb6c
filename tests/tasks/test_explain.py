"""What explain says is what the fingerprint, the twins and compare say."""

import json

import pytest
from tests.reference import sketch

from neardup import InputError, compare, count_idf, explain, fingerprint, load_recipe

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
def test_two_texts(recipe):
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


@pytest.mark.parametrize(
    ("recipe", "name", "printed"),
    [
        ("classic", None, None),
        ("improved", "bundled", "bundled table; in a collection, counted there"),
    ],
)
def test_the_table_of_document_frequencies_is_named(recipe, name, printed, capsys):
    from neardup.cli.explain import run

    result = explain(A, recipe=recipe)
    assert result.frequencies == result.to_dict()["frequencies"] == name
    options = {"recipe": recipe, "max_distance": None, "title_a": None, "title_b": None}
    run(a=A, b=None, encoding=None, bits=None, settings=[], all=False, json=False, **options)
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[:2])
    assert rows.get("idf") == printed


def test_a_table_of_ones_own_is_named(tmp_path):
    path = tmp_path / "own.idf"
    count_idf([{"text": A}], recipe="keywords").save(path)
    recipe = load_recipe("keywords").replace(weigh={"idf": str(path)})
    assert explain(A, recipe=recipe).frequencies == str(path)


@pytest.mark.parametrize("call", [explain, compare])
def test_a_text_without_tags_is_named(call):
    tagged = "渡轮/n 停靠/v 码头/n"
    for texts, name in ((("渡轮停靠码头", tagged), "a"), ((tagged, "渡轮"), "b")):
        with pytest.raises(InputError, match=rf"^{name}: has no words with tags .*'bkdr'"):
            call(*texts, recipe="bkdr")
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


def test_the_command_prints_blank_words_in_quotes(capsys):
    from neardup.cli.explain import run

    text = "渡轮 停航\n\n"
    options = {"encoding": None, "bits": None, "settings": [], "all": False, "json": False}
    run(a=text, b=text, **options, recipe=load_recipe("news"))
    out = capsys.readouterr().out
    assert "words        渡轮/n ' '/x 停航/v " in out
    assert "\n' '   x  " in out


def test_the_command_prints_no_controls_of_a_text(capsys):
    from neardup.cli.explain import run

    text = "渡轮\x1b[31m停航"
    run(
        a=text,
        b=None,
        encoding=None,
        bits=None,
        settings=[],
        all=False,
        json=False,
        recipe=load_recipe("news"),
    )
    assert "\x1b" not in capsys.readouterr().out
