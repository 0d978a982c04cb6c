"""Extracts the text of a paper's file in a separate process.

PDF and Word parsers meet files made to break them. A parser in a thread could not be stopped
or limited in memory, and a crash in a C library would take the service down. So each file is
read by a fresh process with limits of time and memory, which knows nothing of the service
(`reader_process`). Starting it takes about 0.3 s, little compared with a check. The check
itself runs in a thread of the service: it is safe code on plain text, and shares the open
libraries.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import IO, Any

import orjson

from neardup.base.messages import Message
from neardup.readers.files import FileText, Heading
from neardup.server.jobs.job import JobError
from neardup.server.jobs.sandbox import run_in_sandbox

__all__ = ["read_paper"]

#: Memory that reading may use beyond that of an idle interpreter, in bytes.
MEMORY = 1 << 30

#: Signals of the process's own time limits: SIGALRM and SIGXCPU.
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
    """Read the text of a file in a separate process.

    Parameters
    ----------
    file : binary file
        Must have a file descriptor; read from the beginning.
    label : str
        Name of the file in messages; its extension is a hint.
    max_bytes, max_characters : int
        Largest file, in bytes, and longest text, in code points; inclusive.
    seconds : float
        Longest time, in seconds.
    memory : int, default=1073741824
        Most memory beyond that of an idle interpreter, in bytes. Linux only.
    look : callable, optional
        Called repeatedly meanwhile; an exception that it raises ends the process.

    Returns
    -------
    FileText

    Raises
    ------
    JobError
        If the file yields no text.
    """
    # Other users of the machine can see the arguments, so only the extension of the name is passed.
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
        # The process knows the file by a different name.
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
