"""Stop words, marker words and user dictionaries: bundled, from a file, or a file added to those.

A setting names a bundled list or a file. A file with a plus before it is added to the bundled
list: ``"+mine.txt"``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from neardup.base.files import lines_of, read_whole
from neardup.base.lazy import _core
from neardup.base.messages import N_, Message
from neardup.exceptions import InputError
from neardup.recipe.stages import BUNDLED, EXTENDED, NONE, RUNS, SEPARATED, WORD_LISTS, Stages

#: The marker groups of the published method: summary and contrast.
_MARKER_GROUPS = ("总结", "转折")

#: The line that a file must have, by setting.
_EXPECTED = {
    "stop_words": N_("one word on each line"),
    "markers": N_("one marker word on each line"),
    "user_dictionary": N_("on each line a word, and if known its frequency and its tag: 渡轮 10 n"),
}

#: With larger frequencies, the sum over a dictionary could overflow.
_MAX_FREQUENCY = 2**32


def words_of(recipe: Stages, setting: str) -> list[str]:
    """Return the words of a recipe's list; the lines of a user dictionary.

    Parameters
    ----------
    recipe : Stages
    setting : {"stop_words", "markers", "user_dictionary"}

    Raises
    ------
    InputError
        If the file cannot be read, or a line is not of its form; names file and line.
    """
    value: str = getattr(getattr(recipe, WORD_LISTS[setting]), setting)
    if value in ("", NONE):
        return []
    if value in (BUNDLED, EXTENDED):
        return list(_bundled(setting, value))
    added, path = value.startswith("+"), value.removeprefix("+")
    words = list(_bundled(setting, BUNDLED)) if added else []
    for number, line in enumerate(_lines(path, setting), 1):
        if word := line.strip():
            _check_line(word, recipe, setting, path, number)
            words.append(word)
    return list(dict.fromkeys(words))


@cache
def _bundled(setting: str, name: str) -> tuple[str, ...]:
    """Return the words of a bundled list; none for a dictionary, which jieba has itself."""
    if setting == "user_dictionary":
        return ()
    if setting == "stop_words":
        return tuple(_core.bundled_stop_words())
    text = Path(__file__).with_name("presets").joinpath("markers_zh.txt").read_text("utf-8")
    groups = dict(line.split("\t") for line in text.splitlines())
    chosen = _MARKER_GROUPS if name == BUNDLED else tuple(groups)
    return tuple(word for group in chosen for word in groups[group].split())


def _lines(path: str, setting: str) -> list[str]:
    """Return the lines of a file in UTF-8, in UTF-16 with its mark, or in GBK."""
    data = read_whole(path)
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if is_wide else ("utf-8-sig", "gb18030"):
        try:
            return lines_of(data.decode(encoding))
        except UnicodeDecodeError as error:
            at = error.start
    line = len(lines_of(data[:at].decode("latin-1")))
    raise InputError(
        Message(
            "{file}, line {line}: neither UTF-8 nor GBK. Expected {expected}.",
            code="invalid_encoding",
            file=path,
            line=line,
            expected=Message(_EXPECTED[setting]),
        )
    )


def _check_line(line: str, recipe: Stages, setting: str, path: str, number: int) -> None:
    """Raise InputError for a line that is not of the form, or that no unit could equal."""
    if setting == "user_dictionary":
        is_right = _is_entry(line.split())
    else:
        segment = recipe.segment
        # Units of other kinds may have a blank in them.
        has_blanks = segment.units in (*RUNS, SEPARATED) or recipe.callable_name is not None
        is_right = has_blanks or len(line.split()) == 1
    if not is_right:
        raise InputError(
            Message(
                "{file}, line {line}: expected {expected}. Got {value} instead.",
                code="wrong_line",
                file=path,
                line=number,
                expected=Message(_EXPECTED[setting]),
                value=repr(line[:40]),
            )
        )


def _is_entry(fields: list[str]) -> bool:
    """Return whether a line is ``word``, ``word tag`` or ``word frequency [tag]``."""
    if len(fields) == 2:
        return not fields[1].isdecimal() or int(fields[1]) <= _MAX_FREQUENCY
    if len(fields) == 3:
        return fields[1].isdecimal() and int(fields[1]) <= _MAX_FREQUENCY
    return len(fields) == 1
