"""The kept documents and the decisions as files."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.index.databases import BOTH

from neardup import Index, OutputError

BRIDGE = "新桥周日上午通车，两岸的居民过江不再需要轮渡，步行只要十分钟，骑车只要三分钟就到。"
BIG = (1 << 64) - 1
RAIN = "本周四以前沿海有雨，渔船暂停出海，轮渡改为每小时一班，请旅客留意码头上的通知。"
FIELDS = {"at_field": "at", "source_field": "source"}
EXTRA = ("n", "extra_at", "tags", "big", "yes", "extra_id")
NAMES = ["id", "text", "title", "source", "at", *EXTRA]


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
    at = "2024-03-09T00:00:00+00:00"
    values = ("a", BRIDGE, "新桥", "晚报", at, 1, "x")
    assert first == dict(zip(NAMES, values, strict=False))
    assert (second["big"], second["tags"]) == (BIG, ["雨"])
    assert (third["id"], third["extra_id"]) == ("e", 7)
    stored = index.get("d").repeats.similarity
    assert read(decisions) == [
        {"id": id, "kept_id": kept_id, "similarity": similarity, "measure": "content(5)"}
        | {"distance": None, "reason": reason, "at": at}
        for id, kept_id, similarity, reason in (
            ("b", "a", 1.0, "identical"),
            ("d", "c", stored, "similar"),
        )
    ]


def test_tables(index, tmp_path):
    kept = tmp_path / "kept.parquet"
    index.export(kept, decisions=tmp_path / "decisions.csv")
    table = pq.read_table(kept)
    assert table.column_names == NAMES
    kinds = [table.schema.field(name).type for name in ("n", "yes", "extra_id")]
    assert kinds == [pa.float64(), pa.bool_(), pa.int64()]
    assert table["at"][0].as_py() == datetime(2024, 3, 9, tzinfo=UTC)
    assert table["tags"].to_pylist() == [None, '["雨"]', None]
    assert table["big"].to_pylist() == [None, str(BIG), None]
    header, b, _ = (tmp_path / "decisions.csv").read_text("utf-8").splitlines()
    assert header == "id,kept_id,similarity,measure,distance,reason,at"
    assert b == "b,a,1.0,content(5),,identical,2024-03-09T00:00:00+00:00"
    index.export(tmp_path / "kept.csv")
    rows = (tmp_path / "kept.csv").read_text("utf-8").splitlines()
    assert rows[0] == ",".join(NAMES)
    assert rows[2].endswith(f',2.5,,"[""雨""]",{BIG},true,')


def documents(index):
    """The documents without their further fields, in the order of their decisions."""
    return [vars(document) | {"extra": None} for document in index.documents()]


def test_a_whole_export_makes_an_equal_index(index, new_place, tmp_path):
    """With the same documents, fields and decisions, after further ones of the same."""
    for number in range(120):
        words = " ".join(str(number * 7919 % (97 + step)) for step in range(40))
        index.add(f"n{number}", f"{words} {RAIN[number % 7 :]}", at="2024-03-10")
        index.add(f"m{number}", f"{words} {RAIN[number % 5 :]}", at="2024-03-10")
    whole = tmp_path / "whole.jsonl.zst"
    index.recount()
    for _ in range(2):
        index.reconsider()
    assert index.export(whole, include_removed=True) == len(index) == 245
    with Index(new_place(), workers=1) as other:
        added = other.add_files([whole], extra_fields=EXTRA, **FIELDS)
        assert (added.new, added.problem_count) == (245, 0)
        assert sorted(map(repr, documents(other))) == sorted(map(repr, documents(index)))
        assert index.stats().dropped > 20
        assert other.get("a").extra == {"n": 1, "extra_at": "x"}
        assert other.get("c").extra == {"n": 2.5, "tags": ["雨"], "big": BIG, "yes": True}


def test_index_of_kept_documents_keeps_them_all(index, new_place, tmp_path):
    index.export(tmp_path / "kept.jsonl")
    with Index(new_place()) as other:
        assert other.add_files([tmp_path / "kept.jsonl"], **FIELDS).keep.all()
        assert documents(other) == [one for one in documents(index) if one["state"] == "kept"]


def test_names_like_clashes_stay(location, tmp_path):
    with Index(location) as index:
        index.add("a", BRIDGE, extra={"id": 1, "extra_id": 2, "extra_extra_id": 3, "extra_n": 4})
        index.export(tmp_path / "kept.jsonl")
    (row,) = read(tmp_path / "kept.jsonl")
    names = {"extra_id": 1, "extra_extra_id": 2, "extra_extra_extra_id": 3, "extra_n": 4}
    assert {name: value for name, value in row.items() if name.startswith("extra")} == names


def test_an_empty_index(location, tmp_path):
    with Index(location) as index:
        assert index.export(tmp_path / "none.parquet") == 0
        assert pq.read_table(tmp_path / "none.parquet").num_rows == 0


def test_file_of_the_index_is_never_an_output(tmp_path):
    (tmp_path / "real").mkdir()
    place, link = tmp_path / "real" / "n.db", tmp_path / "link.db"
    Index(place).close()
    link.symlink_to(place)
    (tmp_path / "link.jsonl").symlink_to(place)
    os.link(place, tmp_path / "same.jsonl")
    files = [f"real/n.db{suffix}" for suffix in ("", "-wal", "-shm", "-journal")]
    for opened in (place, link):
        with Index(opened, must_exist=True) as index:
            for name in (*files, "link.jsonl", "same.jsonl", "link.db"):
                output = tmp_path / name
                kept = tmp_path / "k.jsonl"
                for outputs in ({"output": output}, {"output": kept, "decisions": output}):
                    with pytest.raises(OutputError, match="must not be both input and output"):
                        index.export(**outputs, force=True)
            index.check()
    assert not (tmp_path / "k.jsonl").exists()
