"""The options that say how records are read, as readers take them."""

from collections.abc import Iterable, Mapping
from typing import Any

#: Parameters of `open_sources`; `open_table` has no files, so it takes all but the first two.
_NAMES = ("format", "encoding", "text_field", "title_field", "id_field", "max_text")


def reader_parameters(
    options: Mapping[str, Any], extra_fields: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the parameters of a reader among the options of a call, and further fields to read.

    Examples
    --------
    >>> reader_parameters({"text_field": "body", "workers": 2}, ["date", "date"])
    {'text_field': 'body', 'extra_fields': ('date',)}
    """
    named = {name: options[name] for name in _NAMES if name in options}
    return named | {"extra_fields": tuple(dict.fromkeys(extra_fields))}
