"""The library that makes calls fail: compiled here, preloaded into programs, steered from them."""

import ctypes
import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: The kinds of calls that can fail, as `faulty.c` numbers them.
KINDS = {"write": 1, "sync": 2, "truncate": 4, "map": 8, "allocate": 16}

_SOURCE = Path(__file__).with_name("faulty.c")
_FIELDS = struct.Struct("6Q")


def has_compiler() -> bool:
    """Whether the library can be compiled and preloaded here."""
    return sys.platform == "linux" and shutil.which("cc") is not None


def compiled(folder: Path) -> Path:
    """Return the path of the library, compiled into a folder."""
    library = folder / "faulty.so"
    options = ["-O1", "-Wall", "-fPIC", "-shared", "-ldl", "-lpthread"]
    command = ["cc", _SOURCE, "-o", library, *options]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return library


def environment(library: Path, folder: Path, index: Path, *, is_logged: bool) -> dict[str, str]:
    """Return the environment of a program whose calls on an index can fail, or are recorded."""
    control = folder / "control"
    control.write_bytes(b"\0" * _FIELDS.size)
    result = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "LD_PRELOAD": str(library)}
    result |= {"FAULT_CONTROL": str(control), "FAULT_PATH": str(index), "RUST_BACKTRACE": "0"}
    return result | ({"FAULT_LOG": str(folder / "log")} if is_logged else {})


class Faults:
    """In a program that runs with the library: which call is to fail."""

    def __init__(self) -> None:
        # SQLite must be loaded before its allocations can be told from others.
        import sqlite3  # noqa: F401

        self._library = ctypes.CDLL(os.environ["LD_PRELOAD"])
        self._library.fault_begin()
        with Path(os.environ["FAULT_CONTROL"]).open("r+b") as file:
            self._control = mmap.mmap(file.fileno(), _FIELDS.size)

    @contextmanager
    def failing(self, kind: str, call: int, error: int, *, sticky: bool) -> Iterator[None]:
        """Let the n-th call of a kind fail, and all later ones if that is said."""
        self._control[:] = _FIELDS.pack(KINDS[kind], call, error, sticky, 0, 0)
        try:
            yield
        finally:
            self._control[8:16] = bytes(8)

    @property
    def failed(self) -> int:
        """How many calls failed the last time."""
        return int(_FIELDS.unpack(self._control[:])[5])

    def note(self, text: str) -> None:
        """Write a line into the record of what reached the disk."""
        self._library.fault_note(text.encode())


def failing_calls(folder: Path, *, most: int) -> dict[str, Any]:
    """Let calls of all operations fail, one after the other; return counts and breaches."""
    index = folder / "failing.db"
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.failing_calls", str(most)],
        cwd=Path(__file__).resolve().parents[2],
        env=environment(compiled(folder), folder, index, is_logged=False),
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr[-4000:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result
