"""What a verdict about a labelled pair rests on: its evidence, and why in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from neardup.base.messages import Message
from neardup.compare import Comparison, compare_documents
from neardup.lab.experiments.labelled_pairs.pairs import Pairs
from neardup.recipe import Recipe
from neardup.recipe.assets import compiled
from neardup.recipe.text_inputs import prepared

if TYPE_CHECKING:
    from neardup.lab.datasets.collection import Documents

__all__ = ["EVIDENCE", "Evidence", "PairJudge"]

#: Fields of a comparison that are evidence, in the order of the tables.
EVIDENCE = (
    "resemblance",
    "containment_a",
    "containment_b",
    "weighted_resemblance",
    "aligned",
    "numbers_agree",
    "numbers_differ",
    "numbers_replaced",
    "number_penalty",
    "short",
    "edit_similarity",
)

#: A smaller discount for common text explains nothing.
_NOTABLE = 0.05
#: From this containment on, one text is said to lie in the other.
_CONTAINED = 0.8
#: Below this resemblance, two texts of which one lies in the other differ in length.
_MUCH_LONGER = 0.7
#: From this share on, texts are said to align; and if their resemblance is so much lower, the
#: edits are scattered.
_ALIGNED, _SCATTERED = 0.5, 0.3


@dataclass(frozen=True)
class Evidence:
    """A pair compared by a recipe, within its collection.

    Parameters
    ----------
    comparison : Comparison
        As `neardup.compare` returns it, with text discounted that many documents of the
        collection share.
    undiscounted : float
        Its `weighted_resemblance` without that discount.
    """

    comparison: Comparison
    undiscounted: float

    def reasons(self) -> list[Message]:
        """Return why the verdict is as it is: the verdict, then what was found in the texts."""
        found = self.comparison
        reasons = [found.verdict] if isinstance(found.verdict, Message) else []
        if self.undiscounted - found.weighted_resemblance >= _NOTABLE:
            shares = (self.undiscounted, found.weighted_resemblance)
            shared, left = (f"{share:.0%}" for share in shares)
            reasons.append(Message("lab.because_common", shared=shared, left=left))
        reasons.append(Message("lab.because_aligned", share=f"{found.aligned:.0%}"))
        contained = max(found.containment_a, found.containment_b)
        if contained >= _CONTAINED and found.resemblance < _MUCH_LONGER:
            inner = "a" if found.containment_a >= found.containment_b else "b"
            reasons.append(Message(f"lab.because_contained_{inner}", share=f"{contained:.0%}"))
        elif found.aligned >= _ALIGNED and found.aligned - self.undiscounted >= _SCATTERED:
            share = f"{self.undiscounted:.0%}"
            reasons.append(Message("lab.because_scattered", share=share))
        return [*reasons, *self._numbers()]

    def _numbers(self) -> list[Message]:
        found = self.comparison
        counts = {"agree": found.numbers_agree, "differ": found.numbers_differ}
        if found.numbers_replaced:
            counts["replaced"] = found.numbers_replaced
            return [Message("lab.because_numbers_replaced", **counts)]
        if found.numbers_differ:
            return [Message("lab.because_numbers_differ", **counts)]
        if found.numbers_agree:
            return [Message("lab.because_numbers_agree", agree=found.numbers_agree)]
        return []


class PairJudge:
    """Compares labelled pairs within their collection, which says what is common text.

    Parameters
    ----------
    documents : Documents
        The whole collection; its texts are held in memory a second time.
    recipe : Recipe
        How texts are normalized and sketched.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes nothing.
    """

    def __init__(self, documents: Documents, recipe: Recipe, *, workers: int = 0) -> None:
        import pyarrow as pa

        from neardup import _core

        self._texts = documents.texts
        self._core = core = compiled(recipe)
        self._shingle = recipe.decide.shingle
        units = None
        if recipe.callable_name is not None:
            prepared_texts = (prepared(core, recipe, text)[1] for text in documents.texts)
            units = pa.array(prepared_texts, pa.large_string())
        self._corpus = _core.Corpus(core, keeps_texts=True, shingle=self._shingle, workers=workers)
        self._corpus.push(
            pa.array(documents.texts, pa.large_string()),
            titles=pa.array(documents.titles, pa.large_string()),
            units=units,
        )
        self._corpus.finish()

    def similarities(self, pairs: Pairs, measure: str) -> npt.NDArray[np.float64]:
        """Return the similarity of each pair by a measure of texts, such as ``content``."""
        from neardup import _core

        found = (
            _core.judge(self._corpus, a, b, measure=measure, shingle=self._shingle)["similarity"]
            for a, b in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)
        )
        return np.fromiter(found, np.float64, len(pairs))

    def evidence(self, pairs: Pairs, recipe: Recipe) -> tuple[Evidence, ...]:
        """Return the verdict about each pair, with its evidence.

        Parameters
        ----------
        pairs : Pairs
        recipe : Recipe
            That of this object, perhaps with other bounds.
        """
        both = zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)
        return tuple(self._of(a, b, recipe) for a, b in both)

    def _of(self, a: int, b: int, recipe: Recipe) -> Evidence:
        from neardup import _core

        texts = (self._texts[a], self._texts[b])
        normalized = [self._core.normalize(text) for text in texts]
        content: dict[str, Any] = _core.judge(
            self._corpus, a, b, measure="content", shingle=self._shingle
        )
        alone = _core.content(*normalized, shingle=self._shingle, counted=[], entries=1)
        weighed = content["weighed"] or alone
        content["resemblance"] = weighed["resemblance"]
        edits = _core.edit_similarity(*texts)
        comparison = compare_documents(self._corpus, a, b, recipe, content, edits)
        return Evidence(comparison, alone["resemblance"])
