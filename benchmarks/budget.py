"""What each stage of the recipe `general` costs, beside what the machine allows.

Usage: python benchmarks/budget.py

Runs the bench program `crates/neardup-core/benches/budget` on 55,000 news items, checks that it
decides as `neardup.dedup_files` does, and stores what it measured in results/budget.json. The
section of the page is made from that file, by `section`.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import corpus
import growing
import machine
import results
from tables import measured_on, table, wrapped

ROOT = Path(__file__).resolve().parents[1]
BENCH = ("cargo", "bench", "--locked", "-p", "neardup-core", "--bench", "budget", "--")
#: Numbers of cores for which the time is computed; the last is any number.
CORES = (1, 2, 4, 16, 64, math.inf)
#: How many gaps the text names.
NAMED = 3

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

#: Why a stage takes longer than the operations that it cannot do without.
REASONS = {
    "read": "A copy does not look at the bytes. The reader checks that all of them are UTF-8, "
    "looks for the end of each string and for escapes, checks the values of fields that nobody "
    "asked for, and copies texts once.",
    "normalize": "A copy does not look at the bytes. Each character is looked up by its class, "
    "since any may be one that NFKC, lower case or the white space rules replace.",
    "hash shingles": "The limit hashes strings of one length, which the compiler knows. Shingles "
    "have the length that their characters have, so both ends of each are found from the first "
    "bytes of characters, and the hash chooses its way by the length.",
    "distinct and sample": "The limit reads a place that it knows. To tell a new shingle from a "
    "repeated one, a slot is read, compared and written, and the next one waits for it; a table is "
    "cleared for each text; and the whole text is looked at for a letter or digit.",
    "identity": "The limit hashes all texts in one piece. A text has a few hundred characters, so "
    "the start and the end of the hash count.",
    "choose shingles to count": "The shingles of a text that are counted go to a list of its own, "
    "which is allocated, and whether a hash is chosen cannot be predicted.",
    "count shingles": "The limit reads a table of 4 MB. The table of counts has millions of "
    "entries, so a hash is first written to the list of one of 64 parts, and then looked up in a "
    "part that a core's own cache does not hold, where nearly each look-up waits for memory. "
    "Shingles that are new make the parts grow, and their entries are moved.",
    "drop rare shingles": "The limit reads memory in order. An entry that is dropped is marked, "
    "one by one, and the rest is moved to a smaller table.",
    "number keys": "Each key is also dealt to a bucket, and its number is written back to where "
    "the key came from, which is a random place.",
    "look up": "A key leads to a list, and each entry of the list to the count of a document.",
    "file": "Each document is looked up a second time, alone, among those filed since its chunk "
    "began, and its keys are ordered by rarity before it is filed.",
    "profiles": "The shingles of the text were hashed before, for the sketch, but not kept, since "
    "they would take more memory than the texts; that is in the limit too. Beyond it, the document "
    "frequencies of sampled shingles are looked up, letters and digits are listed, and texts that "
    "will be aligned are cut into words or characters. All of it is kept for the next comparison, "
    "in memory that is allocated for each text.",
    "compare": "The limit reads both profiles once. A comparison merges two sorted lists, whose "
    "branches cannot be predicted, and weighs what they share. Pairs that may still be duplicates "
    "are aligned, which takes longer the more they differ.",
    "write": "The limit copies memory twice. The file is written through the system, which also "
    "finds its pages and counts what is dirty.",
}


def main():
    """Measure, check and store."""
    path = growing.pieces()
    if path is None:
        sys.exit(f"budget.py: {corpus.NEEDS}")
    found = measured(path)
    summary = command(path)
    for name in ("kept", "candidates"):
        if found[name] != getattr(summary, name):
            sys.exit(
                f"budget.py: {name}: the bench program has {found[name]}, the command "
                f"{getattr(summary, name)}; its recipe must be that of the command"
            )
    results.store("budget", found | {"machine": machine.facts()})


def measured(path):
    """Return what the bench program measured."""
    done = subprocess.run([*BENCH, str(path)], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def command(path):
    """Return the summary of a run on one core, from file to file."""
    import neardup

    with tempfile.TemporaryDirectory(dir=corpus.WORK) as folder:
        result = neardup.dedup_files([path], Path(folder) / "kept.jsonl", workers=1)
    return result.summary


def section():
    """Return the section of the page; an empty string if nothing is stored."""
    found = results.stored("budget")
    if found is None:
        return ""
    head = HEAD.format(documents=found["documents"], characters=found["characters"] / 1e6)
    parts = [
        "## What each stage costs",
        wrapped(head),
        operations_table(found),
        stages_table(found),
        wrapped(gaps(found)),
        "### Threads",
        wrapped(THREADS),
        threads_table(found),
        cores_table(found),
        wrapped(END.format(runs=found["repetitions"], waiting=waiting(found))),
        f"*{measured_on(found)}*",
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


def gaps(found):
    """Return a list of the stages that lose the most time above their limits, with reasons."""

    def gap(stage):
        return stage["times"]["median"]["cpu"] - limit_of(stage, found)

    largest = sorted(found["stages"], key=gap, reverse=True)[:NAMED]
    whole = sum(stage["times"]["median"]["cpu"] for stage in found["stages"])
    lines = [f"The {NAMED} largest gaps between a stage and its limit, by time:\n"]
    for stage in largest:
        each = 1e6 * gap(stage) / found["documents"]
        lines.append(
            f"- **{stage['name']}**: {each:.1f} µs a document above its limit, "
            f"{gap(stage) / whole:.0%} of all stages. {REASONS[stage['name']]}"
        )
    return "\n".join(lines)


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

HEAD = """Made by `benchmarks/budget.py`: {documents:,} news items of {characters:.1f} million
characters, with the default recipe `general`, stage by stage on one core. Beside each stage is its
limit: the time of the operations without which there is no result, as this machine does them alone.
A limit is no forecast. It says where time may still be found, and where there is none left.

Times are processor times, which other programs on the machine hardly change: the median of several
runs, and the best one."""

THREADS = """The same documents with 1 and more threads: the best wall times, and the processor
time of most threads as a multiple of that of one. The serial share is what Amdahl's law makes of
the speed-up (Karp and Flatt): e = (1/s - 1/p) / (1 - 1/p) for a speed-up of s with p threads. It
holds whatever does not become faster, also memory that all cores share. The last table computes
from it how long more cores would take from file to file, where one thread reads beside the others
and one writes in the end."""

END = """Medians and minima of {runs} runs each. The stages on one core took {waiting:.2f} times
their processor time: beyond 1, other programs held the cores, speed-ups are too small, and serial
shares are too large."""


if __name__ == "__main__":
    main()
