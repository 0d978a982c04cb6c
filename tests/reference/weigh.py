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
    """
    return {unit: count * count for unit, count in Counter(units).items()}


def idf(documents, df):
    """Return ln(N / df + 0.01), the formula of the paper."""
    return math.log(documents / df + 0.01)


def idf_q(documents, df):
    """Return the same in fixed point.

    The 0.01 keeps it above 0 where every document has the unit: ln 1.01.
    """
    return round(idf(documents, df) * ONE)


def tf_idf(units, documents, df):
    """Return tf * idf in fixed point; `df` maps a unit to its documents.

    A unit that no document of the table has counts as in one.
    """
    return {
        unit: count * idf_q(documents, df.get(unit, 1)) for unit, count in Counter(units).items()
    }


def improved(tagged_units, documents, df, markers=(), title=""):
    """Return the weights of Zhang & He (2020) in fixed point.

    `tagged_units` are (word, tag), and the tag of a word's first occurrence
    counts. The formula is in METHODS; the divisor of TF is left out.
    """
    weights = {}
    for word, (count, factors, length) in factors_of(tagged_units, markers, title).items():
        low, high = length
        factor_q = ((1 + factors) << 16) + ((len(word) - low) << 16) // max(high - low, 1)
        weights[word] = (count * idf_q(documents, df.get(word, 1)) * factor_q) >> 16
    return weights


def improved_float(tagged_units, documents, df, markers=(), title=""):
    """Return the score of the paper as it is printed, in floating point."""
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
    """Keep the n features of highest weight; ties by code points, lowest first."""
    ordered = sorted(weights.items(), key=lambda feature: (-feature[1], feature[0]))
    return dict(ordered[:n])
