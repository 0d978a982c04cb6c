"""Containers of other libraries: read as tables are, and what is kept comes back in their kind."""

import polars as pl
import pyarrow as pa
import pytest
from tests.index.written import families

import neardup

TEXTS = families(8, 40)
TABLE = pa.table({"n": range(len(TEXTS)), "text": TEXTS})


@pytest.fixture(scope="module")
def expected():
    return neardup.dedup(TABLE)


def test_lazy_frames(expected):
    result = neardup.dedup(pl.from_arrow(TABLE).lazy())
    assert isinstance(result.kept, pl.LazyFrame)
    assert result.kept.collect()["n"].to_list() == expected.kept["n"].to_pylist()
    assert result.removed.equals(expected.removed)


class Stream:
    """What only has Arrow's stream interface."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


def test_stream_comes_back_as_a_table(expected):
    result = neardup.dedup(Stream())
    assert result.kept.equals(expected.kept)
    assert result.review().removals


@pytest.fixture(scope="module")
def dataset():
    import datasets

    return datasets.Dataset(TABLE)


def test_dataset(dataset, expected):
    result = neardup.dedup(dataset)
    assert type(result.kept) is type(dataset)
    assert result.kept["n"][:] == expected.kept["n"].to_pylist()
    assert result.kept.features == dataset.features


def test_dataset_dict_is_refused_with_its_first_split(dataset):
    import datasets

    splits = datasets.DatasetDict({"first": dataset, "test": dataset})
    with pytest.raises(neardup.ParameterError, match=r'Name a split: data\["first"\]\.$'):
        neardup.dedup(splits)


def test_a_selection_is_in_its_own_order(dataset):
    order = list(range(len(TEXTS)))[::-3]
    result = neardup.dedup(dataset.select(order))
    same = neardup.dedup(TABLE.take(order))
    assert result.kept["n"][:] == same.kept["n"].to_pylist()
    assert result.removed.equals(same.removed)


def test_a_format_of_the_user_stays(dataset, expected):
    result = neardup.dedup(dataset.with_format("numpy"))
    assert result.kept.format["type"] == "numpy"
    assert len(result.kept) == len(expected.kept)


def test_other_functions_take_them_too():
    frame = pl.from_arrow(TABLE).lazy()
    assert neardup.pairs(frame).table.num_rows > 10
    result = neardup.contamination(frame, [TEXTS[0]])
    assert isinstance(result.kept, pl.LazyFrame)
