"""The words of the report's interface, in each language.

One TOML table per language, with the same keys and the same placeholders.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Any

from neardup.base.messages import LANGUAGES
from neardup.base.validation import check_choice

__all__ = ["LANGUAGES", "Words", "load_words"]

_REPORT = "neardup.papers.report"

# Beyond these bounds, a share would be rounded to 0 % or 100 %.
_LEAST_SHOWN, _MOST_SHOWN = 0.001, 0.999


class Words:
    """The words of one language.

    Parameters
    ----------
    language : {'zh', 'en'}
    table : dict of str to str
        The words by key; placeholders in braces.
    """

    def __init__(self, language: str, table: dict[str, str]) -> None:
        self.language = language
        self.table = table

    @property
    def tag(self) -> str:
        """The HTML name of the language."""
        return self.table["tag"]

    def __call__(self, key: str, **values: Any) -> str:
        """Return the words of a key, with values for the placeholders.

        Whole numbers get thousands separators. Values are not escaped here: the template
        escapes the result.
        """
        return self.table[key].format(
            **{
                name: f"{value:,}" if isinstance(value, int) else value
                for name, value in values.items()
            }
        )

    def percent(self, share: float) -> str:
        """Return a share in [0, 1] as a percentage, never rounded to 0 % or 100 %.

        Examples
        --------
        >>> words = load_words("en")
        >>> [words.percent(share) for share in (0, 0.0004, 0.3333, 0.9999, 1)]
        ['0%', '<0.1%', '33.3%', '>99.9%', '100%']
        """
        if share in (0, 1):
            return f"{share:.0%}"
        if share < _LEAST_SHOWN:
            return "<0.1%"
        return ">99.9%" if share > _MOST_SHOWN else f"{share:.1%}"


@lru_cache
def _load(language: str, package: str, folder: str) -> Words:
    files = [resources.files(package).joinpath(folder, f"{language}.toml")]
    if package != _REPORT:
        files.append(resources.files(_REPORT).joinpath("templates", f"sides.{language}.toml"))
    tables = [tomllib.loads(file.read_text("utf-8")) for file in files]
    return Words(language, {key: text for table in tables for key, text in table.items()})


def load_words(language: str, package: str = _REPORT, folder: str = "templates") -> Words:
    """Return the words of a language. Other pages than the report's also have those of two texts
    beside each other.

    Parameters
    ----------
    language : {'zh', 'en'}
    package, folder : str
        Where the file of the language is; by default that of the report.

    Returns
    -------
    Words

    Raises
    ------
    ParameterError
        If there is no such language.
    """
    return _load(check_choice(language, "language", LANGUAGES), package, folder)
