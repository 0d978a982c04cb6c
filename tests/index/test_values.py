"""Times as people write them, and values that a database, JSON or the calendar cannot hold."""

import zoneinfo
from datetime import UTC, date, datetime, timedelta, timezone

import pandas as pd
import pyarrow as pa
import pytest
from tests.index.databases import BOTH
from tests.index.written import FERRY
from tests.kit.strategies import TEXTS

from neardup import InputError, ParameterError
from neardup.base.validation import check_zone
from neardup.index.values import check_time, convert_stamp, parse_stamp, stamp


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2020-3-30 23:37:00", "2020-03-30T23:37:00"),
        ("2020/3/30", "2020-03-30T00:00:00"),
        ("2020/03/30 7:05", "2020-03-30T07:05:00"),
        (" 2020-3-5T7:5:1.5 ", "2020-03-05T07:05:01.500000"),
        ("2020-3-30 7:00 +08:00", "2020-03-29T23:00:00"),
        ("2020-3-30 7:00Z", "2020-03-30T07:00:00"),
        ("20200330", "2020-03-30T00:00:00"),
        ("2024-03-09T08:00:00+08:00", "2024-03-09T00:00:00"),
        (datetime(2024, 3, 9), "2024-03-09T00:00:00"),
        (date(2024, 3, 9), "2024-03-09T00:00:00"),
        (
            datetime(2024, 3, 9, 1, 2, 3, 456789, timezone(timedelta(hours=-3))),
            "2024-03-09T04:02:03.456789",
        ),
        (pd.Timestamp("2024-03-09", tz="Asia/Shanghai"), "2024-03-08T16:00:00"),
        (datetime.min, "0001-01-01T00:00:00"),
        (datetime.max, "9999-12-31T23:59:59.999999"),
    ],
)
def test_valid_times_are_read(given, meant):
    time = check_time(given, "at")
    assert time.isoformat() == f"{meant}+00:00"
    assert convert_stamp(stamp(time)) == time


def test_time_outside_utc_is_refused():
    with pytest.raises(ParameterError, match=r"'at' parameter must be .* 1 and 9999 in UTC"):
        check_time("0001-01-01T00:00:00+14:00", "at")


@pytest.mark.parametrize(
    "given",
    [
        *("3/4/2020", "30.3.2020", "20-3-30", "2020-3/30", "２０２０-3-30", "yesterday", ""),
        *("2020-13-1", "2020-2-30", "2020-3-30 24:01", "2020-3-30 7"),
        *("1584000000", "1711112312359"),
    ],
)
def test_ambiguous_times_are_refused(given):
    assert parse_stamp(given) == "must be a time such as 2024-03-09T08:00:00+08:00 or 2024-3-9 8:00"
    with pytest.raises(ParameterError, match="'at' parameter must be a time such as"):
        check_time(given, "at")


@pytest.mark.parametrize("given", [1_584_000_000, 1.5e9])
def test_a_number_is_not_a_time(given):
    assert str(parse_stamp(given)).endswith("; a plain number does not say its unit")


def test_zone_is_for_times_without_one(index):
    times = ("2020-3-30 7:00", "2020-03-30T07:00Z", datetime(2020, 3, 30, 7))
    rows = [{"id": str(number), "text": str(number), "at": at} for number, at in enumerate(times)]
    index.add_many(rows, at_field="at", at_zone="Asia/Shanghai")
    index.add("d", "The last text.", at="2020-3-30 7:00", at_zone=zoneinfo.ZoneInfo("Asia/Tokyo"))
    midnight = datetime(2020, 3, 30, tzinfo=UTC)
    hours = [(one.at - midnight) / timedelta(hours=1) for one in index.documents()]
    assert hours == [-1, 7, -1, -2]


def test_a_zone_may_be_a_tzinfo():
    zone = timezone(timedelta(hours=3))
    assert check_zone(zone, "at_zone") is zone
    assert check_zone(None, "at_zone") is UTC


# values that cannot be stored


def check_refused(added, field, *records):
    """Whether these records of a collection, and no others, have a printable problem."""
    assert [(problem.record, problem.field) for problem in added.problems] == [
        (record, field) for record in records
    ]
    assert [number for number, keep in enumerate(added.keep, 1) if not keep] == [*records]
    for problem in added.problems:
        check_printable(str(problem))


def check_printable(message):
    message.encode()
    assert "\0" not in message
    assert len(message) < 500


@BOTH
@pytest.mark.parametrize(
    "id", ["", "a\0b", "\ud800", "雪" * 1000], ids=["empty", "NUL", "surrogate", "long"]
)
def test_impossible_ids_are_refused_and_unknown(index, id):
    many = [{"id": "b", "text": "one"}, {"id": id, "text": "two"}, {"id": "c", "text": "three"}]
    check_refused(index.add_many(many), "id", 2)
    assert [document.id for document in index.documents()] == ["b", "c"]
    assert id not in index
    assert index.get(id) is None
    assert index.reconsider([id, "b"]) == []
    for call in (index.explain, index.remove):
        with pytest.raises(InputError, match="there is no document") as told:
            call(id)
        check_printable(str(told.value))


@BOTH
def test_the_longest_id(index):
    id = "雪" * 666 + "ab"
    index.add(id, "another text")
    assert index.get(id).text == "another text"
    assert index.remove(id).removed == 1
    assert index.explain(id).events[0].action == "removed"
    with pytest.raises(ParameterError, match="'id' parameter must be text of at most 2,000 bytes"):
        index.add(id + "c", "another text")


def test_ids_of_many_are_texts_or_whole_numbers(index):
    for many in (["one", "two"], pa.table({"text": ["one"]})):
        with pytest.raises(InputError, match=r"\bid"):
            index.add_many(many)
    assert not index.add_many([{"text": "one"}]).keep.any()
    for id in (None, 1.5, ["x"], True, {"x": 1}):
        check_refused(index.add_many([{"id": id, "text": "one"}]), "id", 1)
    index.add_many([{"id": 7, "text": "one"}, {"id": 2**70, "text": "two"}])
    assert [document.id for document in index.documents()] == ["7", str(2**70)]


@pytest.mark.parametrize("text", [None, 7, b"bytes", "\ud800", [1], {"x": "y"}])
def test_invalid_text_is_refused(index, text):
    many = [{"id": "b", "text": text}, {"id": "c", "text": "x"}]
    check_refused(index.add_many(many), "text", 1)


@BOTH
def test_hostile_texts_come_back_unchanged(index):
    for name, text in TEXTS.items():
        index.add(name, text)
    added = index.add_many([{"id": id, "text": text} for id, text in TEXTS.items()])
    assert (added.new, added.already, added.problem_count) == (0, len(TEXTS), 0)
    assert {document.id: document.text for document in index.documents()} == TEXTS


@BOTH
def test_invalid_field_of_one_record_is_refused(index):
    sources = ("\ud800", 7, "x\0y")
    many = [{"id": str(n), "text": str(n), "from": source} for n, source in enumerate(sources)]
    check_refused(index.add_many(many, source_field="from"), "from", 1)
    result = [document.source for document in index.documents()]
    assert result == ["7", "x\N{REPLACEMENT CHARACTER}y"]


@BOTH
def test_extra_outside_json_is_refused(index):
    deep, circle = [], {}
    for _ in range(100_000):
        deep = [deep]
    circle["x"] = circle
    bad = [{"x": "\ud800"}, {"x": deep}, circle, {"x": 2**64}]
    for extra in (*bad, {(1,): 2}):
        with pytest.raises(InputError, match=r"^extra: expected fields that JSON can") as told:
            index.add("b", "another text", extra=extra)
        check_printable(str(told.value))
    many = [{"id": str(n), "text": str(n)} | extra for n, extra in enumerate([*bad, {"x": 1}])]
    added = index.add_many(many, extra_fields=["x"])
    check_refused(added, "x", 1, 2, 3, 4)
    assert [document.extra for document in index.documents()] == [{"x": 1}]


def test_values_without_a_form_in_json_become_texts_and_numbers_null(index):
    index.add("b", "another text", extra={"x": {1}, "nan": float("nan"), "span": timedelta(1)})
    assert index.get("b").extra == {"x": "{1}", "nan": None, "span": "1 day, 0:00:00"}


@BOTH
@pytest.mark.parametrize("span", ["999999999d", timedelta.max, "1000000d"])
def test_spans_may_be_longer_than_the_calendar(index, span):
    index.add("a", FERRY)
    assert index.add("b", FERRY, at="0001-01-02", within=span).id == "a"
    assert [match.id for match in index.query(FERRY, within=span)] == ["a"]
    assert index.expire(older_than=span).removed == 0
    many = [{"id": "c", "text": FERRY, "day": "0001-01-01"}]
    assert index.add_many(many, at_field="day", within=span).keep.tolist() == [False]


def test_problems_begin_with_file_and_record(index, make):
    good = '{"id": "%s", "text": "text %s", "date": "2020-03-09"}\n'
    bad = '{"id": "", "text": "no id"}\n{"id": "b9", "text": "no time", "date": 1584000000}\n'
    files = [
        make("p1.jsonl", good % ("a", 1)),
        make("p2.jsonl", good % ("b", 2) + bad + good % ("a", 3)),
    ]
    added = index.add_files(files, at_field="date")
    assert [str(problem).partition(": must")[0] for problem in added.problems] == [
        "p2.jsonl: record 2, field 'id'",
        "p2.jsonl: record 3, field 'date'",
        "p2.jsonl: record 4, field 'id'",
    ]
