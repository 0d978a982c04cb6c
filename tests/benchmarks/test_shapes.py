"""The shapes of the benchmarks: equal draws, and a truth that holds by construction."""

import pytest
from rapidfuzz.distance import Levenshtein


@pytest.fixture
def shapes(module, monkeypatch, write):
    """The module, with sentences of its own."""
    found = module("shapes")
    chinese = [f"{write(f'shape{n}', 1)}第{n}号渡口的船今天开往对岸的码头。" for n in range(400)]
    english = [
        f"Ship number {n} leaves the {n % 7} th harbour for the far shore." for n in range(400)
    ]
    monkeypatch.setattr(found, "chinese", lambda: chinese)
    monkeypatch.setattr(found, "own", lambda: chinese)
    monkeypatch.setattr(found, "english", lambda: english)
    return found


def test_the_same_call_makes_the_same_documents(shapes):
    for name in shapes.SHAPES:
        first, second = (list(getattr(shapes.Maker(name, 200), name)()) for _ in range(2))
        assert first == second
        assert len(first) == {"recombined": 400, "long": 4}.get(name, 200)


@pytest.mark.parametrize("name", ["reposts", "versions", "long"])
def test_a_copy_differs_by_few_letters_and_no_digit(shapes, name):
    families = {}
    for family, text in getattr(shapes.Maker(name, 500), name)():
        families.setdefault(family, []).append(text)
    several = [texts for texts in families.values() if len(texts) > 1]
    assert several
    for first, *others in several:
        for text in others:
            assert 0 <= Levenshtein.distance(first, text) <= 0.09 * len(first)
            assert [c for c in text if c.isdigit()] == [c for c in first if c.isdigit()]


def test_documents_of_one_template_have_a_sentence_each(shapes):
    texts = [text for _, text in shapes.Maker("template", 100).template()]
    posts = [text for _, text in shapes.Maker("posted_sentence", 100).posted_sentence(20)]
    assert len(set(texts)) == len(set(posts)) == 100
    assert len({text[:100] for text in texts}) == 1
    assert len({text.split("\n")[0] for text in posts}) == 5


def test_posts_with_a_line_are_copies(shapes):
    families = {}
    for family, text in shapes.Maker("posted_line", 100).posted_line(20):
        one, other = text.split("\n")
        line, whole = sorted((one, other), key=len)
        assert 5 <= len(line) <= 15
        families.setdefault(family, set()).add(whole)
    assert [len(texts) for texts in families.values()] == [1] * 5


def test_sentences_of_their_own_are_no_copies_of_each_other(module, monkeypatch):
    found = module("shapes")
    sentences = [
        "今天开往对岸的渡船因为大风停航。",
        "今天开往对岸的渡船因为大雾停航。",
        "来源：渡口报",
        "码头上的人忙着卸货。",
    ]
    monkeypatch.setattr(found, "chinese", lambda: sentences)
    found.own.cache_clear()
    assert found.own() == [sentences[0], sentences[3]]
