"""Texts of one form are not taken for copies; an edited copy of one of them is."""

import random

import numpy as np
import pytest

from neardup import compare, dedup, load_recipe, pairs

#: What stands in the gaps of the form.
PLACES = ("青岚", "白鹭", "云汀", "石梁", "芦浦", "栖霞", "望江", "松坪", "柳埠", "鹤洲", "沙溪")
PEOPLE = ("顾雪芹", "蓝依依", "梁守田", "贺知秋", "苏明远", "程晚舟", "陆青禾", "韩立春", "丁如海")
FORM = (
    "{place}{kind}防汛办公室{month}月{day}日{hour}时发布水情通报：{river}{place}站水位{level}米，"
    "较昨日同期{change}{centimetres}厘米，距警戒水位{left}米。据值班员{name}介绍，{news}。"
    "请沿线各单位密切关注水情变化，及时检查堤防、泵站和涵闸，做好人员转移和物资调运准备，"
    "遇有险情立即报告。本通报每日发布一次，未经许可不得转载。"
)
NEWS = (
    "东岸泵房已经开机，{name}带人守在闸口，{river}上的两条渡船停在{place}码头待命",
    "下游的{river}浮桥拆了一半，货车一律从{place}老街绕行，校车改在粮库门口上客",
    "夜里来了一阵急雨，{place}中学操场积了水，{name}把借住的老人送回了各自家里",
    "{river}支流的水已经退到滩下，菜农开始补种秧苗，{place}的早市照常开门",
    "巡堤的人在{place}发现一处渗水，{name}叫来民兵填了沙袋，半天以后不再冒泡",
)


def bulletins(count, seed=1):
    """Return bulletins of one form, each with names, numbers and news of its own."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        details = {
            "place": rng.choice(PLACES),
            "river": rng.choice("澜澄沅漓浔汀") + rng.choice("江河溪水"),
            "name": rng.choice(PEOPLE),
        }
        made.append(
            FORM.format(
                **details,
                kind=rng.choice("市县区镇"),
                month=rng.randint(4, 10),
                day=rng.randint(1, 28),
                hour=rng.randint(0, 23),
                level=f"{rng.uniform(3, 60):.2f}",
                change=rng.choice(("上涨", "回落")),
                centimetres=rng.randint(2, 99),
                left=f"{rng.uniform(0.1, 9):.2f}",
                news=rng.choice(NEWS).format(**details),
            )
        )
    return made


def edited(text):
    """Return a copy as another paper would print it: a head line, a passage less."""
    copy = text.replace("本通报每日发布一次，未经许可不得转载。", "")
    return "（本报讯）" + copy.replace("密切关注水情变化，及时检查", "留意水情，检查")


def test_bulletins_of_one_form_all_stay():
    made = bulletins(40)
    assert len(set(made)) == 40
    assert dedup(made).kept == made
    assert pairs(made).table.num_rows == 0
    # By shingles alone most of them would go.
    assert len(dedup(made, recipe="shingle", threshold=0.4).kept) < 20


@pytest.mark.parametrize("index", [0, 17, 39])
def test_an_edited_copy_of_a_bulletin_is_dropped(index):
    """Also that of the last, for which the lists of the form's shingles are closed."""
    made = bulletins(40)
    result = dedup([*made, edited(made[index])])
    assert result.kept == made
    (row,) = result.removed.to_pylist()
    assert (row["id"], row["kept_id"], row["measure"]) == ("40", str(index), "content(5)")
    rows = pairs([*made, edited(made[index])]).table.to_pylist()
    assert [(row["id_a"], row["id_b"]) for row in rows] == [(str(index), "40")]


def test_the_threshold_is_inside():
    """At, just under and just over a content in which common shingles count less."""
    made = bulletins(40)
    made.append(edited(made[3]))
    (row,) = pairs(made).table.to_pylist()
    content = row["similarity"]
    assert content != compare(made[3], made[40]).resemblance
    for threshold, left in ((content, 40), (np.nextafter(content, 0), 40)):
        assert len(dedup(made, threshold=threshold).kept) == left
        assert pairs(made, threshold=threshold).table.num_rows == 1
    assert dedup(made, threshold=np.nextafter(content, 1)).kept == made
    assert pairs(made, threshold=np.nextafter(content, 1)).table.num_rows == 0


def test_a_copy_with_other_numbers_is_another_bulletin():
    made = bulletins(40)
    other = made[5]
    for digits in "3579":
        other = other.replace(digits, str(int(digits) - 1))
    assert len(dedup([*made, other]).kept) == 41


def test_boilerplate_counts_in_full_without_common_counts():
    """Then the form counts as much as the content, and numbers decide alone."""
    general = load_recipe("general")
    assert general.decide.common == "corpus"
    uncounted = general.replace(decide={"common": "none"})
    made = [text.translate(str.maketrans("", "", "0123456789.")) for text in bulletins(40)]
    assert len(dedup(made, recipe=uncounted).kept) < len(dedup(made, recipe=general).kept)


def test_often_posted_text_is_kept_once():
    """What many share is no form if it is all that they say."""
    rng = random.Random(4)
    text = bulletins(1)[0]
    posted = [text.replace("。", rng.choice(("。", "！", "。 "))) for _ in range(60)]
    others = bulletins(10, seed=9)
    assert dedup([*posted, *others]).kept == [posted[0], *others]


@pytest.mark.parametrize("count", [2, 4, 5, 6, 8, 10, 12, 30, 100, 1000])
def test_one_item_in_many_papers_is_kept_once(count):
    """Each prints it under a head line of its own, and a few under an editor's name."""
    rng = random.Random(count)
    (item,) = bulletins(1, seed=9)
    letters = [chr(0x4E00 + index) for index in range(3000)]
    printed = [
        f"（{''.join(rng.sample(letters, 6))}讯）{item}编辑：{''.join(rng.sample(letters, 3))}"
        for _ in range(count)
    ]
    assert len(dedup(printed).kept) == 1
    assert len(dedup([*bulletins(20), *printed]).kept) == 21
