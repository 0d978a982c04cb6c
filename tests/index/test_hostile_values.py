"""Values that one of the databases, JSON or the calendar cannot hold: said, and never stored."""

from datetime import timedelta

import pyarrow as pa
import pytest
from tests.index.databases import BOTH
from tests.index.written import FERRY
from tests.kit.strategies import TEXTS

from neardup import InputError, ParameterError

pytestmark = [pytest.mark.slow, BOTH]

HUGE = "雪" * 1000
#: What is no id, and a word of the reason.
NO_IDS = {"": "at least one character", "a\0b": "NUL", "\ud800": "surrogate", HUGE: "bytes"}


@pytest.fixture(autouse=True)
def one_document(index):
    index.add("a", FERRY)


def printable(message):
    message.encode()
    assert "\0" not in message
    assert len(message) < 500
    return message


@pytest.mark.parametrize("id", NO_IDS, ids=NO_IDS.values())
class TestIds:
    def test_added_among_many(self, index, id):
        many = [{"id": "b", "text": "one"}, {"id": id, "text": "two"}, {"id": "c", "text": "three"}]
        added = index.add_many(many)
        assert added.keep.tolist() == [True, False, True]
        (problem,) = added.problems
        assert (problem.record, problem.field) == (2, "id")
        printable(str(problem))
        assert [document.id for document in index.documents()] == ["a", "b", "c"]

    def test_asked_for(self, index, id):
        assert id not in index
        assert index.get(id) is None
        assert index.reconsider([id, "b"]) == []
        for call in (index.explain, index.remove):
            with pytest.raises(InputError, match="there is no document") as told:
                call(id)
            printable(str(told.value))
        assert "a" in index


def test_the_longest_id(index):
    id = "雪" * 666 + "ab"
    assert len(id.encode()) == 2000
    index.add(id, "another text")
    assert index.get(id).text == "another text"
    assert index.remove(id).removed == 1
    assert index.explain(id).events[0].action == "removed"
    with pytest.raises(ParameterError, match="at most 2,000 bytes"):
        index.add(id + "c", "another text")


def test_ids_of_many_are_needed(index):
    for many in (["one", "two"], pa.table({"text": ["one"]})):
        with pytest.raises(InputError, match=r"\bid"):
            index.add_many(many)
    assert not index.add_many([{"text": "one"}]).keep.any()
    for id in (None, 1.5, ["x"], True, {"x": 1}):
        added = index.add_many([{"id": id, "text": "one"}, {"id": "b", "text": "two"}])
        assert added.keep.tolist() == [False, True]
        assert [(problem.record, problem.field) for problem in added.problems] == [(1, "id")]
    assert [document.id for document in index.documents()] == ["a", "b"]


def test_whole_numbers_are_ids(index):
    added = index.add_many([{"id": 7, "text": "one"}, {"id": 2**70, "text": "two"}])
    assert added.new == 2
    assert [document.id for document in index.documents()] == ["a", "7", str(2**70)]


class TestTexts:
    @pytest.mark.parametrize("text", [None, 7, b"bytes", "\ud800", [1], {"x": "y"}])
    def test_invalid_text_is_refused(self, index, text):
        added = index.add_many([{"id": "b", "text": text}, {"id": "c", "text": "x"}])
        assert added.keep.tolist() == [False, True]
        assert [document.id for document in index.documents()] == ["a", "c"]

    def test_hostile_texts_come_back_unchanged(self, index):
        for name, text in TEXTS.items():
            index.add(name, text)
        added = index.add_many([{"id": id, "text": text} for id, text in TEXTS.items()])
        assert (added.new, added.already, added.problem_count) == (0, len(TEXTS), 0)
        assert {document.id: document.text for document in index.documents()} == {
            "a": FERRY,
            **TEXTS,
        }


class TestFields:
    def test_invalid_field_of_one_record_is_refused(self, index):
        many = [
            {"id": "b", "text": "one", "from": "\ud800"},
            {"id": "c", "text": "two", "from": 7},
            {"id": "d", "text": "three", "from": "x\0y"},
        ]
        added = index.add_many(many, source_field="from")
        assert added.keep.tolist() == [False, True, True]
        (problem,) = added.problems
        assert (problem.record, problem.field) == (1, "from")
        printable(str(problem))
        result = [document.source for document in index.documents()][1:]
        assert result == ["7", "x\N{REPLACEMENT CHARACTER}y"]

    def bad_extras(self):
        deep, circle = [], {}
        for _ in range(100_000):
            deep = [deep]
        circle["x"] = circle
        return [{"x": "\ud800"}, {"x": deep}, circle, {"x": 2**64}, {(1,): 2}]

    def test_extra_outside_json_is_refused(self, index):
        for extra in self.bad_extras():
            with pytest.raises(
                InputError, match=r"^extra: expected fields that JSON can represent"
            ) as told:
                index.add("b", "another text", extra=extra)
            printable(str(told.value))
        assert len(index) == 1

    def test_extra_of_many(self, index):
        values = [next(iter(extra.values())) for extra in self.bad_extras()[:4]]
        many = [
            {"id": f"d{number}", "text": str(number), "x": value}
            for number, value in enumerate(values)
        ]
        added = index.add_many([*many, {"id": "z", "text": "last", "x": 1}], extra_fields=["x"])
        assert added.keep.tolist() == [False] * len(values) + [True]
        assert added.problem_count == len(values)
        assert index.get("z").extra == {"x": 1}

    def test_extra_beyond_json(self, index):
        """What JSON has no form for becomes text, and what is no number null."""
        extra = {"x": {1}, "nan": float("nan"), "span": timedelta(1)}
        index.add("b", "another text", extra=extra)
        assert index.get("b").extra == {"x": "{1}", "nan": None, "span": "1 day, 0:00:00"}


class TestSpans:
    LONG = ("999999999d", timedelta.max, "1000000d")

    @pytest.mark.parametrize("span", LONG)
    def test_longer_than_the_calendar(self, index, span):
        assert index.add("b", FERRY, at="0001-01-02", within=span).id == "a"
        assert [match.id for match in index.query(FERRY, within=span)] == ["a"]
        assert index.expire(older_than=span).removed == 0
        many = [{"id": "c", "text": FERRY, "day": "0001-01-01"}]
        assert index.add_many(many, at_field="day", within=span).keep.tolist() == [False]
