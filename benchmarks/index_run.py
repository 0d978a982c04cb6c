"""Grows one index and measures it; bench_index.py starts it as a process.

At each size it adds many documents together, then a thousand one by one, and runs a thousand
queries. It notes the memory in use. Then it closes the index, so that SQLite moves its log into
the file, counts the bytes, and opens it again.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import corpus
import generations
import machine
import neardup
from neardup.index.ingest import transaction

#: The number of writes that measure the disk itself, and the bytes of each.
_SYNCS, _SYNC_BYTES = 200, 65_536


class Recounts(list):
    """The seconds of each recount of the background inside a call."""

    def __init__(self):
        recount = transaction.recount

        def timed(session, settings, *, workers):
            begun = time.perf_counter()
            texts = recount(session, settings, workers=workers)
            seconds = time.perf_counter() - begun
            arrived = session.counters()["arrived"]
            self.append({"arrived": arrived, "texts": texts, "seconds": seconds})
            return texts

        transaction.recount = timed


def main(order):
    """Run an order: grow the index to each of its sizes.

    After each size, measured.json in its folder has one more row.
    """
    recounts, rows = Recounts(), []
    for size in order["sizes"]:
        rows.append(grown(order, generations.Part(size)))
        measured = {"rows": rows, "recounts": recounts}
        (Path(order["folder"]) / "measured.json").write_text(json.dumps(measured), encoding="utf-8")


def grown(order, part):
    """Bring the index to a size, and return its figures."""
    row = {"size": part.size, "load": os.getloadavg()[0]}
    location, settings = order["location"], order["settings"] | {"workers": order["workers"]}
    is_first = part.size == order["sizes"][0]
    with neardup.Index(location, must_exist=not is_first, **settings) as index:
        row["many"] = many(index, part.many)
        row["sync"] = sync(order["folder"])
        row["single"] = one_by_one(part.single, index.add)
        row["query"] = one_by_one(part.queries, lambda _, text: index.query(text))
        row["memory"] = machine.memory()
        stats = index.stats()
        if stats.documents != part.size:
            raise RuntimeError(f"{location}: {stats.documents} documents instead of {part.size}")
        begun = time.perf_counter()
    row["close_seconds"] = time.perf_counter() - begun
    with neardup.Index(location, must_exist=True) as index:
        row["bytes"] = index.stats().bytes
    row |= {"kept": stats.kept, "dropped": stats.dropped, "scheme": stats.scheme}
    return row


def many(index, path):
    """Add a file, and return the speed and the copies found."""
    planted, megabytes = generations.copies(path), path.stat().st_size / 1e6
    begun = time.perf_counter()
    added = index.add_files([path])
    seconds = time.perf_counter() - begun
    if added.new != len(added.keep):
        raise RuntimeError(f"{path}: {added.new} of {len(added.keep)} documents were added")
    found = sum(map(generations.is_copy, added.removed["id"].to_pylist()))
    return {
        "documents": added.new,
        "megabytes": megabytes,
        "seconds": seconds,
        "dropped": added.removed.num_rows,
        "planted": planted,
        "found": found,
    }


def one_by_one(path, ask):
    """Time one call for each document.

    Return the times in milliseconds and how many copies had an answer.
    """
    seconds, found = [], []
    for record in list(corpus.read(path)):
        begun = time.perf_counter()
        answer = ask(record["id"], record["text"])
        seconds.append(time.perf_counter() - begun)
        if generations.is_copy(record["id"]):
            found.append(bool(answer))
    return {"all": spread(seconds), "planted": len(found), "found": sum(found)}


def spread(seconds):
    """Return a summary of some times, in milliseconds.

    It has their number, median, 90th and 99th percentiles, and maximum.
    """
    milliseconds = 1000 * np.array(seconds)
    p50, p90, p99 = np.percentile(milliseconds, (50, 90, 99)).tolist()
    most = float(milliseconds.max())
    return {"count": len(milliseconds), "p50": p50, "p90": p90, "p99": p99, "max": most}


def sync(folder):
    """Return the milliseconds of a durable write of 64 KB to the disk.

    The same place is overwritten each time.
    """
    synced = getattr(os, "fdatasync", os.fsync)
    seconds = []
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(_SYNC_BYTES))
        file.flush()
        os.fsync(file.fileno())
        for number in range(_SYNCS):
            file.seek(0)
            file.write(bytes([number % 256]) * _SYNC_BYTES)
            file.flush()
            begun = time.perf_counter()
            synced(file.fileno())
            seconds.append(time.perf_counter() - begun)
    return spread(seconds)


if __name__ == "__main__":
    main(json.load(sys.stdin))
