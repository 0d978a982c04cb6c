"""The modules of the benchmarks, which import their neighbours by their bare names."""

import importlib
import random
import sys

import pytest
from tests.conftest import ROOT

FOLDER = ROOT / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    """Return a function that imports a module of the benchmarks by its name."""
    monkeypatch.syspath_prepend(FOLDER)
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(FOLDER)):
            del sys.modules[name]


#: Every sentence has words that have synonyms in the table of planted passages.
WHEN = ("昨天清晨", "最近", "目前", "入冬以后", "去年夏天")
WHO = ("渔民", "老师", "医生", "园丁", "船长", "专家", "邮差")
DOES = ("检查", "管理", "调整", "完成", "讨论")
WHAT = ("码头的缆绳", "灯塔的门窗", "茶馆的账册", "渡口的木船", "果园的水渠")
HOW = ("非常仔细", "十分匆忙", "一言不发", "反复核对")


@pytest.fixture(scope="session")
def write():
    """Return a function that writes some sentences, drawn by a seed."""

    def written(seed, sentences):
        pick = random.Random(seed).choice
        parts = [
            f"{pick(WHEN)}，{pick(WHO)}{pick(DOES)}了{pick(range(9))}次{pick(WHAT)}，{pick(HOW)}。"
            for _ in range(sentences)
        ]
        return "".join(parts)

    return written
