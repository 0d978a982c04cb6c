"""The program that reads one paper in a separate process.

It runs as a script, so that nothing of the service is loaded: it has no keys, no database
connection and no open socket. It reads the client's file from standard input and writes one
JSON object to standard output: ``{"text": ...}``, ``{"refused": ...}`` or ``{"missing": ...}``.
Messages are a code with values, which the service puts into words. Limits of memory and time
are set before the first byte of the file is read.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any

from neardup.base.messages import Message
from neardup.exceptions import MissingDependencyError
from neardup.readers.files import FileText, Limits, UnreadableFileError, read_bytes

#: The members of a Word document may unpack to this many bytes, a quarter of it as XML.
_UNPACKED = 256 << 20


def main() -> None:
    """Read the file on standard input with the limits given as arguments."""
    name, max_bytes, max_characters, seconds, memory = sys.argv[1:]
    _limit(float(seconds), int(memory))
    with os.fdopen(0, "rb", closefd=False) as file:
        data = file.read(int(max_bytes) + 1)
    limits = Limits(max_bytes=int(max_bytes), max_unpacked_bytes=_UNPACKED)
    found = _found(data, name, limits, int(max_characters))
    import orjson

    with os.fdopen(1, "wb", closefd=False) as output:
        output.write(orjson.dumps(found))


def _found(data: bytes, name: str, limits: Limits, max_characters: int) -> dict[str, Any]:
    try:
        paper = read_bytes(data, name, limits=limits)
    except UnreadableFileError as error:
        return {"refused": _refusal(error.args[0]).to_dict()}
    except MissingDependencyError as error:
        return {"missing": str(error)}
    except MemoryError:
        # There may be no memory for a message either.
        return {"refused": {"code": "readers.memory", "values": {"file": name}}}
    length = len(paper.text)
    if length > max_characters:
        counts = {"most": max_characters, "count": length}
        return {"refused": Message("readers.text_long", file=name, **counts).to_dict()}
    if not paper.text.strip():
        return {"refused": Message("readers.no_text", file=name).to_dict()}
    return _values(paper)


def _values(paper: FileText) -> dict[str, Any]:
    return {
        "text": paper.text.encode("utf-8", "replace").decode(),
        "format": paper.format,
        "encoding": paper.encoding,
        "certainty": paper.certainty,
        "headings": [[one.begin, one.end, one.level] for one in paper.headings],
        "quoted": paper.quoted,
        "pages": paper.pages,
        "notes": [note.to_dict() for note in paper.notes],
    }


def _refusal(said: Message) -> Message:
    """Return why a file is refused, with advice that fits the service if a limit is exceeded.

    The limits are those of the service, and the sender of a paper cannot raise them.
    """
    way_out = said.values.get("way_out")
    if not way_out or "limit" not in way_out.values["remedy"].values:
        return said
    remedy = Message("readers.remedy", remedy=Message("readers.save_smaller"))
    return Message(said.code, **(said.values | {"way_out": remedy}))


def _limit(seconds: float, memory: int) -> None:
    """Let the system end this process when it exceeds its limits."""
    if hasattr(os, "nice"):
        # Requests have priority over this process.
        os.nice(5)
    # If the service itself is killed, nothing else ends this process.
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        import resource
    except ImportError:
        return
    # The limit excludes what the interpreter and its libraries have mapped so far.
    limits = {
        resource.RLIMIT_AS: _mapped() + memory,
        resource.RLIMIT_CPU: int(seconds) + 1,
        resource.RLIMIT_CORE: 0,
        # The process writes its result to standard output and opens only files of its libraries.
        resource.RLIMIT_FSIZE: memory,
        resource.RLIMIT_NOFILE: 64,
    }
    for which, most in limits.items():
        _, hard = resource.getrlimit(which)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # A system may define a limit without supporting it, as macOS does with RLIMIT_AS.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(which, (most, most))


def _mapped() -> int:
    """Return the address space in use, in bytes; 0 if unknown."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    main()
