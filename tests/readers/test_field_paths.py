"""Fields as data has them: paths, several fields, lists; the same in every container."""

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.readers.conftest import read_all

import neardup
from neardup.exceptions import InputError
from neardup.readers import open_sources, open_table
from neardup.readers.paths import MISSING, change_texts, find_text, find_value

ROWS = [
    {
        "meta": {"id": f"n{number}"},
        "instruction": f"问题 {number}",
        "input": "" if number else "背景",
        "output": f"答案 {number}",
        "doc": {"text": f"正文 {number}", "words": 7},
        "messages": [{"role": "user", "content": "你好"}, {"content": f"回答 {number}"}],
        "lines": ["一", f"二 {number}"],
    }
    for number in range(3)
]
TABLE = pa.Table.from_pylist(ROWS)
WANTED = {
    "instruction,input,output": ["问题 0\n背景\n答案 0", "问题 1\n答案 1", "问题 2\n答案 2"],
    "instruction, doc.text": [f"问题 {n}\n正文 {n}" for n in range(3)],
    "doc.text": [f"正文 {n}" for n in range(3)],
    "messages[*].content": [f"你好\n回答 {n}" for n in range(3)],
    "lines": [f"一\n二 {n}" for n in range(3)],
    "lines[*]": [f"一\n二 {n}" for n in range(3)],
}
KINDS = ["jsonl", "parquet", "dicts", "table", "pandas", "polars"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def opened(kind, rows=ROWS, **fields):
    if kind == "jsonl":
        Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return open_sources(["a.jsonl"], **fields)
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), "a.parquet")
        return open_sources(["a.parquet"], **fields)
    containers = {
        "dicts": list,
        "table": pa.Table.from_pylist,
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
    }
    return open_table(containers[kind](rows), **fields)


def read_codes(source):
    got = read_all(source)
    return got["texts"], got["ids"], [problem.reason.code for problem in got["problems"]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WANTED)
def test_every_container_has_the_same_texts_and_ids(kind, name):
    source = opened(kind, text_field=name, id_field="meta.id")
    assert read_codes(source) == (WANTED[name], ["n0", "n1", "n2"], [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_of_the_data_comes_before_a_path(kind):
    rows = [{"a.b": "name", "a": {"b": "path"}, "a,c": "comma", "c": "c", "id.x": "7"}]
    for name, text in {"a.b": "name", "a,c": "comma", "a.b,c": "name\nc"}.items():
        assert read_codes(opened(kind, rows, text_field=name, id_field="id.x")) == (
            [text],
            ["7"],
            [],
        )


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_field_lists_the_existing_ones(kind):
    for name, missing in {
        "instruction,ouput": "'ouput'.*Did you mean 'output'",
        "doc.txt": "'doc.txt'.*'doc.text'.*Did you mean 'doc.text'",
        "messages.content": r"Did you mean 'messages\[\*\].content'",
    }.items():
        with pytest.raises(InputError, match=missing):
            opened(kind, text_field=name)
    if kind not in ("jsonl", "dicts"):
        with pytest.raises(InputError, match=r"'meta.idd'.*Did you mean 'meta.id'"):
            opened(kind, text_field="output", id_field="meta.idd")
        with pytest.raises(InputError, match=r"'doc.words' must hold text"):
            opened(kind, text_field="output,doc.words")


@pytest.mark.parametrize("kind", KINDS[:4])
def test_a_text_inside_of_a_field_is_named(kind):
    chats = [{"messages": row["messages"], "n": 1} for row in ROWS]
    with pytest.raises(InputError, match=r"Did you mean 'messages\[\*\].content'"):
        opened(kind, chats)
    if kind in ("jsonl", "dicts"):
        (batch,) = opened(kind, chats, text_field="messages").batches()
        assert all("'messages[*].content'" in problem.remedy for problem in batch.problems)


def test_broken_lines_are_not_taken_for_a_missing_field():
    Path("a.jsonl").write_text('{"messages": []}\n{"text": oops}\n{"text": "a"\n')
    problems = read_codes(open_sources(["a.jsonl"]))[2]
    assert problems == ["no_text_field", "invalid_json", "invalid_json"]


def test_missing_parts_and_other_values_are_problems():
    rows = [{"a": "x", "b": {"c": "y"}}, {"a": "x"}, {"a": 1, "b": {"c": "y"}}, {}, {"a": None}]
    texts = ["x\ny", "x", None, None, None]
    codes = ["not_a_text", "no_such_field", "no_such_field"]
    for kind in ("jsonl", "dicts"):
        got = read_codes(opened(kind, rows, text_field="a,b.c"))
        assert (got[0], got[2]) == (texts, codes)


def test_csv_columns_are_joined():
    Path("a.csv").write_text("q,a.b,n\nx,y,1\nx,y\n")
    assert read_codes(open_sources(["a.csv"], text_field="q,a.b"))[0] == ["x\ny", None]


def test_columns_of_mixed_objects_are_read():
    frame = pd.DataFrame({"doc": [{"text": "x", "n": 1}, {"text": "y", "n": "one"}]})
    assert read_codes(open_table(frame, text_field="doc.text"))[0] == ["x", "y"]


def test_invalid_utf8_inside_a_column_is_a_problem():
    bad = pa.StructArray.from_arrays([pa.array([b"ok", b"\xff"]).view(pa.string())], ["text"])
    for table in (pa.table({"doc": bad}), pa.table({"text": pa.array([["ok"], [None]])})):
        name = "doc.text" if "doc" in table.column_names else "text"
        assert read_codes(open_table(table, text_field=name))[0][0] == "ok"
    assert read_codes(open_table(pa.table({"doc": bad}), text_field="doc.text"))[2] == [
        "not_a_text"
    ]


@pytest.mark.parametrize("name", ["doc.text,lines", "messages[*].content"])
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_records_are_written_as_they_are(kind, name):
    opened(kind, [*ROWS, {**ROWS[1], "meta": {"id": "again"}}], text_field=name)
    source, output = f"a.{kind}", f"out.{kind}"
    options = {"text_field": name, "id_field": "meta.id"}
    options["removed"] = "no.jsonl"
    assert neardup.dedup_files(source, output, recipe="strict", **options).summary.kept < 4
    assert json.loads(Path("no.jsonl").read_text().splitlines()[-1])["id"] == "again"
    if kind == "jsonl":
        lines = Path(source).read_bytes().splitlines()
        assert set(Path(output).read_bytes().splitlines()) < set(lines)
    else:
        assert pq.read_table(output).schema == pq.read_table(source).schema


NAMES = st.sampled_from(["a", "b", "a.b", "a,b", "a[*]", "b[*].a"])
VALUES = st.recursive(
    st.none() | st.text("xyz", max_size=3) | st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
WORDS = st.text("xyz", max_size=3)
#: Records that have a text at a path.
HAVING = {
    "a": st.fixed_dictionaries({"a": WORDS | st.lists(WORDS, min_size=1)}),
    "a,b": st.fixed_dictionaries({"a": WORDS, "b": WORDS}),
    "a.b": st.fixed_dictionaries({"a": st.fixed_dictionaries({"b": WORDS})}),
    "b[*].a": st.fixed_dictionaries(
        {"b": st.lists(st.fixed_dictionaries({"a": WORDS}), min_size=1)}
    ),
    "a[*],b.a": st.fixed_dictionaries(
        {"a": st.lists(WORDS, min_size=1), "b": st.fixed_dictionaries({"a": WORDS})}
    ),
}


@given(st.dictionaries(NAMES, VALUES), st.sampled_from(sorted(HAVING)), st.data())
def test_a_text_is_changed_where_it_was_read(others, name, data):
    # A name of the data comes before a path.
    names = {name, *name.split(",")}
    record = {other: value for other, value in others.items() if other not in names}
    record |= data.draw(HAVING[name])
    text, seen = find_text(record, name), []
    same = change_texts(record, name, lambda part: seen.append(part) or part)
    assert same == record
    assert "\n".join(filter(None, seen)) == text
    changed = change_texts(record, name, str.upper)
    assert find_text(changed, name) == text.upper()


def test_a_path_of_nothing_is_missing():
    assert find_value({"a": {"b": 1}}, "a.c") is MISSING
    assert find_value({"a": [1]}, "a.b") is MISSING
    assert find_value("a", "a") is MISSING
    assert find_value({"a": [{"b": [{"c": 1}, {}]}, 2]}, "a[*].b[*].c") == [[1]]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_repeats_are_cut_out_of_their_field(kind):
    notice = "本站所有内容均由网友自行上传，版权归原作者所有。"
    rows = [
        {
            "id": n,
            "q": f"第{n}个问题的内容是什么，请详细说明。",
            "doc": {"a": [f"{notice}答{n}", "好"]},
        }
        for n in range(4)
    ]
    opened(kind, rows, text_field="q,doc.a")
    out = f"out.{kind}"
    neardup.repeats_files([f"a.{kind}"], remove=out, text_field="q,doc.a", keep="none", documents=3)
    written = next(iter(open_sources([out], text_field="q").sources[0].read_rows()))
    wanted = [{**row, "doc": {"a": [f"答{row['id']}", "好"]}} for row in rows]
    assert written == wanted


def test_an_extra_field_of_json_lines_may_be_at_a_path(tmp_path):
    records = [
        {"text": "a", "meta": {"n": 1}},
        {"text": "b", "meta.n": 2, "meta": {"n": 1}},
        {"text": "c", "meta": 3, "parts": [{"n": 4}, {}, {"n": 5}]},
        {"text": "d"},
        # The core leaves it to the slower reader.
        {"text": "e", "meta": {"n": 6, "deep": json.loads("[" * 126 + "]" * 126)}},
    ]
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    names = ("meta.n", "parts[*].n", "meta")
    (batch,) = open_sources([file], extra_fields=names).batches()
    assert batch.extra["meta.n"] == [1, 2, None, None, 6]
    assert batch.extra["parts[*].n"] == [None, None, [4, 5], None, None]
    assert [bool(value) for value in batch.extra["meta"]] == [True, True, True, False, True]
    assert batch.problems == []


# JSON lines: columns that the core reads, and records that are deep or have large numbers.


#: More than Python's own JSON parser can take, less than what the reader's parser refuses.
DEEP = "[" * 1000 + "]" * 1000
TEXT = "市图书馆将于周六上午九点重新开放，读者凭身份证入馆。"


def line(index, deep=DEEP, **others):
    rest = json.dumps({"id": index, "text": TEXT * 3 + "甲乙丙丁"[index], **others})
    return f'{{"n":{deep},{rest[1:]}\n'


def reasons(problems):
    return [(problem.record, problem.field, str(problem.reason)) for problem in problems]


@pytest.mark.parametrize("extra", [[], ["n"]])
def test_too_deeply_nested_record_is_a_problem(read, make, extra):
    brackets = '\\"[' * 200
    nested = [f'{"[" * levels}"{brackets}"{"]" * levels}' for levels in (127, 128, 900)]
    got = read(make("a.jsonl", "".join(line(0, deep) for deep in nested)), extra_fields=extra)
    assert [text is None for text in got["texts"]] == [False, True, True]
    assert reasons(got["problems"]) == [
        (number, None, "must be nested at most 128 levels deep") for number in (2, 3)
    ]


@pytest.mark.parametrize("titles", [True, False])
@pytest.mark.parametrize("id_field", [None, "id"])
def test_an_id_beyond_64_bits_is_a_problem(read, make, id_field, titles):
    numbers = [2**64 - 1, -(2**63), 2**64, -(2**63) - 1, int("9" * 308)]
    lines = [f'{{"text":"{2**70}","id":{number}}}\n' for number in numbers]
    got = read(make("a.jsonl", "".join(lines)), id_field=id_field, titles=titles)
    assert got["ids"] == [str(2**64 - 1), str(-(2**63)), *(f"a.jsonl:{n}" for n in (3, 4, 5))]
    assert got["texts"] == [str(2**70)] * 5
    assert reasons(got["problems"]) == [
        (number, "id", "must be text or an integer of at most 64 bits") for number in (3, 4, 5)
    ]


def test_fractional_number_is_not_an_id(read, make):
    got = read(make("a.jsonl", '{"text":"a","id":1e300}\n{"text":"b","id":1e300,"n":1}\n'))
    assert (got["ids"], got["problems"]) == (["a.jsonl:1", "a.jsonl:2"], [])


def test_an_extra_value_beyond_64_bits_is_a_problem(read, make):
    lines = f'{{"text":"a","x":{2**64},"y":1e300}}\n{{"text":"b","x":7,"y":-2}}\n'
    got = read(make("a.jsonl", lines), extra_fields=["x", "y"])
    assert got["extra"] == {"x": [None, 7], "y": [1e300, -2]}
    assert [problem[:2] for problem in reasons(got["problems"])] == [(1, "x")]


def test_an_index_takes_deep_records_or_says_why(make):
    path = make("a.jsonl", "".join(line(number) for number in range(3)) + line(3, deep="1"))
    with neardup.Index("n.db", must_exist=False) as index:
        added = index.add_files([path], extra_fields=["n"])
        assert (added.new, len(added.problems)) == (1, 3)


def test_a_deep_recipe(make):
    path = make("deep.toml", f"a = {DEEP}")
    with pytest.raises(neardup.InputError, match=r"deep\.toml: not a TOML file"):
        neardup.load_recipe(path)
