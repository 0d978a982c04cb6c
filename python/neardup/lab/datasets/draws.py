"""Random draws that a key alone decides."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

_T = TypeVar("_T")


def make_generator(key: str) -> np.random.Generator:
    """Return PCG64 seeded by a hash of a key: the same draws on every machine."""
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


class Draws:
    """Random draws that a key alone decides."""

    def __init__(self, key: str) -> None:
        # Of all draws in NumPy, this one is the least likely to change.
        self.share: Callable[[], float] = make_generator(key).random

    def draw_below(self, count: int) -> int:
        """Return a whole number from 0 to below `count`, each with the same chance."""
        return int(self.share() * count)

    def pick(self, items: Sequence[_T]) -> _T:
        """Return an item, each with the same chance."""
        return items[self.draw_below(len(items))]

    def sample(self, items: Sequence[_T], count: int) -> list[_T]:
        """Return `count` of the items, none twice, in the order drawn."""
        left = list(items)
        for i in range(count):
            other = i + self.draw_below(len(left) - i)
            left[i], left[other] = left[other], left[i]
        return left[:count]
