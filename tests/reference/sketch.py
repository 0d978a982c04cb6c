"""sketch: features to a SimHash fingerprint.

T[j] is the sum over all features of +weight where bit j of the feature's hash
is 1 and -weight where it is 0; bit j of the fingerprint is the sign of T[j].
(Charikar 2002; Manku, Jain, Das Sarma, WWW 2007.)
"""

import math

import xxhash


def simhash(features, bits, hash, tie):
    """Return the fingerprint of {feature: weight} as an integer of `bits` bits.

    `hash` maps (feature, bits) to an integer; `tie` is the bit that a sum of 0
    gives.

    >>> hashes = {"x": 0b01, "y": 0b10}
    >>> [simhash({"x": 3, "y": 3}, 2, lambda x, _: hashes[x], tie) for tie in (0, 1)]
    [0, 3]
    """
    fingerprint = 0
    for j, total in enumerate(sums(features, bits, hash)):
        bit = tie if total == 0 else int(total > 0)
        fingerprint |= bit << j
    return fingerprint


def sums(features, bits, hash):
    """Return T[0..bits)."""
    hashes = {feature: hash(feature, bits) for feature in features}
    return [sum(w if hashes[f] >> j & 1 else -w for f, w in features.items()) for j in range(bits)]


def distance(a, b):
    """Return the Hamming distance of two fingerprints."""
    return (a ^ b).bit_count()


def near_pairs(fingerprints, max_distance):
    """Return (a, b, distance), a < b, of all pairs within max_distance, in order.

    >>> near_pairs([0b0000, 0b0111, 0b1111], 3)
    [(0, 1, 3), (1, 2, 1)]
    """
    return [hit for hit in near(fingerprints, fingerprints, max_distance) if hit[0] < hit[1]]


def near(fingerprints, queries, max_distance):
    """Return (query, document, distance) of all within max_distance, in order.

    >>> near([0b0000, 0b0111, 0b1111], [0b0110], 2)
    [(0, 0, 2), (0, 1, 1), (0, 2, 2)]
    """
    distances = (
        (q, document, distance(query, fingerprint))
        for q, query in enumerate(queries)
        for document, fingerprint in enumerate(fingerprints)
    )
    return [hit for hit in distances if hit[2] <= max_distance]


def words64(fingerprint, bits):
    """Return the fingerprint as 64-bit words: bit j is bit j % 64 of word j // 64."""
    return [(fingerprint >> shift) & (2**64 - 1) for shift in range(0, bits, 64)]


def xxh3(feature, bits):
    """Hash the UTF-8 bytes with xxh3.

    32 bits are the low half of the 64-bit hash. 256 bits are two 128-bit
    hashes: seed 0 low, seed 1 high. These are the published values of an empty input.

    >>> [f"{xxh3('', bits):x}" for bits in (32, 64, 128)]
    ['38d394c2', '2d06800538d394c2', '99aa06d3014798d86001c324468d497f']
    >>> xxh3("", 256) % 2**128 == xxh3("", 128)
    True
    """
    data = feature.encode("utf-8")
    if bits == 32:
        return xxhash.xxh3_64_intdigest(data, seed=0) & (2**32 - 1)
    if bits == 64:
        return xxhash.xxh3_64_intdigest(data, seed=0)
    if bits == 128:
        return xxhash.xxh3_128_intdigest(data, seed=0)
    if bits == 256:
        low = xxhash.xxh3_128_intdigest(data, seed=0)
        high = xxhash.xxh3_128_intdigest(data, seed=1)
        return high << 128 | low
    raise ValueError(bits)


def news(feature, bits):
    """Hash UTF-16 code units as `news` does: multiply by 1000003, XOR.

    >>> news("", 64), news("a", 64) == ((0x61 << 7) * 1000003 ^ 0x61) ^ 1
    (0, True)
    """
    units = code_units(feature)
    if not units:
        return 0
    modulus = 2**bits
    x = (units[0] << 7) % modulus
    for unit in units:
        x = (x * 1000003 ^ unit) % modulus
    return (x ^ len(units)) % modulus


def bkdr(feature, bits):
    """Hash UTF-16 code units as `bkdr` does, with the highest bit first.

    The sum is kept in signed 64-bit arithmetic, as the original does. The
    remainder of its absolute value by 2**bits is one of doubles, so a value above
    2**53 is rounded first. The result is cast to a signed number of 32 bits, for
    wider fingerprints too, and a negative number has no digits: it counts as zeros.

    >>> bkdr("ab", 32) == 0x61 * 31 + 0x62
    True
    """
    h = 0
    for unit in code_units(feature):
        h = signed64(h * 31 + unit)
    remainder = int(math.fmod(float(abs(h)), 2.0**bits)) % 2**32
    return 0 if remainder >= 2**31 else remainder


def code_units(text):
    """Return the UTF-16 code units of a text.

    >>> [f"{unit:x}" for unit in code_units("a😀")]
    ['61', 'd83d', 'de00']
    """
    data = text.encode("utf-16-le")
    return [int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2)]


def signed64(value):
    """Return the value as a signed 64-bit integer would hold it.

    >>> signed64(2**63) == -(2**63)
    True
    """
    value %= 2**64
    return value - 2**64 if value >= 2**63 else value
