"""Stages candidates to keep, for samples and signatures: the one rule against its twin."""

import random
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile import LONG_BASES, corpora
from tests.reference import content, minhash, postings, recipes, sample, verify
from tests.reference import dedup as twin
from tests.reference.sketch import xxh3

from neardup import compare, dedup, load_recipe, pairs
from neardup.recipe.assets import compiled

pytestmark = pytest.mark.slow

NAMES = ("shingle", "general", "minhash", "shingle-sample", "containment", "aligned")
#: Shorter shingles, so that short texts too have enough of them.
SHORT = {"segment": {"k": 3}, "decide": {"shingle": 3, "min_features": 4}}
RECIPES = {name: load_recipe(name).replace(**SHORT) for name in NAMES}
THRESHOLDS = (0.2, 0.4, 0.5, 2 / 3, 0.8, 1.0)
#: Kept documents that close a list of keys, and documents where `pairs` files all.
LONGEST, LONGEST_OF_ALL = 32, 10_000


class Judge:
    """Similarity of two documents by the twins.

    With `searched`, documents are compared that the recipe's search brings
    together, as the twins say; without, all are. Lists of keys are closed at
    `longest` documents.
    """

    def __init__(self, many, recipe, threshold, *, plan, searched=True, longest=LONGEST):
        core = compiled(recipe)
        self.raw, self.recipe, self.threshold = many, recipe, threshold
        self.plan, self.searched = plan, searched
        self.texts = [core.normalize(text) for text in many]
        filters = (recipe.segment.k, recipe.weigh.drop_punctuation)
        self.features = [recipes.shingles(text, *filters) for text in many]
        self.sketches = [self.sketch(units) for units in self.features]
        #: The first document of the same text, which is searched for all of them.
        self.first_of = []
        first = {}
        for at in range(len(many)):
            self.first_of.append(first.setdefault(self.identity(at), at))
        # Each text counts once, however often it comes.
        self.counted = [text for text, _ in first]
        self.table = content.commonness(self.counted, recipe.decide.shingle, 8_000_000)
        self.known = {}
        self.postings = None
        if recipe.sketch.kind == "sample" and recipe.sketch.size:
            samples = [keys for _, keys in self.sketches]
            self.postings = postings.Postings(
                samples, self.least(threshold), longest, takes_all=longest == LONGEST_OF_ALL
            )

    def least(self, threshold):
        """Return the least resemblance that the threshold implies."""
        decide = self.recipe.decide
        if decide.measure == "containment":
            return 0
        if decide.measure == "aligned":
            least = threshold**decide.shingle / (2 - threshold**decide.shingle)
            return least if least >= 0.15 else 0
        return threshold

    def sketch(self, units):
        settings = self.recipe.sketch
        if settings.kind == "minhash":
            return minhash.signature(units, settings.num_perm)
        return sample.sample(units, settings.size)

    def identity(self, document):
        """Texts without features are compared as they came."""
        return self.texts[document], None if self.features[document] else self.raw[document]

    def has_sketch(self, document):
        return len(self.features[document]) >= self.recipe.decide.min_features

    def is_candidate(self, asking, other):
        one, another = self.sketches[asking], self.sketches[other]
        if self.recipe.sketch.kind == "minhash":
            return minhash.share_a_band(one, another, self.plan.bands, self.plan.rows)
        if self.postings:
            self.file(other)
            return self.postings.is_near(asking, other)
        return True

    def file(self, document):
        """The rule asks for the kept documents in order, so they are filed in order."""
        if document not in self.postings.filed:
            self.postings.insert(document)

    def measured(self, a, b):
        decide = self.recipe.decide
        if decide.measure == "resemblance":
            return verify.resemblance(self.texts[a], self.texts[b], decide.shingle)
        if decide.measure == "sketch":
            return sample.resemblance(self.sketches[a], self.sketches[b])
        with patch.object(content, "commonness", lambda *_: self.table):
            found = content.content(self.texts[a], self.texts[b], decide.shingle)
        if decide.measure == "aligned":
            # Each of these texts has a letter.
            return found["aligned"]["similarity"]
        if decide.measure == "containment":
            return max(0.0, found["containment"]["a_in_b"] - found["penalty"])
        return found["similarity"]

    def similarity(self, asking, other):
        """-1 for what is no candidate: no threshold takes that."""
        if self.postings and self.has_sketch(other):
            self.file(other)
        if self.first_of[asking] == self.first_of[other]:
            return 1.0
        if not (self.has_sketch(asking) and self.has_sketch(other)):
            return -1.0
        if self.searched and not self.is_candidate(asking, other):
            return -1.0
        # Asked for again and again, and symmetric but for containment.
        pair = asking, other
        if pair not in self.known:
            self.known[pair] = self.measured(*pair)
        return self.known[pair]

    def is_filed_whole(self, document):
        """In collections so small that no key is common."""
        return not self.postings or len(self.sketches[document][1]) <= postings.RARE

    def candidates(self):
        """The number of pairs that the search brings together, of equal texts the first."""
        searched = sorted(at for at in set(self.first_of) if self.has_sketch(at))
        return sum(self.is_candidate(b, a) for b in searched for a in searched if a < b)

    def pairs(self):
        """Every pair that is similar; the later document asks."""
        found = []
        for a in range(len(self.raw)):
            for b in range(a + 1, len(self.raw)):
                asked, asking = sorted((self.first_of[a], self.first_of[b]))
                similarity = self.similarity(asking, asked)
                if self.recipe.decide.measure == "containment" and similarity >= 0:
                    similarity = max(similarity, self.measured(asked, asking))
                if similarity >= self.threshold:
                    found.append((a, b, similarity))
        return found


def removed_of(result):
    rows = result.removed.to_pylist()
    return [twin.Removal(int(r["id"]), int(r["kept_id"]), r["similarity"]) for r in rows]


def pairs_of(result):
    rows = result.table.to_pylist()
    return [(int(r["id_a"]), int(r["id_b"]), r["similarity"]) for r in rows]


collections = st.one_of(corpora(), corpora(known=LONG_BASES))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(many=collections, threshold=st.sampled_from(THRESHOLDS), backwards=st.booleans())
def test_dedup_is_the_twin(name, many, threshold, backwards):
    recipe = RECIPES[name]
    options = {"threshold": threshold, "recipe": recipe}
    result = dedup(many, priority="last" if backwards else "first", **options)
    judge = Judge(many, recipe, threshold, plan=result.plan)
    order = list(range(len(many)))
    kept, removals = twin.dedup(
        len(many), judge.similarity, threshold, order[::-1] if backwards else order
    )
    assert np.flatnonzero(result.keep).tolist() == kept
    assert removed_of(result) == removals
    assert {row["measure"] for row in result.removed.to_pylist()} <= {result.plan.measure}


@pytest.mark.parametrize("name", NAMES)
@given(many=collections, threshold=st.sampled_from(THRESHOLDS), data=st.data())
def test_pairs_are_all_pairs_in_any_order(name, many, threshold, data):
    """By postings in any order if both are filed under all of their keys, else by the twin."""
    recipe = RECIPES[name]
    found = pairs(many, threshold=threshold, recipe=recipe)
    judge = Judge(many, recipe, threshold, plan=found.plan, longest=LONGEST_OF_ALL)
    assert pairs_of(found) == judge.pairs()
    if name == "shingle":
        assert found.summary.candidates <= judge.candidates()
    else:
        assert found.summary.candidates == judge.candidates()
    order = data.draw(st.permutations(range(len(many))))
    mixed = pairs([many[at] for at in order], threshold=threshold, recipe=recipe)
    there = [(*sorted((order[a], order[b])), s) for a, b, s in pairs_of(mixed)]
    whole = {at for at in range(len(many)) if judge.is_filed_whole(at)}
    promised = [pair for pair in pairs_of(found) if whole.issuperset(pair[:2])]
    assert sorted(pair for pair in there if whole.issuperset(pair[:2])) == promised


@pytest.mark.parametrize("name", NAMES)
@given(many=collections, threshold=st.sampled_from(THRESHOLDS))
def test_dedup_of_its_own_output_drops_nothing(name, many, threshold):
    """What is common is counted anew, so for content only without that."""
    recipe = RECIPES[name].replace(decide={"common": "none"})
    once = dedup(many, threshold=threshold, recipe=recipe)
    again = dedup(once.kept, threshold=threshold, recipe=recipe)
    assert again.kept == once.kept


def test_the_order_of_texts_does_not_change_the_pairs():
    """Two texts of the same letters, of which one has more shingles than the other."""
    plain, pointed = "停航通知：渡口明日停航一天", "停航通知:【渡口】明日,停,航,一,天"
    assert compare(plain, pointed).similarity == 1.0
    one, other = (pairs(many).table.num_rows for many in ([plain, pointed], [pointed, plain]))
    assert one == other


def written(rng, length):
    return "".join(chr(rng.randrange(0x4E00, 0x9000)) for _ in range(length))


def families(seed, count=16):
    """Return some 80 short texts: of each of `count` up to nine versions, mixed.

    A version differs from the one before it in some characters, so some of a
    family are far apart; members of two families have nothing in common.
    """
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        text = written(rng, rng.randint(45, 62))
        for _ in range(rng.randint(1, 9)):
            made.append(text)
            for _ in range(rng.randint(0, 3)):
                at = rng.randrange(len(text))
                text = text[:at] + written(rng, 1) + text[at + 1 :]
    rng.shuffle(made)
    return made


def check_whole(many, recipe, threshold, judge):
    """Hold dedup and pairs to a loop over all earlier kept documents, and over all pairs."""
    kept, removals = twin.dedup(len(many), judge.similarity, threshold)
    similar = judge.pairs()
    for workers in (1, 2):
        options = {"threshold": threshold, "recipe": recipe, "workers": workers}
        result = dedup(many, **options)
        assert np.flatnonzero(result.keep).tolist() == kept
        assert removed_of(result) == removals
        assert pairs_of(pairs(many, **options)) == similar
    assert 20 < len(removals) < len(many) - 20


@pytest.mark.parametrize(("seed", "threshold"), [(1, 0.3), (2, 0.55), (3, 0.8)])
def test_shingle_is_a_loop_over_all(seed, threshold):
    many = families(seed)
    recipe = load_recipe("shingle")
    check_whole(many, recipe, threshold, Judge(many, recipe, threshold, plan=None, searched=False))


@pytest.mark.parametrize(("seed", "threshold"), [(3, 0.4), (4, 0.7)])
def test_general_is_a_loop_over_all_where_nothing_can_be_missed(seed, threshold):
    """Texts of less than 64 shingles keep them all, no shingle stands in more than 32
    documents, and what is similar shares more than is asked for."""
    many = families(seed)
    recipe = load_recipe("general")
    judge = Judge(many, recipe, threshold, plan=None, searched=False)
    assert {rate for rate, _ in judge.sketches} == {1}
    assert max(Counter(u for units in judge.features for u in units).values()) <= LONGEST
    for a, b, _ in judge.pairs():
        if judge.identity(a) != judge.identity(b):
            assert judge.is_candidate(a, b)
            assert judge.is_candidate(b, a)
    check_whole(many, recipe, threshold, judge)


@pytest.mark.parametrize("seed", [5, 6])
def test_minhash_is_a_loop_over_all_where_hardly_anything_can_be_missed(seed):
    """What is similar resembles each other with .75 at least: the bands for .55 miss
    less than one in 100,000 of such pairs."""
    rng = random.Random(seed)
    many = []
    for _ in range(30):
        text = written(rng, 100)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(100)
            many.append(text[:at] + written(rng, 1) + text[at + 1 :])
    rng.shuffle(many)
    recipe, threshold = load_recipe("minhash"), 0.55
    plan = dedup(many, recipe=recipe).plan
    judge = Judge(many, recipe, threshold, plan=plan, searched=False)
    least = min(similarity for _, _, similarity in judge.pairs())
    assert least > 0.75
    assert (1 - least**plan.rows) ** plan.bands < 1e-5
    check_whole(many, recipe, threshold, judge)


@pytest.mark.parametrize("name", ["general", "shingle-sample"])
@pytest.mark.parametrize("threshold", [0.2, 0.4, 0.9])
@pytest.mark.parametrize("keys", [5, 16, 20, 60])
def test_a_third_of_the_threshold_must_be_shared(name, threshold, keys):
    """Of the sixteen smallest keys of the document that is filed; the others do not count."""
    recipe = load_recipe(name).replace(segment={"k": 1})
    letters = [chr(0x4E10 + at) for at in range(2 * 60)]
    filed = sorted(letters[:keys], key=lambda letter: xxh3(letter, 32))
    few, others = filed[: postings.RARE], filed[postings.RARE :]
    enough = max(1, int(len(few) * threshold / 3))
    for shared in (enough - 1, enough):
        asking = [*few[:shared], *others, *letters[60 + shared : 120 - len(others)]]
        found = dedup(["".join(filed), "".join(asking)], threshold=threshold, recipe=recipe)
        assert found.summary.candidates == (shared >= enough)


@pytest.mark.parametrize("name", ["general", "shingle-sample"])
@pytest.mark.parametrize(("letters", "enough"), [(5, 1), (9, 2), (12, 3), (16, 4), (40, 4)])
@pytest.mark.parametrize("turned", [False, True])
def test_of_two_texts_that_counts_which_asks_for_less(name, letters, enough, turned):
    """The long one asks for four of its sixteen keys at .9, a short one for less."""
    recipe = load_recipe(name).replace(segment={"k": 1})
    known = sorted((chr(0x4E10 + at) for at in range(120)), key=lambda letter: xxh3(letter, 32))
    # The shared letters have the smallest keys, so both are filed under them.
    for shared in (enough - 1, enough):
        short = known[:shared] + known[60 : 60 + letters - shared]
        many = ["".join(known[:60]), "".join(short)]
        found = dedup(many[::-1] if turned else many, threshold=0.9, recipe=recipe)
        assert found.summary.candidates == (shared >= enough)


def forms(rng, count=70):
    """Return texts of letters that stand for shingles: most of one form, some copies.

    A form is filled with letters that few or many texts have, and what the form
    itself is wavers: so keys stand in any number of documents, from 1 to all.
    """
    own, often = written(rng, 5000), written(rng, 60)
    form = written(rng, rng.randint(0, 40))
    made = []
    for _ in range(count):
        if made and rng.random() < 0.4:
            text = rng.choice(made)
        else:
            text = "".join(letter for letter in form if rng.random() < 0.8)
            text += "".join(rng.choices(own, k=rng.randint(3, 40)))
        for _ in range(rng.randint(0, 8)):
            at = rng.randint(0, len(text))
            text = text[:at] + rng.choice(rng.choice((own, often))) + text[at + 1 :]
        made.append(text)
    return made


@pytest.mark.parametrize("size", [8, 32])
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), threshold=st.sampled_from(THRESHOLDS), last=st.booleans())
def test_postings_are_the_twin_where_lists_are_closed(size, seed, threshold, last):
    """Also where keys are common, and where samples have several rates."""
    recipe = load_recipe("general").replace(
        segment={"k": 1}, sketch={"size": size}, decide={"measure": "sketch", "min_features": 3}
    )
    many = forms(random.Random(seed))
    options = {"threshold": threshold, "recipe": recipe}
    for longest, task in ((LONGEST, dedup), (LONGEST_OF_ALL, pairs)):
        judge = Judge(many, recipe, threshold, plan=None, longest=longest)
        if task is pairs:
            assert pairs_of(pairs(many, **options)) == judge.pairs()
            continue
        order = list(range(len(many)))[:: -1 if last else 1]
        kept, removals = twin.dedup(len(many), judge.similarity, threshold, order)
        result = dedup(many, priority="last" if last else "first", **options)
        assert np.flatnonzero(result.keep).tolist() == kept
        assert removed_of(result) == removals


def test_forms_close_lists_and_have_common_keys():
    """Otherwise the test above would not be about them."""
    many = forms(random.Random(1))
    samples = [sample.sample(set(text), 32)[1] for text in many]
    filed = postings.Postings(samples, 0.4, LONGEST)
    for document in range(len(many)):
        filed.insert(document)
    assert max(filed.documents.values()) > postings.FEW
    assert max(map(len, filed.lists.values())) == LONGEST
    unclosed = postings.Postings(samples, 0.4, LONGEST_OF_ALL)
    for document in range(len(many)):
        unclosed.insert(document)
    assert any(filed.near(at) != unclosed.near(at) for at in range(len(many)))


def test_shingle_is_exact_where_signs_are_all_that_is_shared():
    """A shingle of signs counts in the resemblance, so the search must know it."""
    signs = "".join(chr(0x2190 + at) for at in range(60))
    many = [signs + "北山镇的旧粮站改成了书店", signs + "渡轮公司的新船下月试航了"]
    assert verify.resemblance(*many, 5) > 0.55
    assert len(dedup(many, recipe="shingle").kept) == 1
    assert pairs(many, recipe="shingle").table.num_rows == 1
