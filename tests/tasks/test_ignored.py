"""Recipes ignore signs, ends of posts and notations, and users choose what else."""

import json
import re

import pytest

from neardup import (
    Index,
    InputError,
    ParameterError,
    compare,
    dedup,
    dedup_files,
    load_recipe,
    pairs,
    sketch_files,
)
from neardup.recipe.assets import compiled

EVENTS = [
    f"{time} VM {machine} {action}"
    for time in ("2026-03-05T09:05:01.2Z", "2026年3月6日 17:20", "Sat Mar  7 08:00:00 2026")
    for machine in ("web", "store")
    for action in ("Started", "Paused")
]


@pytest.mark.parametrize(
    ("ignore", "a", "b", "other"),
    [
        ("numbers", "共有25人到场", "共有1,300人到场", "共有25人离场"),
        ("numbers", "第三章 渡口", "第12章 渡口", "第三章 码头"),
        (
            "dates",
            "会议3月5日上午9时30分开始",
            "会议2026-04-06 17:05开始",
            "会议3月5日上午9时30分结束",
        ),
        (
            "links",
            "看 http://t.cn/A6x 再说",
            "看 www.example.com/b 再说",
            "看 http://t.cn/A6x 不说",
        ),
        ("names", "请 @小红 转告大家", "请 @joe_b 转告大家", "请 @小红 转交大家"),
        ("numbers, names", "@小红 3 号来", "@小明 5 号来", "@小红 3 号去"),
        (["req-[0-9a-f]{4,}"], "req-0f3a done", "req-77be1 done", "req-0f3a lost"),
        ("numbers", "三百二十五人到场，共两百", "１,300人到场，共9", "三百二十五人离场，共两百"),
        ("numbers", "编号12，渡口一样新", "编号二十，渡口一样新", "编号12，渡口统一新"),
        ("numbers", "lot 7 of twenty-five", "lot 12 of 3 million", "lot 7 from twenty-five"),
        ("numbers", "n" + "7" * 60 + " up", "n" + "8" * 50 + " up", "n" + "7" * 60 + " on"),
        ("dates", "9时05分开会", "下午三点半开会", "9时05分散会"),
        ("dates", "up March 5, 2026 9:05 pm", "up Thu Mar  6 12:30:01 2026", "on March 5, 2026"),
        ("dates", "三月五日中午12时到", "2026-03-05T09:05:01.5+08:00到", "三月五日中午12时走"),
        ("dates,punctuation", "3/5/2026, 9:05: up!", "2026-03-09 17:20 up", "3/5/2026, 9:05: on!"),
        ("dates,x{1,2}y,links", "9:05 xy done", "17:20 xxy done", "9:05 xy lost"),
    ],
)
def test_ignored_stretches_are_no_difference(ignore, a, b, other):
    assert not compare(a, b).duplicate
    assert dedup([a, b, other], ignore=ignore).keep.tolist() == [True, False, True]
    assert compare(a, b, ignore=ignore).similarity == 1
    assert pairs([a, b, other], ignore=ignore).summary.pairs == 1


@pytest.mark.parametrize("recipe", ["news", "classic", "keywords", "improved", "general"])
@pytest.mark.parametrize(
    ("a", "b"), [("１２３", "４５６"), ("٣٤٥", "٩١"), ("१२३", "९"), ("12", "１３")]
)
def test_digits_of_any_script_are_ignored_where_nothing_is_folded(recipe, a, b):
    texts = [f"the price is {number} each, 渡口的票价" for number in (a, b)]
    assert compare(*texts, recipe=recipe, ignore="numbers").similarity == 1


@pytest.mark.parametrize("recipe", ["news", "general"])
@pytest.mark.parametrize("text", ["下一步看五星红旗", "周三一枕黄粱", "no one is one-sided"])
def test_words_with_a_numeral_are_not_ignored(recipe, text):
    recipe = load_recipe(recipe)
    ignoring = recipe.replace(normalize={"ignore": ("numbers", "dates")})
    assert compiled(ignoring).normalize(text) == compiled(recipe).normalize(text)


def test_one_event_at_several_times_is_one_by_every_way(tmp_path):
    kept = [True] * 4 + [False] * 8
    assert dedup(EVENTS).keep.all()
    for recipe in ("general", "shingle", "minhash", "classic"):
        assert dedup(EVENTS, recipe=recipe, ignore=["dates"]).keep.tolist() == kept
    source, sketches = tmp_path / "events.jsonl", tmp_path / "events.sketches"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in EVENTS))
    with Index(tmp_path / "events.db", ignore=["dates"]) as index:
        assert index.add_files([source]).keep.tolist() == kept
    sketch_files([source], sketches, ignore="dates")
    for other in (sketches, tmp_path / "events.db"):
        out = tmp_path / "kept.jsonl"
        found = dedup_files([source], out, against=[other], ignore=["dates"], force=True)
        assert found.summary.kept == 0
    with pytest.raises(InputError, match="with the settings of this run"):
        dedup_files([source], out, against=[sketches], force=True)


@pytest.mark.parametrize("expression", [r"[\s\S]*", ".+", r"\S+|\s+"])
def test_text_ignored_whole_equals_only_an_identical_one(expression):
    kept = dedup([*EVENTS, EVENTS[0]], ignore=[expression]).keep
    assert kept.tolist() == [True] * len(EVENTS) + [False]


@pytest.mark.parametrize("expression", ["", "^", "$", "z*", r"\b"])
def test_empty_match_changes_nothing(expression):
    ignore = [f"(?:{expression})"]
    assert dedup(EVENTS, ignore=ignore).keep.all()


def test_id_covers_ignored_kinds_in_any_order():
    def made(*ignore):
        return load_recipe().replace(normalize={"ignore": ignore}).id

    assert made("dates", "numbers", "x+") == made("x+", "numbers,dates", "numbers")
    assert len({made(), made("dates"), made("numbers"), made("x+"), made("y+")}) == 5


@pytest.mark.parametrize(
    ("ignore", "says"),
    [
        ("number", "did you mean numbers?"),
        ("Dates", "did you mean dates?"),
        ("mentions", "did you mean names?"),
        ("numbers,(渡口", "at character 1: unclosed group"),
        ("渡口(?!x)", "at character 3: look-around"),
        (r"(a)\1", "backreferences are not supported"),
        (r"\w{90000}", "too large"),
    ],
)
def test_fault_of_an_expression_is_told_with_its_place(ignore, says):
    with pytest.raises(ParameterError) as refused:
        dedup(EVENTS, ignore=ignore)
    assert says in str(refused.value)


@pytest.mark.parametrize("recipe", ["bkdr", "news-words"])
def test_cut_texts_ignore_nothing(recipe):
    with pytest.raises(ParameterError, match="are cut at their signs"):
        dedup(EVENTS, recipe=recipe, ignore="numbers")


# Signs between letters, ends of posts, and notations of numbers.


def test_most_similar_counting_document_is_found():
    """The first is more similar than the second, but has too few features to count."""
    first, second = "近似文本检测引擎", "近似文本检测引擎好吗你"
    text = "近似文本检测引擎好"
    assert compare(first, text).similarity > compare(second, text).similarity
    (removed,) = dedup([first, second, text]).removed.to_pylist()
    assert removed["kept_id"] == "1"


#: Long enough for shingles, with marks of many kinds.
CHINESE = (
    "姐妹们！这家咖啡店真的绝绝子，在五原路拐角，燕麦拿铁好喝，周末要排队半小时；建议早点去。"
    "“老板”人很好……店里有猫（两只）！价格：25.5元一杯，9:30开门，你们也去看看吧？"
)
ENGLISH = (
    "It's a small café at the corner, with oat milk latte; we queued for half an hour, didn't we? "
    '"Come early," they said: two cats (grey and white) live there, and a cup costs 25.5 - go!'
)
CLOTHES = {"none": "", "line ends": "\n", "emoji": "🎉", "other marks": "、。", "blanks": " "}


def in_clothes(text, sign):
    """Return a text with another sign in the place of its marks, but for those inside numbers."""
    words = re.sub(r"(?<=[a-z])'(?=[a-z])", "", text)
    return re.sub(r"(?!(?<=\d)[.:](?=\d))[^\w\s]+", sign, words)


@pytest.mark.parametrize("sign", CLOTHES.values(), ids=CLOTHES)
@pytest.mark.parametrize("text", [CHINESE, CHINESE[:45], ENGLISH], ids=["long", "short", "English"])
@pytest.mark.parametrize(
    "recipe", ["general", "strict", "containment", "aligned", "characters", "shingle", "minhash"]
)
def test_punctuation_is_no_feature_in_any_recipe_of_shingles(recipe, text, sign):
    other = in_clothes(text, sign)
    found = compare(text, other, recipe=recipe)
    assert (found.duplicate, found.resemblance, found.similarity) == (True, 1, 1)
    assert len(dedup([text, "别的一句话", other], recipe=recipe).kept) == 2


@pytest.mark.parametrize("pair", ["1.2/12", "3-5/35", "12:30/1230", "3～5/35"])
def test_punctuation_inside_a_number_is_not_dropped(pair):
    a, b = (CHINESE.replace("25.5", value) for value in pair.split("/"))
    assert compare(a, b).resemblance < 1
    assert not compare(*(f"售价{value}元" for value in pair.split("/"))).duplicate


#: A post in whole and in few letters, and what is added to one of its ends.
POST = (
    "这家咖啡店在五原路拐角，燕麦拿铁好喝，周末要排队半小时；"
    "老板养了两只猫，建议早点去，也可以带朋友一起坐一坐"
)
ENDS = {
    "link": ("", "http://t.cn/A6xYz1"),
    "link first": ("https://example.com/a?b=1&c=2 ", ""),
    "name": ("", "@小红 @joe_b"),
    "reply": ("@小红 ", ""),
    "tags": ("", " #探店# #coffee #咖啡[话题]#"),
    "topic": ("【#上海 探店#】", ""),
    "shared": ("转发微博 @李四: RT @joe_b: ", ""),
    "chain": ("//@张三：", "网页链接"),
    "part shown": ("", "…展开全文"),
    "all": ("#探店# ", " via @joe_b (https://t.co/a1b2c3) Read more »"),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("length", [2, 7, 30, 39, 40, 53])
@pytest.mark.parametrize("recipe", ["general", "strict", "characters", "minhash"])
def test_ends_of_a_post_do_not_count(recipe, length, end):
    text = POST[:length]
    other = text.join(end)
    found = compare(text, other, recipe=recipe)
    assert (found.duplicate, found.similarity) == (True, 1)
    assert len(dedup([text, "别的一句话", other], recipe=recipe).kept) == 2


#: Texts with a place for a sentence.
ZH = (
    "渡口管理处昨天在门口贴出告示：{}。开往东岸的渡船因为风浪太大停航，工作人员给他们送来了热水和毛毯，"
    "请各位旅客互相转告。"
)
JA = "台風の影響により、{}から運転を取りやめます。ご利用のお客様は駅の係員にお尋ねください。"
EN = "The ferry company said that {} when the storm forced it to cancel the crossing to the bank."
PRICE = ZH.format("西红柿今天每斤卖{}元")
PEOPLE = ZH.format("当时共有{}人在码头等候")
CHAPTER = ZH.format("下个星期的考试只考{}的内容")
DATE = ZH.format("图书馆将于{}起闭馆维修")
TIME = ZH.format("明天{}起东门小区停止供电")
PASSENGERS = EN.format("{} passengers were waiting")
DAY = EN.format("the pier closes for repairs on {}, and readers return their books")
HOUR = EN.format("the last boat leaves at {} today")

#: A text, notations of one value, and other values.
NOTATIONS = [
    (PRICE, "1.2|1.20|１．２０|01.2|一点二", "1.3|12|2.1"),
    (PEOPLE, "325|三百二十五|０３２５|三百贰十五", "326|三百五十二|235"),
    (PEOPLE, "1200|1,200|一千二百|1千2百", "1201|12000|一千三百"),
    (PEOPLE, "120000000|12000万|1.2亿|一亿两千万|12,000万", "1.3亿|1.2万|13000万"),
    (PEOPLE, "9|九|09|９", "8|十九|七"),
    (PEOPLE, "3-4|3、4|三四|三、四", "3-5|四五"),
    (CHAPTER, "第三章|第3章|第03章", "第四章|第13章"),
    (
        DATE,
        "2026年3月5日|2026-03-05|2026/3/5|2026.03.05|二〇二六年三月五日|2026年03月05号",
        "2026年5月3日|2026-03-06|2025年3月5日|2026/4/5",
    ),
    (DATE, "3月5日|03月05日|三月五号|3 月 5 日", "3月6日|5月3日|4月5日"),
    (TIME, "9:05|09:05|9时05分|九点五分|９：０５|上午9点05分", "9:06|10:05|下午9点05分"),
    (TIME, "下午3点|15时|午后三点|15点|下午15时", "下午4点|3时"),
    (JA, "午前9時5分|9:05|午前九時五分|09時05分", "午後9時5分|9:15"),
    (JA, "七番|7番|７番", "八番|17番"),
    (
        JA,
        "2026年3月5日|二〇二六年三月五日|2026/03/05|二千二十六年三月五日",
        "2026年3月8日|2026年5月3日",
    ),
    (
        DAY,
        "5 March 2026|March 5, 2026|2026-03-05|Mar. 5th, 2026|2026/3/5",
        "May 3, 2026|6 March 2026|5 March 2025",
    ),
    (DAY, "March 5|5 March|Mar 5|5th of March", "March 6|May 5"),
    (PASSENGERS, "1,200|1200|twelve hundred|one thousand two hundred|01200", "1,300|120|twelve"),
    (HOUR, "9:05 pm|21:05|9:05pm|09:05 PM|9:05 p.m.|21:05:00", "9:05|9:05 am|22:05"),
    (HOUR, "9:05 am|9:05|09:05 A.M.|9:05am", "9:05 pm|21:05|10:05 am"),
    (HOUR, "12:30 am|0:30|00:30", "12:30|12:30 pm|1:30 am"),
    (TIME, "9:05 pm|21:05|下午9点05分|晚上九时零五分", "9:05|9:05 am"),
    (JA, "9:05 PM|午後9時5分|21時05分", "午前9時5分|9:05 am"),
    (PASSENGERS, "twenty-five|25|Twenty five|25.0", "twenty-six|35|52"),
]


@pytest.mark.parametrize(("text", "notations", "others"), NOTATIONS)
def test_value_is_the_same_in_every_notation_and_another_value_is_not(text, notations, others):
    texts = [text.format(value) for value in notations.split("|")]
    for same in texts[1:]:
        found = compare(texts[0], same)
        assert (found.similarity, found.evidence.numbers_differ) == (1, 0), same
    assert len(dedup(texts).kept) == 1
    for other in others.split("|"):
        for same in texts:
            assert not compare(same, text.format(other)).duplicate, (same, other)


@pytest.mark.parametrize("reading", ["2026年3月5日", "2026年5月3日"])
def test_ambiguous_day_equals_either_reading(reading):
    texts = [DAY.format(value) for value in ("03/05/2026", reading)]
    assert compare(*texts).similarity == 1
    assert not compare(texts[0], DAY.format("2026年5月4日")).duplicate


NUMERALS = [
    pair.split("/") for pair in ("一样/两样", "统一/唯一", "三亚/九江", "万一/千万", "十分/百分")
]


@pytest.mark.parametrize("pair", [*NUMERALS, ["7" * 10_000, "8" * 10_000]], ids=lambda p: p[0][:9])
def test_numeral_of_a_word_or_of_ten_thousand_digits_is_not_a_number(pair):
    evidence = compare(*map(PEOPLE.format, pair)).evidence
    assert (evidence.numbers_differ, evidence.number_penalty) == (0, 0)


@pytest.mark.parametrize(
    ("setting", "a", "b"),
    [
        ("punctuation", CHINESE, in_clothes(CHINESE, "")),
        ("ends", "转告大家早点去", "转告大家早点去 http://t.cn/A6xYz1"),
        *(("numbers", *map(PEOPLE.format, pair)) for pair in [("325", "三百二十五")]),
    ],
)
def test_recipe_keeping_a_part_compares_it(setting, a, b):
    kept = load_recipe("shingle").replace(normalize={setting: "keep"})
    assert compare(a, b, recipe="shingle").resemblance == 1
    assert compare(a, b, recipe=kept).resemblance < 1
