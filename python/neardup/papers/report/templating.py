"""Templates of pages, with shared filters and functions: passage styles, bars, safe text.

All values in a template are escaped, and a missing value is an error.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.papers.report.escaping import language_of, plain, shown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["COLOURS", "STROKES", "bar", "environment", "look", "self_contained", "template"]

#: Numbers of colours and underlines in the style; coprime, so they give forty looks.
COLOURS, STROKES = 8, 5

#: Its macros and its style are those of the other pages, too.
_REPORT = "neardup.papers.report"


def environment(package: str) -> Environment:
    """Return an environment with the templates of a package.

    Parameters
    ----------
    package : str
        The package, with a folder ``templates``. A template that it does not have is that of
        the report.

    Returns
    -------
    jinja2.Environment
        A new one, which the caller may extend. Filters: ``shown``, ``plain``,
        ``language_of``; functions: ``bar``, ``look``.

    Examples
    --------
    >>> of_reports = environment("neardup.papers.report")
    >>> of_reports.from_string("{{ look(9) }} {{ text | plain }}").render(text="a<b")
    'c1 u4 a&lt;b'
    """
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _own_or_shared(package, name)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"language_of": language_of, "plain": plain, "shown": shown}
    made.globals |= {"bar": bar, "look": look}
    return made


def template(package: str, name: str) -> str:
    """Return the text of a file in a package's folder ``templates``."""
    return resources.files(package).joinpath("templates", name).read_text("utf-8")


def _own_or_shared(package: str, name: str) -> str:
    own = resources.files(package).joinpath("templates", name)
    return template(package if own.is_file() else _REPORT, name)


@lru_cache
def self_contained(*names: str, package: str = _REPORT) -> dict[str, Markup | str]:
    """Return style and script of a page, and the policy that allows only these.

    Parameters
    ----------
    *names : str
        Files among the templates of `package`, or else of the report: styles, in their order, and
        at most one script.
    package : str
        By default that of the report.

    Returns
    -------
    dict
        ``style``, ``script`` and ``policy``, for a template.
    """
    from markupsafe import Markup

    texts = dict.fromkeys((".css", ".js"), "")
    for name in names:
        texts[Path(name).suffix] += _own_or_shared(package, name)
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


def look(number: int) -> str:
    """Return the classes of colour and underline for a source, or for a shared piece.

    Examples
    --------
    >>> look(0), look(7), look(40)
    ('c0 u0', 'c7 u2', 'c0 u0')
    """
    return f"c{number % COLOURS} u{number % STROKES}"


def bar(share: float) -> Markup:
    """Return a bar with the length of a share, 0 to 1."""
    from markupsafe import Markup

    # SVG attributes, because the policy forbids style attributes.
    return Markup(
        '<svg class="bar" aria-hidden="true"><rect width="{:.2f}%" height="100%"/></svg>'
    ).format(100 * share)
