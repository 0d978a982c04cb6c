"""The lab: experiments whose truth is known, their metrics, their figures.

`EditModel` makes near-duplicates as re-posts and editors do; `published` runs
the published comparison of methods on a collection of your own;
`evaluate_pairs` says which measure and threshold fit pairs that you labelled;
the metrics serve any result. Figures need the extra: ``pip install 'neardup[lab]'``.
"""

from neardup.lab.bootstrap import bootstrap_interval
from neardup.lab.cluster_metrics import (
    BCubed,
    KeptScores,
    adjusted_rand_index,
    b_cubed,
    kept_scores,
)
from neardup.lab.edit_model import EditedCopy, EditModel
from neardup.lab.labelled import PairsEvaluation, evaluate_pairs
from neardup.lab.methods import METHODS, Method
from neardup.lab.metrics import Scores, average_precision, pair_scores, precision_recall_curve
from neardup.lab.published import PublishedResult, published

__all__ = [
    "METHODS",
    "BCubed",
    "EditModel",
    "EditedCopy",
    "KeptScores",
    "Method",
    "PairsEvaluation",
    "PublishedResult",
    "Scores",
    "adjusted_rand_index",
    "average_precision",
    "b_cubed",
    "bootstrap_interval",
    "evaluate_pairs",
    "kept_scores",
    "pair_scores",
    "precision_recall_curve",
    "published",
]
