"""The groups of documents: only documents of the same group are compared."""

from __future__ import annotations

import re

from neardup.base.arrays import texts_array
from neardup.base.lazy import NDArray, _core, np, pa
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Batch, Problem, find_place, show
from neardup.readers.fields import as_id

#: What no encoding of Unicode has.
_SURROGATE = re.compile("[\ud800-\udfff]")


def hashes_of(
    batch: Batch, texts: pa.LargeStringArray, field: str
) -> tuple[NDArray[np.uint64], pa.LargeStringArray, list[Problem]]:
    """Return a hash of the group of each record, the texts, and problems.

    Where the value is neither text nor an integer, the text is null, so the record is compared with
    nothing. Records without a value are one group, as are those with empty text, which tables have
    in its place.
    """
    import pyarrow.compute as pc

    values = batch.values(field)
    names = ["" if value is None else as_id(value) for value in values]
    # The reader sets the value of a number beyond 64 bits to None.
    reported = {row for row, problem in batch.row_problems if problem.field == field}
    wrong = [
        row
        for row, name in enumerate(names)
        if name is None or row in reported or (not name.isascii() and _SURROGATE.search(name))
    ]
    if not wrong:
        return _core.hashes_of(texts_array(names)), texts, []
    reason = Message("must be text or an integer", code="not_an_id")
    problems = [
        Problem(*find_place(batch.runs, row), field, reason, show(values[row]))
        for row in wrong
        if texts[row].is_valid and row not in reported
    ]
    is_wrong = np.zeros(len(batch), bool)
    is_wrong[wrong] = True
    texts = pc.if_else(pa.array(is_wrong), pa.scalar(None, pa.large_string()), texts)
    names = [None if is_wrong[row] else name for row, name in enumerate(names)]
    return _core.hashes_of(texts_array(names)), texts, problems


def without_value(hashes: NDArray[np.uint64], field: str) -> int:
    """Return how many of some readable records have no value; InputError if none has one."""
    count = int((hashes == _core.hashes_of(texts_array([""]))).sum())
    if 0 < count == len(hashes):
        raise InputError(
            Message(
                "No record has a value in the field '{field}', which {given[group_field]} names. "
                "Name a field that the records have.",
                field=field,
            )
        )
    return count
