"""Fields that de-duplication adds to records, in every format."""

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.kit.formats import cell, serialize
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
#: What is added to each record: the cluster, the kept record, and the ids of the copies.
ADDED = [
    {"cluster_id": "a", "cluster_size": 3, "copies": ["c", "d"]},
    {"cluster_id": "b", "cluster_size": 1, "copies": []},
    *[{"cluster_id": "a", "cluster_size": 3, "copies": [], "kept_id": "a", "similarity": 1.0}] * 2,
]


@pytest.fixture(autouse=True)
def folder():
    # Types that JSON lines do not have.
    table = pa.Table.from_pylist(RECORDS)
    table = table.append_column("day", pa.array([1, 2, 3, None], pa.date32()))
    for name in ("in.jsonl", "in.csv"):
        Path(name).write_bytes(serialize(RECORDS, name[3:]))
    for name in ("in.parquet", "in.arrow"):
        Path(name).write_bytes(serialize(table, name[3:]))


@pytest.mark.parametrize("source", ["in.jsonl", "in.csv", "in.parquet", "in.arrow"])
@pytest.mark.parametrize("output", ["out.jsonl", "out.csv", "out.parquet", "out.arrow"])
@pytest.mark.parametrize(
    "options", ["annotate", "cluster_size", "copies", "copies cluster_size", "copies annotate"]
)
def test_options_add_fields_to_records(source, output, options):
    result = dedup_files([source], output, **dict.fromkeys(options.split(), True))
    is_annotated = "annotate" in options
    names = NAMES if is_annotated else ["cluster_size"] * ("cluster_size" in options)
    names = [*names, *["copies"] * ("copies" in options)]
    rows = records_of(output)
    assert [row["id"] for row in rows] == ["a", "b", "c", "d"][: 4 if is_annotated else 2]
    for row, added in zip(rows, ADDED, strict=False):
        expected = {name: added.get(name) for name in names}
        if is_annotated:
            expected["measure"] = "content(5)" if "kept_id" in added else None
        as_text = "csv" in source or "csv" in output
        assert [name for name in row if name in (*NAMES, "copies")] == names
        for name, value in expected.items():
            found = row[name]
            if as_text:
                found, value = (cell(one) for one in (found, value))
            assert found == value, name
    assert (result.summary.kept, result.keep.tolist()) == (2, [True, True, False, False])
    if (source, output) == ("in.parquet", "out.parquet"):
        before, after = pyarrow.parquet.read_schema(source), pyarrow.parquet.read_schema(output)
        assert list(after)[: len(before)] == list(before)
        types = {"copies": pa.list_(pa.string()), "similarity": pa.float64()}
        types["cluster_size"] = pa.int64()
        assert [field.type for field in after][len(before) :] == [
            types.get(name, pa.string()) for name in names
        ]
    # A field that is there already is refused before anything is read.
    with pytest.raises(InputError, match=f"^{output}: must have no field .*{names[0]}"):
        dedup_files([output], "again.jsonl", **dict.fromkeys(options.split(), True))
    assert not Path("again.jsonl").exists()


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


def test_many_blocks():
    """Several blocks of lines, and records with a field of that name far from the beginning."""
    copied, count = 12_000, 18_000
    with open("many.jsonl", "w", encoding="utf-8") as file:
        for index in range(count):
            rng = random.Random(index % copied)
            text = "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(90))
            record = {"id": str(index), "text": text}
            if index == 15_000:
                record["kept_id"] = "mine"
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    dedup_files(["many.jsonl"], "out.jsonl", annotate=True, recipe="shingle", workers=2)
    for index, row in enumerate(records_of("out.jsonl")):
        kept = str(index - copied) if index >= copied else None
        found = tuple(row[name] for name in ("id", "kept_id", "cluster_id", "cluster_size"))
        assert found == (
            str(index),
            kept,
            kept or str(index),
            1 + (index % copied < count - copied),
        )
    assert index == count - 1
