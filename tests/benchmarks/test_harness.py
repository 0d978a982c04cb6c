"""The harness of the benchmarks: a wrong answer, or one beyond a limit, has no time."""

import argparse
import sys

import numpy as np
import pytest

ONCE = argparse.Namespace(engines=None, repetitions=2, trial=False)
#: Engines that square a number; one is wrong, one fails, one does not end.
PEER = """
import time
PACKAGES = ["numpy"]
def square(path, folder, *, plus=0):
    number = int(path.read_text())
    return lambda: {"square": number * number + plus, "facts": {"visited": 7}}
def later(path, folder):
    return lambda: lambda: {"square": int(path.read_text()) ** 2}
def fail(path, folder):
    raise ValueError("no squares today")
def wait(path, folder):
    return lambda: time.sleep(600)
"""


@pytest.fixture
def rows(module, monkeypatch, tmp_path):
    """Return a function that runs engines of `PEER` and returns their rows."""
    harness, worker = module("harness"), module("worker")
    number = tmp_path / "number.txt"
    number.write_text("12")
    (tmp_path / "peers").mkdir()
    (tmp_path / "peers" / "squares.py").write_text(PEER)
    (tmp_path / ".inputs").mkdir()
    program = (harness.HERE / "worker.py").read_text("utf-8")
    (tmp_path / "worker.py").write_text(program)
    monkeypatch.setattr(harness, "HERE", tmp_path)
    # Peers of the benchmarks have packages that a test does not install.
    monkeypatch.setattr(harness.environments, "install", lambda: None)
    monkeypatch.setattr(harness.environments, "python_of", lambda _: sys.executable)
    assert worker.PEERS.name == "peers"

    def judge(answer, *_):
        if int(answer["square"]) != 144:
            raise harness.WrongAnswerError(f"144 expected, {answer['square']} found")
        return {"recall": 1.0}

    def run(seconds=60, **functions):
        engines = [harness.Engine(*pair, **options) for pair, options in functions["engines"]]
        work = harness.Work(
            "squares",
            "Squares",
            lambda _: number,
            judge,
            tuple(engines),
            limits=harness.Limits(seconds, 4_000),
        )
        return work.measure(ONCE)["rows"]

    return lambda *engines, seconds=60: run(seconds, engines=engines)


def test_an_answer_has_figures_and_medians(rows):
    first, second = rows((("ours", "squares", "square"), {}), (("theirs", "squares", "later"), {}))
    for row in (first, second):
        assert len(row["runs"]) == 2
        for key in ("seconds", "cpu_seconds", "peak_mb", "base_mb"):
            assert row[key] == np.median([run[key] for run in row["runs"]])
        assert row["peak_mb"] >= row["base_mb"] > 0
    assert first["quality"] == {"recall": 1.0, "visited": 7}
    assert set(first["versions"]) == {"numpy"}


def test_a_wrong_answer_has_no_time(rows):
    wrong, failed = rows(
        (("wrong", "squares", "square"), {"options": {"plus": 1}}),
        (("failed", "squares", "fail"), {}),
    )
    assert wrong == {"engine": "wrong", "failure": "WrongAnswerError: 144 expected, 145 found"}
    assert failed["failure"].endswith("ValueError: no squares today")
    assert "seconds" not in failed


def test_a_run_beyond_a_limit_is_ended(rows):
    [row] = rows((("slow", "squares", "wait"), {}), seconds=0.5)
    assert row == {"engine": "slow", "stopped": "over 0.5 s"}


def test_all_benchmarks_have_names_of_their_own(module):
    tasks = module("run").tasks()
    names = [one.name for task in tasks.values() for one in task.BENCHMARKS]
    assert len({*names, *tasks}) == len(names) + len(tasks.keys() - set(names))
    assert {"pieces", "reposts", "near_pairs_10m_3", "accuracy"} <= set(names)


def test_page_keeps_named_tables_and_links_data_of_others(module, tmp_path):
    tables = module("tables")
    table = tables.table(["engine", "seconds"], [["a", 1], ["`b`", 2]])
    one = tables.table(["engine", "seconds"], [["a", 1]])
    text = f"# Page\n\n## Kept\n\n{table}\n\n{table}\n\n## 2. Moved\n\n{table}\n\n{one}\n"
    page = tmp_path / "page.md"
    tables.write_page(page, text, {"Kept": ("seconds",)})
    assert "| 1 |\n| 2 |\n\n[All columns](data/page-kept.csv)" in page.read_text()
    for _ in range(2):
        tables.write_page(page, text, {"Kept": ()})
        assert page.read_text().count("| a | 1 |") == 1
        names = ["page-kept.csv", "page-moved.csv"]
        assert sorted(path.name for path in (tmp_path / "data").iterdir()) == names
        assert (tmp_path / "data" / names[1]).read_text() == "engine,seconds\na,1\nb,2\n"
        assert all(f"[Table of 2 rows](data/{name})" in page.read_text() for name in names)
        assert page.read_text().endswith("a: seconds 1.\n")
