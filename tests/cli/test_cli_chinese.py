"""With a Chinese locale all that people read is Chinese: help, results and reports."""

import re

import pytest
from tests.cli.conftest import ARTICLES, A, B

from neardup.cli.parser import COMMANDS, GROUPS

#: Two English words beside each other; a name of an option or a file is only one.
ENGLISH = re.compile(r"(?<![-\w.<>`'])[A-Za-z]{2,} [a-z]{2,}(?![-\w.])")
#: What is written in English in every language: commands, and how programs are called.
NAMES = re.compile(r"neardup( \w+)*|python -m|`[^`]*`|Shingle|RFC \d+")
EXAMPLES = "\n示例:"


def chinese(text):
    """Fail for the lines that are English."""
    text = text.partition(EXAMPLES)[0]
    assert not [line for line in text.splitlines() if ENGLISH.search(NAMES.sub("", line))]


@pytest.fixture
def zh(run, monkeypatch):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")

    def run_in_chinese(*arguments, **settings):
        found = run(*arguments, **settings)
        chinese(found.out)
        chinese(found.err)
        return found

    return run_in_chinese


@pytest.mark.parametrize("name", dict.fromkeys([*GROUPS, *COMMANDS]))
def test_help(zh, name):
    out = zh(*name.split(), "--help").out
    assert out.startswith("用法: ")
    # Each line that begins at the left, and each option, has Chinese.
    for line in out.partition(EXAMPLES)[0].splitlines()[2:]:
        assert not line or line.startswith(" ") or re.search("[一-鿿]", line), line


@pytest.mark.parametrize("recipe", ["general", "news", "minhash", "improved", "aligned"])
def test_two_texts_and_plans(zh, here, recipe):
    (here / "a.txt").write_text(A + B, "utf-8")
    (here / "b.txt").write_text(B + "改", "utf-8")
    found = zh("compare", "a.txt", "b.txt", "-r", recipe, "-p").out
    assert "相似度" in found
    assert "方案" in zh("explain", "a.txt", "b.txt", "-r", recipe).out
    assert "文档数" in zh("plan", "-r", recipe).out


def test_a_measure_is_explained(zh, here):
    (here / "a.txt").write_text(A + B, "utf-8")
    assert "内容相似度 content(5)" in zh("compare", "a.txt", "a.txt").out
    assert "抽样" in zh("recipes").out


def test_papers(zh, here):
    (here / "a.txt").write_text(A + B, "utf-8")
    (here / "library").mkdir()
    (here / "library" / "b.txt").write_text(B + A, "utf-8")
    assert "总复制比" in zh("check", "a.txt", "-l", "library", "-o", "a.html").out
    assert "zh" in (here / "a.html").read_text("utf-8")[:40]
    assert "单篇最大" in zh("check", "a.txt", "library", "--among").out


def test_a_command_names_the_language_of_report_and_messages(run, here):
    (here / "a.txt").write_text(A + B, "utf-8")
    (here / "library").mkdir()
    (here / "library" / "b.txt").write_text(B + A, "utf-8")
    found = run("check", "a.txt", "-l", "library", "--language", "zh", "-o", "a.html")
    assert "总复制比" in found.out
    assert '<html lang="zh' in (here / "a.html").read_text("utf-8")


def test_an_index(zh, index):
    assert "判为重复" in zh("index", "stats", index).out
    assert "保留" in zh("index", "explain", index, "bridge").out
    zh("index", "create", "other.db")
    assert "等待重新判定" in zh("index", "remove", index, "bridge").out
    assert "重复" in zh("index", "reconsider", index).out
    assert "删除" in zh("index", "explain", index, "bridge").out


def test_an_evaluation(zh):
    data = ARTICLES.parent / "evaluate"
    found = zh("evaluate", "pairs", data / "documents.jsonl", "--truth", data / "pairs.tsv").out
    assert "最佳分界值" in found
