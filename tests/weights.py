"""The weights of a text's features."""


def weights_of(core, units, title=None):
    """Return {feature: weight} by a compiled recipe."""
    return {word: weight for word, _, _, _, weight, _ in core.features(units, title)}
