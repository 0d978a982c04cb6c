"""Which field of a record is its text, its title, its id."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from neardup.exceptions import InputError
from neardup.readers.batch import show

__all__ = ["DEFAULT_ID", "DEFAULT_TITLE", "TEXT_FIELDS", "Columns", "Fields", "as_id"]

TEXT_FIELDS = ("text", "content", "body")
DEFAULT_TITLE = "title"
DEFAULT_ID = "id"


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields that the user named; None where the defaults apply."""

    text: str | None = None
    title: str | None = None
    id: str | None = None
    extra: tuple[str, ...] = ()

    def text_of(self, record: Mapping[str, Any]) -> str | None:
        """Name the text field, judged by one record; None if it has none."""
        if self.text is not None:
            return self.text
        for name in TEXT_FIELDS:
            if isinstance(record.get(name), str):
                return name
        return None

    def wanting(self) -> str:
        """Say which text field is looked for."""
        if self.text is not None:
            return f"'{self.text}'"
        return f"{', '.join(repr(n) for n in TEXT_FIELDS[:-1])} or {TEXT_FIELDS[-1]!r}"


@dataclass(frozen=True, slots=True)
class Columns:
    """The fields chosen for a source whose records all have the same ones."""

    text: str
    title: str | None
    id: str | None
    extra: tuple[str, ...]

    @classmethod
    def choose(cls, names: Iterable[str], fields: Fields, source: str) -> "Columns":
        """Choose among column names.

        Raises
        ------
        InputError
            If there is no text column, or none of a name that the user gave.
        """
        names = list(names)
        text = fields.text
        if text is None:
            text = next((n for n in TEXT_FIELDS if n in names), None)
        listed = listing(names)
        if text is None or text not in names:
            raise InputError(
                f"{source}: must have a text column {fields.wanting()}. Got {listed} instead."
                " Name the column with text_field (--text-field)."
            )
        for kind, name in (("id", fields.id), ("title", fields.title)):
            if name is not None and name not in names:
                raise InputError(
                    f"{source}: must have the {kind} column '{name}'. Got {listed} instead."
                )
        for name in fields.extra:
            if name not in names:
                raise InputError(f"{source}: must have the column '{name}'. Got {listed} instead.")
        twice = {n for n in names if names.count(n) > 1}
        for name in (text, fields.id or DEFAULT_ID, fields.title or DEFAULT_TITLE, *fields.extra):
            if name in twice:
                raise InputError(f"{source}: must have one column '{name}'. Got {listed} instead.")
        title = fields.title or (DEFAULT_TITLE if DEFAULT_TITLE in names else None)
        key = fields.id or (DEFAULT_ID if DEFAULT_ID in names else None)
        return cls(text, title, key, fields.extra)


def listing(names: Iterable[str]) -> str:
    """List field names for a message; long lists are cut."""
    names = list(names)
    shown = ", ".join(f"'{show(n)}'" for n in names[:12])
    return (shown or "no field") + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def as_id(value: Any) -> str | None:
    """Render an id, or None if the value cannot be one: text or an integer."""
    kind = value.__class__
    if kind is str:
        return value  # type: ignore[no-any-return]
    if kind is int:
        return str(value)
    return None
