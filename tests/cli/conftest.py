"""Running the command as a person does: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

A = "北山镇的旧粮站改成了书店，开张那天来了三百多人，门口排起长队。"
B = "渡轮公司说新船下个月试航，票价不变，末班时间推迟到夜里十一点。"
LINES = (
    f'{{"id": "a", "text": "{A}"}}\n'
    f'{{"id": "b", "text": "{B}"}}\n'
    f'{{"id": "c", "text": "{A}！"}}\n'
    f'{{"id": "d", "text": "{B}"}}\n'
)


def environment():
    return os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder with one small input, in.jsonl."""
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text(LINES, "utf-8")
    return tmp_path


@pytest.fixture
def run(here):
    """Run the command; check what holds for every run."""

    def run_command(*arguments, code=0, stdin=b"", **options):
        found = subprocess.run(
            [sys.executable, "-m", "neardup", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            timeout=60,
            env=environment(),
            **options,
        )
        errors = found.stderr.decode()
        assert found.returncode == code, errors
        assert "Traceback" not in errors
        found.out, found.err = found.stdout.decode(), errors
        return found

    return run_command


@pytest.fixture
def files(here):
    """Names of all files in the working folder, hidden ones too."""

    def names():
        return sorted(str(p.relative_to(here)) for p in here.rglob("*") if p.is_file())

    return names
