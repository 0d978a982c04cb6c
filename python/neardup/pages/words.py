"""The words of pages: English sentences in templates and code, Chinese ones in the catalogue."""

from __future__ import annotations

from typing import Any

from neardup.base.messages import LANGUAGES, translations
from neardup.base.validation import check_choice

# Beyond these bounds, a share would be rounded to 0 % or 100 %.
_LEAST_SHOWN, _MOST_SHOWN = 0.001, 0.999


class Words:
    """Translates the words of a page into one language; templates call it as ``w``.

    Raises ParameterError if there is no such language.
    """

    def __init__(self, language: str) -> None:
        self.language = check_choice(language, "language", LANGUAGES)
        #: The language's name in HTML, and what is between two sentences.
        self.tag, self.gap = ("zh-CN", "") if language == "zh" else ("en", " ")

    def __call__(self, sentence: str, context: str = "page", /, **values: Any) -> str:
        """Return a sentence with its values; whole numbers get thousands separators.

        `context` tells words apart that only English has in common. Values are not escaped here:
        the template escapes the result.
        """
        return (
            translations(self.language)
            .pgettext(context, sentence)
            .format(
                **{
                    name: f"{value:,}" if isinstance(value, int) else value
                    for name, value in values.items()
                }
            )
        )


def W_(sentence: str) -> str:
    """Mark words of a page that are translated elsewhere; returns them unchanged."""
    return sentence


def format_percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage, never rounded to 0 % or 100 %.

    Examples
    --------
    >>> [format_percent(share) for share in (0, 0.0004, 0.3333, 0.9999, 1)]
    ['0%', '<0.1%', '33.3%', '>99.9%', '100%']
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if share < _LEAST_SHOWN:
        return "<0.1%"
    return ">99.9%" if share > _MOST_SHOWN else f"{share:.1%}"
