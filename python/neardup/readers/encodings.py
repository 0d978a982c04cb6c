"""Encoding detection: the text of a file, its encoding, and how certain it is.

A byte order mark decides, and valid UTF-8 is UTF-8. Otherwise the resulting characters
reveal UTF-16 and UTF-32. An encoding of one or two bytes is detected by chardetng
(Firefox's detector) and by the share of frequent characters. If there are only a few
characters, the encoding that a page declares decides. Without one, the other files of the
run decide by their encoding. Otherwise common Chinese characters are GB18030.

Damage stays local: half a character at the end is left out, and bytes that the
encoding does not explain become U+FFFD. The time is linear in the number of bytes.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal

from neardup.base.lazy import _core
from neardup.base.messages import N_, Message
from neardup.base.validation import bad
from neardup.exceptions import InputError
from neardup.readers.formats import SIGNATURES
from neardup.readers.frequent_characters import (
    count_common,
    detect_wide_units,
    measure_common_share,
)
from neardup.readers.streams import ReopenableFile

Certainty = Literal["certain", "likely", "guessed"]
_Usual = Callable[[], str | None]

_CERTAINTIES = {"certain": N_("certain"), "likely": N_("likely"), "guessed": N_("guessed")}
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
_SUPERSETS = {
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-8-sig": "utf-8",
}
#: Codecs of names of hosts and of source code, which no file is in.
_NO_FILES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape")
_EAST_ASIAN = ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949")

#: Bytes of a text, and of a file of lines, from which the encoding is detected.
_SAMPLE, BEGINNING = 1 << 16, 1 << 18
#: With this many non-ASCII characters, a choice is more than a guess.
_ENOUGH = 16
#: Three consecutive characters of three or four bytes are almost certainly UTF-8.
_WIDE = re.compile(
    rb"(?:[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})"
    rb"(?:[\x00-\x7f]{0,8}(?:[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})){2,}"
)
_ASCII = bytes(range(128))
_LINE_ENDS = {10, 13}
_HIGH_RUNS = re.compile(rb"[\x80-\xff]+")
#: Chinese characters and punctuation of GB2312. The common characters, its level 1, have first
#: bytes up to D7; its kana do not count.
_GB2312 = re.compile(rb"(?:[\xa1-\xa3\xb0-\xf7][\xa1-\xfe])+")
_COMMON_LEADS = range(0xB0, 0xD8)
#: Latin, Greek, Cyrillic, Hebrew and Arabic letters in UTF-8.
_TWO_BYTES = re.compile(rb"(?:[\xc2-\xc5\xce-\xd1\xd7-\xdb][\x80-\xbf])+")
#: Bytes of a file, and files of a run, by which the encoding of others is chosen.
_HEAD, _HEADS = 1 << 12, 10_000
_NOT_TEXT = (b"%PDF", b"PK", *SIGNATURES.values())


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A file's text, Python's name of its encoding, and losses and peculiarities.

    It is certain by a mark or by the rules of UTF-8; likely if enough text agrees; guessed if
    there is too little text, or if it is damaged.
    """

    text: str
    encoding: str
    certainty: Certainty
    notes: tuple[Message, ...] = ()


def decode(
    data: bytes, *, declared: str | None = None, usual: _Usual = lambda: None
) -> DecodedText:
    """Decode a text file in any encoding.

    Hints for a few characters are `declared`, as in ``<meta charset>``, and what `usual` returns.

    Examples
    --------
    >>> page = decode("天气预报说，明天有雨。我们在家里看书。".encode("gbk"))
    >>> page.text, page.encoding, page.certainty
    ('天气预报说，明天有雨。我们在家里看书。', 'gb18030', 'likely')
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            body = data[len(mark) :]
            whole = _decode_whole(body, encoding)
            if whole is not None:
                return DecodedText(whole[0], encoding, "certain", whole[1])
            # The four bytes of this mark may also be the mark of UTF-16 and a NUL.
            if encoding != "utf-32-le":
                return _decode_replacing(body, encoding, "likely")
    return (
        _decode_utf8(data, usual)
        or _decode_wide_units(data)
        or _decode_eight_bits(data, declared, usual)
    )


class Encodings:
    """The encodings of the files of a run: one that is named, or what is detected."""

    def __init__(
        self, named: str | None = None, files: Iterable[Callable[[], ReopenableFile]] = ()
    ) -> None:
        self.named = None if named is None else check_encoding(named, "encoding")
        #: They open the first files.
        self._files = list(islice(files, _HEADS))

    def decode(self, data: bytes, *, declared: str | None = None) -> DecodedText:
        """Decode a text file; UnicodeDecodeError if it is not in the named encoding."""
        if self.named is None:
            return decode(data, declared=declared, usual=lambda: self._usual)
        encoding = _find_byte_order(self.named, data)
        return DecodedText(data.decode(encoding).removeprefix("\ufeff"), encoding, "certain")

    def make_notes(self, decoded: DecodedText) -> tuple[Message, ...]:
        """Return the notes on a text: how it was decoded, and its losses."""
        is_plain = decoded.encoding == "utf-8" and decoded.certainty == "certain"
        if self.named is not None or is_plain:
            return decoded.notes
        certainty = Message(_CERTAINTIES[decoded.certainty])
        note = Message(
            "Read as {encoding} ({certainty}).", encoding=decoded.encoding, certainty=certainty
        )
        return (note, *decoded.notes)

    def detect_of_lines(self, head: bytes) -> DecodedText:
        """Return the beginning of a file of lines, of at most `BEGINNING` bytes.

        Without a name it is UTF-8 unless all lines are in another one: single lines are problems.
        UnicodeDecodeError if its byte order cannot be found.
        """
        if self.named is not None:
            return DecodedText("", _find_byte_order(self.named, head), "certain")
        whole_lines = head[: head.rfind(b"\n") + 1] or head
        decoded = self.decode(head if len(head) < BEGINNING else whole_lines)
        is_sure = decoded.certainty != "guessed" or decoded.encoding == "gb18030"
        is_whole = decoded.encoding in _EAST_ASIAN and not decoded.notes
        # A record or a header has quotes or commas, which two bytes of ASCII together are not.
        is_marked = any(map(str.isascii, decoded.text.partition("\n")[0]))
        is_wide = decoded.encoding.startswith(("utf-16", "utf-32")) and is_marked
        is_other = is_whole or is_wide
        return decoded if is_sure and is_other else DecodedText("", "utf-8", "certain")

    @cached_property
    def _usual(self) -> str | None:
        """The encoding of the text in the files that is not UTF-8, None if there is none."""
        sample = b""
        for opener in self._files:
            head = b""
            with suppress(OSError, InputError), opener().open() as file:
                head = file.read(_HEAD)
            # Half a character at the end would count against the right encoding.
            head = head[: head.rfind(b"\n") + 1] or head if len(head) == _HEAD else head
            if (
                not head.startswith(_NOT_TEXT)
                and b"\0" not in head
                and not _decode_whole(head, "utf-8")
            ):
                sample += head + b"\n"
            if len(sample) >= _SAMPLE:
                break
        return decode(sample).encoding if sample else None


def _find_byte_order(encoding: str, data: bytes) -> str:
    """Return an encoding with the byte order of the data if its name has none."""
    if encoding not in ("utf-16", "utf-32") or not data:
        return encoding
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    detected = marked if marked is not None else detect_wide_units(data[:_SAMPLE])
    if detected is None or not detected.startswith(encoding):
        raise UnicodeDecodeError(encoding, data[:4], 0, 1, "no byte order mark")
    return detected


def check_encoding(value: object, name: str) -> str:
    """Return the codec of a named encoding; ParameterError if it is none for text."""
    known = find_codec(value) if isinstance(value, str) else None
    if known is None:
        raise bad(name, "the name of an encoding, such as gb18030", value)
    return known


def extends_ascii(encoding: str) -> bool:
    """Return whether line ends, quotes and delimiters are single bytes, which no other text has."""
    try:
        is_ascii = _ASCII.decode(encoding) == _ASCII.decode()
    except UnicodeDecodeError:
        return False
    return is_ascii and not encoding.startswith(("iso2022", "hz", "utf-7"))


def make_invalid_reason(encoding: str, raw: bytes = b"") -> Message:
    """Return the reason why a record is not text; of raw bytes, with the place of the first."""
    where: str = ""
    try:
        raw.decode(encoding)
    except UnicodeDecodeError as error:
        where = Message(" (byte {byte} of the record is not)", byte=error.start + 1)
    if encoding == "utf-8":
        return Message("must be valid UTF-8{where}", code="invalid_utf8", where=where)
    return Message(
        "must be valid {encoding}{where}", code="invalid_encoding", encoding=encoding, where=where
    )


def _decode_whole(data: bytes, encoding: str) -> tuple[str, tuple[Message, ...]] | None:
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
    return text, (
        Message.counted(
            "The last byte was half a character and is left out.",
            "The last {count} bytes were half a character and are left out.",
            count=len(rest),
        ),
    )


def _decode_replacing(data: bytes, encoding: str, certainty: Certainty) -> DecodedText:
    text = data.decode(encoding, "replace")
    notes: tuple[Message, ...] = ()
    if lost := text.count(_LOST):
        notes = (
            Message.counted(
                "1 place cannot be decoded and became U+FFFD.",
                "{count} places cannot be decoded and became U+FFFD.",
                count=lost,
            ),
        )
    return DecodedText(text, encoding, certainty, notes)


def _decode_utf8(data: bytes, usual: _Usual) -> DecodedText | None:
    if data.isascii():
        return None if b"\0" in data else _decode_ascii(data)
    whole = _decode_whole(data, "utf-8")
    if whole is None:
        return None
    text, notes = whole
    if notes and text.isascii():
        # This is half a character of UTF-8, or a whole one of another encoding.
        return None
    beyond = data.translate(None, _ASCII)
    # One or two characters of two bytes may be of another encoding.
    sure = len(beyond) >= 8 or any(byte >= 0xE0 for byte in beyond)
    if (
        not sure
        and _is_common_chinese(data, "utf-8")
        and (not _TWO_BYTES.fullmatch(beyond) or usual() == "gb18030")
    ):
        # Of the common words of two characters, one in thirty is valid UTF-8.
        return DecodedText(data.decode("gb18030"), "gb18030", "guessed")
    return DecodedText(text, "utf-8", "certain" if sure else "likely", notes)


def _decode_ascii(data: bytes) -> DecodedText:
    return DecodedText(data.decode(), "utf-8", "certain")


def _decode_wide_units(data: bytes) -> DecodedText | None:
    """Read UTF-16 or UTF-32 without a mark."""
    encoding = detect_wide_units(data[:_SAMPLE])
    is_ascii = data.isascii()
    if encoding is None or (is_ascii and not _are_ascii_units(data[:_SAMPLE], encoding)):
        # ASCII with NULs that no encoding explains stays ASCII.
        return _decode_ascii(data) if is_ascii else None
    certainty: Certainty = "likely" if len(data) >= 4 * _ENOUGH else "guessed"
    if certainty == "guessed" and _is_common_chinese(data, encoding):
        return None
    whole = _decode_whole(data, encoding)
    if whole is None:
        return _decode_replacing(data, encoding, certainty)
    return DecodedText(whole[0], encoding, certainty, whole[1])


def _are_ascii_units(sample: bytes, encoding: str) -> bool:
    """Return whether ASCII and NULs may be units of two or four bytes.

    Two letters together are a Chinese character by chance, and a NUL between letters shifts them.
    """
    text = sample.decode(encoding, "replace")
    others = [ord(c) for c in text if not c.isascii()]
    # Cyrillic and other letters of one byte and a small one are below.
    pairs = [code for code in others if code >= 0x2000]
    if len(text) >= 2 * _ENOUGH and len(pairs) > 0.1 * len(text):
        return False
    # A line end that is not a unit of its own shifts what follows, or stands in another unit.
    ends = text.count("\n") + text.count("\r")
    shifted = sum(code & 0xFF in _LINE_ENDS for code in pairs)
    shifted += sum(code in (0x0A0D, 0x0D0A) for code in others)
    if not ends and len(others) <= 0.1 * len(text):
        shifted += sum(code >> 8 in _LINE_ENDS for code in others)
    return shifted <= ends


def _decode_eight_bits(data: bytes, declared: str | None, usual: _Usual) -> DecodedText:
    """Decode non-ASCII bytes that are not valid UTF-8."""
    beyond = data.translate(None, _ASCII)
    readable = data.decode("utf-8", "ignore").encode().translate(None, _ASCII)
    wide = sum(map(len, (run.translate(None, _ASCII) for run in _WIDE.findall(data))))
    if len(readable) >= 0.9 * len(beyond) or (2 * wide >= len(beyond) and wide >= 12):
        return _decode_replacing(data, "utf-8", "likely")
    encoding = _guess_legacy(data)
    certainty: Certainty = "guessed" if len(beyond) < 2 * _ENOUGH else "likely"
    if certainty == "guessed":
        encoding = (
            _find_declared(data, declared)
            or _find_declared(data, usual())
            or ("gb18030" if _is_common_chinese(data, encoding) else encoding)
        )
    whole = _decode_whole(data, encoding)
    if whole is None:
        return _decode_replacing(data, encoding, "guessed")
    text, notes = whole
    if encoding in _EAST_ASIAN and measure_common_share(text[:_SAMPLE]) < 0.1:
        certainty = "guessed"
    return DecodedText(text, encoding, certainty, notes)


def _guess_legacy(data: bytes) -> str:
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
    guess = find_codec(_core.guess_encoding(sample)) or "cp1252"
    if guess not in _EAST_ASIAN:
        shorter = find_codec(_core.guess_encoding(sample[:-1]))
        guess = shorter if shorter in _EAST_ASIAN else guess
    best, best_merit = guess, _rate(sample, guess) if guess in _EAST_ASIAN else 0.1
    # One or two characters may be frequent by chance.
    few = len(sample.translate(None, _ASCII)) < 8
    for encoding in () if few else _EAST_ASIAN:
        merit = _rate(sample, encoding)
        if encoding != guess and merit > best_merit + 0.05:
            best, best_merit = encoding, merit
    return best


def _rate(sample: bytes, encoding: str) -> float:
    """Return the share of frequent characters, less a penalty for undecodable ones."""
    text = sample.decode(encoding, "replace")
    beyond = sum(1 for c in text if c > "\x7f")
    return measure_common_share(text) - 4 * text.count(_LOST) / max(beyond, 1)


def _is_common_chinese(data: bytes, guess: str) -> bool:
    """Return whether a few characters are Chinese in GB2312, at least half of them common ones.

    Korean words have the same bytes; their frequent syllables show which of the two they are.
    """
    runs = _HIGH_RUNS.findall(data)
    leads = [lead for run in runs for lead in run[::2] if lead >= _COMMON_LEADS.start]
    common = sum(lead in _COMMON_LEADS for lead in leads)
    if not all(map(_GB2312.fullmatch, runs)) or not leads or 2 * common < len(leads):
        return False
    # One frequent syllable may be chance.
    korean, chinese = (count_common(data.decode(name, "replace")) for name in ("cp949", "gb18030"))
    return guess != "cp949" or korean < chinese + 2


def find_codec(name: str) -> str | None:
    """Return Python's name of an encoding of text, or of the larger set that contains it."""
    try:
        name = codecs.lookup(name).name
        # Names such as `base64` are codecs, but not for text.
        "".encode(name)
    except (LookupError, UnicodeError, ValueError):
        return None
    if name in _NO_FILES:
        return None
    return _SUPERSETS.get(name, name if name.startswith("utf") else name.replace("-", "_"))


def _find_declared(data: bytes, declared: str | None) -> str | None:
    """Return the codec of a declared encoding of one or two bytes, if the data are valid in it."""
    name = find_codec(declared or "")
    if name is None or name.startswith(("utf", "iso2022")):
        return None
    try:
        data.decode(name)
    except ValueError:
        return None
    return name
