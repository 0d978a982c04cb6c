"""Figures and prose as Markdown."""

import textwrap

_WIDTH = 100


def table(heading, rows):
    """Return a table: the first column is text, the others are figures."""
    lines = [list(heading), ["---", *["---:"] * (len(heading) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def percent(share):
    """Return a share in whole percent."""
    return f"{100 * share:.0f} %"


def interval(bounds):
    """Return an interval with two digits."""
    return f"{bounds[0]:.2f}-{bounds[1]:.2f}"


def wrapped(text):
    """Return Markdown with its prose filled anew, since figures are of any length."""
    return "\n\n".join(_filled(block) for block in text.split("\n\n"))


def _filled(block):
    if block.lstrip().startswith(("|", "#", "<")):
        return block
    items = block.strip("\n").split("\n- ")
    lines = [items[0], *(f"- {item}" for item in items[1:])]
    return "\n".join(
        textwrap.fill(
            " ".join(line.split()),
            _WIDTH,
            subsequent_indent="  " if line.startswith("- ") else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines
    )
