"""Pages as a browser without scripts sees them: outlines, and forms that are sent."""

import html
import re
from html.parser import HTMLParser


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


class Outline(HTMLParser):
    """Tags of a page, checked to be closed in order."""

    VOID = ("meta", "link", "input", "br", "rect")

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags = [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def check_page(answer):
    """What every page has; returns its outline."""
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    outline = Outline(answer.text)
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    # Nothing inline that the policy would refuse, nothing of other places.
    assert not outline.all("style")
    for tag, attributes in outline.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href", "action"):
            assert attributes.get(name, "/").startswith(("/", "#", "?", "data:,")), (
                tag,
                attributes,
            )
    assert all("src" in script for script in outline.all("script"))
    # Every field has a label.
    labelled = {label["for"] for label in outline.all("label")}
    for tag in ("input", "select", "textarea"):
        for field in outline.all(tag):
            if field.get("type") != "hidden" and "hidden" not in field:
                assert "aria-label" in field or field["id"] in labelled
    assert len([tag for tag, _ in outline.tags if tag == "h1"]) == 1
    return outline
