"""Files to read: written by other libraries than the ones under test."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard


def packed(data: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    if suffix == ".zst":
        return zstandard.ZstdCompressor().compress(data)
    return data


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
