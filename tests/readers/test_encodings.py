"""Text in any common encoding is read right, and damage costs no more than itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.readers import UnreadableFileError, read_bytes
from neardup.readers.encodings import decode

# Sentences of everyday text; a text of some of them in any order is one of many.
SIMPLIFIED = (
    "上周末我和两个朋友去郊外的湖边散步，天气很好。",
    "湖面上有许多野鸭，我们一边走一边谈论最近读过的书。",
    "他说这本书写得不错，但是结尾让人失望！",
    "回家的路上下起了小雨，大家都没有带伞。",
    "第二天早上，老师在课堂上问我们周末做了什么？",
    "实验结果表明，温度对反应速度的影响比预期的要大得多。",
    "本文的主要贡献在于提出了一种新的计算方法。",
)
TRADITIONAL = (
    "上週末我和兩個朋友去郊外的湖邊散步，天氣很好。",
    "湖面上有許多野鴨，我們一邊走一邊談論最近讀過的書。",
    "他說這本書寫得不錯，但是結尾讓人失望！",
    "回家的路上下起了小雨，大家都沒有帶傘。",
    "實驗結果表明，溫度對反應速度的影響比預期的要大得多。",
    "本文的主要貢獻在於提出了一種新的計算方法。",
)
#: Those that say which they are.
MARKED = ("utf-8", "utf-8-sig", "utf-16", "utf-32")
OTHERS = {
    "We walked along the lake last weekend, and talked about the books we had read.": (
        "utf-16-le",
        "utf-16-be",
        "utf-32-le",
        "utf-32-be",
        "ascii",
    ),
    "先週末、友だち二人と郊外の湖のほとりを散歩しました。天気がよく、鴨がたくさんいました。": (
        "utf-16-le",
        "utf-16-be",
        "cp932",
        "euc_jp",
    ),
    "В прошлые выходные мы с друзьями гуляли у озера и говорили о прочитанных книгах.": (
        "utf-16-le",
        "utf-16-be",
        "windows-1251",
        "koi8-r",
    ),
    "L'été dernier, nous nous sommes promenés près du lac où nagent des canards; ça m'a plu.": (
        "utf-16-le",
        "utf-16-be",
        "windows-1252",
    ),
    "지난 주말에 친구 두 명과 함께 호숫가를 산책했습니다. 날씨가 좋았습니다.": (
        "utf-16-le",
        "utf-16-be",
        "cp949",
    ),
}


def texts(sentences):
    return st.lists(st.sampled_from(sentences), min_size=3, max_size=12).map("\r\n".join)


@given(
    texts(SIMPLIFIED),
    st.sampled_from(
        [
            *MARKED,
            "utf-16-le",
            "utf-16-be",
            "utf-32-le",
            "utf-32-be",
            "gb2312",
            "gbk",
            "gb18030",
        ]
    ),
)
def test_simplified_chinese(text, encoding):
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert decoded.notes == ()
    assert decoded.certainty == ("certain" if encoding in MARKED else "likely")


@given(
    texts(TRADITIONAL),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "big5", "big5hkscs", "gbk"]),
)
def test_traditional_chinese(text, encoding):
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.notes) == (text, ())


@pytest.mark.parametrize(
    ("text", "encoding"), [(text, encoding) for text, many in OTHERS.items() for encoding in many]
)
def test_other_languages(text, encoding):
    assert decode(text.encode(encoding)).text == text


@given(st.binary(max_size=400))
def test_any_bytes_become_text(data):
    decoded = decode(data)
    decoded.text.encode()
    assert decode(data) == decoded


@given(texts(SIMPLIFIED), st.sampled_from(["utf-8", "gb18030", "utf-16-le", "utf-16-be"]))
def test_half_a_character_at_the_end(text, encoding):
    # A character of one byte would be whole, or none.
    text = text.rstrip("！？。") + "书"
    decoded = decode(text.encode(encoding)[:-1])
    assert decoded.text == text[:-1]
    (note,) = decoded.notes
    assert "half a character" in note


def test_a_bad_byte_costs_itself():
    text = "".join(SIMPLIFIED)
    for encoding in ("utf-8", "gb18030"):
        data = text.encode(encoding)
        broken = data[:60] + b"\xff" + data[60:]
        decoded = decode(broken)
        assert decoded.text.replace("\ufffd", "") in text or decoded.text.count("\ufffd") == 1
        assert decoded.text.endswith(SIMPLIFIED[-1])
        assert "U+FFFD" in decoded.notes[-1]


def test_a_file_of_two_encodings_is_refused():
    text = "".join(SIMPLIFIED)
    with pytest.raises(UnreadableFileError, match=r"one encoding. Got \d+ places that"):
        read_bytes(text.encode() * 2 + text.encode("gb18030"), "a.txt")


def test_nuls_stay():
    assert decode("天气\0很好，我们出门".encode()).text == "天气\0很好，我们出门"
    assert decode(b"a\0b, and so on\0\0").text == "a\0b, and so on\0\0"


def test_what_a_file_declares_is_a_hint():
    short = "文書".encode("big5")
    assert decode(short, declared="Big5").text == "文書"
    long = "".join(SIMPLIFIED).encode("gb18030")
    for declared in ("utf-8", "big5", "base64", "klingon", "idna"):
        assert decode(long, declared=declared).encoding == "gb18030"


def test_short_text_is_a_guess():
    decoded = decode("好".encode("gbk"))
    assert decoded.certainty == "guessed"
    assert decode(b"").certainty == "certain"


@pytest.mark.slow
def test_time_is_linear():
    """Quadratic time would be hours for some of these, so that they end at all is the check."""
    text = "\n".join(SIMPLIFIED)
    hostile = [
        text.encode("gb18030") * 4000,
        text.encode() * 4000 + text.encode("gb18030") * 4000,
        (text.encode("gb18030") + b"\xff") * 4000,
        text.replace("\n", "").encode() * 4000 + b"\xb0" * 1_000_001,
        bytes(range(256)) * 10_000,
    ]
    for data in hostile:
        assert decode(data).text
