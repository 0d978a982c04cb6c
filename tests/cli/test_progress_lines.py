"""Where standard error is no terminal, a run that lasts has a line now and then."""

import re
import time

import pytest

from neardup.cli import watch
from neardup.cli.watch import Watch


def watched(monkeypatch, *, quiet=False, every=0.05, lasts=0.3):
    monkeypatch.setattr(watch, "_EVERY", every)
    with Watch(quiet=quiet) as progress:
        progress.stage("read and sketch", None, lambda: 0.25)
        progress.advance(1200, 10)
        time.sleep(lasts)
        progress.stage("candidates, verify, cluster", 2000)
        progress.advance(500)
        time.sleep(lasts)
        progress.stage("write", None)
        progress.advance(3)
        time.sleep(lasts)
        progress.stage("improved, 12,500 documents", None)
        time.sleep(lasts)
    time.sleep(3 * every)


def test_lines_have_documents_share_and_time_left(monkeypatch, capsys):
    watched(monkeypatch)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert 3 <= len(lines) <= 28
    read = r"neardup: read and sketch: 1,200 documents, 25%, 0:00:0\d left\."
    assert re.fullmatch(read, lines[0])
    assert any("cluster: 500 documents, 25%, " in line for line in lines)
    # Without a share, nothing is said of the time; without a count, nothing of documents.
    assert "neardup: write: 3 documents." in lines
    assert lines[-1] == "neardup: improved, 12,500 documents."


@pytest.mark.parametrize("options", [{"quiet": True}, {"every": 30.0, "lasts": 0.01}])
def test_quiet_and_shorter_runs_have_none(monkeypatch, capsys, options):
    if "every" in options:
        monkeypatch.setattr(time, "sleep", lambda _: None)
    watched(monkeypatch, **options)
    assert capsys.readouterr().err == ""
