"""The word weights for peers that have no weights of their own."""

BY_TAG = {"n": 4, "v": 3}


def of(units):
    """Return word -> count times the factor of its part of speech. Punctuation is left out."""
    weights = {}
    for word, tag in units:
        if tag[:1] not in ("x", "w"):
            weights[word] = weights.get(word, 0) + BY_TAG.get(tag[:1], 2)
    return weights
