"""Find near-duplicate texts, and say why. Chinese first, any language.

A text goes through eight stages:

1. normalize: text to normalized text, with the origin of each character
2. segment: text to units, words with part of speech or runs of characters
3. weigh: units to features with integer weights
4. sketch: features to a fingerprint, a signature or a sample
5. candidates: sketches to pairs worth a closer look
6. verify: a pair's texts to a similarity, and a yes or no
7. cluster: verified pairs to clusters of documents
8. keep: clusters to kept documents, and a reason for each dropped one

The first four are a recipe.
"""

# An interrupt during the imports below must end the command like any other interrupt.
from neardup._engine import __version__
from neardup._engine import interrupt as _interrupt

if _interrupt.is_command():
    _interrupt.end_at_once()

# The modules load NumPy, Arrow and the core on first use, so that importing this is
# fast. Importing the functions here also ensures that names such as `neardup.compare`
# never mean the module of that name.
from neardup.compare import Comparison, compare
from neardup.dedup import DedupResult, dedup, dedup_files
from neardup.exceptions import (
    ClusterError,
    IndexFormatError,
    IndexMismatchError,
    IndexUnavailableError,
    InputError,
    MissingDependencyError,
    NeardupError,
    OutputError,
    ParameterError,
    SketchMismatchError,
)
from neardup.idf import count_idf
from neardup.index import Index
from neardup.near import CandidatePairs, FingerprintIndex, near_pairs
from neardup.pairs import PairsResult, pairs, pairs_files
from neardup.papers.check import check
from neardup.papers.report.report import Report
from neardup.plan import Plan, plan
from neardup.recipe import Recipe, load_recipe
from neardup.recipe.frequencies import DocumentFrequencies, load_idf
from neardup.sketch import (
    Fingerprint,
    fingerprint,
    fingerprint_files,
    fingerprint_many,
    signature_many,
)

__all__ = [
    "CandidatePairs",
    "ClusterError",
    "Comparison",
    "DedupResult",
    "DocumentFrequencies",
    "Fingerprint",
    "FingerprintIndex",
    "Index",
    "IndexFormatError",
    "IndexMismatchError",
    "IndexUnavailableError",
    "InputError",
    "MissingDependencyError",
    "NeardupError",
    "OutputError",
    "PairsResult",
    "ParameterError",
    "Plan",
    "Recipe",
    "Report",
    "SketchMismatchError",
    "__version__",
    "check",
    "compare",
    "count_idf",
    "dedup",
    "dedup_files",
    "fingerprint",
    "fingerprint_files",
    "fingerprint_many",
    "load_idf",
    "load_recipe",
    "near_pairs",
    "pairs",
    "pairs_files",
    "plan",
    "signature_many",
]
