"""Search for fingerprints within a Hamming distance."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.base.arrays import word_count
from neardup.base.lazy import NDArray, _core, np
from neardup.base.messages import Message
from neardup.base.validation import check_max_distance, check_whole, check_workers
from neardup.exceptions import ParameterError


@dataclass(frozen=True, eq=False)
class CandidatePairs:
    """Pairs of fingerprints within a distance.

    Parameters
    ----------
    a, b : ndarray of shape (n_pairs,), dtype uint32
        Row numbers, sorted by (a, b); from :func:`near_pairs`, ``a < b``.
    distance : ndarray of shape (n_pairs,), dtype uint16
        Differing bits.
    """

    a: NDArray[np.uint32]
    b: NDArray[np.uint32]
    distance: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.a)


def near_pairs(
    fingerprints: NDArray[np.uint64], *, max_distance: int = 3, bits: int = 64, workers: int = 0
) -> CandidatePairs:
    """Return all pairs of fingerprints within a Hamming distance.

    Parameters
    ----------
    fingerprints : ndarray of shape (n, words) or (n,), dtype uint64
        As :func:`neardup.fingerprint_many` returns them, without the rows of
        zeros for texts without features; n < 2**32.
    max_distance : int, default=3
        Largest number of differing bits, inclusive; 0 <= max_distance <= bits.
    bits : int, default=64
        Width of a fingerprint: 1 to 256. The default recipe makes fingerprints of 128 bits.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes no result.

    Returns
    -------
    CandidatePairs
        Columns a, b (row numbers, ``a < b``) and distance, sorted by (a, b).

    Raises
    ------
    ParameterError
        If a parameter is out of bounds or the array has another shape or dtype.
    InputError
        If there are more than 2**28 pairs.

    Notes
    -----
    Exact: no pair within the distance is missed [1]_. The output is
    quadratic in the number of equal fingerprints.

    References
    ----------
    .. [1] Manku, Jain, Das Sarma. Detecting near-duplicates for web crawling.
       WWW 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from neardup import near_pairs
    >>> found = near_pairs(np.array([0b0000, 0b0111, 0b1111], dtype=np.uint64), max_distance=3)
    >>> found.a.tolist(), found.b.tolist(), found.distance.tolist()
    ([0, 1], [1, 2], [3, 1])
    """
    bits = check_whole(bits, "bits", 1, 256)
    rows = check_rows(fingerprints, bits)
    limit = check_max_distance(max_distance, bits)
    threads = check_workers(workers)
    return CandidatePairs(*_core.near_pairs(rows, bits=bits, max_distance=limit, workers=threads))


def check_rows(fingerprints: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """Return fingerprints as rows of 1, 2 or 4 words, checked."""
    bits = check_whole(bits, "bits", 1, 256)
    words = word_count(bits)
    array = np.asarray(fingerprints)
    if array.ndim == 1 and words == 1:
        array = array[:, None]
    if array.dtype != np.uint64 or array.ndim != 2 or array.shape[1] != words:
        raise ParameterError(
            Message(
                "{parameter:named} must be uint64 of shape (n, {words}) for {bits} bits, not "
                "{type} of {shape}. Pass the width as bits.",
                parameter="fingerprints",
                words=words,
                bits=bits,
                type=str(array.dtype),
                shape=str(array.shape),
            )
        )
    widths = np.clip(bits - 64 * np.arange(words), 0, 64)
    # Shifted twice: a shift by all 64 bits is not defined.
    spare = array >> (widths // 2).astype(np.uint64) >> (widths - widths // 2).astype(np.uint64)
    if bits < 64 * words and spare.any():
        raise ParameterError(
            Message(
                "{parameter:named} must have no bits above {bits}. Got a larger value instead.",
                parameter="fingerprints",
                bits=bits,
            )
        )
    return np.ascontiguousarray(array)
