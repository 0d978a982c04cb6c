"""Stages candidates to keep, the one rule: dedup and pairs against their twins, and their laws."""

import random
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.strategies import LONG_BASES, corpora, texts
from tests.reference import content, minhash, postings, recipes, sample, verify
from tests.reference import dedup as twin
from tests.reference.normalize import SENTENCE_END
from tests.reference.sketch import xxh3

from neardup import compare, dedup, fingerprint, fingerprint_many, load_recipe, near_pairs, pairs
from neardup.recipe.assets import compiled

SETS = ("shingle", "general", "minhash", "shingle-sample", "containment", "aligned")
#: Shorter shingles, so that short texts too have enough of them.
SHORT = {"segment": {"k": 3}, "decide": {"shingle": 3, "min_features": 4}}
GENERAL = load_recipe("characters").replace(decide={"shingle": 3, "min_features": 5})
#: By distance alone, and of few bits, so that something is within it.
BY_BITS = load_recipe("characters").replace(sketch={"bits": 64}, decide={"threshold": None})
RECIPES = {name: load_recipe(name).replace(**SHORT) for name in SETS}
RECIPES |= {"characters": GENERAL, "bits": BY_BITS}
THRESHOLDS = (0.2, 0.4, 0.5, 0.55, 2 / 3, 0.8, 1.0)
DISTANCES = (0, 3, 10, 25, 64)
PRIORITIES = ("first", "last", "longest", "field:date", "field:date:desc")
#: Kept documents that close a list of keys, and documents where `pairs` files all.
LONGEST, LONGEST_OF_ALL = 32, 10_000


def order_of(priority, documents):
    numbers = range(len(documents))
    if priority == "first":
        return list(numbers)
    if priority == "last":
        return list(reversed(numbers))
    if priority == "longest":
        return sorted(numbers, key=lambda number: -len(documents[number]["text"]))
    sign = -1 if priority.endswith("desc") else 1
    return sorted(numbers, key=lambda number: sign * documents[number]["date"])


class Judge:
    """Similarity of two documents by the twins; fingerprints are the project's own.

    With `searched`, documents are compared that the recipe's search brings
    together, as the twins say; without, all are. Lists of keys are closed at
    `longest` documents.
    """

    def __init__(self, many, recipe, threshold, *, plan, searched=True, longest=LONGEST):
        core = compiled(recipe)
        self.raw, self.recipe, self.threshold = many, recipe, threshold
        self.plan, self.searched = plan, searched
        self.texts = [core.normalize(text) for text in many]
        by_script = recipe.segment.units == "script-shingles"
        filters = (recipe.segment.k, recipe.weigh.drop_punctuation, by_script)
        self.is_print = recipe.sketch.kind == "simhash"
        if self.is_print:
            self.features = [range(core.sketch(text, None)[0]) for text in self.texts]
            self.sketches = [fingerprint(text, recipe=recipe) for text in many]
        else:
            self.features = [recipes.shingles(text, *filters) for text in many]
            self.sketches = [self.sketch(units) for units in self.features]
        #: The first document of the same text, which is searched for all of them.
        self.first_of = []
        first = {}
        for number in range(len(many)):
            self.first_of.append(first.setdefault(self.identity(number), number))
        # Each text counts once, however often it comes.
        self.counted = [text for text, _ in first]
        self.table = content.commonness(self.counted, recipe.decide.shingle, 8_000_000)
        self.known = {}
        self.postings = None
        if recipe.sketch.kind == "sample" and recipe.sketch.size:
            samples = [keys for _, keys in self.sketches]
            self.postings = postings.Postings(
                samples,
                self.least(threshold),
                longest,
                takes_all=longest == LONGEST_OF_ALL,
                first_of=self.first_of,
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
        text = self.texts[document].replace(SENTENCE_END, "")
        return text, None if self.features[document] else self.raw[document]

    def has_few(self, document):
        return len(self.features[document]) < self.recipe.decide.min_features

    def has_sketch(self, document):
        """By content, texts of few features are duplicates if they have the same letters."""
        if self.recipe.decide.measure == "content" and self.threshold is not None:
            return len(self.features[document]) > 0
        return not self.has_few(document)

    def is_candidate(self, asking, other):
        sketch, filed_sketch = self.sketches[asking], self.sketches[other]
        if self.is_print:
            return sketch.distance(filed_sketch) <= self.plan.max_distance
        if self.recipe.sketch.kind == "minhash":
            return minhash.share_a_band(sketch, filed_sketch, self.plan.bands, self.plan.rows)
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
        if self.threshold is None:
            return 1 - self.sketches[a].distance(self.sketches[b]) / self.recipe.sketch.bits
        if decide.measure == "resemblance":
            return verify.resemblance(self.texts[a], self.texts[b], decide.shingle)
        if decide.measure == "sketch":
            return sample.resemblance(self.sketches[a], self.sketches[b])
        with patch.object(content, "commonness", lambda *_: self.table):
            judged = content.content(self.texts[a], self.texts[b], decide.shingle)
        if decide.measure == "aligned":
            # Each of these texts has a letter.
            return judged["aligned"]["similarity"]
        if decide.measure == "containment":
            lost = content.taken_by_numbers(judged["aligned"]) * 60 // 92 / 10**6
            return max(0.0, judged["containment"]["a_in_b"] - lost)
        return judged["similarity"]

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
            similarity = self.measured(*pair)
            is_enough = similarity == 1 or not (self.has_few(asking) or self.has_few(other))
            self.known[pair] = similarity if is_enough else -1.0
        return self.known[pair]

    def is_filed_whole(self, document):
        """In collections so small that no key is common."""
        return not self.postings or len(self.sketches[document][1]) <= postings.RARE

    def candidates(self):
        """The number of pairs that the search brings together, of equal texts the first."""
        searched = sorted(number for number in set(self.first_of) if self.has_sketch(number))
        return sum(self.is_candidate(b, a) for b in searched for a in searched if a < b)

    def pairs(self):
        """Every pair that is similar; the later document asks."""
        similar = []
        for a in range(len(self.raw)):
            for b in range(a + 1, len(self.raw)):
                asked, asking = sorted((self.first_of[a], self.first_of[b]))
                similarity = self.similarity(asking, asked)
                if self.recipe.decide.measure == "containment" and similarity >= 0:
                    similarity = max(similarity, self.measured(asked, asking))
                if similarity >= (self.threshold or 0):
                    similar.append((a, b, similarity))
        return similar


def removed_of(result):
    rows = result.removed.to_pylist()
    return [twin.Removal(int(r["id"]), int(r["kept_id"]), r["similarity"]) for r in rows]


def pairs_of(result):
    rows = result.table.to_pylist()
    return [(int(r["id_a"]), int(r["id_b"]), r["similarity"]) for r in rows]


collections = st.one_of(corpora(), corpora(known=LONG_BASES))


def rule_of(name, threshold, max_distance):
    """Return the bounds that a recipe takes: of fingerprints a distance too, or alone."""
    if name == "bits":
        return {"max_distance": max_distance or 0}
    return {"threshold": threshold} | (
        {"max_distance": max_distance} if name == "characters" else {}
    )


def judge_of(many, name, result, **options):
    recipe = RECIPES[name]
    return Judge(many, recipe, result.plan.threshold, plan=result.plan, **options)


every_recipe = pytest.mark.parametrize(
    "name", ["characters", "bits", *(pytest.param(name, marks=pytest.mark.slow) for name in SETS)]
)


@every_recipe
@given(
    many=collections,
    threshold=st.sampled_from(THRESHOLDS),
    max_distance=st.sampled_from((None, *DISTANCES)),
    priority=st.sampled_from(PRIORITIES),
)
def test_dedup_is_the_twin(name, many, threshold, max_distance, priority):
    documents = [{"text": text, "date": len(text) % 4} for text in many]
    options = rule_of(name, threshold, max_distance)
    result = dedup(documents, priority=priority, recipe=RECIPES[name], **options)
    judge = judge_of(many, name, result)
    order = order_of(priority, documents)
    kept, removals = twin.dedup(len(many), judge.similarity, judge.threshold or 0.0, order)
    assert np.flatnonzero(result.keep).tolist() == kept
    assert removed_of(result) == removals
    for row in result.removed.to_pylist():
        assert row["measure"] == result.plan.measure
        if judge.is_print:
            a, b = int(row["id"]), int(row["kept_id"])
            both = judge.has_sketch(a) and judge.has_sketch(b)
            prints = judge.sketches
            assert row["distance"] == (prints[a].distance(prints[b]) if both else None)
    # Each points at a kept document before it.
    for removal in removals:
        assert order.index(removal.kept) < order.index(removal.document)
        assert result.keep[removal.kept]


@every_recipe
@given(
    many=collections,
    threshold=st.sampled_from(THRESHOLDS),
    max_distance=st.sampled_from(DISTANCES),
    data=st.data(),
)
def test_pairs_are_all_pairs_in_any_order(name, many, threshold, max_distance, data):
    """By postings in any order if both are filed under all of their keys, else by the twin."""
    recipe, options = RECIPES[name], rule_of(name, threshold, max_distance)
    result = pairs(many, recipe=recipe, **options)
    judge = judge_of(many, name, result, longest=LONGEST_OF_ALL)
    assert pairs_of(result) == judge.pairs()
    if name == "shingle":
        assert result.summary.candidates <= judge.candidates()
    elif name != "bits":
        assert result.summary.candidates == judge.candidates()
    order = data.draw(st.permutations(range(len(many))))
    mixed = pairs([many[number] for number in order], recipe=recipe, **options)
    mixed_pairs = [(*sorted((order[a], order[b])), s) for a, b, s in pairs_of(mixed)]
    whole = {number for number in range(len(many)) if judge.is_filed_whole(number)}
    promised = [pair for pair in pairs_of(result) if whole.issuperset(pair[:2])]
    assert sorted(pair for pair in mixed_pairs if whole.issuperset(pair[:2])) == promised


@every_recipe
@given(
    many=collections,
    threshold=st.sampled_from(THRESHOLDS),
    priority=st.sampled_from(PRIORITIES[:3]),
)
def test_dedup_of_its_own_output_drops_nothing(name, many, threshold, priority):
    """What is common is counted anew, so for content only without that."""
    recipe, options = RECIPES[name], rule_of(name, threshold, None) | {"priority": priority}
    if recipe.decide.measure in ("content", "containment"):
        recipe = recipe.replace(decide={"common": "none"})
    once = dedup(many, recipe=recipe, **options)
    again = dedup(once.kept, recipe=recipe, **options)
    assert again.kept == once.kept
    assert again.removed.num_rows == 0


@given(st.lists(texts(max_size=4), max_size=12))
def test_very_short_texts_equal_only_identical_ones(many):
    """Normalized texts are compared; without any feature, texts as they came."""
    recipe = GENERAL.replace(decide={"min_features": 1000})
    core = compiled(recipe)
    seen, expected = set(), []
    for text in many:
        normalized = core.normalize(text)
        key = (True, normalized) if core.units(normalized) else (False, text)
        expected.append(key not in seen)
        seen.add(key)
    assert dedup(many, recipe=recipe, threshold=0.01).keep.tolist() == expected


def test_chain_drops_only_documents_similar_to_a_kept_one():
    """b resembles a and c; a does not resemble c. With b first, both others go."""
    a, b, c = "0123456789abcdefghij", "456789abcdefghijklmn", "89abcdefghijklmnopqr"
    options = {"threshold": 0.6, "max_distance": 128}
    recipe = GENERAL.replace(segment={"units": "shingles"})
    resemblances = [verify.resemblance(*pair, 3) for pair in ((a, b), (b, c), (a, c))]
    assert resemblances == [14 / 22, 14 / 22, 10 / 26]
    assert dedup([a, b, c], recipe=recipe, **options).kept == [a, c]
    assert dedup([b, a, c], recipe=recipe, **options).kept == [b]
    assert dedup([c, b, a], recipe=recipe, **options).kept == [c, a]


@given(many=corpora(), max_distance=st.sampled_from((0, 3, 12, 30)))
def test_distance_of_pairs_equals_near_pairs(many, max_distance):
    long = [text for text in many if len(text) > 20]
    rows = fingerprint_many(long, recipe=BY_BITS)
    near = near_pairs(rows, max_distance=max_distance, bits=64)
    table = pairs(long, max_distance=max_distance, recipe=BY_BITS).table.to_pylist()
    expected = set(zip(near.a.tolist(), near.b.tolist(), near.distance.tolist(), strict=True))
    assert {(int(r["id_a"]), int(r["id_b"]), r["distance"]) for r in table} == expected


def test_the_order_of_texts_does_not_change_the_pairs():
    """Two texts of the same letters, of which one has more shingles than the other."""
    plain, pointed = "停航通知：渡口明日停航一天", "停航通知:【渡口】明日,停,航,一,天"
    assert compare(plain, pointed).similarity == 1.0
    first, second = (pairs(many).table.num_rows for many in ([plain, pointed], [pointed, plain]))
    assert first == second


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
                position = rng.randrange(len(text))
                text = text[:position] + written(rng, 1) + text[position + 1 :]
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


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "threshold"), [(1, 0.3), (2, 0.55), (3, 0.8)])
def test_shingle_is_a_loop_over_all(seed, threshold):
    many = families(seed)
    recipe = load_recipe("shingle")
    check_whole(many, recipe, threshold, Judge(many, recipe, threshold, plan=None, searched=False))


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 6])
def test_minhash_is_a_loop_over_all_where_hardly_anything_can_be_missed(seed):
    """What is similar resembles each other with .75 at least: the bands for .55 miss
    less than one in 100,000 of such pairs."""
    rng = random.Random(seed)
    many = []
    for _ in range(30):
        text = written(rng, 100)
        for _ in range(rng.randint(1, 6)):
            position = rng.randrange(100)
            many.append(text[:position] + written(rng, 1) + text[position + 1 :])
    rng.shuffle(many)
    recipe, threshold = load_recipe("minhash"), 0.55
    plan = dedup(many, recipe=recipe).plan
    judge = Judge(many, recipe, threshold, plan=plan, searched=False)
    least = min(similarity for _, _, similarity in judge.pairs())
    assert least > 0.75
    assert (1 - least**plan.rows) ** plan.bands < 1e-5
    check_whole(many, recipe, threshold, judge)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["general", "shingle-sample"])
@pytest.mark.parametrize("threshold", [0.2, 0.4, 0.9])
@pytest.mark.parametrize("keys", [5, 16, 20, 60])
def test_a_third_of_the_threshold_must_be_shared(name, threshold, keys):
    """Of the sixteen smallest keys of the document that is filed; the others do not count."""
    recipe = load_recipe(name).replace(normalize={"fold": ()}, segment={"k": 1})
    letters = [chr(0x4E10 + number) for number in range(2 * 60)]
    filed = sorted(letters[:keys], key=lambda letter: xxh3(letter, 64) >> 32)
    few, others = filed[: postings.RARE], filed[postings.RARE :]
    enough = max(1, int(len(few) * threshold / 3))
    for shared in (enough - 1, enough):
        asking = [*few[:shared], *others, *letters[60 + shared : 120 - len(others)]]
        result = dedup(["".join(filed), "".join(asking)], threshold=threshold, recipe=recipe)
        assert result.summary.candidates == (shared >= enough)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["general", "shingle-sample"])
@pytest.mark.parametrize(("letters", "enough"), [(5, 1), (9, 2), (12, 3), (16, 4), (40, 4)])
@pytest.mark.parametrize("turned", [False, True])
def test_pair_needs_the_smaller_number_of_keys(name, letters, enough, turned):
    """The long one asks for four of its sixteen keys at .9, a short one for less."""
    recipe = load_recipe(name).replace(normalize={"fold": ()}, segment={"k": 1})
    known = sorted((chr(0x4E10 + n) for n in range(120)), key=lambda letter: xxh3(letter, 64) >> 32)
    # The shared letters have the smallest keys, so both are filed under them.
    for shared in (enough - 1, enough):
        short = known[:shared] + known[60 : 60 + letters - shared]
        many = ["".join(known[:60]), "".join(short)]
        result = dedup(many[::-1] if turned else many, threshold=0.9, recipe=recipe)
        assert result.summary.candidates == (shared >= enough)


def forms(rng, count=70):
    """Return texts of letters that stand for shingles: most of one form, some copies.

    A form is filled with letters that few or many texts have, and what the form
    itself is wavers: so keys stand in any number of documents, from 1 to all.
    """
    usual, often = written(rng, 5000), written(rng, 60)
    form = written(rng, rng.randint(0, 40))
    made = []
    for _ in range(count):
        if made and rng.random() < 0.4:
            text = rng.choice(made)
        else:
            text = "".join(letter for letter in form if rng.random() < 0.8)
            text += "".join(rng.choices(usual, k=rng.randint(3, 40)))
        for _ in range(rng.randint(0, 8)):
            begin = rng.randint(0, len(text))
            text = text[:begin] + rng.choice(rng.choice((usual, often))) + text[begin + 1 :]
        made.append(text)
    return made


@pytest.mark.slow
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
    assert max(filed.texts.values()) > postings.FEW
    assert max(map(len, filed.lists.values())) == LONGEST
    unclosed = postings.Postings(samples, 0.4, LONGEST_OF_ALL)
    for document in range(len(many)):
        unclosed.insert(document)
    assert any(filed.near(number) != unclosed.near(number) for number in range(len(many)))


def test_shingle_is_exact_for_shared_signs_alone():
    """A shingle of signs counts in the resemblance, so the search must know it."""
    signs = "".join(chr(0x2190 + number) for number in range(60))
    many = [signs + "北山镇的旧粮站改成了书店", signs + "渡轮公司的新船下月试航了"]
    assert verify.resemblance(*many, 5) > 0.55
    kept = load_recipe("shingle").replace(normalize={"punctuation": "keep"})
    assert len(dedup(many, recipe=kept).kept) == 1
    assert pairs(many, recipe=kept).table.num_rows == 1
