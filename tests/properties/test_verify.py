"""Stage verify against its twin."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.hostile import texts
from tests.reference import segment as shingled
from tests.reference import verify as twin

from neardup import _core, compare, load_recipe
from neardup.recipe.assets import compiled


@given(texts(), texts(), st.sampled_from((1, 2, 5, 9)))
def test_overlap_is_that_of_sets(a, b, k):
    first, second = set(shingled.shingles(a, k)), set(shingled.shingles(b, k))
    expected = len(first), len(second), len(first & second)
    assert _core.overlap(a, b, shingle=k) == expected


@example("", " ", 1)
@given(texts(), texts(), st.sampled_from((1, 3, 5)))
def test_compare_is_the_twin(a, b, k):
    recipe = load_recipe("characters").replace(decide={"shingle": k})
    core = compiled(recipe)
    x, y = core.normalize(a), core.normalize(b)
    found = compare(a, b, recipe=recipe)
    # Where nothing but white space is in both, they must be identical as they came.
    is_nothing = not (a.strip() or b.strip())
    assert found.resemblance == (float(a == b) if is_nothing else twin.resemblance(x, y, k))
    if x and y:
        assert found.containment_a == twin.containment(x, y, k)
        assert found.containment_b == twin.containment(y, x, k)


@given(texts(), texts())
def test_compare_is_symmetric(a, b):
    one, other = compare(a, b), compare(b, a)
    assert (one.similarity, one.resemblance, one.distance) == (
        other.similarity,
        other.resemblance,
        other.distance,
    )
    assert (one.containment_a, one.containment_b) == (other.containment_b, other.containment_a)


@given(texts())
def test_a_text_is_itself(text):
    found = compare(text, text)
    assert (found.similarity, found.resemblance) == (1.0, 1.0)
    assert found.distance in (0, None)


def test_by_hand():
    """Five shingles of four characters in one, four in the other, three shared."""
    recipe = load_recipe("characters").replace(decide={"shingle": 4})
    found = compare("abcdefgh", "abcdefX", recipe=recipe)
    assert found.resemblance == pytest.approx(3 / 6)
    assert found.containment_a == pytest.approx(3 / 5)
    assert found.containment_b == pytest.approx(3 / 4)
