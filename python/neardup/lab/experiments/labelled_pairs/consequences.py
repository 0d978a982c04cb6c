"""Effect of deduplication by a rule on the labelled documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import neardup
from neardup.lab.cluster_metrics import (
    BCubed,
    KeptScores,
    adjusted_rand_index,
    b_cubed,
    kept_scores,
)
from neardup.lab.experiments.labelled_pairs.pairs import Pairs, components
from neardup.recipe import NAMES, load_recipe

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.lab.experiments.labelled_pairs.measures import Decider

__all__ = ["Consequence", "consequence", "implied_clusters"]

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Consequence:
    """A run of `neardup.dedup` over the collection, judged on the labelled documents.

    Parameters
    ----------
    name : str
        Whose rule it was: ``default`` or ``best``.
    rule : str
        The recipe and its rule, for people.
    dropped_in_all : int
        Documents dropped, labelled or not.
    adjusted_rand : float
        In [-0.5, 1].
    b_cubed : BCubed
    kept : KeptScores
    """

    name: str
    rule: str
    dropped_in_all: int
    adjusted_rand: float
    b_cubed: BCubed
    kept: KeptScores


def implied_clusters(pairs: Pairs, is_true: npt.NDArray[np.bool_]) -> tuple[Places, Places, int]:
    """Return the clusters that labelled duplicates make.

    Parameters
    ----------
    pairs : Pairs
    is_true : ndarray of shape (n_pairs,), bool

    Returns
    -------
    places : ndarray of shape (n_labelled,), dtype int64
        Documents that occur in a pair, ascending.
    clusters : ndarray of shape (n_labelled,), dtype int64
        A label each: documents joined by duplicates, directly or over others,
        have one. A pair that nobody labelled is no duplicate by itself.
    contradictions : int
        Pairs labelled as no duplicates whose documents are in one cluster.
    """
    places, clusters = components(pairs, is_true)
    a, b = (clusters[np.searchsorted(places, side)] for side in (pairs.a, pairs.b))
    return places, clusters, int((a == b)[~is_true].sum())


def consequence(
    name: str,
    pairs: Pairs,
    labelled: Places,
    true: Places,
    *,
    decider: Decider | None = None,
    cut_off: float | None = None,
    by_distance: bool = False,
    workers: int = 0,
) -> Consequence:
    """Run `neardup.dedup` by a rule, and judge what it does.

    Parameters
    ----------
    name : str
    pairs : Pairs
    labelled, true : ndarray of shape (n_labelled,), dtype int64
        Places of the labelled documents, and their true clusters.
    decider : Decider or None, default=None
        The recipe; None for what `neardup.dedup` does by default.
    cut_off : float or None, default=None
        Its threshold, or its largest distance; None for its own.
    by_distance : bool, default=False
        Which of these `cut_off` is.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes nothing.

    Returns
    -------
    Consequence
        A labelled document may be dropped for one that is not labelled. The
        first labelled one of such a cluster then represents it.
    """
    import pyarrow as pa

    documents = pairs.documents
    table = pa.table(
        {
            "id": pa.array(map(str, range(len(documents))), pa.large_string()),
            "title": pa.array(documents.titles, pa.large_string()),
            "text": pa.array(documents.texts, pa.large_string()),
        }
    )
    recipe = NAMES[0] if decider is None else decider.recipe
    result = neardup.dedup(
        table,
        recipe=recipe,
        threshold=None if by_distance else cut_off,
        max_distance=int(cut_off) if by_distance and cut_off is not None else None,
        workers=workers,
    )
    kept_of = np.arange(len(documents))
    kept_of[_whole(result.removed["id"])] = _whole(result.removed["kept_id"])
    found = kept_of[labelled]
    stands_for = {int(place): at for at, place in enumerate(labelled.tolist())}
    points = []
    for at, kept in enumerate(found.tolist()):
        points.append(stands_for.setdefault(kept, at))
    plan = result.plan
    if plan.threshold is None:
        rule = f"distance ≤ {plan.max_distance}"
    else:
        rule = f"{plan.measure} ≥ {plan.threshold:g}"
    return Consequence(
        name=name,
        rule=f"{load_recipe(recipe).name}: {rule}",
        dropped_in_all=len(result.removed),
        adjusted_rand=adjusted_rand_index(found, true),
        b_cubed=b_cubed(found, true),
        kept=kept_scores(points, true),
    )


def _whole(ids: pa.ChunkedArray[Any]) -> Places:
    import pyarrow as pa
    import pyarrow.compute as pc

    places: Places = pc.cast(ids, pa.int64()).to_numpy()
    return places
