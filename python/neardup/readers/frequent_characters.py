"""Characters that are frequent in texts, by which a right decoding is told from a wrong one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from neardup.base.lazy import np

if TYPE_CHECKING:
    import numpy.typing as npt

# Frequent characters: in Chinese text three characters in ten, in a wrong decoding about one
# in fifty; and the first 65,536 characters that texts have at all.
FREQUENT_CHINESE = (
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对"
    "可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公"
    "同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正"
    "名定女问力机给等几很业最间新什打便位因重被走电第门相次东政海口使教西再平真听世气信北少关并内"
    "這來國個說們為時會著過學對裡後麼沒於還發當無開見經頭動兩長樣現將與進實點種聲話問機幾業間電門"
    "東氣關並"
)
_PUNCTUATION = "，。、；：？！“”‘’（）《》「」『』—…·\u3000"
_HANGUL = "이다는을가에의고한하지로기도나사은자서시를대어아인들니리"

_ASCII_CODES = [9, 10, 13, *range(0x20, 0x7F)]
_RANGES = (
    (0xA0, 0x0590),
    (0x0590, 0x0700),
    (0x0900, 0x0E80),
    (0x1E00, 0x2070),
    (0x20A0, 0x20D0),
    (0x2100, 0x2300),
    (0x2460, 0x2700),
    (0x3000, 0x3100),
    (0x3400, 0xA000),
    (0xAC00, 0xD7A4),
    (0xFE30, 0xFE50),
    (0xFF00, 0xFFF0),
)
_FREQUENT_RANGES = ((0x3041, 0x3097), (0x0430, 0x0450), (0x30A2, 0x30F4))


def _make_table(
    characters: str, codes: list[int], ranges: Iterable[tuple[int, int]]
) -> npt.NDArray[np.bool_]:
    table = np.zeros(1 << 16, dtype=bool)
    table[[ord(c) for c in characters] + codes] = True
    for begin, end in ranges:
        table[begin:end] = True
    return table


@cache
def _make_table_of_texts() -> npt.NDArray[np.bool_]:
    """Return a table of the characters of the first plane that texts have at all."""
    return _make_table("", _ASCII_CODES, _RANGES)


@cache
def _make_common() -> npt.NDArray[np.bool_]:
    return _make_table(FREQUENT_CHINESE + _PUNCTUATION + _HANGUL, [], _FREQUENT_RANGES)


@cache
def _make_common_or_ascii() -> npt.NDArray[np.bool_]:
    """Return a table of the frequent characters and of ASCII."""
    return _make_common() | _make_table("", [10, 13, *range(0x20, 0x7B)], ())


def measure_common_share(text: str) -> float:
    """Return the share of frequent characters among the non-ASCII ones, in [0, 1]."""
    codes = _list_codes(text)
    return float(_make_common()[codes].mean()) if codes.size else 0.0


def count_common(text: str) -> int:
    """Return the number of frequent characters."""
    return int(_make_common()[_list_codes(text)].sum())


def _list_codes(text: str) -> npt.NDArray[np.uint32]:
    """Return the code points of the first plane that are not ASCII."""
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    return codes[(codes > 0x7F) & (codes < 1 << 16)]


def _measure_share(units: npt.NDArray[np.uint32], table: npt.NDArray[np.bool_], of: int) -> float:
    """Return how many units a table has, as a share."""
    return float(np.count_nonzero(table[units])) / of


def detect_wide_units(sample: bytes) -> str | None:
    """Return the encoding of two or four bytes per character that explains a sample, or None."""
    in_texts, common = _make_table_of_texts(), _make_common_or_ascii()
    for encoding, kind in (("utf-32-le", "<u4"), ("utf-32-be", ">u4")):
        wide = np.frombuffer(sample[: len(sample) // 4 * 4], kind)
        if wide.size and _measure_share(wide[wide < 1 << 16], in_texts, wide.size) >= 0.9:
            return encoding
    best, best_merit = None, 0.0
    for encoding, kind in (("utf-16-le", "<u2"), ("utf-16-be", ">u2")):
        units = np.frombuffer(sample[: len(sample) // 2 * 2], kind)
        if not units.size or _measure_share(units, in_texts, units.size) < 0.9:
            continue
        # Other two-byte text may also decode to such units, but not to frequent ones.
        merit = _measure_share(units, common, units.size)
        if merit >= 0.12 and merit > best_merit:
            best, best_merit = encoding, merit
    return best
