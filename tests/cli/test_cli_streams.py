"""Standard input and output, closed pipes, interrupts, lack of memory, and lines of a long run."""

import json
import os
import random
import re
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests import forks, needs
from tests.cli.conftest import LINES, A, environment

from neardup.cli import watch
from neardup.cli.watch import Watch


@pytest.mark.slow
@pytest.mark.parametrize("process", [True, False])
def test_standard_input_goes_to_standard_output(run, process):
    result = run("dedup", "-", "-o", "-", stdin=LINES.encode(), process=process)
    assert result.stdout == b"".join(LINES.encode().splitlines(keepends=True)[:2])
    result = run("pairs", "-", stdin=LINES.encode() + b"oops\n", code=2)
    assert len(result.out.splitlines()) == 2
    assert "record 5" in result.err


@pytest.mark.slow
@pytest.mark.parametrize("is_begun", [True, False])
@pytest.mark.parametrize(
    "words",
    [
        "recipes general",
        "fingerprint many.jsonl",
        "index export n.db",
        "index export n.db --include-removed",
    ],
)
def test_a_closed_pipe_is_no_error(run, words, is_begun):
    lines = [
        {"id": f"d{at}", "text": f"{at // 2} {A[at % 20 :]} {at * 7919}"} for at in range(1200)
    ]
    Path("many.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    if words.startswith("index"):
        run("index", "add", "n.db", "many.jsonl", "-q")
    process = subprocess.Popen(
        [sys.executable, "-m", "neardup", *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    if is_begun:
        process.stdout.read(1)
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(60) == 0, errors
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


#: Commands of which each prints in another way.
PRINTING = [
    "recipes general",
    "pairs in.jsonl --fail-on-duplicates",
    "compare a.txt a.txt",
    "--help",
    "index stats n.db",
    "index stats n.db --json",
    f"index query n.db {A}",
    "index explain n.db a",
    "index export n.db",
    "index export n.db --include-removed",
    "index remove n.db b",
    "index reconsider n.db",
    "index reconsider n.db c",
]


def redirected(words, redirection):
    """Return the exit code of a command, and its messages."""
    process = subprocess.run(
        ["sh", "-c", f'"$0" -m neardup {words} {redirection}', sys.executable],
        capture_output=True,
        timeout=60,
        env=environment(),
    )
    assert b"Traceback" not in process.stderr
    return process.returncode, process.stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize("words", PRINTING)
def test_full_standard_output_is_an_error(run, words):
    Path("a.txt").write_text(A, "utf-8")
    run("index", "add", "n.db", "in.jsonl", "-q")
    full = Path("/dev/full")
    done = forks.run(forks.run_command, *words.split(), stdout=full, environment=environment())
    errors = done.stderr.decode()
    assert done.returncode == 2, errors
    assert "Traceback" not in errors
    assert errors.count("cannot be written: No space left") == errors.count("No space left") == 1


@pytest.mark.slow
@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
@pytest.mark.parametrize("words", ["recipes general", "index export n.db", "--help"])
def test_unwritable_output_is_an_error(run, words, redirection):
    """In another process, whose streams Python opens."""
    run("index", "add", "n.db", "in.jsonl", "-q")
    code, errors = redirected(words, redirection)
    assert code == 2, errors
    error = "Bad file descriptor" if redirection == ">&-" else "No space left"
    assert f"cannot be written: {error}" in errors


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&- 2>&-"])
def test_closed_standard_error_changes_nothing(redirection):
    words = "pairs in.jsonl -o out.jsonl --fail-on-duplicates --force"
    assert redirected(words, "")[0] == 1
    expected = Path("out.jsonl").read_bytes()
    assert redirected(words, redirection)[0] == 1
    assert Path("out.jsonl").read_bytes() == expected


def limited(megabytes, *arguments):
    """Run the command with so much room beside what this process has."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (megabytes << 20),) * 2)
    forks.run_command(*arguments)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason=needs.LINUX)
def test_lack_of_memory_is_an_error_of_one_line(here):
    rng = random.Random(3)
    with (here / "large.jsonl").open("w", encoding="utf-8") as file:
        for _ in range(8_000):
            text = "".join(chr(0x4E00 + rng.randrange(5000)) for _ in range(120))
            file.write(json.dumps({"text": text}) + "\n")
    words = ("dedup", "large.jsonl", "-o", "out.jsonl", "-q", "--force")
    codes = []
    for megabytes in (20, 50, 60, 70, 90, 1000):
        result = forks.run(limited, megabytes, *words, environment=environment())
        codes.append(result.returncode)
        if result.returncode == 2:
            assert result.stderr.decode().startswith("neardup: out of memory; no output")
        assert [path.name for path in here.glob(".*.tmp")] == []
    assert {*codes} == {0, 2}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason=needs.LINUX)
def test_lack_of_memory_inside_a_call_is_no_abort(here):
    """In another process, in which the segmenter's dictionary is not loaded yet."""
    text = "渡口管理处说本班船的票已经售完，请旅客改乘后面的船。" * 12
    lines = (json.dumps({"text": f"{text}{number}"}) + "\n" for number in range(9000))
    (here / "large.jsonl").write_text("".join(lines), "utf-8")
    command = f"{shlex.quote(sys.executable)} -m neardup dedup large.jsonl -r news -o out.jsonl -q"
    for megabytes in range(50, 100, 5):
        limits = f"ulimit -c 0; ulimit -v {megabytes << 10}; "
        result = subprocess.run(limits + command, shell=True, capture_output=True, check=False)
        assert result.returncode not in (134, -6), (megabytes, result.stderr)
        assert [path.name for path in here.glob(".*.tmp")] == [], megabytes


#: A program that has no room for a call, and goes on when it has.
NO_ROOM = """
import resource
import shutil
from pathlib import Path
import neardup
texts = ["北山镇的旧粮站改成了书店，开张那天来了三百多人，门口排起长队。"]
neardup.dedup(texts)
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (30 << 20), -1))
try:
    neardup.dedup(texts)
except MemoryError:
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    print(len(neardup.dedup(texts).kept))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason=needs.LINUX)
def test_lack_of_memory_is_a_memory_error_in_python():
    result = subprocess.run(
        [sys.executable, "-c", NO_ROOM], capture_output=True, env=environment(), check=False
    )
    assert (result.returncode, result.stdout) == (0, b"1\n"), result.stderr


@pytest.mark.usefixtures("here")
def test_report_names_files_with_undecodable_names(run):
    output = os.fsdecode(b"k\xff.jsonl")
    run("dedup", "in.jsonl", "-o", output, "--report", "report.json", "-q")
    report = json.loads(Path("report.json").read_bytes())
    assert output in json.dumps(report, ensure_ascii=False)


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
