"""weigh: units to features with integer weights.

A feature is a distinct unit. Its weight is an integer, so that sums do not
depend on their order. Only signs reach a SimHash fingerprint and only order
decides `top`, so a factor that all features of a document share may be left
out: that is how shares become counts.
"""

import math
from collections import Counter

# The fixed point of logarithms and of the length factor.
ONE = 1 << 16


def once(units):
    """Return weight 1 for each distinct unit."""
    return dict.fromkeys(units, 1)


def tf(units):
    """Return the number of occurrences of each unit."""
    return dict(Counter(units))


def share(units):
    """Return tf * tf: a share of the units, added once per occurrence.

    The share is tf / n and it is added tf times; n is the same for all.

    >>> once("bab"), tf("bab"), share("bab")
    ({'b': 1, 'a': 1}, {'b': 2, 'a': 1}, {'b': 4, 'a': 1})
    """
    return {unit: count * count for unit, count in Counter(units).items()}


def idf(documents, df):
    """Return ln(N / df + 0.01), the formula of the paper."""
    return math.log(documents / df + 0.01)


def idf_q(documents, df):
    """Return the same in fixed point.

    The 0.01 keeps it above 0 where every document has the unit: ln 1.01 = 0.00995033.

    >>> idf_q(7, 7), idf_q(100, 1)
    (652, 301811)
    """
    return round(idf(documents, df) * ONE)


def tf_idf(units, documents, df):
    """Return tf * idf in fixed point; `df` maps a unit to its documents.

    A unit that no document of the table has counts as in one.

    >>> tf_idf(["x", "x", "y"], 7, {"x": 7}) == {"x": 2 * 652, "y": idf_q(7, 1)}
    True
    """
    return {
        unit: count * idf_q(documents, df.get(unit, 1)) for unit, count in Counter(units).items()
    }


def improved(tagged_units, documents, df, markers=(), title=""):
    """Return the weights of Zhang & He (2020) in fixed point.

    `tagged_units` are (word, tag), and the tag of a word's first occurrence
    counts. The formula is in METHODS; the divisor of TF is left out.

    A noun in the title is the longest word, a verb that is a marker the shortest. The length
    factor of the third word is one half.

    >>> words = [("bridge", "n"), ("so", "v"), ("bridge", "n"), ("very", "d")]
    >>> df = dict.fromkeys(("bridge", "so", "very"), 7)
    >>> improved(words, 7, df, markers=("so", "er"), title="the bridge") == {
    ...     "bridge": 2 * 652 * (1 + 3 + 5 + 1),
    ...     "so": 652 * (1 + 2 + 5),
    ...     "very": 652 * (1 + 1) + 652 // 2,
    ... }
    True
    """
    weights = {}
    for word, (count, factors, length) in factors_of(tagged_units, markers, title).items():
        low, high = length
        factor_q = ((1 + factors) << 16) + ((len(word) - low) << 16) // max(high - low, 1)
        weights[word] = (count * idf_q(documents, df.get(word, 1)) * factor_q) >> 16
    return weights


def improved_float(tagged_units, documents, df, markers=(), title=""):
    """Return the score of the paper as it is printed, in floating point.

    The integers are these scores times n * 2^16. They differ by half a unit of the logarithm,
    times the occurrences and the largest factor, and by one for the shift.

    >>> import random
    >>> from tests.reference.sketch import simhash, xxh3
    >>> rng = random.Random(0)
    >>> words = ["".join(rng.choices("abcde", k=rng.randint(1, 4))) for _ in range(200)]
    >>> tagged = [(word, rng.choice(["n", "nr", "v", "d", ""])) for word in words]
    >>> df = {word: rng.randint(1, 1000) for word in words}
    >>> given = tagged, 1000, df, ("ab", "ce", "bcd"), "abcde cab"
    >>> integers, scores = improved(*given), improved_float(*given)
    >>> max(abs(integers[word] - scores[word] * 200 * ONE) for word in words) <= 0.5 * 200 * 15 + 1
    True
    >>> simhash(integers, 64, xxh3, 0) == simhash(scores, 64, xxh3, 0)
    True
    """
    total = len(tagged_units)
    scores = {}
    for word, (count, factors, length) in factors_of(tagged_units, markers, title).items():
        low, high = length
        len_w = (len(word) - low) / (high - low) if high > low else 0.0
        idf_w = idf(documents, df.get(word, 1))
        scores[word] = (count / total) * idf_w * (1 + factors + len_w)
    return scores


def factors_of(tagged_units, markers, title):
    """Return word -> (occurrences, POS + MARK + TITLE, shortest and longest length)."""
    counts = Counter(word for word, _ in tagged_units)
    first_tag = {}
    for word, tag in tagged_units:
        first_tag.setdefault(word, tag)
    lengths = [len(word) for word in counts] or [0]
    length = (min(lengths), max(lengths))
    factors = {}
    for word, count in counts.items():
        whole = part_of_speech(first_tag[word])
        whole += 5 if any(is_marked(word, marker) for marker in markers) else 0
        whole += 5 if word in title else 0
        factors[word] = (count, whole, length)
    return factors


def part_of_speech(tag):
    """Return 3 for a noun, 2 for a verb, 1 for anything else."""
    return {"n": 3, "v": 2}.get(tag[:1], 1)


def is_marked(word, marker, contained=False):
    """Tell whether a word contains a marker.

    A marker of one or two characters marks only the word that it is, unless it may be
    `contained`: 更 does not mark 更新. A marker with an ellipsis, like 以…为例, is a pair:
    its first part, and its second part somewhere after that; without one of them it is
    no pair.

    >>> [is_marked(*pair) for pair in (
    ...     ("但是", "但是"), ("故", "故"), ("综上所述可见", "综上所述"), ("据", "据…"),
    ...     ("以此为例", "以…为例"), ("以为例", "以……为例"),
    ... )]
    [True, True, True, True, True, True]
    >>> [is_marked(*pair) for pair in (
    ...     ("但是呢", "但是"), ("事故", "故"), ("更新", "更"), ("数据", "据…"), ("但", "但是"),
    ...     ("为例以", "以…为例"),
    ... )]
    [False, False, False, False, False, False]
    """
    first, _, second = marker.partition("…")
    second = second.lstrip("…")
    if first and second:
        begin = word.find(first)
        return begin >= 0 and second in word[begin + len(first) :]
    marker = first or second
    return word == marker if len(marker) <= 2 and not contained else marker in word


def frequent(units, df, least):
    """Return the units that at least `least` documents contain.

    A unit that is not in the table counts as contained in one document.
    """
    return [unit for unit in units if df.get(unit, 1) >= least]


def top(weights, n):
    """Keep the n features of highest weight; ties by code points, lowest first.

    >>> top({"b": 2, "a": 2, "c": 3, "d": 1}, 2)
    {'c': 3, 'a': 2}
    """
    ordered = sorted(weights.items(), key=lambda feature: (-feature[1], feature[0]))
    return dict(ordered[:n])
