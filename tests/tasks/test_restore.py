"""`restore`: chosen records are kept, and nothing else changes."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.index.written import families
from tests.kit.progress import RecordedProgress

from neardup import InputError, dedup_files, sketch_files
from neardup.run.restore_ids import line_of, read_ids


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
    assert not [r for r in marked if r["id"] in chosen and r.get("kept_id") is not None]


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
