"""Run the benchmarks: ``python benchmarks/run.py [work ...]``.

Every work is done by neardup and by its peers in the same run, each engine in a
process of its own, in turns. Results go to benchmarks/results/, one file per
work, and the tables of benchmarks/README.md are made from them.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

import environments
import harness
import machine
import tables

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
MODULES = (
    "bench_words",
    "bench_characters",
    "bench_near_pairs",
    "bench_lookup",
    "bench_news",
    "bench_corpus",
    "bench_growth",
)


def works(large):
    """Return all works in the order of the table; the large ones where asked for."""
    found = []
    for name in MODULES:
        module = importlib.import_module(name)
        found += module.WORKS + (getattr(module, "LARGE", ()) if large else ())
    return found


def main(arguments=None):
    """Run what is asked for; the exit code is 1 if an engine failed."""
    options = parse(arguments)
    chosen = [w for w in works(options.large) if not options.works or w.name in options.works]
    unknown = set(options.works) - {work.name for work in works(True)}
    if unknown:
        sys.exit(f"run.py: no work named {', '.join(sorted(unknown))}")
    if options.list:
        print("\n".join(f"{work.name:18} {work.title}" for work in chosen))
        return 0
    failed = False
    if not options.tables:
        (HERE / ".inputs").mkdir(exist_ok=True)
        RESULTS.mkdir(exist_ok=True)
        peers = sorted({engine.peer for work in chosen for engine in work.engines})
        environments.install_all(p for p in peers if not options.engines or p in options.engines)
        for work in chosen:
            smaller = [found for name in work.smaller if (found := stored(name))]
            result = harness.run(work, options.repetitions, options.engines, smaller)
            result["machine"] = machine.facts()
            failed |= any("failure" in row for row in result["rows"])
            if options.engines or options.trial:
                # Half a comparison is not a result: it is shown and not kept.
                print(tables.table_of(result))
                continue
            path = RESULTS / f"{work.name}.json"
            path.write_text(
                json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )
    if not (options.engines or options.trial):
        tables.write(HERE / "README.md", results())
    return int(failed)


def results():
    """Return all stored results in the order of the works."""
    found = [stored(work.name) for work in works(True)]
    return [result for result in found if result is not None]


def stored(name):
    """Return the stored result of a work, or None."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def parse(arguments):
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("works", nargs="*", help="names of works; all by default")
    parser.add_argument(
        "--large", action="store_true", help="also 10^7 fingerprints, and 10^7 documents"
    )
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each engine")
    parser.add_argument("--engines", nargs="+", help="only these peers; nothing is stored")
    parser.add_argument("--trial", action="store_true", help="show the tables; nothing is stored")
    parser.add_argument("--tables", action="store_true", help="only make the tables again")
    parser.add_argument("--list", action="store_true", help="list the works")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
