"""CSV and JSON lines in another encoding than UTF-8, and CSV with other delimiters."""

import json

import pytest

TRADITIONAL = ["湖面上有許多野鴨，我們一邊走一邊談論書。", "他說這本書寫得不錯！"]
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
    texts = TRADITIONAL if encoding.startswith("big5") else TEXTS
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
    rows = "".join(f"{i},row\n" for i in range(20_000))
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
    assert (problem.reason.code, problem.record) == ("invalid_utf8", 10)
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
        assert problem.reason.code == "invalid_encoding"
        assert problem.reason.startswith("must be valid gb18030")
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
