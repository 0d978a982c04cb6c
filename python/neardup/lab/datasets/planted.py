"""Planted passages: texts that contain parts of others, with the exact truth."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from neardup.base.messages import Message
from neardup.base.validation import bad, check_choice, check_string, check_whole
from neardup.exceptions import ParameterError
from neardup.lab.datasets import sentences as spans
from neardup.lab.datasets.draws import Draws
from neardup.lab.datasets.edit_model import check_rate
from neardup.lab.plagdet import Case

__all__ = ["KINDS", "Planted", "exchange_words", "plant"]

KINDS = ("verbatim", "edited", "reordered", "synonyms", "mixed")

#: Marks that an edit puts in or exchanges, of Chinese and of other texts.
_MARKS = ("，、；：。", ",;:.")
_MARK = re.compile(r"[^\w\s]")
_CHINESE_MARK = re.compile(r"[，、；：。“”（）《》！？]")
_EDITS = ("insertion", "deletion", "replacement", "mark")

#: Pairs of synonyms; each word replaces the other.
_SYNONYMS = """
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
_PAIRS = [pair.split("/") for pair in _SYNONYMS.split()]
_OTHER = {a: b for pair in _PAIRS for a, b in (pair, reversed(pair))}
# The longest first: a word may begin with another one. Letters end only with their word.
_WORD = re.compile(
    "|".join(
        rf"\b{word}\b" if word.isascii() else word
        for word in sorted(_OTHER, key=lambda word: (-len(word), word))
    )
)


@dataclass(frozen=True)
class Planted:
    """A text that passages were planted in.

    Parameters
    ----------
    document : str
        What the host is called.
    text : str
        The paper: the host with the passages in it.
    cases : tuple of Case
        One for each passage, in the order of the paper. ``text[begin:end]`` is
        what was planted, and the source's ``[source_begin:source_end]`` is what
        it was made of.
    """

    document: str
    text: str
    cases: tuple[Case, ...]


def plant(
    hosts: Mapping[str, str],
    sources: Mapping[str, str],
    *,
    kind: str = "verbatim",
    rate: float = 0.1,
    passages: int = 3,
    length: tuple[int, int] = (100, 500),
    seed: int = 0,
) -> tuple[Planted, ...]:
    """Plant passages of sources into hosts.

    A passage is a run of whole sentences of a source. It is changed as its kind says, and put
    between two sentences of a host, which is otherwise unchanged:

    ===========  =================================================================
    kind         what is done to a passage
    ===========  =================================================================
    verbatim     nothing
    edited       a share of its characters is touched: one is inserted, deleted or
                 replaced, or a mark is put in, dropped or exchanged
    reordered    its sentences change places
    synonyms     words of a table are exchanged for others of the same meaning
    mixed        reordered, then synonyms, then edited
    ===========  =================================================================

    Parameters
    ----------
    hosts : mapping of str to str
        Texts by what they are called.
    sources : mapping of str to str
        Texts that passages are taken from; none of them a host.
    kind : {'verbatim', 'edited', 'reordered', 'synonyms', 'mixed'}, default='verbatim'
    rate : float, default=0.1
        Share of a passage's characters that edits touch, in [0, 0.5]; for the
        kinds edited and mixed.
    passages : int, default=3
        Passages in each paper, each from another source; at least 1.
    length : (int, int), default=(100, 500)
        Shortest and longest passage in code points of the source, inclusive.
    seed : int, default=0
        At least 0.

    Returns
    -------
    tuple of Planted
        One for each host, in their order. Passages begin and end where
        sentences of the source do, are put between sentences of the host, and no
        two of a paper overlap or touch.

    Raises
    ------
    ParameterError
        If a source is a host, a host has not enough sentences, too few sources
        have a passage of that length, or a parameter is out of bounds.

    Notes
    -----
    The draws come from PCG64, seeded by a hash of seed and host: a paper depends
    on its host and the sources, not on other hosts. Which passages are drawn
    does not depend on `rate`, nor on `kind` apart from this: a passage that
    is reordered has at least two sentences. O(n) for n characters, and for
    each source O(s) for its s sentences times those of the longest passage.

    Examples
    --------
    >>> hosts = {"thesis": "渡口昨天关闭。船都停在岸边。"}
    >>> sources = {"book": "灯塔修好了，港口亮了起来。游客都来观看。", "news": "书店今天开门。"}
    >>> [planted] = plant(hosts, sources, passages=1, length=(5, 20), seed=11)
    >>> planted.text
    '渡口昨天关闭。游客都来观看。船都停在岸边。'
    >>> planted.cases
    (Case(document='thesis', begin=7, end=14, source='book', source_begin=13, source_end=20),)
    """
    check_choice(kind, "kind", KINDS)
    rate = check_rate(rate)
    check_whole(passages, "passages", 1)
    bounds = _check_length(length)
    check_whole(seed, "seed", 0)
    _check_texts(hosts, "hosts")
    _check_texts(sources, "sources")
    texts = set(hosts.values())
    for name, text in sources.items():
        if name in hosts or text in texts:
            raise bad("sources", "texts that are not hosts", name)
    least = 2 if kind in ("reordered", "mixed") else 1
    choices = {name: _passages(text, bounds, least) for name, text in sources.items()}
    usable = [name for name, runs in choices.items() if runs]
    if len(usable) < passages:
        raise ParameterError(
            Message(
                "{parameter:named} must have {passages} texts with a passage of "
                "{least} to {most} characters. Got {found} instead. Give more "
                "sources, or another length.",
                parameter="sources",
                passages=int(passages),
                least=bounds[0],
                most=bounds[1],
                found=len(usable),
            )
        )
    planted = []
    for host, text in hosts.items():
        place = Draws(f"{seed}\n{host}\nplaces")
        gaps = _gaps(text)
        if len(gaps) < passages:
            raise ParameterError(
                Message(
                    "{parameter:named} must have texts with {passages} places between "
                    "sentences. Got {found} in {host} instead. Leave it out, or plant "
                    "fewer passages.",
                    parameter="hosts",
                    passages=int(passages),
                    found=len(gaps),
                    host=repr(host),
                )
            )
        drawn = place.sample(usable, passages)
        of_gaps = zip(sorted(place.sample(gaps, passages)), drawn, strict=True)
        picked = [(gap, name, place.pick(choices[name])) for gap, name in of_gaps]
        draw = Draws(f"{seed}\n{host}\nchanges")
        parts: list[str] = []
        cases: list[Case] = []
        position = end = 0
        for gap, name, (first, last) in picked:
            source = sources[name]
            passage = _changed(source[first:last], source, kind, rate, draw)
            parts += [text[position:gap], passage]
            begin = end + gap - position
            end = begin + len(passage)
            position = gap
            cases.append(Case(host, begin, end, name, first, last))
        planted.append(Planted(host, "".join([*parts, text[position:]]), tuple(cases)))
    return tuple(planted)


def exchange_words(text: str) -> str:
    """Return a text in which words of a table are replaced by synonyms.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Every word of the table is exchanged for the other of its pair, the
        longest first where one begins with another. About 170 pairs of Chinese
        words, 20 of English ones.

    Examples
    --------
    >>> exchange_words("目前必须提高质量。")
    '当前务必提升品质。'
    """
    return _WORD.sub(lambda word: _OTHER[word[0]], text)


def _changed(passage: str, source: str, kind: str, rate: float, draw: Draws) -> str:
    if kind in ("reordered", "mixed"):
        passage = _reordered(passage, draw)
    if kind in ("synonyms", "mixed"):
        passage = exchange_words(passage)
    if kind in ("edited", "mixed"):
        passage = _edited(passage, source, rate, draw)
    return passage


def _reordered(passage: str, draw: Draws) -> str:
    """Other sentences in each place; the breaks between the places stay."""
    sentences = _sentences(passage)
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


def _edited(passage: str, source: str, rate: float, draw: Draws) -> str:
    """Touch a share of the characters, each at most once."""
    characters = list(passage)
    letters = [character for character in source if character.isalnum()]
    # Edits must not leave a passage empty.
    count = min(round(rate * len(passage)), len(passage) - 1)
    marks = _MARKS[0] if _CHINESE_MARK.search(passage) else _MARKS[1]
    for place in draw.sample(range(len(passage)), count):
        characters[place] = _replacement(characters[place], letters, marks, draw)
    return "".join(characters)


def _replacement(character: str, letters: list[str], marks: str, draw: Draws) -> str:
    """Return what replaces a character; always something else."""
    edit = draw.pick(_EDITS)
    if edit == "deletion":
        return ""
    if edit == "mark":
        mark = draw.pick(marks.replace(character, ""))
        return mark if _MARK.match(character) else character + mark
    letter = draw.pick(letters) if letters else marks[0]
    # Replacing a letter by itself would be no edit, so it is doubled.
    is_other = edit == "replacement" and letter != character
    return letter if is_other else letter + character


def _sentences(text: str) -> list[spans.Span]:
    """The sentences without the white space around them."""
    stripped = (
        (end - len(text[begin:end].lstrip()), begin + len(text[begin:end].rstrip()))
        for begin, end in spans.sentences(text)
    )
    return [(begin, end) for begin, end in stripped if begin < end]


def _gaps(text: str) -> list[int]:
    """Where a passage can be put: before a sentence, and behind the last one."""
    sentences = _sentences(text)
    return [begin for begin, _ in sentences] + [end for _, end in sentences[-1:]]


def _passages(text: str, length: tuple[int, int], least: int) -> list[spans.Span]:
    """All runs of at least `least` whole sentences whose length is in bounds."""
    sentences = _sentences(text)
    runs = []
    for first, (begin, _) in enumerate(sentences):
        for _, end in sentences[first + least - 1 :]:
            if end - begin > length[1]:
                break
            if end - begin >= length[0]:
                runs.append((begin, end))
    return runs


def _check_length(value: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(value, tuple) or len(value) != 2:
        raise bad("length", "the shortest and the longest passage", value)
    shortest = check_whole(value[0], "length", 1)
    return shortest, check_whole(value[1], "length", shortest)


def _check_texts(value: Mapping[str, str], name: str) -> None:
    if not isinstance(value, Mapping):
        raise bad(name, "texts by name", value)
    for key, text in value.items():
        check_string(key, name)
        check_string(text, name)
