"""The lab: experiments with known ground truth, their metrics and figures.

`RepostModel` makes near-duplicates like those of re-posts, `EditModel` like those of editors;
`published` runs the published comparison of methods on your own collection; `evaluate_pairs`
finds the measure and threshold that fit your labelled pairs; `plant` puts passages of texts
into others, and `passage_scores` measures how well they were found. The metrics work with any
result. Figures need the extra: ``pip install 'neardup[lab]'``.
"""

from neardup.lab.datasets.edit_model import EditedCopy, EditModel
from neardup.lab.datasets.planted import KINDS, Planted, exchange_words, plant
from neardup.lab.datasets.reposts import Repost, RepostModel
from neardup.lab.experiments.labelled_pairs import PairsEvaluation, evaluate_pairs
from neardup.lab.experiments.zhang_he_2020 import published
from neardup.lab.experiments.zhang_he_2020.methods import METHODS, Method
from neardup.lab.experiments.zhang_he_2020.results import PublishedResult
from neardup.lab.metrics import (
    BCubed,
    KeptScores,
    Scores,
    adjusted_rand_index,
    average_precision,
    b_cubed,
    bootstrap_interval,
    kept_scores,
    pair_scores,
    precision_recall_curve,
)
from neardup.lab.plagdet import Case, PassageScores, passage_scores

__all__ = [
    "KINDS",
    "METHODS",
    "BCubed",
    "Case",
    "EditModel",
    "EditedCopy",
    "KeptScores",
    "Method",
    "PairsEvaluation",
    "PassageScores",
    "Planted",
    "PublishedResult",
    "Repost",
    "RepostModel",
    "Scores",
    "adjusted_rand_index",
    "average_precision",
    "b_cubed",
    "bootstrap_interval",
    "evaluate_pairs",
    "exchange_words",
    "kept_scores",
    "pair_scores",
    "passage_scores",
    "plant",
    "precision_recall_curve",
    "published",
]
