"""Names of fields as paths: ``doc.text``, ``messages[*].content``, ``instruction,output``.

A field whose own name is the whole path comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

#: What a record has where a path leads nowhere; None is a value.
MISSING: Any = object()

_EACH = "[*]"
#: Levels of nested fields that messages name.
_NAMED_LEVELS = 4
#: Levels of lists that texts may be in.
_LIST_LEVELS = 8


def value_at(record: Any, path: str) -> Any:
    """Return the value at a path, MISSING if there is none; behind ``[*]`` a list of values.

    Examples
    --------
    >>> value_at({"messages": [{"content": "a"}, {"role": "b"}]}, "messages[*].content")
    ['a']
    """
    if not isinstance(record, Mapping):
        return MISSING
    if path in record:
        return record[path]
    if path.endswith(_EACH) and isinstance(record.get(path[:-3]), list):
        return record[path[:-3]]
    for dot, letter in enumerate(path):
        head, rest = path[:dot], path[dot + 1 :]
        if letter != "." or not rest:
            continue
        value = MISSING
        if head in record:
            value = value_at(record[head], rest)
        elif head.endswith(_EACH) and isinstance(record.get(head[:-3]), list):
            each = [value_at(item, rest) for item in record[head[:-3]]]
            value = [item for item in each if item is not MISSING] or MISSING
        if value is not MISSING:
            return value
    return MISSING


def text_at(record: Mapping[str, Any], name: str) -> Any:
    r"""Return the text of a field, a path, or several with commas between them.

    Several texts, and those of a list, are joined by line breaks; missing and empty ones are left
    out. A value that is no text is returned as it is, and MISSING where there is none.

    Examples
    --------
    >>> text_at({"ask": "Name rivers.", "answer": ["Rhine", "Seine"]}, "ask,answer")
    'Name rivers.\nRhine\nSeine'
    """
    if name in record:
        return as_text(record[name])
    values = [value_at(record, part) for part in parts_of(name)]
    if len(values) == 1:
        return as_text(values[0])
    texts = [as_text(value) for value in values if value is not MISSING and value is not None]
    wrong = [text for text in texts if not isinstance(text, str)]
    if wrong:
        return wrong[0]
    return "\n".join(filter(None, texts)) if texts else MISSING


def with_texts(
    record: Mapping[str, Any], name: str, change: Callable[[str], str]
) -> dict[str, Any]:
    """Return a record with its text changed: each of the texts that `text_at` joins, in order."""
    changed = dict(record)
    for part in [name] if name in record else parts_of(name):
        changed = _with_value(changed, part, change)
    return changed


def _with_value(record: Any, path: str, change: Callable[[str], str]) -> Any:
    if not isinstance(record, Mapping) or value_at(record, path) is MISSING:
        return record
    if path in record:
        return {**record, path: _changed(record[path], change)}
    if path.endswith(_EACH) and isinstance(record.get(path[:-3]), list):
        return {**record, path[:-3]: _changed(record[path[:-3]], change)}
    for dot, letter in enumerate(path):
        head, rest = path[:dot], path[dot + 1 :]
        if letter != "." or value_at(record, head) is MISSING:
            continue
        name = head if head in record else head.removesuffix(_EACH)
        value = record[name]
        if head in record and value_at(value, rest) is not MISSING:
            return {**record, name: _with_value(value, rest, change)}
        if head not in record and any(value_at(item, rest) is not MISSING for item in value):
            return {**record, name: [_with_value(item, rest, change) for item in value]}
    return record


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    return [_changed(item, change) for item in value] if isinstance(value, list) else value


def as_text(value: Any, levels: int = _LIST_LEVELS) -> Any:
    """Return a list of texts as their lines, and any other value as it is."""
    if not isinstance(value, (list, tuple)) or not levels:
        return value
    lines = [as_text(item, levels - 1) for item in value if item is not None]
    return "\n".join(filter(None, lines)) if all(isinstance(line, str) for line in lines) else value


def parts_of(name: str) -> list[str]:
    """Return the paths of the name of a text field."""
    return list(dict.fromkeys(part.strip() for part in name.split(",")))


def roots_of(name: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that the paths of a name may lead into."""
    begins = [(part, column) for column in dict.fromkeys(columns) for part in parts_of(name)]
    return tuple(
        dict.fromkeys(
            column
            for part, column in begins
            if part == column or part.startswith((f"{column}.", column + _EACH))
        )
    )


def types_at(schema: pa.Schema) -> dict[str, pa.DataType]:
    """Return the types of the fields inside columns, by their paths."""
    return dict(_types(schema))


def _types(fields: Iterable[pa.Field[Any]], before: str = "") -> Iterator[tuple[str, pa.DataType]]:
    for field in fields:
        path, kind = before + field.name, field.type
        if before:
            yield path, kind
        while is_list(kind):
            path, kind = path + _EACH, kind.value_type
            if not pa.types.is_struct(kind):
                yield path, kind
        if pa.types.is_struct(kind):
            yield from _types((kind.field(i) for i in range(kind.num_fields)), f"{path}.")


def is_list(kind: pa.DataType) -> bool:
    """Return whether the values of a column are lists."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def paths_in(record: Mapping[Any, Any], levels: int = _NAMED_LEVELS) -> Iterator[str]:
    """Yield the names of a record's fields, and the paths of those inside them."""
    yield from map(str, record)
    for name, value in record.items() if levels else ():
        is_each = isinstance(value, list) and bool(value)
        inner = value[0] if is_each else value
        if isinstance(inner, Mapping):
            before = f"{name}{_EACH}" if is_each else str(name)
            yield from (f"{before}.{path}" for path in paths_in(inner, levels - 1))
