"""Exports of whole indexes, damaged, and made into an index again: all of it or nothing.

An index that is made of one is then queried and changed.
"""

import random
import tempfile
from pathlib import Path
from typing import Any

from neardup import Index
from neardup.base.progress import Progress
from neardup.exceptions import NeardupError
from neardup.index.dump import dump
from tests.faults.file_inputs import mutated
from tests.faults.fuzz import Target
from tests.index.written import documents, families

_SETTINGS: tuple[dict[str, Any], ...] = (
    {"threshold": 0.3},
    {"recipe": "minhash", "expected": 1000},
    {"recipe": "news"},
    {"recipe": "characters", "store": "sketch"},
)
_MANY = documents(families(3, 6))
_written: list[bytes] = []


def _valid() -> list[bytes]:
    if not _written:
        for settings in _SETTINGS:
            with (
                tempfile.TemporaryDirectory() as folder,
                Index(f"{folder}/index.db", workers=1, **settings) as index,
            ):
                index.add_many(_MANY[:-5])
                parts: list[bytes] = []
                dump(index._engine, parts.append, Progress())
                _written.append(b"".join(parts))
    return _written


def _make(rng: random.Random) -> bytes:
    data = rng.choice(_valid())
    return mutated(rng, data, (b"\n", b"{}", b"null", b'{"end":{}}', b"[" * 900))


def _load(data: bytes) -> None:
    folder = Path(tempfile.mkdtemp(dir="."))
    source = folder / "dump.jsonl"
    source.write_bytes(data)
    place = folder / "index.db"
    try:
        index = Index.load(place, source)
    except NeardupError:
        assert sorted(path.name for path in folder.iterdir()) == ["dump.jsonl"]
        raise
    with index:
        index.stats()
        index.add("new", _MANY[0]["text"])
        index.add_many(_MANY[-5:])
        index.query(_MANY[1]["text"])
        list(index.documents())
        index.remove(_MANY[2]["id"])


TARGETS = {"index-load": Target(_make, _load, (NeardupError,))}
