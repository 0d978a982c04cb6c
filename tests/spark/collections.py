"""Small collections with all that makes de-duplication hard."""

import random

import orjson

WORDS = """
桥梁 市政府 星期天 开放 记者 报道 天气 海岸 下雨 铁路 公司 学校 图书馆 时间 价格 市场 经济 发展 城市
人民 工程 会议 代表 计划 河流 森林 农业 技术 研究 大学 医院 交通 安全 environment bridge council
morning harbour railway forecast library market station village
""".split()  # noqa: SIM905


def sentence(random_: random.Random, words: int = 14) -> str:
    return "".join(random_.choices(WORDS, k=words)) + "。"


def texts(seed: int, documents: int) -> list[str | None]:
    """Originals, copies, edited copies, chains of edits, forms, and what has no text."""
    random_ = random.Random(seed)
    made: list[list[str]] = []
    every: list[str | None] = []
    for _ in range(documents):
        kind = random_.random()
        if made and kind < 0.12:
            every.append("".join(random_.choice(made)))
            continue
        if made and kind < 0.35:
            # Of an edited copy again, so that chains come about.
            edited = list(random_.choice(made[-40:]))
            for _ in range(random_.randint(1, 4)):
                edited[random_.randrange(len(edited))] = sentence(random_)
            made.append(edited)
        elif kind < 0.5:
            # A form: everything but the numbers is what others have, too.
            value = random_.randint(100, 999999)
            made.append([f"第{value}号公告:本日气温{value % 40}度,风力{value % 9}级。" * 3])
        elif kind < 0.6:
            every.append(random_.choice(["", " ", "。", "!!", "短文", None]))
            continue
        else:
            made.append([sentence(random_) for _ in range(random_.randint(3, 9))])
        every.append("".join(made[-1]))
    return every


def lines(seed: int, documents: int) -> list[bytes]:
    """The same as JSON lines, with ids, with lines that are none, and blank ones."""
    random_ = random.Random(seed)
    made = []
    for number, text in enumerate(texts(seed, documents)):
        record: dict[str, object] = {"title": f"标题 {number}", "text": text, "n": number}
        if number % 5:
            record["id"] = random_.choice([f"é/{number}", f"文章 {number}", number])
        made.append(orjson.dumps(record))
        odd = random_.random()
        if odd < 0.01:
            made.append(b'{"text": "never closed')
        elif odd < 0.02:
            made.append(b'{"text": "\xff\xfe no UTF-8"}')
        elif odd < 0.03:
            made.append(b" \t")
        elif odd < 0.04:
            made.append(b'{"nothing": 1}\r')
    return made


def forms(count: int) -> list[str]:
    """Texts that share most of what they say, and differ in what decides."""
    random_ = random.Random(4)
    same = sentence(random_, 12)
    made = []
    for number in range(count):
        form = [same + sentence(random_, 30) for _ in range(2)]
        made.append("".join(form))
        if number % 3 == 0:
            # An edited copy, which stands in the lists until it is dropped.
            made.append("".join(form)[:-4] + sentence(random_, 2))
    return made
