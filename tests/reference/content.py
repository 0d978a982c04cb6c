"""verify: how much of two normalized texts is the same, next to the form that many share.

Shingles weigh less the more texts of the collection have them. The texts are
aligned, and numbers that other numbers replace lower the similarity. Short
texts are compared by their letters and digits alone.

Shingles are named by the leading 32 bits of their hashes here, because these choose the sample
of a text: at level l, the shingles whose hash begins with l zero bits.
"""

from collections import Counter
from functools import lru_cache
from math import isqrt

from .aligned import aligned, letters
from .segment import script_shingles
from .sketch import xxh3

# In collections of fewer than 40,000 texts, as all are here.
RARE = 4
SAMPLE = 128
KNOWN = 24
SHORT = 40
# Shingles of so many texts more than rare ones are of many; an edit explains twice what it
# replaces.
MANY = 16
EDITS = 2
# Other names in so many of the same places of a form make two texts of it.
SLOTS = 3
# Two texts with boilerplate say something else if they share less of the rest.
OTHER = 0.1
# What one scattered edit breaks, and the least resemblance of shingles.
BROKEN = 5
LEAST = 1 / 3


@lru_cache(maxsize=1000)
def hashes(text, k):
    """Return the hashes of the text's distinct shingles, longer ones far from wide letters."""
    return frozenset(xxh3(shingle, 64) >> 32 for shingle in script_shingles(text, k))


# Weighed shingles


def level_of(count):
    """Return the largest level at which `count` shingles are still 128 on average.

    >>> [level_of(count) for count in (0, 255, 256, 511, 512)]
    [0, 0, 1, 1, 2]
    """
    return max(count // SAMPLE, 1).bit_length() - 1


def is_of(level, hashed):
    """Return whether the leading bits of a hash are zero."""
    return hashed < 2 ** (32 - level)


def commonness(texts, k, entries):
    """Return in how many texts each sampled shingle stands, and the table's level.

    Each text is counted at its own level. The table's level is the least one at
    which it has no more than `entries` shingles.
    """
    counts = Counter()
    for text in texts:
        shingled = hashes(text, k)
        counts.update(h for h in shingled if is_of(level_of(len(shingled)), h))
    # Fewer make no shingle common, nor one of the majority form.
    common = {h: n for h, n in counts.items() if 5 * n >= 4 * (RARE + 1)}
    level = 0
    while level < 32 and sum(is_of(level, h) for h in common) > entries:
        level += 1
    return {h: n for h, n in common.items() if is_of(level, h)}, level


def weight(carried):
    """Return what a shingle weighs that so many texts have, in thousandths."""
    if carried <= RARE:
        return 1000
    return max(150, 1_000_000 // (1000 + isqrt(1_000_000 * (carried - RARE))))


def weigh(first, second, table, level):
    """Weigh the shingles of two texts; None if none that both have is common.

    They are those of a level, or of the table's level if that is more.
    """
    counts, least = table
    level = max(level, least)
    a, b = ({h for h in shingles_ if is_of(level, h)} for shingles_ in (first, second))
    carried = {h: counts.get(h, 0) for h in a | b}
    common = sorted(carried[h] for h in a & b if carried[h] > RARE)
    if not common or len(a | b) < KNOWN:
        return None
    median = common[(len(common) - 1) // 2]
    majority = {h for h in a ^ b if 10 * carried[h] >= 8 * median}
    rare = {h for h in (a ^ b) - majority if carried[h] <= RARE}
    # What stands where the other text has the majority form is an edit.
    excused = [min(len(a & rare), len(b & majority)), min(len(b & rare), len(a & majority))]
    shared = sum(weight(carried[h]) for h in a & b)
    usual = weight(median)
    alone = [sum(max(weight(carried[h]), usual) for h in only) for only in (a - b, b - a)]
    for side in (0, 1):
        alone[side] -= excused[side] * (1000 - usual)
    # Text of many that both have says nothing; what else is there may be a line, or content.
    few = {h for h in a | b if carried[h] <= RARE + MANY}
    unique = median > RARE + MANY and {
        "has": [
            not only or len(only & few - majority) > EDITS * len(other & majority)
            for only, other in ((a - b, b - a), (b - a, a - b))
        ],
        "resemblance": sum(weight(carried[h]) for h in a & b & few)
        / max(1, sum(weight(carried[h]) for h in (a | b) & few - majority)),
    }
    return {
        "level": level,
        "unique": unique or None,
        "unweighed": len(a & b) / len(a | b),
        "containment": shared / (shared + min(alone)),
        "containments": [shared / (shared + only) for only in alone],
        "resemblance": shared / (shared + sum(alone)),
        "median": median,
        "excused": sum(excused),
    }


# Similarity, in millionths


def share(part, whole):
    """Return a share in millionths, rounded down; none of nothing."""
    return part * 10**6 // whole if whole else 0


def alignment(aligned):
    """Return the share of the longer text that is aligned."""
    longer = max(aligned["units_a"], aligned["units_b"])
    if not longer:
        return 10**6
    kept = longer - aligned["distance"] if aligned["spaced"] else aligned["equal"]
    return share(max(0, kept), longer)


def taken_by_numbers(aligned):
    """Return what the replaced numbers of an alignment take."""
    replaced, letters = aligned["replaced"], aligned["letters"]
    edited = share(aligned["edited"], aligned["equal"] + aligned["edited"])
    beyond = share(replaced, replaced + aligned["agree"]) - edited
    of_numbers = min(share(200 * min(replaced, 2), letters), 6 * max(0, beyond))
    return max(of_numbers, share(200 * min(aligned["negated"], 2), letters))


def score(resemblance, aligned, numbers):
    """Return the similarity, in [0, 1], of two texts with this resemblance and alignment."""
    missing = 2 * 10**6 - int(resemblance * 10**6) - alignment(aligned) + numbers
    needed = 120 if aligned["spaced"] else 108
    return min(resemblance, max(0, 10**6 - missing * 60 // (200 - needed)) / 10**6)


def lifted(resemblance):
    """Return how similar texts are of which single, scattered characters break the shingles."""
    if resemblance < LEAST:
        return resemblance
    edited = (1 - resemblance) / (1 + resemblance) / BROKEN
    return max(resemblance, (1 - edited) / (1 + edited))


# Short texts


def short_similarity(a, b):
    """Return the share of the longer text's letters and digits that the shorter is."""
    short, long = sorted((letters(a), letters(b)), key=len)
    if not long:
        return float(a == b)
    if short and short in long and 4 * len(short) >= 3 * len(long):
        return len(short) / len(long)
    return 0.0


def content(a, b, k=5, counted=(), entries=8_000_000):
    """Return everything that decides about two texts, as a dict.

    `counted` are the texts of the collection, each once. The texts are similar
    if `similarity` reaches the threshold.
    """
    first, second = hashes(a, k), hashes(b, k)
    side_by_side = aligned(a, b)
    numbers = taken_by_numbers(side_by_side)
    short = min(len(letters(a)), len(letters(b))) < SHORT
    table = commonness(counted, k, entries)
    level = max(level_of(len(first)), level_of(len(second)))
    weighed = None if short else weigh(first, second, table, level)
    if short:
        is_other = side_by_side["differ"] or side_by_side["negated"]
        similarity = unpunished = 0.0 if is_other else short_similarity(a, b)
    else:
        union = len(first | second)
        resemblance = len(first & second) / union
        edited, by_unique_text = lifted(resemblance), False
        if weighed:
            resemblance = weighed["resemblance"]
            edited = max(resemblance, lifted(weighed["unweighed"]))
            if unique := weighed["unique"]:
                sides = zip(unique["has"], side_by_side["passage"], strict=True)
                has_passage = any(has and passage for has, passage in sides)
                has_names = all(unique["has"]) and side_by_side["slots"] >= SLOTS
                by_unique_text = has_passage or (has_names and not side_by_side["scattered"])
                if by_unique_text:
                    resemblance = min(resemblance, unique["resemblance"])
                if any(unique["has"]) and unique["resemblance"] < OTHER:
                    edited = weighed["resemblance"]
        by_resemblance = [score(resemblance, side_by_side, taken) for taken in (numbers, 0)]
        if side_by_side["scattered"] and not by_unique_text:
            needed = 108
            by_resemblance = [
                max(0.0, edited - taken * 60 // (200 - needed) / 10**6) for taken in (numbers, 0)
            ]
        similarity, unpunished = by_resemblance
    return {
        "similarity": similarity,
        "short": short,
        "aligned": side_by_side,
        "weighed": weighed and {key: weighed[key] for key in weighed if key != "containments"},
        "containment": containment(first, second, table, side_by_side),
        "penalty": unpunished - similarity,
        "alignment": alignment(side_by_side) / 10**6,
    }


def containment(first, second, table, side_by_side):
    """Return the share of each text that lies in the other, and the similarity by these.

    The shorter text has at least half of the sampled shingles that it has alone.
    """
    least, most = sorted((len(first), len(second)))
    weighed = weigh(first, second, table, min(level_of(most), level_of(2 * least)))
    if weighed:
        a_in_b, b_in_a = weighed["containments"]
    else:
        common = len(first & second)
        a_in_b = common / len(first) if first else float(not second)
        b_in_a = common / len(second) if second else float(not first)
    similarity = max(0.0, max(a_in_b, b_in_a) - taken_by_numbers(side_by_side) * 60 // 92 / 10**6)
    return {"a_in_b": a_in_b, "b_in_a": b_in_a, "similarity": similarity}
