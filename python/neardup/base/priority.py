"""Which of two duplicates is kept: the order in which documents are decided."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from neardup.base.lazy import NDArray, np
from neardup.base.messages import Message
from neardup.base.validation import bad, check_string
from neardup.exceptions import InputError


class Criterion(NamedTuple):
    """One wish in a priority: ``first``, ``last``, ``longest`` or a field's smallest value."""

    kind: str
    field: str = ""
    largest: bool = False


def criteria_of(priority: str) -> list[Criterion]:
    """Return the wishes of a priority, the most important first."""
    check_string(priority, "priority")
    criteria = []
    for wish in priority.split(","):
        kind, _, name = wish.partition(":")
        field = name.removesuffix(":desc")
        if wish in ("first", "last", "longest"):
            criteria.append(Criterion(wish))
        elif kind == "field" and field:
            criteria.append(Criterion(kind, field, name != field))
        else:
            raise bad(
                "priority",
                "first, last, longest or field:NAME[:desc], or several of these with "
                "commas between them",
                priority,
            )
    return criteria


def fields_of(priority: str) -> tuple[str, ...]:
    """Return the fields that a priority names, each once."""
    named = (criterion.field for criterion in criteria_of(priority) if criterion.kind == "field")
    return tuple(dict.fromkeys(named))


def priority_order(
    priority: str,
    readable: NDArray[np.bool_],
    lengths: Sequence[Any],
    values: Mapping[str, Sequence[Any]],
) -> NDArray[np.uint32]:
    """Return the readable documents in priority order.

    Ties of one wish are decided by the next, and in the end are in input order. Numbers sort
    as numbers, also if they are text; other text sorts with its runs of digits as numbers, so
    that the date ``2024-3-9`` comes before ``2024-12-1``. Documents without a value come last,
    in either direction.
    """
    order = np.flatnonzero(readable).astype(np.uint32)
    # The least important first, since each sort keeps the order of ties.
    for criterion in reversed(criteria_of(priority)):
        if criterion.kind == "last":
            order = order[np.argsort(-order.astype(np.int64), kind="stable")]
        elif criterion.kind == "first":
            order = np.sort(order)
        elif criterion.kind == "longest":
            size = np.concatenate(lengths) if lengths else np.zeros(0, np.int64)
            order = order[np.argsort(-size[order], kind="stable")]
        else:
            order = _by_field(criterion, order, values.get(criterion.field, ()))
    return np.ascontiguousarray(order)


def _by_field(
    criterion: Criterion, order: NDArray[np.uint32], values: Sequence[Any]
) -> NDArray[np.uint32]:
    """Return documents sorted by the values of a field."""
    keys = _sort_keys([values[document] for document in order.tolist()], criterion.field)
    known = [number for number, key in enumerate(keys) if key is not None]
    if keys and not known:
        raise InputError(
            Message(
                "No record has a value in the field '{field}', which the priority "
                "names. Name a field that the records have.",
                field=criterion.field,
            )
        )
    unknown = [number for number, key in enumerate(keys) if key is None]
    # A reversed sort keeps the order of ties.
    known.sort(key=keys.__getitem__, reverse=criterion.largest)
    return order[np.array(known + unknown, dtype=np.intp)]


_DIGITS = re.compile(r"([0-9]+)")


def _sort_keys(values: list[Any], name: str) -> list[Any]:
    """Return a natural sort key for each value; None for no value."""
    # Neither None nor NaN nor blank text is a value.
    values = [None if v != v or (isinstance(v, str) and not v.strip()) else v for v in values]
    present = [v for v in values if v is not None]
    if all(isinstance(v, str) for v in present):
        from decimal import Decimal

        for number in (int, Decimal):
            try:
                numbers = {v: number(v) for v in set(present)}
            except (ValueError, ArithmeticError):
                continue
            if all(n == n for n in numbers.values()):
                return [None if v is None else numbers[v] for v in values]
        return [None if v is None else _natural(v) for v in values]
    try:
        sorted(present)
    except (TypeError, RecursionError):
        kinds = ", ".join(sorted({type(v).__name__ for v in present}))
        raise InputError(
            Message(
                "The field '{field}' cannot order the documents: it has values of "
                "types that do not compare ({kinds}). Choose another field for the "
                "priority.",
                field=name,
                kinds=kinds,
            )
        ) from None
    return values


def _natural(text: str) -> list[tuple[int, str]]:
    """Return a sort key of a text with its runs of digits as numbers."""
    parts = _DIGITS.split(text)
    key = []
    for number, part in enumerate(parts):
        digits = part.lstrip("0")
        key.append((len(digits), digits) if number % 2 else (-1, part))
    return key
