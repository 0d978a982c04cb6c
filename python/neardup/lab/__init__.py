"""The lab: experiments with known ground truth, their metrics and figures.

`RepostModel` makes near-duplicates as re-posts are, `EditModel` as editors make them;
`published` runs the published comparison of methods on your own collection; `evaluate_pairs`
finds the measure and threshold that fit your labelled pairs. Figures need the extra:
``pip install 'neardup[lab]'``.
"""

from neardup.lab.datasets.edit_model import EditModel
from neardup.lab.datasets.reposts import RepostModel
from neardup.lab.experiments.labelled_pairs import evaluate_pairs
from neardup.lab.experiments.labelled_pairs.settings import PairsEvaluation
from neardup.lab.experiments.zhang_he_2020 import published
from neardup.lab.experiments.zhang_he_2020.runs import PublishedResult
from neardup.lab.scores import Scores

__all__ = [
    "EditModel",
    "PairsEvaluation",
    "PublishedResult",
    "RepostModel",
    "Scores",
    "evaluate_pairs",
    "published",
]
