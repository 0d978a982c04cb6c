"""The HTML around the runs of a paper that nothing begins or ends with: most lines of a long copy.

The template writes the other runs, which have their own anchors, numbers and titles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from neardup.pages.marking import Run
from neardup.pages.templating import look


def tags_of(sources: Sequence[int]) -> Callable[[Run], tuple[str, str]]:
    """Return a function of a run that returns its tags; `sources` are those of the passages."""

    @cache
    def tags(passages: tuple[int, ...], repeated: bool, aside: str) -> tuple[str, str]:
        if not passages:
            return (f'<span class="aside {aside}">', "</span>") if aside else ("", "")
        names = ["copy", look(sources[passages[0]])]
        names += ["gap"] * (not repeated) + ["aside", aside] * bool(aside)
        numbers = " ".join(str(number + 1) for number in passages)
        opening = f'<a class="{" ".join(names)}" href="#p{passages[0] + 1}" data-p="{numbers}"'
        return f'{opening} tabindex="-1">', "</a>"

    return lambda run: tags(run.passages, run.repeated, run.aside)
