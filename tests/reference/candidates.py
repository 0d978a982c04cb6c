"""candidates: fingerprints to pairs worth a closer look, by trying them all.

Every scheme for fingerprints is exact, so this is what each must give.
"""

import itertools

from .sketch import distance


def near_pairs(fingerprints, max_distance):
    """Return (a, b, distance), a < b, of all pairs within max_distance, in order.

    >>> near_pairs([0b0000, 0b0111, 0b1111], 3)
    [(0, 1, 3), (1, 2, 1)]
    """
    pairs = []
    for a in range(len(fingerprints)):
        for b in range(a + 1, len(fingerprints)):
            d = distance(fingerprints[a], fingerprints[b])
            if d <= max_distance:
                pairs.append((a, b, d))
    return pairs


def near(fingerprints, queries, max_distance):
    """Return (query, document, distance), ordered by query, distance, document.

    >>> near([0b0000, 0b0111, 0b1111], [0b0110], 2)
    [(0, 1, 1), (0, 0, 2), (0, 2, 2)]
    """
    hits = []
    for q, query in enumerate(queries):
        for document, fingerprint in enumerate(fingerprints):
            d = distance(query, fingerprint)
            if d <= max_distance:
                hits.append((q, document, d))
    return sorted(hits, key=lambda hit: (hit[0], hit[2], hit[1]))


def blocks(fingerprint, bits, count):
    """Cut a fingerprint into `count` blocks of nearly equal width, lowest bits first.

    Two fingerprints that differ in at most count - 1 bits agree in a block: the
    pigeonhole principle, on which the search by keys stands.
    """
    edges = [bits * i // count for i in range(count + 1)]
    return [fingerprint >> low & (2 ** (high - low) - 1) for low, high in itertools.pairwise(edges)]
