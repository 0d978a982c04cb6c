"""The page on other tools: its commands run, and its texts get the answers that it gives."""

import json
import re
import shlex
from pathlib import Path

import pytest
from tests import forks
from tests.conftest import ROOT

import neardup

NEWS = (
    "市图书馆将于周六上午九点重新开放，新增三百个座位，读者凭身份证入馆。馆方说，一层设有儿童阅览区，"
    "二层为自习室，三层收藏地方志和旧报刊，周一闭馆整理。"
)
ENGLISH = (
    "The city library opens again on Saturday at nine in the morning with three hundred new seats. "
    "Readers enter with an identity card. The ground floor has a room for children, the first "
    "floor is for silent study, and the second floor keeps old newspapers."
)
TRADITIONAL = (
    "市圖書館將於週六上午九點重新開放，新增三百個座位，讀者憑身份證入館。館方說，一層設有兒童閱覽區，"
    "二層為自習室，三層收藏地方志和舊報刊，週一閉館整理。"
)
EDITED = (
    "（记者张三）市图书馆将在本周六上午九点重新开放，新增三百个座位，读者凭身份证即可入馆。馆方表示，"
    "一层设有儿童阅览区，二层是自习室，三层收藏地方志和旧报刊，周一闭馆整理。来源：城市晚报"
)
BEFORE = (
    "尊敬的用户：感谢您长期以来对我们服务的支持与信任。根据国家有关法律法规和平台管理规定，现将本次维护"
    "的有关事项通知如下，请您仔细阅读并相互转告。"
)
AFTER = (
    "维护期间，部分功能可能暂时无法使用，由此带来的不便敬请谅解。如有疑问，请拨打客服热线或登录官方网站"
    "查询，我们将竭诚为您服务。再次感谢您的理解与配合。"
)
#: What each notice says of its own.
MATTERS = """\
东区的自来水管道改造，周三停水，请居民提前储水并关好阀门
西湖公园的荷花展延长到月底，周末每晚九点闭园前可入场
三号线地铁末班车推迟半小时，乘客可凭手机查询到站时间
市医院儿科门诊搬到新楼二层，家长从东门进入即可挂号
青年广场的夜市今起恢复营业，摊位数量比去年多了一半
图书馆的少儿馆增设英语角，每周六下午由外教带领朗读
南站停车场改为智能收费，车主扫码后自动抬杆放行
滨江大道夜间封闭施工，来往车辆请绕行解放路
中心小学新校区秋季启用，目前教室桌椅已经配齐
高速公路服务区增加充电桩，司机休息时就能补满电量
老城墙修缮工程完成验收，砖石全部按原样烧制复原
体育馆羽毛球场实行预约制，每人每天最多预订一小时
北山森林公园禁止野外用火，违者将被处以高额罚款
菜市场搬迁至河东新址，新市场的摊位面积更宽敞
养老服务中心招募志愿者，主要陪老人聊天和散步
博物馆推出青铜器特展，其中三件是首次公开亮相
机场快线增开清晨班次，每十五分钟从市区发一班
社区卫生站接种流感疫苗，老人和儿童可优先登记
水库大坝开展汛前检查，潜水员将查看闸门的磨损
创业园向毕业生减免租金，凭毕业证即可申请入驻
法院开放日邀请居民旁听，旁听者需携带身份证件
邮局更换临街的信筒，居民寄信不必再走远路
气象站发布大雾预警，早高峰司机应减速慢行
植物园举办兰花讲座，讲师将演示分株和换盆""".splitlines()
OPENING = (
    "user: 你好，请你扮演一名耐心的助教，用通俗的语言回答我的问题，并在最后给出一个例子。\n"
    "assistant: 好的，我会用通俗的语言回答，并在最后给出一个例子。请问您想了解什么？\nuser: "
)
QUESTIONS = """\
什么是光合作用？
为什么天空是蓝色的？
怎样求二次函数的顶点？
唐朝的都城在哪里？
什么是通货膨胀？
地震是怎样发生的？
细胞膜有什么作用？
什么是递归函数？
为什么月亮有圆缺？
怎样写一封请假条？
什么是供给与需求？
青铜器是用什么做的？
为什么海水是咸的？
什么叫惯性？
怎样背英语单词？
什么是二进制？
火山为什么会喷发？
什么是修辞手法？
怎样区分酸和碱？
什么是季风气候？
为什么铁会生锈？
什么是质数？
怎样做读书笔记？
什么是生态系统？""".splitlines()
BULLETIN = (
    "根据气象台消息，3月5日市区最高气温18摄氏度，最低气温9摄氏度，风力3级，降水概率20%，"
    "请市民外出注意增减衣物，预防感冒。"
)
INVOICE = "Invoice 10023: the customer pays 450 euros within 30 days after delivery of the goods."
WORKS = (
    NEWS + "本次改造工程于3月5日完工，共投入资金120万元。改造后的大楼采用了新的隔音材料，"
    "照明也换成了护眼灯，走廊里增设了饮水机和充电插座，残疾人可以从北门的坡道进入。"
)
PRINTER = "这台打印机的默认程序需要更新软件，请在网络设置里打开鼠标和打印的选项。"
PRINTER_TAIWAN = "這台印表機的預設程式需要更新軟體，請在網路設定裡打開滑鼠和列印的選項。"
SHOP = "https://shop.example.com/item/{}?utm_source=newsletter&utm_medium=email&utm_campaign=autumn"
LINK = "查看详情 https://shop.example.com/item?id={}&utm_source={}"
FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
LINES = """\
市图书馆周六重新开放。
读者凭身份证入馆。
新增三百个座位。
一层有儿童阅览区。
二层为自习室。
三层收藏旧报刊。
周一闭馆整理。
停车场在东侧。
自行车请停北门。
饮水机每层都有。
咖啡厅下月开业。
讲座每周五晚举行。
借书期限延长一周。
还书可走自助机。""".splitlines()

NOTICES = [f"{BEFORE}{matter}。{AFTER}" for matter in MATTERS]
FORMS = [f"{BEFORE[:-1]}，涉及{matter[:5]}，{AFTER}" for matter in MATTERS]
CHATS = [
    f"{OPENING}{question}\nassistant: {matter}。"
    for question, matter in zip(QUESTIONS, MATTERS, strict=True)
]
ASKED = [OPENING + question for question in QUESTIONS]
SHOPS = [SHOP.format(word) for word in ("chair", "table", "lamp", "shelf", "sofa")]
CHAIN = ["".join(LINES[at : at + 10]) for at in (0, 2, 4)]
STRICT = {"recipe": "strict"}


@pytest.mark.parametrize(
    ("texts", "options", "kept"),
    [
        (NOTICES, {}, 24),
        (NOTICES[:5], {}, 1),
        (NOTICES[:5], STRICT, 5),
        (FORMS, {}, 1),
        (FORMS, STRICT, 24),
        (CHATS, {}, 24),
        (CHATS[:5], {}, 5),
        (CHATS[:2], {}, 1),
        (CHATS[:2], STRICT, 2),
        (ASKED, {}, 17),
        (ASKED, STRICT, 24),
        ([f"{NEWS}\n{ENGLISH}", f"{NEWS}\n{ENGLISH}".replace("九点", "九点半")], {}, 1),
        ([f"{NEWS}\n{ENGLISH}", NEWS], {}, 2),
        ([ENGLISH, ENGLISH.translate(FULL_WIDTH)], {}, 1),
        ([NEWS, NEWS.replace("，", ",").replace("。", ".")], {}, 1),
        ([NEWS, TRADITIONAL], {}, 1),
        ([PRINTER, PRINTER_TAIWAN], {}, 2),
        ([NEWS, EDITED], {}, 1),
        ([NEWS, EDITED], {"measure": "resemblance", "threshold": 0.8}, 2),
        ([BULLETIN, BULLETIN.replace("3月5日", "3月6日")], {}, 2),
        ([INVOICE, INVOICE.replace("450", "980")], {}, 2),
        ([WORKS, WORKS.replace("120", "1200")], {}, 1),
        ([WORKS, WORKS.replace("120", "1200")], {"threshold": 0.8}, 2),
        (["继续", "继续。"], {}, 1),
        (["继续", "继续。"], {"min_length": 10}, 2),
        (["我要退货", "我不要退货"], {}, 2),
        ([LINK.format(1001, "weibo"), LINK.format(1001, "wechat")], {}, 1),
        ([LINK.format(1001, "weibo"), LINK.format(2002, "weibo")], {}, 2),
        (SHOPS, {}, 1),
        (SHOPS, STRICT, 5),
        (CHAIN, {}, 2),
    ],
)
def test_reported_texts(texts, options, kept):
    assert len(neardup.dedup(texts, **options).kept) == kept


@pytest.mark.parametrize(
    ("a", "b", "similarity"),
    [
        (f"{NEWS}\n{ENGLISH}", f"{NEWS}\n{ENGLISH}".replace("九点", "九点半"), 0.95),
        (ENGLISH, ENGLISH.translate(FULL_WIDTH), 1.0),
        (NEWS, NEWS.replace("，", ",").replace("。", "."), 1.0),
        (NEWS, TRADITIONAL, 1.0),
        (NEWS, EDITED, 0.45),
        (WORKS, WORKS.replace("120", "1200"), 0.67),
        (LINK.format(1001, "weibo"), LINK.format(1001, "wechat"), 0.83),
    ],
)
def test_reported_similarities(a, b, similarity):
    assert round(neardup.compare(a, b).similarity, 2) == similarity


def codes(folder):
    """Return the code in the tables of the page that is of neardup."""
    page = (ROOT / "docs" / folder / "other-tools.md").read_text("utf-8")
    rows = "".join(line for line in page.splitlines() if line.startswith("|"))
    return re.findall(r"`(neardup[ .][^`]*)`", rows)


@pytest.mark.parametrize("code", codes("guide"))
def test_commands_of_the_page_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if code.startswith("neardup."):
        eval(code, {"neardup": neardup, "a": NEWS, "b": EDITED, "texts": NOTICES})
        return
    fields = ("text", "content", "body")
    lines = [json.dumps(dict.fromkeys(fields, text)) + "\n" for text in (NEWS, INVOICE)]
    for path in map(Path, ("in.jsonl", "in/a.jsonl", "old/a.jsonl")):
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(lines), "utf-8")
    ran = forks.run(forks.run_command, *shlex.split(code)[1:], folder=tmp_path)
    assert ran.returncode == 0, ran.stderr.decode()


def test_both_languages_say_the_same_to_type():
    assert codes("guide") == codes("zh")
