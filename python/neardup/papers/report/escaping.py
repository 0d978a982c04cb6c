"""How a text of anybody's is shown on a page: as text, whatever it holds.

Markup is escaped. A character that could act without being seen, such as a
control, a change of writing direction or a space without width, is shown by its
number, ``U+202E``, and is not on the page itself; so a title cannot turn the
words around it about, and what was put into a paper to escape a comparison can
be seen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["language_of", "plain", "shown"]

# Controls but tab, line feed, form feed and carriage return; line ends that browsers
# do not know; marks of direction, characters without width, annotation marks, and lone
# surrogates, which no file could hold. Joiners stay: emoji and several scripts are
# written with them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3041-\u30ff]")
#: Code points that are looked at to tell a text's language.
_LOOKED_AT = 4000
_HAN_SHARE = 0.1


def _code(found: re.Match[str]) -> str:
    return f"U+{ord(found[0]):04X}"


def shown(text: str) -> Markup:
    """Return a text as HTML that shows it and does nothing else.

    Parameters
    ----------
    text : str
        Any text, lone surrogates too.

    Returns
    -------
    markupsafe.Markup
        For the inside of an element. A browser's text of it is `text`, but for
        the characters shown by their number: each is an ``<i>`` whose attribute
        ``data-code`` has the number.

    Examples
    --------
    >>> print(shown("<b>1\\x00</b>"))
    &lt;b&gt;1<i class="unseen" data-code="U+0000"></i>&lt;/b&gt;
    """
    from markupsafe import Markup, escape

    # Written out, a carriage return would become a line feed in the browser.
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
    """Return the language tag that makes a browser choose the right font.

    Parameters
    ----------
    text : str

    Returns
    -------
    {'zh', 'ja', ''}
        The same Han characters are drawn differently in Chinese and Japanese;
        empty, for unknown, where there are few of them.

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
