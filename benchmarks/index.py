"""The persistent index as it grows, and the first import into it.

An index in SQLite and one in PostgreSQL grow to 1,000,000 news articles. At each size, four things
are measured: how many documents a second can be added together, how long it takes to add one
document as a durable commit, how long a query takes, and the bytes on disk. Each index is grown by
another process; a database server has more processes.
"""

import contextlib
import itertools
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import corpora
import neardup
import shapes
from harness import PRODUCT, Engine, Measurement, environment
from tables import provenance, table, wrapped

WORKERS = 2
#: The sizes, and the size of a trial. Articles come again from number 28,474 on.
SIZES, TRIAL = (100_000, 300_000, 1_000_000), (35_000,)
#: The number of documents added one by one at each size, and of queries.
SINGLE = 1_000
#: Bytes of disk for each document, including the server's write-ahead log.
BYTES = 6_000
DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
#: Settings of a server for its durability and its size.
SETTINGS = ("server_version", "shared_buffers", "max_wal_size", "fsync", "synchronous_commit")


def measure(options):
    """Grow an index in each database; they must answer alike."""
    parts = inputs(TRIAL if options.trial else SIZES)
    indexes = [grown_apart(database, parts) for database in DATABASES]
    check_agreement(indexes)
    return {"indexes": indexes}


def inputs(sizes):
    """Return by size the files to be added together, to be added one by one, and to be queried.

    What is queried are the documents that come next; they are added later.
    """
    names = ("many", "single", "queries")
    paths = {n: [str(corpora.WORK / f"index_{n}_{name}.jsonl") for name in names] for n in sizes}
    if not all(Path(path).exists() for files in paths.values() for path in files):
        stream, before = corpora.stories(), 0
        for size, (many, single, queries) in paths.items():
            corpora.write(Path(many), itertools.islice(stream, size - before - SINGLE))
            corpora.write(Path(single), itertools.islice(stream, SINGLE))
            coming, before = list(itertools.islice(stream, SINGLE)), size
            corpora.write(Path(queries), coming)
            stream = itertools.chain(coming, stream)
    return paths


def grown_apart(database, parts):
    """Grow an index in a new process, and return its figures."""
    with tempfile.TemporaryDirectory(dir=corpora.WORK) as folder:
        # The files of the tests' server are elsewhere.
        disk = folder if database == "sqlite" else tempfile.gettempdir()
        corpora.check_space(disk, BYTES * max(parts), "an index and its log")
        with location(database, Path(folder)) as (where, server):
            done = subprocess.run(
                # The database address has a password; other users could read it in the arguments.
                [sys.executable, __file__],
                input=json.dumps({"location": where, "parts": parts}),
                env=environment(WORKERS),
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            )
    if done.returncode != 0:
        raise RuntimeError(f"{database}: exit code {done.returncode}")
    return {"title": DATABASES[database], "server": server, "rows": json.loads(done.stdout)}


@contextlib.contextmanager
def location(database, folder):
    """Yield the location of the index, and the settings of its server or None."""
    if database == "sqlite":
        yield str(folder / "index.db"), None
        return
    import psycopg
    from tests.postgres import Server

    server = Server(shared_buffers="1GB", max_wal_size="4GB")
    try:
        address = server.new_database()
        with psycopg.connect(address.partition("?")[0]) as connection:
            shown = {name: connection.execute(f"SHOW {name}").fetchone()[0] for name in SETTINGS}
        yield address, shown
    finally:
        server.remove()


def check_agreement(indexes):
    """Raise a RuntimeError where two databases answer differently."""
    for rows in zip(*(index["rows"] for index in indexes), strict=True):
        answers = {(row["kept"], row["many"]["found"], row["single"]["found"]) for row in rows}
        if len(answers) > 1:
            raise RuntimeError(
                f"Databases must answer alike. At {rows[0]['size']:,} documents they have (kept,"
                f" copies found together, one by one) {' and '.join(map(str, sorted(answers)))}."
            )


def grow(order):
    """Grow the index to each of its sizes; return its figures at each."""
    rows = []
    for size, (many, single, queries) in order["parts"].items():
        with neardup.Index(order["location"], must_exist=bool(rows), workers=WORKERS) as index:
            row = {"size": int(size), "many": added(index, Path(many))}
            row["single"] = one_by_one(Path(single), index.add)
            row["query"] = one_by_one(Path(queries), lambda _, text: index.query(text))
            row["memory_mb"] = own_memory_mb()
            stats = index.stats()
            if stats.documents != int(size):
                raise RuntimeError(f"{stats.documents} documents instead of {size}")
        with neardup.Index(order["location"], must_exist=True) as index:
            row["bytes"] = index.stats().bytes
        rows.append(row | {"kept": stats.kept})
    return rows


def added(index, path):
    """Add a file, and return the time and the copies found."""
    planted = {record["id"] for record in corpora.lines_of(path) if "of" in record}
    begun = time.perf_counter()
    result = index.add_files([path])
    seconds = time.perf_counter() - begun
    if result.new != len(result.keep):
        raise RuntimeError(f"{path}: {result.new} of {len(result.keep)} documents were added")
    return {
        "documents": result.new,
        "megabytes": path.stat().st_size / 1e6,
        "seconds": seconds,
        "planted": len(planted),
        "found": len(planted.intersection(result.removed["id"].to_pylist())),
    }


def one_by_one(path, ask):
    """Time one call for each document.

    Return the times in milliseconds, and of how many copies the answer was that they are copies.
    """
    seconds, answers = [], []
    for record in list(corpora.lines_of(path)):
        begun = time.perf_counter()
        answer = ask(record["id"], record["text"])
        seconds.append(time.perf_counter() - begun)
        if "of" in record:
            answers.append(bool(answer))
    p50, p90, p99, most = (1000 * np.percentile(seconds, (50, 90, 99, 100))).tolist()
    times = {"p50": p50, "p90": p90, "p99": p99, "max": most}
    return {"all": times, "planted": len(answers), "found": sum(answers)}


def own_memory_mb():
    """Return the memory of this process in MB, without mapped files."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(re.search(r"RssAnon:\s*(\d+) kB", status)[1]) / 1024


TEXT = """An index with default settings grows to a million news articles of 3.3 KB each.

- Some articles are followed by a copy with a few percent of its characters edited; *copies found*
is the share of them that was dropped.
- *Together* is `add_files`, and *one* `add` a durable commit. *A query* searches for a new text, or
for a copy.
- *Memory* is the memory of the process that adds. All files are in the system's cache, and
PostgreSQL is on the same machine."""

COLUMNS = {
    "documents": lambda row: f"{row['size']:,}",
    "together: documents/s": lambda row: (
        f"{row['many']['documents'] / row['many']['seconds']:,.0f}"
    ),
    "one `add`, ms: median": lambda row: f"{row['single']['all']['p50']:.2f}",
    "99 %": lambda row: f"{row['single']['all']['p99']:.2f}",
    "longest": lambda row: f"{row['single']['all']['max']:.2f}",
    "a query, ms: median": lambda row: f"{row['query']['all']['p50']:.2f}",
    "a query, 99 %": lambda row: f"{row['query']['all']['p99']:.2f}",
    "bytes a document": lambda row: f"{row['bytes'] / row['size']:,.0f}",
    "memory, MB": lambda row: f"{row['memory_mb']:,.0f}",
    "kept": lambda row: f"{row['kept']:,}",
    "copies found": lambda row: f"{row['many']['found'] / row['many']['planted']:.3f}",
}


def show_growth(result):
    """Return the part of the page on an index as it grows."""
    lines = [
        [index["title"], *(read(row) for read in COLUMNS.values())]
        for index in result["indexes"]
        for row in index["rows"]
        if math.log10(row["size"]).is_integer()
    ]
    servers = [
        ", ".join(f"{name} {value}" for name, value in index["server"].items())
        for index in result["indexes"]
        if index["server"]
    ]
    notes = "; ".join([provenance(result).strip("*"), *servers])
    return "\n\n".join([wrapped(TEXT), table(["index", *COLUMNS], lines), f"*{notes}*"])


IMPORT = """The first import of the shape `reposts`, by one command:"""
IMPORT_ENGINES = (Engine("neardup index add", PRODUCT, "index_file"),)


def measure_import(options):
    """Return the results of the first import of re-posts by number of documents."""
    return shapes.measured("reposts", shapes.sizes(options), options, IMPORT_ENGINES)


def show_import(result):
    """Return the part of the page on the first import."""
    return "\n\n".join([wrapped(IMPORT), shapes.show_shape(result), provenance(result)])


BENCHMARKS = (
    Measurement("index", "The persistent index as it grows to 10^6", measure, show_growth, True),
    Measurement("index_import", "The first import of re-posts", measure_import, show_import),
)

if __name__ == "__main__":
    print(json.dumps(grow(json.load(sys.stdin))))
