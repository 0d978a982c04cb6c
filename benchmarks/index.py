"""The persistent index as it grows.

An index in SQLite and one in PostgreSQL grow from 10,000 to 1,000,000 news articles. At each size,
four things are measured: how many documents a second can be added together, how long it takes to
add one document as a durable commit, how long a query takes, and the bytes on disk. Each index is
measured in its own process; a database server has more processes.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import corpora
import harness
import neardup
import plots
import results
from neardup.index.ingest import transaction
from tables import digits, measured_on, table, wrapped

WORKERS = 2
#: The largest size of a trial.
TRIAL = 30_000
#: Bytes of disk for each document, including the server's write-ahead log.
_BYTES = 6_000
#: The number of writes that measure the disk itself, and the bytes of each.
_SYNCS, _SYNC_BYTES = 200, 65_536
#: Settings of a server for its durability and its size.
_SHOWN = (
    "server_version",
    "shared_buffers",
    "max_wal_size",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
)


@dataclass(frozen=True)
class Index:
    """One index: its database, its largest size, and its settings."""

    name: str
    title: str
    database: str
    largest: int
    settings: dict = field(default_factory=dict)


INDEXES = (
    Index("sqlite", "SQLite", "sqlite", 1_000_000),
    Index("postgresql", "PostgreSQL", "postgresql", 1_000_000),
    Index("sketch", "SQLite, no texts stored", "sqlite", 100_000, {"store": "sketch"}),
)


def measure(options):
    """Grow all indexes; they must answer alike."""
    if not corpora.NEWS.exists():
        raise corpora.MissingError(corpora.NEEDS)
    largest = TRIAL if options.trial else max(index.largest for index in INDEXES)
    found = [grown_apart(index, min(largest, index.largest)) for index in INDEXES]
    check_agreement(found)
    if not options.trial:
        plots.draw_index(found, results.RESULTS / "index.svg")
    return {"indexes": found}


def grown_apart(index, largest):
    """Grow an index in a new process, and return its figures."""
    parts = corpora.parts(largest)
    with tempfile.TemporaryDirectory(dir=corpora.WORK) as folder:
        # The files of the tests' server are elsewhere.
        disk = folder if index.database == "sqlite" else tempfile.gettempdir()
        corpora.check_space(disk, _BYTES * largest, "an index and its log")
        with location(index.database, Path(folder)) as (where, server):
            order = {
                "location": where,
                "folder": folder,
                "workers": WORKERS,
                "settings": index.settings,
                "sizes": [part.size for part in parts],
            }
            print(f"{index.name}: up to {largest:,} documents", file=sys.stderr, flush=True)
            done = subprocess.run(
                # The database address has a password; other users could read it in the arguments.
                [sys.executable, __file__],
                input=json.dumps(order),
                env=harness.environment(WORKERS),
                text=True,
                check=False,
            )
        if done.returncode != 0:
            raise RuntimeError(f"{index.name}: exit code {done.returncode}")
        figures = json.loads((Path(folder) / "measured.json").read_text("utf-8"))
    return asdict(index) | figures | {"server": server}


@contextlib.contextmanager
def location(database, folder):
    """Yield the location of the index, and facts of its server or None."""
    if database == "sqlite":
        yield str(folder / "index.db"), None
        return
    from tests.postgres import Server

    server = Server(shared_buffers="1GB", max_wal_size="4GB")
    try:
        address = server.new_database()
        yield address, facts_of(address)
    finally:
        server.remove()


def facts_of(url):
    """Return the settings of a server that affect the figures."""
    import psycopg

    with psycopg.connect(url.partition("?")[0]) as connection:
        return {
            name: connection.execute(f"SHOW {name}").fetchone()[0]  # a fixed list of names
            for name in _SHOWN
        }


def check_agreement(found):
    """Raise a RuntimeError where two databases answer differently."""
    answers = {}
    for result in found:
        for row in result["rows"]:
            of = json.dumps(result["settings"]), row["size"]
            answer = row["kept"], row["many"]["found"], row["single"]["found"]
            other, expected = answers.setdefault(of, (result["name"], answer))
            if answer != expected:
                raise RuntimeError(
                    f"{other} and {result['name']} must answer alike, at {row['size']:,} documents."
                    f" Got (kept, copies found together, one by one) {expected} and {answer}."
                )


def show(result):
    """Return the section of the page."""
    found = result["indexes"]
    servers = dict.fromkeys(
        ", ".join(f"{name} {value}" for name, value in index["server"].items())
        for index in found
        if index["server"]
    )
    return "\n\n".join(
        [
            "## The persistent index",
            wrapped(TEXT),
            growth_table(found),
            whole_table(found),
            f"*{'; '.join([measured_on(result), *servers])}*",
            "![Documents a second, and milliseconds of one addition, against size]"
            "(../benchmarks/results/index.svg)",
        ]
    )


TEXT = """An index in SQLite and one in PostgreSQL, with the recipe `general`, grow to a million
news articles of 3.3 KB each, one run each.

- *The articles* are 28,473 that come again and again, each generation in a cipher of its own, so
that nothing of two generations resembles. One in ten is followed by a copy with 2-10 % of its
characters edited, 1 to 100,000 documents later; *found* is the share of copies that was dropped.
- *Together* is `add_files` since the size before, 1024 documents a transaction. *One* `add` is one
durable commit. *A query* looks a text up that is not there, or a copy.
- *Bytes* are those of the file after closing; with PostgreSQL of tables and their indexes. *Memory*
is that of the process that adds, without a server's.
- What is common is counted again as the index grows: *longest* in the second table is what this
adds to one call.
- Input, index and server are in the system's cache, and *64 KB made durable* is what the disk takes
for one `fdatasync`. PostgreSQL is on the same machine and disk."""


def growth_table(found):
    """Return a table with a line for each index and size."""
    readers = {
        "documents": lambda row: f"{row['size']:,}",
        "together: documents/s": lambda row: (
            f"{row['many']['documents'] / row['many']['seconds']:,.0f}"
        ),
        "MB/s": lambda row: digits(row["many"]["megabytes"] / row["many"]["seconds"]),
        "one `add`, ms: median": lambda row: milliseconds(row["single"]["all"]["p50"]),
        "90 %": lambda row: milliseconds(row["single"]["all"]["p90"]),
        "99 %": lambda row: milliseconds(row["single"]["all"]["p99"]),
        "longest": lambda row: milliseconds(row["single"]["all"]["max"]),
        "a query, ms: median": lambda row: milliseconds(row["query"]["all"]["p50"]),
        "a query, 99 %": lambda row: milliseconds(row["query"]["all"]["p99"]),
        "bytes a document": lambda row: f"{row['bytes'] / row['size']:,.0f}",
        "memory, MB": lambda row: f"{row['memory']['own']:,.0f}",
        "kept": lambda row: f"{row['kept']:,}",
        "copies found": lambda row: f"{row['many']['found'] / row['many']['planted']:.3f}",
        "64 KB made durable, ms": lambda row: milliseconds(row["sync"]["p50"]),
    }
    lines = [
        [result["title"], *(read(row) for read in readers.values())]
        for result in found
        for row in result["rows"]
    ]
    return table(["index", *readers], lines)


def whole_table(found):
    """Return a table of the cost of each index from first to last document."""
    heads = (
        "all together",
        "documents",
        "seconds",
        "documents/s",
        "times counted",
        "longest, s",
        "longest close, s",
        "search",
    )
    lines = []
    for result in found:
        rows, counted = result["rows"], result["recounts"]
        documents = sum(row["many"]["documents"] for row in rows)
        seconds = sum(row["many"]["seconds"] for row in rows)
        longest = max((one["seconds"] for one in counted), default=None)
        lines.append(
            (
                result["title"],
                f"{documents:,}",
                f"{seconds:,.0f}",
                f"{documents / seconds:,.0f}",
                str(len(counted)),
                "–" if longest is None else digits(longest),
                digits(max(row["close_seconds"] for row in rows)),
                rows[-1]["scheme"],
            )
        )
    return table(heads, lines)


def milliseconds(value):
    """Return a time with two decimals."""
    return f"{value:.2f}"


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


def grow(order):
    """Run an order: grow the index to each of its sizes.

    After each size, measured.json in its folder has one more row.
    """
    recounts, rows = Recounts(), []
    for size in order["sizes"]:
        rows.append(grown(order, corpora.Part(size)))
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
        row["memory"] = results.memory()
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
    planted, megabytes = corpora.copies(path), path.stat().st_size / 1e6
    begun = time.perf_counter()
    added = index.add_files([path])
    seconds = time.perf_counter() - begun
    if added.new != len(added.keep):
        raise RuntimeError(f"{path}: {added.new} of {len(added.keep)} documents were added")
    found = sum(map(corpora.is_copy, added.removed["id"].to_pylist()))
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
    for record in list(corpora.lines_of(path)):
        begun = time.perf_counter()
        answer = ask(record["id"], record["text"])
        seconds.append(time.perf_counter() - begun)
        if corpora.is_copy(record["id"]):
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


CASES = (harness.Case("index", "The persistent index as it grows to 10^6", measure, show),)

if __name__ == "__main__":
    grow(json.load(sys.stdin))
