"""Re-posts: the same article with a line added, the same for the same seed and id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import ParameterError
from neardup.lab import RepostModel

ARTICLE = "渡口的新渡轮下周一试航，票价两元，末班船推迟到夜里十一点。" * 30


def made(count=2000, text=ARTICLE, seed=0):
    model = RepostModel(seed=seed)
    return [model.copy(text, str(index)) for index in range(count)]


@given(st.text(), st.text(max_size=5), st.integers(0, 9))
def test_the_article_is_left_alone(text, id, seed):
    result = RepostModel(seed=seed).copy(text, id)
    assert text in result
    assert result == RepostModel(seed=seed).copy(text, id)


def test_where_lines_are_added_and_how_much():
    added = [copy.split(ARTICLE) for copy in made()]
    where = [(bool(head), bool(tail)) for head, tail in added]
    shares = {place: where.count(place) / len(where) for place in set(where)}
    assert shares[False, False] == pytest.approx(0.07, abs=0.02)
    for place in ((True, False), (False, True), (True, True)):
        assert shares[place] == pytest.approx(0.31, abs=0.04)
    lengths = [len(head + tail) for head, tail in added]
    # 1.6 % of 900 characters, the median of the news they are made for.
    assert sum(lengths) / len(lengths) == pytest.approx(14, abs=2)
    assert max(lengths) < 45


def test_lines_are_in_the_language_of_the_text():
    article = "The harbour master counted the boats twice on Monday. " * 20
    lines = "".join(copy.replace(article, "") for copy in made(200, article))
    assert "Source: " in lines
    assert lines.isascii()


def test_seed_and_id_decide():
    assert made(20) == made(20)
    assert made(20) != made(20, seed=1)
    assert len(set(made(20))) > 10


@pytest.mark.parametrize("seed", [-1, 0.5, "1"])
def test_bad_seeds(seed):
    with pytest.raises(ParameterError, match="'seed' parameter must be"):
        RepostModel(seed=seed)


def test_bad_texts():
    with pytest.raises(ParameterError, match="'text' parameter must be"):
        RepostModel().copy(3, "a")
    with pytest.raises(ParameterError, match="'id' parameter must be"):
        RepostModel().copy("a", 3)
