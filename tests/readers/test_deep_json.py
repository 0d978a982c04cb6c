"""Records that are nested as deeply as the parser takes: good records, or one problem each."""

import json
from pathlib import Path

import pytest

import neardup
from neardup.readers.jsonl import exact_value

#: More than Python's own JSON parser can take, less than what the reader's parser refuses.
DEEP = "[" * 1000 + "]" * 1000
BEYOND = 12345678901234567890123
TEXT = "市图书馆将于周六上午九点重新开放，读者凭身份证入馆。"


def line(index, deep=DEEP, **others):
    rest = json.dumps(
        {"id": BEYOND + index, "text": TEXT * 3 + "甲乙丙丁"[index], **others}, ensure_ascii=False
    )
    return f'{{"n":{deep},{rest[1:]}\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'{{"a":{BEYOND}}}', BEYOND),
        (f'{{"a":-{BEYOND}}}', -BEYOND),
        (f'{{"b":"{BEYOND}\\"{BEYOND}","a":{BEYOND},"c":[{BEYOND}]}}', BEYOND),
        (f'{{"b":"\\\\","a":{BEYOND}}}', BEYOND),
        (f'{{"a":{BEYOND}.5}}', BEYOND + 0.5),
        (f'{{"a":{BEYOND}e2}}', BEYOND * 1e2),
        (f'{{"a":"{BEYOND}"}}', str(BEYOND)),
        (f'{{"n":{DEEP},"a":{BEYOND}}}', BEYOND),
        ('{"a":1e300}', 1e300),
        ('{"a":17}', 17),
    ],
)
def test_whole_numbers_keep_their_digits(text, expected):
    result = exact_value(text.encode(), "a")
    assert (result, type(result)) == (expected, type(expected))


def test_searching_for_digits_is_linear():
    """Unclosed quotation marks and backslashes are not valid JSON, but what is may come close."""
    text = '{"b":"' + '\\"' * 400_000 + '","a":' + str(BEYOND) + "}"
    assert exact_value(text.encode(), "a") == BEYOND


def test_ids_and_priorities_of_deep_records(make):
    path = make("a.jsonl", "".join(line(index, rank=BEYOND - index) for index in range(3)))
    for options in ({}, {"priority": "field:id:desc"}, {"priority": "field:rank"}):
        result = neardup.dedup_files([path], "out.jsonl", force=True, **options)
        assert result.problems == []
        assert result.summary.read == 3
    neardup.pairs_files([path], "pairs.jsonl")
    pairs = [json.loads(row) for row in Path("pairs.jsonl").read_text("utf-8").splitlines()]
    assert {row["id_a"] for row in pairs} == {str(BEYOND + index) for index in range(2)}


def test_a_priority_by_deep_values_is_refused(make):
    path = make("a.jsonl", line(0) + line(1))
    with pytest.raises(neardup.InputError, match="field 'n' cannot order the documents"):
        neardup.dedup_files([path], "out.jsonl", priority="field:n")


def test_a_deep_value_in_a_message(make):
    path = make("a.jsonl", f'{{"text":{DEEP}}}\n{{"text":"{TEXT}","id":{DEEP}}}\n')
    result = neardup.dedup_files([path], "out.jsonl", id_field="id")
    assert len(result.problems) == 2
    assert all("nested too deeply" in str(problem) for problem in result.problems)


def test_an_index_takes_deep_records_or_says_why(make):
    path = make("a.jsonl", "".join(line(number) for number in range(3)) + line(3, deep="1"))
    with neardup.Index("n.db", must_exist=False) as index:
        added = index.add_files([path], extra_fields=["n"])
        assert (added.new, len(added.problems)) == (1, 3)


def test_a_deep_recipe(make):
    path = make("deep.toml", f"a = {DEEP}")
    with pytest.raises(neardup.InputError, match=r"deep\.toml: not a TOML file"):
        neardup.load_recipe(path)
