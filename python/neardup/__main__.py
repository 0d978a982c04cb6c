"""The command: ``neardup`` and ``python -m neardup``."""

import atexit
import gc
import io
import os
import sys
from typing import Any

from neardup.base import interrupt

#: New objects between two searches for cycles. Imports and records make many objects and
#: hardly any cycles: Python's 700 cost a short command a twentieth of its time.
_NEW_OBJECTS = 50_000


def main() -> None:
    """Run the command line and exit with its code."""
    # Before the imports, which take most of the time of a short command.
    interrupt.end_at_once()
    _open_streams()
    gc.set_threshold(_NEW_OBJECTS)
    # No command needs more; OpenBLAS starts its threads when NumPy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if _is_limited():
        # The other allocator of Arrow begins with a gigabyte of addresses.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from neardup.cli import main as run
    from neardup.cli import tell_last_words

    interrupt.last_words = tell_last_words
    code = run()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    # Without taking the interpreter apart.
    os._exit(code)


def _is_limited() -> bool:
    """Return whether the addresses of this process are limited, as by ``ulimit -v``."""
    if sys.platform == "win32":
        return False
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


class _Messages(io.FileIO):
    """Standard error: a message that nobody can read changes nothing."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _open_streams() -> None:
    """Open closed standard streams again, so that their use fails and no file gets their number."""
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is given.
            os.open(os.devnull, flags)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None or os.name == "posix":
        encoding = getattr(sys.stderr, "encoding", "utf-8")
        buffer = io.BufferedWriter(_Messages(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(
            buffer, encoding=encoding, errors="backslashreplace", line_buffering=True
        )


if __name__ == "__main__":
    main()
