"""A bad record is a null text and a problem, and the run goes on."""

import json
import os
import pickle
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pytest
from tests.kit.formats import as_arrow, serialize

from neardup.base.messages import Message, in_language
from neardup.exceptions import InputError
from neardup.readers import Problem, open_sources, open_table
from neardup.readers.problem_groups import ProblemGroups

#: Lines that have a problem: its field, its reason, and what is shown of the line.
BAD_LINES = [
    (b'{"text":"a"', None, "invalid_json", '{"text":"a"'),
    (b'{"text":NaN}', None, "invalid_json", '{"text":NaN}'),
    (b"\x1b[31m", None, "invalid_json", r"\x1b[31m"),
    (b"[1, 2]", None, "no_object", "[1, 2]"),
    (b'"text"', None, "no_object", '"text"'),
    (b"null", None, "no_object", "null"),
    (b'{"text":"a\xff"}', None, "invalid_utf8", '{"text":"a\\xff"}'),
    (b'{"text":"\\ud800"}', None, "lone_surrogate", '{"text":"\\ud800"}'),
    (b'{"text":"a","z":"\\udc00x"}', None, "lone_surrogate", '{"text":"a","z":"\\udc00x"}'),
    (b"[" * 5000, None, "invalid_json", "[" * 59 + "…"),
    (b'{"text":12}', "text", "not_a_text", "12"),
    (b'{"text":null}', "text", "not_a_text", "null"),
    (b'{"text":["a",1]}', "text", "not_a_text", '["a",1]'),
    (b'{"text":5,"content":"c","body":"b"}', "text", "not_a_text", "5"),
]
#: And where the field is named.
MISSING_FIELDS = [
    (b'{"body":"a","n":1}', "text", "no_such_field", "a record with 'body', 'n'"),
    (b"{}", "text", "no_such_field", "a record with no field"),
]


def parts(problem):
    return problem.source, problem.record, problem.field, problem.reason.code, problem.found


@pytest.mark.parametrize(
    ("line", "field", "reason", "found", "options"),
    [
        *((*case, {}) for case in BAD_LINES),
        *((*case, {"text_field": "text"}) for case in BAD_LINES + MISSING_FIELDS),
    ],
)
def test_bad_line_is_a_problem_between_good_ones(read, make, line, field, reason, found, options):
    got = read(make("a.jsonl", b'{"text":"ok"}\n' + line + b'\n{"text":"ok"}\n'), **options)
    assert got["texts"] == ["ok", None, "ok"]
    assert got["ids"] == ["a.jsonl:1", "a.jsonl:2", "a.jsonl:3"]
    (problem,) = got["problems"]
    assert parts(problem) == ("a.jsonl", 2, field, reason, found)
    assert (problem.remedy == "") is (reason != "invalid_utf8")
    assert "\n" not in str(problem)


def test_a_sentence_as_a_whole(read, make):
    (first, second) = read(make("a.jsonl", b'{"text": "a",, "b": 1}\n{"text":"a\xff"}'))["problems"]
    assert "at character 14" in first.reason
    assert str(second) == (
        "a.jsonl: record 2: must be valid UTF-8 (byte 11 of the record is not)."
        ' Got {"text":"a\\xff"} instead.'
        " If the file is in another encoding, name it with encoding=."
    )


def test_missing_id_and_text_field_are_problems(read, make):
    got = read(make("a.jsonl", b'{"text":"a"}\n{"text":"b","url":"u"}'), id_field="url")
    assert (got["texts"], got["ids"]) == (["a", "b"], ["a.jsonl:1", "u"])
    assert [parts(p)[1:4] for p in got["problems"]] == [(1, "url", "no_such_field")]
    got = read(make("b.jsonl", b'{"text":"a"}\n{"headline":"a"}'))
    assert [parts(p)[1:4] for p in got["problems"]] == [(2, None, "no_text_field")]


OK = b'{"text": "ok"}'


def many(*lines):
    """Return lines of which all but the first come 5,000 times."""
    return b"\n".join([lines[0], *lines[1:] * 5_000])


def in_parquet(first, other):
    texts = pa.array([first, *[other] * 5_000], pa.string())
    return serialize(pa.table({"text": texts}), "parquet", row_group_size=1000)


@pytest.mark.parametrize(
    ("name", "data", "codes", "options"),
    [
        (
            "a.jsonl",
            many(OK, b"x", b"1", b'{"a": 1}', b'{"text": 1}', b'{"text": "\\ud800"}', b"\xff"),
            "invalid_json no_object no_text_field not_a_text lone_surrogate invalid_utf8",
            {},
        ),
        ("a.jsonl", many(OK, b'{"text": "%d"}' % 10**30), "too_long", {"max_text": 30}),
        ("a.csv", many(b"id,text", b"1,2,3", b"1,\xff"), "invalid_csv invalid_utf8", {}),
        ("a.parquet", in_parquet("ok", None), "not_a_text", {}),
        ("a.parquet", in_parquet("ok", "too long"), "too_long", {"max_text": 4}),
        (
            "rows",
            many(OK, b"1", b'{"a": 1}', b'{"text": 1}'),
            "invalid_json no_text_field not_a_text",
            {},
        ),
    ],
)
def test_problems_beyond_a_thousand_of_a_kind_are_counted(make, name, data, codes, options):
    codes, is_table = codes.split(), name == "rows"
    if is_table:
        source = open_table([orjson.loads(line) for line in data.splitlines()])
    else:
        source = open_sources([make(name, data)], **options)
    batches = list(source.batches())
    assert batches[-1].ids[-1].as_py().rpartition(":")[2] == str(source.records - is_table)
    problems = [problem for batch in batches for problem in batch.problems]
    # One object per bad record is what a million of them cost.
    assert len(problems) < 1200 * len(codes)
    counts, grouped = Counter(), ProblemGroups()
    for problem in problems:
        counts[problem.reason.code] += problem.count
        grouped.add(problem)
    assert counts == dict.fromkeys(codes, 5_000)
    assert [count for _, count in grouped.lines()] == [5_000] * len(codes)


def test_title_missing_in_all_records_is_a_problem(read, make):
    names = [
        make("a.jsonl", b'{"text":"a"}\nnonsense\n{"text":"b"}\n' * 1500),
        make("b.jsonl", b'{"text":"a"}\n{"text":5,"headline":null}\n'),
        make("c.jsonl", b""),
        make("t/d.txt", b"d"),
    ]
    for titles in (None, False):
        for size in (100, 1 << 22):
            got = read(names, title_field="headline", titles=titles, batch_bytes=size)
            of_source = [parts(p)[:4] for p in got["problems"] if p.record is None]
            reason = "no_such_field"
            assert of_source == [("a.jsonl", None, "headline", reason)]
            assert sum(p.count for p in got["problems"]) == 1500 + 1 + 1
    assert len(read(make("e.jsonl", b"nonsense"), title_field="headline")["problems"]) == 1


def test_names_on_one_line(read, make):
    name = make("a\n\x1b\u2028b.jsonl", b'nonsense\n{"text":"x"}')
    got = read(name)
    assert got["ids"] == [f"a\\n\\x1b\\u2028b.jsonl:{i}" for i in (1, 2)]
    assert got["problems"][0].source == "a\\n\\x1b\\u2028b.jsonl"
    (problem,) = read(make("b.jsonl", b'{"x\\ny":"a"}\n{}'), text_field="x\ny")["problems"]
    assert "field 'x\\ny': must be present" in str(problem)
    (problem,) = read(make("a.tsv", '"text"\tid\n"good"\ta\n"a"b\tc\n'))["problems"]
    assert r"'\t' expected after" in str(problem)
    assert str(problem).isprintable()


def test_csv_rows(read, make):
    rows = b'id,text\n1,a\n2\n3,c,d\n4,"e"f\n5,\xff\n6,g\n'
    got = read(make("a.csv", rows))
    assert got["texts"] == ["a", None, None, None, None, "g"]
    assert got["ids"] == ["1", "a.csv:2", "a.csv:3", "a.csv:4", "a.csv:5", "6"]
    assert [parts(p)[1:] for p in got["problems"]] == [
        (2, None, "invalid_csv", "1: 2"),
        (3, None, "invalid_csv", "3: 3,c,d"),
        (4, None, "invalid_csv", '4,"e"f'),
        (5, None, "invalid_utf8", r"5,\xff"),
    ]
    got = read(make("b.csv", b'text\na\n"b\nc\nd\n'))
    assert (got["texts"], got["problems"][0].reason.code) == (["a", None], "invalid_csv")


# Arrow refuses the whole dictionary of a Parquet file.
@pytest.mark.parametrize(
    ("format", "kind"),
    [
        *product(["parquet", "arrow", "arrows"], ["string", "view"]),
        *product(["arrow", "arrows"], ["dictionary"]),
    ],
)
def test_invalid_utf8_in_a_column_is_a_problem(read, make, format, kind):
    raw = pa.array([b"good", b"b\xffd", b"fine"], pa.binary()).view(pa.string())
    if kind == "view":
        raw = raw.view(pa.binary()).cast(pa.binary_view()).view(pa.string_view())
    elif kind == "dictionary":
        raw = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), raw)
    lists = pa.array([[b"x"], [b"\xff"], []], pa.list_(pa.binary())).view(pa.list_(pa.string()))
    table = pa.table({"text": raw, "id": [1, 2, 3], "tags": lists})
    name = make(f"a.{format}", serialize(table, format))
    got = read(name, extra_fields=["tags"])
    assert got["texts"] == ["good", None, "fine"]
    assert got["extra"]["tags"] == [["x"], None, []]
    (problem,) = got["problems"]
    assert parts(problem) == (f"a.{format}", 2, "text", "invalid_utf8", r"b\xffd")


def test_parquet_with_a_damaged_page(read, make):
    texts = [os.urandom(40).hex() for _ in range(9000)]
    table = pa.table({"text": texts})
    data = bytearray(serialize(table, "parquet", row_group_size=4500, compression="gzip"))
    middle = len(data) * 3 // 4
    data[middle : middle + 2000] = bytes(2000)
    name = make("a.parquet", bytes(data))
    got, small = read(name), read(name, 100, 7)
    assert got["texts"] == texts[: len(got["texts"])] == small["texts"]
    assert len(got["texts"]) >= 4096
    assert "damaged" in str(got["problems"][0])


@pytest.mark.parametrize("format", ["parquet", "arrow", "arrows", "arrows zstd"])
def test_columns_with_any_byte_changed(read, make, format):
    """Names of columns that are not UTF-8, and indices beyond a dictionary, among others."""
    texts = pa.array(["上游水位", "下游水位", "上游水位"]).dictionary_encode()
    columns = {"title": pa.array(["甲", "乙", "丙"]), "text": texts}
    format, _, compression = format.partition(" ")
    if format != "parquet":
        columns["title"] = columns["title"].cast(pa.string_view())
        columns["tags"] = pa.array([[{"a": "x"}], [], None])
    data = serialize(pa.table(columns), format, compression=compression or None)
    refused = problems = 0
    fields = {"extra_fields": ["tags"]} if format != "parquet" else {}
    for index in range(4, len(data), 4):
        name = make(f"a.{format}", data[:index] + bytes([data[index] ^ 0xFF]) + data[index + 1 :])
        try:
            problems += bool(read(name, titles=True, **fields)["problems"])
            list(open_sources([name]).sources[0].read_rows())
        except InputError:
            refused += 1
    assert refused > 50
    assert problems


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("format", ["arrow", "arrows"])
def test_arrow_cut_after_some_rows(read, make, format, compression):
    texts = [f"渡口的渡轮{i}点启航" for i in range(400)]
    data = as_arrow(pa.table({"text": texts, "id": range(400)}), format, 100, compression)
    cut = make(f"cut.{format}", data[: len(data) * 3 // 4])
    if format == "arrow":
        with pytest.raises(InputError, match=r"a file that does not end like one"):
            open_sources([cut])
    else:
        got, small = read(cut), read(cut, 100, 7)
        assert got["texts"] == texts[:200] == small["texts"]
        (problem,) = got["problems"]
        assert parts(problem)[1:4] == (201, None, "damaged_file")


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("batch_bytes", [1, 1 << 22])
def test_truncated_stream(read, make, suffix, batch_bytes):
    rng = np.random.default_rng(1)
    lines = [b'{"text":"%s"}\n' % rng.bytes(300).hex().encode() for _ in range(3000)]
    name = make(f"a.jsonl{suffix}", b"".join(lines))
    whole = Path(name).read_bytes()
    Path(name).write_bytes(whole[: len(whole) // 2])
    got = read(name, batch_bytes=batch_bytes)
    count = len(got["texts"])
    assert 1000 < count < 2000
    assert [b'{"text":"%s"}\n' % t.encode() for t in got["texts"]] == lines[:count]
    result = f"{count} records and then damaged data"
    assert [parts(p) for p in got["problems"]] == [(name, count + 1, None, "damaged_file", result)]


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".xz", ".bz2"])
def test_file_cut_in_its_first_bytes_is_a_problem(read, make, suffix):
    whole = Path(make(f"a.txt{suffix}", "a")).read_bytes()
    for size in range(1, 5):
        Path(f"a.txt{suffix}").write_bytes(whole[:size])
        got = read(f"a.txt{suffix}")
        assert (got["texts"], len(got["problems"])) == ([None], 1)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_garbage_after_a_good_frame(read, make, pack, suffix, format):
    data = b'{"text":"a"}\n{"text":"b"}\n' if format == "jsonl" else b"text\na\nb\n"
    name = make(f"a.{format}{suffix}")
    Path(name).write_bytes(pack(data, suffix) + b"garbage, not a frame")
    # Damage in one source leaves the next.
    got = read([name, make("next.jsonl", b'{"text":"c"}\n')])
    assert got["texts"] == ["a", "b", "c"]
    assert [parts(p)[:4] for p in got["problems"]] == [(name, 3, None, "damaged_file")]
    Path(name).write_bytes(b"\x00\x01\x02 nonsense")
    if format == "jsonl":
        got = read(name)
        assert (got["texts"], len(got["problems"])) == ([], 1)


def test_text_files(read, make):
    text = "上周末我和两个朋友去郊外的湖边散步，天气很好。"
    make("t/a.txt", text.encode("gb18030"))
    make("t/b.txt", text)
    make("t/c.txt", text.encode("gb18030"))
    make("t/d.txt", (text + "好").encode()[:-1])
    got = read("t")
    assert got["texts"] == [text] * 4
    assert (got["problems"], got["problem_lines"]) == ([], [])
    sources = open_sources(["t"])
    list(sources.batches())
    rows = [row for rows in sources.sources[0].read_rows() for row in rows]
    assert rows == [{"id": f"{name}.txt", "text": text} for name in "abcd"]
    assert got["notes"] == [
        "t/a.txt: read as gb18030 (likely). 2 in all (t/a.txt, t/c.txt).",
        "t/d.txt: the last 2 bytes were half a character and are left out.",
    ]
    make("u/a.txt", bytes(100))
    make("u/b.docx", b"PK\x03\x04 and no more")
    make("u/c.pdf", b"%PDF-1.7")
    make("u/d.txt", "好")
    got = read("u")
    assert got["texts"] == [None, None, None, "好"]
    assert [parts(p)[:4] for p in got["problems"]] == [
        ("u/a.txt", 1, None, "not_a_document"),
        ("u/b.docx", 1, None, "damaged_file"),
        ("u/c.pdf", 1, None, "damaged_file"),
    ]


def test_notes_on_many_files():
    notes = ProblemGroups()
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        certainty = Message("guessed" if name == "b.txt" else "likely")
        note = Message("Read as {encoding} ({certainty}).", encoding="big5", certainty=certainty)
        notes.add_note(name, note)
    for count in (1, 7):
        notes.add_note("c.txt", Message.counted("{count} NUL", "{count} NULs", count=count))
    lines = [line for line, _ in notes.lines()]
    assert lines == [
        "a.txt: read as big5 (likely). 3 in all (a.txt, c.txt, d.txt).",
        "b.txt: read as big5 (guessed).",
        "c.txt: 1 NUL 2 in all (c.txt, c.txt).",
    ]
    assert in_language(lines[0], "zh") == (
        "a.txt：按 big5 编码读取（很可能正确）。共 3 处（a.txt, c.txt, d.txt）。"
    )


def test_a_problem_keeps_its_parts(make):
    make("a.jsonl", b'{"text": "x"}\noops\n\xff\n{"text": 7}\n')
    problems = [p for batch in open_sources(["a.jsonl"]).batches() for p in batch.problems]
    assert [p.reason.code for p in problems] == [
        "invalid_json",
        "invalid_utf8",
        "not_a_text",
    ]
    for problem in problems:
        chinese = in_language(problem, "zh")
        assert "条记录" in chinese
        for again in (
            pickle.loads(pickle.dumps(problem)),
            Problem.from_dict(json.loads(json.dumps(problem.to_dict()))),
        ):
            assert (again, in_language(again, "zh")) == (problem, chinese)


def test_problems_of_one_kind_are_grouped(make):
    make("a.jsonl", b'{"text": "x"}\n' + b'{"url": 1}\n' * 5 + b"oops\n[}\n")
    for index in range(5):
        make(f"d/{index}.csv", b"id,label\n1,2\n")
    make("d/a.jsonl", b'{"text": "x"}\n')
    grouped = ProblemGroups()
    for batch in open_sources(["a.jsonl", "d"]).batches():
        for problem in batch.problems:
            grouped.add(problem)
    lines = [line for line, _ in grouped.lines()]
    assert [in_language(line, "zh") for line in lines] == [
        "d/0.csv：未读取：应有文本列 'text', 'content' 或 'body'，实为 'id', 'label'。"
        "请用 text_field= 指定字段。共 5 处（d/0.csv, d/1.csv, d/2.csv, …）。",
        "a.jsonl：第 2 条记录：应有文本字段 'text', 'content' 或 'body'，实为一条记录，"
        "字段为：'url'。共 5 处（a.jsonl:2, a.jsonl:3, a.jsonl:4, …）。",
        "a.jsonl：第 7 条记录：应为有效的 JSON（第 1 个字符：unexpected character, expected a JSON "
        "value），实为 oops。共 2 处（a.jsonl:7, a.jsonl:8）。",
    ]
