"""Lines that a re-post puts around a text, and how to find them.

Agencies open a report with its place and reporter, sites close it with a source and an editor,
and re-posts change these lines first. The lines and names below are made up.
"""

from __future__ import annotations

import re

from neardup.lab.datasets.sentences import Span, is_chinese

_HEADS = {
    True: (
        "（本报记者 林一舟）",
        "本报讯　",
        "（通讯员 何青 本报记者 周禾）",
        "本网综合报道：",
        "【转载】",
        "来源：晨江在线\n",
        "据晨江日报消息，",
    ),
    False: (
        "By a staff reporter\n",
        "(Harbour Wire) - ",
        "Source: The Daily Harbour\n",
        "Reposted from our partner site.\n",
        "UPDATED: ",
    ),
}
_TAILS = {
    True: (
        "（完）",
        "\n来源：晨江在线",
        "\n编辑：许知远",
        "\n（责任编辑：何青）",
        "\n本文转自晨江日报，版权归原作者所有。",
        "\n更多内容请关注本站。",
    ),
    False: (
        "\nSource: The Daily Harbour",
        "\nEditing by J. Mill",
        "\n(c) Harbour Wire. All rights reserved.",
        "\nRead more on our site.",
        "\n-- END --",
    ),
}

#: Forms of such lines in texts as they come, at the very begin and end.
_HAS_HEAD = re.compile(
    r"[（(【]?(?:本报|本网|本刊|[^\s，。,.]{2,8}(?:社|网))[^\n。]{0,24}?(?:电|讯|报道|记者[^\n，。)）]{0,8})"
    r"[】)）]?[\s:：]*"
    r"|(?:作者|来源|记者)[:：][^\n]{1,20}\n"
    r"|[A-Z][A-Z .,]{2,30}(?:\([^)\n]{2,20}\))? ?[-–—]{1,2} "
)
_HAS_TAIL = re.compile(
    r"(?:\s*(?:[（(]完[）)]|[【（(]?(?:责任编辑|编辑|来源|稿件来源)[:：][^\n】)）]{1,20}[】)）]?))+\s*\Z"
)
#: A tail is searched in this many last characters.
_TAIL_REACH = 80


def head_of(text: str) -> Span:
    """Return the span of the text's own opening line of a source.

    >>> head_of("本报讯 渡口关闭。"), head_of("渡口关闭。")
    ((0, 4), (0, 0))
    """
    found = _HAS_HEAD.match(text)
    return (0, 0) if found is None else found.span()


def tail_of(text: str) -> Span:
    """Return the span of the text's own closing line of a source.

    >>> tail_of("渡口关闭。(完)"), tail_of("渡口关闭。")
    ((5, 8), (5, 5))
    """
    begin = max(0, len(text) - _TAIL_REACH)
    found = _HAS_TAIL.search(text, begin)
    return (len(text), len(text)) if found is None else found.span()


def heads(text: str) -> tuple[str, ...]:
    """Return opening lines in the language of `text`: Chinese, else English."""
    return _HEADS[is_chinese(text)]


def tails(text: str) -> tuple[str, ...]:
    """Return closing lines in the language of `text`: Chinese, else English."""
    return _TAILS[is_chinese(text)]
