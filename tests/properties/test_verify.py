"""Stage verify against its twin."""

from hypothesis import example, given
from hypothesis import strategies as st
from tests.hostile import texts
from tests.reference import verify as twin

from neardup import compare, load_recipe
from neardup.recipe.assets import compiled


@example("", " ", 1)
@given(texts(), texts(), st.sampled_from((1, 2, 5, 9)))
def test_compare_is_the_twin(a, b, k):
    recipe = load_recipe("characters").replace(decide={"shingle": k})
    core = compiled(recipe)
    x, y = core.normalize(a), core.normalize(b)
    comparison = compare(a, b, recipe=recipe)
    # Where nothing but white space is in both, they must be identical as they came.
    is_nothing = not (a.strip() or b.strip())
    assert comparison.resemblance == (float(a == b) if is_nothing else twin.resemblance(x, y, k))
    if x and y:
        assert comparison.containment_a == twin.containment(x, y, k)
        assert comparison.containment_b == twin.containment(y, x, k)


@given(texts(), texts())
def test_compare_is_symmetric(a, b):
    result, turned = compare(a, b), compare(b, a)
    for name in ("similarity", "resemblance", "distance"):
        assert getattr(result, name) == getattr(turned, name)
    assert result.containment_a == turned.containment_b
    assert result.containment_b == turned.containment_a


@given(texts())
def test_a_text_is_itself(text):
    comparison = compare(text, text)
    assert (comparison.similarity, comparison.resemblance) == (1.0, 1.0)
    assert comparison.distance in (0, None)
