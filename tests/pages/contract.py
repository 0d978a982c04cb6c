"""What holds for every page of neardup, and its text as a reader sees it."""

import base64
import hashlib
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import neardup

SEEN = Path(__file__).parent / "seen"
VOID = ("meta", "br", "rect", "link", "input")
#: Tags that could act or load.
ACTIVE = {"img", "iframe", "object", "embed", "base"}
#: Tags that begin a line, and tags that begin a cell of it.
LINES = {"p", "tr", "li", "dt", "div", "section", "article", "h1", "h2", "h3", "h4", "details"}
LINES |= {"main", "nav", "header", "footer", "form", "label", "textarea", "button", "option"}
CELLS = {"td", "th", "dd"}
UNSEEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\u200b\u202a-\u202e\u2066-\u2069\ufeff]")


class Outline(HTMLParser):
    """The tags of a page, which are closed in order, and its text."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.in_labels = [], [], [], []
        self.text, self.lines = "", [""]
        self.inside = {"script": "", "style": ""}
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if any(opened == "label" for opened, _ in self.open):
            self.in_labels.append(attributes)
        if tag not in VOID:
            self.open.append((tag, attributes))
        if tag in LINES:
            self.lines.append("")
        elif tag in CELLS or tag in ("em", "mark"):
            self.lines[-1] += " | " if tag in CELLS else "{"
        if "data-code" in attributes:
            self.see(chr(int(attributes["data-code"][2:], 16)))
            self.lines[-1] += f"[{attributes['data-code']}]"

    def handle_endtag(self, tag):
        if tag not in VOID:
            opened, attributes = self.open.pop()
            assert opened == tag
            link = attributes.get("href", "#")
            if tag == "a" and not link.startswith("#"):
                self.lines[-1] += f" <{link}>"
            elif tag in ("em", "mark"):
                self.lines[-1] += "}"

    def handle_data(self, data):
        if self.open and self.open[-1][0] in self.inside:
            self.inside[self.open[-1][0]] += data
        elif not self.open or self.open[-1][0] != "title":
            self.see(data)
            self.lines[-1] += data

    def see(self, data):
        """Take in text that a reader sees."""
        self.text += data

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def check_html(page, language=None):
    """Assert what every page has, and that nothing of its content acts; return its outline."""
    outline = Outline(page)
    (root,) = outline.all("html")
    assert language is None or root["lang"].startswith(language)
    assert len(outline.all("h1")) == 1
    assert len(outline.ids) == len(set(outline.ids))
    assert not ACTIVE & {tag for tag, _ in outline.tags}
    # Fields hold what was typed.
    assert not UNSEEN.search(re.sub("<textarea.*?</textarea>|<input [^>]*>", "", page, flags=re.S))
    assert "broken" not in "".join(outline.inside.values())
    for tag, attributes in outline.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href", "action"):
            address = attributes.get(name, "/")
            assert not re.match(r"//|[\w.+-]+:(?!,)", address), (tag, attributes)
            if address.startswith("#"):
                assert address[1:] in outline.ids, address
    named = {label["for"] for label in outline.all("label") if "for" in label}
    for field in (field for tag in ("input", "select", "textarea") for field in outline.all(tag)):
        if field.get("type") != "hidden" and "hidden" not in field:
            is_named = "aria-label" in field or field.get("id") in named
            assert is_named or field in outline.in_labels, field
    check_policy(outline)
    return outline


def check_policy(outline):
    """Assert that a page allows its own script and style only; one of the service has neither."""
    scripts = [script for script in outline.all("script") if "src" not in script]
    policies = [
        tag["content"]
        for tag in outline.all("meta")
        if tag.get("http-equiv") == "Content-Security-Policy"
    ]
    if not policies:
        assert not scripts
        assert not outline.all("style")
        return
    allowed = {"style-src": len(outline.all("style")), "script-src": len(scripts)}
    expected = ["default-src 'none'"]
    for kind, count in allowed.items():
        assert count <= 1
        content = outline.inside[kind.removesuffix("-src")].encode()
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        expected += [f"{kind} 'sha256-{digest}'"] * count
    assert policies == ["; ".join([*expected, "base-uri 'none'", "form-action 'none'"])]


def check_seen(name, page):
    """Hold the text of a page against the file of that name; `UPDATE_SEEN=1` writes the file."""
    lines = (" ".join(line.split()).strip(" |") for line in Outline(page).lines)
    text = "\n".join(line for line in lines if line).replace(neardup.__version__, "VERSION") + "\n"
    path = SEEN / f"{name}.txt"
    if os.environ.get("UPDATE_SEEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")
