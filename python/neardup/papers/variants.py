"""Equivalent Chinese characters: traditional and simplified forms."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["variants"]

# Unified ideographs: the first block and its extensions.
_BLOCKS = ((0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF))


@lru_cache(maxsize=1)
def variants() -> tuple[str, str, str | None]:
    """Return traditional characters, their simplified forms, and the source of the table.

    Returns
    -------
    tuple of str, str and str or None
        Two texts of equal length, and ``opencc VERSION``; two empty ones and None if
        the package `opencc`, a dependency of ``neardup[papers]``, is not installed.

    Notes
    -----
    Single characters only, one for one, so that positions in a text do not change. If the
    form depends on the word (乾 is 干 or 乾), OpenCC's choice for the single character is
    used for both texts, which suffices to compare them. Takes 0.1 seconds, once per process.

    Examples
    --------
    >>> traditional, simplified, _ = variants()
    >>> len(traditional) == len(simplified)
    True
    """
    try:
        from opencc import OpenCC
    except ImportError:
        return "", "", None
    from importlib.metadata import version

    convert = OpenCC("t2s").convert
    pairs = [
        (character, simplified)
        for first, last in _BLOCKS
        for character in map(chr, range(first, last + 1))
        if (simplified := convert(character)) != character and len(simplified) == 1
    ]
    return (
        "".join(one for one, _ in pairs),
        "".join(other for _, other in pairs),
        f"opencc {version('opencc')}",
    )
