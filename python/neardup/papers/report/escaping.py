"""Safe display of untrusted text on a page.

Markup is escaped. Invisible characters with an effect, such as controls, changes of
writing direction or spaces without width, are shown by their number, ``U+202E``, and
are not on the page. So a title cannot reorder the words around it, and characters
inserted into a paper to evade a comparison become visible.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["language_of", "plain", "shown"]

# Controls but tab, line feed, form feed and carriage return; line ends that browsers
# do not know; marks of direction, characters without width, annotation marks, and lone
# surrogates, which no file can encode. Joiners stay: emoji and several scripts need
# them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3041-\u30ff]")
#: Number of code points that are used to detect a text's language.
_LOOKED_AT = 4000
_HAN_SHARE = 0.1


def _code(found: re.Match[str]) -> str:
    return f"U+{ord(found[0]):04X}"


def shown(text: str) -> Markup:
    """Return a text as safe HTML that displays it.

    Parameters
    ----------
    text : str
        Any text, also with lone surrogates.

    Returns
    -------
    markupsafe.Markup
        For the inside of an element. Its text in a browser is `text`, except for
        characters shown by their number, which are an ``<i>`` with the number in
        the attribute ``data-code``.

    Examples
    --------
    >>> print(shown("<b>1\\x00</b>"))
    &lt;b&gt;1<i class="unseen" data-code="U+0000"></i>&lt;/b&gt;
    """
    from markupsafe import Markup, escape

    # A browser would turn a literal carriage return into a line feed.
    safe = escape(text).replace("\r", Markup("&#13;"))
    return Markup(
        _UNSEEN.sub(lambda found: f'<i class="unseen" data-code="{_code(found)}"></i>', safe)
    )


def plain(text: str) -> str:
    """Return a text for attributes and a window's title; see `shown`.

    Examples
    --------
    >>> plain("a\\u202eb")
    'a[U+202E]b'
    """
    return _UNSEEN.sub(lambda found: f"[{_code(found)}]", text)


def language_of(text: str) -> str:
    """Return a language tag, with which a browser chooses the right font.

    Parameters
    ----------
    text : str

    Returns
    -------
    {'zh', 'ja', ''}
        Chinese and Japanese fonts draw the same Han characters differently; empty,
        for unknown, if there are few of them.

    Examples
    --------
    >>> language_of("渡轮公司说新船下个月试航。"), language_of("A new ferry.")
    ('zh', '')
    """
    head = text[:_LOOKED_AT]
    han = len(_HAN.findall(head))
    if han <= _HAN_SHARE * len(head):
        return ""
    return "ja" if len(_KANA.findall(head)) > han / 4 else "zh"
