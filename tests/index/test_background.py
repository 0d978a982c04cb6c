"""What is common is counted again: when it is due, and at once where drops come in a burst."""

import itertools
import json
import random

import pytest
from tests.index.sound import check_sound, entries_of, verdicts

from neardup import Index
from neardup.index.background import burst_end

_PLACES = ["渡口", "北山", "河湾", "石桥", "柳林", "东关", "南坡", "西岭", "白塘", "青浦"]
_THINGS = ["水泵", "灯塔", "粮站", "书店", "桥墩", "码头", "车站", "苗圃", "渔港", "磨坊"]
_DOINGS = ["检修", "粉刷", "搬迁", "扩建", "停用", "招租", "普查", "加固", "开放", "验收"]


def notices(count):
    """Notices of one form without numbers, each about something of its own."""
    every = itertools.product(_PLACES, _THINGS, _DOINGS)
    form = (
        "{}管理处通告：因{}即将{}，请附近居民提前安排出行，由此带来的不便敬请谅解，"
        "如有疑问可向值班人员咨询，未尽事宜另行通知，特此公告。"
    )
    for number, (place, thing, doing) in enumerate(itertools.islice(every, count)):
        own = "".join(chr(0x4E00 + (number * 37 + at * at * 11) % 9000) for at in range(30))
        yield {"id": f"n{number}", "text": form.format(place, thing, doing) + own}


def recounted(location):
    with Index(location) as index, index._engine.reading() as session:
        events = session.all_events(0, 1000)
        return [row["details"] for row in events if row["action"] == "recounted"]


def test_a_burst_of_drops_is_counted_at_once_and_the_form_is_known_then(location):
    with Index(location, workers=1) as index:
        keep = index.add_many(list(notices(600))).keep
    check_sound(location)
    (counted,) = map(json.loads, recounted(location))
    arrived = counted["arrived"]
    assert 100 < arrived < 300
    # A hundred are lost before the form shows; then hardly any.
    assert (~keep[:arrived]).sum() == 100
    assert (~keep[arrived:]).sum() < 10


@pytest.mark.slow
def test_the_burst_ends_where_one_by_one_ends_it(tmp_path):
    found = []
    for size in (1, 7, 600):
        place = str(tmp_path / f"{size}.db")
        with Index(place, workers=1) as index:
            records = list(notices(260))
            for begin in range(0, len(records), size):
                some = records[begin : begin + size]
                index.add(**some[0]) if size == 1 else index.add_many(some)
        check_sound(place)
        found.append((verdicts(place), entries_of(place), recounted(place)))
    assert found[0] == found[1] == found[2]


def test_without_bursts_it_is_counted_when_it_is_due(tmp_path):
    rng = random.Random(3)
    texts = ["".join(chr(0x4E00 + rng.randrange(9000)) for _ in range(60)) for _ in range(2100)]
    records = [{"id": str(at), "text": text} for at, text in enumerate(texts)]
    for size in (700, 2100):
        place = str(tmp_path / f"{size}.db")
        with Index(place) as index:
            for begin in range(0, len(records), size):
                assert index.add_many(records[begin : begin + size]).keep.all()
            assert index.stats().background_texts == 2000
        assert [json.loads(one)["arrived"] for one in recounted(place)] == [1000, 2000]


def test_there_is_no_burst_where_nothing_is_common(tmp_path):
    with Index(tmp_path / "a.db", recipe="shingle", threshold=0.3, workers=1) as index:
        assert (~index.add_many(list(notices(200))).keep).sum() > 100
    assert recounted(tmp_path / "a.db") == []


@pytest.mark.parametrize(
    ("drops", "arrived", "bursts", "similar", "expected"),
    [
        (99, 0, 0, [True], 1),
        (98, 0, 0, [True], None),
        (99, 498, 0, [True], 1),
        (99, 500, 0, [True], None),
        (99, 0, 0, [False, False, True, True], 3),
        (150, 0, 0, [False], None),
        (199, 0, 1, [True], 1),
        (198, 0, 1, [True], None),
        (0, 0, 0, [], None),
    ],
)
def test_a_burst_is_a_hundred_and_a_fifth(drops, arrived, bursts, similar, expected):
    counters = {"similar": drops, "arrived": arrived, "counted_at": 0, "bursts": bursts}
    assert burst_end(counters, similar) == expected
