"""Renders templates. All values are escaped, and a missing value is an error.

Invisible characters with an effect, such as controls and changes of writing direction, are shown
by their number, ``U+202E``: a title cannot reorder the words around it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import resources
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.pages.words import Words, format_percent

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from neardup.pages.marking import Paragraph, Run

#: Numbers of colours and underlines in the style; coprime, so they give forty looks.
COLOURS, STROKES = 8, 5

# Controls but tab, line feed, form feed and carriage return; line ends that browsers
# do not know; marks of direction, characters without width, annotation marks, and lone
# surrogates, which no file can encode. Joiners stay: emoji and several scripts need
# them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
#: Characters that the report escapes.
_SPECIAL = re.compile(f"[&<>'\"\r]|{_UNSEEN.pattern}")
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3041-\u30ff]")
#: Number of code points that are used to detect a text's language.
_DETECTED = 4000
_HAN_SHARE = 0.1


def render(name: str, words: Words, *, files: Sequence[str] = (), **values: Any) -> str:
    """Return a page: a file of ``templates/``, in which `words` is ``w``.

    `files` are the styles, in their order, and at most one script of a self-contained page: they
    are ``style`` and ``script`` in the template, and ``policy`` allows only these. For filters
    and functions see `_make_environment`.
    """
    contained = _inline_files(*files) if files else {}
    return _make_environment().get_template(name).render(w=words, **contained, **values)


def read_template(name: str) -> str:
    """Return the text of a file of ``templates/``."""
    return resources.files("neardup.pages").joinpath("templates", name).read_text("utf-8")


@lru_cache
def _make_environment() -> Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(read_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "field": _escape_field,
        "language_of": detect_language,
        "plain": replace_unseen,
        "shown": show_text,
    }
    environment.globals |= {
        "bar": _draw_bar,
        "joined": join_paragraphs,
        "look": choose_look,
        "percent": format_percent,
    }
    return environment


@lru_cache
def _inline_files(*names: str) -> dict[str, Markup | str]:
    from markupsafe import Markup

    texts = dict.fromkeys((".css", ".js"), "")
    for name in names:
        texts[Path(name).suffix] += read_template(name)
    style, script = texts.values()
    policy = f"default-src 'none'; style-src {_digest(style)}"
    if script:
        policy += f"; script-src {_digest(script)}"
    return {
        "style": Markup(style),
        "script": Markup(script),
        "policy": f"{policy}; base-uri 'none'; form-action 'none'",
    }


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _format_code(match: re.Match[str]) -> str:
    return f"U+{ord(match[0]):04X}"


def show_text(text: str) -> Markup:
    """Return any text, also with lone surrogates, as safe HTML for the inside of an element.

    Its text in a browser is `text`, except for characters shown by their number. Each of these is
    an ``<i>`` with the number in the attribute ``data-code``.

    Examples
    --------
    >>> print(show_text("<b>1\\x00</b>"))
    &lt;b&gt;1<i class="unseen" data-code="U+0000"></i>&lt;/b&gt;
    """
    from markupsafe import Markup, escape

    # A browser would turn a literal carriage return into a line feed.
    if not _SPECIAL.search(text):
        return Markup(text)
    safe = escape(text).replace("\r", Markup("&#13;"))
    return Markup(
        _UNSEEN.sub(lambda match: f'<i class="unseen" data-code="{_format_code(match)}"></i>', safe)
    )


def join_paragraphs(
    text: str,
    paragraphs: Iterable[Paragraph],
    attributes: str = "",
    tags_of: Callable[[Run], tuple[str, str]] | None = None,
) -> Iterator[Paragraph | Markup]:
    """Yield paragraphs; plain ones in a row as one piece of HTML, since there may be millions.

    `attributes` are written in its elements, after a space. `tags_of` returns the tags around a
    run; without it, only unmarked paragraphs are plain.
    """
    from markupsafe import Markup

    opening = {False: f"<p{attributes}>", True: f'<p{attributes} class="blank">'}

    def format_paragraph(paragraph: Paragraph) -> str:
        parts = [opening[paragraph.blank]]
        for run in paragraph.runs:
            before, after = tags_of(run) if tags_of else ("", "")
            parts += [before, show_text(text[run.begin : run.end]), after]
        return "".join([*parts, "</p>"])

    is_joined = attrgetter("is_plain" if tags_of else "is_unmarked")
    for joins, group in groupby(paragraphs, is_joined):
        if joins:
            yield Markup("\n".join(map(format_paragraph, group)))
        else:
            yield from group


def replace_unseen(text: str) -> str:
    """Return a text for attributes and a window's title; see `show_text`.

    Examples
    --------
    >>> replace_unseen("a\\u202eb")
    'a[U+202E]b'
    """
    return _UNSEEN.sub(lambda match: f"[{_format_code(match)}]", text)


def _escape_field(value: str) -> Markup:
    """Escape the value of a form's field, including line ends."""
    from markupsafe import Markup, escape

    return Markup(escape(value).replace("\r", Markup("&#13;")).replace("\n", Markup("&#10;")))


def detect_language(text: str) -> str:
    """Return 'zh', 'ja' or '' for unknown, by which a browser chooses the font of Han characters.

    Examples
    --------
    >>> detect_language("渡轮公司说新船下个月试航。"), detect_language("A new ferry.")
    ('zh', '')
    """
    head = text[:_DETECTED]
    han = len(_HAN.findall(head))
    if han <= _HAN_SHARE * len(head):
        return ""
    return "ja" if len(_KANA.findall(head)) > han / 4 else "zh"


def choose_look(number: int) -> str:
    """Return the classes of colour and underline for a source, or for a shared piece.

    Examples
    --------
    >>> choose_look(0), choose_look(7), choose_look(40)
    ('c0 u0', 'c7 u2', 'c0 u0')
    """
    return f"c{number % COLOURS} u{number % STROKES}"


def _draw_bar(share: float) -> Markup:
    """Return a bar with the length of a share, 0 to 1."""
    from markupsafe import Markup

    # SVG attributes, because the policy forbids style attributes.
    return Markup(
        '<svg class="bar" aria-hidden="true"><rect width="{:.2f}%" height="100%"/></svg>'
    ).format(100 * share)
