"""normalize, its last step: each number, date and time of a text, and how its value is spelled.

A text is read from left to right. Where a number may begin, the longest one that makes sense is
taken. Ends of sentences are put aside first, and come back where they stood, unless they stood
inside a number.
"""

import string
from fractions import Fraction
from typing import NamedTuple

import regex

from .characters import is_of_word
from .numerals import LONGEST, NUMERALS, RUN, decimal, integer, numeral

WORD_END, SENTENCE_END, DAY_FIRST, UNSURE = "\x1f", "\x1e", "\x1d", "\x1c"
ONES = regex.findall(
    "[a-z]+",
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
    """,
)
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
MONTHS = regex.findall(
    "[a-z]+",
    """
    january february march april may june july august september october november december
    """,
)
MONTH_OF = {name: n for n, month in enumerate(MONTHS, 1) for name in (month, month[:3])}
MONTH_OF["sept"] = 9

EARLY = ("上午", "午前", "早上", "凌晨", "早晨", "清晨")
LATE = ("下午", "午后", "午後", "晚上", "傍晚", "晚")


def pattern(source):
    return regex.compile(source, regex.V1)


def either(names):
    return f"(?:{'|'.join(names)})"


WORD_OR_CHARACTER = pattern("[A-Za-z]+|(?s:.)")
RUN_END = "(?![0-9]|[.,:][0-9])"
#: No letter of a script with spaces follows.
WORD_ENDS = r"(?![\p{Alphabetic}--[\u0e00-\U0010ffff]])"
YEAR = "(?P<year>[12][0-9]{3})"
A, B, SIGN = "(?P<a>[0-9]{1,2})", "(?P<b>[0-9]{1,2})", "(?P<sign>[-/.])"
DATE = pattern(
    f"(?:{YEAR}(?P<mark>[{DAY_FIRST}{UNSURE}]?){SIGN}{A}(?P=sign){B}"
    f"|{A}{SIGN}{B}(?P=sign){YEAR}){RUN_END}(?:t(?=[0-9]))?"
)
CLOCK = pattern(f"([0-9]{{1,2}}):([0-9]{{2}})(?::([0-9]{{2}}))?{RUN_END}")
HALF = pattern(f"[-{WORD_END} ]?([ap])[{WORD_END}.]?m(?![0-9]){WORD_ENDS}")

# English: one separator between the words of a number, one or two signs between those of a date.
SPACE, SIGNS = f"[{WORD_END} -]", f"[-{WORD_END} ,./]{{1,2}}+"
AND = f"{SPACE}(?:and{SPACE})?"
BELOW_HUNDRED = (
    f"(?:{either(TENS)}{WORD_ENDS}(?:{SPACE}{either(ONES[1:10])}{WORD_ENDS})?"
    f"|{either(ONES[1:])}{WORD_ENDS})"
)
HUNDREDS = f"{BELOW_HUNDRED}(?:{SPACE}hundred{WORD_ENDS}(?:{AND}{BELOW_HUNDRED})?)?"
IN_WORDS = HUNDREDS
for scale in SCALES:
    IN_WORDS = f"(?:{HUNDREDS}{SPACE}{scale}{WORD_ENDS}(?:{AND}{IN_WORDS})?|{IN_WORDS})"
IN_WORDS = pattern(f"{IN_WORDS}|zero{WORD_ENDS}")
SCALE = pattern(f"{SPACE}({either(SCALES)}){WORD_ENDS}")
MONTH = f"(?P<month>{either(MONTH_OF)}){WORD_ENDS}"
ORDINAL = f"(?:(?:st|nd|rd|th){WORD_ENDS})?"
OF_YEAR = pattern(f"{SIGNS}{YEAR}{RUN_END}")
MONTH_ALONE = pattern(MONTH)
MONTH_AFTER = pattern(f"{ORDINAL}{SIGNS}(?:of(?![A-Za-z]){SIGNS})?{MONTH}")
DAY_AFTER = pattern(
    f"{SIGNS}(?:(?P<day>[0-9]{{1,2}}){RUN_END}{ORDINAL}|(?P<words>{IN_WORDS.pattern}))"
)


class Date(NamedTuple):
    """A day; if it is not sure which is the month, that is the smaller number."""

    year: int | None
    month: int
    day: int
    is_sure: bool = True


class Number(NamedTuple):
    """A number of a text, from one place to another."""

    begin: int
    end: int
    spelled: str
    kind: str = "number"
    date: Date | None = None


def spell(text):
    """Return a text with each number as it is spelled."""
    out, done, last = "", 0, ""
    for number in numbers(text):
        is_split = not text[done : number.begin].replace(SENTENCE_END, "") and {
            last[-1:],
            number.spelled[0],
        } <= {*string.digits}
        out += text[done : number.begin] + "-" * is_split + number.spelled
        done, last = number.end, number.spelled
    return out + text[done:]


def numbers(text):
    """Return the numbers of a text, in order, with their places in it."""
    places = [place for place, c in enumerate(text) if c != SENTENCE_END]
    # The word *of* of a date counts in lower case alone.
    plain = regex.sub(
        "(?!(?i:of)(?![A-Za-z]))[A-Za-z]+",
        lambda word: word[0].lower(),
        text.replace(SENTENCE_END, ""),
    )
    found, at, last = [], 0, 0
    while at < len(plain):
        number = begins(plain, at, last)
        if number is None:
            at = WORD_OR_CHARACTER.match(plain, at).end()
            continue
        found.append(number._replace(begin=places[number.begin], end=places[number.end - 1] + 1))
        at = last = number.end
    return found


def begins(text, at, last):
    """Return the number that begins at a place, or with the half of a day before it."""
    c = text[at]
    if c in string.digits:
        return in_digits(text, at, last)
    if c in NUMERALS:
        read = numeral(text, at)
        return read and with_units(text, at, *read, last)
    is_inside = at > 0 and is_of_word(text[at - 1])
    return None if is_inside or c not in string.ascii_lowercase else in_words(text, at)


def written(value):
    """Return a value in decimals."""
    digits = 0
    while (value * 10**digits).denominator > 1:
        digits += 1
    whole = str(int(value * 10**digits)).rjust(digits + 1, "0")
    return f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole


def whole(value, least, most):
    """Return the value as an integer within bounds, or None."""
    return int(value) if value.denominator == 1 and least <= value <= most else None


def in_digits(text, at, last):
    """Return the number that begins with a digit."""
    run = RUN.match(text, at)
    end = run.end()
    if end - at > LONGEST:
        return Number(at, end, run[0], "word")
    if date := date_in_digits(text, at):
        return date
    if clock := CLOCK.match(text, at):
        hour, minute, second = clock.groups()
        half = HALF.match(text, end)
        if half and 1 <= int(hour) <= 12:
            hour, end, last = int(hour) % 12 + 12 * (half[1] == "p"), half.end(), at
        return timed(text, at, end, last, int(hour), minute, second)
    value = decimal(run[0])
    if value is None:
        return Number(at, end, run[0])
    if text[end : end + 1] in {*NUMERALS, *"年月时時点點"}:
        return with_units(text, at, *(numeral(text, at) or (value, end)), last)
    if number := day_first(text, at, value, end):
        return number
    if scale := SCALE.match(text, end):
        return Number(at, scale.end(), written(value * 10 ** SCALES[scale[1]]))
    return Number(at, end, written(value))


def date_in_digits(text, at):
    """Return a date such as 2026-3-5, or None."""
    match = DATE.match(text, at)
    if not match:
        return None
    year, a, b = (int(match[name]) for name in ("year", "a", "b"))
    mark, year_first = match["mark"], match.start("year") == at
    both = 1 <= a <= 12 and 1 <= b <= 12
    is_sure = mark == DAY_FIRST if mark else year_first or not both or a == b
    if mark == DAY_FIRST or (not year_first and not 1 <= a <= 12):
        a, b = b, a
    if not is_sure:
        a, b = min(a, b), max(a, b)
    is_day = 1 <= a <= 12 and 1 <= b <= 31
    return dated(at, match.end(), Date(year, a, b, is_sure)) if is_day else None


def dated(begin, end, date):
    """Return a date with a year."""
    year, month, day, is_sure = date
    mark = ""
    if day <= 12 and month != day:
        mark = UNSURE if not is_sure else DAY_FIRST if month > day else ""
    return Number(begin, end, f"{year}{mark}-{min(month, day)}-{max(month, day)}", "date", date)


def timed(text, begin, end, last, hour, minute, second=None):
    """Return a time, with the half of the day before it."""
    half = next((word for word in EARLY + LATE if text.endswith(word, last, begin)), None)
    if half in LATE and (5 <= hour < 12 or (1 <= hour < 12 and "午" in half)):
        begin, hour = begin - len(half), hour + 12
    elif half and (hour > 12) == (half in LATE):
        begin -= len(half)
    spelled = f"{hour}时" if minute is None else f"{hour}:{int(minute):02}"
    if second and int(second):
        spelled += f":{int(second):02}"
    return Number(begin, end, spelled, "time")


def with_units(text, at, value, end, last):
    """Return a number with what the unit after it makes of it."""
    unit = text[end : end + 1]
    year, month = whole(value, 1000, 2999), whole(value, 1, 12)
    month_of_year = counted(text, end + 1, 1, 12, "月") if unit == "年" and year else None
    if month_of_year and (day := counted(text, month_of_year[1], 1, 31, "日号號")):
        return dated(at, day[1], Date(year, month_of_year[0], day[0]))
    if unit == "月" and month and (day := counted(text, end + 1, 1, 31, "日号號")):
        date = Date(None, month, day[0])
        return Number(at, day[1], f"{month}月{day[0]}日", "date", date)
    hour = whole(value, 0, 24)
    is_point = unit in {*"点點"}
    is_hour = unit in {*"时時"} and text[end + 1 : end + 2] not in {*"间間"}
    if hour is not None and (is_point or is_hour):
        end, minute, second = minutes(text, end + 1, is_point)
        return timed(text, at, end, last, hour, minute, second)
    return Number(at, end, written(value))


def counted(text, at, least, most, units):
    """Return a whole number within bounds and the end of the unit after it, or None."""
    value, end = integer(text, at) or (Fraction(-1), at)
    number = whole(value, least, most)
    return (number, end + 1) if number is not None and text[end : end + 1] in {*units} else None


def minutes(text, at, is_point):
    """Return where a time ends with the minutes and seconds after its hour, and these."""
    after = text[at : at + 1]
    if after in {*"半整钟鐘"}:
        return at + 1, 30 if after == "半" else None, None
    if (minute := counted(text, at, 0, 59, "分")) and text[minute[1] : minute[1] + 1] != "之":
        second = counted(text, minute[1], 0, 59, "秒")
        return (second or minute)[1], minute[0], second and second[0]
    value, end = integer(text, at) or (Fraction(-1), at)
    alone = whole(value, 0, 59)
    has_two = end - at == 2 if after in {*string.digits} else value >= 10
    if is_point and alone is not None and has_two and text[end : end + 1] != "分":
        return end, alone, None
    return at, None, None


# English


def value_of(words):
    """Return the value of words: groups below a thousand, each with its power.

    >>> value_of("two hundred and five thousand and twenty-one")
    205021
    """
    total = group = 0
    for word in regex.findall("[a-z]+", words):
        if word in ONES:
            group += ONES.index(word)
        elif word in TENS:
            group += 10 * TENS.index(word) + 20
        elif word == "hundred":
            group *= 100
        elif word in SCALES:
            total, group = total + group * 10 ** SCALES[word], 0
    return total + group


def in_words(text, at):
    """Return the number or the month that begins with a word."""
    if month := MONTH_ALONE.match(text, at):
        number = MONTH_OF[month["month"]]
        if (after := DAY_AFTER.match(text, month.end())) and (
            day := whole(Fraction(after["day"] or value_of(after["words"])), 1, 31)
        ):
            return with_year(text, at, number, day, after.end())
        return None if number == 5 else Number(at, month.end(), MONTHS[number - 1], "month")
    words = IN_WORDS.match(text, at)
    if not words:
        return None
    value = Fraction(value_of(words[0]))
    return day_first(text, at, value, words.end()) or Number(at, words.end(), written(value))


def day_first(text, at, value, end):
    """Return the date that a day before the name of a month begins, or None."""
    day, month = whole(value, 1, 31), MONTH_AFTER.match(text, end)
    if not day or not month:
        return None
    return with_year(text, at, MONTH_OF[month["month"]], day, month.end())


def with_year(text, at, month, day, end):
    """Return a date with the year after it, if there is one."""
    if year := OF_YEAR.match(text, end):
        return dated(at, year.end(), Date(int(year["year"]), month, day))
    spelled = f"{MONTHS[month - 1]}{WORD_END}{day}"
    return Number(at, end, spelled, "date", Date(None, month, day))
