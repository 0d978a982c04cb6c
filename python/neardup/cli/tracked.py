"""The documents of a git repository, as a commit hook compares them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from typing import IO, Any

from neardup.base.lazy import orjson
from neardup.base.messages import Message, system_words
from neardup.exceptions import InputError, MissingDependencyError
from neardup.options.reader_parameters import reader_parameters
from neardup.readers import Problem, open_sources
from neardup.readers.batch import find_code, find_place, split_refusal
from neardup.readers.formats import detect_by_name
from neardup.readers.input_files import make_skip_problem


def write_tracked(paths: Sequence[str], file: IO[bytes], options: Any, watch: Any) -> int:
    """Write the documents of files as JSON lines; return their number.

    Their ids name file and record. Three kinds of files are left out, with a note: files without
    text, data files without a text field, and files that need a package that is not installed.
    """
    count = 0
    without: list[str] = []
    # The id of a copied record says where it is.
    read = reader_parameters(options) | {"id_field": None}
    for path in paths:
        named = detect_by_name(path)
        format = named.format and (options.get("format") or named.format)
        # What git tracks of a link is its target.
        if format is None or os.path.islink(path) or not os.path.isfile(path):
            continue
        if not os.path.getsize(path):
            continue
        try:
            for records, problems in _read_documents(path, read | {"format": format}):
                for problem in problems:
                    watch.problem(problem)
                for record in records:
                    file.write(orjson.dumps(record) + b"\n")
                count += len(records)
        except _NoTextFieldError:
            without.append(path)
        except MissingDependencyError as error:
            watch.note(Message("{file}: left out: {reason}", file=path, reason=error.args[0]))
        except InputError as error:
            watch.problem(make_skip_problem(path, *split_refusal(error)))
    if without:
        watch.note(
            Message.counted(
                "1 data file without a text field is left out: {names}.",
                "{count:,} data files without a text field are left out: {names}.",
                count=len(without),
                names=", ".join(without[:3]) + (", …" if without[3:] else ""),
            )
        )
    file.flush()
    return count


class _NoTextFieldError(Exception):
    """Leaves a data file that has no text at its beginning."""


def _read_documents(
    path: str, read: dict[str, Any]
) -> Iterator[tuple[list[dict[str, str]], list[Problem]]]:
    """Yield the records of a file with text, and its problems, batch by batch."""
    is_text = read["format"] == "text"
    try:
        source = open_sources([path], **read)
    except InputError as error:
        # A settings file such as package.json is one object on several lines.
        if not is_text and find_code(error.values["reason"]) in ("no_text_field", "invalid_json"):
            raise _NoTextFieldError from None
        raise
    batches = source.batches()
    for number, batch in enumerate(batches):
        if not is_text and number == 0 and batch.texts.null_count == len(batch):
            raise _NoTextFieldError
        records = []
        for row, text in enumerate(batch.texts.to_pylist()):
            if text is None or not text.strip():
                continue
            record = {"id": path, "text": text}
            if not is_text:
                record["id"] = f"{path}:{find_place(batch.runs, row)[1]}"
            if batch.titles is not None and (title := batch.titles[row].as_py()) is not None:
                record["title"] = title
            records.append(record)
        yield records, batch.problems


def list_tracked(paths: Sequence[str]) -> list[str]:
    """Return the files that git tracks below paths, in the order of their names."""
    command = ["git", "ls-files", "-z", "--cached", "--", *paths]
    try:
        result = subprocess.run(command, capture_output=True, check=True)
    except OSError as error:
        reason: str = system_words(error)
    except subprocess.CalledProcessError as error:
        reason = (os.fsdecode(error.stderr).strip().splitlines() or ["git failed"])[0]
    else:
        return [os.fsdecode(name) for name in result.stdout.split(b"\0") if name]
    raise InputError(
        Message(
            "{parameter:named} needs a git repository ({reason}). Leave it out to read all files.",
            parameter="tracked",
            reason=reason,
        )
    )
