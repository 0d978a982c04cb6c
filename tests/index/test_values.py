"""Times, zones, addresses and outputs as people write them, and what an index makes of them."""

import os
import zoneinfo
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pandas as pd
import pytest

import neardup
from neardup.base.validation import check_zone
from neardup.exceptions import OutputError, ParameterError
from neardup.index.values import check_time, convert_stamp, parse_stamp, stamp

A = "The mill by the river was sold to a family who want to grind flour in it again."


@pytest.fixture
def index(tmp_path):
    with neardup.Index(tmp_path / "n.db", must_exist=False) as index:
        yield index


# times


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
        "3/4/2020",
        "30.3.2020",
        "20-3-30",
        "2020-3/30",
        "2020-13-1",
        "2020-2-30",
        "2020-3-30 24:01",
        "2020-3-30 7",
        "1584000000",
        "1711112312359",
        "２０２０-3-30",
        "yesterday",
        "",
    ],
)
def test_ambiguous_times_are_refused(given):
    assert parse_stamp(given) == "must be a time such as 2024-03-09T08:00:00+08:00 or 2024-3-9 8:00"
    with pytest.raises(ParameterError, match="'at' parameter must be a time such as"):
        check_time(given, "at")


@pytest.mark.parametrize("given", [1_584_000_000, 1.5e9])
def test_a_number_is_no_time(given):
    assert str(parse_stamp(given)).endswith("; a plain number does not say its unit")


def test_a_zone_for_times_without_one(index):
    rows = [
        {"id": "a", "text": A, "at": "2020-3-30 7:00"},
        {"id": "b", "text": "Another text.", "at": "2020-03-30T07:00Z"},
        {"id": "c", "text": "One more text.", "at": datetime(2020, 3, 30, 7)},
    ]
    index.add_many(rows, at_field="at", at_zone="Asia/Shanghai")
    index.add("d", "The last text.", at="2020-3-30 7:00", at_zone=zoneinfo.ZoneInfo("Asia/Tokyo"))
    times = {document.id: document.at for document in index.documents()}
    in_china = datetime(2020, 3, 29, 23, tzinfo=UTC)
    assert times == {
        "a": in_china,
        "b": datetime(2020, 3, 30, 7, tzinfo=UTC),
        "c": in_china,
        "d": datetime(2020, 3, 29, 22, tzinfo=UTC),
    }


def test_a_zone_may_be_a_tzinfo():
    zone = timezone(timedelta(hours=3))
    assert check_zone(zone, "at_zone") is zone
    assert check_zone(None, "at_zone") is UTC


# where a problem is


def test_problems_begin_with_file_and_record(index, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = '{"id": "%s", "text": "text %s", "date": "2020-03-09"}\n'
    Path("p1.jsonl").write_text("".join(good % (f"a{n}", n) for n in range(3)))
    Path("p2.jsonl").write_text(
        "".join(good % (f"b{n}", f"other {n}") for n in range(5))
        + '{"id": "", "text": "no id", "date": "2020-03-09"}\n'
        + '{"id": "b9", "text": "no time", "date": 1584000000}\n'
        + good % ("a1", "that is another one")
    )
    added = index.add_files(["p1.jsonl", "p2.jsonl"], at_field="date")
    starts = [str(problem).partition(": must")[0] for problem in added.problems]
    assert starts == [
        "p2.jsonl: record 6, field 'id'",
        "p2.jsonl: record 7, field 'date'",
        "p2.jsonl: record 8, field 'id'",
    ]


# outputs that are something else already


def test_no_file_of_the_index_is_overwritten(index, tmp_path):
    index.add("a", A)
    os.symlink(tmp_path / "n.db", tmp_path / "link.jsonl")
    os.link(tmp_path / "n.db", tmp_path / "same.jsonl")
    names = ["n.db", "n.db-wal", "n.db-shm", "n.db-journal", "link.jsonl", "same.jsonl"]
    for name in names:
        for call in (
            lambda to: index.export(to, force=True),
            lambda to: index.export(tmp_path / "k.jsonl", decisions=to, force=True),
        ):
            with pytest.raises(OutputError, match="must not be both input and output"):
                call(tmp_path / name)
    index.check()
    assert "a" in index
    assert not (tmp_path / "k.jsonl").exists()


def test_an_index_behind_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real" / "n.db", tmp_path / "link.db")
    neardup.Index(tmp_path / "real" / "n.db").close()
    with neardup.Index(tmp_path / "link.db", must_exist=True) as index:
        for name in ("link.db", "real/n.db", "real/n.db-wal"):
            with pytest.raises(OutputError, match=r"must not be both input and output"):
                index.export(tmp_path / name, force=True)
