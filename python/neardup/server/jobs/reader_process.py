"""The program that reads one paper, in a process of its own.

Run as a script, so that nothing of the service is loaded: it has no keys, no connection
to a database and no open socket. A file of an anonymous client comes on standard input, and one
JSON object goes to standard output: ``{"text": ...}``, ``{"refused": ...}`` or
``{"missing": ...}``. Messages are code and values, for the service to say them. Limits of
memory and time are set before the first byte of the file is looked at.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any

from neardup._engine.messages import Message
from neardup.exceptions import MissingDependencyError
from neardup.readers.files import FileText, Limits, UnreadableFileError, read_bytes

#: Members of a Word document unpack to this at most, a quarter of it as XML.
_UNPACKED = 256 << 20


def main() -> None:
    """Read the file on standard input as the arguments say."""
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
        # There may be no memory for the sentence either.
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
    """Return why a file is refused, with another way out where it is beyond a limit.

    The limits are the service's, and whoever sends a paper cannot raise them.
    """
    way_out = said.values.get("way_out")
    if not way_out or "limit" not in way_out.values["remedy"].values:
        return said
    remedy = Message("readers.remedy", remedy=Message("readers.save_smaller"))
    return Message(said.code, **(said.values | {"way_out": remedy}))


def _limit(seconds: float, memory: int) -> None:
    """Make the system end this process where it takes more than it may."""
    if hasattr(os, "nice"):
        # Requests go first.
        os.nice(5)
    # Should the service itself be killed, nobody else would end this process.
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        import resource
    except ImportError:
        return
    # What the interpreter and its libraries have mapped so far is not the file's.
    limits = {
        resource.RLIMIT_AS: _mapped() + memory,
        resource.RLIMIT_CPU: int(seconds) + 1,
        resource.RLIMIT_CORE: 0,
        # Writes the answer, and opens no other file than those of its own libraries.
        resource.RLIMIT_FSIZE: memory,
        resource.RLIMIT_NOFILE: 64,
    }
    for which, most in limits.items():
        _, hard = resource.getrlimit(which)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # A system may know a limit and not support it, as macOS does RLIMIT_AS.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(which, (most, most))


def _mapped() -> int:
    """Return how many bytes of address space are in use, 0 where that is not known."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    main()
