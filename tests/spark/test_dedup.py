"""On two threads of one machine: the same kept rows and the same removed table."""

import gzip
import random
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import orjson
import pyarrow as pa
import pytest

import neardup
import neardup.spark
from neardup.options.signatures import complete_options
from neardup.readers.fields import Fields
from neardup.spark import job, shuffle
from neardup.spark.checkpoint import Folders
from neardup.tasks.dedup import dedup_files
from neardup.tasks.review import ALIGNED
from tests.kit.progress import RecordedProgress
from tests.spark.collections import forms, lines, texts
from tests.spark.conftest import read_parts

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def known_to_a_cluster(row: dict[str, object]) -> dict[str, object]:
    """Leave out titles, and the numbers of records with repeated ids."""
    left_out = ("title", "kept_title", "record", "kept_record")
    return {name: value for name, value in row.items() if name not in left_out}


def same_files(spark, inputs, folder: Path, **options) -> neardup.spark.SparkResult:
    """Run both ways and compare all that they write."""
    shared = {k: v for k, v in options.items() if k not in ("partitions", "batch_documents")}
    expected = dedup_files(
        inputs, folder / "kept.jsonl", removed=folder / "removed.jsonl", force=True, **shared
    )
    out = folder / "spark"
    result = neardup.spark.dedup_files(
        inputs,
        out / "kept",
        spark=spark,
        removed=out / "removed",
        checkpoint=str(folder / "checkpoint"),
        report=out / "report.json",
        force=True,
        **options,
    )
    report = orjson.loads((out / "report.json").read_bytes())
    assert report["summary"]["kept"] == result.summary.kept
    assert report["settings"]["output"] == str(out / "kept")
    # The parts of a folder have no byte order mark.
    kept = (folder / "kept.jsonl").read_bytes().removeprefix(b"\xef\xbb\xbf")
    assert read_parts(out / "kept") == kept
    removed = [orjson.loads(line) for line in read_parts(out / "removed").splitlines()]
    rows = [orjson.loads(line) for line in (folder / "removed.jsonl").read_bytes().splitlines()]
    assert removed == list(map(known_to_a_cluster, rows))
    assert result.doubtful() == list(map(known_to_a_cluster, expected.doubtful()))
    assert [str(p) for p in result.problems] == [str(p) for p in expected.problems]
    numbers = "read against unreadable without_features exact_duplicates near_duplicates kept"
    for name in [*numbers.split(), "problems", "largest_cluster"]:
        assert getattr(result.summary, name) == getattr(expected.summary, name), name
    return result


def text_of(line: bytes) -> str | None:
    try:
        return orjson.loads(line).get("text")
    except orjson.JSONDecodeError:
        return None


@contextmanager
def configured(spark, name, value):
    """Set an option of Spark for a while."""
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.unset(name)


def test_files_cut_inside_lines_give_the_same(spark, tmp_path, monkeypatch):
    # Parts of a file that are cut in the midst of lines.
    monkeypatch.chdir(tmp_path)
    titles = ("a", "b", "a", None)
    blank = [{"title": title, "text": text} for text in ("", "。") for title in titles]
    every = lines(5, 300) + [orjson.dumps(row) for row in blank]
    Path("b.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\n".join(every[:240]) + b"\n")
    with gzip.open("a.jsonl.gz", "wb") as packed:
        packed.write(b"\n".join(every[240:]))
    names = [str(tmp_path / name) for name in ("b.jsonl", "a.jsonl.gz")]
    options = {"recipe": "minhash", "threshold": 0.7, "partitions": 2, "batch_documents": 111}
    with configured(spark, "spark.sql.files.maxPartitionBytes", "70000"):
        result = same_files(spark, names, tmp_path, **options)
    assert result.summary.near_duplicates > 8 < result.summary.exact_duplicates
    assert result.summary.problems > 1
    assert result.summary.shuffled_bytes > 0
    assert result.summary.peak_memory > 0
    assert {path.suffix for path in (tmp_path / "spark" / "kept").glob("part-*")} == {".jsonl"}


def test_files_with_the_same_texts_are_input_and_against(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    every = lines(9, 400)
    random.Random(9).shuffle(every)
    parts = {"a": every[:200], "copy": every[:200], "b": every[200:330], "c": every[330:]}
    for name, part in parts.items():
        Path(f"{name}.jsonl").write_bytes(b"\n".join(part) + b"\n")
    a, copy, b, c = (str(tmp_path / f"{name}.jsonl") for name in parts)
    notes = RecordedProgress()
    options = {"against": [b, c], "progress": notes, "partitions": 2, "batch_documents": 64}
    # Requests are taken for too many to be sent to all tasks.
    with configured(spark, "spark.sql.autoBroadcastJoinThreshold", "-1"):
        result = same_files(spark, [a, copy, b], tmp_path, **options)
    assert result.summary.near_duplicates >= 8
    assert result.summary.exact_duplicates > 150
    removed = result.removed.toArrow().to_pylist()
    assert {row["kept_from"] for row in removed} == {"against", "input"}
    # One note of each way.
    first, second = (note for note in notes.notes if note.startswith(b))
    assert first == second


def test_a_table_by_columns_against_another_table(spark):
    body = pa.array(texts(12, 400), pa.string())
    every = pa.table({"n": range(400), "key": [f"id {n}" for n in range(400)], "body": body})
    table, other = every.take(list(range(0, 400, 2))), every.take(list(range(1, 400, 2)))
    other = other.select(["body", "key"])
    # The order is that of the column, wherever the rows are.
    frame = spark.createDataFrame(table.take(list(range(200))[::-1])).repartition(4)
    frame = frame.selectExpr("*", "named_struct('n', n, 'key', key) as meta", *OF_ALL_TYPES)
    options = {"text_field": "body", "recipe": "shingle", "against_only": True}
    expected = neardup.dedup(table, against=other, id_field="key", **options)
    others = spark.createDataFrame(other).coalesce(1)
    others = others.selectExpr("body", "named_struct('key', key) as meta")
    # Fields inside of a column, too.
    options |= {"order_by": "meta.n", "id_field": "meta.key"}
    result = neardup.spark.dedup(frame, against=others, partitions=2, batch_documents=64, **options)
    assert result.kept.dtypes == frame.dtypes
    kept = result.kept.select(*table.column_names).toArrow()
    assert kept.equals(expected.kept.cast(kept.schema))
    names = {"meta", *table.column_names}
    (row,), (same,) = (
        rows.select(*(f"`{name}`" for name in rows.columns if name not in names)).take(1)
        for rows in (result.kept, frame)
    )
    assert str(row) == str(same)
    assert result.removed.toArrow().to_pylist() == expected.removed.to_pylist()
    assert result.summary.kept == len(expected.kept)
    assert result.summary.against == 200
    near = sum(row["similarity"] < 1 for row in expected.removed.to_pylist())
    of_review = [removal.similarity < 1 for removal in result.review().removals]
    assert of_review.count(True) == near > 8
    folder = Path(result.checkpoint.removeprefix("file:"))
    assert folder.is_dir()
    result.close()
    assert not folder.exists()


#: As columns of Spark's SQL.
OF_ALL_TYPES = [
    "timestamp'1500-01-01 00:00:00' as old",
    "timestamp'2024-02-29 12:00:00.000001' as new",
    "date'1400-03-03' as day",
    "timestamp_ntz'2020-01-01 00:00:01.123456' as local",
    "1.25BD as amount",
    "map('a', array(1, 2)) as counts",
    "named_struct('x', 1, 'y', null) as parts",
    "X'FF00' as bytes",
    "interval 3 day as wait",
    "null as nothing",
    "1 as `a (b); c=d`",
]


def pairs_of(removed):
    return [(r["id"], r["kept_id"], r["similarity"]) for r in removed.to_pylist()]


def test_capped_list_needs_a_second_round(spark):
    made = forms(60)
    frame = spark.createDataFrame(pa.table({"text": made})).coalesce(1)
    result = neardup.spark.dedup(frame, partitions=2, batch_documents=16)
    expected = neardup.dedup([{"text": text} for text in made])
    removed = pairs_of(result.removed.toArrow())
    assert removed == pairs_of(expected.removed)
    assert len(removed) >= 20
    assert result.summary.rounds >= 2
    left_out = ("capped_lists", "skipped_documents", "skipped_pairs")
    counts, same = (
        [getattr(summary, name) for name in left_out]
        for summary in (result.summary, expected.summary)
    )
    assert counts == same
    assert result.summary.skipped_pairs > 0
    result.close()


def test_empty_frame_gives_an_empty_result(spark):
    result = neardup.spark.dedup(spark.createDataFrame([], "text string"), partitions=1)
    assert result.kept.collect() == []
    assert result.summary.read == 0
    result.close()


def test_a_job_of_small_files_goes_on_where_it_was_ended(spark, tmp_path, monkeypatch):
    every = lines(11, 240)
    # Spark puts files together by size, the largest first; they are written in order.
    names = []
    for number, begin in enumerate(range(0, len(every), 40)):
        part = every[begin : begin + (40 if number % 2 else 20)]
        names.append(str(tmp_path / f"in-{number}.jsonl"))
        Path(names[-1]).write_bytes(b"\n".join(part))
    done = []
    has = job.Checkpoint.has

    def noted(self, name):
        done.append((name, has(self, name)))
        return done[-1][1]

    options = {"partitions": 2, "batch_documents": 16}
    resumed = options | {"spark": spark, "checkpoint": str(tmp_path / "checkpoint")}
    # It goes on with another number of partitions, too.
    for step, partitions in (("_make_lists", 3), ("_apply_rule", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(shuffle.Search, step, lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                neardup.spark.dedup_files(
                    names, tmp_path / "out", **resumed | {"partitions": partitions}
                )
    assert (tmp_path / "checkpoint" / "counts-6" / "_SUCCESS").exists()
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(job.Checkpoint, "has", noted)
    result = same_files(spark, names, tmp_path, **options)
    assert result.summary.near_duplicates >= 5 < result.summary.exact_duplicates
    assert dict(done[:5])["documents"] is True
    assert dict(done)["round-0/verified"] is True
    assert dict(done)["round-0/decided"] is False
    for name, value in (("threshold", 0.9), ("max_text", "1MB")):
        with pytest.raises(neardup.InputError, match=rf"other settings: {name} .*checkpoint="):
            neardup.spark.dedup_files(names, tmp_path / "other", **{name: value}, **resumed)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *((bad, r"job\.json: has changed .*: delete") for bad in (b"{", b"[1]", b"7", b"\xff")),
        # Versions without a manifest left settings alone.
        (b'{"threshold": 0.5}', r"another version .*checkpoint="),
    ],
)
def test_damaged_checkpoint_is_refused(spark, tmp_path, content, message):
    (tmp_path / "neardup-job.json").write_bytes(content)
    with pytest.raises(neardup.InputError, match=message):
        job.Checkpoint(spark, str(tmp_path), {"threshold": 0.5})


def test_a_checkpoint_of_another_version_is_refused(spark, tmp_path, monkeypatch):
    run = {"threshold": 0.5}
    for _ in range(2):
        job.Checkpoint(spark, str(tmp_path), run)
    monkeypatch.setattr("neardup.run.checkpoint.__version__", "99")
    with pytest.raises(neardup.InputError, match=r"another version .*checkpoint="):
        job.Checkpoint(spark, str(tmp_path), run)


def test_parquet_gives_the_same(spark, tmp_path):
    every = texts(9, 200)
    frame = pa.table({"text": pa.array(every, pa.string()), "list": [[1, 2]] * len(every)})
    import pyarrow.parquet as pq

    source = tmp_path / "in.parquet"
    pq.write_table(frame, source, row_group_size=60)
    result = neardup.spark.dedup_files(
        [source],
        tmp_path / "out",
        recipe="news",
        spark=spark,
        removed=tmp_path / "removed.parquet",
        review=tmp_path / "review.html",
        partitions=2,
        batch_documents=25,
    )
    # A review by a rule that compares fingerprints only.
    page = tmp_path / "one.html"
    dedup_files([source], tmp_path / "one.parquet", recipe="news", review=page)
    assert (tmp_path / "review.html").read_bytes() == page.read_bytes()
    expected = neardup.dedup(frame, recipe="news")
    parts = [pq.read_table(path) for path in sorted((tmp_path / "out").glob("part-*"))]
    kept = pa.concat_tables(parts)
    assert kept["text"].to_pylist() == expected.kept["text"].to_pylist()
    assert result.kept.count() == len(kept)
    removed = pq.read_table(tmp_path / "removed.parquet")
    for column in ("similarity", "distance"):
        assert removed[column].to_pylist() == expected.removed[column].to_pylist()
    numbers = [int(key) + 1 for key in expected.removed["id"].to_pylist()]
    assert removed["id"].to_pylist() == [f"{source}:{number}" for number in numbers]
    assert not (tmp_path / "out.checkpoint").exists()


def test_part_files_of_text_are_named_by_their_content(spark, tmp_path):
    for name in ("0-a.txt.gz", "1-a.txt", "2-a.snappy.parquet"):
        (tmp_path / f"part-0000{name}").write_bytes(b"")
    Folders(spark).name_parts(str(tmp_path))
    names = sorted(path.name for path in tmp_path.glob("part-*"))
    assert names == ["part-00000-a.jsonl.gz", "part-00001-a.jsonl", "part-00002-a.snappy.parquet"]


def test_bad_call_is_refused_before_a_job_runs(spark, tmp_path, make):
    source, mine = str(tmp_path / make("in.jsonl", b'{"text": "x"}\n')), str(tmp_path / "mine")
    make("in.csv", b"text\nx\n")
    make("mine/thesis.txt", "x")
    out, forced = str(tmp_path / "o"), {"force": True}
    for inputs, output, options, says in (
        ([tmp_path / "none.jsonl"], out, {}, "no such file"),
        ([source, source], out, {}, "must be named once"),
        ([tmp_path / "in.csv"], out, {}, r"must end in \.jsonl"),
        ([source], mine, {}, "exists already"),
        ([source], tmp_path, forced, "must not contain"),
        ([source], source, forced, "must not be both input and output"),
        ([source], f"{source}/out", forced, "must not be inside"),
        ([source], mine, forced, r"must be a folder that Spark wrote.* contains thesis\.txt"),
        ([source], out, {"checkpoint": mine}, "must be empty or the checkpoint"),
        ([source], out, {"checkpoint": str(tmp_path)}, "must not contain"),
    ):
        with pytest.raises(neardup.NeardupError, match=says):
            neardup.spark.dedup_files(inputs, output, spark=spark, **options)
    assert Path("mine/thesis.txt").read_text() == "x"
    assert Path(source).stat().st_size > 0


def test_removed_checkpoint_leaves_other_files(spark, tmp_path):
    made = job.Checkpoint(spark, str(tmp_path), {})
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "round-0").mkdir()
    made.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_bad_value_is_refused_by_name(spark):
    frame = spark.createDataFrame([("x", 1)], "text string, n int")
    for name, value in [
        ("text_field", 7),
        ("id_field", ["n"]),
        ("threshold", 0),
        ("recipe", "characters"),
        ("order_by", "nothing"),
        ("order_by", "n.id"),
        ("on_error", "ignore"),
        ("partitions", 0),
        ("batch_documents", 1 << 17),
    ]:
        with pytest.raises(neardup.ParameterError, match=f"'{name}' parameter must"):
            neardup.spark.dedup(frame, **{name: value})
    with pytest.raises(neardup.ParameterError, match="'df' parameter must be a DataFrame"):
        neardup.spark.dedup([{"text": "x"}])
    with pytest.raises(neardup.InputError, match="must hold text"):
        neardup.spark.dedup(frame, text_field="n")


def test_checkpoint_depends_on_the_whole_rule():
    """No stage of another rule is reused: all of the rule is in the description of the job."""
    containment = neardup.load_recipe("containment")

    def described(recipe=containment, **options):
        given = complete_options(neardup.spark.dedup_files, {"recipe": recipe, **options})
        settings = job.make_settings(given, Fields(max_text=given["max_text"]), lines=True)
        known = SimpleNamespace(settings=settings, batch_documents=given["batch_documents"])
        return repr(job.Job._describe(known))

    decide = {"direction": "both", "shingle": 4, "common": "none", "min_features": 3}
    changes = [{"recipe": containment.replace(decide={name: decide[name]})} for name in decide]
    changes += [{"threshold": 0.9}, {"max_text": "1MB"}, {"batch_documents": 7}]
    changes += [{"exhaustive": True}, {"against_only": True}]
    assert len({described(), *(described(**change) for change in changes)}) == 1 + len(changes)


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz"])
def test_no_record_has_the_text_field(spark, tmp_path, name, pack):
    lines = b'\xef\xbb\xbf{"txt": "a"}\n{"txt": "b"}\n{"txt": "c", "n": 1}\n'
    (tmp_path / name).write_bytes(pack(lines, (tmp_path / name).suffix))
    with pytest.raises(neardup.InputError) as caught:
        neardup.spark.dedup_files([tmp_path / name], tmp_path / "out", spark=spark)
    assert str(caught.value) == (
        f"{tmp_path / name}: must have a text field 'text', 'content' or 'body'. Got 3 records with"
        " 'txt', 'n' instead. Name the field with text_field=. Did you mean 'txt'?"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_unreadable_records_are_dropped_or_stop_the_job(spark, tmp_path, monkeypatch):
    source = tmp_path / "in.jsonl"
    checkpoints = tmp_path / "checkpoints"
    checkpoints.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(checkpoints))
    first = b'{"text": "the ferry leaves"}\n'
    source.write_bytes(first + b'{bad\n{"text": 7}\n{"text": "the ferry leaves now"}')
    options = {"spark": spark, "recipe": "shingle", "threshold": 0.3}
    with pytest.raises(neardup.InputError, match=r"record 2: must be valid JSON.*Stopped"):
        neardup.spark.dedup_files([source], tmp_path / "out", on_error="stop", **options)
    result = neardup.spark.dedup_files([source], tmp_path / "out", on_error="drop", **options)
    assert read_parts(tmp_path / "out") == first
    # No list was closed, and nothing repeats what was dropped.
    assert (result.summary.near_duplicates, result.summary.rounds) == (1, 1)
    # Neither job has a name for its checkpoint, so neither leaves one.
    assert list(checkpoints.iterdir()) == []
    with pytest.raises(neardup.ParameterError, match="review"):
        result.review()


@pytest.mark.parametrize(
    ("units", "error", "message"),
    [
        ("tests.golden.segmenters:failing", neardup.InputError, "ZeroDivisionError: no words in 7"),
        ("no.such.module:f", neardup.ParameterError, "importing 'no.such.module' failed"),
    ],
)
def test_failing_segmenter_ends_the_job(spark, units, error, message):
    recipe = neardup.load_recipe("classic").replace(segment={"units": units})
    frame = spark.createDataFrame([("a text!",)], "text string")
    with pytest.raises(error, match=message) as raised:
        neardup.spark.dedup(frame, recipe=recipe)
    assert raised.value.values, "the message is data, for translation"


def test_a_review_shows_the_same(spark, tmp_path):
    every = [line.replace(b'"title":', b'"name":') for line in lines(7, 400)]
    edited = [line.replace(b'"text":"', '"text":"本报讯'.encode()) for line in every[:60]]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(every))
    (tmp_path / "b.jsonl").write_bytes(b"\n".join(edited))
    inputs, against = [tmp_path / "in.jsonl"], [tmp_path / "b.jsonl"]
    page = tmp_path / "one.html"
    alone = dedup_files(
        inputs, tmp_path / "k.jsonl", against=against, review=page, recipe="shingle"
    )
    options = {"spark": spark, "against": against, "recipe": "shingle", "batch_documents": 64}
    many = neardup.spark.dedup_files(
        inputs, tmp_path / "out", review=tmp_path / "many.html", **options
    )
    review, expected = many.review(), alone.review()
    assert len(expected.removals) > ALIGNED
    assert expected.groups
    assert {removal.is_against for removal in expected.removals} == {True, False}
    for name in ("removals", "groups", "classes"):
        assert getattr(review, name) == getattr(expected, name)
    assert (tmp_path / "many.html").read_bytes() == page.read_bytes()
    with pytest.raises(neardup.OutputError, match=r"many\.html: exists already"):
        neardup.spark.dedup_files(
            inputs, tmp_path / "out2", review=tmp_path / "many.html", **options
        )
