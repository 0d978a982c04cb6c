"""normalize, its last step: each number, date and time of a text, and how its value is spelled.

A text is read from left to right. Where a number may begin, the longest one that makes sense is
taken. Ends of sentences are put aside first, and come back where they stood, unless they stood
inside a number.
"""

import itertools
import string
from fractions import Fraction
from typing import NamedTuple

import regex

from .characters import is_of_word

WORD_END, SENTENCE_END, DAY_FIRST, UNSURE = "\x1f", "\x1e", "\x1d", "\x1c"
LONGEST = 40

DIGITS = dict(zip("一二三四五六七八九壹贰叁肆伍陆柒捌玖", [*range(1, 10)] * 2, strict=True))
DIGITS |= {"两": 2, "兩": 2, "貳": 2, "陸": 6}
ZEROS = "〇零"
SMALL = dict(zip("十百千拾佰仟", (1, 2, 3) * 2, strict=True))
LARGE = {"万": 4, "萬": 4, "亿": 8, "億": 8, "兆": 12}
NUMERALS = {*DIGITS, *ZEROS, *SMALL, *LARGE}
FORMAL = set("壹贰貳叁肆伍陆陸柒捌玖拾佰仟")

# Words of a numeral and the character after it, or before it.
WORDS = {
    "一": "些样般直定起切旦向致同边旁再味贯并律概经共连举早路线流带体道"
    "面时度下头心生手行系揽众事目瞬如齐绪緒応斉環见見併樣邊體線",
    "二": "维維氧手战戰胡郎黄宫宮",
    "三": "亚亞峡峽农農角明星国國通江无無甲维維思坊菱井浦重沙亩",
    "四": "川处處周肢季海溢面射方平下散国國",
    "五": "台岳谷官粮常金指湖洲",
    "六": "安合盘盤堡神朝本",
    "七": "夕彩里巧",
    "八": "卦达達宝寶路王桂戒",
    "九": "江寨州龙龍华華霄曲",
    "十": "分足堰字",
    "两": "岸国國会會党黨侧側旁端广廣军軍性栖难難江制翼口地者用院极極码碼全边邊情弹彈手",
}
ENDS = {
    "一": "统統唯之万同单單专專划劃合不逐每另这這那某其无無进進归歸始惟",
    "二": "无無不",
    "三": "再",
    "十": "几幾数數",
}

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
RUN = pattern("[0-9]+(?:[.,:][0-9]+)*")
RUN_END = "(?![0-9]|[.,:][0-9])"
#: No letter of a script with spaces follows.
WORD_ENDS = r"(?![\p{Alphabetic}--[\u0e00-\U0010ffff]])"
DECIMAL = pattern(r"([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.([0-9]+))?")
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


def decimal(run):
    """Return the value of digits, or None."""
    match = DECIMAL.fullmatch(run)
    digits = match and match[1].replace(",", "") + (match[2] or "").rstrip("0")
    # 128 bits.
    if not match or int(digits) >= 2**128:
        return None
    return Fraction(run.replace(",", ""))


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


# Numerals


def numeral(text, at):
    """Return the value of the longest number with numerals, with decimals, and its end."""
    read = integer(text, at)
    if not read or text[at].isascii():
        return read
    value, end = read
    digits, stop = digits_at(text, end + 1)
    after = text[stop : stop + 1]
    if (
        text[end : end + 1] not in {*"点點"}
        or value.denominator > 1
        or not 1 <= len(digits) < 10
        or (after and after in {*"分刻钟鐘秒", *string.digits, *SMALL})
        or (len(digits) == 1 and is_of_chinese_word(text, end + 1))
        or int(value) * 10 ** len(digits) >= 2**128
    ):
        return read
    value, power = Fraction(f"{int(value)}.{digits}"), 0
    while LARGE.get(text[stop : stop + 1], 0) > power and value:
        power = LARGE[text[stop]]
        value, stop = value * 10**power, stop + 1
    return value, stop


def integer(text, at):
    """Return the value of the longest number with numerals or of digits, and its end."""
    first, after = text[at : at + 1], text[at + 1 : at + 2]
    is_part = first == "十" and text[at - 1 : at] in {*ENDS["十"]}
    is_sign = first == "零" and after not in {*DIGITS, *"时時点點度"} - {"两"}
    if first and first in string.digits:
        best = digits_of(text, at)
    elif first in NUMERALS and not (is_part or is_sign):
        # Numerals one by one, as in years.
        digits, end = digits_at(text, at)
        is_year = len(digits) >= 4 or (len(digits) > 1 and "0" in digits)
        value = decimal(digits) if is_year and len(digits) <= LONGEST else None
        best = None if value is None else (value, end)
    else:
        return None
    best = longest(text, at, best)
    is_word = best and best[1] == at + 1 and not first.isascii() and is_of_chinese_word(text, at)
    return None if is_word else best


def digits_of(text, at):
    """Return the value of a run of digits and its end, or None."""
    run = RUN.match(text, at)
    value = decimal(run[0]) if len(run[0]) <= LONGEST else None
    return None if value is None else (value, run.end())


def digits_at(text, at):
    """Return the digits of numerals without powers."""
    run = itertools.takewhile(
        lambda c: c in ZEROS or (c in DIGITS and c not in "两兩"), text[at : at + LONGEST + 1]
    )
    digits = "".join(str(DIGITS.get(c, 0)) for c in run)
    return digits, at + len(digits)


def longest(text, at, best):
    """Go on from digits with powers and further digits as long as they make a number.

    A number is a row of groups, each with one of 万, 亿 and 兆 after it but the last.
    """
    total, group, large = Fraction(0), Fraction(0), 0
    pending, place = best or (None, at)
    small, before = 4, "digit" if best else ""
    while place < len(text):
        c, end, counts = text[place], place + 1, True
        if "0" <= c <= "9":
            value, end = digits_of(text, place) or (Fraction(1, 2), end)
            if before != "power" or value.denominator > 1:
                break
            pending, counts, before = value, False, "digit"
        elif c in DIGITS:
            if pending is not None:
                break
            counts = place == at or small == 1 or before == "zero"
            pending = Fraction(DIGITS[c])
            before = "digit" if before != "zero" else "zero"
        elif c in ZEROS:
            if place == at:
                pending, before = Fraction(0), "digit"
            elif before != "power":
                break
            else:
                counts, before = False, "zero"
        elif c in SMALL:
            power = SMALL[c]
            goes_on = text[end : end + 1] in DIGITS
            alone = pending is None
            if power >= small or (
                alone and (before == "zero" or not (power == 1 or (goes_on and not group)))
            ):
                break
            group += (1 if alone else pending) * 10**power
            pending, small, before, counts = None, power, "power", not (alone and power > 1)
        elif c in LARGE:
            power, part = LARGE[c], group + (pending or 0)
            if large and large < power:
                total = (total + part) * 10**power
            elif large == power or not part:
                break
            else:
                total += part * 10**power
            group, pending, small, large, before = Fraction(0), None, 4, power, "power"
        else:
            break
        place = end
        if counts:
            best = total + group + (pending or 0), place
    return best


def is_of_chinese_word(text, at):
    """Tell whether a numeral by itself is of a word."""
    c, before, after = text[at], text[max(0, at - 1) : at], text[at + 1 : at + 2]
    if c in FORMAL:
        return True
    c = "两" if c == "兩" else c
    next_after = text[at + 2 : at + 3]
    if c == "十" and after == "分":
        return next_after not in {*"钟鐘之"}
    if c == "一" and after in {*"点點"}:
        is_decimal = (next_after in DIGITS or next_after in {*ZEROS}) and next_after != "一"
        return before not in {*"午晨"} and not is_decimal
    if after and after in WORDS.get(c, ""):
        return True
    is_share = text[max(0, at - 2) : at] == "分之"
    return bool(before) and before in ENDS.get(c, "") and not is_share


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
