"""The service under load: throughput, latency, memory, and kept documents.

The program starts `neardup serve` on an index of 100,000 news articles and sends it further
articles over 32 connections from another process. It sends them in batches of 32 and one by one,
each at a fixed rate and as fast as the service answers. One in ten is an edited copy. Latency is
counted from the moment when a request was due; so a slow answer also counts for the requests that
had to wait for it. Finally, the kept documents are compared with those of `dedup` on the same
documents, in the order in which the service decided them.
"""

import asyncio
import itertools
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

import corpora
import neardup
from harness import Case
from results import memory
from tables import measured_on, table, wrapped

HERE = Path(__file__).resolve().parent
FOLDER = HERE / ".inputs" / "server"

STORED, CONNECTIONS, BATCH = 100_000, 32, 32


class Load(NamedTuple):
    """The documents of a run, their number in a request, and the rate.

    The rate is in documents a second; 0 means as fast as the service answers.
    """

    documents: int
    together: int
    rate: int


SENT = {
    "batches of 32, 1,000 a second": Load(15_000, BATCH, 1000),
    "batches of 32, all it takes": Load(30_000, BATCH, 0),
    "one by one, 300 a second": Load(6_000, 1, 300),
    "one by one, all it takes": Load(10_000, 1, 0),
}


def measure(options):
    """Send all loads to a service, one after the other."""
    if not corpora.NEWS.exists():
        raise corpora.MissingError(corpora.NEEDS)
    location = made()
    runs = {}
    with Server(location) as server:
        for name in SENT:
            server.settle()
            before = server.memory()
            runs[name] = send(name, server.port) | {"memory_before": before}
            runs[name]["memory"] = server.memory()
            print(*row(name, runs[name]), sep=", ", file=sys.stderr, flush=True)
    errors = sum(run["errors"] for run in runs.values())
    if errors:
        raise RuntimeError(f"{errors} requests failed")
    return {"stored": STORED, "runs": runs, "same_as_dedup": same_as_dedup(location)}


def show(result):
    """Return the section of the page."""
    same, stored = "exactly the" if result["same_as_dedup"] else "**not** the", result["stored"]
    text = f"""`neardup serve` with one process, SQLite, an index of {stored:,} news articles of
    3.3 KB; {CONNECTIONS} connections of one other process on the same two cores; a tenth of what
    is sent are edited copies. Latency counts from the moment at which a request was due.
    Afterwards the index kept {same} documents that `dedup` keeps of the same ones in this order."""
    columns = ["sent", "documents/s", "p50 ms", "p99 ms", "longest", "errors", "MB before", "MB"]
    rows = [row(name, run) for name, run in result["runs"].items()]
    parts = ["## The service", wrapped(text), table(columns, rows), f"*{measured_on(result)}*"]
    return "\n\n".join(parts)


def documents():
    """Yield all documents in order: the stored ones, then those to be sent."""
    for part in corpora.parts(300_000):
        yield from itertools.chain(corpora.lines_of(part.many), corpora.lines_of(part.single))


def made():
    """Return a copy of an index of the stored documents.

    Its background is counted from all documents, including those to be sent.
    """
    base = FOLDER / "sqlite.db"
    if not base.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        rows = list(itertools.islice(documents(), STORED + sum(s.documents for s in SENT.values())))
        begin = STORED
        for name, sent in SENT.items():
            corpora.write(input_of(name), rows[begin : begin + sent.documents])
            begin += sent.documents
        making = FOLDER / "making.db"
        with neardup.Index(making, background=rows, must_exist=False) as index:
            index.add_many(rows[:STORED])
        making.rename(base)
    copy = FOLDER / "served.db"
    for old in FOLDER.glob("served.db*"):
        old.unlink()
    shutil.copy(base, copy)
    return copy


def input_of(name):
    """Return the file with the documents of a run."""
    return FOLDER / f"{name.replace(',', '').replace(' ', '_')}.jsonl"


class Server:
    """`neardup serve` in its own process."""

    def __init__(self, location):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "neardup", "serve", "--index", str(location)]
        self.process = subprocess.Popen([*command, "--port", str(self.port)])

    def __enter__(self):
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5).close()
            except OSError:
                time.sleep(0.1)
            else:
                return self
        raise SystemExit("the service does not answer")

    def __exit__(self, *exception):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def settle(self):
        """Wait until the disk is idle."""
        os.sync()
        time.sleep(1)

    def memory(self):
        """Return the bytes of the process in memory, without file pages."""
        return round(memory(self.process.pid)["own"] * 2**20)


def send(name, port):
    """Send the documents of a run from another process; return its figures."""
    command = [sys.executable, __file__, name, str(port)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


async def load(name, port):
    """Send all documents over all connections, and time each request."""
    with input_of(name).open(encoding="utf-8") as file:
        lines = [line.strip().encode() for line in file]
    size, rate = SENT[name].together, SENT[name].rate
    bodies = [
        lines[at] if size == 1 else b'{"documents":[' + b",".join(lines[at : at + size]) + b"]}"
        for at in range(0, len(lines), size)
    ]
    begun = time.perf_counter()
    due = (begun + at * size / rate if rate else 0.0 for at in itertools.count())
    waiting = iter(zip(bodies, due, strict=False))
    seconds, statuses = [], []
    await asyncio.gather(
        *(connection(port, waiting, seconds, statuses) for _ in range(CONNECTIONS))
    )
    took = time.perf_counter() - begun
    milliseconds = sorted(1000 * one for one in seconds)
    return {
        "documents": len(lines),
        "seconds": took,
        "documents_a_second": len(lines) / took,
        "p50": statistics.median(milliseconds),
        "p99": milliseconds[int(0.99 * len(milliseconds))],
        "longest": milliseconds[-1],
        "errors": sum(status not in (200, 201) for status in statuses),
    }


async def connection(port, bodies, seconds, statuses):
    """Send bodies one after the other over one connection, each when due."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /v1/documents HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
    head += b"Content-Type: application/json\r\nContent-Length: "
    for body, due in bodies:
        early = due - time.perf_counter()
        if early > 0:
            await asyncio.sleep(early)
        begun = due or time.perf_counter()
        writer.write(head + str(len(body)).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        answer = await reader.readuntil(b"\r\n\r\n")
        statuses.append(int(answer.split(b" ", 2)[1]))
        length = answer.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
        await reader.readexactly(int(length))
        seconds.append(time.perf_counter() - begun)
    writer.close()


def same_as_dedup(location):
    """Return whether `dedup` keeps the same documents.

    It gets all documents in the order in which the service decided them.
    """
    with neardup.Index(location, must_exist=True) as index:
        rows, kept = [], set()
        for one in index.documents():
            rows.append({"id": one.id, "text": one.text})
            if one.state == "kept":
                kept.add(one.id)
    found = {one["id"] for one in neardup.dedup(rows).kept}
    if found != kept:
        print(f"{len(kept - found)} kept here alone, {len(found - kept)} by dedup alone")
    return found == kept


def row(name, run):
    """Return a row of the table."""
    return [
        name,
        f"{run['documents_a_second']:,.0f}",
        f"{run['p50']:.1f}",
        f"{run['p99']:.1f}",
        f"{run['longest']:.0f}",
        str(run["errors"]),
        f"{run['memory_before'] / 1e6:,.0f}",
        f"{run['memory'] / 1e6:,.0f}",
    ]


CASES = (Case("server", "The service under load", measure, show),)

if __name__ == "__main__":
    print(json.dumps(asyncio.run(load(sys.argv[1], int(sys.argv[2])))))
