"""The default verdict on each kind of pair that people decide without hesitation."""

import random

import pytest

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
#: What two sites put around their articles; no line is on both.
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
#: Two characters each.
WORDS = (
    "渡口早班船票码头潮水灯塔渔网货箱仓库石桥巷口茶馆集市菜农秧苗水渠磨坊竹林山路驿站信使邮包钟楼戏台"
    "学堂画匠铁铺木船船桨帆布缆绳桅杆海鸥礁石沙洲盐田晒场谷仓犁头耕牛果园蜂箱溪流瀑布古井祠堂牌坊城墙"
)


def article(rng):
    """Return an article that shares no sentence with any other."""
    words = [WORDS[index : index + 2] for index in range(0, len(WORDS), 2)]
    return "".join("".join(rng.choices(words, k=9)) + "。" for _ in range(12))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        # A re-post: the name of the agency in front, the editor behind.
        (SCHOOL, f"本报云汀讯（记者梁守田）{SCHOOL}（责任编辑：丁如海）"),
        (ARTICLE, f"LARKHAVEN (Coast News) - {ARTICLE} Reporting by our staff."),
        # Edits here and there.
        (
            SCHOOL,
            SCHOOL.replace("本周", "日前").replace("为了不影响上课，", ""),
        ),
        (ARTICLE, ARTICLE.replace("voted on Thursday", "has voted").replace("overdue", "late")),
        # The date of the page is not the date of the event.
        (f"Monday 3 March 2014. {ARTICLE}", f"Friday 7 March 2014. {ARTICLE}"),
        # A number that was corrected in a long text.
        (ARTICLE, ARTICLE.replace("46 stalls", "48 stalls")),
        # A number that is written in another way.
        (SCHOOL, SCHOOL.replace("二十四间", "24间").replace("三米", "3米")),
        # A number that was left out.
        (
            ARTICLE,
            ARTICLE.replace("The work costs 7.2 million crowns, ", "It costs a lot, "),
        ),
    ],
)
def test_one_text_used_twice(a, b):
    assert compare(a, b).duplicate
    assert compare(b, a).duplicate


@pytest.mark.parametrize(
    ("a", "b"),
    [
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
    ],
)
def test_one_form_used_for_two_events(a, b):
    assert not compare(a, b).duplicate
    assert not compare(b, a).duplicate


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
