"""verify: two texts side by side, unit by unit, and what they have in each other's place.

Numbers that other numbers replace count, and so do words of which the other text has the opposite.
Units are named by 64 bits, because these choose the text that is read first where an alignment has
a choice.
"""

import re
from bisect import bisect_left
from collections import Counter
from functools import lru_cache
from itertools import groupby, pairwise

import xxhash

from .characters import is_letter, is_of_word
from .normalize import SENTENCE_END, WHITE_SPACE
from .numbers import MONTHS, numbers
from .numerals import NUMERALS
from .segment import is_wide

# The longest line, in characters and in words, and the least of a sentence that one text has alone.
LINES = (12, 4)
SENTENCE = 5
MARKS = f"。！？!?{SENTENCE_END}"

# Bits of a unit: a number, a numeral of a word, a day whose numbers stand in another order.
NUMBER, NUMERAL, TURN, WORD = 1, 2, 4, 8

# Units in a row that hold an alignment, the least in an equal stretch, the most in a
# gap that replaces a number, and the most pairs of units that are compared.
ANCHOR = 4
SHORTEST = 3
SHORT_GAP = 12
EXACT = 4096

# Scattered edits: units of a small difference, the least number of these, how many times the
# weighty ones, the least share of the text that is aligned and that lies between the first and the
# last.
SMALL = 2
FEWEST = 4
TIMES = 4
ALIGNED = 0.85
SPREAD = 0.5

# Opposed words: the letters of a longer text, and the longest gap, for words and single letters.
LINE, PLACE = 200, (6, 2)

# The words of each line are opposed to those after the bar.
PAIRS = """\
成功 | 失败
上涨 涨 | 下跌 跌
上升 升 | 下降 降
增加 增长 增 | 减少 下降 减
上调 | 下调
走高 走强 | 走低 走弱
高于 | 低于
买入 买 | 卖出 卖
流入 | 流出
盈利 | 亏损
利好 | 利空
同意 接受 批准 通过 | 拒绝 驳回 否决
支持 赞成 | 反对
允许 | 禁止
启动 启用 开始 恢复 | 停止 停用 结束 暂停 中断
打开 开启 开放 开通 | 关闭
上线 | 下线
登录 登入 | 退出 登出
连接 | 断开
正常 | 异常
阳性 | 阴性
有 | 无
胜 赢 | 负 输
started start starts starting running resumed | stopped stop stops stopping paused suspended
succeeded succeeds success successful successfully | failed fails failure
passed pass passes | failed fail fails
accepted accepts approved approves granted grants allowed allows \
    | rejected rejects denied denies refused refuses blocked
enabled enable | disabled disable
opened opens open | closed closes close
connected | disconnected
online up | offline down
added adds created creates | removed removes deleted deletes
active | inactive
valid | invalid
healthy | unhealthy
locked | unlocked
on | off
true yes | false no
rose rises rise gained gains gain climbed climbs \
    | fell falls fall dropped drops drop lost loses loss declined declines
increased increases increase raised raises | decreased decreases decrease cut cuts lowered lowers
higher above | lower below
profit | loss
bought buys buy | sold sells sell
won wins win supports supported | lost loses lose opposes opposed
""".splitlines()


@lru_cache(maxsize=1000)
def letters(text):
    """Return the letters and digits of a text, in order."""
    return "".join(filter(is_letter, text))


def is_spaced(text):
    """Say whether most letters are of scripts with spaces, four for one of others."""
    narrow = len(re.findall("[A-Za-z\u00c0-\u0dff\u1e00-\u1fff]", text))
    return narrow > 4 * sum(map(is_wide, text))


# Units


def named(text, flag=0):
    """Return a unit: a hash whose last bits say what it is."""
    if is_of_word(text[0]):
        flag |= WORD
    return xxhash.xxh3_64_intdigest(text.encode()) & ~(NUMBER | NUMERAL | WORD) | flag


def number_unit(value):
    """Return the unit of a number."""
    return xxhash.xxh3_64_intdigest(str(value).encode()) & ~WORD | NUMBER


NEGATIONS = {*map(named, ("不", "未", "没", "无", "非", "勿", "not", "no", "never", "without"))}


def parts(number, written):
    """Return the units of a number, and where the month and the day of a date are among them."""
    spelled = number.spelled
    if number.kind == "word":
        return [named(written)], None
    if number.kind == "month":
        return [number_unit(MONTHS.index(spelled) + 1)], None
    if number.kind == "time":
        values = [number_unit(int(part)) for part in re.findall("[0-9]+", spelled)]
        return values + [named("时")] * spelled.endswith("时"), None
    if number.kind == "date":
        year, month, day = (part and number_unit(part) for part in number.date[:3])
        if spelled.endswith("日"):
            return [month, named("月"), day, named("日")], (0, 2)
        return ([year, month, day], (1, 2)) if year else ([month, day], (0, 1))
    if not re.fullmatch("[0-9]+0000", spelled):
        return [number_unit(spelled)], None
    # As it is written with 万 or 亿.
    whole, scale = spelled[:-4], "万"
    if len(whole) > 4:
        whole, scale = f"{whole[:-4]}.{whole[-4:]}".rstrip("0").rstrip("."), "亿"
    return [number_unit(whole), number_unit(scale)], None


def words(text):
    """Return the units of a text without numbers: words, and other letters one by one."""
    pieces = (
        piece
        for is_word, run in groupby(text, is_of_word)
        for piece in (["".join(run)] if is_word else run)
    )
    return [named(p, NUMERAL if p in NUMERALS else 0) for p in pieces if is_letter(p[0])]


@lru_cache(maxsize=1000)
def units_and_days(text):
    """Return words, numbers, and other letters and digits one by one, and the days among them."""
    made, days, done = [], [], 0
    for number in numbers(text):
        made += words(text[done : number.begin])
        found, day = parts(number, text[number.begin : number.end])
        if day and number.date.month != number.date.day and max(number.date[1:3]) <= 12:
            days.append((len(made) + day[0], len(made) + day[1], number.date))
        made += found
        done = number.end
    return made + words(text[done:]), days


def units(text):
    """Return the units of a text."""
    return units_and_days(text)[0]


def rows(a, b):
    """Return the units of two texts; one may not say which number of a day is the month."""
    both = [units_and_days(a), units_and_days(b)]
    dates = [date for _, days in both for *_, date in days]
    unsure = {(date.month, date.day) for date in dates if not date.is_sure}
    ascending = {(date.month, date.day) for date in dates if date.is_sure and date.month < date.day}
    made = []
    for row, days in both:
        row = list(row)
        for month, day, date in days:
            if date.is_sure and date.month > date.day:
                if (date.day, date.month) in unsure:
                    row[month], row[day] = row[day], row[month]
                elif (date.day, date.month) in ascending:
                    row[month] ^= TURN
        made.append(row)
    return made


# Side by side


def common_subsequence(a, b):
    """Return the places of a longest common subsequence, by the textbook table.

    Of several it is the one that is found if, from the ends on, a unit of the longer
    row is left out wherever that costs nothing.
    """
    if len(a) > len(b):
        return [(x, y) for y, x in common_subsequence(b, a)]
    table = [[0] * (len(b) + 1)]
    for x in a:
        above, row = table[-1], [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[j]))
        table.append(row)
    i, j, places = len(a), len(b), []
    while i and j:
        if table[i][j] == table[i][j - 1]:
            j -= 1
        elif table[i][j] == table[i - 1][j]:
            i -= 1
        else:
            i, j = i - 1, j - 1
            places.append((i, j))
    return places[::-1]


def anchors(a, b, begin, stop_a, stop_b):
    """Return where four units in a row stand that each text has once, forward in both."""
    if (stop_a - begin) * (stop_b - begin) <= 16 * EXACT:
        return []

    def once(row, stop):
        rows = [tuple(row[i : i + ANCHOR]) for i in range(begin, stop - ANCHOR + 1)]
        times = Counter(rows)
        return {row: begin + number for number, row in enumerate(rows) if times[row] == 1}

    of_b = once(b, stop_b)
    both = sorted((position, of_b[row]) for row, position in once(a, stop_a).items() if row in of_b)
    # Patience sorting: the top of each pile, and what each card lies on.
    tops, before = [], {}
    for pair in both:
        pile = bisect_left(tops, pair[1], key=lambda top: top[1])
        before[pair] = tops[pile - 1] if pile else None
        tops[pile : pile + 1] = [pair]
    run = [tops[-1]] if tops else []
    while run and before[run[-1]]:
        run.append(before[run[-1]])
    return run[::-1]


def matches(a, b):
    """Return the places of equal units of two rows, forward in both."""
    least = min(len(a), len(b))
    begin = next((i for i in range(least) if a[i] != b[i]), least)
    end = next((i for i in range(least - begin) if a[-1 - i] != b[-1 - i]), least - begin)
    stop_a, stop_b = len(a) - end, len(b) - end
    places = [(position, position) for position in range(begin)]
    x = y = begin
    for end_a, end_b in [*anchors(a, b, begin, stop_a, stop_b), (stop_a, stop_b)]:
        if end_a < x or end_b < y:
            continue
        if (end_a - x) * (end_b - y) <= EXACT**2:
            between = common_subsequence(a[x:end_a], b[y:end_b])
            places += [(x + i, y + j) for i, j in between]
        x, y = end_a, end_b
        while x < stop_a and y < stop_b and a[x] == b[y]:
            places.append((x, y))
            x, y = x + 1, y + 1
    return places + [(stop_a + number, stop_b + number) for number in range(end)]


def equal_runs(a, b):
    """Return equal runs as (place in a, place in b, length)."""
    runs = []
    for x, y in matches(a, b):
        if runs and (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]) == (x, y):
            runs[-1][2] += 1
        else:
            runs.append([x, y, 1])
    return runs


def stretches(a, b):
    """Return equal runs without short ones inside."""
    return [
        (x, y, length)
        for x, y, length in equal_runs(a, b)
        if length >= SHORTEST or x == y == 0 or (x + length, y + length) == (len(a), len(b))
    ]


def gaps_of(a, b, runs):
    """Return what stands between equal runs, before the first and behind the last, in both."""
    ends = [(0, 0, 0), *runs, (len(a), len(b), 0)]
    return [
        (tuple(a[x + length : next_x]), tuple(b[y + length : next_y]))
        for (x, y, length), (next_x, next_y, _) in pairwise(ends)
    ]


def is_scattered(a, b):
    """Tell whether nearly all differences of two rows are small, and scattered over them."""
    runs = equal_runs(a, b)
    outer = gaps_of(a, b, runs)
    gaps = [gap for gap in outer if any(gap)]
    times = Counter(gap for gap in gaps if all(gap) and max(map(len, gap)) <= SMALL)
    small = weighty = 0
    for gap in gaps:
        replaces = [all(any(u & flag for u in side) for side in gap) for flag in (NUMBER, WORD)]
        if max(map(len, gap)) > SMALL or (all(gap) and (times[gap] > 1 or any(replaces))):
            weighty += 1
        elif min(map(len, gap)) < SMALL:
            small += not any(u & NUMBER or u in NEGATIONS for u in gap[0] + gap[1])
    longer = max(len(a), len(b))
    # The equal runs at the ends; a single one may be at both.
    at_ends = runs[:1] * (not any(outer[0])) + runs[-1:] * (not any(outer[-1]))
    same = sum(length for *_, length in {*map(tuple, at_ends)})
    return (
        small >= max(FEWEST, TIMES * weighty)
        and longer - sum(max(map(len, gap)) for gap in gaps) >= ALIGNED * longer
        and min(len(a), len(b)) - same >= SPREAD * longer
    )


def has_own_sentence(text, equal):
    """Tell whether most of a sentence, up to its mark, are units that are not equal ones."""
    begin, sentence = 0, ""
    # Signs between letters, and the letters before them.
    for is_sign, run in groupby(text, lambda c: not is_letter(c)):
        run = "".join(run)
        sentence += run
        ends = is_sign and any(c in MARKS for c in run)
        if ends or (is_sign and not WHITE_SPACE.isdisjoint(run)):
            end = begin + len(units(sentence))
            own = len(set(range(begin, end)) - equal)
            if ends and own >= SENTENCE and 2 * own >= end - begin:
                return True
            begin, sentence = end, ""
    return False


def common(a, b):
    """Return how many units two rows have in common, in any order."""
    return (Counter(a) & Counter(b)).total()


def numbers_in(gap):
    """Return the numbers that both sides of a gap have, and those that others replace."""
    sides = [[unit for unit in side if unit & NUMBER] for side in gap]
    same = common(*sides)
    return same, min(map(len, sides)) - same


def aligned(a, b):
    """Return how the units of two texts stand side by side, and the numbers among them."""
    sides = sorted(
        zip(rows(a, b), (a, b), (0, 1), strict=True), key=lambda side: (len(side[0]), side[0])
    )
    (first, second), texts, order = zip(*sides, strict=True)
    runs = stretches(first, second)
    gaps = gaps_of(first, second, runs)
    inside = gaps[1:-1]
    outside = [tuple(map(len, gap)) for gap in (gaps[0], gaps[-1] if runs else ((), ()))]
    lengths = {gap: max(map(len, gap)) for gap in gaps}
    short = [gap for gap in gaps if lengths[gap] <= SHORT_GAP]
    equal = sum(length for *_, length in runs)
    distance = sum(lengths[gap] for gap in gaps)
    in_runs = [unit for x, _, length in runs for unit in first[x : x + length]]
    one_sided = [unit for gap in gaps if not all(gap) for unit in gap[0] + gap[1]]
    negated = sum(unit in NEGATIONS for unit in one_sided)
    replacements = [gap for gap in inside if all(gap)]
    fewer = min(len(letters(a)), len(letters(b)))
    spaced = is_spaced(a) and is_spaced(b)
    scattered = not spaced and is_scattered(first, second)
    passages, core = [0, 0], [0, 0]
    for side, (text, row) in enumerate(zip(texts, (first, second), strict=True)):
        alone = max(len(gap[side]) - common(*gap) for gap in gaps)
        places = {run[side] + at for run in runs for at in range(run[2])}
        passages[order[side]] = alone > LINES[spaced] or (
            not scattered and has_own_sentence(text, places)
        )
        core[order[side]] = len(row) - outside[0][side] - outside[1][side]
    longer = len(second)
    return {
        "units_a": len(units(a)),
        "units_b": len(units(b)),
        "equal": equal,
        "distance": distance,
        "similarity": max(0, longer - distance) / longer if longer else 1.0,
        "edited": sum(lengths[gap] for gap in short),
        "agree": sum(unit & (NUMBER | NUMERAL) != 0 for unit in in_runs)
        + sum(numbers_in(gap)[0] for gap in gaps),
        "differ": sum(numbers_in(gap)[1] for gap in gaps),
        "replaced": sum(numbers_in(gap)[1] for gap in inside if lengths[gap] <= SHORT_GAP),
        "negated": (negated if negated == distance else 0)
        + sum(are_opposed(gap, fewer, units) for gap in gaps),
        "passage": passages,
        "core": core,
        "at_end": bool(equal) and all(outside[0]) and not any(outside[1]),
        "gaps": len(inside),
        "replacements": len(replacements),
        "slots": sum(min(map(len, gap)) >= 2 for gap in replacements),
        "recurring": len(replacements) - len(set(replacements)),
        "scattered": scattered,
        "letters": fewer,
        "spaced": spaced,
    }


def are_opposed(gaps, letters, units):
    """Tell whether one text has a word in a gap of which the other one has the opposite there."""
    longer = max(map(len, gaps))
    if letters >= LINE or not all(gaps) or longer > PLACE[0]:
        return False

    def has(gap, words):
        rows = [tuple(units(word)) for word in words.split() if len(word) > 1 or longer <= PLACE[1]]
        places = range(len(gap))
        return any(gap[at : at + len(row)] == row for row in rows for at in places)

    for pair in PAIRS:
        sides = [[has(gap, words) for words in pair.split("|")] for gap in gaps]
        if sorted(sides) == [[False, True], [True, False]]:
            return True
    return False
