"""Results as one screen, in a console and in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

__all__ = ["OneScreen", "rule_of"]

#: The most characters of a value.
_WIDTH = 100


class OneScreen:
    """Shows a result by a few facts instead of all that it holds."""

    def _facts(self) -> Iterable[tuple[str, Any]]:
        """Yield names and values, in order; a name may be empty."""
        raise NotImplementedError

    def __repr__(self) -> str:
        rows = [(name, _shown(value)) for name, value in self._facts()]
        width = max((len(name) for name, _ in rows), default=0)
        lines = [f"  {name:<{width}}  {value}".rstrip() for name, value in rows]
        return "\n".join([type(self).__name__, *lines])

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(_shown(value))}</td></tr>"
            for name, value in self._facts()
        )
        return f"<table><caption>{type(self).__name__}</caption>{cells}</table>"


def rule_of(measure: str, threshold: float | None, max_distance: int | None) -> str:
    """Return what a duplicate is, in a few words.

    Examples
    --------
    >>> rule_of("content(5)", 0.45, None), rule_of("equal_bits", None, 3)
    ('content(5) >= 0.45', 'at most 3 differing bits')
    """
    if threshold is None:
        return f"at most {max_distance} differing bits"
    return f"{measure} >= {threshold}"


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
