"""Kept records: unchanged, in input order, from any format to any."""

import json
import os
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.kit.formats import as_arrow, cell, serialize
from tests.writers.conftest import records_of, table_of, unpack

from neardup.exceptions import InputError, OutputError, ParameterError
from neardup.readers import open_sources
from neardup.writers import open_output, write_kept
from neardup.writers.schema_inference import InferredType

TEXTS = ["一只狐狸\n跳过", 'b, "quoted"', "", "tab\there", "lone \r return", "'"]
RECORDS = [
    {"id": f"d{i}", "text": t, "n": i, "share": i / 3, "tags": ["x", str(i)], "none": None}
    for i, t in enumerate(TEXTS)
]
KEEP = [True, False, True, True, True, True]
KEPT = [r for r, k in zip(RECORDS, KEEP, strict=True) if k]
SUFFIXES = ["", ".gz", ".zst", ".xz", ".bz2"]


def keep(paths, output, mask=None, batch_bytes=1 << 22, **options):
    sources = open_sources([paths] if isinstance(paths, str) else paths, **options)
    texts = [t for b in sources.batches(batch_bytes=batch_bytes) for t in b.texts.to_pylist()]
    with open_output(output, force=True) as out:
        return write_kept(sources, [True] * len(texts) if mask is None else mask, out)


@pytest.mark.parametrize("packed_to", SUFFIXES)
@pytest.mark.parametrize("packed_from", SUFFIXES)
@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv"])
def test_same_format_copies_bytes(make, format, packed_from, packed_to):
    data = serialize(RECORDS, format)
    name = make(f"a.{format}{packed_from}", data)
    report = keep(name, f"out.{format}{packed_to}", KEEP)
    assert (report.written, report.unwritable) == (5, 0)
    lines = data.splitlines(keepends=True)
    if format == "jsonl":
        want = b"".join(line for line, k in zip(lines, KEEP, strict=True) if k)
    else:
        want = serialize(KEPT, format)
    assert unpack(f"out.{format}{packed_to}") == want


@pytest.mark.parametrize("mask", [KEEP, [False] * 6], ids=["some", "none"])
@pytest.mark.parametrize("target", ["jsonl", "parquet", "arrow", "csv", "tsv"])
@pytest.mark.parametrize("source", ["jsonl", "parquet", "arrow", "arrows", "csv", "tsv"])
def test_every_format_to_every_other(make, source, target, mask):
    output = f"out.{target}"
    report = keep(make(f"a.{source}", serialize(RECORDS, source)), output, mask)
    assert (report.written, report.unwritable, report.problems) == (sum(mask), 0, [])
    texts = {source, target} & {"csv", "tsv"}
    want = [
        {name: cell(value) if texts else value for name, value in record.items()}
        for record, is_kept in zip(RECORDS, mask, strict=True)
        if is_kept
    ]
    got = records_of(output)
    assert got == want
    assert [list(r) for r in got] == [list(r) for r in want]


def test_strange_json_lines_byte_for_byte(make):
    lines = [
        b'{"text" : "a",  "n":1.0,"n":2}\r\n',
        b'{"text":"\\u0061\\/", "big":123456789012345678901234567890}\n',
        b"not json at all \xff\n",
        b'  {"text":"indented"}  \n',
        b'{"text":"no line break"}',
    ]
    report = keep(make("a.jsonl", b"\n" + b"\n \n".join(lines)), "out.jsonl")
    # Joining added a blank line and a line break after each record's own.
    want = b"\n \n".join(lines).replace(b"\n\n \n", b"\n").replace(b"\r\n\n", b"\r\n")
    assert unpack("out.jsonl") == want + b"\n"
    assert (report.written, report.unwritable) == (5, 0)


def test_the_mark_of_the_first_file_is_written_again(make):
    mark = b"\xef\xbb\xbf"
    a = make("a.jsonl", mark + b'{"text":"a"}\n')
    b = make("b.jsonl", b'{"text":"b"}')
    keep([a, make("c.jsonl", mark + b'{"text":"b"}')], "out.jsonl")
    assert unpack("out.jsonl") == mark + b'{"text":"a"}\n{"text":"b"}\n'
    keep([b, a], "out.jsonl")
    assert unpack("out.jsonl") == b'{"text":"b"}\n{"text":"a"}\n'
    keep(a, "out.csv")
    assert unpack("out.csv") == b"text\na\n"
    keep(make("a.csv", mark + b"text\r\na\r\n"), "out.csv")
    assert unpack("out.csv") == mark + b"text\r\na\r\n"
    keep(["a.csv", make("b.csv", "id,text\n1,b\n")], "out.csv")
    assert unpack("out.csv") == mark + b"text,id\na,\nb,1\n"
    keep(["b.csv", make("c.csv", "text,id\r\nc,2\r\n")], "out.csv")
    assert unpack("out.csv") == b"id,text\n1,b\n2,c\n"
    assert keep(make("e.jsonl", b""), "out.csv").written == 0


def test_csv_keeps_its_encoding_and_delimiter(make):
    data = "编号; text\r\n1;一只狐狸，跳过\r\n2; 中文\r\n".encode("gb18030")
    keep(make("a.csv", data), "out.csv", [True, False])
    assert unpack("out.csv") == data[: data.index(b"2;")]
    # With other columns, and with other dialects.
    keep(["a.csv", make("b.csv", "名; text\n好; 这里".encode("gb18030"))], "out.csv")
    assert (
        unpack("out.csv").decode("gb18030")
        == "编号;text;名\n1;一只狐狸，跳过;\n2;中文;\n;这里;好\n"
    )
    keep(["a.csv", make("c.csv", "编号,text\n3,ü\n")], "out.csv")
    assert unpack("out.csv").decode() == "编号,text\n1,一只狐狸，跳过\n2,中文\n3,ü\n"
    keep("a.csv", "out.tsv")
    assert unpack("out.tsv").decode() == "编号\ttext\n1\t一只狐狸，跳过\n2\t中文\n"
    wide = "id\ttext\r\n1\t一只狐狸，跳过这里的湖面和树林\r\n"
    keep(make("d.csv", wide.encode("utf-16")), "out.csv")
    assert unpack("out.csv").decode() == wide


def test_mixed_sources_into_json_lines(make):
    raw = b'{"text":"j",  "id":1}\n'
    make("t/d.txt", "d\n")
    parquet = make("c.parquet", serialize([{"text": "p", "date": 5}], "parquet"))
    keep([make("a.jsonl", raw), make("b.csv", "id,text\n7,c\n"), parquet, "t"], "out.jsonl")
    assert unpack("out.jsonl").startswith(raw)
    assert records_of("out.jsonl") == [
        {"text": "j", "id": 1},
        {"id": "7", "text": "c"},
        {"text": "p", "date": 5},
        {"id": "t/d.txt", "text": "d\n"},
    ]


@pytest.mark.parametrize("target", ["parquet", "csv"])
def test_mixed_sources_share_columns(make, target):
    names = [
        make("a.jsonl", b'{"text":"j","id":1,"x":{"y":[1,2]}}\n{"text":"k","z":true}\n'),
        make("b.csv", "id,text\n7,c\n"),
        make("c.parquet", serialize([{"text": "p", "size": 5}], "parquet")),
        make("d.txt", "d\n"),
    ]
    report = keep(names, f"out.{target}")
    assert report.written == 5
    got = records_of(f"out.{target}")
    assert list(got[0]) == ["text", "id", "x", "z", "size"]
    assert [r["text"] for r in got] == ["j", "k", "c", "p", "d\n"]
    empty = None if target == "parquet" else ""
    assert [r["id"] for r in got] == ["1", empty, "7", empty, "d.txt"]
    if target == "parquet":
        assert got[0]["x"] == {"y": [1, 2]}
        assert got[1]["z"] is True
        assert got[3]["size"] == 5
        assert report.notes == ["column 'id' has values of several types and is written as text."]
    else:
        assert got[0]["x"] == '{"y":[1,2]}'
        assert got[1]["z"] == "true"
        assert got[3]["size"] == "5"


NUMBERS = [
    ([1, 2], pa.int64(), [1, 2]),
    ([1, 2.5], pa.float64(), [1.0, 2.5]),
    ([2**53 + 1, 0.5], pa.string(), ["9007199254740993", "0.5"]),
    ([2**64 - 1, 0], pa.string(), ["18446744073709551615", "0"]),
    ([2**64 - 1, -1], pa.string(), ["18446744073709551615", "-1"]),
    ([None, None], pa.string(), [None, None]),
    ([True, 1], pa.string(), ["true", "1"]),
    (["a", 1], pa.string(), ["a", "1"]),
    ([[], [1]], pa.list_(pa.int64()), [[], [1]]),
    ([[1], ["a"]], pa.string(), ["[1]", '["a"]']),
    ([[2**53 + 1], [0.5]], pa.string(), ["[9007199254740993]", "[0.5]"]),
    ([[1], {"a": 1}], pa.string(), ["[1]", '{"a":1}']),
    ([{}, {}], pa.string(), ["{}", "{}"]),
    (
        [{"a": 1}, {"b": "x"}],
        pa.struct([("a", pa.int64()), ("b", pa.string())]),
        [{"a": 1, "b": None}, {"a": None, "b": "x"}],
    ),
]


def fields_of(kind):
    """Return a type, or the fields of a struct in no order."""
    return set(kind) if pa.types.is_struct(kind) else kind


@pytest.mark.parametrize(("values", "kind", "want"), NUMBERS, ids=lambda v: str(v)[:30])
def test_type_of_a_json_field(make, values, kind, want):
    for order in (1, -1):
        data = b"".join(orjson.dumps({"text": "t", "v": v}) + b"\n" for v in values[::order])
        keep(make("a.jsonl", data), "out.parquet")
        table = pq.read_table("out.parquet")
        assert fields_of(table.schema.field("v").type) == fields_of(kind)
        assert table["v"].to_pylist() == want[::order]


@pytest.mark.parametrize(("values", "kind", "want"), NUMBERS, ids=lambda v: str(v)[:30])
def test_type_covers_all_parts(values, kind, want):
    """Values that are far from each other are as those that are read together."""
    for order in (1, -1):
        shape = InferredType()
        for value in values[::order]:
            shape.observe([value])
        assert fields_of(shape.find_type()) == fields_of(kind)
        assert shape.column(values).to_pylist() == want


def test_a_mapping_of_data_is_text(make):
    values = [{f"{number} {key}": key for key in range(9)} for number in range(200)]
    lines = [orjson.dumps({"text": "t", "v": value}) for value in values]
    report = keep(make("a.jsonl", b"\n".join(lines)), "out.parquet")
    assert report.notes == ["column 'v' has values of several types and is written as text."]
    assert json.loads(records_of("out.parquet")[7]["v"]) == values[7]


BEYOND = 12345678901234567891234


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"text":"t","v":' + "[" * 128 + "]" * 128 + "}", "nested more than 128 levels deep"),
        (f'{{"text":"t","id":{BEYOND}}}', "a whole number beyond 64 bits"),
        (f'{{"text":"t","in":{{"m":[-{BEYOND},"x"]}}}}', "a whole number beyond 64 bits"),
    ],
)
def test_values_beyond_other_formats_are_left_out(make, line, reason):
    others = [
        '{"text":"1234567890123456789","f":1e30}',
        '{"text":"t","v":' + "[" * 126 + "]" * 126 + "}",
    ]
    name = make("a.jsonl", "".join(f"{one}\n" for one in (line, *others)))
    for target in ("parquet", "csv"):
        report = keep(name, f"out.{target}")
        assert (report.written, report.unwritable) == (2, 1)
        (problem,) = report.problems
        assert problem.record == 1
        assert reason in str(problem)
    assert keep(name, "out.jsonl").written == 3
    assert unpack("out.jsonl") == Path(name).read_bytes()


@pytest.mark.parametrize("format", ["parquet", "arrow", "arrows", "feather"])
def test_columns_keep_their_schema(make, format):
    schema = pa.schema(
        [
            pa.field("text", pa.large_string(), nullable=False),
            pa.field("when", pa.timestamp("ns", "UTC")),
            pa.field("price", pa.decimal128(10, 2)),
            pa.field("kind", pa.dictionary(pa.int32(), pa.string())),
        ],
        metadata={"origin": "a test"},
    )
    rows = [{"text": f"t{i}", "when": i * 10**9 + 1, "price": i, "kind": "k"} for i in range(5)]
    table = pa.Table.from_pylist(rows, schema)
    name = make(f"a.{format}", serialize(table, format))
    table = table if format != "parquet" else pq.read_table(name)
    mask = [True, False, False, True, True]
    keep(name, f"out.{format}", mask)
    got = table_of(f"out.{format}")
    assert got.schema.equals(table.schema, check_metadata=True)
    assert got.to_pylist() == table.filter(pa.array(mask)).to_pylist()


def test_arrow_output_of_streams_is_a_stream_but_for_feather(make):
    metadata = {"huggingface": "{}"}
    parts = [pa.table({"text": [t], "n": [None]}).replace_schema_metadata(metadata) for t in "ab"]
    names = [make(f"{i}.arrow", as_arrow(part, "arrows")) for i, part in enumerate(parts)]
    one = make("c.arrow", as_arrow(parts[0]))
    for sources, output, is_stream in (
        (names, "out.arrow", True),
        (names, "out.feather", False),
        ([*names, one], "out.arrow", False),
        (one, "out.arrows", True),
    ):
        keep(sources, output)
        assert Path(output).read_bytes().startswith(b"ARROW1") != is_stream
        assert table_of(output).schema.metadata == {b"huggingface": b"{}"}
    assert feather.read_table("out.feather")["text"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize("format", ["parquet", "arrow", "arrows"])
def test_arrow_file_of_several_dictionaries_has_their_values(make, format):
    """A file of Arrow has room for one dictionary of each column, a stream for several."""
    for number, words in enumerate((["x", "y"], ["z", "x"])):
        kinds = pa.array(words).dictionary_encode()
        struct = pa.StructArray.from_arrays([kinds], ["inner"])
        table = pa.table({"text": words, "kind": kinds, "at": struct})
        table = table.drop_columns("at") if format == "parquet" else table
        make(f"{number}.{format}", serialize(table, format))
    keep([f"0.{format}", f"1.{format}"], "out.arrow")
    got = table_of("out.arrow")
    assert got["kind"].to_pylist() == ["x", "y", "z", "x"]
    assert pa.types.is_dictionary(got["kind"].type) == (format == "arrows")


def test_columns_beyond_parquet_are_refused(make):
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    make("a.arrow", as_arrow(pa.table({"text": ["a"], "u": union})))
    with pytest.raises(OutputError, match=r"^out\.parquet: cannot store the columns .* \.jsonl"):
        keep("a.arrow", "out.parquet")
    assert os.listdir() == ["a.arrow"]
    for target in ("arrow", "jsonl"):
        keep("a.arrow", f"out.{target}")
        assert records_of(f"out.{target}") == [{"text": "a", "u": 1}]


def test_unreadable_records_pass_in_their_own_format_only(make):
    lines = b'{"text":"a"}\nnonsense\n{"text":5}\n[]\n'
    name = make("a.jsonl", lines)
    assert keep(name, "out.jsonl").written == 4
    assert unpack("out.jsonl") == lines
    for target in ("csv", "parquet"):
        report = keep(name, f"out.{target}")
        assert (report.written, report.unwritable) == (2, 2)
        assert [problem.record for problem in report.problems] == [2, 4]
        assert all("not a JSON object" in str(problem) for problem in report.problems)
        assert [r["text"] for r in records_of(f"out.{target}")] == ["a", "5"]
    rows = b"id,text\n1,a\n2\n3,\xff\n"
    name = make("b.csv", rows)
    assert keep(name, "out.csv").written == 3
    assert unpack("out.csv") == rows
    for target in ("jsonl", "tsv"):
        report = keep(name, f"out.{target}")
        assert (report.written, report.unwritable) == (1, 2)
        assert [problem.record for problem in report.problems] == [2, 3]
        assert all("an invalid row" in str(problem) for problem in report.problems)


@pytest.mark.parametrize("format", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.timestamp("ms"), 1 << 62),
        (pa.duration("ms"), 1 << 62),
        (pa.timestamp("ms", tz="Mars/Base"), 0),
        (pa.list_(pa.timestamp("ms")), [1 << 62]),
    ],
)
def test_value_without_an_object_of_python_is_left_out_of_text_formats(make, format, kind, value):
    table = pa.table({"text": ["a", "b"], "at": pa.array([None, value], kind)})
    path = make(f"in.{format}", serialize(table, format))
    for output in ("o.jsonl", "o.csv"):
        report = keep(path, output)
        assert (report.written, report.unwritable) == (1, 1)
        assert "record 2, field 'at': left out of" in str(report.problems[0])
    assert keep(path, f"o.{format}").written == 2


def test_unreadable_text_file_is_left_out(make, capfdbinary):
    make("t/a.txt", bytes(100))
    make("t/b.txt", "b")
    report = keep("t", "out.jsonl")
    (problem,) = report.problems
    assert (problem.source, problem.record) == ("t/a.txt", 1)
    raw = pa.array([b"good", b"b\xffd"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": raw}), make("a.parquet"))
    report = keep("a.parquet", "-")
    (problem,) = report.problems
    assert (problem.record, problem.field) == (2, "text")
    assert "left out of standard output" in str(problem)
    assert capfdbinary.readouterr().out == b'{"text":"good"}\n'


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63)])
def test_whole_numbers_at_the_edges(make, number):
    keep(make("a.jsonl", b'{"text":"a","n":%d}\n' % number), "out.csv")
    assert records_of("out.csv")[0]["n"] == str(number)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("target", ["jsonl", "csv"])
def test_records_before_damage_are_written(make, suffix, target):
    rng = np.random.default_rng(1)
    data = b"".join(b'{"text":"%s"}\n' % rng.bytes(300).hex().encode() for _ in range(500))
    name = make(f"a.jsonl{suffix}", data)
    whole = Path(name).read_bytes()
    Path(name).write_bytes(whole[: len(whole) // 2])
    report = keep(name, f"out.{target}")
    assert 100 < report.written < 400
    if target == "jsonl":
        assert data.startswith(unpack("out.jsonl"))
    assert len(records_of(f"out.{target}")) == report.written


@pytest.mark.slow
@pytest.mark.parametrize("target", ["parquet", "arrow", "csv"])
def test_bytes_depend_on_nothing_but_the_records(make, monkeypatch, target):
    rng = np.random.default_rng(2)
    rows = [
        {"text": rng.bytes(400).hex() * 2, "n": i, "x": i if i % 7 else "s"} for i in range(9000)
    ]
    data = b"".join(orjson.dumps(r) + b"\n" for r in rows)
    seen = set()
    for batch_bytes, processors in [(1 << 22, 1), (1000, 2), (1 << 20, 5)]:
        monkeypatch.setattr(os, "cpu_count", lambda processors=processors: processors)
        keep(make("a.jsonl", data), f"out.{target}", batch_bytes=batch_bytes)
        seen.add(Path(f"out.{target}").read_bytes())
    assert len(seen) == 1


def test_mask_must_fit(make):
    name = make("a.jsonl", serialize(RECORDS, "jsonl"))
    with pytest.raises(ParameterError, match="'keep' parameter must hold 6 flags"):
        keep(name, "out.jsonl", [True])
    unread = open_sources([name])
    with (
        pytest.raises(ParameterError, match="must be read to its end first"),
        open_output("out.jsonl") as out,
    ):
        write_kept(unread, [True], out)
    assert os.listdir() == ["a.jsonl"]


@pytest.mark.parametrize("copies", [2, 0])
def test_other_number_of_records_gives_no_output(make, copies):
    name = make("a.jsonl", serialize(RECORDS, "jsonl"))
    sources = open_sources([name])
    list(sources.batches())
    Path(name).write_bytes(serialize(RECORDS, "jsonl") * copies)
    # As if size and time had not changed.
    sources.sources[0].check_unchanged = lambda: None
    with pytest.raises(InputError, match="changed while"), open_output("out.jsonl") as out:
        write_kept(sources, KEEP, out)
    assert os.listdir() == ["a.jsonl"]
