"""Encoding detection: the text of a file, its encoding, and how certain it is.

A byte order mark decides, and valid UTF-8 is UTF-8. Otherwise UTF-16 and UTF-32 are
detected by the resulting characters, HZ by its escapes, and the encodings of one and
two bytes by chardetng (Firefox's detector) and the share of frequent characters. An
encoding that a page declares decides only if its bytes leave the choice open.

Damage stays local: half a character at the end is left out, a file of two encodings
is read piece by piece, and bytes that no encoding explains become U+FFFD. The time is
linear in the number of bytes.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Literal

from neardup import _core
from neardup.base.messages import Message
from neardup.readers.character_frequencies import common_share, looks_like

Certainty = Literal["certain", "likely", "guessed"]

_LOST = "\ufffd"
# A mark that begins with the bytes of another mark comes first.
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
#: Encodings that are read by a codec of a larger character set.
_CODECS = {"GBK": "gb18030", "Big5": "big5hkscs", "Shift_JIS": "cp932", "EUC-KR": "cp949"}
_EAST_ASIAN = ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949")

_SAMPLE = 1 << 16
#: With this many non-ASCII characters, a choice is more than a guess.
_ENOUGH = 16
_HZ = re.compile(rb"~\{((?:[\x21-\x77][\x21-\x7e])+)(?:~\}|\n|$)")
#: Three consecutive characters of three or four bytes are almost certainly UTF-8.
_WIDE = re.compile(
    rb"(?:[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})"
    rb"(?:[\x00-\x7f]{0,8}(?:[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})){2,}"
)
_ASCII = bytes(range(128))


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text, Python's name of its encoding, and losses and peculiarities.

    It is certain by a mark or by the rules of UTF-8; likely if enough text agrees; guessed if
    there is too little text, or if it is damaged.
    """

    text: str
    encoding: str
    certainty: Certainty
    notes: tuple[Message, ...] = ()


def decode(data: bytes, *, declared: str | None = None) -> Decoded:
    """Decode a text file in any encoding; `declared` is a hint, as in ``<meta charset>``.

    Examples
    --------
    >>> page = decode("天气预报说，明天有雨。我们在家里看书。".encode("gbk"))
    >>> page.text, page.encoding, page.certainty
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
            # The four bytes of this mark may also be the mark of UTF-16 and a NUL.
            if encoding != "utf-32-le":
                return _replaced(body, encoding, "likely")
    found = _utf8(data) or _wide_units(data) or _hz(data)
    return found or _eight_bits(data, declared)


def _whole(data: bytes, encoding: str) -> tuple[str, tuple[Message, ...]] | None:
    """Decode all but half a character at the end; return None on an error."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    try:
        text = decoder.decode(data)
        rest = decoder.getstate()[0]
        if not rest:
            # Some decoders do not report pending bytes in their state.
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
        # This is half a character of UTF-8, or a whole one of another encoding.
        return None
    beyond = data.translate(None, _ASCII)
    # One or two characters of two bytes may be of another encoding.
    sure = len(beyond) >= 8 or any(byte >= 0xE0 for byte in beyond)
    return Decoded(text, "utf-8", "certain" if sure else "likely", notes)


def _ascii(data: bytes) -> Decoded:
    return Decoded(data.decode(), "utf-8", "certain")


def _wide_units(data: bytes) -> Decoded | None:
    """Read UTF-16 or UTF-32 without a mark."""
    encoding = looks_like(data[:_SAMPLE])
    if encoding is None:
        # ASCII with NULs that no encoding explains stays ASCII.
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
    # Tildes and braces occur in programs and formulas too.
    if len(chinese) < 2 or (len(chinese) >= 8 and common_share(chinese) < 0.05):
        return _ascii(data)
    certainty: Certainty = "likely" if len(chinese) >= _ENOUGH else "guessed"
    return _replaced(data, "hz", certainty)


def _eight_bits(data: bytes, declared: str | None) -> Decoded:
    """Decode non-ASCII bytes that are not valid UTF-8."""
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
    """Return the encoding of the non-UTF-8 parts of a file; None if they are damage."""
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
    """Decode UTF-8 with errors, or with parts in another encoding."""
    text, lost = _chunks(data, other)
    notes = _lost(lost)
    if other is not None:
        notes = (Message("readers.mixed", other=other), *notes)
    return Decoded(text, "utf-8", "likely" if other is None else "guessed", notes)


def _legacy(data: bytes) -> str:
    """Return the most likely encoding of one or two bytes per character."""
    beyond = re.search(rb"[\x80-\xff]", data)
    if beyond is None:
        return "cp1252"
    # A sample that begins after a line end begins with a whole character.
    begin = data.rfind(b"\n", 0, beyond.start()) + 1
    sample = data[max(begin, beyond.start() - 1024) :][:_SAMPLE].replace(b"\0", b"")
    # Half a character at the end would count against the right encoding.
    cut = sample.rfind(b"\n") + 1 if len(sample) == _SAMPLE else 0
    sample = sample[:cut] if cut > _SAMPLE // 2 else sample
    guess = _python_name(_core.guess_encoding(sample))
    if guess not in _EAST_ASIAN:
        shorter = _python_name(_core.guess_encoding(sample[:-1]))
        guess = shorter if shorter in _EAST_ASIAN else guess
    best, most = guess, _merit(sample, guess) if guess in _EAST_ASIAN else 0.1
    # One or two characters may be frequent by chance.
    few = len(sample.translate(None, _ASCII)) < 8
    for encoding in () if few else _EAST_ASIAN:
        merit = _merit(sample, encoding)
        if encoding != guess and merit > most + 0.05:
            best, most = encoding, merit
    return best


def _merit(sample: bytes, encoding: str) -> float:
    """Return the share of frequent characters, less a penalty for undecodable ones."""
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
        # Names such as `base64` are codecs, but not for text.
        data.decode(name)
    except (LookupError, UnicodeError, ValueError):
        return None
    return None if name.startswith(("utf", "hz", "iso2022", "punycode", "idna")) else name


def _chunks(data: bytes, other: str | None) -> tuple[str, int]:
    """Decode line by line, and bad lines by runs; count the lost characters."""
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
    """Decode bytes that are not clearly UTF-8, in the other encoding if there are enough."""
    beyond = data.translate(None, _ASCII)
    utf8 = data.decode("utf-8", "replace")
    # Two bytes prove nothing: they are a character in most encodings.
    if other is None or _LOST not in utf8 or len(beyond) < 4:
        return utf8
    # The bytes of frequent Chinese characters are often rare characters in UTF-8.
    text = data.decode(other, "replace")
    lost, other_lost = utf8.count(_LOST), text.count(_LOST)
    return text if other_lost < lost and common_share(text) >= common_share(utf8) else utf8
