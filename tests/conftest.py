"""What all parts of the suite share."""

import bz2
import gzip
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, settings

from neardup import _core
from tests import forks, needs

# A shell that starts a job in the background lets it ignore Ctrl-C, and nohup a closed terminal,
# and so do all the programs that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A child of a fork would wait for ever for the global pool of threads, so nothing may use it.
_core.forbid_global_pool()

# Sentences are compared in English, whatever the language of the machine.
os.environ["LC_ALL"] = "C.UTF-8"

# Tests wait for a disk thousands of times, and none of them needs one.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

ROOT = Path(__file__).resolve().parents[1]

# A deadline would time the machine. Examples differ from run to run on a desk,
# where finding something new is welcome, and are the same in CI, where a
# failure must come from the change.
# `pytest --hypothesis-profile long` draws a hundred times as many, except where a test sets a
# number of its own.
settings.register_profile(
    "desk",
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("ci", settings.get_profile("desk"), derandomize=True, database=None)
settings.register_profile("long", settings.get_profile("desk"), max_examples=3000)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a test by the name of long data: an archive has the time, and all workers must
    collect the same tests."""
    return argname if isinstance(val, bytes) and len(val) > 40 else None


# After those of the folders, and before that of pytest-xdist.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one worker run all tests of a file, so that what they share is made once.

    Groups that a folder makes of many files take the longest. They begin first, or one worker
    would end with them alone.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    ranks = {}
    for item in items:
        if item.get_closest_marker("xdist_group"):
            ranks[item] = 0
        else:
            item.add_marker(pytest.mark.xdist_group(item.path.relative_to(ROOT).as_posix()))
            ranks[item] = 1 if item.path in slow else 2
    items.sort(key=ranks.__getitem__)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse versions of pytest and pytest-xdist that lose the groups: they do so silently."""
    if getattr(session.config.option, "loadgroup", False):
        lost = [item.nodeid for item in session.items if "@" not in item.nodeid]
        if lost:
            raise pytest.UsageError(f"pytest-xdist does not know the group of {lost[0]}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end what was missing for how many tests; each reason names the way to get it."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if reasons:
        terminalreporter.section("skipped tests", sep="-")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:5}  {reason}")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data beside the repository."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip(needs.SHARED)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """A real browser, as of `tests.browser`."""
    from tests.browser import running

    with running() as browser:
        yield browser


@pytest.fixture(scope="module")
def tabs(browser: object) -> Iterator[object]:
    """The tabs of all tests of a file: a new one costs more than what a test does in it."""
    from tests.browser import Tabs

    with Tabs(browser) as tabs:
        yield tabs


def packed(data: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    if suffix == ".zst":
        return zstandard.ZstdCompressor().compress(data)
    if suffix == ".xz":
        return lzma.compress(data)
    return bz2.compress(data) if suffix == ".bz2" else data


@pytest.fixture
def pack() -> Callable[[bytes, str], bytes]:
    return packed


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Write a file into an empty working folder and give its name there."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, data: bytes | str = b"") -> str:
        raw = data.encode() if isinstance(data, str) else data
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed(raw, path.suffix))
        return name

    return write


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run a program in a new interpreter that finds the package where this one does."""

    def run(program: str, **options: object) -> subprocess.CompletedProcess[bytes]:
        path = f"import sys; sys.path[:0] = {sys.path!r}\n"
        return subprocess.run(
            [sys.executable, "-c", path + program], capture_output=True, timeout=60, **options
        )

    return run


@pytest.fixture
def run_in_fork() -> Callable[[str], subprocess.CompletedProcess[bytes]]:
    """Run a program in a process that need not import what others have imported."""
    return lambda program: forks.run(forks.run_program, program)
