"""Records that are nested deeply, or have large numbers: good records, or one problem each."""

import json

import pytest

import neardup

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
