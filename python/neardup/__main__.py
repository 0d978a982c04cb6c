"""The command: ``neardup`` and ``python -m neardup``."""

import atexit
import gc
import os
import sys

from neardup._engine import interrupt

#: New objects between two searches for cycles. Imports and records make many objects and
#: hardly any cycles: Python's 700 cost a short command a twentieth of its time.
_NEW_OBJECTS = 50_000


def main() -> None:
    """Run the command line and exit with its code."""
    # Before the imports, which take most of the time of a short command.
    interrupt.end_at_once()
    gc.set_threshold(_NEW_OBJECTS)
    # No command needs more; OpenBLAS starts its threads when NumPy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from neardup.cli import main as run

    try:
        run()
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        _leave(end.code)
        raise
    _leave(0)


def _leave(code: int) -> None:
    """End the process without taking the interpreter apart; return if a stream has failed."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        # Python itself reports it, and has an exit code for it.
        return
    atexit._run_exitfuncs()
    os._exit(code)


if __name__ == "__main__":
    main()
