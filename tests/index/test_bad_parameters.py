"""Every parameter of every method of `Index` refuses bad values by name."""

import inspect
import re
from datetime import timedelta

import pytest
from tests.index.written import FERRY

from neardup import Index, InputError, NeardupError, ParameterError
from neardup.index import RemovalFilter

MANY = [{"id": "b", "text": "one"}]

_TEXT = (None, 7, b"bytes", ["x"], "\ud800")
_ID = (None, 7, b"bytes", ["x"])
_NEW_ID = (*_ID, "", "a\0b", "\ud800", "雪" * 1000)
_TITLE = (7, b"bytes", "\ud800")
_TIME = ("soon", 7, b"2024-01-01", "", "2024-13-01")
_SPAN = ("soon", 7, "0d", "-1d", "", "14", "1.5d", "14 years", "999999999w", timedelta(0))
_OUTPUT = (7, b"out", ["out"], "a\0b", "\ud800")
_ZONE = (7, "", "Nowhere/At/All", "Asia", "../passwd", "a\0b", b"UTC")
_FIELD = (7, ["text"])
_FIELDS = {
    "text_field": _FIELD,
    "id_field": _FIELD,
    "title_field": _FIELD,
    "at_field": _FIELD,
    "source_field": _FIELD,
    "max_text": (0, -1, "1 apple", True, [], 1 << 40),
    "extra_fields": ("x", 7, [7], None),
    "within": _SPAN,
    "at_zone": _ZONE,
    "title_from_first_line": (1, "yes", None),
    "progress": (),
    "replace": (1, "yes", None),
}

#: Methods with arguments that are right, and values that are wrong. Files that are
#: written have their own tests.
METHODS = {
    "add": (
        {"id": "b", "text": FERRY},
        {
            "id": _NEW_ID,
            "text": _TEXT,
            "title": _TITLE,
            "at": _TIME,
            "source": _TITLE,
            "extra": ("x", 7, [1], {"x": "\ud800"}),
            "within": _SPAN,
            "at_zone": _ZONE,
            "replace": (1, "yes", None),
        },
    ),
    "add_many": ({"data": MANY}, {"data": (None, 7, "text", {"text": "x"})} | _FIELDS),
    "add_files": (
        {"inputs": ["/dev/null"], "format": "jsonl"},
        {
            "inputs": ([], 7, None, [7], b"a", "a\0b", "\ud800", ["no-such-inputs.jsonl"]),
            "format": ("xml", 7),
            "encoding": ("no-such-encoding", 7),
            **dict.fromkeys(("removed", "report"), _OUTPUT),
            "force": (1, "yes", None),
        }
        | _FIELDS,
    ),
    "query": (
        {"text": FERRY},
        {
            "text": _TEXT,
            "k": (0, -1, 1.5, "1", None, True),
            "title": _TITLE,
            "at": _TIME,
            "within": _SPAN,
        },
    ),
    "get": ({"id": "a"}, {"id": _ID}),
    "get_many": ({"ids": ["a"]}, {"ids": ("a", 7, [7], None), "texts": (1, "yes", None)}),
    "explain": ({"id": "a"}, {"id": _ID}),
    "documents": ({}, {"state": ("lost", "", 7, ["kept"])}),
    "add_together": ({"documents": []}, {"documents": (None, 7, "x", {"id": "b"}, [{"id": "b"}])}),
    "clusters": ({}, {"search": (7, b"x", "\ud800"), "after": (-1, 1 << 63, 1.5, "1", None, True)}),
    "check": ({}, {"progress": ()}),
    "remove": ({"id": "a"}, {"id": _ID}),
    "rename": ({"old": "a", "new": "b"}, {"old": _ID, "new": _ID}),
    "keep": ({"id": "a"}, {"id": _ID, "by": _TITLE}),
    "confirm": ({"id": "a"}, {"id": _ID, "by": _TITLE}),
    "undo": ({"id": "a"}, {"id": _ID, "by": _TITLE, "event": (0, -1, 1.5, "1", True)}),
    "removals": ({}, {"wanted": (7, "x", {}), "after": (7, None, "x", ":", "1:x")}),
    "count_removals": ({}, {"wanted": (7, "x", {})}),
    "count_arrivals": ({"since": "2026-01-01"}, {"since": (*_TIME, None)}),
    "decisions": ({}, {"before": (0, -1, 1 << 63, 1.5, "1", True)}),
    "near_misses": (
        {"text": FERRY},
        {"text": _TEXT, "k": (0, -1, 1.5, "1", None, True), "title": _TITLE},
    ),
    "reconsider": ({}, {"ids": ("a", 7, [7], {"a"})}),
    "expire": ({}, {"before": _TIME, "older_than": _SPAN}),
}
METHODS |= {
    "export": (
        {"output": "out.jsonl"},
        {
            "output": (*_OUTPUT, None),
            "decisions": _OUTPUT,
            **dict.fromkeys(("include_removed", "force"), (1, "yes", None)),
            "progress": (),
        },
    ),
    "backup": ({"copy": "copy.db"}, {"copy": (*_OUTPUT, None)}),
}
#: Methods without parameters.
OTHERS = {"stats", "recount", "compact", "close"}


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
    public = {name for name in dir(Index) if not name.startswith("_")}
    assert public == set(METHODS) | OTHERS
    for name, (_, bad) in METHODS.items():
        parameters = set(inspect.signature(getattr(Index, name)).parameters) - {"self"}
        assert parameters == set(bad), name


def cases(table):
    """Each bad value of each parameter."""
    return [(name, value) for name, values in table.items() for value in values]


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        # Some values are too long for the name of a test.
        pytest.param(name, *case, id=f"{name}-{case[0]}-{number}")
        for name, (_, bad) in METHODS.items()
        for number, case in enumerate(cases(bad))
    ],
)
def test_bad_values_are_refused_by_name(index, name, parameter, value):
    good, _ = METHODS[name]
    with pytest.raises((ParameterError, InputError)) as told:
        getattr(index, name)(**good | {parameter: value})
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
