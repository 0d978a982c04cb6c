"""Bytes to text: which encoding a file is in, and how sure that is.

A byte order mark says it, and text that is valid UTF-8 is UTF-8. Everything
else is weighed: UTF-16 and UTF-32 by the characters that come out, HZ by its
escapes, and the encodings of one and two bytes by chardetng (the detector of
Firefox) and by how many of the characters are frequent ones. What a page
declares about itself decides only where its bytes leave the choice open.

Damage costs no more than itself: half a character at the end is left out, a
file that was put together from two encodings is read piece by piece, and what
no encoding explains becomes U+FFFD. The time is linear in the bytes.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Literal

from neardup import _core
from neardup._engine.messages import Message
from neardup.readers.character_frequencies import common_share, looks_like

__all__ = ["Certainty", "Decoded", "decode"]

Certainty = Literal["certain", "likely", "guessed"]

_LOST = "\ufffd"
# Marks that begin with another one's bytes come first.
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
#: What is read by a codec that knows more characters than the name promises.
_CODECS = {"GBK": "gb18030", "Big5": "big5hkscs", "Shift_JIS": "cp932", "EUC-KR": "cp949"}
_EAST_ASIAN = ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949")

_SAMPLE = 1 << 16
#: From so many characters beyond ASCII on, a choice is more than a guess.
_ENOUGH = 16
_HZ = re.compile(rb"~\{((?:[\x21-\x77][\x21-\x7e])+)(?:~\}|\n|$)")
#: Three characters of three or four bytes in a row are UTF-8, and next to never anything else.
_WIDE = re.compile(
    rb"(?:[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})"
    rb"(?:[\x00-\x7f]{0,8}(?:[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})){2,}"
)
_ASCII = bytes(range(128))


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text and how it was read.

    Parameters
    ----------
    text : str
        Without the byte order mark; else all that was there, NULs included.
    encoding : str
        As Python calls it, such as ``utf-8``, ``gb18030`` or ``big5hkscs``.
    certainty : {'certain', 'likely', 'guessed'}
        Certain by a mark or by the rules of UTF-8; likely where enough text
        agrees; guessed where there is too little of it, or it is damaged.
    notes : tuple of Message
        What was lost or is out of the ordinary, a sentence each.
    """

    text: str
    encoding: str
    certainty: Certainty
    notes: tuple[Message, ...] = ()


def decode(data: bytes, *, declared: str | None = None) -> Decoded:
    """Decode the bytes of a text file in whatever encoding they are.

    Parameters
    ----------
    data : bytes
    declared : str, optional
        What the file says about itself, as in ``<meta charset>``. A hint.

    Returns
    -------
    Decoded

    Notes
    -----
    Detection looks at the first 64 KiB beyond ASCII; memory is a few times
    the file's size.

    Examples
    --------
    >>> found = decode("天气预报说，明天有雨。我们在家里看书。".encode("gbk"))
    >>> found.text, found.encoding, found.certainty
    ('天气预报说，明天有雨。我们在家里看书。', 'gb18030', 'likely')
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            body = data[len(mark) :]
            whole = _whole(body, encoding)
            if whole is not None:
                return Decoded(whole[0], encoding, "certain", whole[1])
            if encoding == "utf-8":
                return _damaged(body, _other(body))
            # Four bytes of a mark may be two of a mark and a NUL.
            if encoding != "utf-32-le":
                return _replaced(body, encoding, "likely")
    found = _utf8(data) or _wide_units(data) or _hz(data)
    return found or _eight_bits(data, declared)


def _whole(data: bytes, encoding: str) -> tuple[str, tuple[Message, ...]] | None:
    """Decode all of it but for half a character at the end; None if it does not work."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    try:
        text = decoder.decode(data)
        rest = decoder.getstate()[0]
        if not rest:
            # Some decoders keep what they hold back out of their state.
            text += decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return None
    if not rest:
        return text, ()
    if len(rest) == 1:
        return text, (Message("readers.half"),)
    return text, (Message("readers.halves", count=len(rest)),)


def _replaced(data: bytes, encoding: str, certainty: Certainty) -> Decoded:
    text = data.decode(encoding, "replace")
    return Decoded(text, encoding, certainty, _lost(text.count(_LOST)))


def _lost(count: int) -> tuple[Message, ...]:
    return (Message("readers.lost", count=count),) if count else ()


def _utf8(data: bytes) -> Decoded | None:
    if data.isascii():
        return None if _HZ.search(data) or b"\0" in data else _ascii(data)
    whole = _whole(data, "utf-8")
    if whole is None:
        return None
    text, notes = whole
    if notes and text.isascii():
        # Half a character of UTF-8, or a whole one of another encoding.
        return None
    beyond = data.translate(None, _ASCII)
    # One or two characters of two bytes may be one or two of another encoding.
    sure = len(beyond) >= 8 or any(byte >= 0xE0 for byte in beyond)
    return Decoded(text, "utf-8", "certain" if sure else "likely", notes)


def _ascii(data: bytes) -> Decoded:
    return Decoded(data.decode(), "utf-8", "certain")


def _wide_units(data: bytes) -> Decoded | None:
    """Read UTF-16 or UTF-32 without a mark."""
    encoding = looks_like(data[:_SAMPLE])
    if encoding is None:
        # ASCII with NULs in between, and no encoding that explains them.
        return _ascii(data) if data.isascii() and not _HZ.search(data) else None
    certainty: Certainty = "likely" if len(data) >= 4 * _ENOUGH else "guessed"
    whole = _whole(data, encoding)
    if whole is None:
        return _replaced(data, encoding, certainty)
    return Decoded(whole[0], encoding, certainty, whole[1])


def _hz(data: bytes) -> Decoded | None:
    """Read HZ: Chinese between ``~{`` and ``~}``, in bytes that are all ASCII."""
    if not data.isascii():
        return None
    chunks = _HZ.findall(data[: 1 << 20])
    inside = b"".join(chunks).translate(bytes(b | 0x80 for b in range(256)))
    try:
        chinese = inside.decode("gb2312")
    except UnicodeDecodeError:
        chinese = inside.decode("gb2312", "ignore")
        if 2 * len(chinese) < len(inside) * 0.9:
            return _ascii(data)
    # Two tildes and braces may stand in a program or a formula, too.
    if len(chinese) < 2 or (len(chinese) >= 8 and common_share(chinese) < 0.05):
        return _ascii(data)
    certainty: Certainty = "likely" if len(chinese) >= _ENOUGH else "guessed"
    return _replaced(data, "hz", certainty)


def _eight_bits(data: bytes, declared: str | None) -> Decoded:
    """Read what has bytes beyond ASCII and is not valid UTF-8."""
    beyond = data.translate(None, _ASCII)
    readable = data.decode("utf-8", "ignore").encode().translate(None, _ASCII)
    wide = sum(map(len, (run.translate(None, _ASCII) for run in _WIDE.findall(data))))
    if len(readable) >= 0.9 * len(beyond) or (wide >= 0.05 * len(beyond) and wide >= 12):
        return _damaged(data, _other(data))
    encoding = _legacy(data)
    certainty: Certainty = "guessed" if len(beyond) < 2 * _ENOUGH else "likely"
    if certainty == "guessed" and declared is not None:
        encoding = _as_declared(data, declared) or encoding
    whole = _whole(data, encoding)
    if whole is None:
        text, lost = _chunks(data, encoding)
        return Decoded(text, encoding, "guessed", _lost(lost))
    text, notes = whole
    if encoding in _EAST_ASIAN and common_share(text[:_SAMPLE]) < 0.1:
        certainty = "guessed"
    return Decoded(text, encoding, certainty, notes)


def _other(data: bytes) -> str | None:
    """Name the encoding of what is not UTF-8 in a file that partly is; None if it is damage."""
    rest = b"\n".join(_WIDE.sub(b"\n", line) for line in data.splitlines() if not _is_utf8(line))
    if len(rest.translate(None, _ASCII)) < 12:
        return None
    encoding = _legacy(rest)
    return encoding if encoding in _EAST_ASIAN and _merit(rest[:_SAMPLE], encoding) > 0.1 else None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _damaged(data: bytes, other: str | None) -> Decoded:
    """Read UTF-8 with errors, or with chunks in another encoding."""
    text, lost = _chunks(data, other)
    notes = _lost(lost)
    if other is not None:
        notes = (Message("readers.mixed", other=other), *notes)
    return Decoded(text, "utf-8", "likely" if other is None else "guessed", notes)


def _legacy(data: bytes) -> str:
    """Name the most likely encoding of one or two bytes a character."""
    beyond = re.search(rb"[\x80-\xff]", data)
    if beyond is None:
        return "cp1252"
    # A sample that begins at a line end begins with a whole character.
    begin = data.rfind(b"\n", 0, beyond.start()) + 1
    sample = data[max(begin, beyond.start() - 1024) :][:_SAMPLE].replace(b"\0", b"")
    # Half a character at the end would speak against the right encoding.
    cut = sample.rfind(b"\n") + 1 if len(sample) == _SAMPLE else 0
    sample = sample[:cut] if cut > _SAMPLE // 2 else sample
    guess = _python_name(_core.guess_encoding(sample))
    if guess not in _EAST_ASIAN:
        shorter = _python_name(_core.guess_encoding(sample[:-1]))
        guess = shorter if shorter in _EAST_ASIAN else guess
    best, most = guess, _merit(sample, guess) if guess in _EAST_ASIAN else 0.1
    # One or two characters that are frequent by chance say nothing.
    few = len(sample.translate(None, _ASCII)) < 8
    for encoding in () if few else _EAST_ASIAN:
        merit = _merit(sample, encoding)
        if encoding != guess and merit > most + 0.05:
            best, most = encoding, merit
    return best


def _merit(sample: bytes, encoding: str) -> float:
    """Say what share of the characters is frequent; what cannot be read counts against."""
    text = sample.decode(encoding, "replace")
    beyond = sum(1 for c in text if c > "\x7f")
    return common_share(text) - 4 * text.count(_LOST) / max(beyond, 1)


def _python_name(name: str) -> str:
    try:
        return _CODECS.get(name) or codecs.lookup(name).name.replace("-", "_")
    except LookupError:
        return "cp1252"


def _as_declared(data: bytes, declared: str) -> str | None:
    try:
        name = codecs.lookup(declared).name
        name = {"gbk": "gb18030", "gb2312": "gb18030", "big5": "big5hkscs"}.get(name, name)
        # A name such as `base64` is one of a codec, but of none for text.
        data.decode(name)
    except (LookupError, UnicodeError, ValueError):
        return None
    return None if name.startswith(("utf", "hz", "iso2022", "punycode", "idna")) else name


def _chunks(data: bytes, other: str | None) -> tuple[str, int]:
    """Decode line by line, and bad lines by runs; count what is lost."""
    out = []
    lost = 0
    for line in data.splitlines(keepends=True):
        try:
            out.append(line.decode())
            continue
        except UnicodeDecodeError:
            pass
        begin = 0
        runs = [(run.start(), run.end()) for run in _WIDE.finditer(line)]
        if other is not None and 8 * sum(end - first for first, end in runs) < len(line):
            try:
                out.append(line.decode(other))
                continue
            except UnicodeDecodeError:
                pass
        for first, end in [*runs, (len(line), len(line))]:
            if begin < first:
                text = _run(line[begin:first], other)
                lost += text.count(_LOST)
                out.append(text)
            out.append(line[first:end].decode("utf-8", "replace"))
            begin = end
    return "".join(out), lost


def _run(data: bytes, other: str | None) -> str:
    """Decode what is not plainly UTF-8: as the other encoding if there is enough of it."""
    beyond = data.translate(None, _ASCII)
    utf8 = data.decode("utf-8", "replace")
    # Two bytes would make a character in most encodings, and prove nothing.
    if other is None or _LOST not in utf8 or len(beyond) < 4:
        return utf8
    # The bytes of frequent Chinese characters often are characters of UTF-8, but rare ones.
    text = data.decode(other, "replace")
    lost, other_lost = utf8.count(_LOST), text.count(_LOST)
    return text if other_lost < lost and common_share(text) >= common_share(utf8) else utf8
