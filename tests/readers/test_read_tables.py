"""Tables and lists in memory: the same batches, and the same kind back."""

import re
import time
from collections import UserDict
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.index.written import families
from tests.readers.conftest import read_all

from neardup import contamination, dedup, dedup_files, pairs, repeats
from neardup.exceptions import InputError, ParameterError
from neardup.readers import open_sources, open_table

TEXTS = ["甲", "乙", "丙", "丁"]
KEEP = np.array([True, False, True, False])
ROWS = [{"text": t, "id": i + 10, "title": t * 2, "n": i} for i, t in enumerate(TEXTS)]
TABLE = pa.Table.from_pylist(ROWS)


class Stream:
    """Anything that only speaks the Arrow stream protocol, and only once."""

    def __init__(self, table):
        self._reader = table.to_reader()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


#: Containers of records, each made anew, and the kind that comes back where it is another one.
CONTAINERS = {
    "table": (lambda: TABLE, None),
    "chunked": (lambda: pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]), None),
    "record batch": (lambda: TABLE.to_batches()[0], None),
    "reader": (lambda: TABLE.to_reader(max_chunksize=2), None),
    "stream": (lambda: Stream(TABLE), pa.Table),
    "pandas": (lambda: TABLE.to_pandas().set_index(pd.Index(list("abcd"))), None),
    "pandas objects": (lambda: pd.DataFrame(ROWS).astype({"text": object}), None),
    "polars": (lambda: pl.DataFrame(ROWS), None),
    "dicts": (lambda: ROWS, None),
    "tuple of dicts": (lambda: tuple(ROWS), None),
    "iterator": (lambda: (row for row in ROWS), list),
}
#: The same of texts alone.
SERIES = {
    "list": (lambda: TEXTS, None),
    "tuple": (lambda: tuple(TEXTS), None),
    "iterator": (lambda: map(str, TEXTS), list),
    "pandas": (lambda: pd.Series(TEXTS), None),
    "polars": (lambda: pl.Series(TEXTS), None),
    "array": (lambda: pa.array(TEXTS), None),
    "chunked array": (lambda: TABLE["text"], None),
    "numpy": (lambda: np.array(TEXTS), None),
    "numpy objects": (lambda: np.array(TEXTS, object), None),
    "numpy strings": (lambda: np.array(TEXTS, np.dtypes.StringDType()), None),
}


def read(source, **options):
    got = read_all(source, titles=True, **options)
    problems = [(p.record, p.field, p.reason.code) for p in got["problems"]]
    return got["texts"], got["ids"], got["titles"], got["extra"].get("n", []), problems


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("size", [1, 3, 8192])
def test_container_of_records_is_read_and_its_kind_comes_back(kind, size):
    make, other = CONTAINERS[kind]
    data = make()
    source = open_table(data, extra_fields=["n"])
    for _ in range(2):
        got = read(source, batch_records=size)
        assert got == (TEXTS, ["10", "11", "12", "13"], [t * 2 for t in TEXTS], [0, 1, 2, 3], [])
    assert source.records == 4
    kept = source.kept(KEEP)
    assert type(kept) is (other or type(data))
    if isinstance(data, pd.DataFrame):
        assert kept.equals(data.iloc[[0, 2]])
        assert (kept.dtypes == data.dtypes).all()
    elif isinstance(data, pl.DataFrame):
        assert kept.equals(data[[0, 2]])
    elif isinstance(kept, (list, tuple)):
        assert list(kept) == [ROWS[0], ROWS[2]]
    else:
        kept = kept.read_all() if isinstance(kept, pa.RecordBatchReader) else kept
        assert kept.to_pylist() == [ROWS[0], ROWS[2]]


@pytest.mark.parametrize("kind", SERIES)
def test_texts_alone_are_read_and_their_kind_comes_back(kind):
    make, other = SERIES[kind]
    data = make()
    source = open_table(data, text_field="ignored for lack of fields")
    assert read(source)[:2] == read(source)[:2] == (TEXTS, ["0", "1", "2", "3"])
    kept = source.kept(KEEP)
    assert type(kept) is (other or type(data))
    assert getattr(kept, "dtype", None) == getattr(data, "dtype", None)
    assert list(map(str, kept)) == ["甲", "丙"]


def test_title_missing_in_all_rows_is_a_problem():
    rows = [{"text": "a"}, {"text": "b"}]
    for titles in (True, False):
        (batch,) = open_table(rows, title_field="headline").batches(titles=titles)
        assert [str(p) for p in batch.problems] == [
            "input: field 'headline': must be present in at least one record, since it was named"
            " as the title. Got 2 records without it instead."
        ]
    rows.append({"text": "c", "headline": None})
    (batch,) = open_table(rows, title_field="headline").batches()
    assert batch.problems == []
    with pytest.raises(InputError, match="must have the title column 'headline'"):
        open_table(TABLE, title_field="headline")


def test_invalid_text_is_a_problem():
    texts, *_, problems = read(open_table(["a", None, 3, "\ud800", b"b", "c"]))
    assert texts == ["a", None, None, None, None, "c"]
    assert problems == [
        *((record, "text", "not_a_text") for record in (2, 3)),
        (4, "text", "lone_surrogate"),
        (5, "text", "not_a_text"),
    ]
    rows = [
        {"text": "a"},
        {"body": "b"},
        7,
        {"text": 1.5, "body": "b"},
        {"n": 1},
        {"body": "\ud800"},
    ]
    texts, *_, problems = read(open_table(rows))
    assert texts == ["a", "b", None, None, None, None]
    assert problems == [
        (3, None, "invalid_json"),
        (4, "text", "not_a_text"),
        (5, None, "no_text_field"),
        (6, "body", "lone_surrogate"),
    ]
    texts, ids, *_, problems = read(open_table(rows[:2], text_field="body", id_field="text"))
    assert (texts, ids) == ([None, "b"], ["a", "1"])
    assert problems == [(1, "body", "no_such_field"), (2, "text", "not_an_id")]
    frame = pd.DataFrame({"text": pd.Series(["a", None, 3, "b"], dtype=object)})
    assert read(open_table(frame))[0] == ["a", None, None, "b"]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (TABLE.to_batches(), r"RecordBatch as item 0.*from_batches\(\.\.\.\), or pandas\.concat"),
        (iter([TABLE, TABLE]), r"Table as item 0.*from_batches"),
        ([pd.DataFrame(ROWS)], r"DataFrame as item 0.*pandas\.concat"),
        ([None, 1, "a"], "int as item 1 instead[.]$"),
        (np.array([1.5, 2]), "float as item 0 instead[.]$"),
        ((b"a", b"a"), r"bytes as item 0.*bytes\.decode\(\)"),
        ([("a", "text")], "tuple as item 0 instead[.]$"),
        ([UserDict(text="a")], r"UserDict as item 0.*dict\(\.\.\.\)"),
    ],
)
def test_list_of_neither_texts_nor_records_is_refused(data, found):
    with pytest.raises(ParameterError, match=rf"'many' parameter must be a list .*Got {found}"):
        open_table(data, parameter="many")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (["a", {"text": "a"}], "record 2, field 'text': must be text"),
        ([{"text": "a", "id": "1"}, "a"], "record 2: must be a dict"),
        ([None, "a"], "record 1, field 'text': must be text. Got null"),
    ],
)
def test_later_item_of_another_kind_is_a_shown_problem(data, problem):
    """One text is left, so that every task reads one record and has one problem."""
    for task in (dedup, pairs, repeats, lambda data: contamination(data, ["一" * 20])):
        result = task(data)
        assert (result.summary.read, result.summary.unreadable) == (2, 1)
        shown = repr(result)
        assert re.search(r"\n  unreadable +1\n  problems +1\n  first problem +input: ", shown)
        assert problem in shown
    assert "problems" not in repr(dedup(["a", "b"]))


def test_dicts_without_the_text_field_are_refused():
    rows = [{"txt": "a", "n": 1}, {"n": 2}]
    for data in (rows, tuple(rows), iter(rows), np.array(rows)):
        with pytest.raises(InputError) as caught:
            open_table(data)
        assert str(caught.value) == (
            "input: must have a text field 'text', 'content' or 'body'. Got 2 records with"
            " 'txt', 'n' instead. Name the field with text_field=. Did you mean 'txt'?"
        )
    with pytest.raises(InputError, match="must have a text field 'story'"):
        open_table(rows, text_field="story")


def test_empty():
    for empty in (
        [],
        (),
        TABLE.slice(0, 0),
        np.array([], dtype=str),
        pl.DataFrame({"text": pl.Series([], dtype=pl.String)}),
        pl.DataFrame({"text": []}),
        pd.DataFrame({"text": []}),
        pd.DataFrame({"text": []}, dtype=object),
        pd.DataFrame({"text": [], "title": []}, dtype="float64"),
        pd.Series([], dtype="float64"),
    ):
        source = open_table(empty)
        assert list(source.batches()) == []
        assert type(source.kept([])) is type(empty)


def test_refused():
    with pytest.raises(
        InputError, match=r"^input: column 'text' must hold text. Got int64 instead"
    ):
        open_table(pa.table({"text": [1]}))
    with pytest.raises(
        InputError, match=r"^input: must have a text column 'x'. Got 'text' instead"
    ):
        open_table(pl.DataFrame({"text": ["a"]}), text_field="x")
    with pytest.raises(ParameterError, match="not int"):
        open_table(5)
    with pytest.raises(ParameterError, match="not str"):
        open_table("a text")
    for data in ({"a", "b"}, np.array([["a"], ["b"]]), pd.Index(["a"])):
        with pytest.raises(ParameterError, match=r"Make a list of it: list\(\.\.\.\)\.$"):
            open_table(data)


def test_views_of_texts_are_kept_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    views = {
        "text": pa.array([*TEXTS, TEXTS[0]], pa.string_view()),
        "raw": pa.array([b"a", b"b", b"c", b"d", b"e"], pa.binary_view()),
    }
    table = pa.table(views)
    pq.write_table(table, "a.parquet")
    dedup_files(["a.parquet"], "kept.parquet", recipe="strict")
    assert pq.read_table("kept.parquet").to_pylist() == table.slice(0, 4).to_pylist()
    keep = np.array([True, False, True, True, False])
    for data in (table, table.to_batches()[0], table.column(0), table.column(0).chunk(0)):
        expected = [row for row, is_kept in zip(data.to_pylist(), keep, strict=True) if is_kept]
        assert open_table(data).kept(keep).to_pylist() == expected
        assert open_table(data).kept(np.zeros(5, bool)).to_pylist() == []


def seconds_of(columns):
    """Return the least processor seconds of three times reading a table of many columns."""
    names = [f"c{number}" for number in range(columns - 1)] + ["text"]
    table = pa.table([pa.array(["a"])] * columns, names)
    Path("wide.csv").write_text(",".join(names) + "\n" + ",".join(["a"] * columns) + "\n")
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        for source in (open_table(table), open_sources(["wide.csv"])):
            assert [len(batch) for batch in source.batches()] == [1]
        seconds.append(time.process_time() - begin)
    return min(seconds)


def test_time_grows_as_the_columns_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    most = 1 << 16
    # Sixteen times the columns took 256 times as long.
    assert seconds_of(most) < 64 * seconds_of(most // 16)
    for more in (most + 1, 3 * most):
        Path("wide.csv").write_text(",".join(["text"] * more) + "\n")
        with pytest.raises(InputError, match=r"^wide.csv: must have at most 65,536 columns"):
            open_sources(["wide.csv"])


MANY = families(8, 40)
MANY_ROWS = pa.table({"n": range(len(MANY)), "text": MANY})


@pytest.fixture(scope="module")
def expected():
    return dedup(MANY_ROWS)


@pytest.fixture(scope="module")
def dataset():
    import datasets

    return datasets.Dataset(MANY_ROWS)


@pytest.mark.parametrize("kind", ["lazy", "stream", "data set", "formatted data set"])
def test_container_and_its_table_have_the_same_result(dataset, expected, kind):
    makers = {
        "lazy": lambda: pl.from_arrow(MANY_ROWS).lazy(),
        "stream": lambda: Stream(MANY_ROWS),
        "data set": lambda: dataset,
        "formatted data set": lambda: dataset.with_format("numpy"),
    }
    data = makers[kind]()
    result = dedup(data)
    kept = result.kept
    assert type(kept) is (pa.Table if kind == "stream" else type(data))
    numbers = kept.collect()["n"].to_list() if kind == "lazy" else kept["n"]
    assert [int(str(n)) for n in (numbers[:] if "set" in kind else numbers)] == (
        expected.kept["n"].to_pylist()
    )
    assert result.removed.equals(expected.removed)
    if "set" in kind:
        assert (kept.features, kept.format["type"]) == (dataset.features, data.format["type"])
    if kind == "stream":
        assert result.review().removals
    if kind == "lazy":
        assert pairs(data).table.num_rows > 10
        assert isinstance(contamination(data, [MANY[0]]).kept, pl.LazyFrame)


def test_dataset_dict_is_refused_with_its_first_split(dataset):
    import datasets

    splits = datasets.DatasetDict({"first": dataset, "test": dataset})
    with pytest.raises(ParameterError, match=r'Name a split: data\["first"\]\.$'):
        dedup(splits)


def test_a_selection_is_in_its_own_order(dataset):
    order = list(range(len(MANY)))[::-3]
    result = dedup(dataset.select(order))
    same = dedup(MANY_ROWS.take(order))
    assert result.kept["n"][:] == same.kept["n"].to_pylist()
    assert result.removed.equals(same.removed)
