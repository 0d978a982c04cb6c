"""The persistent index as it grows.

Usage: python benchmarks/bench_index.py [case ...]

An index in SQLite and one in PostgreSQL grow from 10,000 to 1,000,000 news articles. At each
size, four things are measured: how many documents a second can be added together, how long it
takes to add one document as a durable commit, how long a query takes, and the bytes on disk. Each
index is measured in its own process; a database server has more processes.

Results are written to benchmarks/results/index.json, with a plot. The tables of
benchmarks/README.md are made from them.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

import corpus
import generations
import harness
import machine
import plots
import tables
from results import RESULTS, store, stored

HERE = Path(__file__).resolve().parent
WORKERS = 2

#: Bytes of disk for each document, including the server's write-ahead log.
_BYTES = 6_000

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
class Case:
    """One index: its database, its largest size, and its settings."""

    name: str
    title: str
    database: str
    largest: int
    settings: dict = field(default_factory=dict)


CASES = (
    Case("sqlite", "SQLite", "sqlite", 1_000_000),
    Case("postgresql", "PostgreSQL", "postgresql", 1_000_000),
    Case("sketch", "SQLite, no texts stored", "sqlite", 100_000, {"store": "sketch"}),
)


def main(arguments=None):
    """Measure the given cases; results of a shortened run are not stored."""
    options = parse(arguments)
    if not options.tables:
        if not corpus.NEWS.exists():
            sys.exit(f"bench_index.py: {corpus.NEEDS}")
        for case in CASES:
            if options.cases and case.name not in options.cases:
                continue
            try:
                result = measured(case, min(options.up_to, case.largest), options.url)
            except RuntimeError as error:
                sys.exit(f"bench_index.py: {case.name}: {error}")
            if options.keep or options.up_to >= case.largest:
                replace(result)
            else:
                print(body([result]))
    results = stored("index") or []
    if results:
        tables.replace_section("index", body(results))
        plots.draw_index(results, RESULTS / "index.svg")
    different = disagreement(results)
    if different:
        sys.exit(f"bench_index.py: {different}")


def measured(case, largest, url):
    """Grow an index in a new process, and return its figures."""
    parts = generations.parts(largest)
    with tempfile.TemporaryDirectory(dir=corpus.WORK) as folder:
        # The files of the tests' server are elsewhere.
        disk = folder if case.database == "sqlite" else tempfile.gettempdir()
        generations.check_space(disk, _BYTES * largest, "an index and its log")
        with location(case.database, Path(folder), url) as (where, server):
            order = {
                "location": where,
                "folder": folder,
                "workers": WORKERS,
                "settings": case.settings,
                "sizes": [part.size for part in parts],
            }
            print(f"{case.name}: up to {largest:,} documents", file=sys.stderr, flush=True)
            done = subprocess.run(
                # The database address has a password; other users could read it in the arguments.
                [sys.executable, str(HERE / "index_run.py")],
                input=json.dumps(order),
                env=harness.environment(WORKERS),
                text=True,
                check=False,
            )
        if done.returncode != 0:
            raise RuntimeError(f"exit code {done.returncode}")
        figures = json.loads((Path(folder) / "measured.json").read_text("utf-8"))
    return asdict(case) | figures | {"server": server, "machine": machine.facts()}


@contextlib.contextmanager
def location(database, folder, url):
    """Yield the location of the index, and facts of its server or None."""
    if database == "sqlite":
        yield str(folder / "index.db"), None
    elif url is not None:
        yield url, facts_of(url)
    else:
        sys.path.append(str(HERE.parent))
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


def disagreement(results):
    """Return a sentence on where two databases answer differently.

    None if they answer alike.
    """
    answers = {}
    for result in results:
        for row in result["rows"]:
            of = json.dumps(result["settings"]), row["size"]
            answer = row["kept"], row["many"]["found"], row["single"]["found"]
            other, expected = answers.setdefault(of, (result["name"], answer))
            if answer != expected:
                return (
                    f"{other} and {result['name']} must answer alike, at {row['size']:,} documents."
                    f" Got (kept, copies found together, one by one) {expected} and {answer}."
                )
    return None


def replace(result):
    """Store a result in place of the previous one.

    The results stay in the order of the cases.
    """
    found = {old["name"]: old for old in stored("index") or []} | {result["name"]: result}
    store("index", [found[case.name] for case in CASES if case.name in found])


def body(results):
    """Return all tables, and where they were measured."""
    parts = [growth_table(results), whole_table(results)]
    return "\n\n".join([*parts, *dict.fromkeys(map(provenance, results))])


def growth_table(results):
    """Return a table with a line for each index and size."""
    readers = {
        "documents": lambda row: f"{row['size']:,}",
        "together: documents/s": lambda row: (
            f"{row['many']['documents'] / row['many']['seconds']:,.0f}"
        ),
        "MB/s": lambda row: tables.digits(row["many"]["megabytes"] / row["many"]["seconds"]),
        "one `add`, ms: median": lambda row: milliseconds(row["single"]["all"]["p50"]),
        "90 %": lambda row: milliseconds(row["single"]["all"]["p90"]),
        "99 %": lambda row: milliseconds(row["single"]["all"]["p99"]),
        "longest": lambda row: milliseconds(row["single"]["all"]["max"]),
        "a query, ms: median": lambda row: milliseconds(row["query"]["all"]["p50"]),
        "a query, 99 %": lambda row: milliseconds(row["query"]["all"]["p99"]),
        "bytes a document": lambda row: f"{row['bytes'] / row['size']:,.0f}",
        "memory, MB": lambda row: f"{row['memory']['own']:,.0f}" if row["memory"] else "–",
        "kept": lambda row: f"{row['kept']:,}",
        "copies found": lambda row: f"{row['many']['found'] / row['many']['planted']:.3f}",
        "64 KB made durable, ms": lambda row: milliseconds(row["sync"]["p50"]),
    }
    lines = [
        [result["title"], *(read(row) for read in readers.values())]
        for result in results
        for row in result["rows"]
    ]
    return tables.table(["index", *readers], lines)


def whole_table(results):
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
    for result in results:
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
                "–" if longest is None else tables.digits(longest),
                tables.digits(max(row["close_seconds"] for row in rows)),
                rows[-1]["scheme"],
            )
        )
    return tables.table(heads, lines)


def milliseconds(value):
    """Return a time with two decimals."""
    return f"{value:.2f}"


def provenance(result):
    """Return a line that says where an index was measured."""
    settings = (f"{name} {value}" for name, value in (result["server"] or {}).items())
    return f"*{'; '.join([tables.measured_on(result), *filter(None, [', '.join(settings)])])}*"


def parse(arguments):
    """Return the options."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", choices=[[], *names], metavar="case")
    parser.add_argument(
        "--up-to",
        type=int,
        choices=generations.SIZES,
        default=generations.SIZES[-1],
        help="the largest size; below a case's own its figures are shown and not stored",
    )
    parser.add_argument("--keep", action="store_true", help="store them all the same")
    parser.add_argument("--url", help="an empty PostgreSQL database; a server of its own if not")
    parser.add_argument("--tables", action="store_true", help="only make tables and plot again")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
