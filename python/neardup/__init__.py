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

from importlib import import_module

# An interrupt during the imports below must end the command like any other interrupt.
from neardup.base import __version__
from neardup.base import interrupt as _interrupt

if _interrupt.is_command():
    _interrupt.end_at_once()

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from neardup.index import Index
    from neardup.papers.paper_check import check
    from neardup.papers.report import Report
    from neardup.recipe import Recipe, load_recipe
    from neardup.recipe.frequencies import DocumentFrequencies, load_idf
    from neardup.run.plan import Plan
    from neardup.tasks.compare import compare
    from neardup.tasks.comparison import Comparison
    from neardup.tasks.contamination import contamination, contamination_files
    from neardup.tasks.contamination_result import ContaminationResult
    from neardup.tasks.dedup import dedup, dedup_files
    from neardup.tasks.dedup_result import DedupResult
    from neardup.tasks.explain import Explanation, explain
    from neardup.tasks.fingerprints import (
        Fingerprint,
        fingerprint,
        fingerprint_blocks,
        fingerprint_many,
    )
    from neardup.tasks.idf import count_idf
    from neardup.tasks.near import CandidatePairs, near_pairs
    from neardup.tasks.pairs import PairsResult, pairs, pairs_files
    from neardup.tasks.repeats import RepeatsResult, repeats, repeats_files
    from neardup.tasks.sketch import fingerprint_files, sketch_files

__all__ = [
    "CandidatePairs",
    "ClusterError",
    "Comparison",
    "ContaminationResult",
    "DedupResult",
    "DocumentFrequencies",
    "Explanation",
    "Fingerprint",
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
    "RepeatsResult",
    "Report",
    "SketchMismatchError",
    "__version__",
    "check",
    "compare",
    "contamination",
    "contamination_files",
    "count_idf",
    "dedup",
    "dedup_files",
    "explain",
    "fingerprint",
    "fingerprint_blocks",
    "fingerprint_files",
    "fingerprint_many",
    "load_idf",
    "load_recipe",
    "near_pairs",
    "pairs",
    "pairs_files",
    "repeats",
    "repeats_files",
    "sketch_files",
]

#: The module that has each public name: it is imported when the name is first used, so a
#: program loads only the tasks that it calls.
_HOMES = {
    name: f"neardup.{module}"
    for module, names in {
        "exceptions": "ClusterError IndexFormatError IndexMismatchError IndexUnavailableError "
        "InputError MissingDependencyError NeardupError OutputError ParameterError "
        "SketchMismatchError",
        "index": "Index",
        "papers.paper_check": "check",
        "papers.report": "Report",
        "recipe": "Recipe load_recipe",
        "recipe.frequencies": "DocumentFrequencies load_idf",
        "run.plan": "Plan",
        "tasks.compare": "compare",
        "tasks.comparison": "Comparison",
        "tasks.contamination": "contamination contamination_files",
        "tasks.contamination_result": "ContaminationResult",
        "tasks.dedup": "dedup dedup_files",
        "tasks.dedup_result": "DedupResult",
        "tasks.explain": "Explanation explain",
        "tasks.idf": "count_idf",
        "tasks.near": "CandidatePairs near_pairs",
        "tasks.pairs": "PairsResult pairs pairs_files",
        "tasks.repeats": "RepeatsResult repeats repeats_files",
        "tasks.fingerprints": "Fingerprint fingerprint fingerprint_blocks fingerprint_many",
        "tasks.sketch": "fingerprint_files sketch_files",
    }.items()
    for name in names.split()
}

#: The packages that are attributes without a separate import.
_PACKAGES = {home.split(".")[1] for home in _HOMES.values()} | {
    *("lab", "readers", "server", "spark", "writers")
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _PACKAGES:
        if name == "server":
            from neardup.base.extras import require

            require("A service", "server", "fastapi", "uvicorn", "sqlalchemy")
        return import_module(f"neardup.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
