"""normalize, its last step: each number, date and time of a text, and how its value is spelled.

A text is read from left to right. Where a number may begin, the longest one that makes sense is
taken. Ends of sentences are put aside first, and come back where they stood, unless they stood
inside a number.
"""

import itertools
import re
from fractions import Fraction
from typing import NamedTuple

from .characters import is_alphabetic

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

ONES = re.findall(
    "[a-z]+",
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
    """,
)
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SCALES = {"trillion": 12, "billion": 9, "million": 6, "thousand": 3}
MONTHS = re.findall(
    "[a-z]+",
    """
    january february march april may june july august september october november december
    """,
)
MONTH_OF = {name: n for n, month in enumerate(MONTHS, 1) for name in (month, month[:3])}
MONTH_OF["sept"] = 9

RUN = re.compile("[0-9]+(?:[.,:][0-9]+)*")
DECIMAL = re.compile(r"([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.([0-9]+))?")
DATE = re.compile(
    rf"([0-9]{{1,4}})([{DAY_FIRST}{UNSURE}]?)([-/.])([0-9]{{1,2}})\3([0-9]{{1,4}})(?![0-9]|[.,:][0-9])"
)
CLOCK = re.compile("([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
HALF = re.compile(f"[-{WORD_END} ]?([ap])[{WORD_END}.]?m(?![0-9])", re.IGNORECASE)
YEAR = re.compile("[12][0-9]{3}(?![0-9]|[.,:][0-9])")
EARLY = ("上午", "午前", "早上", "凌晨", "早晨", "清晨")
LATE = ("下午", "午后", "午後", "晚上", "傍晚", "晚")


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
    out, done, last = "", 0, None
    for number in numbers(text):
        between = text[done : number.begin].replace(SENTENCE_END, "")
        splits = last and not between and "0" <= last.spelled[-1] <= "9"
        is_split = splits and "0" <= number.spelled[0] <= "9"
        out += text[done : number.begin] + "-" * bool(is_split) + number.spelled
        done, last = number.end, number
    return out + text[done:]


def numbers(text):
    """Return the numbers of a text, in order, with their places in it."""
    places = [place for place, c in enumerate(text) if c != SENTENCE_END]
    plain = text.replace(SENTENCE_END, "")
    found, at, last = [], 0, 0
    while at < len(plain):
        number = begins(plain, at, last)
        if number is None:
            word = re.compile("[A-Za-z]+").match(plain, at)
            at = word.end() if word else at + 1
            continue
        found.append(number._replace(begin=places[number.begin], end=places[number.end - 1] + 1))
        at = last = number.end
    return found


def begins(text, at, last):
    """Return the number that begins at a place, or with the half of a day before it."""
    c = text[at]
    if "0" <= c <= "9":
        return in_digits(text, at, last)
    if c in NUMERALS:
        read = numeral(text, at)
        return read and with_units(text, at, *read, last)
    if c.isascii() and c.isalpha() and not is_of_word(text, at - 1):
        return in_words(text, at)
    return None


def is_of_word(text, at):
    """Tell whether the character at a place is a letter of a script with spaces."""
    return 0 <= at < len(text) and text[at] < "\u0e00" and is_alphabetic(text[at])


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
    return Fraction(match[0].replace(",", ""))


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
    if clock := CLOCK.fullmatch(run[0]):
        half = HALF.match(text, end)
        if half and 1 <= int(clock[1]) <= 12 and not is_of_word(text, half.end()):
            hour = int(clock[1]) % 12 + 12 * (half[1].lower() == "p")
            return timed(text, at, half.end(), at, hour, clock[2], clock[3])
        return timed(text, at, end, last, int(clock[1]), clock[2], clock[3])
    value = decimal(run[0])
    if value is None:
        return Number(at, end, run[0])
    if text[end : end + 1] in {*NUMERALS, *"年月时時点點"}:
        return with_units(text, at, *(numeral(text, at) or (value, end)), last)
    if number := day_first(text, at, value, end):
        return number
    word = word_after(text, end)
    if word and word[0] in SCALES:
        return Number(at, word[1], written(value * 10 ** SCALES[word[0]]))
    return Number(at, end, written(value))


def date_in_digits(text, at):
    """Return a date such as 2026-3-5, or None."""
    match = DATE.match(text, at)
    if not match:
        return None
    first, mark, _, second, third = match.groups()
    if mark and len(first) != 4:
        return None
    if len(first) == 4 and "1" <= first[0] <= "2" and len(third) <= 2:
        year, a, b, year_first = int(first), int(second), int(third), True
    elif len(third) == 4 and "1" <= third[0] <= "2" and len(first) <= 2:
        year, a, b, year_first = int(third), int(first), int(second), False
    else:
        return None
    both = 1 <= a <= 12 and 1 <= b <= 12
    is_sure = mark == DAY_FIRST if mark else year_first or not both or a == b
    if mark == DAY_FIRST or (not year_first and not 1 <= a <= 12):
        a, b = b, a
    if not is_sure:
        a, b = min(a, b), max(a, b)
    if not (1 <= a <= 12 and 1 <= b <= 31):
        return None
    time_follows = re.compile("[tT][0-9]").match(text, match.end())
    return dated(at, match.end() + bool(time_follows), Date(year, a, b, is_sure))


def dated(begin, end, date):
    """Return a date with a year."""
    year, month, day, is_sure = date
    mark = ""
    if month <= 12 and day <= 12 and month != day:
        mark = UNSURE if not is_sure else DAY_FIRST if month > day else ""
    parts = sorted((month, day)) if mark else (month, day)
    return Number(begin, end, f"{year}{mark}-{parts[0]}-{parts[1]}", "date", date)


def timed(text, begin, end, last, hour, minute, second=None):
    """Return a time, with the half of the day before it."""
    before = {
        half: next((w for w in words if text.endswith(w, last, begin)), None)
        for half, words in (("early", EARLY), ("late", LATE))
    }
    if before["early"] and hour <= 12:
        begin -= len(before["early"])
    elif before["late"] and hour > 12:
        begin -= len(before["late"])
    elif before["late"] and (5 <= hour < 12 or (1 <= hour < 12 and "午" in before["late"])):
        begin, hour = begin - len(before["late"]), hour + 12
    spelled = f"{hour}时" if minute is None else f"{hour}:{int(minute):02}"
    if second and int(second):
        spelled += f":{int(second):02}"
    return Number(begin, end, spelled, "time")


def with_units(text, at, value, end, last):
    """Return a number with what the unit after it makes of it."""
    unit = text[end : end + 1]
    year, month = whole(value, 1000, 2999), whole(value, 1, 12)
    if unit == "年" and year and (read := integer(text, end + 1)):
        of_year = whole(read[0], 1, 12) if text[read[1] : read[1] + 1] == "月" else None
        if of_year and (day := day_at(text, read[1] + 1)):
            return dated(at, day[1], Date(year, of_year, day[0]))
    if unit == "月" and month and (day := day_at(text, end + 1)):
        date = Date(None, month, day[0])
        return Number(at, day[1], f"{month}月{day[0]}日", "date", date)
    if unit and unit in "时時点點" and (time := hour_at(text, at, value, end, last)):
        return time
    return Number(at, end, written(value))


def day_at(text, at):
    """Return the day of a month, and its end."""
    read = integer(text, at)
    day = read and whole(read[0], 1, 31)
    return (day, read[1] + 1) if day and text[read[1] : read[1] + 1] in {*"日号號"} else None


def hour_at(text, at, value, end, last):
    """Return the time that an hour begins."""
    hour, is_point = whole(value, 0, 24), text[end] in "点點"
    end += 1
    after = text[end : end + 1]
    if hour is None or (not is_point and after in {*"间間"}):
        return None
    if after == "半":
        return timed(text, at, end + 1, last, hour, 30)
    if after in {*"整钟鐘"}:
        return timed(text, at, end + 1, last, hour, None)
    minute, second = None, None
    read = integer(text, end)
    if read and whole(read[0], 0, 59) is not None:
        mark, stop = text[read[1] : read[1] + 1], read[1]
        if mark == "分":
            if text[stop + 1 : stop + 2] != "之":
                minute, end = int(read[0]), stop + 1
                more = integer(text, end)
                if more and text[more[1] : more[1] + 1] == "秒":
                    seconds = whole(more[0], 0, 59)
                    if seconds is not None:
                        second, end = seconds, more[1] + 1
        elif is_point and (
            len(text[end:stop].encode()) == 2 if "0" <= text[end] <= "9" else read[0] >= 10
        ):
            minute, end = int(read[0]), stop
    return timed(text, at, end, last, hour, minute, second)


# Numerals


def numeral(text, at):
    """Return the value of the longest number with numerals, with decimals, and its end."""
    read = integer(text, at)
    if not read or text[at].isascii():
        return read
    value, end = read
    if text[end : end + 1] not in {*"点點"} or value.denominator > 1:
        return read
    digits, stop = digits_at(text, end + 1)
    after = text[stop : stop + 1]
    is_time = after in {*"分刻钟鐘秒", *"0123456789", *SMALL} and after
    if not 1 <= len(digits) < 10 or is_time:
        return read
    if len(digits) == 1 and is_of_chinese_word(text, end + 1):
        return read
    if int(value) * 10 ** len(digits) >= 2**128:
        return read
    value, power = Fraction(f"{int(value)}.{digits}"), 0
    while LARGE.get(text[stop : stop + 1], 0) > power and value:
        power = LARGE[text[stop]]
        value, stop = value * 10**power, stop + 1
    return value, stop


def integer(text, at):
    """Return the value of the longest number with numerals or of digits, and its end."""
    first = text[at : at + 1]
    if "0" <= first <= "9":
        run = RUN.match(text, at)
        value = decimal(run[0]) if len(run[0]) <= LONGEST else None
        if value is None:
            return None
        best = value, run.end()
    elif (
        first not in NUMERALS
        or not first
        or (first == "十" and text[at - 1 : at] in {*ENDS["十"]} and at)
        or (first == "零" and not zero_counts(text[at + 1 : at + 2]))
    ):
        return None
    else:
        best = positional(text, at)
    best = longest(text, at, best)
    if best and best[1] == at + 1 and not first.isascii() and is_of_chinese_word(text, at):
        return None
    return best


def zero_counts(after):
    """Tell whether a zero with this after it is a number."""
    return after and ((after in DIGITS and after != "两") or after in "时時点點度")


def positional(text, at):
    """Return numerals one by one, as in years, or None."""
    digits, end = digits_at(text, at)
    if len(digits) <= LONGEST and (len(digits) >= 4 or (len(digits) > 1 and "0" in digits)):
        value = decimal(digits)
        return None if value is None else (value, end)
    return None


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
            run = RUN.match(text, place)
            value = decimal(run[0]) if len(run[0]) <= LONGEST else None
            if before != "power" or value is None or value.denominator > 1:
                break
            pending, end, counts, before = value, run.end(), False, "digit"
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


def word_at(text, at):
    """Return the lower case of the word of ASCII letters at a place, and its end, or None."""
    match = re.compile("[A-Za-z]+").match(text, at)
    return (match[0].lower(), match.end()) if match and not is_of_word(text, match.end()) else None


def word_after(text, at):
    """Return the word behind one separator, or None."""
    return word_at(text, at + 1) if text[at : at + 1] in {WORD_END, " ", "-"} else None


def in_words(text, at):
    """Return the number or the month that begins with a word."""
    word = word_at(text, at)
    if not word:
        return None
    if word[0] in MONTH_OF:
        month, end = MONTH_OF[word[0]], word[1]
        begin = behind_signs(text, end)
        if begin and (day := english_day(text, begin)):
            return with_year(text, at, month, *day)
        return None if month == 5 else Number(at, end, MONTHS[month - 1], "month")
    read = english(text, at)
    if not read:
        return None
    return day_first(text, at, *read) or Number(at, read[1], written(read[0]))


def behind_signs(text, at):
    """Return the place behind one or two signs, or None."""
    match = re.compile(f"[-{WORD_END} ,./]{{1,2}}").match(text, at)
    return match and match.end()


def behind_ordinal(text, at):
    """Return the place behind the ending of an ordinal, or the same place."""
    word = word_at(text, at)
    return word[1] if word and word[0] in ("st", "nd", "rd", "th") else at


def english_day(text, at):
    """Return the day of a month and its end, or None."""
    if run := RUN.match(text, at):
        value = decimal(run[0]) if len(run[0]) <= 2 else None
        day = value and whole(value, 1, 31)
        return day and (day, behind_ordinal(text, run.end()))
    read = english(text, at)
    day = read and whole(read[0], 1, 31)
    return day and (day, read[1])


def day_first(text, at, value, end):
    """Return the date that a day before the name of a month begins, or None."""
    day, begin = whole(value, 1, 31), behind_signs(text, behind_ordinal(text, end))
    if not day or not begin:
        return None
    if text[begin : begin + 2] == "of" and not re.match("[A-Za-z]", text[begin + 2 : begin + 3]):
        begin = behind_signs(text, begin + 2)
    word = word_at(text, begin) if begin else None
    month = word and MONTH_OF.get(word[0])
    return with_year(text, at, month, day, word[1]) if month else None


def with_year(text, at, month, day, end):
    """Return a date with the year after it, if there is one."""
    begin = behind_signs(text, end)
    if year := begin and YEAR.match(text, begin):
        return dated(at, year.end(), Date(int(year[0]), month, day))
    spelled = f"{MONTHS[month - 1]}{WORD_END}{day}"
    return Number(at, end, spelled, "date", Date(None, month, day))


def english(text, at):
    """Return the value of the longest number of words, and its end."""
    read = hundreds(text, at)
    if not read:
        return None
    (value, end), total, least = read, 0, 99
    while value and (word := word_after(text, end)) and SCALES.get(word[0], 99) < least:
        least = SCALES[word[0]]
        total, end = total + value * 10**least, word[1]
        value, end = more(text, end, hundreds) or (0, end)
    return Fraction(total + value), end


def more(text, end, read):
    """Return what follows a power, with or without *and*, or None."""
    word = word_after(text, end)
    after = word[1] if word and word[0] == "and" else end
    found = read(text, after + 1) if text[after : after + 1] in {WORD_END, " ", "-"} else None
    return found if found and found[0] else None


def hundreds(text, at):
    """Return the value of words below a thousand, or as many hundreds, and its end."""
    read = below_hundred(text, at)
    word = read and word_after(text, read[1])
    if not word or not read[0] or word[0] != "hundred":
        return read
    value, end = more(text, word[1], below_hundred) or (0, word[1])
    return 100 * read[0] + value, end


def below_hundred(text, at):
    """Return the value of one or two words below a hundred, and its end."""
    word = word_at(text, at)
    if word and word[0] in ONES:
        return ONES.index(word[0]), word[1]
    if not word or word[0] not in TENS:
        return None
    tens, one = 10 * TENS.index(word[0]) + 20, word_after(text, word[1])
    if one and one[0] in ONES[1:10]:
        return tens + ONES.index(one[0]), one[1]
    return tens, word[1]
