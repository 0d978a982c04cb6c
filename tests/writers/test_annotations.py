"""Fields that de-duplication adds to records, in every format."""

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.kit.formats import as_arrow
from tests.writers.conftest import records_of

from neardup import InputError
from neardup.tasks.dedup import dedup_files

BODY = "渡船早上八点从东码头开出，下午五点回来，票在码头的窗口卖。"
NAMES = ["cluster_id", "cluster_size", "kept_id", "similarity", "measure"]
RECORDS = [
    {"id": "a", "text": BODY, "rank": 1},
    {"id": "b", "text": "图书馆周一闭馆整理书架，周二照常开放。", "rank": 2},
    {"id": "c", "text": f"{BODY}！", "rank": 3},
    {"id": "d", "text": BODY, "rank": 4},
]
EXPECTED = [
    ("a", 3, None, None, None),
    ("b", 1, None, None, None),
    ("a", 3, "a", 1.0, "content(5)"),
    ("a", 3, "a", 1.0, "content(5)"),
]


@pytest.fixture(autouse=True)
def folder():
    lines = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in RECORDS)
    Path("in.jsonl").write_text(lines, "utf-8")
    table = pa.Table.from_pylist(RECORDS)
    # Types that JSON lines do not have.
    table = table.append_column("day", pa.array([1, 2, 3, None], pa.date32()))
    pyarrow.parquet.write_table(table, "in.parquet")
    Path("in.arrow").write_bytes(as_arrow(table))
    pyarrow.csv.write_csv(table.drop_columns(["day"]), "in.csv")


@pytest.mark.parametrize("source", ["in.jsonl", "in.csv", "in.parquet", "in.arrow"])
@pytest.mark.parametrize("output", ["out.jsonl", "out.csv", "out.parquet", "out.arrow"])
def test_every_record_says_where_it_belongs(source, output):
    result = dedup_files([source], output, annotate=True)
    rows = records_of(output)
    expected = EXPECTED
    if output.endswith(".csv"):
        expected = [tuple("" if v is None else str(v) for v in row) for row in EXPECTED]
    values = [tuple(row[name] for name in NAMES) for row in rows]
    if "csv" in source and not output.endswith(".csv"):
        values = [tuple(value or None for value in row) for row in values]
    assert values == expected
    assert [row["id"] for row in rows] == ["a", "b", "c", "d"]
    assert (result.summary.kept, result.keep.tolist()) == (2, [True, True, False, False])


def test_columns_of_parquet_keep_their_types():
    dedup_files(["in.parquet"], "out.parquet", annotate=True)
    before, after = (pyarrow.parquet.read_schema(f"{name}.parquet") for name in ("in", "out"))
    assert after.names == [*before.names, *NAMES]
    assert [after.field(name).type for name in before.names] == before.types
    assert after.field("cluster_size").type == pa.int64()


def test_lines_stay_as_they_are_before_the_fields():
    # Spaces, escapes, numbers as they were written, and line ends of Windows.
    lines = [
        b'{ "id" : "a", "text": "\\u6e21\\u8239\\u65e9\\u4e0a\\u516b\\u70b9", "n": 1.50e2 }  \r\n',
        b'{"text": "x", "id": "b", "big": 123456789012345678901234567890}\n',
        b'{"text": "z", "id": "e", "of": {"cluster_size": 4}, "n":  5}\n',
        b"not {json}\n",
        b'{"id": "c", "of": "no text"}\n',
        b"\n",
        b'{"id": "d", "text": "y"}',
    ]
    Path("odd.jsonl").write_bytes(b"".join(lines))
    dedup_files(["odd.jsonl"], "out.jsonl", cluster_size=True)
    written = Path("out.jsonl").read_bytes().splitlines(keepends=True)
    assert written == [
        lines[0].replace(b" }  \r\n", b',"cluster_size":1}  \r\n'),
        lines[1].replace(b"}\n", b',"cluster_size":1}\n'),
        lines[2].replace(b"5}\n", b'5,"cluster_size":1}\n'),
        lines[3],
        lines[4],
        lines[6].replace(b"}", b',"cluster_size":1}\n'),
    ]


def test_only_kept_records_have_the_size():
    dedup_files(["in.jsonl"], "out.jsonl", cluster_size=True)
    rows = records_of("out.jsonl")
    assert [(row["id"], row["cluster_size"]) for row in rows] == [("a", 3), ("b", 1)]
    assert "kept_id" not in rows[0]


@pytest.mark.parametrize("source", ["in.jsonl", "in.csv", "in.parquet"])
@pytest.mark.parametrize("output", ["out.jsonl", "out.csv", "out.parquet"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [["c", "d"], []]),
        ({"cluster_size": True}, [["c", "d"], []]),
        ({"annotate": True}, [["c", "d"], [], [], []]),
    ],
)
def test_records_have_the_ids_of_their_copies(source, output, options, expected):
    dedup_files([source], output, copies=True, **options)
    rows = records_of(output)
    lists = [row["copies"] for row in rows]
    assert [json.loads(ids) if isinstance(ids, str) else ids for ids in lists] == expected
    assert ("cluster_size" in rows[0]) == bool(options)
    if output == "out.parquet":
        assert pyarrow.parquet.read_schema(output).field("copies").type == pa.list_(pa.string())
    with pytest.raises(InputError, match="must have no field copies"):
        dedup_files([output], "again.jsonl", copies=True)


def test_copies_of_many_records_and_of_unreadable_ones_are_complete():
    rng = random.Random(5)
    texts = [rng.choice([BODY, f"{BODY * 2}{rng.random()}", None]) for _ in range(3000)]
    lines = [json.dumps({"id": str(n), "text": text}) for n, text in enumerate(texts)]
    Path("many.jsonl").write_text("\n".join(lines) + "\n")
    result = dedup_files(["many.jsonl"], "out.jsonl", copies=True)
    wanted = {}
    for row in result.removed.to_pylist():
        wanted.setdefault(row["kept_id"], []).append(row["id"])
    rows = records_of("out.jsonl")
    assert {row["id"]: row["copies"] for row in rows if row.get("copies")} == wanted
    assert all(("copies" in row) == (row["text"] is not None) for row in rows)


def test_a_cluster_may_have_its_kept_document_in_the_other_collection():
    Path("old.jsonl").write_text(json.dumps({"id": "old", "text": BODY}) + "\n")
    dedup_files(["in.jsonl"], "out.jsonl", annotate=True, against=["old.jsonl"])
    result = [tuple(row[name] for name in NAMES[:3]) for row in records_of("out.jsonl")]
    assert result == [("old", 4, "old"), ("b", 1, None), ("old", 4, "old"), ("old", 4, "old")]


@pytest.mark.parametrize("workers", [1, 2])
def test_many_blocks(workers):
    """Several blocks of lines, and records with a field of that name far from the beginning."""
    with open("many.jsonl", "w", encoding="utf-8") as file:
        for index in range(30_000):
            rng = random.Random(index % 20_000)
            text = "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(90))
            record = {"id": str(index), "text": text}
            if index == 25_000:
                record["kept_id"] = "mine"
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    dedup_files(["many.jsonl"], "out.jsonl", annotate=True, recipe="shingle", workers=workers)
    rows = records_of("out.jsonl")
    assert [row["id"] for row in rows] == [str(index) for index in range(30_000)]
    for index in (0, 9_999, 10_000, 19_999, 20_000, 25_000, 29_999):
        expected = str(index - 20_000) if index >= 20_000 else None
        assert (rows[index]["kept_id"], rows[index]["cluster_id"]) == (
            expected,
            expected or str(index),
        )
        assert rows[index]["cluster_size"] == (2 if index % 20_000 < 10_000 else 1)


@pytest.mark.parametrize("source", ["out.jsonl", "out.csv", "out.parquet"])
def test_existing_field_is_refused_before_reading(source):
    dedup_files(["in.jsonl"], source, annotate=True)
    for options, name in (({"annotate": True}, "cluster_id"), ({"cluster_size": True}, "_size")):
        with pytest.raises(InputError, match=f"{source}: must have no field .*{name}"):
            dedup_files([source], "again.jsonl", **options)
    assert not Path("again.jsonl").exists()
