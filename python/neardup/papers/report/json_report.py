"""The report as JSON, with all offsets, so that other programs can mark the paper.

Keys of version 1, in their order. Offsets are half-open spans of code points;
`neardup.papers.report.results` documents each of them.

- ``version``: 1; a larger number if keys change their meaning or are removed.
- ``neardup``: the version that made the report; ``sha256``: that of ``text`` in UTF-8.
- ``paper``, ``text``, ``characters``, ``copied``, ``similarity``.
- ``rates``: ``total``, ``without_quotations``, ``largest_source``.
- ``sources``: ``id``, ``title``, ``characters``, ``rate``, ``cover``, ``only_here``,
  ``similarity``, ``length``, ``passages`` (their number, shown or not).
- ``sections``: ``title``, ``level``, ``begin``, ``end``, ``characters``,
  ``copied``, ``rate``.
- ``passages``: ``begin``, ``end``, ``source`` (a position in ``sources``),
  ``source_begin``, ``source_end``, ``similarity``, ``characters``, ``pieces``
  (``begin``, ``end``, ``source_begin``, ``source_end``), ``source_text``,
  ``source_text_begin``.
- ``asides``: ``begin``, ``end``, ``kind``.
- ``pages``, ``library``, ``library_documents``, ``settings``, ``notes``.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from neardup.base import __version__

if TYPE_CHECKING:
    from neardup.papers.report.report import Report

__all__ = ["VERSION", "as_dict", "sha256_of"]

#: Version of the keys.
VERSION = 1


def as_dict(report: Report) -> dict[str, Any]:
    """Return a report as JSON values.

    Parameters
    ----------
    report : Report

    Returns
    -------
    dict
        With the keys ``version``, ``neardup`` and ``sha256``, followed by the report's
        fields in their order; tuples are lists.

    Notes
    -----
    Equal reports give equal JSON. ``text[begin:end]`` is a passage in languages
    that count code points; JavaScript and Java count UTF-16 units.

    Examples
    --------
    >>> from neardup.papers.report.report import Report
    >>> from neardup.papers.report.results import Rates
    >>> report = Report(
    ...     "a.txt", "雪", 1, 0, Rates(0.0, 0.0, 0.0), None,
    ...     (), (), (), (), (), "papers", 0, {}, (),
    ... )
    >>> as_dict(report)["rates"]
    {'total': 0.0, 'without_quotations': 0.0, 'largest_source': 0.0}
    """
    values: dict[str, Any] = _values(report)
    made = {"version": VERSION, "neardup": __version__, "sha256": sha256_of(report.text)}
    return made | values


def sha256_of(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, which identifies it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _values(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _values(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_values(one) for one in value]
    if isinstance(value, str):
        # A note also has a code and values.
        return str(value)
    return dict(value) if isinstance(value, dict) else value
