"""Run the benchmarks.

Usage: python benchmarks/run.py [work ...]

neardup and its peers do the same works in the same run. Each engine has its own process, and
engines take turns. Results are written to benchmarks/results/, one file for each work. The tables
of benchmarks/README.md are made from them. Works that compare neardup's own ways to find
candidates only run if they are named.
"""

import argparse
import importlib
import sys
from pathlib import Path

import environments
import harness
import machine
import plots
import tables
from results import RESULTS, store, stored

HERE = Path(__file__).resolve().parent
#: Names of lists of works: by default, of 10^7 documents, and only if named.
KINDS = ("WORKS", "LARGE", "NAMED")
MODULES = (
    "bench_sketches",
    "bench_fingerprints",
    "bench_news",
    "bench_growth",
    "bench_schemes",
)


def works(*kinds):
    """Return all works of some kinds, in the order of the table."""
    modules = map(importlib.import_module, MODULES)
    return [work for module in modules for kind in kinds for work in getattr(module, kind, ())]


def main(arguments=None):
    """Run the chosen works; the exit code is 1 if an engine failed."""
    options = parse(arguments)
    everything = works(*KINDS)
    unknown = set(options.works) - {work.name for work in everything}
    if unknown:
        sys.exit(f"run.py: no work named {', '.join(sorted(unknown))}")
    chosen = [work for work in everything if work.name in options.works]
    chosen = chosen or works(*(KINDS[:2] if options.large else KINDS[:1]))
    if options.list:
        print("\n".join(f"{work.name:18} {work.title}" for work in everything))
        return 0
    failed = False
    if not options.tables:
        (HERE / ".inputs").mkdir(exist_ok=True)
        peers = sorted({engine.peer for work in chosen for engine in work.engines})
        environments.install_all(p for p in peers if not options.engines or p in options.engines)
        for work in chosen:
            smaller = [found for name in work.smaller if (found := stored(name))]
            result = harness.run(work, options.repetitions, options.engines, smaller)
            result["machine"] = machine.facts()
            failed |= any("failure" in row for row in result["rows"])
            if options.engines or options.trial:
                # An incomplete comparison is shown but not stored.
                print(tables.table_of(result))
                continue
            store(work.name, result)
    if not (options.engines or options.trial):
        write_tables()
    return int(failed)


def write_tables():
    """Write all tables from the stored results.

    They are in the README, and for the ways to find candidates in results/schemes.md.
    """
    compared = [found for work in works(*KINDS[:2]) if (found := stored(work.name))]
    tables.replace_section("results", "\n\n".join(map(tables.table_of, compared)))
    schemes = [found for work in works(KINDS[2]) if (found := stored(work.name))]
    text = "\n\n".join(["# Ways to find candidates: every run", *map(tables.table_of, schemes)])
    (RESULTS / "schemes.md").write_text(f"{text}\n", encoding="utf-8")
    plots.draw_schemes(schemes, RESULTS / "schemes.svg")


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
