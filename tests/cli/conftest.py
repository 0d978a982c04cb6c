"""Running the command: in this process where that is enough, else in one of its own."""

import gzip
import io
import itertools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.conftest import ROOT

from neardup.cli.commands import find_command, list_parameters

A = "北山镇的旧粮站改成了书店，开张那天来了三百多人，门口排起长队。"
B = "渡轮公司说新船下个月试航，票价不变，末班时间推迟到夜里十一点。"
LINES = (
    f'{{"id": "a", "text": "{A}"}}\n'
    f'{{"id": "b", "text": "{B}"}}\n'
    f'{{"id": "c", "text": "{A}吧"}}\n'
    f'{{"id": "d", "text": "{B}"}}\n'
)

ARTICLES = ROOT / "examples" / "articles.jsonl"
EXAMPLES = ROOT / "examples" / "evaluate"


def few_topics(folder, count=24):
    """Write the first documents of each topic of the examples, which are evaluated in a second."""
    folder.mkdir()
    for path in (EXAMPLES / "topics").iterdir():
        with gzip.open(path) as lines:
            (folder / path.stem).write_bytes(b"".join(itertools.islice(lines, count)))


def environment():
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "COLUMNS": "100", "NO_COLOR": "1"}


#: Arguments of commands that would refuse the usual ones too early.
WORDS = {
    "serve": "--index n.db",
    "index expire": "n.db --older-than 1d",
    "evaluate published": "topics -o out",
}


def line_of(name, place="n.db"):
    """Return a line of a command with all its arguments; the first one is a place of an index."""
    words = []
    for parameter in list_parameters(find_command(name)):
        if parameter.is_required or not parameter.flags:
            words += [*parameter.flags[:1], "x" if words else "n.db"]
    return f"{name} {WORDS.get(name, ' '.join(words))}".replace("n.db", place)


@dataclass
class Ran:
    """The output of a run."""

    stdout: bytes
    err: str

    @property
    def out(self) -> str:
        return self.stdout.decode()


def in_a_process(arguments, stdin):
    result = subprocess.run(
        [sys.executable, "-m", "neardup", *arguments],
        input=stdin,
        capture_output=True,
        timeout=60,
        env=environment(),
    )
    return result.returncode, Ran(result.stdout, result.stderr.decode())


def in_this_process(arguments, stdin, patch):
    from neardup.cli import main
    from neardup.cli.terminal import choose_language

    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(stdin), "utf-8"),
        "stdout": io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n"),
        "stderr": io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n"),
    }
    for name, stream in streams.items():
        patch.setattr(sys, name, stream)
    patch.setattr(sys, "argv", ["neardup", *arguments])
    patch.setenv("COLUMNS", "100")
    code = main()
    # A process of its own would end here, and with it the language of its messages.
    choose_language(None)
    for name in ("stdout", "stderr"):
        streams[name].flush()
    printed = [streams[name].buffer.getvalue() for name in ("stdout", "stderr")]
    return code, Ran(printed[0], printed[1].decode())


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder with one small input, in.jsonl."""
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text(LINES, "utf-8")
    return tmp_path


@pytest.fixture
def run(here):
    """Run the command in the working folder; check its exit code, and that nothing crashed."""

    def run_command(*arguments, code=0, stdin=b"", process=False):
        assert Path.cwd() == here
        words = [str(argument) for argument in arguments]
        if process:
            found_code, found = in_a_process(words, stdin)
        else:
            with pytest.MonkeyPatch.context() as patch:
                found_code, found = in_this_process(words, stdin, patch)
        assert found_code == code, found.err
        assert "Traceback" not in found.err
        return found

    return run_command


@pytest.fixture
def files(here):
    """Names of all files in the working folder, hidden ones too."""

    def names():
        return sorted(str(p.relative_to(here)) for p in here.rglob("*") if p.is_file())

    return names


@pytest.fixture
def index(run):
    """An index of the articles in examples, n.db in the working folder."""
    run("index", "create", "n.db", "-q")
    fields = "--at-field date --source-field source --extra-field date"
    run("index", "add", "n.db", ARTICLES, *fields.split(), "-q")
    return "n.db"


#: The last lines of a run with code 2: whether it is done.
LAST = [
    "neardup: finished, with the problems listed above.",
    "neardup: no output was written.",
]


def last_line_apart(err):
    """The messages of a run, without the last line, which says whether it is done."""
    lines = [line for line in err.splitlines() if line.startswith("neardup:")]
    return lines[:-1] if lines and lines[-1] in LAST else lines


def records_of(path):
    """Return the value of each line of a file."""
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def table(text):
    """The rows of a summary by their first word."""
    return dict(line.strip().split(None, 1) for line in text.splitlines() if len(line.split()) > 1)
