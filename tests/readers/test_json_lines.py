"""Columns of JSON lines: what the core reads, and what it leaves to the module."""

import json

import pyarrow as pa

from neardup import _core


def read(lines, source="a", first=7, **given):
    """Texts, ids, titles, whether there is a title, extra values, and unclear places."""
    settings = {"requires_id": False, "title": "title", "extra": ["n", "id"], **given}
    fields = _core.JsonFields(["text", "body"], "id", **settings)
    block = lines if isinstance(lines, bytes) else "\n".join(lines).encode()
    texts, ids, titles, has_title, extra, unclear = fields.columns(block, source, first)
    columns = [pa.array(column).to_pylist() for column in (texts, ids, titles)]
    return *columns, has_title, extra, unclear


def test_fields_become_columns():
    texts, ids, titles, has_title, extra, unclear = read(
        [
            r'{"id": "x", "text": "\u79cb\n雨", "title": "t", "n": {"a": [1, null]}}',
            "",
            '{"body": "", "title": 1, "id": -12, "n": 1e3}',
            " \t\r\v",
            '{"text": "b", "body": "c", "id": false}',
        ]
    )
    assert texts == ["秋\n雨", "", "b"]
    assert ids == ["x", "-12", "a:9"]
    assert titles == ["t", None, None]
    assert has_title
    assert extra == [b'[{"a": [1, null]},1e3,null]', b'["x",-12,false]']
    assert unclear == []


def test_a_source_without_a_name_makes_no_ids():
    assert read(['{"text": "a"}'], source="")[1] == [None]


def test_the_last_of_equal_keys_counts():
    texts, ids, *_ = read([r'{"text": 1, "id": "a", "text": "b", "id": "c", "\u0069d": 3}'])
    assert (texts, ids) == (["b"], ["3"])


def test_an_unclear_record_is_left_to_the_module():
    lines = [
        "no json",
        "[]",
        "{}",
        '{"text": null}',
        '{"text": "a"} {}',
        r'{"text": "a", "x": "\ud800"}',
        r'{"text": "a", "\ud800": 1}',
        '{"text": "a", "x": 1e999}',
        '{"text": "a", "x": [}',
        '{"text": "a", "id": -0}',
        '{"text": "a", "id": 18446744073709551616}',
        '{"text": "a", "n": 18446744073709551616}',
        r'{"text": "a", "n": "\udc00"}',
        '{"text": "a", "x": %s}' % ("[" * 200 + "]" * 200),
    ]
    texts, *_, extra, unclear = read(lines)
    assert unclear == [(place, line.encode()) for place, line in enumerate(lines)]
    assert texts == [None] * len(lines)
    # Their places in JSON are null, so that the arrays are as long as the columns.
    assert [json.loads(values) for values in extra] == [[None] * len(lines)] * 2


def test_a_record_that_is_not_utf_8_is_unclear_and_the_next_one_is_not():
    texts, ids, *_, unclear = read(b'{"text": "\xff"}\n{"text": "a"}', first=1)
    assert texts == [None, "a"]
    assert ids == ["a:1", "a:2"]
    assert [place for place, _ in unclear] == [0]


def test_a_required_id_that_is_none_is_unclear():
    lines = ['{"text": "a"}', '{"text": "a", "id": 1.5}', '{"text": "a", "id": ""}']
    assert [place for place, _ in read(lines, requires_id=True)[-1]] == [0, 1]
    assert read(lines)[-1] == []
