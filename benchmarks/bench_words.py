"""Words with parts of speech, weighted, to SimHash fingerprints: Chinese, one core."""

import corpus
import fidelity
from harness import PRODUCT, Engine, Work

WORKS = (
    Work(
        name="words",
        title="Words and parts of speech to weighted SimHash, Chinese, one core",
        prepare=corpus.sample,
        judge=fidelity.judge,
        needs=corpus.NEEDS,
        notes="64 bits. Each engine takes as much of the same text as its speed allows. The "
        "dictionary is loaded before the clock starts.",
        engines=(
            Engine(
                "neardup, improved, bundled IDF",
                PRODUCT,
                "fingerprints",
                {"recipe": "improved", "mb": 24, "idf": "bundled"},
            ),
            Engine(
                "neardup, improved, the corpus' IDF: two passes",
                PRODUCT,
                "fingerprints",
                {"recipe": "improved", "mb": 24},
            ),
            Engine("neardup, classic", PRODUCT, "fingerprints", {"recipe": "classic", "mb": 24}),
            Engine("cppjieba (Python binding) + simhash", "cppjieba", "words", {"mb": 4}, 3),
            Engine("jieba.posseg + simhash", "simhash", "words", {"mb": 0.6}, 3),
        ),
    ),
)
