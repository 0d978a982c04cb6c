"""JSON lines: columns that the core reads, and records that are deep or have large numbers."""

import json

import pyarrow as pa
import pytest

import neardup
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


#: More than Python's own JSON parser can take, less than what the reader's parser refuses.
DEEP = "[" * 1000 + "]" * 1000
TEXT = "市图书馆将于周六上午九点重新开放，读者凭身份证入馆。"


def line(index, deep=DEEP, **others):
    rest = json.dumps({"id": index, "text": TEXT * 3 + "甲乙丙丁"[index], **others})
    return f'{{"n":{deep},{rest[1:]}\n'


def reasons(problems):
    return [(problem.record, problem.field, str(problem.reason)) for problem in problems]


@pytest.mark.parametrize("extra", [[], ["n"]])
def test_a_record_that_is_nested_too_deeply_is_a_problem(read, make, extra):
    brackets = '\\"[' * 200
    nested = [f'{"[" * levels}"{brackets}"{"]" * levels}' for levels in (127, 128, 900)]
    got = read(make("a.jsonl", "".join(line(0, deep) for deep in nested)), extra_fields=extra)
    assert [text is None for text in got["texts"]] == [False, True, True]
    assert reasons(got["problems"]) == [
        (number, None, "must be nested at most 128 levels deep") for number in (2, 3)
    ]


@pytest.mark.parametrize("titles", [True, False])
@pytest.mark.parametrize("id_field", [None, "id"])
def test_an_id_beyond_64_bits_is_a_problem(read, make, id_field, titles):
    numbers = [2**64 - 1, -(2**63), 2**64, -(2**63) - 1, int("9" * 308)]
    lines = [f'{{"text":"{2**70}","id":{number}}}\n' for number in numbers]
    got = read(make("a.jsonl", "".join(lines)), id_field=id_field, titles=titles)
    assert got["ids"] == [str(2**64 - 1), str(-(2**63)), *(f"a.jsonl:{n}" for n in (3, 4, 5))]
    assert got["texts"] == [str(2**70)] * 5
    assert reasons(got["problems"]) == [
        (number, "id", "must be text or an integer of at most 64 bits") for number in (3, 4, 5)
    ]


def test_a_number_that_is_no_whole_one_is_no_id(read, make):
    got = read(make("a.jsonl", '{"text":"a","id":1e300}\n{"text":"b","id":1e300,"n":1}\n'))
    assert (got["ids"], got["problems"]) == (["a.jsonl:1", "a.jsonl:2"], [])


def test_an_extra_value_beyond_64_bits_is_a_problem(read, make):
    lines = f'{{"text":"a","x":{2**64},"y":1e300}}\n{{"text":"b","x":7,"y":-2}}\n'
    got = read(make("a.jsonl", lines), extra_fields=["x", "y"])
    assert got["extra"] == {"x": [None, 7], "y": [1e300, -2]}
    assert [problem[:2] for problem in reasons(got["problems"])] == [(1, "x")]


def test_an_index_takes_deep_records_or_says_why(make):
    path = make("a.jsonl", "".join(line(number) for number in range(3)) + line(3, deep="1"))
    with neardup.Index("n.db", must_exist=False) as index:
        added = index.add_files([path], extra_fields=["n"])
        assert (added.new, len(added.problems)) == (1, 3)


def test_a_deep_recipe(make):
    path = make("deep.toml", f"a = {DEEP}")
    with pytest.raises(neardup.InputError, match=r"deep\.toml: not a TOML file"):
        neardup.load_recipe(path)
