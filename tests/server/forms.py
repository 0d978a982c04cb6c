"""Pages as a browser without scripts sees them: outlines, and forms that are sent."""

import html
import re

from tests.pages.contract import check_html


def send(client, path, *, files=None, headers=None, **fields):
    """Send a form as a browser does it from a page of the service."""
    headers = {"Sec-Fetch-Site": "same-origin", **(headers or {})}
    # Fields without a file are sent as a browser does it for this kind of form, too.
    parts = [
        (name, (None, value))
        for name, values in fields.items()
        for value in ([values] if isinstance(values, str) else values)
    ]
    parts += [(name, file) for name, file in (files or {}).items()]
    return client.post(path, files=parts, headers=headers)


def texts(page: str) -> str:
    """Return what a reader sees of a page, roughly: its text, without tags."""
    without = re.sub(r"<(script|style|title)\b.*?</\1>", "", page, flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", without))


def check_page(answer):
    """Assert what every page of the service has; return its outline."""
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    return check_html(answer.text, answer.headers["content-language"][:2])
