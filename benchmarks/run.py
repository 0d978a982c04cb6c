"""Run the benchmarks.

Usage: python benchmarks/run.py [NAME ...]

A name is that of a task or of one of its benchmarks. neardup and its peers do the same works in the
same run: each engine has its own process, and engines take turns. Results are written to
benchmarks/results/, and docs/benchmarks.md is made of all of them. `accuracy` writes
docs/accuracy.md instead.
"""

import argparse
import importlib
import sys

import page
from corpora import WORK, MissingError
from harness import HERE, machine, store

TASKS = ("news", "shapes", "fingerprints", "index", "papers", "accuracy")


def tasks():
    """Return the module of each task by its name."""
    return {name: importlib.import_module(name) for name in TASKS}


def main(arguments=None):
    """Run the chosen benchmarks; the exit code is 1 if one failed, 2 if the corpora are missing."""
    # The server of PostgreSQL comes from the tests.
    sys.path.append(str(HERE.parent))
    options, modules = parse(arguments), tasks()
    if options.list:
        for task, module in modules.items():
            for one in module.BENCHMARKS:
                large = ", only with --large or by its name" if one.large else ""
                print(f"{task:13} {one.name:17} {one.title}{large}")
        return 0
    known = {*modules, *(one.name for module in modules.values() for one in module.BENCHMARKS)}
    if unknown := set(options.names) - known:
        sys.exit(f"run.py: no benchmark named {', '.join(sorted(unknown))}; see --list")
    WORK.mkdir(exist_ok=True)
    failed, is_partial = False, bool(options.engines or options.trial)
    for one in [] if options.page else chosen(modules, options):
        try:
            result = one.measure(options)
        except MissingError as error:
            print(f"{one.name}: {error}", file=sys.stderr)
            return 2
        except RuntimeError as error:
            print(f"{one.name}: {error}", file=sys.stderr)
            failed = True
            continue
        if result is None:
            continue
        result["machine"] = machine()
        failed |= any("failure" in row for row in result.get("rows", ()))
        print(one.show(result))
        # An incomplete comparison is shown but not stored.
        if not is_partial:
            store(one.name, result)
    if not is_partial:
        page.write(modules)
    return int(failed)


def chosen(modules, options):
    """Yield the benchmarks that the options name; without names, those of tasks with peers."""
    for task, module in modules.items():
        for one in module.BENCHMARKS:
            is_usual = not one.large or options.large
            is_whole = task in options.names or not (options.names or task == "accuracy")
            if one.name in options.names or (is_whole and is_usual):
                yield one


def parse(arguments):
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="tasks or benchmarks; by default all of speed")
    parser.add_argument(
        "--large",
        action="store_true",
        help="also benchmarks of many minutes",
    )
    parser.add_argument("--repetitions", type=int, default=3, help="runs of each engine")
    parser.add_argument("--engines", nargs="+", help="only these peers; nothing is stored")
    parser.add_argument("--trial", action="store_true", help="smaller, where it can be; not stored")
    parser.add_argument("--size", type=int, help="documents of the smaller size of each shape")
    parser.add_argument("--page", action="store_true", help="only make the page again")
    parser.add_argument("--list", action="store_true", help="list the benchmarks")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
