"""Values of Chinese numerals and of digits: the longest number that begins at a place."""

import itertools
import string
from fractions import Fraction

import regex

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

RUN = regex.compile("[0-9]+(?:[.,:][0-9]+)*")
DECIMAL = regex.compile(r"([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.([0-9]+))?")


def decimal(run):
    """Return the value of digits, or None."""
    match = DECIMAL.fullmatch(run)
    digits = match and match[1].replace(",", "") + (match[2] or "").rstrip("0")
    # 128 bits.
    if not match or int(digits) >= 2**128:
        return None
    return Fraction(run.replace(",", ""))


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
