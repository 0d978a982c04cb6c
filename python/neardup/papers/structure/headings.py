"""Lines: whether they are wrapped, and which look like headings or entries of a contents table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]+")
_SENTENCE_END = tuple('。！？；：.!?;:…"”’」』)）]】》')

#: Smallest width in columns of a line that is evidence of wrapping; headings are shorter.
_TELLING = 40

#: Largest width of a heading in columns, inclusive; a Chinese character takes two.
_COLUMNS = 100
#: Short lines of which the words and the form are remembered: sections and asides ask for each.
_REMEMBERED = 4096

_HAN_NUMBER = "[0-9０-９零〇一二两三四五六七八九十百]{1,5}"
_MARKDOWN = re.compile(r"(#{1,6})[ \t\u3000]+(.*[^#\s])[#\s]*$")
_CHAPTER = re.compile(
    rf"第[ \u3000]?{_HAN_NUMBER}[ \u3000]?(部分|[编篇部章节])(?=([\s:：.、]*))(.*)$"
)
#: Words after 第三章 in a sentence about the chapter.
_SPEAKS = re.compile("[的中里和与及至到将对从是为则在以所主介首分给讨论述规]")
_CHAPTER_ENGLISH = re.compile(
    r"(?:Chapter|CHAPTER|Part|PART)\s+"
    r"(?:\d{1,3}|[IVXLC]{1,7}|(?i:one|two|three|four|five|six|seven|eight|nine|ten))\b"
    r"[\s.:：—–-]*(.*)$"
)
_NUMBERED = re.compile(r"(\d{1,2}(?:[.．]\d{1,2}){0,3})([.．]?[ \u3000\t]*)(\S.*)$")
#: Any number before a title.
_NUMBER = re.compile(
    rf"^(?:第[ \u3000]?{_HAN_NUMBER}[ \u3000]?(?:部分|[编篇部章节])[\s:：.、]*"
    r"|[一二三四五六七八九十]{1,3}[、.．]|[（(][一二三四五六七八九十]{1,3}[)）][、.．]?"
    r"|\d{1,2}(?:[.．]\d{1,2}){0,3}(?:[.．、]|(?=[ \u3000\t]))|[IVXL]{1,6}\.\s)[ \u3000\t]*(?=\S)"
)
_APPENDIX = re.compile(
    r"附[ \u3000]*录[ \u3000]*(?:[A-Za-z]|\d{1,2}|[一二三四五六七八九十]{1,2})?(?:[\s:：.、]+.*)?$"
    r"|(?:Appendix|APPENDIX)(?:\s+[A-Z0-9]{1,3})?(?:[\s.:：—–-]+[^a-z].*)?$"
)
#: An abstract often begins on the line of its heading.
_ABSTRACT = re.compile(
    r"[【\[［]?((?:中文|英文|内容)?摘[ \u3000]*要|Abstract|ABSTRACT)[ \u3000]*[】\]］:：—]"
)
_WORDS = re.compile(
    "(?:中文|英文|内容)?摘要|(?:图|表|插图|图表|附表)?目[录次]|引言|前言|绪论|导论|导言|序言|序|绪言"
    "|(?:全文)?(?:结论|总结|小结|结语|结束语|余论)(?:[与和及](?:展望|建议|讨论|启示))?|讨论|后记"
    "|致谢|谢辞|鸣谢|注释|尾注|附件|附表|附图|(?:作者|个人)(?:简介|简历)|简历"
    "|(?:主要|部分|本文)?(?:参考|引用|征引)(?:文献|书目|资料)(?:目录|列表|一览)?|注释[与和]参考文献"
    "|(?:攻读|在学|在读).{0,12}期间.{0,24}"
    "|(?:论文|学位论文)?(?:原创性|独创性|诚信)(?:声明|承诺书?)|版权使用授权书"
)
_WORDS_ENGLISH = re.compile(
    "abstract|(?:table of )?contents|list of (?:figures|tables)|introduction|preface|foreword"
    "|background|related work|literature review|methods?|methodology|materials and methods"
    "|results|discussion|results and discussion|conclusions?|summary|conclusions? and future work"
    "|acknowledge?ments?|notes|references?(?: and notes)?|references cited|literature cited"
    "|bibliography|works cited|about the authors?|curriculum vitae|declaration"
)
_BRACKETS = "【】[]［］()（）*_#<> \t\u3000\u00a0"
#: Every heading begins like this. Most lines do not, and need none of the patterns above.
_BEGINS = re.compile(
    rf"#|[\s{re.escape(_BRACKETS)}:：]*"
    "[0-9\\dA-Z第附摘中英内图表插目引前绪导序全结总小余讨后致谢鸣注尾作个简主部本参征攻在论学原独诚版]"
)
#: Every heading of a list has one of these.
_LIST_WORDS = re.compile("[献目料次]|(?i:references?|bibliography|cited|contents|figures|tables)")

#: Units after a quantity, such as 3.5 亿元.
_UNITS = re.compile("[年月号秒亿万千百℃°%％‰～~×+=<>/-]")
_TITLE_BEGINS = re.compile('[A-Z\u3400-\u9fff\uf900-\ufaff“"‘《「『〈（(【]')
_HAS_HAN = re.compile("[\u3400-\u9fff]")
_SENTENCE = re.compile("[。；;]")

#: Dots, a tab or some spaces between a title and its page number.
_PAGE = r"[-–(（]?\s*(\d{1,4}|[ivxlc]{1,7}|[IVXLC]{1,7})\s*[-–)）]?$"
_PAGE_ENDS = "ivxlcIVXLC-–)）"
_DOTTED = re.compile(r"(?:[.．·•‥⋯_]\s?){3,}\s*" + _PAGE + r"|[…⋯]+[.…⋯\s]*" + _PAGE)
_SPACED = re.compile(r"(?:\t|[ \u3000\u00a0]{3})\s*" + _PAGE)
_CLOSE = re.compile(r"[ \u3000]" + _PAGE)
_LETTER = re.compile(r"[^\W\d_]")
_ENTRY_LENGTH = 160


class Line(NamedTuple):
    """A non-blank line without the white space around it, and whether a blank line is before it."""

    begin: int
    end: int
    text: str
    after_blank: bool


def split_lines(text: str) -> Iterator[Line]:
    """Yield the non-blank lines, as `str.splitlines` splits them."""
    begin = 0
    after_blank = True
    for whole in text.splitlines(keepends=True):
        bare = whole.strip()
        if bare:
            first = begin if whole[0] == bare[0] else begin + len(whole) - len(whole.lstrip())
            yield Line(first, first + len(bare), bare, after_blank)
        after_blank = not bare
        begin += len(whole)


def measure_width(text: str) -> int:
    """Return the width of a text in columns; a Chinese character takes two."""
    return len(text) if text.isascii() else len(text) + sum(map(len, _WIDE.findall(text)))


def ends_sentence(text: str) -> bool:
    """Return whether a line ends like a sentence."""
    return text.endswith(_SENTENCE_END)


def find_wrapped_width(all_lines: list[Line]) -> int:
    """Return the columns of a full line if paragraphs are wrapped, else 0, by the ends of lines.

    The lines of a wrapped paragraph end anywhere, only the last one at the end of a
    sentence. If at least half of the lines end a sentence, lines are paragraphs. Lines of
    fewer than 40 columns are ignored. Linear in the text.
    """
    long = [
        (columns, line.text)
        for line in all_lines
        if len(line.text) >= _TELLING // 2 and (columns := measure_width(line.text)) >= _TELLING
    ]
    if 2 * sum(not ends_sentence(text) for _, text in long) <= len(long):
        return 0
    return sorted(columns for columns, _ in long)[len(long) // 2]


class Form(NamedTuple):
    """A line that could be a heading.

    `style` is 'markdown'; 'chapter' for 第一章 and Chapter 1; 'number' for 1 and 1.1; or 'word' for
    a heading recognized by its words. `numbers` are 1 and 1 for 1.1.
    """

    style: str
    level: int
    title: str
    numbers: tuple[int, ...] = ()


def is_entry(text: str, *, how: str = "dotted") -> bool:
    """Return whether a stripped line is an entry of a table of contents.

    Before the page number it has three dots; or, if `how` is 'spaced', also a tab or three spaces;
    or, if it is 'close', any space.
    """
    if len(text) > _ENTRY_LENGTH or not (text[-1:].isdecimal() or text[-1:] in _PAGE_ENDS):
        return False
    match = _DOTTED.search(text)
    if match is None and how != "dotted":
        match = _SPACED.search(text)
    if match is None and how == "close":
        match = _CLOSE.search(text)
    return match is not None and _LETTER.search(text, 0, match.start()) is not None


@lru_cache(maxsize=_REMEMBERED)
def strip_words(text: str) -> str:
    """Return the words of a line, without number, emphasis, brackets, colon and Chinese spaces."""
    if measure_width(text) > _COLUMNS:
        return ""
    words = _NUMBER.sub("", text.strip(_BRACKETS), count=1).strip(_BRACKETS + ":：")
    return _join_words(words)


def may_head_list(text: str) -> bool:
    """Return whether a line may be the heading of a list; only few other lines pass."""
    return len(text) <= _COLUMNS and _LIST_WORDS.search(text) is not None


def _join_words(words: str) -> str:
    return "".join(words.split()) if _HAS_HAN.search(words) else " ".join(words.split())


def is_numbered(text: str) -> bool:
    """Return whether a line begins with a number of any kind before a title."""
    return _NUMBER.match(text) is not None


def parse_heading(text: str) -> Form | None:
    """Return the form of the heading that a stripped line could be, or None.

    Examples
    --------
    >>> parse_heading("2.1 数据来源")
    Form(style='number', level=2, title='数据来源', numbers=(2, 1))
    >>> parse_heading("2.1亿元用于修路") is None
    True
    """
    if not _BEGINS.match(text):
        return None
    abstract = _ABSTRACT.match(text)
    if abstract is not None:
        return Form("word", 1, "".join(abstract[1].split()))
    return _parse_short(text) if len(text) <= _COLUMNS else None


@lru_cache(maxsize=_REMEMBERED)
def _parse_short(text: str) -> Form | None:
    if measure_width(text) > _COLUMNS or is_entry(text, how="spaced"):
        return None
    marked = _MARKDOWN.match(text)
    if marked is not None:
        return Form("markdown", len(marked[1]), marked[2].strip("*_ "))
    text = text.strip("*_ ")
    if (name := _find_name(text.strip(_BRACKETS + ":："))) is not None:
        return Form("word", 1, name)
    if _SENTENCE.search(text) or text.endswith(tuple("，,、：:.．")):
        return None
    if _APPENDIX.match(text):
        return Form("word", 1, " ".join(text.split()))
    return _parse_chapter(text) or _parse_numbered(text)


def _find_name(words: str) -> str | None:
    """Return the name of a part that many papers have, or None for other words."""
    joined = _join_words(words)
    is_english = joined[:1].isupper() and _WORDS_ENGLISH.fullmatch(joined.lower())
    return joined if is_english or _WORDS.fullmatch(joined) else None


def _parse_chapter(text: str) -> Form | None:
    match = _CHAPTER.match(text)
    if match is not None:
        title = match[3].strip(" \t\u3000:：.、")
        if not match[2] and (_SPEAKS.match(title) or measure_width(title) > 60):
            return None
        return Form("chapter", 2 if match[1] == "节" else 1, title)
    match = _CHAPTER_ENGLISH.match(text)
    if match is None or (match[1] and not _TITLE_BEGINS.match(match[1])):
        return None
    return Form("chapter", 1, match[1])


def _parse_numbered(text: str) -> Form | None:
    match = _NUMBERED.match(text)
    if match is None:
        return None
    number, between, title = match.groups()
    if number == "0" and (name := _find_name(title)) is not None:
        return Form("word", 1, name)
    parts = re.split("[.．]", number)
    if any(part.startswith("0") for part in parts) or not (between or len(parts) > 1):
        return None
    is_title = _TITLE_BEGINS.match(title) or (title[0].isalpha() and _HAS_HAN.search(title))
    if not is_title or _UNITS.match(title):
        return None
    return Form("number", len(parts), title, tuple(map(int, parts)))
