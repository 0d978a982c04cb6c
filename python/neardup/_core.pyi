"""The private module: argument in, core call, result out. Import `neardup` instead."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MAX_TEXT_BYTES",
    "Corpus",
    "FingerprintIndex",
    "Keeper",
    "PairSearch",
    "Recipe",
    "__version__",
    "near_pairs",
    "overlap",
    "plan",
    "predicted_recall",
    "radius",
]

__version__: str
MAX_TEXT_BYTES: int

@final
class Recipe:
    def __new__(
        cls,
        settings: str,
        *,
        stop_words: list[str] | None,
        markers: list[str],
        user_dictionary: str | None,
        idf: tuple[int, list[str], list[int]] | None,
    ) -> Recipe: ...
    def normalize(self, text: str) -> str: ...
    def normalize_mapped(self, text: str) -> tuple[str, list[tuple[int, int]]]: ...
    def units(self, normalized: str) -> list[tuple[str, str]]: ...
    def features(self, normalized: str, title: str | None) -> list[tuple[str, int]]: ...
    def sketch(self, normalized: str, title: str | None) -> tuple[int, list[int]]: ...

@final
class Corpus:
    def __new__(cls, recipe: Recipe, *, keeps_texts: bool, workers: int) -> Corpus: ...
    def __len__(self) -> int: ...
    def push(self, texts: Any, *, titles: Any, units: Any) -> None: ...
    def finish(self) -> None: ...
    def fingerprints(self) -> NDArray[np.uint64]: ...
    def features(self) -> NDArray[np.int64]: ...
    def frequencies(self) -> tuple[int, list[tuple[str, int]]] | None: ...
    def frequencies_digest(self) -> int | None: ...

@final
class Keeper:
    def __new__(
        cls,
        corpus: Corpus,
        *,
        max_distance: int,
        threshold: float | None,
        shingle: int,
        min_features: int,
    ) -> Keeper: ...
    def decide(
        self, corpus: Corpus, documents: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_]]: ...
    def counts(self) -> tuple[int, int]: ...

@final
class PairSearch:
    def __new__(
        cls,
        corpus: Corpus,
        *,
        max_distance: int,
        threshold: float | None,
        shingle: int,
        min_features: int,
    ) -> PairSearch: ...
    def candidates(self) -> int: ...
    def next_piece(
        self, corpus: Corpus
    ) -> (
        tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.int32]] | None
    ): ...

@final
class FingerprintIndex:
    def __new__(
        cls, rows: NDArray[np.uint64], *, bits: int, max_distance: int
    ) -> FingerprintIndex: ...
    def __len__(self) -> int: ...
    def add(self, rows: NDArray[np.uint64]) -> None: ...
    def near(
        self, queries: NDArray[np.uint64], *, max_distance: int, workers: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint16]]: ...

def near_pairs(
    rows: NDArray[np.uint64], *, bits: int, max_distance: int, workers: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint16]]: ...
def plan(documents: int, bits: int, max_distance: int, *, look_ups: bool) -> dict[str, Any]: ...
def radius(threshold: float, bits: int, recall: float) -> int: ...
def predicted_recall(threshold: float, bits: int, max_distance: int) -> float: ...
def overlap(a: str, b: str, *, shingle: int) -> tuple[int, int, int]: ...
