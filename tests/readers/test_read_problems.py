"""What is wrong with an input is said in one line, and the run goes on."""

import io
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import needs

import neardup
from neardup import dedup_files
from neardup.base import messages
from neardup.base.progress import Progress
from neardup.exceptions import InputError, ParameterError
from neardup.options.signatures import completed
from neardup.readers import open_sources, open_table
from neardup.readers.grouped_problems import GroupedProblems
from neardup.readers.streams import ReopenableFile, whole_lines

BAD_LINES = [
    (b'{"text":"a"', "must be valid JSON", '{"text":"a"'),
    (b'{"text":NaN}', "must be valid JSON", '{"text":NaN}'),
    (b"\x1b[31m", "must be valid JSON", r"\x1b[31m"),
    (b"[1, 2]", "must be a JSON object", "[1, 2]"),
    (b'"text"', "must be a JSON object", '"text"'),
    (b"null", "must be a JSON object", "null"),
    (
        b'{"text":"a\xff"}',
        "must be valid UTF-8 (byte 11 of the record is not)",
        '{"text":"a\\xff"}',
    ),
    (
        b'{"text":"\\ud800"}',
        "must be text without lone surrogates (\\ud800-\\udfff)",
        '{"text":"\\ud800"}',
    ),
    (
        b'{"text":"a","z":"\\udc00x"}',
        "must be text without lone surrogates (\\ud800-\\udfff)",
        '{"text":"a","z":"\\udc00x"}',
    ),
    (b"[" * 5000, "must be valid JSON", "[" * 59 + "…"),
]
MISSING_FIELDS = [
    (b'{"body":"a","n":1}', "must be present", "a record with 'body', 'n'"),
    (b"{}", "must be present", "a record with no field"),
]
BAD_FIELDS = [
    (b'{"text":12}', "must be text", "12"),
    (b'{"text":null}', "must be text", "null"),
    (b'{"text":["a"]}', "must be text", '["a"]'),
    (b'{"text":5,"content":"c","body":"b"}', "must be text", "5"),
]


@pytest.mark.parametrize(("line", "reason", "found"), BAD_LINES)
def test_bad_line(read, make, line, reason, found):
    got = read(make("a.jsonl", b'{"text":"ok"}\n' + line + b'\n{"text":"ok"}\n'))
    assert got["texts"] == ["ok", None, "ok"]
    assert got["ids"] == ["a.jsonl:1", "a.jsonl:2", "a.jsonl:3"]
    (problem,) = got["problems"]
    assert (problem.source, problem.record, problem.field) == ("a.jsonl", 2, None)
    assert problem.reason.startswith(reason)
    assert problem.found == found
    way_out = " Convert it first, for example: iconv -f gb18030 -t utf-8."
    assert str(problem) == (
        f"a.jsonl: record 2: {problem.reason}. Got {found} instead."
        + (way_out if "UTF-8" in reason else "")
    )
    assert "\n" not in str(problem)


@pytest.mark.parametrize(
    ("name", "head", "wrong", "codes"),
    [
        (
            "a.jsonl",
            b'{"text": "ok"}\n',
            [b"x", b"1", b'{"a": 1}'],
            ["must_be_json", "must_be_object", "must_have_text_field"],
        ),
        ("a.csv", b"id,text\n", [b"1,2,3", b"1,\xff"], ["must_have_fields", "must_be_utf8"]),
    ],
)
def test_many_problems_of_a_kind_are_counted(read, make, name, head, wrong, codes):
    each = 40_000
    got = read(make(name, head + b"".join(line + b"\n" for line in wrong) * each))
    assert got["ids"][-1] == f"{name}:{len(got['ids'])}"
    assert len(got["problems"]) < 1200 * len(codes)
    counts = Counter()
    for problem in got["problems"]:
        counts[problem.reason.code] += problem.count
    assert counts == {f"readers.{code}": each for code in codes}
    grouped = GroupedProblems()
    for problem in got["problems"]:
        grouped.add(problem)
    assert [count for _, count in grouped.lines()] == [each] * len(codes)


def test_where_json_is_broken(read, make):
    (problem,) = read(make("a.jsonl", b'{"text": "a",, "b": 1}'))["problems"]
    assert "at character 14" in problem.reason


@pytest.mark.parametrize(("line", "reason", "found"), BAD_FIELDS)
def test_bad_field(read, make, line, reason, found):
    got = read(make("a.jsonl", b'{"text":"ok"}\n' + line + b"\n"))
    assert got["texts"] == ["ok", None]
    assert [str(p) for p in got["problems"]] == [
        f"a.jsonl: record 2, field 'text': {reason}. Got {found} instead."
    ]


@pytest.mark.parametrize(("line", "reason", "found"), BAD_FIELDS + MISSING_FIELDS)
def test_bad_field_when_the_field_is_named(read, make, line, reason, found):
    got = read(make("a.jsonl", b'{"text":"ok"}\n' + line + b"\n"), text_field="text")
    assert got["texts"] == ["ok", None]
    assert [str(p) for p in got["problems"]] == [
        f"a.jsonl: record 2, field 'text': {reason}. Got {found} instead."
    ]


def test_title_that_no_record_has(read, make):
    names = [
        make("a.jsonl", b'{"text":"a"}\nnonsense\n{"text":"b"}\n' * 3000),
        make("b.jsonl", b'{"text":"a"}\n{"text":5,"headline":null}\n'),
        make("c.jsonl", b""),
        make("t/d.txt", b"d"),
    ]
    for titles in (None, False):
        for size in (100, 1 << 22):
            got = read(names, title_field="headline", titles=titles, batch_bytes=size)
            said = [str(p) for p in got["problems"] if p.record is None]
            assert said == [
                "a.jsonl: field 'headline': must be present in at least one record, since it was"
                " named as the title. Got 6000 records without it instead."
            ]
            assert sum(p.count for p in got["problems"]) == 3000 + 1 + 1
    assert len(read(make("e.jsonl", b"nonsense"), title_field="headline")["problems"]) == 1


def test_names_on_one_line(read, make):
    name = make("a\n\x1b\u2028b.jsonl", b'nonsense\n{"text":"x"}')
    got = read(name)
    assert got["ids"] == [f"a\\n\\x1b\\u2028b.jsonl:{i}" for i in (1, 2)]
    assert str(got["problems"][0]).startswith(
        "a\\n\\x1b\\u2028b.jsonl: record 1: must be valid JSON"
    )
    (problem,) = read(make("b.jsonl", b'{"x\\ny":"a"}\n{}'), text_field="x\ny")["problems"]
    assert "field 'x\\ny': must be present" in str(problem)
    with pytest.raises(InputError) as caught:
        open_sources(["no\nwhere"])
    assert str(caught.value) == "no\\nwhere: no such file or directory."
    with pytest.raises(InputError) as caught:
        open_sources([make("c.csv", b"a,b\n")], text_field="x\ny")
    assert "must have a text column 'x\\ny'." in str(caught.value)


def test_csv_header_that_is_no_utf8(make):
    with pytest.raises(InputError) as caught:
        open_sources([make("a.csv", "标题,text\n".encode("gb18030"))])
    assert str(caught.value) == (
        "a.csv: the header row must be valid UTF-8 (byte 1 of the record is not)."
        " Got \\xb1\\xea\\xcc\\xe2,text instead."
        " Convert it first, for example: iconv -f gb18030 -t utf-8."
    )


def test_no_text_field_at_all(read, make):
    got = read(make("a.jsonl", b'{"text":"a"}\n{"headline":"a"}'))
    assert [str(p) for p in got["problems"]] == [
        "a.jsonl: record 2: must have a text field 'text', 'content' or 'body'."
        " Got a record with 'headline' instead."
    ]


NO_TEXT = [
    (b'{"id":1,"Texts":"a"}\n', 1, {}, "'text', 'content' or 'body'. Got 1 record", "Texts"),
    (b'{"id":1,"contents":"a"}\n', 7, {}, "'text', 'content' or 'body'. Got 7 records", "contents"),
    (b'{"text":"a"}\n', 7, {"text_field": "txt"}, "'txt'. Got 7 records", "text"),
    (b'{"text":"a"}\n', 7, {"text_field": "story"}, "'story'. Got 7 records", None),
    (
        b'{"text":"a"}\n',
        1001,
        {"text_field": "story"},
        "'story'. Got 1,000 records at the beginning",
        None,
    ),
]


@pytest.mark.parametrize(("line", "count", "options", "words", "nearest"), NO_TEXT)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json.gz", "-"])
def test_no_record_has_the_text_field(
    make, monkeypatch, name, line, count, options, words, nearest
):
    data = b"\n" + line * count
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    if name != "-":
        make(name, data)
    with pytest.raises(InputError) as caught:
        open_sources([name], **options)
    said = str(caught.value)
    assert said.startswith(f"{name}: must have a text field {words} with ")
    way_out = "Name the field with text_field=."
    assert said.endswith(way_out + (f" Did you mean '{nearest}'?" if nearest else ""))


def test_the_fields_that_there_are_are_named(make):
    lines = b'nonsense\n{"id":1,"url":"u"}\n[1]\n{"headline":"a","id":2}\n'
    with pytest.raises(InputError) as caught:
        open_sources([make("good.jsonl", b'{"text":"a"}'), make("a.jsonl", lines)])
    assert "a.jsonl: must have a text field 'text', 'content' or 'body'. Got 2 records with" in str(
        caught.value
    )
    assert "'id', 'url', 'headline' instead." in str(caught.value)


def test_one_record_with_the_text_field_is_enough(read, make):
    lines = b'{"url":"u"}\n' * 999 + b'{"text":null}\n' + b'{"url":"u"}\n' * 50
    problems = read(make("a.jsonl", lines))["problems"]
    assert sum(problem.count for problem in problems) == 1050
    assert len(read(make("b.jsonl", b"nonsense\n" * 7))["problems"]) == 7


def test_missing_named_id(read, make):
    got = read(make("a.jsonl", b'{"text":"a"}\n{"text":"b","url":"u"}'), id_field="url")
    assert got["texts"] == ["a", "b"]
    assert got["ids"] == ["a.jsonl:1", "u"]
    assert [str(p) for p in got["problems"]] == [
        "a.jsonl: record 1, field 'url': must be present. Got a record with 'text' instead."
    ]


@pytest.mark.parametrize(
    ("suffix", "kind"), [(".gz", "gzip"), (".zst", "zstd")], ids=["gzip", "zstd"]
)
@pytest.mark.parametrize("batch_bytes", [1, 1 << 22])
def test_truncated_stream(read, make, suffix, kind, batch_bytes):
    rng = np.random.default_rng(1)
    lines = [b'{"text":"%s"}\n' % rng.bytes(300).hex().encode() for _ in range(3000)]
    name = make(f"a.jsonl{suffix}", b"".join(lines))
    whole = Path(name).read_bytes()
    Path(name).write_bytes(whole[: len(whole) // 2])
    got = read(name, batch_bytes=batch_bytes)
    count = len(got["texts"])
    assert 1000 < count < 2000
    assert [b'{"text":"%s"}\n' % t.encode() for t in got["texts"]] == lines[:count]
    assert [str(p) for p in got["problems"]] == [
        f"{name}: record {count + 1}: must be a complete {kind} stream."
        f" Got {count} records and then damaged data instead."
    ]


@pytest.mark.parametrize(("suffix", "kind"), [(".gz", "gzip"), (".zst", "zstd")])
@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_garbage_after_a_good_frame(read, make, pack, suffix, kind, format):
    data = b'{"text":"a"}\n{"text":"b"}\n' if format == "jsonl" else b"text\na\nb\n"
    name = make(f"a.{format}{suffix}")
    Path(name).write_bytes(pack(data, suffix) + b"garbage, not a frame")
    got = read(name)
    assert got["texts"] == ["a", "b"]
    assert [str(p) for p in got["problems"]] == [
        f"{name}: record 3: must be valid {kind} data. Got 2 records and then damaged data instead."
    ]


def test_compressed_in_name_garbage_inside(read, make):
    name = make("a.jsonl.zst")
    Path(name).write_bytes(b"\x00\x01\x02 nonsense")
    got = read(name)
    assert got["texts"] == []
    assert [str(p) for p in got["problems"]] == [
        f"{name}: record 1: must be valid zstd data. Got 0 records and then damaged data instead."
    ]


def test_damage_in_one_source_leaves_the_next(read, make, pack):
    name = make("a.jsonl.gz")
    Path(name).write_bytes(pack(b'{"text":"a"}\n', ".gz")[:-4])
    got = read([name, make("b.jsonl", b'{"text":"b"}\n')])
    assert got["texts"] == ["a", "b"]
    assert len(got["problems"]) == 1


def test_ragged_and_broken_csv(read, make):
    rows = b'id,text\n1,a\n2\n3,c,d\n4,"e"f\n5,\xff\n6,g\n'
    got = read(make("a.csv", rows))
    assert got["texts"] == ["a", None, None, None, None, "g"]
    assert got["ids"] == ["1", "a.csv:2", "a.csv:3", "a.csv:4", "a.csv:5", "6"]
    said = [str(p) for p in got["problems"]]
    assert said[0] == (
        "a.csv: record 2: must have 2 fields as the header row has. Got 1: 2 instead."
    )
    assert said[1].endswith("Got 3: 3,c,d instead.")
    assert said[2].startswith("a.csv: record 4: must be valid CSV (")
    assert said[3] == (
        "a.csv: record 5: must be valid UTF-8 (byte 3 of the record is not). Got 5,\\xff instead."
        " Convert it first, for example: iconv -f gb18030 -t utf-8."
    )
    assert len(said) == 4


def test_csv_quote_never_closed(read, make):
    got = read(make("a.csv", b'text\na\n"b\nc\nd\n'))
    assert got["texts"] == ["a", None]
    assert "must be valid CSV (" in str(got["problems"][0])


def test_parquet_text_that_is_no_utf8(read, make):
    raw = pa.array([b"good", b"b\xffd", b"fine"], pa.binary())
    name = make("a.parquet")
    pq.write_table(pa.table({"text": raw.view(pa.string()), "id": [1, 2, 3]}), name)
    got = read(name)
    assert got["texts"] == ["good", None, "fine"]
    assert [str(p) for p in got["problems"]] == [
        "a.parquet: record 2, field 'text': must be valid UTF-8 (byte 2 is not)."
        " Got b\\xffd instead."
    ]


def test_text_file_in_another_encoding(read, make):
    text = "上周末我和两个朋友去郊外的湖边散步，天气很好。"
    make("t/a.txt", text.encode("gb18030"))
    make("t/b.txt", text)
    make("t/c.txt", text.encode("gb18030"))
    make("t/d.txt", (text + "好").encode()[:-1])
    got = read("t")
    assert got["texts"] == [text] * 4
    assert got["problems"] == []
    assert got["problem_lines"] == []
    assert got["notes"] == [
        "t/a.txt and 1 more file: read as gb18030 (likely).",
        "t/d.txt: the last 2 bytes were half a character and are left out.",
    ]


def test_text_file_that_is_no_text(read, make):
    make("t/a.txt", bytes(100))
    make("t/b.docx", b"PK\x03\x04 and no more")
    make("t/c.pdf", b"%PDF-1.7")
    make("t/d.txt", "好")
    got = read("t")
    assert got["texts"] == [None, None, None, "好"]
    assert [str(p) for p in got["problems"]] == [
        "t/a.txt: record 1: must be text, HTML, Word (.docx) or PDF."
        " Got binary data: " + r"\x00" * 12 + " instead.",
        "t/b.docx: record 1: must be a whole Word document (.docx). Got a damaged file instead."
        " Download or copy it again; or let Word repair it.",
        "t/c.pdf: record 1: must be a whole PDF. Got a damaged file instead."
        " Open it in a PDF reader and print it into a new file.",
    ]


def test_unreadable_file(make, request):
    name = make("a.jsonl", b"{}")
    os.chmod(name, 0)
    request.getfixturevalue("as_anybody")
    with pytest.raises(InputError, match=r"^a.jsonl: permission denied\.$"):
        open_sources([name])


REFUSED = [
    (["nowhere.jsonl"], {}, InputError, "nowhere.jsonl: no such file or directory."),
    (
        [],
        {},
        ParameterError,
        "The 'inputs' parameter must name at least one input. Got none instead.",
    ),
    (
        ["-", "-"],
        {},
        ParameterError,
        "The 'inputs' parameter must name standard input ('-') at most once."
        " Got it 2 times instead.",
    ),
    (
        ["a.jsonl"],
        {"format": "xml"},
        ParameterError,
        "The 'format' parameter must be one of jsonl, parquet, csv, tsv, text. Got 'xml' instead.",
    ),
    (
        ["a.xml"],
        {},
        ParameterError,
        "a.xml: must have a known extension: .jsonl, .ndjson, .json, .parquet, .csv, .tsv, .txt,"
        " .md, .markdown, .html, .htm, .docx, .pdf (each also with .gz or .zst)."
        " Got '.xml' instead. Name the format with format=.",
    ),
    (
        ["empty"],
        {},
        InputError,
        "empty: must contain files with a known extension: .jsonl, .ndjson, .json, .parquet, .csv,"
        " .tsv, .txt, .md, .markdown, .html, .htm, .docx, .pdf (each also with .gz or .zst)."
        " Got a folder without any instead.",
    ),
    (
        ["empty"],
        {"only_text_in_folders": True},
        InputError,
        "empty: must contain text files (.txt, .md, .markdown, .html, .htm, .docx, .pdf, also .gz"
        " or .zst). Got a folder without any instead.",
    ),
    (
        ["numbers.parquet"],
        {},
        InputError,
        "numbers.parquet: column 'text' must hold text. Got int64 instead.",
    ),
    (
        ["numbers.parquet"],
        {"text_field": "body"},
        InputError,
        "numbers.parquet: must have a text column 'body'. Got 'text', 'x' instead."
        " Name the field with text_field=.",
    ),
    (
        ["numbers.parquet"],
        {"text_field": "x", "id_field": "key"},
        InputError,
        "numbers.parquet: must have the id column 'key'. Got 'text', 'x' instead."
        " Name the field with id_field=.",
    ),
    (
        ["bad.parquet"],
        {},
        InputError,
        "bad.parquet: must be a Parquet file. Got a file that does not end like one",
    ),
    (
        ["a.csv"],
        {},
        InputError,
        "a.csv: must have a text column 'text', 'content' or 'body'. Got 'x', 'y' instead."
        " Name the field with text_field=.",
    ),
    (
        ["a.csv"],
        {"text_field": "X"},
        InputError,
        "a.csv: must have a text column 'X'. Got 'x', 'y' instead."
        " Name the field with text_field=. Did you mean 'x'?",
    ),
    (
        ["array.json"],
        {},
        InputError,
        "array.json: must hold one JSON object per line. Got a JSON array instead."
        " Convert it with: jq -c '.[]' array.json",
    ),
    (
        ["array.json.gz"],
        {},
        InputError,
        "array.json.gz: must hold one JSON object per line. Got a JSON array instead."
        " Unpack it and convert it with: jq -c '.[]' array.json.gz",
    ),
    (
        ["pretty.json"],
        {},
        InputError,
        "pretty.json: must hold one JSON object per line. Got an object that spans several lines"
        " instead. Convert it with: jq -c '.' pretty.json",
    ),
]


@pytest.mark.parametrize(("paths", "options", "kind", "message"), REFUSED)
def test_refused_before_reading(make, paths, options, kind, message):
    make("a.jsonl", b"{}")
    make("a.xml", b"<a/>")
    make("a.csv", b"x,y\n1,2\n")
    make("array.json", b'[{"text": "a"}]')
    make("array.json.gz", b'[{"text": "a"}]')
    make("pretty.json", b'{\n  "text": "a"\n}\n')
    make("bad.parquet", b"PAR1 and no more")
    os.mkdir("empty")
    pq.write_table(pa.table({"text": [1], "x": ["a"]}), "numbers.parquet")
    with pytest.raises(kind) as caught:
        open_sources(paths, **options)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(message)


def test_output_that_is_an_input(make):
    name = make("a.jsonl", b'{"text":"a"}\n')
    os.link(name, "b.jsonl")
    os.symlink(name, "c.jsonl")
    for output in ["a.jsonl", "./a.jsonl", "b.jsonl", "c.jsonl"]:
        with pytest.raises(InputError) as caught:
            open_sources([name], output_paths=["other.jsonl", output, None, "-"])
        assert str(caught.value) == (
            "a.jsonl: must not be both input and output of one run."
            f" Got it as the output {output} too."
        )
    make("t/x.txt", "x")
    with pytest.raises(InputError, match=r"^t/x\.txt: must not be both"):
        open_sources(["t"], output_paths=["t/x.txt"])


def test_file_that_changes_between_passes(make):
    name = make("a.jsonl", b'{"text":"a"}\n')
    sources = open_sources([name])
    list(sources.batches())
    Path(name).write_bytes(b'{"text":"a"}\n{"text":"b"}\n')
    with pytest.raises(InputError) as caught:
        list(sources.batches())
    assert str(caught.value) == (
        "a.jsonl: changed while it was being read. No output was written; run again."
    )


def parquet(texts):
    out = io.BytesIO()
    pq.write_table(pa.table({"text": texts}), out, compression="none")
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", lambda word: b'{"text":"%s"}\n{"text":"c"}\n' % word),
        ("a.jsonl.zst", lambda word: b'{"text":"%s"}\n{"text":"c"}\n' % word),
        ("a.csv", lambda word: b"text\n%s\nc\n" % word),
        ("a.txt", lambda word: word),
        ("a.parquet", lambda word: parquet([word.decode(), "c"])),
    ],
)
def test_file_rewritten_in_place_between_passes(make, name, content):
    make(name, content(b"first"))
    before = os.stat(name)

    class Rewrite(Progress):
        def stage(self, stage, *_):
            if stage == "write":
                make(name, content(b"other"))
                os.utime(name, ns=(before.st_atime_ns, before.st_mtime_ns))
                assert os.stat(name).st_size == before.st_size

    with pytest.raises(InputError) as caught:
        neardup.dedup_files([name], "kept.jsonl", progress=Rewrite())
    message = caught.value.args[0]
    assert (message.code, message.values["file"]) == ("readers.changed_while_read", name)
    assert not Path("kept.jsonl").exists()


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason=needs.POSIX)
def test_error_of_the_system_while_an_input_is_read(make):
    Path(make("x")).unlink()
    # Its first page is not mapped: the system fails with EIO.
    os.symlink("/proc/self/mem", "a.jsonl")
    with open("/proc/self/mem", "rb", buffering=0) as standard_input:
        for read in (
            lambda: neardup.dedup_files(["a.jsonl"], "kept.jsonl"),
            lambda: ReopenableFile("-", standard_input),
        ):
            with pytest.raises(InputError) as caught:
                read()
            assert caught.value.args[0].code == "readers.refused"
            assert (
                caught.value.args[0].values["reason"].values["said"].code
                == "system.input_output_error"
            )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason=needs.POSIX)
@pytest.mark.parametrize("kind", ["pipe", "input"])
def test_waiting_is_announced_on_a_terminal(make, monkeypatch, kind):
    make("x")
    os.mkfifo("pipe.jsonl")
    terminal, other_side = os.openpty()
    announced = []

    def announce(message):
        announced.append(message.code)
        if kind == "pipe":
            Path("pipe.jsonl").write_bytes(b"{}")
        else:
            os.write(terminal, b"{}\x04\x04")

    monkeypatch.setattr(messages, "announce", announce)
    with open(other_side, "rb") as end, open(os.dup(other_side), "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        source = ReopenableFile(*(["pipe.jsonl"] if kind == "pipe" else ["-", end]))
    os.close(terminal)
    assert source.head() == b"{}"
    assert announced == [f"readers.waits_for_{kind}"]


def test_parquet_with_a_damaged_page(read, make):
    out = io.BytesIO()
    texts = [os.urandom(40).hex() for _ in range(9000)]
    pq.write_table(pa.table({"text": texts}), out, row_group_size=4500, compression="gzip")
    data = bytearray(out.getvalue())
    middle = len(data) * 3 // 4
    data[middle : middle + 2000] = bytes(2000)
    name = make("a.parquet", bytes(data))
    got, small = read(name), read(name, 100, 7)
    assert got["texts"] == texts[: len(got["texts"])] == small["texts"]
    assert len(got["texts"]) >= 4096
    assert "must be readable Parquet" in str(got["problems"][0])


def test_parquet_with_any_byte_changed(read, make):
    """Names of columns that are not UTF-8, and indices beyond a dictionary, among others."""
    out = io.BytesIO()
    texts = pa.array(["上游水位", "下游水位", "上游水位"]).dictionary_encode()
    pq.write_table(pa.table({"title": ["甲", "乙", "丙"], "text": texts}), out, compression="none")
    data = out.getvalue()
    refused = problems = 0
    for at in range(4, len(data), 2):
        name = make("a.parquet", data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            problems += bool(read(name)["problems"])
        except InputError:
            refused += 1
    assert refused > 100
    assert problems


def test_a_delimiter_in_a_message_is_printable(read, make):
    name = make("a.tsv", '"text"\tid\n"good"\ta\n"a"b\tc\n')
    (problem,) = read(name)["problems"]
    assert r"'\t' expected after" in str(problem)
    assert str(problem).isprintable()


LONG = "x" * 3000


def _records_of(kind):
    """Return the lines of a file whose second of three records is longer than 1,000 bytes."""
    if kind == "text":
        return [LONG.encode()]
    if kind.startswith("csv"):
        long = f'"{LONG[:900]}\n{LONG}"' if kind == "csv of lines" else LONG
        rows = ["text,id", "a fox in the yard,1", f"{long},2", "a hen on the roof,3"]
        return [row.encode() + b"\n" for row in rows]
    texts = ["a fox in the yard", LONG, "a hen on the roof"]
    return [orjson.dumps({"text": text, "id": str(at)}) + b"\n" for at, text in enumerate(texts, 1)]


@pytest.mark.parametrize("batch", [256, 1 << 22])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "csv of lines", "parquet", "text", "table"])
def test_a_record_that_is_too_long_is_a_problem(make, kind, batch):
    lines = _records_of(kind)
    if kind in ("parquet", "table"):
        table = pa.Table.from_pylist([orjson.loads(line) for line in lines])
        pq.write_table(table, make("a.parquet"))
        name = "a.parquet"
    else:
        extension = {"text": "txt.gz", "jsonl": "jsonl.gz"}.get(kind, "csv")
        name = make(f"a.{extension}", b"".join(lines))
    source = (
        open_table(table, max_text=1000) if kind == "table" else open_sources([name], max_text=1000)
    )
    batches = list(source.batches(batch_bytes=batch))
    problems = [problem for found in batches for problem in found.problems]
    texts = [text for found in batches for text in found.texts.to_pylist()]
    assert [(problem.record, problem.reason.code) for problem in problems] == [
        (1 if kind == "text" else 2, "readers.too_long")
    ]
    assert texts == ([None] if kind == "text" else ["a fox in the yard", None, "a hen on the roof"])


@pytest.mark.parametrize("on_error", ["keep", "drop"])
@pytest.mark.parametrize("kind", ["jsonl", "jsonl.zst", "csv", "parquet", "annotated"])
def test_a_record_that_is_too_long_is_copied_or_dropped(make, kind, on_error):
    extension = "jsonl" if kind == "annotated" else kind
    lines = _records_of(kind)
    name = make(f"a.{extension}", b"".join(lines))
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist([orjson.loads(line) for line in lines]), name)
    output = f"out.{extension.removesuffix('.zst')}"
    files = {"on_error": on_error, "annotate": kind == "annotated"}
    summary = dedup_files([name], output, max_text=1000, **files).summary
    assert (summary.read, summary.unreadable, summary.problems) == (3, 1, 1)
    expected = (
        lines if on_error == "keep" else [line for line in lines if LONG.encode() not in line]
    )
    if kind == "parquet":
        assert pq.read_table(output).to_pylist() == [orjson.loads(line) for line in expected]
    elif kind == "annotated":
        written = Path(output).read_bytes().splitlines(keepends=True)
        assert len(written) == len(expected)
        assert (lines[1] in written) is (on_error == "keep")
        assert orjson.loads(written[-1])["cluster_size"] == 1
    else:
        assert Path(output).read_bytes() == b"".join(expected)


def test_a_line_that_is_too_long_is_never_held():
    def chunks():
        yield b"1\n2\n3"
        yield from [b"x" * 100] * 50
        yield b"y\n4\n5"

    found = [
        block if isinstance(block, bytes) else [len(part) for part in block]
        for block in whole_lines(chunks(), 1000)
    ]
    assert found == [b"1\n2", [*[1], *[100] * 50, 1], b"4", b"5"]


def test_the_longest_record_is_at_most_a_quarter_of_the_memory():
    given = {"max_text": "256MiB", "memory": "512MiB"}
    assert completed(dedup_files, given)["max_text"] == 128 << 20
