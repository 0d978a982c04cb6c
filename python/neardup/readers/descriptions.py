"""Files that describe the data next to them: a README, and what data sets of Hugging Face have."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.readers.batch import show
from neardup.readers.formats import find_extension

# Text files with these names describe the data files next to them.
_DOCUMENTATION = re.compile(
    r"(readme|licen[sc]e|copying|copyright|notice|change_?log|changes|contributing|authors"
    r"|citation|code_of_conduct|security|data_?card|datasheet|manifest|requirements"
    r"|checksums?|md5(sums?)?|sha(1|256|512)(sums?)?|说明|使用说明|数据说明|许可)"
    r"([-_. ].*)?$",
    re.IGNORECASE,
)
_INFO, _SPLITS = "dataset_info.json", "dataset_dict.json"
_OF_SET = (_INFO, "dataset_infos.json", _SPLITS)
# Next to _INFO: what `save_to_disk` writes, and results that are cached in the folder later.
_OF_SAVED_SET = re.compile(r"state\.json$|cache-[0-9a-f]+[^/]*\.arrow$")
#: Paths, and kinds of files, that a message names.
_NAMED, _KINDS = 3, 6


def is_documentation(path: str) -> bool:
    """Return whether a text file has a name such as README."""
    return _DOCUMENTATION.match(os.path.basename(path)) is not None


def find_descriptions(data: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Return the paths of the data files and text files that describe other data files."""
    data = list(data)
    folders = {os.path.dirname(path) for path in data if os.path.basename(path) == _INFO}

    def is_about(path: str) -> bool:
        folder, name = os.path.split(path)
        return name in _OF_SET or (folder in folders and _OF_SAVED_SET.match(name) is not None)

    about = list(filter(is_about, data))
    if len(about) == len(data):
        return []
    return [*about, *filter(is_documentation, texts)]


def describe_skipped(about: Sequence[str], data: Sequence[str]) -> list[Message]:
    """Return the notes that these files are skipped, and that splits of a set are read as one."""
    notes = [_describe_splits(path, data) for path in about if os.path.basename(path) == _SPLITS]
    if about:
        note = Message.counted(
            "1 documentation file next to data files is skipped: {names}. To read "
            "it, name it as an input.",
            "{count} documentation files next to data files are skipped: {names}. "
            "To read them, name them as inputs.",
            count=len(about),
            names=list_first(about),
        )
        notes.append(note)
    return notes


def list_first(paths: Sequence[str]) -> str:
    """Return the first of some paths for a message."""
    names = ", ".join(map(printable, paths[:_NAMED]))
    return names + (", …" if len(paths) > _NAMED else "")


def _describe_splits(path: str, data: Sequence[str]) -> Message:
    begin = path.removesuffix(_SPLITS)
    inside = (name.removeprefix(begin) for name in data if name.startswith(begin))
    splits = list(dict.fromkeys(name.split(os.sep)[0] for name in inside)) or [""]
    return Message(
        "the splits {names} are read as one input. To read one, name its folder: {folder}.",
        names=", ".join(map(show, splits)),
        folder=printable(begin + splits[0]),
    )


def count_kinds(names: Iterable[str]) -> str:
    """Return the number of files by extension; those without extension come last."""
    kinds = Counter(find_extension(name) for name in names)
    bare = kinds.pop("", 0)
    shown = ", ".join(f"{count} {show(kind)}" for kind, count in sorted(kinds.items())[:_KINDS])
    if len(kinds) + bool(bare) > _KINDS:
        return shown + ", …"
    if not bare:
        return shown
    if not shown:
        return Message("{bare} without extension", bare=bare)
    return Message("{kinds}, {bare} without extension", kinds=shown, bare=bare)
