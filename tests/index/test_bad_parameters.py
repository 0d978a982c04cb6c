"""Every parameter of every method of `Index` refuses bad values by name."""

import inspect
import re
from datetime import timedelta

import pytest
from tests.index.written import FERRY

from neardup import Index, InputError, NeardupError, ParameterError
from neardup.index import RemovalFilter

_FLAG = (1, "yes", None)
_TEXT = (None, 7, b"bytes", ["x"], "\ud800")
_ID = (None, 7, b"bytes", ["x"])
_NEW_ID = (*_ID, "", "a\0b", "\ud800", "雪" * 1000)
_TITLE = (7, b"bytes", "\ud800")
_TIME = ("soon", 7, b"2024-01-01", "", "2024-13-01")
_SPAN = ("soon", 7, "0d", "-1d", "", "14", "1.5d", "14 years", "999999999w", timedelta(0))
_OUTPUT = (7, b"out", ["out"], "a\0b", "\ud800")
_COUNT = (0, -1, 1.5, "1", True)
_FIELDS = ("text_field", "id_field", "title_field", "at_field", "source_field")

#: What a parameter refuses, wherever it is taken.
BY_NAME = {
    **dict.fromkeys(_FIELDS, (7, ["text"])),
    **dict.fromkeys(("title", "source", "by"), _TITLE),
    **dict.fromkeys(("id", "old"), _ID),
    **dict.fromkeys(("within", "older_than"), _SPAN),
    **dict.fromkeys(("at", "before"), _TIME),
    **dict.fromkeys(("removed", "report", "decisions"), _OUTPUT),
    **dict.fromkeys(("output", "copy"), (*_OUTPUT, None)),
    **dict.fromkeys(("replace", "force", "include_removed", "title_from_first_line"), _FLAG),
    "at_zone": (7, "", "Nowhere/At/All", "Asia", "../passwd", "a\0b", b"UTC"),
    "data": (None, 7, "text", {"text": "x"}),
    "documents": (None, 7, "x", {"id": "b"}, [{"id": "b"}]),
    "encoding": ("no-such-encoding", 7),
    "event": _COUNT,
    "extra": ("x", 7, [1], {"x": "\ud800"}),
    "extra_fields": ("x", 7, [7], None),
    "format": ("xml", 7),
    "inputs": ([], 7, None, [7], b"a", "a\0b", "\ud800", ["no-such-inputs.jsonl"]),
    "k": (*_COUNT, None),
    "max_text": (0, -1, "1 apple", True, [], 1 << 40),
    "new": _NEW_ID,
    # The tests of all functions have its values.
    "progress": (),
    "search": (7, b"x", "\ud800"),
    "since": (*_TIME, None),
    "state": ("lost", "", 7, ["kept"]),
    "text": _TEXT,
    "texts": _FLAG,
    "wanted": (7, "x", {}),
}
#: What only one method refuses.
OTHERS = {
    "add": {"id": _NEW_ID},
    "clusters": {"after": (-1, 1 << 63, 1.5, "1", None, True)},
    "decisions": {"before": (*_COUNT, 1 << 63)},
    "get_many": {"ids": ("a", 7, [7], None)},
    "reconsider": {"ids": ("a", 7, [7], {"a"})},
    "removals": {"after": (7, None, "x", ":", "1:x")},
}
_ONE, _QUESTION, _NOTHING = {"id": "a"}, {"text": FERRY}, {}
#: Methods, with arguments that are right.
METHODS = {
    "add": {"id": "b", "text": FERRY},
    "add_files": {"inputs": ["/dev/null"], "format": "jsonl"},
    "add_many": {"data": [{"id": "b", "text": "one"}]},
    "add_together": {"documents": []},
    "backup": {"copy": "copy.db"},
    "count_arrivals": {"since": "2026-01-01"},
    "export": {"output": "out.jsonl"},
    **dict.fromkeys(("get", "explain", "remove", "keep", "confirm", "undo"), _ONE),
    "get_many": {"ids": ["a"]},
    **dict.fromkeys(("query", "near_misses"), _QUESTION),
    "rename": {"old": "a", "new": "b"},
    **dict.fromkeys(("check", "clusters", "count_removals", "decisions", "documents"), _NOTHING),
    **dict.fromkeys(("expire", "reconsider", "removals"), _NOTHING),
    # Without parameters.
    **dict.fromkeys(("stats", "recount", "compact", "close"), _NOTHING),
}
BAD = {
    (method, parameter): OTHERS.get(method, {}).get(parameter, BY_NAME.get(parameter))
    for method in METHODS
    for parameter in inspect.signature(getattr(Index, method)).parameters
    if parameter != "self"
}
#: Fields of a filter of removals.
FILTERS = {
    **dict.fromkeys(("search", "source"), (None, 3, ["a"])),
    **dict.fromkeys(
        ("min_similarity", "max_similarity"), (None, "0.5", True, -0.1, 1.5, float("nan"))
    ),
    **dict.fromkeys(("since", "until"), (3, "yesterday", "2026-02-30")),
    **{"confirmed": (1,), "order": (None, "x")},
}
#: Settings of a new index.
SETTINGS = {
    "threshold": (0, 1.1, "0.5"),
    "max_distance": (3,),
    "expected": (0, 2**32, 1.5),
    "must_exist": ("yes",),
    "workers": (-1,),
    "recipe": ("nosuch",),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with Index(tmp_path_factory.mktemp("parameters") / "index.db") as index:
        index.add("a", FERRY)
        yield index
        assert [document.id for document in index.documents()] == ["a"]


def test_the_lists_are_complete():
    assert {name for name in dir(Index) if not name.startswith("_")} == set(METHODS)
    assert [case for case, values in BAD.items() if values is None] == []


def cases(table):
    """Each bad value of each parameter."""
    return [(name, value) for name, values in table.items() for value in values]


@pytest.mark.parametrize(
    ("method", "parameter", "value"),
    [
        # Some values are too long for the name of a test.
        pytest.param(*name, value, id=f"{'-'.join(name)}-{number}")
        for name, values in BAD.items()
        for number, value in enumerate(values or ())
    ],
)
def test_bad_values_are_refused_by_name(index, method, parameter, value):
    with pytest.raises((ParameterError, InputError)) as told:
        getattr(index, method)(**METHODS[method] | {parameter: value})
    message = str(told.value)
    # A name such as `id` is in many sentences.
    is_named = f"'{parameter}'" in message or re.match(rf"{parameter}(\[\d+\])?: ", message)
    assert is_named or (parameter == "inputs" and message.startswith(f"{value[0]}: "))
    if isinstance(told.value, ParameterError):
        assert "must" in message
    assert len(message) < 400


@pytest.mark.parametrize(("name", "value"), cases(FILTERS))
def test_bad_filters_are_refused_by_name(index, name, value):
    wanted = RemovalFilter(**{name: value})
    for call in (index.removals, index.count_removals):
        with pytest.raises(ParameterError, match=f"'{name}' parameter must"):
            call(wanted)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        *(({name: value}, name) for name, value in cases(SETTINGS)),
        ({"recipe": "characters", "max_distance": -1}, "max_distance"),
    ],
)
def test_bad_settings_make_nothing(location, options, name):
    with pytest.raises(NeardupError, match=f"'{name}' parameter must"):
        Index(location, **options)
    with pytest.raises(NeardupError, match=r"no such file"):
        Index(location, must_exist=True)


@pytest.mark.parametrize("option", ["extra_fields", "at_field", "source_field"])
def test_texts_have_no_fields(index, option):
    value = ("x",) if option == "extra_fields" else "x"
    with pytest.raises(InputError, match="A list of texts has no ids"):
        index.add_many(["one"], **{option: value})
