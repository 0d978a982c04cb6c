"""The fields of a record: which one is its text, its title, its id."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain, islice
from operator import itemgetter
from typing import Any

from neardup.base.lazy import pa
from neardup.base.messages import N_, Message
from neardup.base.validation import check_field
from neardup.exceptions import InputError
from neardup.readers.batch import Batch, Problem, Problems, Run, find_place, make_refusal, show
from neardup.readers.encodings import Encodings
from neardup.readers.paths import MISSING, find_roots, find_text, find_value, list_paths, split_name

#: At least one of this many first records must have the text field.
SAMPLED_RECORDS = 1000

#: Bytes of the longest record by default.
MAX_TEXT = 64 << 20

TEXT_FIELDS = ("text", "content", "body")
DEFAULT_TITLE = "title"

#: The most columns of a table.
_COLUMNS = 1 << 16
DEFAULT_ID = "id"

#: For a named field that a table lacks: what it must have, and the way out.
_ID_FIELD = (
    N_("must have the id column '{column}'"),
    N_("Name the field with {given[id_field]}.{hint}"),
)
_TITLE_FIELD = (
    N_("must have the title column '{column}'"),
    N_("Name the field with {given[title_field]}.{hint}"),
)


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields that the user named; None where the defaults apply."""

    text: str | None = None
    title: str | None = None
    id: str | None = None
    extra: tuple[str, ...] = ()
    #: Whether a table may lack extra fields, whose values are then None.
    optional: bool = False
    #: The parameter that names the text field, for errors.
    text_parameter: str = "text_field"
    #: Bytes of the longest record.
    max_text: int = MAX_TEXT
    #: Those of the files that the records are in.
    encodings: Encodings = field(default_factory=Encodings, compare=False)

    def __post_init__(self) -> None:
        check_field(self.text, self.text_parameter)
        check_field(self.title, "title_field")
        check_field(self.id, "id_field")

    @property
    def texts(self) -> tuple[str, ...]:
        """The names of the text field, in the order in which they are tried."""
        return TEXT_FIELDS if self.text is None else (self.text,)

    def find_text(self, record: Mapping[str, Any]) -> tuple[str | None, Any]:
        """Return the name of the text field that a record has, and its text, or what is there."""
        for name in self.texts:
            text = find_text(record, name)
            if text is not MISSING:
                return name, text
        return None, None

    def make_text_problem(self, record: Mapping[str, Any], source: str, number: int) -> Problem:
        """Return the problem of a record without text."""
        name, value = self.find_text(record)
        if name is not None:
            reason = Message("must be text", code="not_a_text")
            begins = (f"{name}.", f"{name}[")
            inside = [path for path in list_paths(record) if path.startswith(begins)]
            hint = suggest_name(TEXT_FIELDS, inside)
            remedy = self._advise(hint) if hint else ""
            return Problem(source, number, name, reason, show(value), remedy)
        has = Message("a record with {names}", names=list_names(list_paths(record)))
        if self.text is not None:
            return Problem(
                source, number, self.text, Message("must be present", code="no_such_field"), has
            )
        reason = Message(
            "must have a text field {wanting}", code="no_text_field", wanting=self.describe_wanted()
        )
        return Problem(source, number, None, reason, has)

    def make_length_problem(self, source: str, record: int | None, size: str) -> Problem:
        """Return the problem of a record that is longer than `max_text`."""
        reason = Message("must have at most {most:,} bytes", code="too_long", most=self.max_text)
        return Problem(source, record, None, reason, size, Message("Raise {given[max_text]}."))

    def bound(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches whose texts are at most `max_text` long; others are null, and problems.

        They have all extra fields that a table may lack.
        """
        problems = Problems()
        for batch in batches:
            if self.optional:
                batch.extra = {name: batch.values(name) for name in self.extra}
            if batch.columns[0].nbytes > self.max_text:
                texts, too_long = self.drop_oversized(batch.texts, batch.runs)
                for row, source, problem in too_long:
                    problems.add(row, source, problem)
                if too_long:
                    batch = batch.with_texts(texts)
                    batch.row_problems += problems.take()
                    batch.row_problems.sort(key=itemgetter(0))
            yield batch

    def drop_oversized(
        self, texts: pa.LargeStringArray, runs: Sequence[Run]
    ) -> tuple[pa.LargeStringArray, list[tuple[int, str, Callable[[], Problem]]]]:
        """Return texts with null for those longer than `max_text`.

        Each of those also has its row, its source, and a call for its problem.
        """
        if texts.nbytes <= self.max_text:
            return texts, []
        import pyarrow.compute as pc

        sizes: Any = pc.binary_length(texts)
        over: Any = pc.fill_null(pc.greater(sizes, pa.scalar(self.max_text, pa.int64())), False)
        rows: list[int] = pc.indices_nonzero(over).to_pylist()
        problems: list[tuple[int, str, Callable[[], Problem]]] = []
        for row, size in zip(rows, sizes.filter(over).to_pylist(), strict=True):
            source, record = find_place(runs, row)
            content = Message("{count:,} bytes", count=size)
            problem = partial(self.make_length_problem, source, record, content)
            problems.append((row, source, problem))
        if problems:
            texts = pc.if_else(over, pa.scalar(None, pa.large_string()), texts)
        return texts, problems

    def make_title_problem(self, source: str, records: int) -> Problem:
        """Return the problem of a source none of whose records has the named title field."""
        reason = Message(
            "must be present in at least one record, since it was named as the title",
            code="no_such_field",
        )
        count = Message.counted("1 record without it", "{count} records without it", count=records)
        return Problem(source, None, self.title, reason, count)

    def describe_wanted(self, missing: str | None = None) -> Message:
        """Return the names of the expected text fields, or the missing one, for a message."""
        if self.text is not None:
            return Message("'{name}'", name=show(missing or self.text))
        *names, last = TEXT_FIELDS
        return Message("{names} or '{last}'", names=", ".join(map(repr, names)), last=last)

    def advise_name(self, names: Collection[str], missing: str | None = None) -> Message:
        """Return the advice to name the text field, with the name most similar to it."""
        return self._advise(suggest_name(self.texts if missing is None else (missing,), names))

    def _advise(self, hint: str) -> Message:
        return Message(
            "Name the field with {parameter:given}.{hint}", parameter=self.text_parameter, hint=hint
        )


@dataclass(frozen=True, slots=True)
class Columns:
    """The fields chosen for a source whose records all have the same fields."""

    text: str
    title: str | None
    id: str | None
    extra: tuple[str, ...]
    #: The columns in which the values of a name are that is not the name of a column.
    roots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def choose(
        cls, names: Iterable[str], fields: Fields, source: str, inside: Iterable[str] = ()
    ) -> Columns:
        """Choose among column names; refuse a table without a text column or a named column.

        `inside` are the paths of the fields inside columns.
        """
        columns = list(names)
        if len(columns) > _COLUMNS:
            reason = Message("must have at most {most:,} columns", code="too_large", most=_COLUMNS)
            raise InputError(make_refusal(source, reason, f"{len(columns):,}"))
        in_table = set(columns)
        names = [*columns, *(path for path in inside if path not in in_table)]
        times = Counter(names)
        text = cls._choose_text(names, fields, source)
        extra = fields.extra
        if fields.optional:
            extra = tuple(name for name in extra if times[name] == 1)
        named = [
            (fields.id, *_ID_FIELD),
            (fields.title, *_TITLE_FIELD),
            *((name, N_("must have the column '{column}'"), "") for name in extra),
        ]
        for name, must, advice in named:
            if name is not None and name not in times:
                reason = Message(must, code="no_such_field", column=show(name))
                remedy = Message(advice, hint=suggest_name([name], names)) if advice else ""
                raise InputError(make_refusal(source, reason, list_names(names), remedy))
        for name in (text, fields.id or DEFAULT_ID, fields.title or DEFAULT_TITLE, *extra):
            if times[name] > 1:
                reason = Message("must have one column '{column}'", column=show(name))
                raise InputError(make_refusal(source, reason, list_names(names)))
        title = fields.title or (DEFAULT_TITLE if DEFAULT_TITLE in times else None)
        key = fields.id or (DEFAULT_ID if DEFAULT_ID in times else None)
        paths = [name for name in (text, title, key, *extra) if name and name not in in_table]
        return cls(text, title, key, extra, {path: find_roots(path, columns) for path in paths})

    @staticmethod
    def _choose_text(names: Collection[str], fields: Fields, source: str) -> str:
        """Return the name of the text field; refuse a table that lacks it, or a part of it."""
        text = next((name for name in fields.texts if name in names), None)
        missing = None
        if text is None and fields.text is not None:
            missing = next((part for part in split_name(fields.text) if part not in names), None)
            text = fields.text if missing is None else None
        if text is None:
            wanting = fields.describe_wanted(missing)
            reason = Message(
                "must have a text column {wanting}", code="no_text_field", wanting=wanting
            )
            remedy = fields.advise_name(names, missing)
            raise InputError(make_refusal(source, reason, list_names(names), remedy))
        return text

    def list_needed(self, titles: bool) -> list[str]:
        """Return the names of the columns that are read."""
        names = [self.text, *self.extra, self.id, self.title if titles else None]
        read = (self.roots.get(name, (name,)) for name in names if name is not None)
        return list(dict.fromkeys(chain.from_iterable(read)))


def check_text_field(records: Iterable[Any], fields: Fields, source: str) -> None:
    """Raise InputError if there are records, and none of the first has the text field.

    Each of several paths of a field must be in one of them. Values that are not mappings are
    skipped. If most values are not, this check passes, and the run reports them. No more records
    are taken than needed.
    """
    names: dict[str, None] = {}
    count = others = 0
    missing = [] if fields.text is None else list(split_name(fields.text))
    for record in islice(records, SAMPLED_RECORDS):
        if isinstance(record, Mapping):
            missing = [part for part in missing if find_value(record, part) is MISSING]
            if not missing and fields.find_text(record)[0] is not None:
                return
            if fields.text in record:
                return
            count += 1
            names.update(dict.fromkeys(list_paths(record)))
        else:
            others += 1
    if not count or others > count:
        return
    part = missing[0] if missing else None
    reason = Message(
        "must have a text field {wanting}",
        code="no_text_field",
        wanting=fields.describe_wanted(part),
    )
    if count < SAMPLED_RECORDS:
        content = Message.counted(
            "1 record with {names}",
            "{count} records with {names}",
            count=count,
            names=list_names(names),
        )
    else:
        content = Message(
            "{count:,} records at the beginning with {names}", count=count, names=list_names(names)
        )
    remedy = fields.advise_name(names, part)
    raise InputError(make_refusal(source, reason, content, remedy))


def suggest_name(wanted: Iterable[str], names: Collection[str]) -> str:
    """Return a hint at the name most similar to a wanted one; empty if there is none."""
    by_lower = {name.lower(): name for name in reversed(list(names))}
    for name in wanted:
        from difflib import get_close_matches

        # A field inside of others has a similar path only if these have short names.
        inside = [path for path in reversed(by_lower) if path.endswith(f".{name.lower()}")]
        matches = inside or get_close_matches(name.lower(), by_lower, 1)
        if matches:
            return Message(" Did you mean '{name}'?", name=show(by_lower[matches[0]]))
    return ""


#: Characters of a list of names in a message.
_LISTED = 160


def list_names(names: Iterable[str]) -> str:
    """Return field names for a message; long lists are cut."""
    names = [f"'{show(name)}'" for name in names]
    if not names:
        return Message("no field")
    ends = list(accumulate(len(name) + 2 for name in names[:12]))
    count = max(1, bisect(ends, _LISTED))
    shown, more = ", ".join(names[:count]), len(names) - count
    return Message("{names} and {more} more", names=shown, more=more) if more > 0 else shown


def as_id(value: Any) -> str | None:
    """Return an id as text; None if the value is neither text nor an integer."""
    kind = value.__class__
    if kind is str:
        return value  # type: ignore[no-any-return]
    if kind is int:
        return str(value)
    return None
