"""What is kept and removed of a collection, its problems, and records that are restored."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.index.written import families
from tests.kit.progress import RecordedProgress

from neardup import (
    Index,
    InputError,
    ParameterError,
    count_idf,
    dedup,
    dedup_files,
    near_pairs,
    pairs,
    sketch_files,
)
from neardup.run.restore_ids import line_of, read_ids

FIRST = "北山镇的旧粮站改成了书店，开张那天来了三百多人，门口排起长队。"
OTHER = "渡轮公司说新船下个月试航，票价不变，末班时间推迟到夜里十一点。"
TEXTS = [FIRST, OTHER, FIRST + "吧", OTHER]
RECORDS = [{"id": f"n{index}", "text": text, "rank": index} for index, text in enumerate(TEXTS)]
TABLE = pa.Table.from_pylist(RECORDS)


def texts_of(number):
    return "".join(chr(0x4E00 + (number * 997 + at * 31) % 20_000) for at in range(60))


def test_kept_rows_are_a_table_of_the_same_kind():
    result = dedup(TABLE, id_field="id")
    assert result.kept.equals(TABLE.slice(0, 2))
    removed = result.removed.to_pylist()
    assert [(row["id"], row["kept_id"]) for row in removed] == [("n2", "n0"), ("n3", "n1")]
    assert [row["cluster_size"] for row in removed] == [2, 2]
    assert (result.summary.exact_duplicates, result.summary.near_duplicates) == (1, 1)
    assert pairs(TABLE).table.column("id_b").to_pylist() == ["n2", "n3"]
    assert count_idf(TABLE).documents == 4


def test_exact_duplicates_of_a_dropped_text_count_as_exact():
    """Of three equal texts that repeat another one, two repeat a text."""
    repeated = FIRST + "吧"
    for texts in ([FIRST, *[repeated] * 3], [repeated, FIRST, repeated, FIRST]):
        summary = dedup(texts).summary
        assert (summary.exact_duplicates, summary.near_duplicates) == (2, 1)
    summary = dedup([repeated] * 2, against=[FIRST]).summary
    assert (summary.exact_duplicates, summary.near_duplicates) == (1, 1)


@pytest.mark.parametrize("restores", [False, True])
def test_removed_documents_say_how_many_the_kept_one_represents(make, restores):
    """The same number as the field of the kept record; a document of the other side has it too."""
    rows = [{"id": f"{at}", "text": texts_of(at % 7) + "！" * (at % 3)} for at in range(40)]
    make("in.jsonl", "".join(json.dumps(row) + "\n" for row in rows[3:]))
    make("old.jsonl", "".join(json.dumps(row) + "\n" for row in rows[:3]))
    make("ids.txt", "20\n21\n")
    dedup_files(
        ["in.jsonl"],
        "kept.jsonl",
        against=["old.jsonl"],
        removed="removed.jsonl",
        restore="ids.txt" if restores else None,
        cluster_size=True,
    )
    kept, removed = (
        [json.loads(line) for line in Path(name).read_text("utf-8").splitlines()]
        for name in ("kept.jsonl", "removed.jsonl")
    )
    dropped = Counter(row["kept_id"] for row in removed)
    assert {row["kept_from"] for row in removed} == {"input", "against"}
    assert all(row["cluster_size"] == 1 + dropped[row["kept_id"]] for row in removed)
    assert all(row["cluster_size"] == 1 + dropped[row["id"]] for row in kept)
    assert len(removed) == 33 - 2 * restores


@pytest.mark.parametrize("priority", ["first", "last", "longest", "field:rank", "field:rank:desc"])
@pytest.mark.parametrize("empty", [[], TABLE.slice(0, 0)])
def test_nothing_gives_nothing(empty, priority):
    result = dedup(empty, priority=priority)
    assert len(result.kept) == 0
    assert type(result.kept) is type(empty)
    assert result.removed.num_rows == result.summary.read == 0
    assert pairs(empty).table.num_rows == 0


#: Entries of a feed, of which two without text and one of punctuation repeat an earlier one.
FEED = [
    {"id": "a", "title": "风暴封港", "text": ""},
    {"id": "b", "title": "议会表决预算", "text": ""},
    {"id": "c", "title": " 风暴封港", "text": ""},
    {"id": "d", "title": "风暴封港", "text": " "},
    {"id": "e", "title": None, "text": ""},
    {"id": "f", "title": "", "text": ""},
    {"id": "g", "title": "风暴封港", "text": "。"},
    {"id": "h", "title": "议会表决预算", "text": "。"},
    {"id": "i", "title": "甲", "text": FIRST},
    {"id": "j", "title": "乙", "text": FIRST},
]
REPEATS = {"c": "a", "f": "e", "h": "g", "j": "i"}


@pytest.mark.parametrize("recipe", ["general", "strict", "minhash", "improved"])
@pytest.mark.parametrize("field", ["title", "name"])
def test_blank_texts_are_duplicates_only_under_one_title(tmp_path, monkeypatch, recipe, field):
    monkeypatch.chdir(tmp_path)
    records = [{field: r["title"], "id": r["id"], "text": r["text"]} for r in FEED]
    options = {"recipe": recipe, "title_field": None if field == "title" else field}
    for data in (records, pa.Table.from_pylist(records)):
        removed = dedup(data, **options).removed
        assert dict(zip(*removed.select([0, 1]).to_pydict().values(), strict=True)) == REPEATS
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    Path("feed.jsonl").write_text(lines, "utf-8")
    result = dedup_files(["feed.jsonl"], "kept.jsonl", **options)
    assert result.removed["id"].to_pylist() == list(REPEATS)
    near = pairs(records, **options).table.to_pylist()
    assert {(row["id_b"], row["id_a"]) for row in near} == set(REPEATS.items())
    with Index("one.db", recipe=recipe) as index:
        added = index.add_files(["feed.jsonl"], title_field=options["title_field"])
        assert added.removed["id"].to_pylist() == list(REPEATS)
        index.check()
    with Index("two.db", recipe=recipe) as index:
        found = {r["id"]: index.add(r["id"], r["text"], title=r["title"]) for r in FEED}
        assert {id: match.id for id, match in found.items() if match} == REPEATS


def test_named_fields():
    table = TABLE.rename_columns(["url", "article", "rank"])
    result = dedup(table, text_field="article", id_field="url")
    assert result.removed.column("kept_id").to_pylist() == ["n0", "n1"]
    with pytest.raises(InputError, match="'article', 'rank'"):
        dedup(table)


UNREADABLE = [
    {"id": "a", "text": FIRST},
    {"id": "b", "text": None},
    {"id": "c", "text": 12},
    {"id": "d"},
    {"id": "e", "text": None},
    {"id": "f", "text": "half \ud800 pair"},
    "no record",
    {"id": "g", "text": FIRST},
]


def test_unreadable_records_are_never_duplicates():
    result = dedup(UNREADABLE)
    assert result.keep.tolist() == [True] * 7 + [False]
    assert result.kept == UNREADABLE[:7]
    assert len(result.problems) == result.summary.problems == result.summary.unreadable == 6
    assert result.summary.kept == 7
    dropped = dedup(UNREADABLE, on_error="drop")
    assert dropped.keep.tolist() == [True] + [False] * 7
    assert dropped.removed.equals(result.removed)
    assert dropped.summary.kept == 1
    with pytest.raises(InputError, match="record 2, field 'text'"):
        dedup(UNREADABLE, on_error="stop")
    found = pairs(UNREADABLE)
    assert [(r["id_a"], r["id_b"]) for r in found.table.to_pylist()] == [("a", "g")]
    assert len(found.problems) == 6


def test_unreadable_records_do_not_shift_the_order_of_a_field():
    records = [
        {"id": "a", "text": FIRST, "rank": 3},
        {"id": "b", "text": None, "rank": 1},
        {"id": "c", "text": FIRST, "rank": 2},
        {"id": "d", "text": FIRST},
        {"id": "e", "text": FIRST, "rank": 2},
    ]
    assert dedup(records, priority="field:rank").keep.tolist() == [False, True, True, False, False]
    assert dedup(records, priority="field:rank:desc").keep.tolist() == [True, True, *[False] * 3]


def test_values_of_several_kinds_are_refused():
    records = [{"text": FIRST, "rank": 1}, {"text": OTHER, "rank": "x"}]
    with pytest.raises(InputError, match=r"'rank'.*int, str"):
        dedup(records, priority="field:rank")


def test_a_name_of_a_file_is_no_table():
    for name in ("news.jsonl", Path("news.jsonl")):
        with pytest.raises(ParameterError, match=r"end in _files: dedup_files"):
            dedup(name)


@pytest.mark.parametrize("recipe", ["characters", "shingle"])
def test_one_text_many_times_is_verified_once(recipe):
    edited = FIRST.replace("排起长队", "人山人海")
    result = pairs([FIRST] * 300 + [edited], threshold=0.5, recipe=recipe)
    assert len(result.table) == 301 * 300 // 2
    assert result.summary.candidates == 1


def test_more_pairs_than_can_be_listed_are_an_error():
    with pytest.raises(InputError, match="268435456"):
        near_pairs(np.full(30_000, 7, np.uint64))


# `restore`: chosen records are kept, and nothing else changes.


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [
        {"id": f"d{number}", "text": text, "date": f"2025-{number}"}
        for number, text in enumerate(families(9, 150, length=80))
    ]
    Path("in.jsonl").write_text("\n".join(map(json.dumps, records)))


def run(output="out.jsonl", inputs="in.jsonl", **options):
    return dedup_files([inputs], output, force=True, **options)


def choose(ids):
    Path("ids.txt").write_text("".join(f"{line_of(id)}\n" for id in ids), "utf-8")
    return {"restore": "ids.txt"}


def rows_of(result):
    """Return the removed rows but for the number of documents that the kept one represents."""
    return result.removed.drop_columns("cluster_size").to_pylist()


OPTIONS = [
    {},
    {"memory": "512MiB"},
    {"work": "work"},
    {"recipe": "shingle"},
    {"priority": "longest"},
    {"priority": "field:date:desc"},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_other_rows_stay(options):
    before = run(**options)
    chosen = [row["id"] for row in rows_of(before)][::3]
    assert len(chosen) > 10
    after = run(**options, **choose(chosen))
    assert rows_of(after) == [row for row in rows_of(before) if row["id"] not in chosen]
    kept = [json.loads(line)["id"] for line in Path("out.jsonl").read_text().splitlines()]
    assert set(chosen) <= set(kept)
    assert len(kept) == after.summary.kept == before.summary.kept + len(chosen)
    assert kept == sorted(kept, key=lambda id: int(id[1:]))


def test_all_restored_is_the_input():
    chosen = [row["id"] for row in rows_of(run())]
    result = run(**choose(chosen), report="report.json")
    assert Path("out.jsonl").read_text().splitlines() == Path("in.jsonl").read_text().splitlines()
    assert rows_of(result) == []
    assert result.summary.exact_duplicates + result.summary.near_duplicates == 0
    assert json.loads(Path("report.json").read_text())["settings"]["restore"] == "ids.txt"


@pytest.mark.parametrize("others", ["in.jsonl", "in.sketches"])
def test_against_another_collection(others):
    sketch_files(["in.jsonl"], "in.sketches", force=True)
    lines = Path("in.jsonl").read_text().splitlines()
    Path("new.jsonl").write_text("\n".join(lines[::2]))
    ids = [json.loads(line)["id"] for line in lines[::2]]
    before = run(inputs="new.jsonl", against=[others])
    chosen = [row["id"] for row in rows_of(before)][:5]
    after = run(inputs="new.jsonl", against=[others], annotate=True, **choose(chosen))
    assert rows_of(after) == [row for row in rows_of(before) if row["id"] not in chosen]
    marked = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [record["id"] for record in marked] == ids
    repeats = {record["id"] for record in marked if record.get("kept_id") is not None}
    assert repeats == {row["id"] for row in rows_of(after)}


def test_repeated_ids_and_ids_with_line_breaks():
    text = families(9, 1, length=80)[0]
    records = [{"id": id, "text": text} for id in ("a", "b\n", "c", "b\n", '"c"')]
    Path("in.jsonl").write_text("\n".join(map(json.dumps, records)))
    progress = RecordedProgress()
    result = run(progress=progress, **choose(["b\n", "nosuch", "other\n"]))
    assert result.keep.tolist() == [True, True, False, True, False]
    assert "2 ids of ids.txt are not in the input, for example 'nosuch'." in progress.notes
    result = run(**choose(['"c"']))
    assert result.keep.tolist() == [True, False, False, False, True]


def test_titles_and_kinds_of_removals():
    text = "渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐，末班时间推迟到夜里十一点。"
    records = [
        {"id": "a", "text": text, "title": "新渡轮"},
        {"id": "b", "text": f"  {text}", "title": "<b>渡轮</b>\n"},
        {"id": "c", "text": f"{text}完", "name": "x"},
        {"id": "d", "text": f"{text}！！", "title": 7},
    ]
    Path("in.jsonl").write_text("\n".join(map(json.dumps, records)))
    result = run(removed="r.parquet")
    rows = pq.read_table("r.parquet").select(["id", "kind", "title", "kept_title"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("b", "identical", "<b>渡轮</b>\n", "新渡轮"),
        ("c", "similar", None, "新渡轮"),
        ("d", "identical", None, "新渡轮"),
    ]
    assert result.removed["title"].to_pylist() == [row["title"] for row in rows]
    named = run(removed="r.jsonl", title_field="name")
    assert named.removed.column("title").to_pylist() == [None, "x", None]
    assert "title" not in run().removed.column_names


def test_titles_of_another_collection():
    lines = [json.loads(line) for line in Path("in.jsonl").read_text().splitlines()]
    for name in ("old", "new"):
        records = [{**line, "title": f"{name} {line['id']}"} for line in lines]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    result = run(inputs="new.jsonl", against=["old.jsonl"], removed="r.jsonl")
    for row in map(json.loads, Path("r.jsonl").read_text().splitlines()):
        assert (row["title"], row["kept_title"]) == (f"new {row['id']}", f"old {row['kept_id']}")
    # Records without text are duplicates only under the same title.
    assert len(result.removed) == sum(bool(line["text"].strip()) for line in lines)


# The file of ids that are kept: what is written is read again, and what is typed by hand.

IDS = [
    "news-7",
    "新闻 7",
    "one\ntwo",
    "one\r",
    ' "quoted"',
    '"quoted"',
    "\ufeffmark",
    "\u2028",
    "a\0b",
    "　宽",
    "",
    "tab\t",
    "\u202e",
]


def test_saved_ids_of_a_review_are_read():
    path = Path("ids.txt")
    lines = [line_of(id) for id in IDS]
    assert lines[:2] == IDS[:2]
    assert all(len(line.splitlines()) == 1 for line in lines)
    for end in ("\n", "\r\n", "\r"):
        path.write_text(end.join(lines), "utf-8", newline="")
        assert read_ids(str(path)) == set(IDS)
    # And so are lines that are typed by hand.
    path.write_bytes('\ufeffa \r\n\r\n"b\r\n"c"\r\n["d"]\r\n{"e\r\n'.encode())
    assert read_ids(str(path)) == {"a", '"b', "c", '["d"]', '{"e'}


@pytest.mark.parametrize(
    ("data", "reason"), [(None, "cannot be read"), (b"\xff\xfe", ".*in UTF-8")]
)
def test_unreadable_lists_of_ids_are_refused(data, reason):
    if data:
        Path("ids.txt").write_bytes(data)
    with pytest.raises(InputError, match=rf"ids\.txt: {reason}"):
        read_ids("ids.txt")
