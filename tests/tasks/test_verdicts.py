"""Two texts and the default verdict, for each kind of pair that people decide at once."""

import random

import pytest
from tests.kit import hard_texts

from neardup import compare, dedup, pairs

ARTICLE = (
    "The town council of Larkhaven voted on Thursday to rebuild the old fish market. Work starts "
    "in April and takes 18 months. The roof, which was damaged in the storm of 2009, will be made "
    "of glass and timber, and 46 stalls will move to the pier for that time. The mayor, Ada Quill, "
    "called the plan overdue. Traders asked for a lower rent during the move; the council offered "
    "them 3 months without rent. The work costs 7.2 million crowns, of which the county pays a "
    "third. Two members voted against the plan, since the car park behind the hall will go. A bus "
    "will run every 20 minutes from the station instead. The first market under the new roof is "
    "planned for the harbour festival, when visitors from all islands come to the town."
)
SCHOOL = (
    "云汀镇中心小学新教学楼本周封顶。工程去年秋天动工，共有二十四间教室，一层是图书室和食堂。校长贺知秋说，老楼建于上世纪，"
    "冬天漏风，孩子们写字要戴手套。新楼装了地暖，窗户朝南，走廊加宽到三米。施工队为了不影响上课，把打桩安排在暑假。"
    "家长代表程晚舟看过样板间，认为课桌的高度可以调节最为实用。镇里还修了一条通往渡口的步道，让对岸的学生放学后不必绕行国道。"
    "教育部门表示，搬迁在寒假期间完成，旧楼保留作校史陈列。"
)
#: Lines that two sites put around their articles; no line is on both.
SITES = (
    (
        "首页 新闻 社会 财经 体育 文化 视频 论坛 登录 注册 您的位置：首页 > 正文 ",
        " 责任编辑：值班 打印 关闭窗口 相关链接：{} 关于我们 联系方式 网站地图 法律声明 "
        "本站内容未经许可不得转载",
    ),
    (
        "手机客户端 热点 要闻 评论 生态 城市 直播 数据 请输入关键词 字号 大 中 小 来源：转载 ",
        " 声明：转载是为了传递更多信息，如有疑问请与编辑部联系。推荐阅读：{} 热门排行 精彩图片 "
        "返回顶部 举报电话 技术支持",
    ),
)


def article(rng):
    """Return an article that shares no sentence with any other."""
    return "".join(hard_texts.letters(rng, 18) + "。" for _ in range(12))


NOTICE = (
    "Notice to all passengers: the timetable of the ferry changes on Monday. Please look at the "
    "board at the pier before you travel, and keep your ticket ready for inspection."
)
TIMETABLE = "渡轮将于明天上午从码头出发请乘客提前半小时到达并准备好车票以便检查雨天停航时另行通知"
PROGRAM = """
def total(items):
    {}
    result = 0
    for item in items:
        if item.price is None:
            {}
            continue
        result += item.price * item.count
    return result

def average(items):
    if not items:
        {}
        return 0
    return total(items) / len(items)
"""
COMMENTS = (
    "# 从零开始累加每件商品的价格再返回总和",
    "# 没有价格的商品直接跳过",
    "# 空列表的平均值规定为零",
)


LINE = "2026 主机房巡检记录：空调、水泵、照明和门禁都已查看，值班员确认本次远程重启操作{}，请知悉"
#: Lines with a place for two words that contradict each other.
OPPOSITES = [
    (LINE, "成功", "失败"),
    (
        "今天收盘以后，这只本地股票与昨日相比小幅{}，成交与前几天相差不大，分析师认为后市还要再看几天",
        "上涨",
        "下跌",
    ),
    (
        "The virtual machine of the harbour office was {} by the operator on duty at noon",
        "started",
        "paused",
    ),
    (
        "Your request for a place in the course at the harbour school was {} by the board",
        "accepted",
        "rejected",
    ),
]
#: Long enough that one word matters little.
REST = "".join(chr(0x4E00 + 7 * at) for at in range(200))

#: The same letters, whatever stands between them.
SAME = [
    ("谢谢", "谢谢。"),
    ("OK", "ok!"),
    ("前方高能", "前方高能！！"),
    ("好的，谢谢", "好的谢谢"),
    ("谢谢，你的，帮助，祝好", "谢谢你的帮助祝好"),
    ("Thank you", "thank you!"),
    ("渡口停航三天", "渡口停航三天！"),
    ("渡口停航三天", "渡口 停航三天"),
    (SCHOOL, " ".join(SCHOOL)),
    ("http://t.cn/A6xYz1", "http://t.cn/A6xYz1"),
    ("the course is about C#", "the course is about C"),
    (ARTICLE, ARTICLE.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})),
]
#: One text that was used twice.
EDITED = [
    # A re-post: the name of the agency in front, the editor behind.
    (SCHOOL, f"本报云汀讯（记者梁守田）{SCHOOL}（责任编辑：丁如海）"),
    (ARTICLE, f"LARKHAVEN (Coast News) - {ARTICLE} Reporting by our staff."),
    # Edits here and there.
    (SCHOOL, SCHOOL.replace("本周", "日前").replace("为了不影响上课，", "")),
    (ARTICLE, ARTICLE.replace("voted on Thursday", "has voted").replace("overdue", "late")),
    # The date of the page is not the date of the event.
    (f"Monday 3 March 2014. {ARTICLE}", f"Friday 7 March 2014. {ARTICLE}"),
    # A number that was corrected in a long text.
    (ARTICLE, ARTICLE.replace("46 stalls", "48 stalls")),
    # A number that is written in another way.
    (SCHOOL, SCHOOL.replace("二十四间", "24间").replace("三米", "3米")),
    # A number that was left out.
    (ARTICLE, ARTICLE.replace("The work costs 7.2 million crowns, ", "It costs a lot, ")),
    *((text.format(word), text.format("")) for text, *words in OPPOSITES for word in words[:1]),
    *((text.format(a) + REST, text.format(b) + REST) for text, a, b in OPPOSITES),
    (PROGRAM.format("", "", ""), PROGRAM.format(*COMMENTS)),
    (f"{SCHOOL}\n{ARTICLE}", f"{SCHOOL}\n{ARTICLE}".replace("本周", "日前")),
]
#: Signs are not letters, and the share of a script does not decide.
NEARLY_SAME = [
    (NOTICE + " 🎉" * 31, NOTICE + " 🎉" * 35),
    (NOTICE, f"{NOTICE}\n{'━' * 50}"),
    (NOTICE + "“”" * 16, NOTICE + "“”" * 18),
    # About a fifth of the letters are Chinese.
    (NOTICE + TIMETABLE[:32], NOTICE + TIMETABLE[:35]),
]
#: Other words, and forms that were used for two events.
OTHER = [
    ("谢谢", "谢谢你"),
    ("1.5", "15"),
    ("？", "！"),
    ("好的，谢谢", "好的，再见"),
    ("我要退货", "我不要退货"),
    ("a1", "a2"),
    (f"{SCHOOL}\n{ARTICLE}", SCHOOL),
    # Eight letters, of which nine have all: of so few that is not enough.
    ("近似文本检测引擎", "近似文本检测引擎好"),
    ("渡口停航三天", "渡口停航三天，改乘车"),
    ("渡口停航三天", "渡口停航四天"),
    *((text.format(a), text.format(b)) for text, a, b in OPPOSITES),
    ("http://t.cn/A6xYz1", "http://t.cn/B7qRs2"),
    ("Photo: https://a.b/one", "Photo: https://a.b/two"),
    ("@小红 @小明", "@小红 @小丽"),
    ("1. https://a.b/one", "1. https://a.b/two"),
    # No name, no tag.
    ("write to joe@example.com", "write to ann@example.org"),
    ("mend the leak, see #12", "mend the leak, see #13"),
    # Inside of a text they count.
    ("先看 http://t.cn/A6xYz1 再说今天的事", "先看 http://t.cn/B7qRs2 再说今天的事"),
    # Bulletins of two days, in digits and in words.
    (
        "渡口管理处通报：5月3日早班船准点，渡客310人，午后因风停航2小时，晚班恢复。沿江各码头秩序正常。",
        "渡口管理处通报：5月9日早班船准点，渡客476人，午后因风停航5小时，晚班恢复。沿江各码头秩序正常。",
    ),
    (
        "Eight ships waited outside the port of Larkhaven this morning and three were loading "
        "grain, the harbour office said in its daily report.",
        "Six ships waited outside the port of Larkhaven this morning and two were loading "
        "grain, the harbour office said in its daily report.",
    ),
    # Prices of two hours.
    (
        "Larkhaven fish prices, 8 am, crowns a box: cod 212, herring 94, plaice 151, eel 330, "
        "mussels 47. Next report in two hours.",
        "Larkhaven fish prices, 10 am, crowns a box: cod 219, herring 91, plaice 158, eel 342, "
        "mussels 45. Next report in two hours.",
    ),
    # The dividends of two companies.
    (
        "Quill Shipping Co sets quarterly dividend. Qtly div 22 cents vs 20 cents prior. "
        "Pay April 15. Record March 31.",
        "Marlow Timber Inc sets quarterly dividend. Qtly div 9 cents vs 8 cents prior. "
        "Pay May 1. Record April 10.",
    ),
    # One short line with another number.
    ("云汀镇今晚停水3小时", "云汀镇今晚停水5小时"),
]
CASES = [
    *((*pair, 1.0) for pair in SAME),
    *((*pair, 0.95 if "━" not in pair[1] else 0.9) for pair in NEARLY_SAME),
    *((*pair, 0.4) for pair in EDITED),
    *((*pair, None) for pair in OTHER),
]


@pytest.mark.parametrize(("a", "b", "least"), CASES)
def test_verdict_is_the_same_in_each_order_and_task(a, b, least):
    for pair in ((a, b), (b, a)):
        found = compare(*pair)
        assert found.duplicate is (least is not None)
        assert found.similarity >= (least or 0)
        many = [pair[0], "别的一句话", pair[1]]
        assert dedup(many).keep.tolist() == [True, True, not found.duplicate]
        assert pairs(many).table.num_rows == found.duplicate


def test_posts_with_one_signature_are_not_duplicates():
    signature = (
        "-- 梁守田 云汀镇渡口管理处 值班室 地址：云汀镇临江老街东头 邮编见信封 以上只代表个人看法，"
        "转发请保留全文，谢谢合作。渡人渡己，风雨同舟，愿每一班船都平安靠岸。"
    )
    rng = random.Random(7)
    posts = [article(rng)[:60] + signature for _ in range(40)]
    assert pairs(posts).table.num_rows == 0


def test_an_article_on_two_sites_is_found_and_pages_of_one_site_are_kept():
    rng = random.Random(3)
    articles = [article(rng) for _ in range(70)]
    pages, article_of = [], []
    for (begin, end), shown in zip(SITES, (range(40), range(30, 70)), strict=True):
        for index in shown:
            links = " ".join(articles[other][:12] for other in rng.sample(range(70), 4))
            pages.append(begin + articles[index] + end.format(links))
            article_of.append(index)
    result = pairs(pages).table.to_pylist()
    same = [(article_of[int(row["id_a"])], article_of[int(row["id_b"])]) for row in result]
    # An article is 60 % of its page; of one more frame than that, less than half would be shared.
    assert {(index, index) for index in range(30, 40)} >= set(same)
    assert len(same) >= 9
    assert len(dedup(pages).kept) <= 71
