"""Rows of CSV, those that are too long included, against Python's csv module."""

import csv
import io

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.readers.delimited import DelimitedSource, TabSeparatedSource
from neardup.readers.fields import Fields
from neardup.readers.source import Keep
from neardup.readers.streams import ReopenableFile

HEADER = "text,id"

#: Small batches, so that a row that is too long lies in several blocks.
SIZES = (8, 64, 1 << 20)


def records_of(data):
    """Yield the values of each row, None if it is invalid, and its text, by the csv module."""
    pulled = []

    def lines():
        parts = data.split("\n")
        for line in parts[:-1] if not parts[-1] else parts:
            pulled.append(line + "\n")
            yield pulled[-1]

    reader = csv.reader(lines(), strict=True)
    while True:
        try:
            values = next(reader, ())
        except csv.Error:
            values = None
        if values == ():
            return
        raw = "".join(pulled)
        pulled.clear()
        if values is None or values:
            yield values, raw


def usable(values, raw, max_text):
    """Return whether a row has two fields and is short enough."""
    return values is not None and len(values) == 2 and len(raw.encode()) <= max_text + 1


def check_rows(data, max_text):
    """Compare what neardup reads, converts and copies with the rows of the csv module."""
    data = f"{HEADER}\n{data}"
    expected = list(records_of(data))[1:]
    texts = [row[0] if usable(row, raw, max_text) else None for row, raw in expected]
    file = ReopenableFile("-", io.BytesIO(data.encode()))
    source = DelimitedSource(file, None, Fields(max_text=max_text))
    for size in SIZES:
        batches = list(source.chunks(Fields(max_text=max_text), False, size))
        assert [text for batch in batches for text in batch.texts.to_pylist()] == texts
        problems = [problem for batch in batches for problem in batch.problems]
        assert [problem.record for problem in problems] == [
            number for number, text in enumerate(texts, 1) if text is None
        ]
        assert [problem.reason.code == "too_long" for problem in problems] == [
            len(raw.encode()) > max_text + 1
            for (_, raw), text in zip(expected, texts, strict=True)
            if text is None
        ]
    rows = [row for some in source.rows() for row in some]
    assert [row["text"] if isinstance(row, dict) else None for row in rows] == texts
    for keep in (np.array([text is not None for text in texts], bool), np.ones(len(texts), bool)):
        parts = source.kept_bytes(Keep(keep, "-", lambda _: None))
        kept = b"".join(part if isinstance(part, bytes) else b"".join(part) for part in parts)
        raws = [raw for (_, raw), is_kept in zip(expected, keep, strict=True) if is_kept]
        assert kept.decode() == "".join(raws)


FIELD = st.text(alphabet='a长", \n\r', max_size=24)


@given(
    rows=st.lists(st.tuples(FIELD, FIELD), max_size=8),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    max_text=st.integers(8, 40),
)
def test_a_row_that_is_too_long_hides_no_other_row(rows, quoting, line_end, max_text):
    written = io.StringIO()
    csv.writer(written, quoting=quoting, lineterminator=line_end).writerows(rows)
    check_rows(written.getvalue(), max_text)


@given(data=st.text(alphabet='aa长"",,\n\r', max_size=120), max_text=st.integers(8, 40))
@example(data='"aaaaaaaaaaaaaaa""\n",1\nb,2\n', max_text=8)
@example(data='"aaaaaaaaaaaaaaa\n"x,"\nb,2\n', max_text=8)
@example(data='aaaaaaaaaaaaa\r"\nb,2\n', max_text=8)
def test_rows_end_where_the_csv_module_ends_them(data, max_text):
    check_rows(data, max_text)


def test_a_quote_that_is_never_closed_is_named():
    data = b'text\tid\n"' + b"a line\n" * 9
    source = TabSeparatedSource(ReopenableFile("-", io.BytesIO(data)), None, Fields(max_text=20))
    (batch,) = source.chunks(Fields(max_text=20), False, 1 << 20)
    (problem,) = batch.problems
    assert problem.found == "a quote that is never closed"


@pytest.mark.parametrize("line", [b"x" * 100, b"x" * 4000])
def test_a_row_that_is_too_long_is_never_held(line, monkeypatch):
    most = 0
    pieces = [b"text,id\n", b'"', *[line + b"\n"] * 200, b'",1\nb,2\n']

    monkeypatch.setattr(ReopenableFile, "chunks", lambda *_: iter(pieces))
    source = DelimitedSource(ReopenableFile("-", io.BytesIO(b"")), None, Fields(max_text=1000))
    texts = []
    for part in source.kept_bytes(Keep(np.ones(2, bool), "-", lambda _: None)):
        for piece in [part] if isinstance(part, bytes) else part:
            most = max(most, len(piece))
            texts.append(piece)
    assert b"".join(texts) == b"".join(pieces[1:])
    assert most <= 4001
