"""The removed documents and the pairs, in every format."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.writers.outputs import records_of, unpack

from neardup.writers import PAIRS, REMOVED, open_output, write_rows

ROWS = [
    {"id": "b", "kept_id": "a", "similarity": 0.9, "measure": "resemblance", "distance": 3},
    {"id": "一,\n", "kept_id": "a", "similarity": 1.0, "measure": "exact", "distance": None},
]
TABLE = pa.Table.from_pylist(ROWS, REMOVED)


def write(name, rows, schema=REMOVED):
    with open_output(name) as output:
        return write_rows(output, rows, schema)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".xz", ".bz2"])
def test_text_formats(suffix):
    assert write(f"r.jsonl{suffix}", ROWS) == 2
    records = records_of(f"r.jsonl{suffix}")
    assert records == ROWS
    assert [list(record) for record in records] == [REMOVED.names] * 2
    for format in ("csv", "tsv"):
        assert write(f"r.{format}{suffix}", ROWS) == 2
        records = records_of(f"r.{format}{suffix}")
        assert [list(record) for record in records] == [REMOVED.names] * 2
        assert [list(record.values()) for record in records] == [
            ["b", "a", "0.9", "resemblance", "3"],
            ["一,\n", "a", "1.0", "exact", ""],
        ]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        iter(ROWS),
        TABLE,
        TABLE.select(REMOVED.names[::-1]),
        TABLE.cast(
            pa.schema(
                [f.with_type(pa.large_string()) if f.type == pa.string() else f for f in REMOVED]
            )
        ),
    ],
    ids=range(5),
)
def test_every_kind_of_rows(rows):
    assert write("r.parquet", rows) == 2
    table = pq.read_table("r.parquet")
    assert table.schema == REMOVED
    assert table.to_pylist() == ROWS


@pytest.mark.parametrize("schema", [REMOVED, PAIRS])
@pytest.mark.parametrize("rows", [[], pa.table({n: [] for n in REMOVED.names})])
def test_no_rows_give_a_valid_file(schema, rows):
    if isinstance(rows, pa.Table):
        rows = schema.empty_table()
    for name in ("r.jsonl", "r.jsonl.zst", "r.csv", "r.tsv.gz", "r.parquet"):
        assert write(name, rows, schema) == 0
    assert unpack("r.jsonl") == unpack("r.jsonl.zst") == b""
    assert unpack("r.csv").decode() == ",".join(schema.names) + "\n"
    assert unpack("r.tsv.gz").decode() == "\t".join(schema.names) + "\n"
    assert pq.read_table("r.parquet").schema == schema


def test_open_output_is_left_to_the_caller():
    with open_output("r.jsonl") as output:
        write_rows(output, ROWS, REMOVED)
        assert not Path("r.jsonl").exists()
    assert len(records_of("r.jsonl")) == 2


def test_standard_output(capfdbinary):
    assert write(None, ROWS[:1]) == 1
    assert capfdbinary.readouterr().out == (
        b'{"id":"b","kept_id":"a","similarity":0.9,"measure":"resemblance","distance":3}\n'
    )


def test_many_rows():
    rows = ({**ROWS[0], "id": str(i)} for i in range(20_000))
    assert write("r.csv", rows) == 20_000
    assert unpack("r.csv").count(b"\n") == 20_001
