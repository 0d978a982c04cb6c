"""What an index is after a loss of power, at any moment of its life.

A program adds, removes, compacts and closes while the preloaded library records every write, sync,
truncation and removal of its files, and the program notes what was acknowledged. Then the power is
lost between two of the records: what was written to a file before its last completed sync is there;
of the later writes each one is there, is not, or is torn in sectors of 512 bytes. The files are
rebuilt so, and the index must open with all that was acknowledged and nothing half written.
"""

import json
import os
import random
import shutil
import struct
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from neardup import Index
from tests.faults import preload
from tests.index.consistency import check_consistent
from tests.index.written import families

OPTIONS = {"threshold": 0.3, "workers": 1}
SECTOR = 512
#: SQLite makes it anew when the first connection opens.
_SHARED_MEMORY = "-shm"
_HEAD = struct.Struct("<cIqI")


@dataclass(frozen=True)
class Record:
    """A write, sync, truncation or removal (`w`, `s`, `t`, `u`), or a note (`n`)."""

    what: str
    name: str
    offset: int
    data: bytes


@dataclass
class Losses:
    """How many points were tried, and where the law was broken."""

    count: int = 0
    breaches: list[str] = field(default_factory=list)


def program(place: str, seed: int) -> None:
    """Use an index in all ways that write, and note each state before and after."""
    faults = preload.Faults()
    rng = random.Random(seed)
    texts = families(seed, 300)
    ids: set[str] = set()

    def note(kind: str, now: set[str]) -> None:
        faults.note(json.dumps([kind, sorted(now)]))

    number = 0
    for _ in range(5):
        with Index(place, **OPTIONS) as index:
            note("done", ids)
            for _ in range(12):
                count = rng.choice((1, 1, 1, 20, 60))
                names = [f"d{position}" for position in range(number, number + count)]
                number += count
                if rng.random() < 0.15 and ids:
                    gone = rng.choice(sorted(ids))
                    note("begin", ids - {gone})
                    index.remove(gone)
                    ids.discard(gone)
                else:
                    note("begin", ids | set(names))
                    rows = [{"id": name, "text": rng.choice(texts)} for name in names]
                    if count == 1:
                        index.add(rows[0]["id"], rows[0]["text"])
                    else:
                        index.add_many(rows)
                    ids |= set(names)
                note("done", ids)
            if rng.random() < 0.5:
                index.compact()


def record(folder: Path, seed: int = 0) -> list[Record]:
    """Run the program in another process, and return what it wrote and acknowledged."""
    folder = folder / "recorded"
    folder.mkdir()
    place = folder / "index.db"
    library = preload.compiled(folder)
    subprocess.run(
        [sys.executable, "-m", "tests.faults.power_loss", str(place), str(seed)],
        cwd=Path(__file__).resolve().parents[2],
        env=preload.environment(library, folder, place, is_logged=True),
        check=True,
        timeout=600,
    )
    result = list(_records((folder / "log").read_bytes()))
    # What was recorded makes the very files, so nothing that writes escapes the library.
    for name in {change.name for change in result} - {"", _SHARED_MEMORY}:
        written = Path(f"{place}{name}")
        whole = _after([change for change in result if change.name == name], None)
        assert whole == (written.read_bytes() if written.exists() else None), name
    return result


def _records(log: bytes) -> Iterator[Record]:
    number = 0
    while number < len(log):
        what, length, offset, size = _HEAD.unpack_from(log, number)
        number += _HEAD.size
        name, data = log[number : number + length], log[number + length : number + length + size]
        number += length + size
        yield Record(what.decode(), name.decode(), offset, data)


def _applied(content: bytearray | None, change: Record) -> bytearray | None:
    if change.what == "u":
        return None
    content = bytearray() if content is None else content
    if change.what == "t":
        content[change.offset :] = bytes(max(0, change.offset - len(content)))
    elif change.what == "w":
        begin = change.offset if change.offset >= 0 else len(content)
        content.extend(bytes(max(0, begin - len(content))))
        content[begin : begin + len(change.data)] = change.data
    return content


def _torn(change: Record, rng: random.Random) -> Iterator[Record]:
    """Give what the disk took of a write that was not synced: all, nothing, or some sectors."""
    fate = rng.choice(("all", "all", "nothing", "prefix", "sectors"))
    if change.what != "w" or fate in ("all", "nothing"):
        if fate != "nothing":
            yield change
        return
    sectors = range(0, len(change.data), SECTOR)
    if fate == "prefix":
        yield Record("w", change.name, change.offset, change.data[: rng.choice(sectors)])
        return
    for begin in sectors:
        if rng.random() < 0.5:
            piece = change.data[begin : begin + SECTOR]
            yield Record("w", change.name, change.offset + begin, piece)


def _after(records: list[Record], rng: random.Random | None) -> bytes | None:
    """Return what a file holds after these records: if there is `rng`, after a loss of power."""
    synced = max(
        (number for number, record in enumerate(records, 1) if record.what == "s"), default=0
    )
    content: bytearray | None = None
    for number, change in enumerate(records):
        if change.what == "s":
            continue
        for piece in [change] if rng is None or number < synced else _torn(change, rng):
            content = _applied(content, piece)
    return None if content is None else bytes(content)


def _files(records: list[Record], rng: random.Random) -> dict[str, bytes | None]:
    """Return what each file holds after a loss of power.

    A removal that no sync of any file followed may not have reached the disk: then the removed file
    is there, and what was written under its name since is not. Journals of file systems keep
    the order of such changes, so a later sync of any file makes them durable.
    """
    synced = max(
        (number for number, record in enumerate(records) if record.what == "s"), default=-1
    )
    lives: dict[str, list[list[Record]]] = {}
    removed: dict[str, int] = {}
    for number, change in enumerate(records):
        if change.what == "n" or change.name == _SHARED_MEMORY:
            continue
        of_name = lives.setdefault(change.name, [[]])
        if change.what == "u":
            removed[change.name] = number
            of_name.append([])
        else:
            of_name[-1].append(change)
    result = {}
    for name, of_name in lives.items():
        is_back = removed.get(name, -1) > synced and rng.random() < 0.5
        result[name] = _after(of_name[-2 if is_back else -1], rng)
    return result


def lose(records: list[Record], folder: Path, *, count: int, seed: int = 0) -> Losses:
    """Lose power at `count` points, spread over the records, and hold the index to the law."""
    losses = Losses()
    step = len(records) / count
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        point = min(len(records), int(number * step) + rng.randrange(max(1, int(step))) + 1)
        lost = folder / "lost"
        shutil.rmtree(lost, ignore_errors=True)
        lost.mkdir()
        losses.count += 1
        try:
            _check(records[:point], lost / "index.db", rng)
        except Exception:
            losses.breaches.append(f"point {point} of {len(records)}:\n{traceback.format_exc()}")
    return losses


def _check(records: list[Record], place: Path, rng: random.Random) -> None:
    notes = []
    for change in records:
        if change.what == "n":
            kind, ids = json.loads(change.data)
            notes.append((kind, frozenset(ids)))
    for name, content in _files(records, rng).items():
        if content is not None:
            Path(f"{place}{name}").write_bytes(content)
    done = [ids for kind, ids in notes if kind == "done"]
    # Not even the creation was acknowledged: then what is there may be made anew.
    before = done[-1] if done else frozenset()
    after = notes[-1][1] if notes else before
    with Index(place, **OPTIONS) as index:
        result = {document.id for document in index.documents()}
        # `add_many` stores what it adds in order, in one or more transactions.
        new = sorted(after - before, key=lambda id: int(id[1:]))
        possible = [before | set(new[:count]) for count in range(len(new) + 1)]
        assert result in [*possible, after], (
            sorted(before - result)[:9],
            sorted(result - after)[:9],
        )
        index.add("after", "断电之后的第一条新闻：水文站照常通报。")
    assert set(check_consistent(str(place))) == result | {"after"}


if __name__ == "__main__":
    program(sys.argv[1], int(sys.argv[2]))
    os._exit(0)
