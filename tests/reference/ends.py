"""The ends of a post, and stretches that a recipe ignores: which of a text is left."""

import re

from .characters import is_alphabetic, is_letter

LONGEST = 30
LINK = re.compile(
    r"(?:https?://|ftp://|www\.|t\.c[no]/|pic\.twitter\.com/)[!#-;=?-~]+", re.IGNORECASE | re.ASCII
)
TOPIC = re.compile("[#＃]([^#＃\n,，。]{0,59})[#＃]")
FIRST = re.compile("(转发微博|轉發微博|快转微博|转发|回复|RT|MT|Repost)(?= *(?:[@＠:：/，。\n]|$))")
LAST = (
    "(?:展开全文c?|收起全文d?|阅读全文|查看全文|查看原文|阅读原文|原文链接|网页链接|查看图片|查看详情"
    "|点击链接|展開全文|網頁連結|转发微博"
)
LAST_WORDS = "read more|see more|show more|continue reading|learn more|click here"
#: What an item ends with by itself, or before a name.
ENDS = [re.compile(f"{LAST})$|(?i:{LAST_WORDS})$|RT$")]
ENDS += [re.compile(f"{LAST}|来自|转自|图源)$|(?i:{LAST_WORDS}|via|by|cc)$|RT$")]


def link(text):
    """Return the link that a text begins with, or ''."""
    found = LINK.match(text)
    whole = found[0].rstrip(".,;:!?)]}'") if found else ""
    return whole if LINK.fullmatch(whole) else ""


def name(text):
    """Return the @name that a text begins with, or ''."""
    run = run_of(text[1:], "_-·")
    return text[:1] + run if text[:1] in ("@", "＠") and run and is_letter(run[0]) else ""


def tag(text):
    """Return the tag that a text begins with, or ''."""
    if text[:1] not in ("#", "＃"):
        return ""
    topic = TOPIC.match(text)
    if topic and topic[1] == topic[1].strip() and any(map(is_alphabetic, topic[1])):
        return topic[0]
    run = run_of(text[1:], "_")
    return text[0] + run if run and any(map(is_alphabetic, run)) else ""


def run_of(text, more):
    """Return the letters, digits and `more` that a text begins with, or '' if they are too many."""
    length = next((at for at, c in enumerate(text) if not (is_letter(c) or c in more)), len(text))
    return text[:length] if length <= LONGEST else ""


def without_ends(text):
    """Return a text without what does not count at its begin and its end."""
    end = before_last(text)
    begin = after_first(text[:end])
    kept = text[begin:end]
    is_label = kept.rstrip().endswith((":", "：")) and sum(map(is_letter, kept)) <= 10
    return text if is_label or not any(map(is_alphabetic, kept)) else kept


def after_first(text):
    """Return where the items at the begin end."""
    kept = 0
    while True:
        at = kept
        while at < len(text) and not (is_letter(text[at]) or text[at] in "@＠#＃"):
            at += 1
        rest = text[at:]
        phrase = FIRST.match(rest)
        item = name(rest) or tag(rest) or link(rest) or (phrase[0] if phrase else "")
        if not item:
            return kept
        kept = at + len(item)


def before_last(text):
    """Return where the items at the end begin."""
    kept, is_before_name = len(text), False
    while True:
        end = kept
        while end and not is_letter(text[end - 1]):
            end -= 1
        at = begin_of_last(text, end, is_before_name)
        if at is None:
            return kept
        kept, is_before_name = at, text[at] in "@＠"


def begin_of_last(text, end, is_before_name):
    """Return where the item begins that ends at a letter, or None."""
    rest = text[:end]
    if text[end:].lstrip("]］")[:1] in ("#", "＃"):
        near = [at for at in range(max(0, end - 2 * LONGEST), end) if rest[at] in "#＃\n"]
        if near and len(tag(text[near[-1] :])) > end - near[-1]:
            return near[-1]
    else:
        signs = [at for at, c in enumerate(rest) if not (is_letter(c) or c in "_-·")]
        if signs:
            item = rest[signs[-1] :]
            if (name(item) or tag(item)) == item and not is_alphanumeric(rest[: signs[-1]]):
                return signs[-1]
    for at in range(re.search("[!#-;=?-~]{0,2048}$", rest).start(), end):
        if not is_alphanumeric(rest[:at]) and link(rest[at:]) == rest[at:]:
            return at
    phrase = ENDS[is_before_name].search(rest)
    before = rest[: phrase.start()] if phrase else ""
    is_inside = phrase and phrase[0].isascii() and before and is_letter(before[-1])
    return phrase.start() if phrase and not is_inside else None


def is_alphanumeric(before):
    """Tell whether an ASCII letter or digit is the last character."""
    return before[-1:].isascii() and before[-1:].isalnum()
