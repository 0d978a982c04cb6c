"""Furniture: text that a site or an agency puts around an article.

Disclaimers, links, bylines, datelines and signatures: many texts of one site have them,
and nobody copied them from each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["furniture"]

Span = tuple[int, int]

#: A longer clause is text, except for its stretches of furniture words.
_LONGEST = 200
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


def furniture(text: str, where: NDArray[np.bool_] | None = None) -> list[Span]:
    """Return the clauses of a text that are furniture, datelines, and its signature.

    Parameters
    ----------
    text : str
    where : array of bool, optional
        The characters that matter: other clauses are skipped. By default, all of them.

    Returns
    -------
    list of tuple of int
        Half-open, disjoint spans of the text in code points, in order.

    Notes
    -----
    Recognized by set words in short clauses, and by several of them in longer ones, so there
    are errors of both kinds. Linear in the length of the text.

    Examples
    --------
    >>> text = "渡口周一恢复通航。（责任编辑：王岚）"
    >>> [text[begin:end] for begin, end in furniture(text)]
    ['（责任编辑：王岚）']
    """
    spans: list[Span] = []
    for begin, end in _clauses(text):
        if where is not None and not where[begin:end].any():
            continue
        words = [found.span() for found in _WORDS.finditer(text, begin, end)]
        if words and end - begin <= _LONGEST:
            spans.append((begin, end))
        else:
            spans += _together(words)
            spans += [found.span() for found in _DATELINE.finditer(text, begin, end)]
    signature = _SIGNATURE.search(text, max(len(text) - _LONGEST_SIGNATURE, 0))
    if signature is not None:
        spans = [span for span in spans if span[1] <= signature.start()]
        spans.append((signature.start(), len(text)))
    return spans


def _together(words: list[Span]) -> list[Span]:
    """Return the stretches of several words that are near each other."""
    found: list[list[int]] = []
    for begin, end in words:
        if found and begin - found[-1][1] <= _NEAR:
            found[-1][1:] = end, found[-1][2] + 1
        else:
            found.append([begin, end, 1])
    return [(begin, end) for begin, end, count in found if count > 1]


def _clauses(text: str) -> Iterator[Span]:
    begin = 0
    for found in _CLAUSE_ENDS.finditer(text):
        yield begin, found.start()
        begin = found.end()
    yield begin, len(text)
