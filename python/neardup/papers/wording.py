"""Wording: passages that two texts share although nobody copied.

Three kinds of evidence, each from the paper and its library alone:

- many independent documents of the library have the same few words;
- what the paper shares with a source is a name or a title, and little else;
- it is furniture of the site that both texts are from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from neardup.base.lazy import NDArray, _core, np, pa
from neardup.papers.edits import Span
from neardup.papers.marks import count_depths, mark_spans
from neardup.papers.results import Passage, Piece

#: Common wording has at most this weight: 100 Chinese characters. More is text.
LONGEST = 200

#: Code points on either side of a passage in its source, by which origins are compared.
CONTEXT = 120

#: Wording is common if a tenth of the library has it in independent documents. These are the
#: tenth, and the bounds of that number.
_ONE_IN, _FEWEST, _MOST = 10, 8, 16

#: A passage has at least this share of the smallest weight without names and furniture.
_OWN = 0.75

#: A passage of a name has less than this multiple of the smallest weight.
_SHORT_NAME = 1.5

_CAPITALIZED = re.compile(r"\b[A-Z\u00c0-\u00de][\w'’.-]*")
_TITLE = re.compile(r"《[^《》\r\n]{1,80}》")
#: Words of the names and titles of people, offices, events and laws.
_DESIGNATION = re.compile(
    "委员会|中心|研究[院所员]|大学|学院|公司|集团|协会|学会|联合会|基金会|办公[室厅]|管理局|总局|银行|博览会|论坛|大会|会议|"
    "主席|主任|院长|校长|教授|书记|秘书长|董事长|经理|合伙人|候选人|总统|总理|部长|局长|司长|发言人|条例|办法|规定|公约|协定"
)
#: Words that a sentence has and a name has not; and marks of clauses.
_SENTENCE = re.compile("[的了是在对将以也不而从被把就都要着过到说向让使之所并已，。；：！？,;:!?]")

#: A longer clause is text, except for its stretches of furniture words.
_LONGEST_CLAUSE = 200
#: Furniture words form one stretch if at most this many code points are between them.
_NEAR = 60

#: Words of clauses that are furniture.
_ZH = (
    "网友跟[贴帖]|[人发与]跟[贴帖]|人参与|文明上网|登录发[贴帖]|自动登录|"
    "本页阅读全文|[\u4e00-\u9fff]{2}首页|评论排行|点击参与|登录并发表|仅供其表达个人看法|并不表明.{0,8}立场|"
    "[登刊]载此文|不意味着赞同|不代表本[网站]|更多信息请访问|特别说明[:：]|仅供参考|以权威部门公布|"
    "分享到|分享至|关键词阅读|相关新闻阅读|相关(?:阅读|新闻|链接)[:：]|延伸阅读|"
    "责任?编辑?[:：丨|]|责编|本文来源|来源[:：]|作者[:：]|"
    "原标题[:：]|发信站|信区[:：]|标\\s*题[:：]|返回上一页|返回顶部|本讨论区|精华区|海量资讯|精准解读|尽在|"
    "书面授权|刊用《|版权所有|版权声明|未经授权|未经许可|转载请|谢绝转载|免责声明|声明[:：]|扫码|扫一扫|二维码|"
    "公众号|敬请关注|点击(?:了解|查看|进入|下载)|"
    "下载.{0,6}(?:APP|客户端)|ICP备|编辑\\s*[:：丨|]"
)
_EN = (
    "https?://|www\\.|all rights reserved|copyright|©|\\(c\\) \\d{4}|may not be reproduced|"
    "reprinted with permission|click here|subscribe|newsletter|follow us|sign up|"
    "terms of (?:use|service)|privacy policy|read more|"
    "do not necessarily (?:reflect|represent)|disclaimer|"
    "\\b(?:is|are) [\\w' -]{0,40}(?:correspondent|reporter|editor|columnist)s? (?:for|at|of|with) "
)
_WORDS = re.compile(f"{_ZH}|{_EN}", re.IGNORECASE)

#: Where an agency's item begins: the agency, the place, the day and the reporters.
_DATELINE = re.compile(
    r"(?:中新[网社]|新华[社网]|人民网|央广网|中国网|[\u4e00-\u9fff]{2,6}社)[^。，,\n]{0,24}[电讯]"
    r"\s*(?:[(（][^()（）\n]{0,40}[)）])?"
)
#: A line of two hyphens begins a signature, which ends the text.
_SIGNATURE = re.compile(r"(?:\A|\n)[ \t]*--[ \t]*(?:\r?\n)")
_LONGEST_SIGNATURE = 500

_CLAUSE_ENDS = re.compile(r"[。！？；\r\n]+|[.!?;](?=\s)")


def choose_common_bound(documents: int) -> int:
    """Return the number of independent documents that make wording common.

    It is a tenth of the library. At least 8 protect a source that some papers of a small library
    copied. At most 16 are among the candidates of a large library.

    Examples
    --------
    >>> [choose_common_bound(documents) for documents in (3, 80, 120, 1_000_000)]
    [8, 8, 12, 16]
    """
    return min(max(-(-documents // _ONE_IN), _FEWEST), _MOST)


def weigh_characters(text: str, counts: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the weight of each character of a paper: 2 if Chinese, 0 if it is not counted."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    is_dense = (codes >= 0x2E80) & (codes < 0xA000) | (codes >= 0xF900) & (codes < 0xFB00)
    is_dense |= codes >= 0x20000
    weights: NDArray[np.int8] = (1 + is_dense.astype(np.int8)) * counts
    return weights


class Wording:
    """The parts of a paper that may be shared without a copy.

    `weights` has the weight of each character, and `least` is the smallest number of Chinese
    characters of a passage. `passages` are all passages, at least one. `contexts` are the texts
    next to them in their sources; None for a passage that is half of its source or more. `shared`
    are the spans that many documents share.
    """

    def __init__(
        self,
        text: str,
        weights: NDArray[np.int8],
        least: int,
        passages: Sequence[Passage],
        contexts: Sequence[str | None],
        shared: Sequence[Span] = (),
    ) -> None:
        self._text = text
        self._least = least
        self._passages = passages
        self._contexts = contexts
        self._weights = weights
        self._begins = np.array([passage.begin for passage in passages])
        self._ends = np.array([passage.end for passage in passages])
        #: How many passages each character is in.
        self._depths = count_depths(len(text), self._begins, self._ends)
        self._furniture = mark_spans(len(text), find_furniture(text, self._depths > 0))
        names = [match.span() for match in _TITLE.finditer(text)]
        # In capital letters only, or without any, a text has no names to tell.
        if 2 * sum(map(str.isupper, text)) < sum(map(str.islower, text)):
            names += [match.span() for match in _CAPITALIZED.finditer(text)]
        self._names = mark_spans(len(text), names)
        self._shared = mark_spans(len(text), shared)

    def classify(self, core: _core.Aligner, documents: int) -> list[str | None]:
        """Return for each passage its kind of wording; None if it is copied text."""
        whole = _weigh(self._weights)
        totals = [whole(passage.pieces) for passage in self._passages]
        is_common = self._find_common(totals, core, documents)
        both = list(zip(self._passages, is_common, strict=True))
        common = (
            (piece.begin, piece.end)
            for passage, is_wording in both
            if is_wording
            for piece in passage.pieces
        )
        apart = self._furniture | self._names | self._shared | mark_spans(len(self._text), common)
        of_text = _weigh(self._weights * ~apart)
        of_furniture = _weigh(self._weights * self._furniture)
        of_shared = _weigh(self._weights * self._shared)
        kinds: list[str | None] = []
        for (passage, is_wording), total in zip(both, totals, strict=True):
            if of_text(passage.pieces) < 2 * _OWN * self._least:
                is_shared = 2 * of_shared(passage.pieces) >= total
                kind = "shared" if is_shared else "common"
                kinds.append("furniture" if 2 * of_furniture(passage.pieces) >= total else kind)
            else:
                kinds.append("common" if is_wording or self._is_name(passage, total) else None)
        return kinds

    def _is_name(self, passage: Passage, total: int) -> bool:
        """Return whether a short passage is a name or a title in Chinese."""
        if total >= 2 * _SHORT_NAME * self._least:
            return False
        stretch = self._text[passage.begin : passage.end]
        return bool(_DESIGNATION.search(stretch)) and not _SENTENCE.search(stretch)

    def _find_common(
        self, totals: Sequence[int], core: _core.Aligner, documents: int
    ) -> list[bool]:
        """Return for each passage whether many documents of the library have it.

        Documents count once for each origin. Some have more of the paper than wording, or are
        mostly the passage: they are copies of one text. So are documents that have the same text
        next to the passage.
        """
        enough = choose_common_bound(documents)
        is_common = [False] * len(totals)
        deep = np.concatenate([[0], np.cumsum(self._depths >= enough)])
        if not deep[-1]:
            return is_common
        half = int(self._weights.sum()) / 2
        begins, ends = self._begins, self._ends
        is_short = np.array(totals) <= LONGEST
        is_short &= (np.array(totals) < half) & (deep[ends] > deep[begins])
        origins = np.array(_number_origins(self._contexts, is_short, core))
        known: dict[tuple[int, int], bool] = {}
        for number in np.flatnonzero(is_short).tolist():
            begin, end = span = self._passages[number].begin, self._passages[number].end
            if span not in known:
                common = np.minimum(ends, end) - np.maximum(begins, begin)
                having = origins[4 * common >= 3 * (end - begin)]
                known[span] = len(np.unique(having)) >= enough
            is_common[number] = known[span]
        return is_common


def _weigh(weights: NDArray[np.int8]) -> Callable[[Sequence[Piece]], int]:
    """Return a function that adds up the weights within pieces."""
    sums = np.zeros(len(weights) + 1, np.int32)
    np.cumsum(weights, dtype=np.int32, out=sums[1:])
    return lambda pieces: sum(int(sums[one.end]) - int(sums[one.begin]) for one in pieces)


def _number_origins(
    contexts: Sequence[str | None], is_short: NDArray[np.bool_], core: _core.Aligner
) -> list[int]:
    """Return a number for the origin of each passage; -1 for those that are text."""
    chosen = [
        number for number in np.flatnonzero(is_short).tolist() if contexts[number] is not None
    ]
    beside = pa.array([contexts[number] for number in chosen], pa.large_string())
    origins = [-1] * len(contexts)
    holders: dict[int, list[int]] = {}
    sizes: list[int] = []
    for number, packed in zip(chosen, core.sketches(beside, workers=1), strict=True):
        shingles = np.frombuffer(packed, "<u4").tolist()
        if not shingles:
            continue
        agreeing = Counter(origin for shingle in shingles for origin in holders.get(shingle, ()))
        origin, count = max(agreeing.items(), key=lambda item: (item[1], -item[0]), default=(-1, 0))
        if origin < 0 or 2 * count < min(len(shingles), sizes[origin]):
            origin = len(sizes)
            sizes.append(len(shingles))
            for shingle in shingles:
                holders.setdefault(shingle, []).append(origin)
        origins[number] = origin
    return origins


def find_furniture(text: str, where: NDArray[np.bool_] | None = None) -> list[Span]:
    """Return the clauses of a text that are furniture, datelines, and its signature.

    Only clauses with characters of `where` are searched. They are recognized by one set word in a
    short clause, and by several in a longer one. So there are errors of both kinds. Linear.

    Examples
    --------
    >>> text = "渡口周一恢复通航。（责任编辑：王岚）"
    >>> [text[begin:end] for begin, end in find_furniture(text)]
    ['（责任编辑：王岚）']
    """
    spans: list[Span] = []
    clauses = list(_split_clauses(text))
    if where is not None:
        bounds = np.array(clauses)
        sums = np.concatenate([[0], np.cumsum(where)])
        is_searched = sums[bounds[:, 1]] > sums[bounds[:, 0]]
        clauses = [clauses[number] for number in np.flatnonzero(is_searched).tolist()]
    for begin, end in clauses:
        words = [match.span() for match in _WORDS.finditer(text, begin, end)]
        if words and end - begin <= _LONGEST_CLAUSE:
            spans.append((begin, end))
        else:
            spans += _join_near(words)
            spans += [match.span() for match in _DATELINE.finditer(text, begin, end)]
    signature = _SIGNATURE.search(text, max(len(text) - _LONGEST_SIGNATURE, 0))
    if signature is not None:
        spans = [span for span in spans if span[1] <= signature.start()]
        spans.append((signature.start(), len(text)))
    return spans


def _join_near(words: list[Span]) -> list[Span]:
    """Return the stretches of several words that are near each other."""
    stretches: list[list[int]] = []
    for begin, end in words:
        if stretches and begin - stretches[-1][1] <= _NEAR:
            stretches[-1][1:] = end, stretches[-1][2] + 1
        else:
            stretches.append([begin, end, 1])
    return [(begin, end) for begin, end, count in stretches if count > 1]


def _split_clauses(text: str) -> Iterator[Span]:
    begin = 0
    for match in _CLAUSE_ENDS.finditer(text):
        yield begin, match.start()
        begin = match.end()
    yield begin, len(text)
