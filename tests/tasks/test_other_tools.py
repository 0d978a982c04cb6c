"""The page on other tools: its commands run, and its texts get the answers that it gives."""

import json
import random
import re
import shlex
from pathlib import Path

import pytest
from tests import forks
from tests.conftest import ROOT
from tests.kit import hard_texts

import neardup

NEWS = (
    "市图书馆将于周六上午九点重新开放，新增三百个座位，读者凭身份证入馆。馆方说，一层设有儿童阅览区，"
    "二层为自习室，三层收藏地方志和旧报刊，周一闭馆整理。"
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
OPENING = (
    "user: 你好，请你扮演一名耐心的助教，用通俗的语言回答我的问题，并在最后给出一个例子。\n"
    "assistant: 好的，我会用通俗的语言回答，并在最后给出一个例子。请问您想了解什么？\nuser: "
)
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

rng = random.Random(1)
#: The unique text of each notice.
MATTERS = [hard_texts.letters(rng, 26) for _ in range(24)]
NOTICES = [f"{BEFORE}{matter}。{AFTER}" for matter in MATTERS]
NAMES = [f"{BEFORE[:-1]}，涉及{matter[:5]}，{AFTER}" for matter in MATTERS]
CHATS = [f"{OPENING}什么是{m[:8]}？\nassistant: {m[8:]}。" for m in MATTERS]
SHOPS = [SHOP.format(word) for word in ("chair", "table", "lamp", "shelf", "sofa")]
STRICT = {"recipe": "strict"}


@pytest.mark.parametrize(
    ("texts", "options", "kept"),
    [
        (NOTICES, {}, 24),
        (NOTICES[:5], {}, 1),
        (NOTICES[:5], STRICT, 5),
        (NAMES, {}, 1),
        (NAMES, STRICT, 24),
        (CHATS, {}, 24),
        (CHATS[:5], {}, 5),
        (CHATS[:2], {}, 1),
        (CHATS[:2], STRICT, 2),
        ([PRINTER, PRINTER_TAIWAN], {}, 2),
        ([NEWS, EDITED], {"measure": "resemblance", "threshold": 0.8}, 2),
        ([BULLETIN, BULLETIN.replace("3月5日", "3月6日")], {}, 2),
        ([INVOICE, INVOICE.replace("450", "980")], {}, 2),
        ([WORKS, WORKS.replace("120", "1200")], {"threshold": 0.8}, 2),
        ([LINK.format(1001, "weibo"), LINK.format(2002, "weibo")], {}, 2),
        (SHOPS, {}, 1),
        (SHOPS, STRICT, 5),
    ],
)
def test_reported_texts(texts, options, kept):
    assert len(neardup.dedup(texts, **options).kept) == kept


@pytest.mark.parametrize(
    ("a", "b", "similarity"),
    [
        (NEWS, TRADITIONAL, 1.0),
        (NEWS, EDITED, 0.45),
        (WORKS, WORKS.replace("120", "1200"), 0.67),
        (LINK.format(1001, "weibo"), LINK.format(1001, "wechat"), 0.83),
    ],
)
def test_reported_similarities(a, b, similarity):
    (removed,) = neardup.dedup([a, b]).removed["similarity"].to_pylist()
    assert round(removed, 2) == similarity


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
