r"""Python values as bytes of a JSON line or a CSV row.

In JSON, values without a JSON form are text: decimals as written, bytes in base64,
others by `str`. A CSV cell is the text itself, a number as in JSON, or ``true`` or
``false``. It is empty for null, and JSON for lists and records.
"""

import base64
import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

from neardup.base.lazy import orjson
from neardup.readers.formats import Dialect

#: Characters of a part of a spreadsheet.
_PART = 1 << 16
#: Where a formula may begin: in a cell, or after what other spreadsheets take for its end.
_FORMULA = re.compile(r"^(?=[=+\-@＝＋－＠\t\r\n])|(?<=[;\t\r\n])(?=[=+\-@＝＋－＠])")


def write_jsonl(records: Iterable[dict[str, Any]]) -> bytes:
    """Return records as JSON Lines."""
    return b"".join([_write_line(record) for record in records])


def _write_line(record: dict[str, Any]) -> bytes:
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS
    return orjson.dumps(record, default=_convert, option=options)


def write_csv(rows: Iterable[Iterable[Any]], dialect: Dialect) -> bytes:
    r"""Return rows as CSV or TSV, with ``\n`` at the end of each."""
    out = io.StringIO()
    plain = csv.writer(out, delimiter=dialect.delimiter, lineterminator="\n")
    # A lone carriage return needs quotes, which the csv module of older Pythons
    # does not add.
    quoted = csv.writer(
        out, delimiter=dialect.delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL
    )
    for row in rows:
        cells = [format_plain(value) for value in row]
        if any("\r" in cell for cell in cells):
            quoted.writerow(cells)
        else:
            plain.writerow(cells)
    return out.getvalue().encode(dialect.encoding, "backslashreplace")


def write_spreadsheet(rows: Iterable[Iterable[Any]]) -> bytes:
    """Return rows as CSV with the mark by which spreadsheets know UTF-8, without formulas."""
    return b"".join(write_spreadsheet_parts(rows))


def write_spreadsheet_parts(rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    """Yield the bytes of `write_spreadsheet` in parts, while the rows are read.

    All tables for people are written so; tables of data have neither the mark nor other cells.
    """
    yield codecs.BOM_UTF8
    out = io.StringIO()
    writer = csv.writer(out)
    for row in rows:
        cells = ("" if value is None else str(value) for value in row)
        writer.writerow(_FORMULA.sub("'", cell) for cell in cells)
        if out.tell() > _PART:
            yield out.getvalue().encode("utf-8", "replace")
            out.seek(0)
            out.truncate()
    yield out.getvalue().encode("utf-8", "replace")


def format_plain(value: Any) -> str:
    """Return a value as text: text unchanged, other values as in JSON."""
    if value.__class__ is str:
        return value
    if value is None:
        return ""
    text = orjson.dumps(value, default=_convert, option=orjson.OPT_NON_STR_KEYS).decode()
    if text == "null":
        # JSON has no infinity and no NaN.
        return str(value)
    # A value that is a string in JSON, such as a date, is plain text here.
    return orjson.loads(text) if text.startswith('"') else text


def _convert(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value)
