"""The check of a thesis against a library of ten thousand documents.

Prints a table of seconds and memory, and writes results/thesis.json. The library is an index of
news articles and laws. The thesis is made of other news, with passages of the library planted in
it. Each check runs in its own process. It needs the corpora beside the repository.
"""

import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import machine
import neardup
import results
from accuracy_collections import MissingError, read
from neardup.papers import open_library
from tables import table

HERE = Path(__file__).resolve().parent
INPUTS = HERE / ".inputs" / "thesis"
SEED = 20261120

#: The number of documents of each collection in the library.
NEWS, LAWS = 7000, 3000
#: Characters of the thesis, about a hundred pages, and of each planted passage.
THESIS, PASSAGE = 100_000, 400
#: The number of checks.
RUNS = 5


def main():
    """Measure, print, and return the exit code."""
    if sys.argv[1:]:
        print(json.dumps(one_run()))
        return 0
    try:
        made = make_inputs()
    except MissingError as error:
        print(error, file=sys.stderr)
        return 2
    # When it is opened for the first time, the library is sketched.
    begun = time.perf_counter()
    open_library(INPUTS / "library.db").close()
    first = time.perf_counter() - begun
    runs = [run_apart() for _ in range(RUNS)]
    result = {
        "machine": machine.facts(),
        "documents": NEWS + LAWS,
        "characters_of_library": made["library"],
        "characters_of_thesis": made["thesis"],
        "seconds_to_make_the_index": made["seconds"],
        "seconds_to_sketch_it": first,
        "runs": runs,
    }
    results.store("thesis", result)
    rows = [
        [name, f"{statistics.median(run[name] for run in runs):.2f}"]
        for name in ("open", "check", "page", "whole")
    ]
    memory = max(run["peak_memory"] for run in runs) / 1e6
    print(f"{made['thesis']:,} characters against {NEWS + LAWS:,} documents of together")
    print(f"{made['library']:,} characters; sketched once in {first:.1f} s.\n")
    print(table(["step", "seconds"], rows))
    print(f"\npeak memory {memory:,.0f} MB; copied {runs[0]['rate']:.2%},", end=" ")
    print(f"{runs[0]['passages']} passages of {runs[0]['sources']} sources")
    return 0


def make_inputs():
    """Make the index and the thesis; return their sizes."""
    news, laws = read("chinanews.jsonl.zst"), read("laws.jsonl.zst")
    library = [*news[:NEWS], *laws[:LAWS]]
    rng = random.Random(SEED)
    parts = []
    while sum(map(len, parts)) < THESIS:
        parts.append(rng.choice(news[NEWS + LAWS :])["text"])
        if rng.random() < 0.4:
            text = rng.choice(library)["text"]
            begin = rng.randrange(max(1, len(text) - PASSAGE))
            parts.append(text[begin : begin + PASSAGE])
    INPUTS.mkdir(parents=True, exist_ok=True)
    thesis = "\n\n".join(parts)
    (INPUTS / "thesis.txt").write_text(thesis, "utf-8")
    for old in INPUTS.glob("library.db*"):
        old.unlink()
    records = [{"id": one["id"], "title": one.get("title"), "text": one["text"]} for one in library]
    begun = time.perf_counter()
    with neardup.Index(INPUTS / "library.db") as index:
        index.add_many(records)
    seconds = time.perf_counter() - begun
    return {
        "library": sum(len(one["text"]) for one in library),
        "thesis": len(thesis),
        "seconds": seconds,
    }


def run_apart():
    """Run a check in its own process."""
    begun = time.perf_counter()
    command = [sys.executable, str(HERE / "thesis.py"), "run"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE)
    return {**json.loads(done.stdout), "whole": time.perf_counter() - begun}


def one_run():
    """Check the thesis, and return the seconds of each step."""
    begun = time.perf_counter()
    library = open_library(INPUTS / "library.db")
    opened = time.perf_counter()
    report = neardup.check(INPUTS / "thesis.txt", library)
    checked = time.perf_counter()
    page = report.to_html()
    return {
        "open": opened - begun,
        "check": checked - opened,
        "page": time.perf_counter() - checked,
        "page_bytes": len(page.encode()),
        "peak_memory": round(machine.memory()["peak"] * 2**20),
        "rate": report.rates.total,
        "passages": len(report.passages),
        "sources": len(report.sources),
    }


if __name__ == "__main__":
    sys.exit(main())
