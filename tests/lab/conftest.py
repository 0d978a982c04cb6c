"""A small collection of written texts, made of phrases drawn at random."""

import gzip
import json
import random

import pytest
import zstandard


def cut(line, size=2):
    """The words of a line, all of one length."""
    return [line[index : index + size] for index in range(0, len(line), size)]


WHO = cut("渔民校长医生站长木匠邮差园丁船长记者厨师裁缝会计画家牧民司机馆长")
WHERE = cut("码头学校诊所车站集市邮局花园灯塔仓库茶馆山坡桥头书店庭院渡口果园")
WHEN = cut("清晨傍晚周末雨后午夜开春入冬节前昨天上月每年当时不久去年前夜明日")
DOES = cut("修补搬运清点记录丈量粉刷借阅登记晾晒播种拍摄整理称量缝制打捞运送")
WHAT = cut("渔网课本药箱铁轨门窗信件树苗缆绳粮袋茶叶羊群石板账册旧书木船苹果")
HOW = cut("十分仔细略显匆忙一言不发按时完成反复核对引来围观令人意外分文不取", 4)


def written(seed, sentences=12):
    """A text of about 200 characters; two seeds have no sentence in common but by chance."""
    draw = random.Random(seed)
    parts = [
        f"{draw.choice(WHEN)}，{draw.choice(WHERE)}的{draw.choice(WHO)}{draw.choice(DOES)}了"
        f"{draw.randrange(2, 99)}件{draw.choice(WHAT)}，{draw.choice(HOW)}。"
        for _ in range(sentences)
    ]
    return "".join(parts)


def records(name, count):
    for index in range(count):
        yield {"id": f"{index:03}", "title": f"{name}{index}", "text": written(f"{name}{index}")}


def as_lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


@pytest.fixture(scope="session")
def write():
    """The function that writes a text."""
    return written


@pytest.fixture(scope="session")
def collection_folder(tmp_path_factory):
    """Two topics of 13 and 12 documents, 20 distractors; three kinds of file."""
    folder = tmp_path_factory.mktemp("topics")
    (folder / "harbour.jsonl").write_bytes(as_lines(records("港", 13)))
    (folder / "market.jsonl.gz").write_bytes(gzip.compress(as_lines(records("集", 12)), mtime=0))
    packed = zstandard.ZstdCompressor().compress(as_lines(records("杂", 20)))
    (folder / "distractors.jsonl.zst").write_bytes(packed)
    (folder / "README.md").write_text("no topic")
    return folder
