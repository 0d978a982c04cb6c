"""What does not count: marks between letters, ends of posts, and notations of numbers."""

import re

import pytest

from neardup import Index, compare, dedup, load_recipe


def test_most_similar_counting_document_is_found():
    """The first is more similar than the second, but has too few features to count."""
    first, second = "近似文本检测引擎", "近似文本检测引擎好吗你"
    text = "近似文本检测引擎好"
    assert compare(first, text).similarity > compare(second, text).similarity
    (removed,) = dedup([first, second, text]).removed.to_pylist()
    assert removed["kept_id"] == "1"


def test_an_index_decides_alike(tmp_path):
    texts = [f"{a}{mark}" for a in "好谢行对嗯" for mark in ("", "。", "！", "…", "~")]
    with Index(tmp_path / "index") as index:
        added = [index.add(str(at), text) is not None for at, text in enumerate(texts)]
    assert added == [not keep for keep in dedup(texts).keep]
    assert sum(added) == 20


#: Long enough for shingles, with marks of many kinds.
CHINESE = (
    "姐妹们！这家咖啡店真的绝绝子，在五原路拐角，燕麦拿铁好喝，周末要排队半小时；建议早点去。"
    "“老板”人很好……店里有猫（两只）！价格：25.5元一杯，9:30开门，你们也去看看吧？"
)
ENGLISH = (
    "It's a small café at the corner, with oat milk latte; we queued for half an hour, didn't we? "
    '"Come early," they said: two cats (grey and white) live there, and a cup costs 25.5 - go!'
)
CLOTHES = {
    "none": "",
    "line ends": "\n",
    "emoji": "🎉",
    "other marks": "、。",
    "blanks": " ",
}


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


def test_recipe_keeping_punctuation_compares_it():
    kept = load_recipe("shingle").replace(normalize={"punctuation": "keep"})
    assert compare(CHINESE, in_clothes(CHINESE, ""), recipe=kept).resemblance < 1


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


def test_kept_ends_are_compared():
    kept = load_recipe().replace(normalize={"ends": "keep"})
    assert not compare("早点去", "早点去 http://t.cn/A6xYz1", recipe=kept).duplicate


#: Texts of 40 to 170 letters with places for a value, of which the notations follow.
PLACES = {
    "price": "本市第二菜场的西红柿今天每斤卖{}元，比上个星期便宜了一些，"
    "摊主说过几天还会有新的一批从外地运来，大家可以早点来选。",
    "people": "渡口管理处昨天通知，开往东岸的渡船因为风浪太大停航，当时共有{}人在码头等候，"
    "工作人员给他们送来了热水和毛毯。",
    "chapter": "老师说下个星期的考试只考{}的内容，前面讲过的不用再看，"
    "同学们可以把练习册后面的题目再做一遍，有问题随时到办公室来问。",
    "day": "图书馆将于{}起闭馆维修，请各位读者提前归还借阅的图书，"
    "逾期的天数在此期间不计算在内，给大家带来不便，敬请谅解。",
    "hour": "由于线路检修，明天{}起东门小区将停止供电，请居民提前做好准备，"
    "电梯里不要有人停留，冰箱里的食物也请及时处理。",
    "Japanese": "台風の影響により、{}発の新大阪行きの列車は運転を取りやめます。"
    "ご利用のお客様は駅の係員にお尋ねください。",
    "Japanese day": "市立図書館は改修工事のため{}から休館します。ご不便をおかけしますが、"
    "ご理解とご協力をお願いいたします。",
    "English day": "The library will close for repairs on {}, and readers are asked to return "
    "their books to the desk before then.",
    "English hour": "The last ferry to the eastern bank leaves at {} today, the company said, "
    "because a storm is expected to reach the harbour tonight.",
    "English": "The ferry company said that {} passengers were waiting at the pier when the "
    "storm forced it to cancel the crossing.",
}

#: The place, notations of one value, and other values.
NOTATIONS = [
    ("price", "1.2|1.20|１．２０|01.2|一点二", "1.3|12|2.1"),
    ("people", "325|三百二十五|０３２５|三百贰十五", "326|三百五十二|235"),
    ("people", "1200|1,200|一千二百|1千2百", "1201|12000|一千三百"),
    ("people", "120000000|12000万|1.2亿|一亿两千万|12,000万", "1.3亿|1.2万|13000万"),
    ("people", "9|九|09|９", "8|十九|七"),
    ("people", "3-4|3、4|三四|三、四", "3-5|四五"),
    ("chapter", "第三章|第3章|第03章", "第四章|第13章"),
    (
        "day",
        "2026年3月5日|2026-03-05|2026/3/5|2026.03.05|二〇二六年三月五日|2026年03月05号",
        "2026年5月3日|2026-03-06|2025年3月5日|2026/4/5",
    ),
    ("day", "3月5日|03月05日|三月五号|3 月 5 日", "3月6日|5月3日|4月5日"),
    ("hour", "9:05|09:05|9时05分|九点五分|９：０５|上午9点05分", "9:06|10:05|下午9点05分"),
    ("hour", "下午3点|15时|午后三点|15点|下午15时", "下午4点|3时"),
    ("Japanese", "午前9時5分|9:05|午前九時五分|09時05分", "午後9時5分|9:15"),
    ("Japanese", "七番|7番|７番", "八番|17番"),
    (
        "Japanese day",
        "2026年3月5日|二〇二六年三月五日|2026/03/05|二千二十六年三月五日",
        "2026年3月8日|2026年5月3日",
    ),
    (
        "English day",
        "5 March 2026|March 5, 2026|2026-03-05|Mar. 5th, 2026|2026/3/5",
        "May 3, 2026|6 March 2026|5 March 2025",
    ),
    ("English day", "March 5|5 March|Mar 5|5th of March", "March 6|May 5"),
    ("English", "1,200|1200|twelve hundred|one thousand two hundred|01200", "1,300|120|twelve"),
    ("English hour", "9:05 pm|21:05|9:05pm|09:05 PM|9:05 p.m.|21:05:00", "9:05|9:05 am|22:05"),
    ("English hour", "9:05 am|9:05|09:05 A.M.|9:05am", "9:05 pm|21:05|10:05 am"),
    ("English hour", "12:30 am|0:30|00:30", "12:30|12:30 pm|1:30 am"),
    ("hour", "9:05 pm|21:05|下午9点05分|晚上九时零五分", "9:05|9:05 am"),
    ("Japanese", "9:05 PM|午後9時5分|21時05分", "午前9時5分|9:05 am"),
    ("English", "twenty-five|25|Twenty five|25.0", "twenty-six|35|52"),
]


@pytest.mark.parametrize(("place", "notations", "others"), NOTATIONS)
def test_value_is_the_same_in_every_notation_and_another_value_is_not(place, notations, others):
    texts = [PLACES[place].format(value) for value in notations.split("|")]
    for text in texts[1:]:
        found = compare(texts[0], text)
        evidence = found.evidence
        assert (found.similarity, evidence.numbers_differ) == (1, 0), text
    assert len(dedup(texts).kept) == 1
    for other in others.split("|"):
        for text in texts:
            assert not compare(text, PLACES[place].format(other)).duplicate, (text, other)


@pytest.mark.parametrize("reading", ["2026年3月5日", "2026年5月3日"])
def test_ambiguous_day_equals_either_reading(reading):
    texts = [PLACES["English day"].format(value) for value in ("03/05/2026", reading)]
    assert compare(*texts).similarity == 1
    assert not compare(texts[0], PLACES["English day"].format("2026年5月4日")).duplicate


@pytest.mark.parametrize("pair", ["一样/两样", "统一/唯一", "三亚/九江", "万一/千万", "十分/百分"])
def test_numeral_of_a_word_is_not_a_number(pair):
    texts = [PLACES["people"].format(word) for word in pair.split("/")]
    evidence = compare(*texts).evidence
    assert (evidence.numbers_differ, evidence.number_penalty) == (0, 0)


def test_number_of_ten_thousand_digits_is_a_word():
    texts = [PLACES["people"].format(digit * 10_000) for digit in "78"]
    assert compare(*texts).evidence.numbers_differ == 0


def test_recipe_keeping_numbers_compares_their_notation():
    kept = load_recipe("shingle").replace(normalize={"numbers": "keep"})
    texts = [PLACES["people"].format(value) for value in ("325", "三百二十五")]
    assert compare(*texts, recipe="shingle").resemblance == 1
    assert compare(*texts, recipe=kept).resemblance < 1
