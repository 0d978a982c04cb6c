"""Run the benchmarks.

Usage: python benchmarks/run.py [case ...]

neardup and its peers do the same works in the same run. Each engine has its own process, and
engines take turns. Each result is written to benchmarks/results/, and docs/benchmarks.md is made
from all of them. `accuracy` writes docs/accuracy.md instead. Cases that take long, or need no
peer, only run if they are named.
"""

import argparse
import importlib
import sys
from pathlib import Path

import page
from corpora import WORK, MissingError
from results import machine, store

MODULES = (
    "fingerprints",
    "news",
    "processes",
    "index",
    "server",
    "papers",
    "contamination",
    "budget",
    "accuracy",
)


def cases():
    """Return all cases in the order of the list, by name."""
    modules = map(importlib.import_module, MODULES)
    return {case.name: case for module in modules for case in module.CASES}


def main(arguments=None):
    """Run the chosen cases; the exit code is 1 if one failed, 2 if the corpora are missing."""
    sys.path.append(str(Path(__file__).resolve().parent.parent))
    options = parse(arguments)
    known = cases()
    unknown = set(options.cases) - set(known)
    if unknown:
        sys.exit(f"run.py: no case named {', '.join(sorted(unknown))}")
    if options.list:
        print("\n".join(f"{case.name:18} {case.title}" for case in known.values()))
        return 0
    chosen = [known[name] for name in options.cases]
    if not chosen and not options.page:
        chosen = [c for c in known.values() if c.usual or (c.large and options.large)]
    WORK.mkdir(exist_ok=True)
    failed, is_partial = False, bool(options.engines or options.trial)
    for case in chosen:
        try:
            result = case.measure(options)
        except (MissingError, RuntimeError) as error:
            print(f"{case.name}: {error}", file=sys.stderr)
            return 2
        if result is None:
            continue
        result["machine"] = machine()
        failed |= any("failure" in row for row in result.get("rows", ()))
        print(case.show(result))
        # An incomplete comparison is shown but not stored.
        if not (is_partial or "missing" in result):
            store(case.name, result)
    if not is_partial:
        page.write(known)
    return int(failed)


def parse(arguments):
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="names of cases; by default all with peers")
    parser.add_argument("--large", action="store_true", help="also those of 10^7")
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each engine")
    parser.add_argument("--engines", nargs="+", help="only these peers; nothing is stored")
    parser.add_argument("--trial", action="store_true", help="smaller, if it can be; not stored")
    parser.add_argument("--page", action="store_true", help="only make the page again")
    parser.add_argument("--unread", action="store_true", help="print samples that nobody has read")
    parser.add_argument("--list", action="store_true", help="list the cases")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
