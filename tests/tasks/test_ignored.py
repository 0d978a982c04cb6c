"""What varies on request: kinds and regular expressions that a recipe ignores."""

import json

import pytest

from neardup import (
    Index,
    InputError,
    ParameterError,
    compare,
    dedup,
    dedup_files,
    load_recipe,
    pairs,
    sketch_files,
)
from neardup.recipe.assets import compiled

EVENTS = [
    f"{time} VM {machine} {action}"
    for time in ("2026-03-05T09:05:01.2Z", "2026年3月6日 17:20", "Sat Mar  7 08:00:00 2026")
    for machine in ("web", "store")
    for action in ("Started", "Paused")
]


@pytest.mark.parametrize(
    ("ignore", "a", "b", "other"),
    [
        ("numbers", "共有25人到场", "共有1,300人到场", "共有25人离场"),
        ("numbers", "第三章 渡口", "第12章 渡口", "第三章 码头"),
        (
            "dates",
            "会议3月5日上午9时30分开始",
            "会议2026-04-06 17:05开始",
            "会议3月5日上午9时30分结束",
        ),
        (
            "links",
            "看 http://t.cn/A6x 再说",
            "看 www.example.com/b 再说",
            "看 http://t.cn/A6x 不说",
        ),
        ("names", "请 @小红 转告大家", "请 @joe_b 转告大家", "请 @小红 转交大家"),
        ("numbers, names", "@小红 3 号来", "@小明 5 号来", "@小红 3 号去"),
        (["req-[0-9a-f]{4,}"], "req-0f3a done", "req-77be1 done", "req-0f3a lost"),
        ("numbers", "三百二十五人到场，共两百", "１,300人到场，共9", "三百二十五人离场，共两百"),
        ("numbers", "编号12，渡口一样新", "编号二十，渡口一样新", "编号12，渡口统一新"),
        ("numbers", "lot 7 of twenty-five", "lot 12 of 3 million", "lot 7 from twenty-five"),
        ("numbers", "n" + "7" * 60 + " up", "n" + "8" * 50 + " up", "n" + "7" * 60 + " on"),
        ("dates", "9时05分开会", "下午三点半开会", "9时05分散会"),
        ("dates", "up March 5, 2026 9:05 pm", "up Thu Mar  6 12:30:01 2026", "on March 5, 2026"),
        ("dates", "三月五日中午12时到", "2026-03-05T09:05:01.5+08:00到", "三月五日中午12时走"),
        ("dates,punctuation", "3/5/2026, 9:05: up!", "2026-03-09 17:20 up", "3/5/2026, 9:05: on!"),
        ("dates,x{1,2}y,links", "9:05 xy done", "17:20 xxy done", "9:05 xy lost"),
    ],
)
def test_ignored_stretches_are_no_difference(ignore, a, b, other):
    assert not compare(a, b).duplicate
    assert dedup([a, b, other], ignore=ignore).keep.tolist() == [True, False, True]
    assert compare(a, b, ignore=ignore).similarity == 1
    assert pairs([a, b, other], ignore=ignore).summary.pairs == 1


@pytest.mark.parametrize("recipe", ["news", "classic", "keywords", "improved", "general"])
@pytest.mark.parametrize(
    ("a", "b"), [("１２３", "４５６"), ("٣٤٥", "٩١"), ("१२३", "९"), ("12", "１３")]
)
def test_digits_of_any_script_are_ignored_where_nothing_is_folded(recipe, a, b):
    texts = [f"the price is {number} each, 渡口的票价" for number in (a, b)]
    assert compare(*texts, recipe=recipe, ignore="numbers").similarity == 1


@pytest.mark.parametrize("recipe", ["news", "general"])
@pytest.mark.parametrize("text", ["下一步看五星红旗", "周三一枕黄粱", "no one is one-sided"])
def test_words_with_a_numeral_are_not_ignored(recipe, text):
    recipe = load_recipe(recipe)
    ignoring = recipe.replace(normalize={"ignore": ("numbers", "dates")})
    assert compiled(ignoring).normalize(text) == compiled(recipe).normalize(text)


def test_one_event_at_several_times_is_one_by_every_way(tmp_path):
    kept = [True] * 4 + [False] * 8
    assert dedup(EVENTS).keep.all()
    for recipe in ("general", "shingle", "minhash", "classic"):
        assert dedup(EVENTS, recipe=recipe, ignore=["dates"]).keep.tolist() == kept
    source, sketches = tmp_path / "events.jsonl", tmp_path / "events.sketches"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in EVENTS))
    with Index(tmp_path / "events.db", ignore=["dates"]) as index:
        assert index.add_files([source]).keep.tolist() == kept
    sketch_files([source], sketches, ignore="dates")
    for other in (sketches, tmp_path / "events.db"):
        out = tmp_path / "kept.jsonl"
        found = dedup_files([source], out, against=[other], ignore=["dates"], force=True)
        assert found.summary.kept == 0
    with pytest.raises(InputError, match="with the settings of this run"):
        dedup_files([source], out, against=[sketches], force=True)


@pytest.mark.parametrize("expression", [r"[\s\S]*", ".+", r"\S+|\s+"])
def test_text_ignored_whole_equals_only_an_identical_one(expression):
    kept = dedup([*EVENTS, EVENTS[0]], ignore=[expression]).keep
    assert kept.tolist() == [True] * len(EVENTS) + [False]


@pytest.mark.parametrize("expression", ["", "^", "$", "z*", r"\b"])
def test_empty_match_changes_nothing(expression):
    ignore = [f"(?:{expression})"]
    assert dedup(EVENTS, ignore=ignore).keep.all()


def test_id_covers_ignored_kinds_in_any_order():
    def made(*ignore):
        return load_recipe().replace(normalize={"ignore": ignore}).id

    assert made("dates", "numbers", "x+") == made("x+", "numbers,dates", "numbers")
    assert len({made(), made("dates"), made("numbers"), made("x+"), made("y+")}) == 5


@pytest.mark.parametrize(
    ("ignore", "says"),
    [
        ("number", "did you mean numbers?"),
        ("Dates", "did you mean dates?"),
        ("mentions", "did you mean names?"),
        ("numbers,(渡口", "at character 1: unclosed group"),
        ("渡口(?!x)", "at character 3: look-around"),
        (r"(a)\1", "backreferences are not supported"),
        (r"\w{90000}", "too large"),
    ],
)
def test_fault_of_an_expression_is_told_with_its_place(ignore, says):
    with pytest.raises(ParameterError) as refused:
        dedup(EVENTS, ignore=ignore)
    assert says in str(refused.value)


@pytest.mark.parametrize("recipe", ["bkdr", "news-words"])
def test_cut_texts_ignore_nothing(recipe):
    with pytest.raises(ParameterError, match="are cut at their signs"):
        dedup(EVENTS, recipe=recipe, ignore="numbers")
