"""Which field of a record is its text, its title, its id."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from neardup.exceptions import InputError
from neardup.readers.batch import Problem, show

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

    def text_of(self, names: Collection[str]) -> str | None:
        """Name the text field among those of a record or table; None if it has none.

        The first one that is there counts, whatever it holds.
        """
        candidates = TEXT_FIELDS if self.text is None else (self.text,)
        return next((name for name in candidates if name in names), None)

    def no_text(self, record: Mapping[str, Any], source: str, number: int) -> Problem:
        """Say why a record has no text."""
        name = self.text_of(record)
        if name is not None:
            return Problem(source, number, name, "must be text", show(record[name]))
        has = f"a record with {listing(record)}"
        if self.text is not None:
            return Problem(source, number, self.text, "must be present", has)
        return Problem(source, number, None, f"must have a text field {self.wanting()}", has)

    def no_title(self, source: str, records: int) -> Problem:
        """Say that none of a source's records has the title field that was named."""
        reason = "must be present in at least one record, since it was named as the title"
        found = f"{records} record{'' if records == 1 else 's'} without it"
        return Problem(source, None, self.title, reason, found)

    def wanting(self) -> str:
        """Say which text field is looked for."""
        if self.text is not None:
            return f"'{show(self.text)}'"
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
        text = fields.text_of(names)
        listed = listing(names)
        if text is None:
            raise InputError(
                f"{source}: must have a text column {fields.wanting()}. Got {listed} instead."
                " Name the field with text= (--text-field)."
            )
        for kind, name in (("id", fields.id), ("title", fields.title)):
            if name is not None and name not in names:
                raise InputError(
                    f"{source}: must have the {kind} column '{show(name)}'. Got {listed} instead."
                    f" Name the field with {kind}= (--{kind}-field)."
                )
        for name in fields.extra:
            if name not in names:
                raise InputError(
                    f"{source}: must have the column '{show(name)}'. Got {listed} instead."
                )
        twice = {n for n in names if names.count(n) > 1}
        for name in (text, fields.id or DEFAULT_ID, fields.title or DEFAULT_TITLE, *fields.extra):
            if name in twice:
                raise InputError(
                    f"{source}: must have one column '{show(name)}'. Got {listed} instead."
                )
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
