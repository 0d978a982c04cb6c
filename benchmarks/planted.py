"""Planted passages: texts that contain parts of others, with the exact truth, and PlagDet.

A passage is a run of whole sentences of a source. It is changed as its kind says, and put between
two sentences of a host, which is otherwise unchanged: *verbatim*; *edited*, a share of its
characters touched; *reordered*, its sentences in other places; *synonyms*, words of a table
exchanged.
"""

import math
import re
from typing import NamedTuple

from neardup.lab.datasets import sentences as spans
from neardup.lab.datasets.draws import Draws

#: Passages in each paper, and their shortest and longest length in code points of the source.
PASSAGES, LENGTH = 3, (100, 500)

#: Marks that an edit puts in or exchanges, of Chinese and of other texts.
MARKS = ("，、；：。", ",;:.")
MARK = re.compile(r"[^\w\s]")
CHINESE_MARK = re.compile(r"[，、；：。“”（）《》！？]")
EDITS = ("insertion", "deletion", "replacement", "mark")

#: Pairs of synonyms; each word replaces the other.
SYNONYMS = """
提高/提升 增加/增多 减少/降低 开始/着手 结束/完结 认为/觉得 表示/指出 说明/表明 帮助/协助
重要/要紧 主要/首要 非常/十分 已经/业已 可以/能够 必须/务必 应该/应当 因为/由于 所以/因此
但是/不过 而且/并且 如果/倘若 虽然/尽管 或者/抑或 目前/当前 现在/如今 今后/往后 过去/以往
最近/近来 立即/马上 逐步/渐渐 经常/时常 一直/始终 全部/所有 许多/很多 一些/若干 大约/大概
超过/多于 不足/不到 成为/变成 形成/构成 产生/出现 发生/发作 引起/引发 导致/造成 推动/推进
促进/助推 加强/强化 加快/加速 扩大/拓展 保护/维护 保障/确保 支持/扶持 鼓励/激励 引导/引领
建立/设立 建设/兴建 完善/健全 改善/改进 改变/转变 调整/调节 控制/管控 管理/治理 检查/核查
监督/督促 组织/筹办 举行/举办 参加/参与 召开/召集 进行/开展 实施/施行 执行/落实 完成/做完
实现/达成 取得/获得 发现/察觉 了解/知晓 知道/晓得 学习/研习 研究/探究 分析/剖析 讨论/商讨
决定/决意 选择/挑选 提出/提起 提供/供给 给予/给与 接受/接纳 得到/得着 需要/须要 要求/要请
希望/盼望 喜欢/喜爱 担心/忧虑 相信/信任 问题/难题 困难/难处 方法/办法 方式/形式 措施/举措
计划/规划 目标/指标 任务/工作 原因/缘由 结果/后果 情况/情形 环境/周遭 地区/区域 地方/地点
城市/都市 乡村/农村 国家/国度 人民/民众 群众/大众 居民/住户 孩子/小孩 老人/长者 妇女/女性
学生/学员 老师/教师 医生/大夫 工人/职工 专家/行家 领导/负责人 公司/企业 单位/机构 部门/科室
政府/当局 法律/法规 规定/规章 制度/体制 政策/方针 经济/经贸 市场/市面 价格/价钱 费用/花费
收入/进账 资金/款项 产品/商品 技术/工艺 质量/品质 数量/数目 水平/水准 能力/本领 信息/消息
新闻/报道 电影/影片 图书/书籍 文章/文稿 故事/传说 比赛/竞赛 活动/行动 机会/时机 显著/明显
巨大/庞大 美丽/漂亮 快速/迅速 严重/严峻 特别/尤其 完全/彻底 共同/一起 积极/主动 充分/足够
使用/运用 联系/联络 详细/详尽 安全/平安 消费/花销 下降/下跌
but/yet also/too large/big small/little begin/start help/aid show/display buy/purchase near/close
often/frequently quick/fast answer/reply choose/select end/finish keep/retain whole/entire
about/around nearly/almost said/stated
"""
PAIRS = [pair.split("/") for pair in SYNONYMS.split()]
OTHER = {a: b for pair in PAIRS for a, b in (pair, reversed(pair))}
# The longest first: a word may begin with another one. Letters end only with their word.
WORD = re.compile(
    "|".join(
        rf"\b{word}\b" if word.isascii() else word
        for word in sorted(OTHER, key=lambda word: (-len(word), word))
    )
)


class Case(NamedTuple):
    """A passage of a document and where it is from, true or detected; spans are half-open."""

    document: str
    begin: int
    end: int
    source: str
    source_begin: int
    source_end: int


def plant(hosts, sources, kind, rate, seed, passages=PASSAGES, length=LENGTH):
    """Return (text with passages of sources, its cases) for each host; both are texts by name.

    The draws depend on the seed and the host alone.
    """
    least = 2 if kind == "reordered" else 1
    choices = {name: runs_of(text, length, least) for name, text in sources.items()}
    usable = [name for name, runs in choices.items() if runs]
    planted = []
    for host, text in hosts.items():
        place = Draws(f"{seed}\n{host}\nplaces")
        sentences = sentences_of(text)
        # Before a sentence, and behind the last one.
        gaps = [begin for begin, _ in sentences] + [end for _, end in sentences[-1:]]
        drawn = place.sample(usable, passages)
        of_gaps = zip(sorted(place.sample(gaps, passages)), drawn, strict=True)
        picked = [(gap, name, place.pick(choices[name])) for gap, name in of_gaps]
        draw = Draws(f"{seed}\n{host}\nchanges")
        parts, cases = [], []
        position = end = 0
        for gap, name, (first, last) in picked:
            passage = changed(sources[name][first:last], sources[name], kind, rate, draw)
            parts += [text[position:gap], passage]
            begin = end + gap - position
            end = begin + len(passage)
            position = gap
            cases.append(Case(host, begin, end, name, first, last))
        planted.append(("".join([*parts, text[position:]]), cases))
    return planted


def changed(passage, source, kind, rate, draw):
    """Return a passage, changed as its kind says."""
    if kind == "reordered":
        return reordered(passage, draw)
    if kind == "synonyms":
        return WORD.sub(lambda word: OTHER[word[0]], passage)
    return edited(passage, source, rate, draw) if kind == "edited" else passage


def reordered(passage, draw):
    """Other sentences in each place; the breaks between the places stay."""
    sentences = sentences_of(passage)
    if len(sentences) < 2:
        # Two sentences of the source may not be recognized as two outside it.
        return passage
    order = draw.sample(range(len(sentences)), len(sentences))
    if order == sorted(order):
        order = [*order[1:], order[0]]
    parts, position = [], 0
    for (begin, end), number in zip(sentences, order, strict=True):
        parts += [passage[position:begin], passage[slice(*sentences[number])]]
        position = end
    return "".join([*parts, passage[position:]])


def edited(passage, source, rate, draw):
    """Touch a share of the characters, each at most once."""
    characters = list(passage)
    letters = [character for character in source if character.isalnum()]
    # Edits must not leave a passage empty.
    count = min(round(rate * len(passage)), len(passage) - 1)
    marks = MARKS[0] if CHINESE_MARK.search(passage) else MARKS[1]
    for place in draw.sample(range(len(passage)), count):
        characters[place] = replacement(characters[place], letters, marks, draw)
    return "".join(characters)


def replacement(character, letters, marks, draw):
    """Return what replaces a character; always something else."""
    edit = draw.pick(EDITS)
    if edit == "deletion":
        return ""
    if edit == "mark":
        mark = draw.pick(marks.replace(character, ""))
        return mark if MARK.match(character) else character + mark
    letter = draw.pick(letters) if letters else marks[0]
    # Replacing a letter by itself would be no edit, so it is doubled.
    is_other = edit == "replacement" and letter != character
    return letter if is_other else letter + character


def sentences_of(text):
    """The sentences without the white space around them."""
    stripped = (
        (end - len(text[begin:end].lstrip()), begin + len(text[begin:end].rstrip()))
        for begin, end in spans.find_sentences(text)
    )
    return [(begin, end) for begin, end in stripped if begin < end]


def runs_of(text, length, least):
    """All runs of at least `least` whole sentences whose length is in bounds."""
    sentences = sentences_of(text)
    runs = []
    for first, (begin, _) in enumerate(sentences):
        for _, end in sentences[first + least - 1 :]:
            if end - begin > length[1]:
                break
            if end - begin >= length[0]:
                runs.append((begin, end))
    return runs


def scores(found, true):
    """Return PlagDet, macro precision and recall, granularity, and counts of found passages.

    As Potthast et al. (COLING 2010) define them: a detection detects a case if it shares a
    character with it on either side, and only what it shares so is right. A share of nothing is 1.

    >>> case = Case("thesis", 200, 300, "book", 0, 100)
    >>> a, b = Case("thesis", 200, 240, "book", 0, 40), Case("thesis", 240, 300, "book", 40, 100)
    >>> scores([a, b], [case])["granularity"]
    2.0
    """
    of_found, of_true = [[] for _ in found], [[] for _ in true]
    times = [0] * len(true)
    for place, case in enumerate(true):
        for number, detection in enumerate(found):
            if common := common_of(case, detection):
                times[place] += 1
                of_true[place].append(common)
                of_found[number].append(common)
    detected = sum(count > 0 for count in times)
    granularity = sum(times) / detected if detected else 1.0
    precision, recall = mean_share(found, of_found), mean_share(true, of_true)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {
        "plagdet": f1 / math.log2(1 + granularity),
        "precision": precision,
        "recall": recall,
        "granularity": granularity,
        "detected": detected,
        "cases": len(true),
    }


def common_of(a, b):
    """Return the span of either side that two passages share, or None if one side shares none."""
    if (a.document, a.source) != (b.document, b.source):
        return None
    here = (max(a.begin, b.begin), min(a.end, b.end))
    there = (max(a.source_begin, b.source_begin), min(a.source_end, b.source_end))
    return (here, there) if here[0] < here[1] and there[0] < there[1] else None


def mean_share(passages, right):
    """Return the mean share of the passages' characters, on both sides, that are right."""
    shares = []
    for case, spans_of_case in zip(passages, right, strict=True):
        here, there = (covered([pair[side] for pair in spans_of_case]) for side in (0, 1))
        whole = case.end - case.begin + case.source_end - case.source_begin
        shares.append((here + there) / whole)
    return math.fsum(shares) / len(shares) if shares else 1.0


def covered(places):
    """Return how many characters some spans cover, each once."""
    total = reached = 0
    for begin, end in sorted(places):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total
