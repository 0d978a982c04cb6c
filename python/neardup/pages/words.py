"""The words of each page in both languages: TOML tables with the same keys and placeholders."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Any

from neardup.base.messages import LANGUAGES
from neardup.base.validation import check_choice

# Beyond these bounds, a share would be rounded to 0 % or 100 %.
_LEAST_SHOWN, _MOST_SHOWN = 0.001, 0.999


class Words:
    """The words of a page in one language, by key; placeholders are in braces."""

    def __init__(self, language: str, table: dict[str, str]) -> None:
        self.language = language
        self.table = table

    @property
    def tag(self) -> str:
        """The HTML name of the language."""
        return self.table["tag"]

    def __call__(self, key: str, **values: Any) -> str:
        """Return the words of a key; whole numbers get thousands separators.

        Values are not escaped here: the template escapes the result.
        """
        return self.table[key].format(
            **{
                name: f"{value:,}" if isinstance(value, int) else value
                for name, value in values.items()
            }
        )

    def percent(self, share: float) -> str:
        """Return a share in [0, 1] as a percentage; see `percent`."""
        return percent(share)


def percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage, never rounded to 0 % or 100 %.

    Examples
    --------
    >>> [percent(share) for share in (0, 0.0004, 0.3333, 0.9999, 1)]
    ['0%', '<0.1%', '33.3%', '>99.9%', '100%']
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if share < _LEAST_SHOWN:
        return "<0.1%"
    return ">99.9%" if share > _MOST_SHOWN else f"{share:.1%}"


def load_words(language: str, page: str) -> Words:
    """Return the words of all pages and of one: report, review or service.

    Raises ParameterError if there is no such language.
    """
    return _load(check_choice(language, "language", LANGUAGES), page)


@lru_cache
def _load(language: str, page: str) -> Words:
    folder = resources.files("neardup.pages").joinpath("words", language)
    tables = [
        tomllib.loads(folder.joinpath(f"{name}.toml").read_text("utf-8"))
        for name in ("shared", page)
    ]
    return Words(language, tables[0] | tables[1])
