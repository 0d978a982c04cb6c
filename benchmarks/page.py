"""The page docs/benchmarks.md, made of all stored results."""

from harness import HERE, PRODUCT, stored
from tables import wrapped, write_page

PAGE = HERE.parent / "docs" / "benchmarks.md"


def write(tasks):
    """Write the page; `tasks` are the modules of the tasks by name."""
    parts, results = [], []
    for task, heading in HEADINGS.items():
        pairs = [(one, stored(one.name)) for one in tasks[task].BENCHMARKS]
        measured = [(one, result) for one, result in pairs if result]
        if not measured:
            continue
        results += measured
        parts.append(f"## {heading}")
        if task == "shapes":
            parts.append(tasks[task].show({one.name: result for one, result in measured}))
        else:
            parts += [one.show(result) for one, result in measured]
    text = HOW.format(measured_on([result for _, result in results]))
    parts = [HEAD, wrapped(text), *parts, *better(results)]
    write_page(PAGE, "\n\n".join(parts) + "\n", KEPT)


def measured_on(results):
    """Return the machines of the results, and the versions of the peers."""
    machines, versions = set(), set()
    for result in results:
        facts = result["machine"]
        size = f"{facts['cores']} cores, {facts['memory_gb']} GB"
        machines.add(f"{size}, {facts['system']}, Python {facts['python']}")
        for row in result.get("rows", ()):
            versions |= {f"{name} {version}" for name, version in row.get("versions", {}).items()}
    return f"{'; '.join(sorted(machines))}. Versions: {', '.join(sorted(versions))}"


def better(results):
    """Yield a section on where a peer is faster or leaner than every way of neardup."""
    lines = []
    for one, result in results:
        # Of a shape, the larger size.
        rows = result.get("rows") or [*result.get("results", {"": []}).values()][-1]
        rows = [row for row in rows if "seconds" in row]
        ours = [row for row in rows if row["engine"].startswith(PRODUCT)]
        by_win = {}
        for row in rows:
            if row not in ours:
                by_win.setdefault(wins(row, ours), []).append(row["engine"])
        told = [f"{'; '.join(names)}: {won}" for won, names in by_win.items() if won]
        if told:
            lines.append(f"- {one.title}. {'. '.join(told)}.")
    if lines:
        yield "## Where a peer is better"
        yield wrapped("\n".join(lines))


def wins(row, ours):
    """Return in words the figures in which a peer is better than neardup, or nothing."""
    parts = []
    mine, best = slowness(row), min(map(slowness, ours))
    if mine < best:
        parts.append(f"time, {best / mine:.1f} times as fast")
    if row["peak_mb"] < min(one["peak_mb"] for one in ours):
        parts.append("less memory")
    return "; ".join(parts)


def slowness(row):
    """Return the seconds that a work takes, for the same amount of text."""
    return row["seconds"] / row["quality"].get("megabytes", 1)


#: The sections of the page, by task. Accuracy has a page of its own.
HEADINGS = {
    "news": "News",
    "shapes": "Shapes, as they grow",
    "fingerprints": "Fingerprints",
    "index": "The persistent index",
    "papers": "Passages and papers",
}

#: The headings whose tables stay on the page.
KEPT = {
    "Near-duplicates of 55,000 Chinese news items, 47 MB, file to file",
    "Shapes, as they grow",
    "The persistent index",
}

HEAD = """# Benchmarks: neardup and its peers

Made by `make bench` from `benchmarks/results/`, which has every run; do not edit. `python
benchmarks/run.py --list` names the benchmarks, `python benchmarks/run.py NAME ...` runs some."""

HOW = """## How it is measured

- Each engine runs in its own process, in turn with the others; no second run if the first one
  takes more than ten seconds. The tables have the median and the range. Importing a library,
  loading a dictionary and reading the input are not timed, except where a title says *file to
  file*: neardup then runs as a command, so starting Python is in its time. *Processor s* is the
  time of all threads and processes, *before the work* the memory at that point.
- *One core* pins the process to one; else all may use two threads. Peak memory is that of all
  processes of an engine, what they share counted once.
- A wrong answer has no time: an engine of neardup, or one that claims to be exact, must give the
  answer of an exact method.
- **Recall** of removals: the share of similar pairs that were not both kept. **Precision**: the
  share of removed documents that resemble a kept one.
- Inputs are made with fixed seeds, from corpora that are not in the repository.
- *Load* is the average of the minute in which a measurement ended, its own two threads included.
- All was run on {0}.
- **Limits**: 300 s and 8 GB a run.
- *Copies found* of fingerprints: every tenth text is followed by a copy with 2-10 % of its
  characters edited. The cut is the largest distance within which at most one in 10^4 pairs of
  unrelated texts lies; the figure is the share of copies within the cut.
- **Peers** run at their own default number of permutations: datasketch and rensa keep what no kept
  one resembles by signature; gaoya takes what its index gives; text-dedup runs its own program,
  with characters for words; simhash-pybind searches 64-bit fingerprints within 8 bits, the distance
  with the best F1."""
