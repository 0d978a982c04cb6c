"""The files of an input, in code point order: of a folder, an archive or a pattern.

Symbolic links to folders are not followed, since they may form cycles.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from pathlib import Path

from neardup.base.confinement import walk
from neardup.base.files import printable
from neardup.base.messages import Message, system_words
from neardup.exceptions import InputError
from neardup.readers.addresses import has_magic, is_address, list_files_at, names_several_at
from neardup.readers.archives import Archive
from neardup.readers.batch import Problem, split_refusal
from neardup.readers.descriptions import (
    count_kinds,
    describe_skipped,
    find_descriptions,
    is_documentation,
    list_first,
)
from neardup.readers.formats import (
    TEXT_EXTENSIONS,
    Format,
    check_format,
    detect_by_name,
    detect_columnar,
    find_extension,
    is_archive,
    list_known,
)
from neardup.readers.streams import DamagedStreamError, ReopenableFile

# Files that Spark, Hadoop, Delta Lake and desktops add to folders.
_HIDDEN = re.compile(
    r"\.|~\$|__MACOSX$|thumbs\.db$|desktop\.ini$|_success$|_metadata$|_common_metadata$"
    r"|_temporary$|_spark_metadata$|_delta_log$|_change_data$|_committed_|_started_|.*\.crc$",
    re.IGNORECASE,
)
_UNREAD = (
    # Archives, and compression that is not read.
    *(".7z", ".rar", ".lzma", ".lz4", ".br", ".snappy"),
    # Tables and dumps.
    *(".xlsx", ".xls", ".ods", ".avro", ".orc", ".pq", ".parq"),
    *(".jl", ".jsonlines", ".xml", ".warc", ".wet", ".wat", ".pkl", ".pickle", ".msgpack"),
    # Documents.
    *(".doc", ".dot", ".odt", ".pages", ".rtf", ".wps", ".wpt", ".epub", ".pptx", ".ppt"),
)
# A work folder has this file; it may be inside a folder of inputs.
_WORK_MANIFEST = "neardup-work.json"
_STARS = re.compile(r"\*\*+")
#: Bytes by which a text is known, and how texts begin whose characters have null bytes.
_HEAD = 4096
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
#: Files of other formats that are looked into for a hint.
_SAMPLED = 20


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read; `inside` is its path in the input folder, or its whole path.

    One in an archive has a call that opens it.
    """

    path: str
    inside: str
    format: Format
    opener: Callable[[], ReopenableFile] | None = None

    def open(self) -> ReopenableFile:
        """Open the file; InputError if it cannot be read."""
        return self.opener() if self.opener else ReopenableFile(self.path)

    def may_be(self, format: str) -> bool:
        """Return whether a file of an unknown extension may have a format.

        Any file may be a text that begins like one; one without extension, data of any format.
        """
        if format != "text" or (self.opener is None and is_address(self.path)):
            return not find_extension(self.inside) and not is_documentation(self.inside)
        try:
            file = self.open()
            compression = file.detect_format(self.format).compression
            head = next(file.read_chunks(compression, _HEAD), b"")[:_HEAD]
        except (InputError, DamagedStreamError):
            # Its reader tells what is wrong.
            return True
        # What packs data is full of null bytes, and texts have some in two encodings only.
        return detect_columnar(head) is None and (b"\0" not in head or head.startswith(_WIDE))


@dataclass(slots=True)
class Selection:
    """The files that a folder, an archive or a pattern names, in the order to read them.

    Problems are data files and documents in unsupported formats; notes, other files skipped.
    """

    name: str
    files: list[InputFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    #: Skipped entries: links to folders; and pipes, devices and links in archives.
    links: set[str] = field(default_factory=set)
    pipes: set[str] = field(default_factory=set)


def names_several(name: str) -> bool:
    """Return whether a name is a folder, an archive, or a pattern and not an existing file."""
    if is_archive(name):
        return True
    if is_address(name):
        return names_several_at(name)
    return os.path.isdir(name) or _is_pattern(name)


def find_matches(name: str) -> list[str]:
    """Return the files and folders here that a pattern matches, or the name of something else."""
    if not _is_pattern(name):
        return [name]
    parts = [part if part == "**" else _STARS.sub("*", part) for part in name.split(os.sep) if part]
    plain = list(takewhile(lambda part: not has_magic(part), parts))
    base = os.path.join(os.sep if name.startswith(os.sep) else "", *plain)
    rest = parts[len(plain) :]
    # At the end, a folder means all files below it.
    only_folders = rest[-1] == "**"
    while rest and rest[-1] == "**":
        rest.pop()
    if not rest:
        return [base or os.curdir]
    root = Path(base or os.curdir)
    names_hidden = any(part.startswith(".") for part in rest)
    matches = []
    # Unlike the module `glob`, it does not follow links for `**`.
    for match in root.glob(os.sep.join(rest)):
        inside = match.relative_to(root)
        hidden = [part for part in inside.parts if _HIDDEN.match(part) and part not in rest]
        if (names_hidden or not hidden) and (match.is_dir() or not only_folders):
            matches.append(os.path.join(base, inside))
    return sorted(matches)


def find_output_path(name: str, file: InputFile) -> str:
    """Return the path that a file of an input has in a folder of outputs.

    It is that in the input folder, or below the fixed part of a pattern. An archive is a folder
    without the extension.
    """
    inside = file.inside
    is_folder = not has_magic(name) if is_address(name) else os.path.isdir(name)
    if not is_folder:
        plain = takewhile(lambda part: not has_magic(part), name.split("/"))
        base = os.path.dirname(name) if is_archive(name) else "/".join(plain)
        inside = os.path.relpath(inside, base or os.curdir)
    *folders, last = inside.replace(os.sep, "/").split("/")
    stems = [
        part[: part.lower().rfind(find_extension(part))] if is_archive(part) else part
        for part in folders
    ]
    # A member of an archive must not leave the folder.
    return os.path.join(*(part for part in stems if part not in ("", ".", "..")), last)


def select_files(
    name: str,
    format: str | None = None,
    *,
    extensions: Sequence[str] = (),
    opened: bool = True,
) -> Selection:
    """Return the files to read of a folder, archive or pattern, of all formats or of one.

    In a pattern, ``*`` and ``?`` match within a name, and ``[abc]`` matches one of some
    characters. ``**`` matches any number of folders. With a format, files without extension are
    read too, and all files that a pattern matches; with the format text, all that begin like a
    text and have no other known extension. With extensions, only files with these are read, as
    texts. Archives are files themselves unless they are `opened`.
    """
    check_format(format)
    selection = Selection(printable(name))
    data: list[InputFile] = []
    texts: list[InputFile] = []
    others: list[InputFile] = []
    candidates = _find_candidates(name, selection)
    for file, is_named in _open_archives(candidates, selection, opened):
        if is_archive(file.inside) and opened:
            reason = Message("archives in archives are not read")
            remedy = Message("Unpack the outer one.")
            selection.problems.append(make_skip_problem(file.path, reason, None, remedy))
        elif is_archive(file.inside):
            data.append(file)
        elif chosen := _choose_format(file, format, extensions, is_named=is_named):
            if format is not None:
                file = replace(file, format=file.format._replace(format=chosen))
            (texts if chosen == "text" else data).append(file)
        elif format is None and not extensions and _is_data(file.inside):
            selection.problems.append(
                make_skip_problem(file.path, Message("the format is not read"))
            )
        else:
            others.append(file)
    about = find_descriptions([file.path for file in data], [file.path for file in texts])
    skips = set(about)
    files = [file for file in (*data, *texts) if file.path not in skips]
    selection.files = sorted(files, key=lambda file: _make_sort_key(file.path))
    selection.notes += describe_skipped(about, [file.path for file in selection.files])
    is_of_texts = format is None and all(file.format.format == "text" for file in files)
    _note_others(selection, others, is_of_texts=is_of_texts)
    _note_unread(selection)
    if not selection.files:
        raise _make_nothing_error(selection, others, format, extensions)
    return selection


def _choose_format(
    file: InputFile, format: str | None, extensions: Sequence[str], *, is_named: bool
) -> str | None:
    """Return the format in which a file is read, None if it is not; see `select_files`."""
    by_extension = file.format.format
    if find_extension(file.inside) in extensions:
        return "text"
    if format is None:
        return None if extensions else by_extension
    fits = by_extension is None and (is_named or file.may_be(format))
    return format if fits or by_extension == format else None


def _note_others(selection: Selection, others: list[InputFile], *, is_of_texts: bool) -> None:
    if not others:
        return
    note = Message.counted(
        "1 file of another format is skipped: {kinds} ({names}).",
        "{count} files of other formats are skipped: {kinds} ({names}).",
        count=len(others),
        kinds=count_kinds(file.inside for file in others),
        names=list_first([file.inside for file in others]),
    )
    selection.notes.append(note)
    if is_of_texts and _has_texts(others):
        selection.notes.append(Message("to read any text, use {given[format='text']}."))


def _has_texts(files: Sequence[InputFile]) -> bool:
    """Return whether one of the first files with an unknown extension begins like a text."""
    unknown = (
        f for f in files if detect_by_name(f.inside).format is None and find_extension(f.inside)
    )
    return any(file.may_be("text") for file in islice(unknown, _SAMPLED))


def _note_unread(selection: Selection) -> None:
    links, pipes = (
        sorted(paths, key=_make_sort_key) for paths in (selection.links, selection.pipes)
    )
    if links:
        note = Message.counted(
            "1 link to a folder is not followed: {names}. To read it, name it as an input.",
            "{count} links to folders are not followed: {names}. To read them, "
            "name them as inputs.",
            count=len(links),
            names=list_first(links),
        )
        selection.notes.append(note)
    if pipes:
        note = Message.counted(
            "1 link, pipe, socket or device is skipped: {names}.",
            "{count:,} links, pipes, sockets or devices are skipped: {names}.",
            count=len(pipes),
            names=list_first(pipes),
        )
        selection.notes.append(note)


def make_skip_problem(
    path: str, reason: str, content: str | None = None, remedy: str = ""
) -> Problem:
    """Return the problem of a file that is not read."""
    reason = Message("skipped: {reason}", code="skipped", reason=reason)
    return Problem(printable(path), None, None, reason, content, remedy)


def list_files_below(path: str) -> list[str]:
    """Return the files inside a folder."""
    return [inside for _, inside, _ in _find_in_folder(path, Selection(path))]


# A file: its path, its path inside the folder, and whether a pattern names the file itself.
_Candidate = tuple[str, str, bool]


def _open_archives(
    candidates: list[_Candidate], selection: Selection, opened: bool
) -> Iterator[tuple[InputFile, bool]]:
    """Yield files, each with whether a pattern names it; instead of an archive, the files in it."""
    refused: list[InputError] = []
    read = 0
    for path, inside, is_named in candidates:
        if not (opened and is_archive(inside)):
            yield InputFile(path, inside, detect_by_name(inside)), is_named
            read += 1
            continue
        try:
            archive = Archive(path)
        except InputError as error:
            refused.append(error)
            selection.problems.append(make_skip_problem(path, *split_refusal(error)))
            continue
        read += 1
        selection.pipes.update(f"{path}/{name}" for name in archive.others)
        if archive.problem is not None:
            selection.problems.append(archive.problem)
        elif not archive.files and len(candidates) > 1:
            reason = Message("no records", code="no_records")
            selection.problems.append(Problem(printable(path), None, None, reason, None))
        for name, opener in sorted(archive.files.items()):
            if not any(map(_HIDDEN.match, name.split("/"))):
                member = f"{inside}/{name}"
                yield InputFile(f"{path}/{name}", member, detect_by_name(member), opener), False
    if refused and not read:
        raise refused[0]


def _find_candidates(name: str, selection: Selection) -> list[_Candidate]:
    """Return the files of a folder or pattern, or the archive; add what is not followed."""
    if is_archive(name) and not has_magic(name) and not os.path.isdir(name):
        return [(name, name, False)]
    if os.path.isdir(name):
        return _find_in_folder(name, selection)
    files = list_files_at(name) if is_address(name) else _find_matching_files(name, selection)
    if not files:
        raise InputError(Message("{file}: no file matches this pattern.", file=printable(name)))
    if is_address(name):
        files = [file for file in files if not any(map(_HIDDEN.match, file[1].split("/")))]
    return files


def _find_in_folder(path: str, selection: Selection) -> list[_Candidate]:
    files: list[_Candidate] = []
    for folder, inner, names in walk(path, onerror=_refuse):
        if _WORK_MANIFEST in names:
            inner.clear()
            continue
        inner[:] = [name for name in inner if not _HIDDEN.match(name)]
        places = (os.path.join(folder, name) for name in inner)
        selection.links.update(filter(os.path.islink, places))
        for name in names:
            place = os.path.join(folder, name)
            if _HIDDEN.match(name):
                continue
            if _is_file(place):
                files.append((place, os.path.relpath(place, path), False))
            else:
                selection.pipes.add(place)
    return sorted(files, key=lambda file: _make_sort_key(file[1]))


def _find_matching_files(pattern: str, selection: Selection) -> list[_Candidate]:
    """Return the files that match a pattern or are in a folder that does, each once."""
    files: dict[str, _Candidate] = {}
    for path in find_matches(pattern):
        if os.path.isdir(path):
            for place, _, _ in _find_in_folder(path, selection):
                files.setdefault(place, (place, place, False))
        elif _is_file(path):
            files[path] = (path, path, True)
        else:
            selection.pipes.add(path)
    return sorted(files.values(), key=lambda file: _make_sort_key(file[0]))


def _is_file(path: str) -> bool:
    """Return whether a path may be a file; a broken link counts, and opening it is an error."""
    return os.path.isfile(path) or not os.path.exists(path)


def _refuse(error: OSError) -> None:
    reason = Message("{said}", said=system_words(error))
    file = printable(error.filename)
    raise InputError(Message("{file}: {reason}.", file=file, reason=reason)) from error


def _is_pattern(name: str) -> bool:
    return name != "-" and has_magic(name) and not os.path.lexists(name)


def _make_sort_key(path: str) -> str:
    return path.replace(os.sep, "/")


def _is_data(name: str) -> bool:
    """Return whether a file of an unknown format is probably data or a document."""
    base = os.path.basename(name).lower()
    extension = find_extension(base)
    if extension:
        return extension in _UNREAD
    # Files of Hadoop have no extension; `dump.gz` has only the extension of its compression.
    return base.startswith("part-") or detect_by_name(base).compression is not None


def _make_nothing_error(
    selection: Selection, others: list[InputFile], format: str | None, extensions: Sequence[str]
) -> InputError:
    """Return the error of a folder or pattern without files to read."""
    names = [*(file.inside for file in others), *(problem.source for problem in selection.problems)]
    content, way_out = Message("none"), ""
    if names:
        content = Message(
            "only other files ({kinds})", code="unknown_format", kinds=count_kinds(names)
        )
    if format == "text":
        wanted = Message("texts")
    elif extensions:
        wanted = Message(
            "text files ({names}, also .gz, .zst, .xz or .bz2)", names=", ".join(TEXT_EXTENSIONS)
        )
    else:
        wanted = Message("files with a known extension: {known}", known=list_known())
    if format is None and _has_texts(others):
        way_out = Message(" To read any text, use {given[format='text']}.")
    elif names and format != "text" and not extensions:
        way_out = Message(
            " To read these, name them by a pattern, and their format with {given[format]}."
        )
    return InputError(
        Message(
            "{file}: must contain {wanted}. Got {found} instead.{way_out}",
            file=selection.name,
            wanted=wanted,
            found=content,
            way_out=way_out,
        )
    )
