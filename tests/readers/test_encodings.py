"""Text, CSV and JSON lines in any common encoding are read right, and damage costs itself."""

import encodings
import json
from encodings import aliases
from pkgutil import iter_modules

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.exceptions import InputError, NeardupError, ParameterError
from neardup.readers import UnreadableFileError, open_sources, read_bytes, read_file
from neardup.readers.encodings import decode, find_codec

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
WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
#: Texts, and the encodings in which each is read beside the wide ones.
OTHERS = {
    "We walked along the lake last weekend, and talked about the books we had read.": "ascii",
    "先週末、友だちと湖のほとりを散歩しました。鴨がたくさんいました。": "cp932 euc_jp",
    "В прошлые выходные мы с друзьями гуляли у озера и говорили о книгах.": "cp1251 koi8-r",
    "L'été dernier, nous nous sommes promenés près du lac; ça m'a beaucoup plu.": "cp1252",
    "지난 주말에 친구 두 명과 함께 호숫가를 산책했습니다. 날씨가 좋았습니다.": "cp949",
}


def texts(sentences):
    return st.lists(st.sampled_from(sentences), min_size=3, max_size=12).map("\r\n".join)


CHINESE = {
    SIMPLIFIED: (*MARKED, *WIDE, "gb2312", "gbk", "gb18030"),
    TRADITIONAL: ("utf-8", *WIDE, "big5", "big5hkscs", "gbk"),
}


@pytest.mark.parametrize("sentences", CHINESE, ids=["simplified", "traditional"])
@given(data=st.data())
def test_chinese(sentences, data):
    text = data.draw(texts(sentences))
    encoding = data.draw(st.sampled_from(CHINESE[sentences]))
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.notes) == (text, ())
    assert decoded.certainty == ("certain" if encoding in MARKED else "likely")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((text, one) for text, many in OTHERS.items() for one in (*WIDE[:2], *many.split())),
        # A few characters.
        ("# 파일을 읽을 수 없습니다. 경로를 확인하세요.\nx = 1\n", "cp949"),
        ("날씨가 좋습니다.", "cp949"),
        ("設定を保存しますか。", "euc_jp"),
        ("設定を保存しますか。", "cp932"),
        ("# 設定檔案的說明\nx = 1\n", "big5"),
        ("Où êtes-vous? Créée à Paris, très naïve.", "cp1252"),
        ("größer", "cp1252"),
        ("Привет", "cp1251"),
        ("café", "utf-8"),
        ("Да", "utf-8"),
        ("天气\0很好，我们出门", "utf-8"),
        ("a\0b, and so on\0\0", "ascii"),
    ],
)
def test_other_languages_short_texts_and_nuls(text, encoding):
    assert decode(text.encode(encoding)).text == text


@given(texts(SIMPLIFIED), st.sampled_from(["utf-8", "gb18030", "utf-16-le", "utf-16-be"]))
def test_half_a_character_at_the_end(text, encoding):
    # A character of one byte would be whole, or none.
    text = text.rstrip("！？。") + "书"
    decoded = decode(text.encode(encoding)[:-1])
    assert decoded.text == text[:-1]
    (note,) = decoded.notes
    assert "half a character" in note


@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 3), ("gb18030", 2)])
def test_a_bad_byte_costs_itself(encoding, width):
    text = "".join(SIMPLIFIED)
    data = text.encode(encoding)
    decoded = decode(data[: 20 * width] + b"\xff" + data[20 * width :])
    assert decoded.text == f"{text[:20]}\ufffd{text[20:]}"
    assert "U+FFFD" in decoded.notes[-1]


def test_a_file_of_two_encodings_is_refused():
    text = "".join(SIMPLIFIED)
    with pytest.raises(UnreadableFileError, match=r"one encoding. Got \d+ places that"):
        read_bytes(text.encode() * 2 + text.encode("gb18030"), "a.txt")


def test_declared_encoding_is_a_hint():
    short = "文書".encode("big5")
    assert decode(short, declared="Big5").text == "文書"
    long = "".join(SIMPLIFIED).encode("gb18030")
    for declared in ("utf-8", "big5", "base64", "klingon", "idna"):
        assert decode(long, declared=declared).encoding == "gb18030"


#: Words of comments and names.
LINES = (
    "程序 里 的 注释 计数 你好 世界 测试 数据 文件 函数 变量 返回 结果 错误 用户 密码 登录",
    "设置 配置 主页 循环 数组 对象 类型 接口 网络 请求 中文 编码 说明 方法 参数 默认 名称",
    "标题 内容 作者 日期 时间 年 男 否 有 不 人 上海 北京 公司 姓名 电话 阈值 栅格 迭代",
    "渲染 缓存 线程 队列 图像 颜色 宽度 初始化 数据库 服务器 第一 修改 医院 同时 营业",
)
WORDS = [word for line in LINES for word in line.split()]


@pytest.mark.parametrize("form", ["{}", "# {}\nx = 1\n", "x = 1  # {}", "a: {} b"])
def test_a_few_chinese_characters_in_gbk(form):
    pairs = [(word, WORDS[i - step]) for i, word in enumerate(WORDS) for step in (3, 7, 19)]
    phrases = [*WORDS, *map("".join, pairs), *map(" ".join, pairs)]
    texts = [form.format(phrase) for phrase in phrases]
    assert [text for text in texts if decode(text.encode("gbk")).text != text] == []


def test_a_few_characters_are_read_as_the_other_files_are(read, make):
    names = [make(f"t/{i}.txt", text.encode("cp949")) for i, text in enumerate(("다시", "길에"))]
    (long,) = (text for text in OTHERS if "호숫가" in text)
    names.append(make("t/long.txt", long.encode("cp949")))
    make("t/binary.pdf", b"%PDF-1.7 " + "中文".encode("gbk") * 900)
    for paths in (names, "t"):
        texts = read(paths)["texts"]
        assert [text for text in texts if text is not None] == ["다시", "길에", long]
    # The one that is valid UTF-8 too.
    make("u/a.txt", "女".encode("gbk"))
    make("u/b.txt", "".join(SIMPLIFIED).encode("gbk"))
    assert read("u")["texts"][0] == "女"


def test_a_named_encoding(make):
    text = "Ελλαδα 中"
    name = make("a.txt", text.encode("gbk"))
    assert read_file(name, encoding="GBK").text == text
    assert read_file(name, encoding="GBK").notes == ()
    with pytest.raises(UnreadableFileError, match=r"valid utf-16 .*name it with encoding="):
        read_file(make("b.txt", b"abc"), encoding="utf-16")
    for wrong in ("klingon", "base64", "idna", "punycode", "", 7):
        with pytest.raises(ParameterError, match="name of an encoding"):
            read_file(name, encoding=wrong)
    assert find_codec("utf-8-sig") == "utf-8"


def test_short_text_is_a_guess():
    assert decode("好".encode("gbk")).certainty == "guessed"
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


def after_each(line, nul=b"%c\0"):
    return b"".join(nul % letter for letter in line)


#: Lines of ASCII letters with NULs between them, and whether they are refused as a file.
NULS = {
    "after each letter": (after_each, b"\n", True),
    "after each letter, with CRLF": (after_each, b"\r\n", True),
    "between letters": (lambda line: after_each(line)[:-1], b"\n", True),
    "before each letter": (lambda line: after_each(line, b"\0%c"), b"\n", True),
    "between words": (lambda line: line.replace(b" ", b"\0"), b"\n", True),
    "at line ends": (lambda line: line + b"\0", b"\n", False),
}


@pytest.mark.parametrize("lines", [2, 200])
@pytest.mark.parametrize(("change", "end", "is_refused"), NULS.values(), ids=NULS)
def test_ascii_with_nuls_is_not_utf_16(lines, change, end, is_refused):
    words = b"the ferry leaves at six and the old one at ten".split()
    rows = [b" ".join(words[n % 9 :]) for n in range(lines)]
    data = end.join(map(change, rows))
    assert decode(data).text == data.decode()
    if is_refused:
        with pytest.raises(UnreadableFileError, match="binary data"):
            read_bytes(data, "a.txt")
    else:
        assert "NUL characters are left out" in read_bytes(data, "a.txt").notes[-1]
    for encoding in ("utf-16-le", "utf-16-be"):
        text = end.join(rows).decode()
        assert decode(text.encode(encoding)).text == text


#: All codecs of Python, and names of some; what is no text, or no file, is refused.
CODECS = sorted(
    {*aliases.aliases.values(), *(module.name for module in iter_modules(encodings.__path__))}
    | {"UTF16", "U32", "latin-1", "utf-8-sig", "rot13", "klingon"}
)
CONTENTS = {
    "a.jsonl": '{"text": "今天下雨。"}\n{"text": "abc"}\n'.encode(),
    "a.csv": "id,text\n1,今天下雨\n".encode(),
    "a.txt": "今天下雨，我们在家。\n".encode(),
    "a.html": "<p>今天下雨。</p>".encode(),
    "b.jsonl": bytes(range(256)),
    "b.csv": b"text\n" + bytes(range(256)),
    "b.txt": b"abc-8" * 3 + b"zzz",
}


def test_any_codec_of_python_works_or_is_refused_in_one_line(make):
    for name, data in CONTENTS.items():
        make(name, data)
    works, refusals = set(), []
    for codec in CODECS:
        for name in CONTENTS:
            try:
                sources = open_sources([name], encoding=codec)
                for batch in sources.batches():
                    batch.texts.validate(full=True)
                    works.add(codec)
            except NeardupError as error:
                refusals.append(str(error))
    assert not any("\n" in refusal for refusal in refusals)
    assert {"utf_8", "gb18030", "big5hkscs", "utf_16_le", "utf_7", "cp1252"} <= works
    assert not {"idna", "punycode", "base64_codec", "rot13", "undefined", "klingon"} & works


@pytest.mark.parametrize("name", ["utf-16", "utf-32"])
def test_wide_encoding_is_named_without_its_order(read, make, name):
    for order in ("", "-le", "-be"):
        path = make("c.jsonl", '{"text": "天气 and so on"}'.encode(name + order))
        assert read(path, encoding=name)["texts"] == ["天气 and so on"]
    with pytest.raises(InputError, match=f"must be valid {name}"):
        open_sources([make("a.jsonl", '{"text": "今天下雨。"}')], encoding=name)


OLD_TEXTS = ["湖面上有許多野鴨，我們一邊走一邊談論書。", "他說這本書寫得不錯！"]
TEXTS = ["一只狐狸跳过篱笆，", "湖面上有许多野鸭。", "他说这本书写得不错！"]


def as_json_lines(encoding, texts=TEXTS):
    lines = (json.dumps({"id": i, "text": t}, ensure_ascii=False) for i, t in enumerate(texts))
    return "\r\n".join([*lines, ""]).encode(encoding)


def as_csv(encoding, delimiter=",", texts=TEXTS):
    rows = (f'{i}{delimiter}"{text}"\r\n' for i, text in enumerate(texts))
    return f"id{delimiter}text\r\n{''.join(rows)}".encode(encoding)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("encoding", ["gb18030", "big5hkscs", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(("name", "content"), [("a.jsonl", as_json_lines), ("a.csv", as_csv)])
def test_detected(read, make, name, content, encoding, suffix):
    texts = OLD_TEXTS if encoding.startswith("big5") else TEXTS
    got = read(make(name + suffix, content(encoding, texts=texts)))
    assert (got["texts"], got["problems"]) == (texts, [])
    (note,) = got["notes"]
    assert "read as " in note


@pytest.mark.parametrize("batch_bytes", [10, 1 << 20])
@pytest.mark.parametrize(("name", "content"), [("a.jsonl", as_json_lines), ("a.csv", as_csv)])
def test_named(read, make, name, content, batch_bytes):
    for encoding in ("gbk", "utf-16-le", "iso2022_jp", "utf-8-sig"):
        texts = ["散歩", "天気"] if encoding == "iso2022_jp" else TEXTS
        data = content(encoding, texts=texts)
        got = read(make(name, data), encoding=encoding, batch_bytes=batch_bytes)
        assert (got["texts"], got["problems"], got["notes"]) == (texts, [], [])


def test_chinese_after_much_ascii(read, make):
    rows = "1,row\n" * 20_000
    got = read(make("a.csv", f"id,text\n{rows}x,{TEXTS[0]}\n".encode("gb18030")))
    assert (got["texts"][-1], got["problems"]) == (TEXTS[0], [])


@pytest.mark.parametrize(
    "wrong", [TEXTS[1].encode("gb18030"), "中文".encode("gb18030"), b"caf\xe9", b"a\xff"]
)
def test_single_lines_in_another_encoding_are_problems(read, make, wrong):
    good = "\n".join(f'{{"text": "{text}"}}' for text in TEXTS * 3).encode()
    got = read(make("a.jsonl", good + b'\n{"text": "' + wrong + b'"}\n{"text": "x"}'))
    assert got["texts"] == [*TEXTS * 3, None, "x"]
    (problem,) = got["problems"]
    assert problem.record == 10
    assert "must be valid UTF-8" in str(problem)
    got = read(make("a.csv", b"id,text\n1," + wrong + "\n2,湖面\n3,野鸭\n4,书".encode()))
    assert got["texts"] == [None, "湖面", "野鸭", "书"]


def test_invalid_in_the_named_encoding(read, make):
    for name, content in (("a.jsonl", as_json_lines), ("a.csv", as_csv)):
        lines = content("gbk").split(b"\r\n")
        lines[1] = (
            lines[1].replace(b'"', b"\xff", 3) if name == "a.csv" else lines[1][:-3] + b'\xff"}'
        )
        got = read(make(name, b"\n".join(lines)), encoding="gbk")
        (problem,) = got["problems"]
        assert "must be valid gb18030" in str(problem)
        assert sum(text is None for text in got["texts"]) == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t", ", ", "; "])
def test_delimiters(read, make, delimiter):
    data = as_csv("utf-8", delimiter, ["a, b", "c;d", ""])
    got = read(make("a.csv", data))
    assert (got["texts"], got["ids"]) == (["a, b", "c;d", ""], ["0", "1", "2"])
    got = read(make("a.csv", data.replace(b'"', b"").splitlines(keepends=True)[0]))
    assert (got["texts"], got["problems"]) == ([], [])


def test_blanks_around_names(read, make):
    got = read(make("a.csv", " id ,text , title\n1, a ,b\n"), titles=True)
    assert (got["ids"], got["texts"], got["titles"]) == (["1"], [" a "], ["b"])
    got = read(make("a.csv", 'text\n"a;b"\nc;d\n'))
    assert got["texts"] == ["a;b", "c;d"]
    got = read(make("a.csv", '"text","x;y;z"\na,b\n'))
    assert got["texts"] == ["a"]
