"""The private module: argument in, core call, result out. Import `neardup` instead."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

_Piece = tuple[int, int, int, int]
_Numbers = NDArray[Any] | Buffer

__all__ = [
    "COMMON_KEYS",
    "MAX_BATCH",
    "MAX_BUCKETS",
    "MAX_TEXT_BYTES",
    "MAX_WORKERS",
    "RARE_KEYS",
    "SHINGLE_BLOCK",
    "Aligner",
    "ArrowArray",
    "Background",
    "Clusterer",
    "Corpus",
    "Decisions",
    "ExternalJoin",
    "FetchedIndex",
    "Fingerprints",
    "Items",
    "JsonFields",
    "KeyScheme",
    "Library",
    "Memory",
    "PairSearch",
    "Paper",
    "Recipe",
    "Repeats",
    "Rule",
    "Shuffle",
    "__version__",
    "banding",
    "bundled_stop_words",
    "common_shingles",
    "content",
    "count_distinct",
    "count_records",
    "counts_of_samples",
    "cut_text",
    "cuts",
    "edit_similarity",
    "expression_fault",
    "file_sketches",
    "forbid_global_pool",
    "guess_encoding",
    "hashes_of",
    "inside",
    "judge",
    "judge_pairs",
    "kept_records",
    "least_similar",
    "near_pairs",
    "open_pairs",
    "plan",
    "predicted_recall",
    "radius",
    "rows_of",
    "s_curve",
    "select_samples",
    "unmask",
]

__version__: str
COMMON_KEYS: int
MAX_BATCH: int
MAX_BUCKETS: int
MAX_TEXT_BYTES: int
MAX_WORKERS: int
RARE_KEYS: int
SHINGLE_BLOCK: int

@final
class ArrowArray:
    @property
    def null_count(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> str | None: ...
    def slice(self, begin: int, length: int) -> ArrowArray: ...
    def __arrow_c_array__(self, _requested_schema: object = None) -> tuple[object, object]: ...

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
    def features(
        self, normalized: str, title: str | None
    ) -> list[tuple[str, int, int | None, list[int] | None, int, list[int]]]: ...
    def sketch(self, normalized: str, title: str | None) -> tuple[int, list[int], list[int]]: ...

@final
class Memory:
    def __new__(
        cls,
        *,
        texts: int,
        sketches: int | None,
        compared: int,
        keys: int,
        folder: str | PathLike[str] | None,
    ) -> Memory: ...

@final
class ExternalJoin:
    def __new__(cls, corpus: Corpus, rule: Rule, order: _Numbers) -> ExternalJoin: ...
    def advance(self, corpus: Corpus) -> bool: ...

@final
class Corpus:
    def __new__(
        cls,
        recipe: Recipe,
        *,
        keeps_texts: bool,
        shingle: int | None,
        workers: int,
        memory: Memory | None = None,
    ) -> Corpus: ...
    def rows(self, begin: int, end: int) -> list[Any]: ...
    def restore(
        self, identities: Any, features: Any, sketches: Any, texts: Any, *, normalized: bool
    ) -> None: ...
    def texts(self, begin: int, end: int) -> Any: ...
    def is_outside(self) -> bool: ...
    def __len__(self) -> int: ...
    def emptied(self, *, keeps_texts: bool) -> Corpus: ...
    def set_background(self, background: Background) -> None: ...
    def push(self, texts: Any, *, titles: Any, units: Any) -> None: ...
    def usage(self) -> list[tuple[str, int | None, int, int]]: ...
    def distinct_texts(self, documents: _Numbers) -> int: ...
    def samples(self, first: int, numbers: NDArray[np.int64]) -> bytes: ...
    def counts(self, parts: int) -> tuple[int, list[bytes]]: ...
    def finish(self) -> None: ...
    def divide(self, groups: NDArray[np.uint64]) -> None: ...
    def fingerprints(self) -> NDArray[np.uint64]: ...
    def signatures(self) -> NDArray[np.uint32]: ...
    def features(self) -> NDArray[np.int64]: ...
    def readable(self) -> bytes: ...
    def without_features(self, first: int) -> tuple[int, int]: ...
    def frequencies(self) -> tuple[int, list[tuple[str, int]]] | None: ...
    def sketch_similarity(self, a: int, b: int) -> float: ...
    def frequencies_digest(self) -> int | None: ...

@final
class Rule:
    def __new__(
        cls,
        *,
        scheme: str,
        max_distance: int,
        bands: int,
        rows: int,
        resemblance: float,
        threshold: float,
        measure: str,
        direction: str,
        shingle: int,
        min_features: int,
        exhaustive: bool,
    ) -> Rule: ...
    def max_list_len(self, *, filing_all: bool) -> int | None: ...

@final
class Clusterer:
    def __new__(cls, corpus: Corpus, rule: Rule) -> Clusterer: ...
    @staticmethod
    def joined(corpus: Corpus, rule: Rule, join: ExternalJoin, order: _Numbers) -> Clusterer: ...
    @staticmethod
    def of_stored(
        corpus: Corpus, rule: Rule, stored: FetchedIndex, numbers: Sequence[int]
    ) -> Clusterer: ...
    def new_entries(
        self,
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint16]]: ...
    def similar(
        self, corpus: Corpus, document: int
    ) -> list[tuple[int, float, int | None, bool]]: ...
    def file(self, corpus: Corpus, documents: _Numbers) -> None: ...
    def decide_into(
        self, corpus: Corpus, documents: _Numbers, decisions: Decisions, *, files: bool = True
    ) -> None: ...
    def decide(
        self, corpus: Corpus, documents: NDArray[np.uint32], *, files: bool = True
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_]]: ...
    def first_kept_by_unique_text(self) -> list[tuple[int, int, float]]: ...
    def statistics(self) -> list[int]: ...

@final
class Decisions:
    def __new__(cls, count: int) -> Decisions: ...
    def __len__(self) -> int: ...
    def keep(self, documents: _Numbers) -> None: ...
    def columns(self) -> list[bytes]: ...
    def removals(self) -> list[bytes]: ...
    def kept_flags(self, first: int) -> bytes: ...

@final
class PairSearch:
    def __new__(
        cls,
        corpus: Corpus,
        rule: Rule,
        *,
        others: int | None = None,
        max_pairs: int = ...,
    ) -> PairSearch: ...
    def statistics(self) -> list[int]: ...
    def next_piece(
        self, corpus: Corpus
    ) -> (
        tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.int32]] | None
    ): ...

@final
class Background:
    def __new__(cls, corpus: Corpus) -> Background: ...
    @staticmethod
    def of_shingles(documents: int, texts: int, parts: Sequence[bytes]) -> Background: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Background: ...
    def to_bytes(self) -> bytes: ...
    def counts(self) -> tuple[int, int, int]: ...

@final
class Shuffle:
    def __new__(cls, rule: Rule, recipe: Recipe, *, buckets: int) -> Shuffle: ...
    def keys(
        self, sketches: Sequence[bytes], highest: int, is_first: NDArray[np.bool_]
    ) -> list[bytes]: ...
    def count(self, blobs: Sequence[bytes]) -> list[bytes]: ...
    def file(
        self,
        sketches: Sequence[bytes],
        numbers: NDArray[np.int64],
        is_filed: NDArray[np.bool_],
        counts: Sequence[bytes],
        left_out: tuple[NDArray[np.uint32], NDArray[np.int64]],
    ) -> list[bytes]: ...
    def lists(
        self, filed: Sequence[bytes], asked: Sequence[bytes]
    ) -> tuple[list[bytes], NDArray[np.uint32], NDArray[np.int64]]: ...
    @property
    def list_cap(self) -> int: ...
    def candidates(
        self,
        sketches: Sequence[bytes],
        numbers: NDArray[np.int64],
        is_asked: NDArray[np.bool_],
        counts: Sequence[bytes],
        lists: Sequence[bytes],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

@final
class JsonFields:
    def __new__(
        cls,
        texts: list[str],
        id: str,
        *,
        requires_id: bool,
        title: str | None,
        extra: list[str],
    ) -> JsonFields: ...
    def columns(
        self, block: bytes, source: str, first: int
    ) -> tuple[
        Any,
        Any,
        Any | None,
        bool,
        list[bytes],
        list[tuple[int, bytes]],
    ]: ...

def count_records(block: bytes) -> int: ...
def kept_records(block: bytes, keep: _Numbers) -> bytes: ...
def least_similar(similarities: _Numbers, count: int) -> list[int]: ...
def cut_text(
    record: bytes, names: Sequence[str], spans: Sequence[tuple[int, int]]
) -> bytes | None: ...
def cuts(text: str, units: Sequence[tuple[int, int]]) -> list[tuple[int, int]]: ...
def bundled_stop_words() -> list[str]: ...
def rows_of(arrays: Sequence[Any], rows: _Numbers) -> ArrowArray: ...
def count_distinct(arrays: Sequence[Any]) -> int: ...
def hashes_of(array: Any) -> NDArray[np.uint64]: ...
def counts_of_samples(
    samples: bytes, numbers: NDArray[np.int64], parts: int
) -> tuple[int, list[bytes]]: ...
def common_shingles(counts: Sequence[bytes], subtracted: Sequence[bytes], texts: int) -> bytes: ...
def forbid_global_pool() -> None: ...
def judge(
    corpus: Corpus,
    a: int,
    b: int,
    *,
    measure: str,
    shingle: int,
    threshold: float | None = None,
    max_distance: int | None = None,
    min_features: int = 1,
) -> dict[str, Any]: ...
def select_samples(samples: bytes, numbers: NDArray[np.int64]) -> bytes: ...
def open_pairs(
    rule: Rule,
    recipe: Recipe,
    background: Background,
    samples: Sequence[bytes],
    pairs: Sequence[bytes],
) -> bytes: ...
def judge_pairs(
    rule: Rule,
    recipe: Recipe,
    background: Background | None,
    texts: Any,
    sketches: Sequence[bytes],
    features: NDArray[np.uint32],
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
) -> tuple[NDArray[np.float64], NDArray[np.int32]]: ...

@final
class KeyScheme:
    def __new__(cls, rule: Rule, *, bits: int, background: Background | None) -> KeyScheme: ...
    def has_keys(self) -> bool: ...
    def keys_of(self, corpus: Corpus, document: int) -> list[int]: ...
    def lookup_keys(self, corpus: Corpus, rule: Rule) -> NDArray[np.uint64]: ...

@final
class FetchedIndex:
    def __new__(
        cls,
        scheme: KeyScheme,
        keys: NDArray[np.uint64],
        numbers: NDArray[np.uint64],
        min_overlaps: NDArray[np.uint16],
    ) -> FetchedIndex: ...
    @staticmethod
    def listed(
        scheme: KeyScheme, offsets: Sequence[int], numbers: Sequence[int]
    ) -> FetchedIndex: ...
    def file(
        self, corpus: Corpus, rule: Rule, documents: NDArray[np.uint32]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint16]]: ...
    def skipped_documents(self) -> int: ...
    def candidates(self, corpus: Corpus) -> NDArray[np.uint64]: ...

@final
class Fingerprints:
    def __new__(cls, rows: NDArray[np.uint64], *, bits: int) -> Fingerprints: ...
    def __len__(self) -> int: ...
    def add(self, rows: NDArray[np.uint64]) -> None: ...
    def near(
        self, queries: NDArray[np.uint64], *, max_distance: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint16]]: ...

def near_pairs(
    rows: NDArray[np.uint64], *, bits: int, max_distance: int, workers: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint16]]: ...
def plan(documents: int, bits: int, max_distance: int, *, look_ups: bool) -> dict[str, Any]: ...
def radius(threshold: float, bits: int, recall: float) -> int: ...
def banding(
    threshold: float, recall: float, num_perm: int, documents: int
) -> tuple[int, int, float]: ...
def s_curve(bands: int, rows: int, points: int) -> list[tuple[float, float]]: ...
def predicted_recall(threshold: float, bits: int, max_distance: int) -> float: ...
def content(
    a: str, b: str, *, shingle: int, counted: list[str], entries: int
) -> dict[str, Any]: ...
def guess_encoding(data: bytes) -> str: ...

@final
class Aligner:
    def __new__(cls) -> Aligner: ...
    def plain(self, text: str) -> str: ...
    def paper(self, text: str) -> Paper: ...
    def sketches(self, texts: Any, *, workers: int) -> list[bytes]: ...
    def passages(
        self, paper: Paper, sources: Any, *, least: int, workers: int
    ) -> list[list[tuple[_Piece, float, list[_Piece]]]]: ...

@final
class Paper:
    def spans(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...

@final
class Library:
    def __new__(
        cls,
        runs: Sequence[tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]],
    ) -> Library: ...
    def sources(self, paper: Paper, *, least: int, limit: int) -> list[tuple[int, int]]: ...
    def counts(self, paper: Paper) -> list[tuple[int, int]]: ...
    def merged(
        self, begin: int, *, most: int, workers: int
    ) -> tuple[NDArray[np.uint64], int | None]: ...

@final
class Repeats:
    def __new__(
        cls,
        *,
        unit: str,
        least: int,
        memory: int,
        folder: PathLike[str] | str | None,
        workers: int,
    ) -> Repeats: ...
    def push(self, texts: Any) -> None: ...
    def finish(self, documents: int) -> int: ...
    def before(
        self, document: int
    ) -> tuple[
        NDArray[np.uint32],
        NDArray[np.uint32],
        NDArray[np.uint32],
        Any,
        NDArray[np.uint32],
        NDArray[np.uint32],
    ]: ...

@final
class Items:
    def __new__(cls, aligner: Aligner, texts: Any, *, shortest: int, workers: int) -> Items: ...
    def are_decidable(self) -> list[bool]: ...
    def find(
        self, texts: Any, *, least_cover: float, workers: int
    ) -> list[tuple[int, int, float, list[_Piece]]]: ...
    def covers(self, most: int) -> list[float | None]: ...

def file_sketches(
    sketches: Sequence[bytes], *, workers: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...
def unmask(text: str) -> tuple[str, list[tuple[int, int, int]]]: ...
def inside(text: str) -> tuple[int, int]: ...
def expression_fault(expression: str) -> tuple[str, int] | None: ...
def edit_similarity(a: str, b: str) -> float: ...
