"""Collections that are hard to join: forms, copies, tiny texts whose keys meet by chance."""

import json
import random

FORM = (
    "市防汛办公室今日发布水情通报，据值班员介绍各站水位平稳，请沿线单位密切关注，做好准备，"
    "遇有险情立即报告。"
)
LETTERS = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥天地玄黄宇宙洪荒日月盈昃"


def letters(rng, count, alphabet=LETTERS):
    return "".join(rng.choices(alphabet, k=count))


def edited(rng, text, alphabet=LETTERS):
    """Return a copy with two characters of its own."""
    at = rng.randrange(len(text) + 1)
    return text[:at] + letters(rng, 2, alphabet) + text[at + 1 :]


def of_one_form(rng, count):
    """Return texts of which most share a form, and some are edited copies."""
    texts = []
    for _ in range(count):
        if texts and rng.random() < 0.2:
            texts.append(edited(rng, rng.choice(texts)))
        else:
            texts.append(FORM + letters(rng, rng.randint(5, 40)))
    return texts


def mixed(rng, count):
    """Return texts, copies of them, edited copies, empty ones and None."""
    texts = []
    for _ in range(count):
        kind = rng.random()
        some = rng.choice(texts) if texts else None
        if kind < 0.1:
            texts.append(rng.choice(("", "  ", "...!", None)))
        elif some and kind < 0.25:
            texts.append(some)
        elif some and kind < 0.5:
            texts.append(edited(rng, some, "abcdef"))
        else:
            words = (letters(rng, rng.randint(2, 6), "abcdefghij") for _ in range(20))
            texts.append(" ".join(words))
    return texts


def tiny(rng, count):
    """Return texts of a tiny alphabet, many of which are equal."""
    return [letters(rng, rng.randint(0, 14), "ab c") for _ in range(count)]


def write_records(path, texts, seed=0):
    """Write texts as records with ids, a few of which are repeated, titles and ranks."""
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for at, text in enumerate(texts):
            record = {
                "id": f"d{at % max(1, len(texts) - 3)}",
                "title": letters(rng, 3),
                "rank": rng.randint(0, 9),
                "text": text,
            }
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path


def of_common_phrases(rng, phrases, each, count):
    """Return distinct texts, each of some of the same phrases and of nothing else.

    All phrases begin and end alike, so that what lies across two of them is as common.
    """
    known = ["东南西北" + letters(rng, 24) + "春夏秋冬" for _ in range(phrases)]
    texts = {}
    while len(texts) < count:
        texts["".join(rng.sample(known, each))] = None
    return list(texts)
