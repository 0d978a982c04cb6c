"""What is common is counted again when it is due."""

import itertools
import json
import random

from tests.index.consistency import check_consistent
from tests.index.databases import BOTH
from tests.index.written import stream

from neardup import Index, dedup
from neardup.index.schema import events

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
        letters = "".join(
            chr(0x4E00 + (number * 37 + position * position * 11) % 9000) for position in range(30)
        )
        yield {"id": f"n{number}", "text": form.format(place, thing, doing) + letters}


def recounted(location):
    with Index(location) as index, index._engine.reading() as session:
        happened = session.events.connection.execute(events.select()).mappings().all()
        counts = [row["details"] for row in happened if row["action"] == "recounted"]
        return [json.loads(details)["arrived"] for details in counts]


def shuffled():
    many = list(notices(300))
    random.Random(5).shuffle(many)
    return many


@BOTH
def test_a_form_is_known_after_a_count(location):
    many = shuffled()
    with Index(location, workers=1) as index:
        unknown = [decision.repeats is None for decision in stream(index, many[:90])]
        assert index.recount() == 90
        known = index.add_many(many[90:]).keep
    check_consistent(location)
    # Until then, the form counts as content.
    assert unknown.count(False) > 20
    assert known.all()


def test_a_form_is_known_after_the_first_hundred_documents(location):
    many = shuffled()
    assert dedup(many, workers=1).keep.all()
    with Index(location, workers=1) as index:
        keep = [decision.repeats is None for decision in stream(index, many)]
    assert keep[:100].count(False) > 20
    assert all(keep[100:])


def test_background_is_counted_when_it_is_due(tmp_path):
    rng = random.Random(3)
    texts = ["".join(chr(0x4E00 + rng.randrange(9000)) for _ in range(60)) for _ in range(2100)]
    records = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    for size in (700, 2100):
        place = str(tmp_path / f"{size}.db")
        with Index(place) as index:
            for begin in range(0, len(records), size):
                assert not any(
                    item.repeats for item in stream(index, records[begin : begin + size])
                )
            assert index.stats().background_texts == 1600
        assert recounted(place) == [100, 200, 400, 800, 1600]


def test_documents_decided_again_do_not_count_as_arrivals(tmp_path):
    many = shuffled()
    path = tmp_path / "index.db"
    with Index(path, workers=1) as index:
        stream(index, many[:90])
        for repeated in {document.repeats.id for document in index.documents("dropped")}:
            assert index.remove(repeated).decided_count
        stream(index, many[90:250])
    assert recounted(path) == [100, 200]


def test_recipe_without_common_text_counts_nothing(tmp_path):
    with Index(tmp_path / "a.db", recipe="shingle", threshold=0.3, workers=1) as index:
        assert (~index.add_many(list(notices(200))).keep).sum() > 100
        assert index.recount() == 0
    assert recounted(tmp_path / "a.db") == []
