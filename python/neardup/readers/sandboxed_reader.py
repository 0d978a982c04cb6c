"""Extracts the text of a file in a separate process with limits of time and memory.

PDF and Word parsers meet files made to break them. The process runs this module as a script, reads
the file from standard input, and writes one JSON object: ``{"text": ...}``, ``{"refused": ...}``
or ``{"missing": ...}``. Messages cross as `Message.to_dict`.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import IO, Any

import orjson

from neardup.base.messages import N_, Message
from neardup.exceptions import MissingDependencyError
from neardup.readers.batch import Problem
from neardup.readers.file_text import (
    FileText,
    Heading,
    HiddenText,
    Limits,
    UnreadableFileError,
    read_bytes,
)
from neardup.readers.sandbox import limit_process, run_in_sandbox

#: Memory that reading may use beyond that of an idle interpreter, in bytes.
MEMORY = 1 << 30

#: The members of a Word document may unpack to this many bytes, a quarter of it as XML.
_UNPACKED = 256 << 20

#: Signals of the process's own time limits: SIGALRM and SIGXCPU.
_TIME = (14, 24)

_log = logging.getLogger(__name__)


def read_sandboxed(
    file: IO[bytes],
    label: str,
    *,
    max_bytes: int,
    max_characters: int,
    seconds: float,
    memory: int = MEMORY,
    look: Callable[[], None] = lambda: None,
) -> FileText:
    """Read the text of a file, from its beginning; only the extension of `label` is a hint.

    `memory` is what reading may use beyond an idle interpreter. An exception of `look` ends it.
    UnreadableFileError if the file has no readable text, exceeds a limit or crashes its reader.
    """
    # Other users of the machine can see the arguments, so only the extension of the name is passed.
    name = "paper" + os.path.splitext(label)[1][:10]
    arguments = [name, *(f"{limit}" for limit in (max_bytes, max_characters, seconds, memory))]
    ended = run_in_sandbox(Path(__file__), arguments, file, seconds=seconds, look=look)
    answer = _parse_answer(ended.output)
    if answer is None and (ended.code is None or -ended.code in _TIME):
        raise _make_error(
            label,
            Message(
                "{file}: must be readable within {seconds:g} seconds. Save it in "
                "another format, or split it.",
                file=label,
                seconds=seconds,
            ),
        )
    if answer is None:
        _log.warning("The reader of a paper ended with %s. %s", ended.code, ended.place)
        raise _make_error(
            label,
            Message(
                "{file}: must be readable with moderate memory, but made its reader fail. Open it "
                "in the program that wrote it and save it again.",
                file=label,
            ),
        )
    if "refused" in answer:
        refusal = Message.from_dict(answer["refused"])
        # The process knows the file by a different name.
        raise _make_error(label, refusal.with_values(file=label))
    if "missing" in answer:
        raise MissingDependencyError(Message.from_dict(answer["missing"]))
    answer["headings"] = tuple(Heading(**heading) for heading in answer["headings"])
    answer["hidden"] = tuple(HiddenText(**part) for part in answer["hidden"])
    answer["pictures"] = tuple(answer["pictures"])
    for spans in ("quoted", "garbled_spans"):
        answer[spans] = tuple(map(tuple, answer[spans]))
    answer["notes"] = tuple(map(Message.from_dict, answer["notes"]))
    problems = map(Problem.from_dict, answer["problems"])
    answer["problems"] = tuple(replace(problem, source=label) for problem in problems)
    return FileText(**{**answer, "pages": tuple(answer["pages"])})


def _parse_answer(output: bytes) -> dict[str, Any] | None:
    try:
        answer = orjson.loads(output)
    except orjson.JSONDecodeError:
        return None
    return answer if isinstance(answer, dict) else None


def _make_error(label: str, message: Message) -> UnreadableFileError:
    return UnreadableFileError(Problem(label, None, None, message, None), message)


def main() -> None:
    """Read the file on standard input with the limits given as arguments."""
    name, max_bytes, max_characters, seconds, memory = sys.argv[1:]
    limit_process(float(seconds), int(memory))
    with os.fdopen(0, "rb", closefd=False) as file:
        data = file.read(int(max_bytes) + 1)
    limits = Limits(max_bytes=int(max_bytes), max_unpacked_bytes=_UNPACKED)
    answer = _read(data, name, limits, int(max_characters))
    with os.fdopen(1, "wb", closefd=False) as output:
        output.write(orjson.dumps(answer))


def _read(data: bytes, name: str, limits: Limits, max_characters: int) -> dict[str, Any]:
    try:
        text = read_bytes(data, name, limits=limits)
    except UnreadableFileError as error:
        return {"refused": error.args[0].to_dict()}
    except MissingDependencyError as error:
        return {"missing": error.args[0].to_dict()}
    except MemoryError:
        # There may be no memory for a message either.
        return {
            "refused": {
                "template": N_(
                    "{file}: must be readable with moderate memory. Save it without pictures, or "
                    "split it."
                ),
                "plural": None,
                "code": "too_large",
                "values": {"file": name},
            }
        }
    length = len(text.text)
    if length > max_characters:
        counts = {"most": max_characters, "count": length}
        return {
            "refused": Message(
                "{file}: must have at most {most:,} characters of text, not {count:,}. Save it "
                "without pictures, or split it.",
                code="too_large",
                file=name,
                **counts,
            ).to_dict()
        }
    if not text.text.strip():
        return {
            "refused": Message("{file}: must have text. Got none instead.", file=name).to_dict()
        }
    return {
        **{field.name: getattr(text, field.name) for field in fields(text)},
        "text": text.text.encode("utf-8", "replace").decode(),
        "notes": [note.to_dict() for note in text.notes],
        "problems": [problem.to_dict() for problem in text.problems],
    }


if __name__ == "__main__":
    main()
