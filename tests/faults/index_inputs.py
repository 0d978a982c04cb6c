"""Exports of whole indexes, damaged, and made into an index again: all of it or nothing.

Half of the exports are damaged as bytes. In the others values of the rows are changed and the last
line gets the new digest, as if another program had written the export. An index that is made of
them is then queried and changed.
"""

import hashlib
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import orjson

from neardup import Index
from neardup.base.progress import Progress
from neardup.exceptions import NeardupError
from neardup.index.export import dump
from tests.faults.file_inputs import mutated
from tests.faults.fuzz import Target
from tests.index.written import documents, families

_SETTINGS: tuple[dict[str, Any], ...] = (
    {"threshold": 0.3},
    {"recipe": "minhash", "expected": 1000},
    {"recipe": "news"},
    {"recipe": "characters", "store": "sketch"},
)
_VALUES = (
    None,
    "",
    "x",
    [],
    {},
    True,
    0,
    1,
    -1,
    2**31,
    2**63 - 1,
    -(2**63),
    2**64 - 1,
    1e308,
    "AAAA",
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


def _changed(rng: random.Random, lines: list[bytes]) -> bytes:
    """Change values of some rows, and make the digest and counts of the last line anew."""
    for _ in range(rng.choice((1, 1, 2, 6))):
        at = rng.randrange(len(lines) - 1)
        row = json.loads(lines[at])
        kind = rng.choice(list(row))
        content = row[kind]
        if isinstance(content, dict) and content:
            name = rng.choice(list(content))
            content[name] = _other(rng, content[name])
        else:
            row[kind] = rng.choice(_VALUES)
        # Values may be numbers beyond 64 bits.
        lines[at] = json.dumps(row).encode()
    if rng.random() < 0.3:
        del lines[rng.randrange(1, len(lines))]
    body = b"\n".join(lines[:-1]) + b"\n"
    rows = [orjson.loads(line) for line in lines[:-1]]
    keys = sum(
        len(row["keys"]["key"]) if isinstance(row["keys"].get("key"), list) else 0
        for row in rows
        if isinstance(row.get("keys"), dict)
    )
    counts = {
        "documents": sum("document" in row for row in rows),
        "keys": keys,
        "events": sum("event" in row for row in rows),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return body + orjson.dumps({"end": counts}) + b"\n"


def _other(rng: random.Random, value: Any) -> Any:
    if isinstance(value, list) and value and rng.random() < 0.8:
        changed = list(value)
        changed[rng.randrange(len(changed))] = rng.choice(_VALUES)
        return changed
    if isinstance(value, str) and value and rng.random() < 0.5:
        return mutated(rng, value.encode()).decode("utf-8", "replace")
    if isinstance(value, int) and rng.random() < 0.5:
        return value + rng.choice((-1, 1, 1000))
    return rng.choice(_VALUES)


def _make(rng: random.Random) -> bytes:
    data = rng.choice(_valid())
    if rng.random() < 0.4:
        return mutated(rng, data, (b"\n", b"{}", b"null", b'{"end":{}}', b"[" * 900))
    return _changed(rng, data.splitlines())


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
