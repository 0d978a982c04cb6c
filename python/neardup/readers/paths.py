"""Names of fields as paths: ``doc.text``, ``messages[*].content``, ``instruction,output``.

A field whose own name is the whole path comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from neardup.base.lazy import pa

#: What a record has where a path leads nowhere; None is a value.
MISSING: Any = object()

_EACH = "[*]"
#: Levels of lists that texts may be in, and of fields that messages name.
_LEVELS = 8


def find_value(record: Any, path: str) -> Any:
    """Return the value at a path, MISSING if there is none; behind ``[*]`` a list of values."""
    # Most names are not paths, and a million records may lack the field.
    if record.__class__ is dict:
        if path in record:
            return record[path]
        if not _list_splits(path):
            return MISSING
    for name, is_each, rest in _find_ways(record, path):
        value = record[name]
        if is_each and rest:
            each = [find_value(item, rest) for item in value]
            value = [items for items in each if items is not MISSING] or MISSING
        elif rest:
            value = find_value(value, rest)
        if value is not MISSING:
            return value
    return MISSING


def find_values(
    records: Iterable[Any], path: str, find: Callable[[Any, str], Any] = find_value
) -> list[Any]:
    """Return the value at a path of each record, None where there is none."""
    values = (find(record, path) for record in records)
    return [None if value is MISSING else value for value in values]


def _find_ways(record: Any, path: str) -> Iterator[tuple[str, bool, str]]:
    """Yield the fields in which a path may go on, whether in each of their items, and its rest."""
    if not isinstance(record, Mapping):
        return
    if path in record:
        yield path, False, ""
    for head, rest in _list_splits(path):
        if rest and head in record:
            yield head, False, rest
        elif head.endswith(_EACH) and isinstance(record.get(head[:-3]), list):
            yield head[:-3], True, rest


@lru_cache(256)
def _list_splits(path: str) -> tuple[tuple[str, str], ...]:
    """Return the heads that a path may go on from, each with its rest; none for a plain name."""
    ends = [at for at, letter in enumerate(path) if letter == "." and path[at + 1 :]]
    splits = [(path[:end], path[end + 1 :]) for end in [len(path), *ends]]
    return tuple((head, rest) for head, rest in splits if rest or head.endswith(_EACH))


def find_text(record: Mapping[str, Any], name: str) -> Any:
    """Return the text of a field, a path, or several with commas between them.

    Several texts, also of a list, are joined by line breaks; missing and empty ones are left out.
    A value that is not a text is returned as it is, and MISSING where there is none.
    """
    if name in record:
        return as_text(record[name])
    if _is_plain(name):
        return MISSING
    values = [find_value(record, part) for part in split_name(name)]
    if len(values) == 1:
        return as_text(values[0])
    texts = [as_text(value) for value in values if value is not MISSING and value is not None]
    wrong = [text for text in texts if not isinstance(text, str)]
    if wrong:
        return wrong[0]
    return "\n".join(filter(None, texts)) if texts else MISSING


def change_texts(
    record: Mapping[str, Any], name: str, change: Callable[[str], str]
) -> dict[str, Any]:
    """Return a record with its text changed: each of the texts that `find_text` joins, in order."""
    changed = dict(record)
    for part in [name] if name in record else split_name(name):
        changed = _change_value(changed, part, change)
    return changed


def _change_value(record: Any, path: str, change: Callable[[str], str]) -> Any:
    for name, is_each, rest in _find_ways(record, path):
        value = record[name]
        items = value if is_each else [value]
        if not rest:
            return {**record, name: _change(value, change)}
        if any(find_value(item, rest) is not MISSING for item in items):
            made = [_change_value(item, rest, change) for item in items]
            return {**record, name: made if is_each else made[0]}
    return record


def _change(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    return [_change(item, change) for item in value] if isinstance(value, list) else value


def as_text(value: Any, levels: int = _LEVELS) -> Any:
    """Return a list of texts as their lines, and any other value as it is."""
    if not isinstance(value, (list, tuple)) or not levels:
        return value
    lines = [as_text(item, levels - 1) for item in value if item is not None]
    return "\n".join(filter(None, lines)) if all(isinstance(line, str) for line in lines) else value


@lru_cache(256)
def _is_plain(name: str) -> bool:
    """Return whether only the field of this very name can have the text."""
    return split_name(name) == (name,) and not _list_splits(name)


@lru_cache(256)
def split_name(name: str) -> tuple[str, ...]:
    """Return the paths of the name of a text field."""
    return tuple(dict.fromkeys(part.strip() for part in name.split(",")))


def list_heads(path: str) -> list[str]:
    """Return the fields of a record that a path may begin with, itself first."""
    heads = [path[:at] for at, letter in enumerate(path) if letter == "."]
    return list(dict.fromkeys([path, *heads, *(head.removesuffix(_EACH) for head in heads)]))


def find_roots(name: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that the paths of a name may lead into."""
    parts = split_name(name)

    def is_root(column: str) -> bool:
        begins = (f"{column}.", column + _EACH)
        return any(part == column or part.startswith(begins) for part in parts)

    return tuple(filter(is_root, dict.fromkeys(columns)))


def list_types(schema: pa.Schema) -> dict[str, pa.DataType]:
    """Return the types of the fields inside columns, by their paths."""
    return dict(_walk_types(schema))


def _walk_types(
    fields: Iterable[pa.Field[Any]], before: str = ""
) -> Iterator[tuple[str, pa.DataType]]:
    for field in fields:
        path, kind = before + field.name, field.type
        if before:
            yield path, kind
        while is_list(kind):
            path, kind = path + _EACH, kind.value_type
            if not pa.types.is_struct(kind):
                yield path, kind
        if pa.types.is_struct(kind):
            yield from _walk_types((kind.field(i) for i in range(kind.num_fields)), f"{path}.")


def is_list(kind: pa.DataType) -> bool:
    """Return whether the values of a column are lists."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def list_paths(record: Mapping[Any, Any], levels: int = _LEVELS) -> Iterator[str]:
    """Yield the names of a record's fields, and the paths of those inside them."""
    yield from map(str, record)
    for name, value in record.items() if levels else ():
        is_each = isinstance(value, list) and bool(value)
        inner = value[0] if is_each else value
        if isinstance(inner, Mapping):
            before = f"{name}{_EACH}" if is_each else str(name)
            yield from (f"{before}.{path}" for path in list_paths(inner, levels - 1))
