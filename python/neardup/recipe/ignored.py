"""Parts that a recipe ignores: the names of kinds, and regular expressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from neardup.base.lazy import _core
from neardup.base.validation import bad, is_text

#: Kinds of stretches that a recipe can ignore.
IGNORED = ("numbers", "dates", "links", "names", "punctuation")

#: Words for kinds that have another name here.
_WISHES = {
    "digits": "numbers",
    "time": "dates",
    "times": "dates",
    "timestamps": "dates",
    "url": "links",
    "urls": "links",
    "mentions": "names",
    "hashtags": "names",
    "tags": "names",
}


def check_ignored(value: Any, name: str = "ignore") -> tuple[str, ...]:
    """Return what is to be ignored in one order, each kind and expression once.

    Parameters
    ----------
    value : str or sequence of str
        Kinds with commas between them, and regular expressions. What stands between kinds is one
        expression, which may have commas too.
    """
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, Sequence) or not all(map(is_text, items)) or not all(items):
        choices = ", ".join(IGNORED)
        raise bad(name, "a list of {choices} or regular expressions", value, choices=choices)
    found = dict.fromkeys(part for item in items for part in _parts(item))
    for part in found:
        if part not in IGNORED:
            _check_expression(part, name)
    kinds = [kind for kind in IGNORED if kind in found]
    return (*kinds, *sorted(found.keys() - set(IGNORED)))


def _parts(item: str) -> Iterator[str]:
    """Yield the kinds at both ends of an item, and the expression between them."""
    pieces = item.split(",")
    while pieces and pieces[0].strip() in IGNORED:
        yield pieces.pop(0).strip()
    while pieces and pieces[-1].strip() in IGNORED:
        yield pieces.pop().strip()
    if pieces:
        yield ",".join(pieces)


def _check_expression(expression: str, name: str) -> None:
    """Raise ParameterError, with the place, if an expression cannot be used."""
    from difflib import get_close_matches

    word = expression.strip().lower()
    near = get_close_matches(word, IGNORED, 1, 0.8) or [_WISHES.get(word, "")]
    if word.isalpha() and near[0]:
        raise bad(
            name,
            "one of {choices}, or ({word}) for that word (did you mean {kind}?)",
            expression,
            choices=", ".join(IGNORED),
            word=expression,
            kind=near[0],
        )
    fault = _core.expression_fault(expression)
    if fault is not None:
        reason, place = fault
        raise bad(
            name,
            "regular expressions in the syntax of Rust's regex (at character {place}: {reason})",
            expression,
            place=place,
            reason=reason,
        )
