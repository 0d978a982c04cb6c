"""Boilerplate is counted: in a first import before anything is decided, later when it is due."""

import itertools
import json
import random

import pytest
from tests import forks
from tests.index.consistency import check_consistent
from tests.index.databases import BOTH
from tests.index.written import documents, letters, stream

from neardup import Index, dedup, dedup_files
from neardup.base.progress import Progress
from neardup.index.ingest import first_import, transaction
from neardup.index.schema import events

_PLACES = ["渡口", "北山", "河湾", "石桥", "柳林", "东关", "南坡", "西岭", "白塘", "青浦"]
_THINGS = ["水泵", "灯塔", "粮站", "书店", "桥墩", "码头", "车站", "苗圃", "渔港", "磨坊"]
_DOINGS = ["检修", "粉刷", "搬迁", "扩建", "停用", "招租", "普查", "加固", "开放", "验收"]
_FORM = (
    "{}管理处通告：因{}即将{}，请附近居民提前安排出行，由此带来的不便敬请谅解，"
    "如有疑问可向值班人员咨询，未尽事宜另行通知，特此公告。"
)


def notices():
    """Notices of one template without numbers, each about another thing, shuffled."""
    rng = random.Random(5)
    every = itertools.islice(itertools.product(_PLACES, _THINGS, _DOINGS), 300)
    many = documents(_FORM.format(*words) + letters(rng, 30) for words in every)
    rng.shuffle(many)
    return many


def write(path, records):
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return path


def recounted(location):
    """How many documents had arrived at each count."""
    with Index(location) as index, index._engine.reading() as session:
        happened = session.events.connection.execute(events.select()).mappings().all()
    counts = [row["details"] for row in happened if row["action"] == "recounted"]
    return [json.loads(details)["arrived"] for details in counts]


@BOTH
def test_template_is_known_after_a_count(location):
    many = notices()
    with Index(location, workers=1) as index:
        assert index.recount() == 0
        unknown = [decision.repeats is None for decision in stream(index, many[:90])]
        assert index.stats().background_texts == 0
        assert index.recount() == index.recount() == 90
        dropped = list(index.documents("dropped"))
    with Index(location, workers=1) as index:
        assert index.stats().background_texts == 90
        # Until then, the template counts as content. Decisions made before stand.
        assert len(dropped) == unknown.count(False) > 20
        assert list(index.documents("dropped")) == dropped
        assert index.add_many(many[90:]).keep.all()
    check_consistent(location)


def test_template_is_known_after_the_first_hundred_documents(location):
    many = notices()
    assert dedup(many, workers=1).keep.all()
    with Index(location, workers=1) as index:
        keep = [decision.repeats is None for decision in stream(index, many)]
    assert keep[:100].count(False) > 20
    assert all(keep[100:])


def test_background_is_counted_when_it_is_due(new_place):
    rng = random.Random(3)
    many = documents(letters(rng, 60) for _ in range(2100))
    for size in (700, 2100):
        place = new_place()
        with Index(place) as index:
            for begin in range(0, len(many), size):
                decisions = stream(index, many[begin : begin + size])
                assert not any(decision.repeats for decision in decisions)
            assert index.stats().background_texts == 1600
        assert recounted(place) == [100, 200, 400, 800, 1600]


def test_documents_decided_again_do_not_count_as_arrivals(location):
    many = notices()
    with Index(location, workers=1) as index:
        stream(index, many[:90])
        for repeated in {document.repeats.id for document in index.documents("dropped")}:
            assert index.remove(repeated).decided_count
        stream(index, many[90:250])
    assert recounted(location) == [100, 200]


def test_recipe_without_boilerplate_counts_nothing(location):
    with Index(location, recipe="shingle", threshold=0.3, workers=1) as index:
        assert (~index.add_many(notices()).keep).sum() > 100
        assert index.recount() == 0
    assert recounted(location) == []


def test_files_are_decided_as_by_dedup(location, tmp_path):
    many = notices()
    files = [write(tmp_path / "a.jsonl", many[:60]), write(tmp_path / "b.jsonl", many[60:])]
    with Index(location, workers=1) as index:
        added = index.add_files(files)
        index.check()
    expected = dedup_files(files, tmp_path / "kept.jsonl").keep
    assert added.keep.tolist() == expected.tolist() == [True] * len(many)
    check_consistent(location)


def test_files_with_a_window_are_counted_first(location, tmp_path):
    many = [row | {"day": f"2024-01-{number % 9 + 1}"} for number, row in enumerate(notices())]
    file = write(tmp_path / "a.jsonl", [*many, many[0] | {"id": "again", "day": "2024-03-09"}])
    with Index(location, workers=1) as index:
        added = index.add_files([file], at_field="day", within="30d")
        assert (added.new, added.keep.all()) == (len(many) + 1, True)
        assert index.stats().background_texts == len(many) + 1
        recent = [many[0] | {"id": "soon", "day": "2024-03-10"}]
        assert not index.add_many(recent, at_field="day", within="30d").keep.any()


class Interrupting(Progress):
    def advance(self, documents, *_):
        if documents:
            raise KeyboardInterrupt


def test_an_interrupted_import_goes_on_as_it_began(location, tmp_path, monkeypatch):
    monkeypatch.setattr(transaction, "BATCH", 130)
    monkeypatch.setattr(first_import, "_WRITTEN", 130)
    many = notices()
    file = write(tmp_path / "a.jsonl", many)
    with Index(location, workers=1) as index:
        with pytest.raises(KeyboardInterrupt):
            index.add_files([file], progress=Interrupting())
        assert len(index) == 130
        added = index.add_files([file])
        assert (added.already, added.keep.all()) == (130, True)
        assert index.stats().background_texts == len(many)


def test_command_names_the_way_out_for_unrepeatable_input(location, tmp_path):
    many = notices()
    old = [{"id": "old", "text": "渡轮公司说新船下个月试航，票价不变，末班时间推迟到夜里十一点。"}]

    def run(name, *words):
        done = forks.run(forks.run_command, "index", name, location, *map(str, words))
        assert done.returncode == 0, done.stderr
        return done.stderr.decode()

    assert "recount" not in run("add", write(tmp_path / "old.jsonl", old))
    later = run("add", write(tmp_path / "new.jsonl", many))
    assert later.count(f"neardup index reconsider {location}") == 1
    with Index(location) as index:
        assert index.stats().kept < len(many)
        run("recount")
        run("reconsider")
        assert index.stats().kept == len(many) + 1
