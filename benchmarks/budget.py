"""What each stage of the recipe `general` costs, beside what the machine allows.

By the bench program `crates/neardup-core/benches/budget` on 55,000 news items, which must decide as
`neardup.dedup_files` does.
"""

import json
import math
import subprocess
import tempfile
from pathlib import Path

import corpora
import neardup
from harness import Case
from tables import measured_on, table, wrapped

ROOT = Path(__file__).resolve().parents[1]
BENCH = ("cargo", "bench", "--locked", "-p", "neardup-core", "--bench", "budget", "--")
#: Numbers of cores for which the time is computed; the last is any number.
CORES = (1, 2, 4, 16, 64, math.inf)

#: Operations of the machine: name, what it is, and the unit of its figure.
OPERATIONS = {
    "copy": ("copy 256 MB of memory", "GB/s"),
    "hash_15": ("XXH3, 64 bits, of 15 bytes in the nearest cache", "ns"),
    "hash_bulk": ("XXH3, 128 bits, of all texts in one piece", "GB/s"),
    "sort_256": ("sort 64-bit numbers, 256 at a time, each", "ns"),
    "sort_4096": ("the same, 4,096 at a time, each", "ns"),
    "sort_all": ("the same, 4 million at a time, each", "ns"),
    "access_16k": ("read at random places of 16 KB, each", "ns"),
    "access_4m": ("the same of 4 MB, each", "ns"),
    "access_256m": ("the same of 256 MB, beyond the cache, each", "ns"),
    "chain_256m": ("the same, each place known only from the one before", "ns"),
}


def measure(options):
    """Return what the bench program measured; it must decide as the command does."""
    path = corpora.pieces()
    if path is None:
        raise corpora.MissingError(corpora.NEEDS)
    done = subprocess.run([*BENCH, str(path)], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    with tempfile.TemporaryDirectory(dir=corpora.WORK) as folder:
        kept = Path(folder) / "kept.jsonl"
        summary = neardup.dedup_files([path], kept, workers=1).summary
    for name in ("kept", "candidates"):
        if found[name] != getattr(summary, name):
            raise RuntimeError(
                f"{name}: the bench program has {found[name]}, the command "
                f"{getattr(summary, name)}; its recipe must be that of the command"
            )
    return found


def show(result):
    """Return the section of the page."""
    head = HEAD.format(documents=result["documents"], characters=result["characters"] / 1e6)
    end = END.format(runs=result["repetitions"], waiting=waiting(result))
    parts = [
        "## What each stage costs",
        wrapped(head),
        operations_table(result),
        stages_table(result),
        wrapped(THREADS),
        threads_table(result),
        cores_table(result),
        wrapped(end),
        f"*{measured_on(result)}*",
    ]
    return "\n\n".join(parts)


def operations_table(found):
    """Return a table of what the machine allows."""
    lines = []
    for one in found["limits"]:
        what, unit = OPERATIONS[one["name"]]
        seconds = [one["times"][kind]["cpu"] / one["units"] for kind in ("median", "least")]
        figures = [1e-9 / each if unit == "GB/s" else 1e9 * each for each in seconds]
        lines.append([what, *(f"{figure:.2f} {unit}" for figure in figures)])
    return table(["operation, one core", "median", "best"], lines)


def stages_table(found):
    """Return a table of what each stage costs, beside its limit."""
    lines = []
    for stage in found["stages"]:
        median, least = (stage["times"][kind]["cpu"] for kind in ("median", "least"))
        units, limit = stage["units"], limit_of(stage, found)
        lines.append(
            [
                stage["name"],
                stage["unit"],
                nanoseconds(median / units),
                nanoseconds(least / units),
                f"{stage['bytes'] / median / 1e6:,.0f}",
                f"{1e6 * median / found['documents']:.2f}",
                nanoseconds(limit / units),
                " + ".join(name for name, _ in stage["limit"]),
                f"{median / limit:.1f}",
            ]
        )
    heading = ["stage", "of one", "ns", "best", "MB/s", "µs a document"]
    heading += ["limit, ns", "made of", "times the limit"]
    return table(heading, lines, text=2)


def limit_of(stage, found):
    """Return the seconds of the operations that a stage cannot do without."""
    costs = {one["name"]: one["times"]["median"]["cpu"] / one["units"] for one in found["limits"]}
    return sum(costs[name] * count for name, count in stage["limit"])


def nanoseconds(seconds):
    """Return a time as nanoseconds with three digits."""
    return f"{1e9 * seconds:.3g}" if seconds < 1e-6 else f"{1e9 * seconds:,.0f}"


def threads_table(found):
    """Return a table of the stages by the number of threads."""
    counts = list(found["parallel"][0]["threads"])
    lines = []
    for stage in found["parallel"]:
        times = [stage["threads"][count]["least"] for count in counts]
        one, most = times[0], times[-1]
        lines.append(
            [
                PARALLEL[stage["name"]],
                *(f"{each['wall']:.3f}" for each in times),
                f"{one['wall'] / most['wall']:.2f}",
                f"{most['cpu'] / one['cpu']:.2f}",
                f"{serial_share(stage):.0%}",
            ]
        )
    heading = ["stage", *(f"s, {count} threads" for count in counts)]
    heading[1] = heading[1].removesuffix("s")
    heading += ["speed-up", "processor time", "serial share"]
    return table(heading, lines)


def serial_share(stage):
    """Return the share of a stage that does not become faster with threads (Karp and Flatt)."""
    threads = max(map(int, stage["threads"]))
    walls = {int(count): times["least"]["wall"] for count, times in stage["threads"].items()}
    share = (walls[threads] / walls[1] - 1 / threads) / (1 - 1 / threads)
    return min(max(share, 0.0), 1.0)


def cores_table(found):
    """Return a table of the time that all stages together would take with more cores."""
    seconds = [seconds_with(found, cores) for cores in CORES]
    names = ["any number" if math.isinf(cores) else str(cores) for cores in CORES]
    lines = [
        ["seconds, computed", *(f"{each:.2f}" for each in seconds)],
        ["speed-up", *(f"{seconds[0] / each:.1f}" for each in seconds)],
    ]
    return table(["cores", *names], lines)


def seconds_with(found, cores):
    """Compute the seconds from file to file on a number of cores, without the start of Python.

    One thread reads, beside the sketching of what it has read; one writes in the end.
    """
    alone = {stage["name"]: stage["times"]["least"]["cpu"] for stage in found["stages"]}
    of_pool = {}
    for stage in found["parallel"]:
        one, share = stage["threads"]["1"]["least"]["wall"], serial_share(stage)
        of_pool[stage["name"]] = one * (share + (1 - share) / cores)
    sketched = max(alone["read"], alone["read"] / cores + of_pool.pop("push"))
    return sketched + sum(of_pool.values()) + alone["write"]


def waiting(found):
    """Return the wall time of the stages on one core, as a multiple of their processor time."""
    medians = [stage["times"]["median"] for stage in found["stages"]]
    return sum(each["wall"] for each in medians) / sum(each["cpu"] for each in medians)


#: The parallel stages, and which stages of the table each consists of.
PARALLEL = {
    "push": "sketch and count: normalize to count shingles",
    "finish": "drop rare shingles",
    "index": "number keys",
    "decide": "look up, file, profiles, compare",
}

HEAD = """{documents:,} news items of {characters:.1f} million characters, with the default recipe,
stage by stage on one core, by a bench program of the core. Beside each stage is its limit: the
time of the operations without which there is no result, as this machine does them alone. Times are
processor times: the median of several runs, and the best one."""

THREADS = """The same documents by threads: the best wall times, and the processor time of most
threads as a multiple of that of one. The serial share is what Amdahl's law makes of the speed-up
(Karp and Flatt), e = (1/s - 1/p) / (1 - 1/p) for a speed-up of s with p threads. The last table
computes from it how long more cores would take, where one thread reads and one writes in the
end."""

END = """Medians and minima of {runs} runs each. The stages on one core took {waiting:.2f} times
their processor time: beyond 1, other programs held the cores, and serial shares are too large."""

CASES = (Case("budget", "What each stage costs, beside what the machine allows", measure, show),)
