"""Whatever bytes a file holds: no crash, and both ways of reading agree."""

import csv
import io
import json
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.kit.formats import as_arrow
from tests.readers.conftest import read_all

from neardup.exceptions import InputError
from neardup.readers import jsonl, open_sources, open_table
from neardup.readers.delimited import DelimitedSource, TabSeparatedSource
from neardup.readers.fields import Fields
from neardup.readers.formats import ARROW_FILE, ARROW_STREAM, FEATHER_1
from neardup.readers.paths import as_text
from neardup.readers.source import KeepMask
from neardup.readers.streams import ReopenableFile

TEXT = st.text(max_size=20)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
RECORD = st.dictionaries(st.sampled_from(["text", "body", "id", "title", "x"]), VALUE)
GOOD = st.builds(lambda r, t: json.dumps({**r, "text": t}).encode(), RECORD, TEXT)
LINE = st.one_of(
    GOOD,
    RECORD.map(lambda r: json.dumps(r, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    VALUE.map(lambda v: json.dumps(v).encode()),
    st.binary(max_size=30),
    st.sampled_from([b"", b" \r", b'{"text":"\\ud83d"}', b'{"text":"\\ud83d\\udc00"}', b"{}"]),
)
LINES = st.lists(LINE, max_size=6)
# A file without any text is refused, so there is one.
FILE = st.tuples(LINES, LINES).map(lambda two: b"\n".join([*two[0], b'{"text":"a"}', *two[1]]))


def read_bytes(data, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        path.write_bytes(data)
        got = read_all(str(path), titles=True, **options)
    for problem in got["problems"]:
        assert str(problem).isprintable()
        assert len(problem.found or "") <= 200
    return (
        got["texts"],
        [name.replace(folder, "") for name in got["ids"]],
        [(problem.record, problem.field, problem.reason) for problem in got["problems"]],
        got["titles"],
        repr(got["extra"]),
    )


def without_marks(data):
    # Magic bytes would make it another format, and a mark is not part of the text.
    marks = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x841\x953")
    magic = (b"\x1f\x8b", b"PAR1", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh")
    # Hypothesis draws constants of the code too, also those of Arrow.
    magic += (ARROW_FILE, FEATHER_1)
    return not data.startswith(marks + magic) and not ARROW_STREAM.match(data)


@settings(max_examples=80, deadline=None)
@given(FILE.filter(without_marks), st.sampled_from((1, 20, 200, 1 << 22)))
def test_hostile_lines_never_crash(data, batch):
    texts, ids, problems, *_ = read_bytes(data, batch_bytes=batch)
    lines = [line for line in data.split(b"\n") if line.strip(b" \t\r\n\x0b\x0c")]
    assert len(texts) == len(ids) == len(lines)
    assert {n for n, _, _ in problems} == {n for n, t in enumerate(texts, 1) if t is None}
    for line, text in zip(lines, texts, strict=True):
        if text is not None:
            assert text in map(as_text, json.loads(line).values())


FIELDS = st.fixed_dictionaries(
    {"text_field": st.just("text")},
    optional={
        "id_field": st.just("id"),
        "title_field": st.sampled_from(["title", "x"]),
        "extra_fields": st.just(["x", "id"]),
    },
)


@settings(max_examples=120, deadline=None)
@given(FILE.filter(without_marks), FIELDS)
@example(b'{"text":"a","id":-0}\n{"text":"a","id":1e0,"id":9007199254740993}', {})
@example(b'{"text":"a","x":[1e400],"id":12345678901234567890123}', {"extra_fields": ["x", "id"]})
@example(b'{"text":"a","x":"\\ud800"}\n{"text":"a","\\ud800":1}\n{"text":"\xff"}', {})
@example(b'{"text":"a","x":%s}' % (b"[" * 200 + b"]" * 200), {"extra_fields": ["x"]})
@example(b'{"text":1,"id":"a","text":"b","id":"c","\\u0069d":3}', {"id_field": "id"})
@example(b'{"text":"a","id":18446744073709551616}\n{"text":"a","id":""}', {"id_field": "id"})
@example(b'{"text":"a","id":true}\n{"text":"a"} {}\n{"text":"a","x":[}', {"id_field": "id"})
def test_the_core_and_the_module_agree(data, fields):
    want = read_bytes(data, **fields)
    with mock.patch.object(jsonl._core, "JsonFields", AllUnclear):
        assert read_bytes(data, **fields) == want


class AllUnclear:
    """As `_core.JsonFields`, but it leaves every record to the module."""

    def __init__(self, *_, title, extra, **__):
        self.title, self.extra = title, extra

    def columns(self, block, source, first):
        records = [line for line in block.split(b"\n") if line.strip(b" \t\r\n\x0b\x0c")]
        nulls = pa.nulls(len(records), pa.large_string())
        extra = [json.dumps([None] * len(records)).encode() for _ in self.extra]
        titles = nulls if self.title else None
        return (
            nulls,
            pa.array([f"{source}:{first + index}" for index in range(len(records))], nulls.type),
            titles,
            False,
            extra,
            [*enumerate(records)],
        )


@settings(max_examples=50, deadline=None)
@given(LINES.map(b"\n".join).filter(without_marks))
def test_hostile_lines_without_a_text_are_read_or_refused(data):
    lines = [jsonl.parse(line) for line in data.split(b"\n") if line.strip()]
    records = [record for record in lines if isinstance(record, dict)]
    has_text = any({"text", "content", "body"} & {*record} for record in records)
    # Where most lines are no records at all, each of them is a problem instead.
    if records and 2 * len(records) >= len(lines) and not has_text:
        with pytest.raises(InputError, match="must have a text field") as caught:
            read_bytes(data)
        assert str(caught.value).isprintable()
    else:
        read_bytes(data)


@pytest.mark.parametrize("kind", ["file", "file of dictionaries", "arrow", "arrows", "table"])
def test_a_large_value_in_every_row_is_decoded_in_parts(make, kind):
    """DecodedText together, 3,000 such rows would end the process, from a file of 500 bytes."""
    name = make("a.parquet")
    column = pa.array(["x" * (1 << 20)] * 40).dictionary_encode()
    table = pa.table({"text": column})
    pq.write_table(table, name, store_schema=kind == "file of dictionaries")
    if kind in ("arrow", "arrows"):
        make(name, as_arrow(table, kind, 40))
    if kind == "table":
        source = open_table(table)
        parts = [chunk.texts for chunk in source._chunks(False)]
    else:
        source = open_sources([name])
        parts = list(source.sources[0].read_batches())
    assert sum(map(len, parts)) == 40
    assert max(map(len, parts)) < 20
    batches = list(source.batches())
    assert sum(map(len, batches)) == 40
    assert max(batch.texts.nbytes for batch in batches) < 20 << 20


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
        batches = list(source.read_texts(Fields(max_text=max_text), False, size))
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
    rows = [row for some in source.read_rows() for row in some]
    assert [row["text"] if isinstance(row, dict) else None for row in rows] == texts
    for keep in (np.array([text is not None for text in texts], bool), np.ones(len(texts), bool)):
        parts = source.copy_kept(KeepMask(keep, "-", lambda _: None))
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
def test_too_long_row_hides_no_other_row(rows, quoting, line_end, max_text):
    written = io.StringIO()
    csv.writer(written, quoting=quoting, lineterminator=line_end).writerows(rows)
    check_rows(written.getvalue(), max_text)


@given(data=st.text(alphabet='aa长"",,\n\r', max_size=120), max_text=st.integers(8, 40))
@example(data='"aaaaaaaaaaaaaaa""\n",1\nb,2\n', max_text=8)
@example(data='"aaaaaaaaaaaaaaa\n"x,"\nb,2\n', max_text=8)
@example(data='aaaaaaaaaaaaa\r"\nb,2\n', max_text=8)
def test_rows_end_where_the_csv_module_ends_them(data, max_text):
    check_rows(data, max_text)


def test_unclosed_quote_is_named():
    data = b'text\tid\n"' + b"a line\n" * 9
    source = TabSeparatedSource(ReopenableFile("-", io.BytesIO(data)), None, Fields(max_text=20))
    (batch,) = source.read_texts(Fields(max_text=20), False, 1 << 20)
    (problem,) = batch.problems
    assert problem.found == "a quote that is never closed"


@pytest.mark.parametrize("line", [b"x" * 100, b"x" * 4000])
def test_too_long_row_is_never_held(line, monkeypatch):
    most = 0
    pieces = [b"text,id\n", b'"', *[line + b"\n"] * 200, b'",1\nb,2\n']

    monkeypatch.setattr(ReopenableFile, "read_chunks", lambda *_: iter(pieces))
    source = DelimitedSource(ReopenableFile("-", io.BytesIO(b"")), None, Fields(max_text=1000))
    texts = []
    for part in source.copy_kept(KeepMask(np.ones(2, bool), "-", lambda _: None)):
        for piece in [part] if isinstance(part, bytes) else part:
            most = max(most, len(piece))
            texts.append(piece)
    assert b"".join(texts) == b"".join(pieces[1:])
    assert most <= 4001
