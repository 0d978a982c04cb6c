"""Character n-grams to SimHash fingerprints: Chinese, one core."""

import corpus
import fidelity
from harness import PRODUCT, Engine, Work

WORKS = (
    Work(
        name="characters",
        title="Character 2-grams to SimHash, Chinese, one core",
        prepare=corpus.sample,
        judge=fidelity.judge,
        needs=corpus.NEEDS,
        notes="gaoya keeps its fingerprints to itself: its figure includes filing them in its "
        "index, and their quality is not seen. simhash-pybind takes hashes, so its figure "
        "includes making them with Python's own hash().",
        engines=(
            Engine(
                "neardup, characters", PRODUCT, "fingerprints", {"recipe": "characters", "mb": 24}
            ),
            Engine("gaoya", "gaoya", "characters", {"mb": 24}),
            Engine("simhash-pybind", "simhash_pybind", "characters", {"mb": 12}),
            Engine("simhash", "simhash", "characters", {"mb": 2}, 3),
        ),
    ),
)
