"""The kept documents and the decisions as files."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.index.databases import BOTH

from neardup.index import Index

BRIDGE = "新桥周日上午通车，两岸的居民过江不再需要轮渡，步行只要十分钟，骑车只要三分钟就到。"
BIG = (1 << 64) - 1
RAIN = "本周四以前沿海有雨，渔船暂停出海，轮渡改为每小时一班，请旅客留意码头上的通知。"


@pytest.fixture
def index(location):
    with Index(location) as index:
        day = "2024-03-09T08:00:00+08:00"
        index.add("a", BRIDGE, title="新桥", source="晚报", at=day, extra={"n": 1, "at": "x"})
        index.add("b", BRIDGE, at=day)
        index.add("c", RAIN, at=day, extra={"n": 2.5, "tags": ["雨"], "big": BIG, "yes": True})
        index.add("d", RAIN[:-1] + "和广播。", at=day)
        index.add("e", "完全不同的一篇文章，讲的是山里的一所小学和它唯一的老师。", extra={"id": 7})
        yield index


def read(path):
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


@BOTH
def test_json_lines(index, tmp_path):
    kept, decisions = tmp_path / "kept.jsonl", tmp_path / "decisions.jsonl"
    assert index.export(kept, decisions=decisions) == 3
    first, second, third = read(kept)
    assert first == {
        "id": "a",
        "text": BRIDGE,
        "title": "新桥",
        "source": "晚报",
        "at": "2024-03-09T00:00:00+00:00",
        "n": 1,
        "extra_at": "x",
    }
    assert second["big"] == BIG
    assert second["tags"] == ["雨"]
    assert third["id"] == "e"
    assert third["extra_id"] == 7
    b, d = read(decisions)
    assert (b["id"], b["kept_id"], b["reason"], b["similarity"]) == ("b", "a", "identical", 1)
    assert (d["id"], d["kept_id"], d["reason"]) == ("d", "c", "similar")
    assert d["similarity"] == index.get("d").repeats.similarity
    assert d["measure"] == "content(5)"
    assert d["at"] == "2024-03-09T00:00:00+00:00"


def test_tables(index, tmp_path):
    kept = tmp_path / "kept.parquet"
    index.export(kept, decisions=tmp_path / "decisions.csv")
    table = pq.read_table(kept)
    assert table.column_names == [
        *("id", "text", "title", "source", "at"),
        *("n", "extra_at", "tags", "big", "yes", "extra_id"),
    ]
    assert table.schema.field("n").type == pa.float64()
    assert table.schema.field("yes").type == pa.bool_()
    assert table.schema.field("extra_id").type == pa.int64()
    assert table["at"][0].as_py() == datetime(2024, 3, 9, tzinfo=UTC)
    assert table["tags"].to_pylist() == [None, '["雨"]', None]
    assert table["big"].to_pylist() == [None, str(BIG), None]
    header, b, _ = (tmp_path / "decisions.csv").read_text("utf-8").splitlines()
    assert header == "id,kept_id,similarity,measure,distance,reason,at"
    assert b == "b,a,1.0,content(5),,identical,2024-03-09T00:00:00+00:00"
    index.export(tmp_path / "kept.csv")
    rows = (tmp_path / "kept.csv").read_text("utf-8").splitlines()
    assert rows[0] == ",".join(table.column_names)
    assert rows[2].endswith(f',2.5,,"[""雨""]",{BIG},true,')


def test_freed_documents_are_among_the_decisions(index, tmp_path):
    index.remove("a")
    index.export(tmp_path / "kept.jsonl", decisions=tmp_path / "decisions.jsonl")
    assert [row["id"] for row in read(tmp_path / "kept.jsonl")] == ["c", "e"]
    b = read(tmp_path / "decisions.jsonl")[0]
    assert (b["id"], b["kept_id"], b["similarity"], b["reason"]) == ("b", None, None, "freed")


def test_names_that_begin_like_those_of_clashes(location, tmp_path):
    with Index(location) as index:
        index.add("a", BRIDGE, extra={"id": 1, "extra_id": 2, "extra_extra_id": 3, "extra_n": 4})
        index.export(tmp_path / "kept.jsonl")
    (row,) = read(tmp_path / "kept.jsonl")
    names = {"extra_id": 1, "extra_extra_id": 2, "extra_extra_extra_id": 3, "extra_n": 4}
    assert {name: value for name, value in row.items() if name.startswith("extra")} == names


def test_an_empty_index_and_one_without_texts(location, tmp_path):
    with Index(location, store="sketch") as index:
        assert index.export(tmp_path / "none.parquet") == 0
        assert pq.read_table(tmp_path / "none.parquet").num_rows == 0
        index.add("a", BRIDGE)
        index.export(tmp_path / "kept.jsonl")
    assert read(tmp_path / "kept.jsonl")[0]["text"] is None
