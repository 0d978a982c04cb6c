"""The verdict on a paper, by the thresholds of an institution."""

from __future__ import annotations

import numbers
from bisect import bisect_left
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal, NamedTuple

from neardup.base.messages import N_, Message
from neardup.base.validation import bad
from neardup.exceptions import ParameterError
from neardup.pages.words import W_, format_percent
from neardup.readers.document_text import FileText

#: Why a paper has no verdict: nothing was compared; too much of it could not be read; it is too
#: short; most of it is pictures.
NoVerdict = Literal["nothing_compared", "unread", "short", "pictures"]


class WithheldWords(NamedTuple):
    """Words for a verdict that is withheld: a sentence, and a mark in a table."""

    sentence: str
    mark: str


NO_VERDICT: dict[NoVerdict, WithheldWords] = {
    "nothing_compared": WithheldWords(W_("nothing was compared"), W_("not compared")),
    "unread": WithheldWords(W_("none, since part of it could not be read"), W_("partly unread")),
    "short": WithheldWords(
        W_("none, since it has fewer than 200 letters and digits"), W_("too short")
    ),
    "pictures": WithheldWords(W_("none, since it is mostly pictures"), W_("mostly pictures")),
}

#: The results of a verdict, in words.
VERDICTS = {"pass": W_("passes"), "review": W_("to be reviewed"), "reject": W_("rejected")}

#: If this share of a paper could not be read, or more, it has no verdict.
MOST_UNREAD = 0.05

#: A paper with fewer counted characters has no verdict.
LEAST_CHARACTERS = 200

#: A page with a picture and fewer letters and digits is a picture; as is, where a file has no
#: pages, each picture with fewer of them in the whole text.
_LETTERS_OF_PICTURE = 100


@dataclass(frozen=True)
class Verdict:
    """The verdict on a paper.

    Parameters
    ----------
    result : {'pass', 'review', 'reject'}
    sentence : Message
        A sentence with the rate and the threshold.
    """

    result: Literal["pass", "review", "reject"]
    sentence: Message


@dataclass(frozen=True)
class Thresholds:
    """Bounds of the total rate that an institution sets. There are none by default.

    Parameters
    ----------
    pass_below : float or None, default=None
        A paper with a smaller rate passes.
    reject_above : float or None, default=None
        A paper with a larger rate is rejected. A rate between the two is to be reviewed; if only
        one is given, every paper either passes or is rejected.

    Raises
    ------
    ParameterError
        If one is not a number from 0 to 1, or `pass_below` is the larger one.

    Examples
    --------
    >>> thresholds = Thresholds(pass_below=0.15, reject_above=0.3)
    >>> for rate in (0.124, 0.15, 0.31):
    ...     print(thresholds.verdict(rate).sentence)
    12.4% copied: below 15%, passes
    15.0% copied: neither below 15% nor above 30%, to be reviewed
    31.0% copied: above 30%, rejected
    """

    pass_below: float | None = None
    reject_above: float | None = None

    def __post_init__(self) -> None:
        for name in ("pass_below", "reject_above"):
            value = getattr(self, name)
            if value is not None:
                is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
                if not is_number or not 0 <= value <= 1:
                    raise bad(name, "a number from 0 to 1", value)
                # JSON cannot represent NumPy numbers.
                object.__setattr__(self, name, float(value))
        low, high = self.pass_below, self.reject_above
        if low is not None and high is not None and low > high:
            raise ParameterError(
                Message(
                    "{parameter:named} must be at most the threshold of rejection, {high}. "
                    "Got {low} instead.",
                    parameter="pass_below",
                    high=_format_threshold(high),
                    low=_format_threshold(low),
                )
            )

    def verdict(self, rate: float) -> Verdict | None:
        """Return the verdict on a rate; None without thresholds."""
        low, high = self.pass_below, self.reject_above
        result: Literal["pass", "reject"]
        if low is not None and rate < low:
            result, bound, sentence = "pass", low, N_("{rate} copied: below {threshold}, passes")
        elif high is not None and rate > high:
            result, bound = "reject", high
            sentence = N_("{rate} copied: above {threshold}, rejected")
        elif low is not None and high is not None:
            review = Message(
                "{rate} copied: neither below {low} nor above {high}, to be reviewed",
                rate=format_percent(rate),
                low=_format_threshold(low),
                high=_format_threshold(high),
            )
            return Verdict("review", review)
        elif high is not None:
            result, bound = "pass", high
            sentence = N_("{rate} copied: not above {threshold}, passes")
        elif low is not None:
            result, bound = "reject", low
            sentence = N_("{rate} copied: not below {threshold}, rejected")
        else:
            return None
        return Verdict(
            result, Message(sentence, rate=format_percent(rate), threshold=_format_threshold(bound))
        )


def withhold_verdict(
    paper: FileText, characters: int, *, has_library: bool
) -> tuple[NoVerdict, Message | None] | None:
    """Return why a paper has no verdict, with a note if there is more to say; None if it has one.

    `characters` is the number of counted ones; `has_library` tells whether there was any text to
    compare them with.
    """
    if not has_library or not characters:
        if not has_library:
            sentence = N_("The library has no text to compare with: nothing was compared.")
        elif any(map(str.isalnum, paper.text)):
            sentence = N_("The excluded files contain the whole paper: nothing was compared.")
        else:
            sentence = N_("The paper has no letters or digits: nothing was compared.")
        return "nothing_compared", Message(sentence, code="nothing_compared")
    share = measure_unread(paper)
    if share >= MOST_UNREAD:
        return "unread", Message(
            "{share:.1%} of the paper could not be read: no verdict.", share=share
        )
    if characters < LEAST_CHARACTERS:
        return "short", None
    return ("pictures", None) if _is_mostly_pictures(paper) else None


def _is_mostly_pictures(paper: FileText) -> bool:
    pictures = paper.pictures
    if not paper.pages:
        return _LETTERS_OF_PICTURE * len(pictures) > sum(map(str.isalnum, paper.text))
    ends = [*paper.pages[1:], len(paper.text)]
    of_pictures = 0
    for begin, end in zip(paper.pages, ends, strict=True):
        first = bisect_left(pictures, begin)
        has_picture = first < len(pictures) and pictures[first] < max(end, begin + 1)
        letters = sum(map(str.isalnum, paper.text[begin:end]))
        of_pictures += has_picture and letters < _LETTERS_OF_PICTURE
    return 2 * of_pictures > len(paper.pages)


def measure_unread(paper: FileText) -> float:
    """Return the share of a paper that could not be read: damaged pages and garbled text."""
    reasons = (problem.reason for problem in paper.problems)
    damaged: int = sum(reason.values["count"] for reason in reasons if isinstance(reason, Message))
    return 1 - (1 - damaged / max(1, len(paper.pages))) * (1 - paper.garbled)


def parse_thresholds(pass_below: str | None, reject_above: str | None) -> Thresholds | None:
    """Return the thresholds that two percentages set; None without any."""
    if pass_below is None and reject_above is None:
        return None
    low = parse_percentage("pass_below", pass_below)
    return Thresholds(low, parse_percentage("reject_above", reject_above))


def parse_percentage(name: str, value: str | None) -> float | None:
    """Return a percentage as a rate; raise ParameterError, which names the parameter.

    Examples
    --------
    >>> parse_percentage("pass_below", "15 %"), parse_percentage("pass_below", None)
    (0.15, None)
    """
    if value is None:
        return None
    try:
        number = Decimal(value.strip().removesuffix("%").rstrip())
    except InvalidOperation:
        number = Decimal(-1)
    # A smaller number is most likely meant as a rate.
    if not number.is_finite() or not (number == 0 or 1 <= number <= 100):
        raise ParameterError(
            Message(
                "{parameter:named} must be 0, or a percentage from 1 to 100, such as 15. Got "
                "{value} instead.",
                parameter=name,
                value=value,
            )
        )
    return float(number / 100)


def _format_threshold(threshold: float) -> str:
    """Return a threshold as a percentage, without zeros at its end."""
    return f"{100 * threshold:.6f}".rstrip("0").rstrip(".") + "%"
