"""Units of a text that is already cut, with a separator between its words."""

import json

import pytest
from tests.reference import sketch

from neardup import compare, count_idf, dedup, explain, fingerprint, load_recipe

#: The recipe that the guide pastes the printed words into.
NEWS_WORDS = load_recipe("news-words")


def separated(by):
    return load_recipe("news").replace(segment={"units": "separated", "by": by})


@pytest.mark.parametrize(
    ("by", "text", "words"),
    [
        (" ", "渡轮 停靠 码头", ["渡轮", "停靠", "码头"]),
        (" ", "渡轮  停靠", ["渡轮", "", "停靠"]),
        (",", "渡轮, ,停靠", ["渡轮", " ", "停靠"]),
        (",", "渡轮，停靠", ["渡轮，停靠"]),
        (", ", "渡轮, 停靠,码头", ["渡轮", "停靠,码头"]),
        ("|", "|渡轮|", ["", "渡轮", ""]),
        ("aa", "aaa", ["", "a"]),
    ],
)
def test_everything_between_two_separators_is_a_word(by, text, words):
    recipe = separated(by)
    assert explain(text, recipe=recipe).a.words == tuple((word, "") for word in words)
    expected = {word: words.count(word) for word in words}
    votes = sketch.simhash(expected, 64, sketch.news, tie=1)
    assert fingerprint(text, recipe=recipe).value == votes


def test_every_task_reads_it():
    texts = ["渡轮|停靠|码头", "渡轮|停靠|码头|", "天气|预报|有雨"]
    recipe = separated("|")
    kept = dedup(texts, recipe=recipe, max_distance=12).kept
    assert list(kept) == [texts[0], texts[2]]
    assert compare(*texts[:2], recipe=recipe).bits == 64
    weighed = load_recipe("keywords").replace(segment={"units": "separated", "by": "|"})
    counted = count_idf([{"text": text} for text in texts], recipe=weighed)
    assert (counted.units, counted.counts["渡轮"]) == ("separated:|", 2)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.shared
def test_the_published_integers_from_the_printed_words(shared, end):
    """As a reader pastes them, whatever their editor ends the file with."""
    golden = json.loads((shared / "golden" / "news" / "vectors.json").read_text("utf-8"))
    pasted = [",".join(document["tokens"]) + end for document in golden["documents"]]
    first, second = (fingerprint(text, recipe=NEWS_WORDS) for text in pasted)
    assert (first.value, second.value) == (2307805473197, 2307805456781)
    assert first.distance(second) == 2
    assert first.source_blocks(3) == (46487, 14282)
    verdict = compare(*pasted, recipe=NEWS_WORDS).verdict
    assert verdict == "Duplicates: 2 of 64 bits differ, at most 3 allowed."


@pytest.mark.shared
def test_guide_describes_the_printed_words(shared, root):
    """How many words there are, where the blanks are, and what is full-width."""
    page = (root / "docs" / "guide" / "sources.md").read_text("utf-8")
    golden = json.loads((shared / "golden" / "news" / "vectors.json").read_text("utf-8"))
    texts = [document["tokens"] for document in golden["documents"]]
    counts = " and ".join(str(len(words)) for words in texts)
    assert f"{counts} words" in page
    for words in texts:
        blanks = [at for at, word in enumerate(words) if word == " "]
        assert [words[at - 1] for at in blanks] == ["电", "george", "."]
        assert not {",", ";", "（", "）", ""} & set(words)
        assert {"，", "；", "(", ")", "-"} <= set(words)
