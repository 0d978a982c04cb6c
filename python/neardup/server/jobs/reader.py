"""A paper's file to its text, in a process of its own.

A parser of PDF or Word meets files that were made to break it. In a thread it could
neither be stopped, nor held to a share of the memory, and where a library written in C
crashes, all of the service would go down. So each file is read by a fresh process, which
the system ends when it takes too long or too much, and which knows nothing of the
service (`reader_process`). Starting it takes some 0.3 s, little beside a check. A
check itself runs in a thread of the service: it is safe code on plain text, and shares
the libraries that are open.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import IO, Any

import orjson

from neardup._engine.messages import Message
from neardup.readers.files import FileText, Heading
from neardup.server.jobs.job import JobError
from neardup.server.jobs.sandbox import run_in_sandbox

__all__ = ["read_paper"]

#: What reading may add to the memory of an idle interpreter, in bytes.
MEMORY = 1 << 30

#: The process's own limits of time: SIGALRM and SIGXCPU.
_TIME = (14, 24)

_log = logging.getLogger(__name__)


def read_paper(
    file: IO[bytes],
    label: str,
    *,
    max_bytes: int,
    max_characters: int,
    seconds: float,
    memory: int = MEMORY,
    look: Callable[[], None] = lambda: None,
) -> FileText:
    """Read the text of a file in a process of its own.

    Parameters
    ----------
    file : binary file
        With a descriptor of the system; read from its beginning.
    label : str
        What messages call it; its extension is a hint.
    max_bytes, max_characters : int
        Largest file, in bytes, and longest text, in code points; inclusive.
    seconds : float
        Longest time.
    memory : int, default=1073741824
        Most memory, in bytes, beside that of an idle interpreter. Linux only.
    look : callable, optional
        Called again and again meanwhile; what it raises ends the process.

    Returns
    -------
    FileText

    Raises
    ------
    JobError
        If no text can be had of it.
    """
    # Arguments can be seen by other users of the machine: of the name only its end goes there.
    name = "paper" + os.path.splitext(label)[1][:10]
    arguments = [name, *(f"{limit}" for limit in (max_bytes, max_characters, seconds, memory))]
    ended = run_in_sandbox("reader_process.py", arguments, file, seconds=seconds, look=look)
    found = _answer(ended.output)
    if found is None and (ended.code is None or -ended.code in _TIME):
        raise _refused(Message("readers.slow", file=label, seconds=seconds))
    if found is None:
        _log.warning("The reader of a paper ended with %s. %s", ended.code, ended.where)
        raise _refused(Message("readers.broke", file=label))
    return _text(found, label)


def _answer(output: bytes) -> dict[str, Any] | None:
    try:
        found = orjson.loads(output)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _refused(detail: Message, status: int = 422) -> JobError:
    return JobError(status, Message("server.title_unreadable_paper"), detail, "file")


def _text(found: dict[str, Any], label: str) -> FileText:
    if "refused" in found:
        said = Message.from_dict(found["refused"])
        # The process knows the file by another name.
        raise _refused(Message(said.code, **(said.values | {"file": label})))
    if "missing" in found:
        _log.error("%s", found["missing"])
        raise _refused(Message("server.reader_missing"), 500)
    return FileText(
        text=found["text"],
        format=found["format"],
        encoding=found["encoding"],
        certainty=found["certainty"],
        headings=tuple(Heading(*one) for one in found["headings"]),
        quoted=tuple((begin, end) for begin, end in found["quoted"]),
        pages=tuple(found["pages"]),
        notes=tuple(map(Message.from_dict, found["notes"])),
    )
