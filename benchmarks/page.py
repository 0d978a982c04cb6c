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
    won = {}
    for one, result in results:
        # Of a shape, the larger size.
        rows = result.get("rows") or [*result.get("results", {"": []}).values()][-1]
        rows = [row for row in rows if "seconds" in row]
        ours = [row for row in rows if row["engine"].startswith(PRODUCT)]
        for row in rows:
            if row not in ours and (win := wins(row, ours)):
                won.setdefault((win, row["engine"]), []).append(one.title)
    if won:
        yield "## Where a peer is better"
        lines = (
            f"- {engine}: {win} ({'; '.join(titles)})" for (win, engine), titles in won.items()
        )
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


#: The sections of the page, by task. Accuracy has a separate page.
HEADINGS = {
    "news": "News",
    "shapes": "Shapes, as they grow",
    "fingerprints": "Fingerprints",
    "index": "The persistent index",
    "papers": "Passages and papers",
}

#: The headings whose tables stay on the page, with these columns.
KEPT = {
    "Near-duplicates of 55,000 Chinese news items, 47 MB, file to file": (
        *("engine", "seconds, median (range)", "recall", "precision", "peak MB"),
    ),
    "Shapes, as they grow": (),
    "The persistent index": (
        *("index", "documents", "together: documents/s", "one `add`, ms: median"),
        *("a query, ms: median", "memory, MB", "copies found"),
    ),
}

HEAD = """# Benchmarks: neardup and its peers

Made by `make bench` from `benchmarks/results/`; do not edit. `python benchmarks/run.py --list`
names the benchmarks."""

HOW = """## How it is measured

- Each engine runs in its own process, up to three times; the tables have the median. The clock
  starts after imports, dictionaries and input are loaded, unless a title says *file to file*. All
  may use two threads, unless a title says *one core*, and 300 s and 8 GB.
- **Recall** of removals is the share of similar pairs that lost a text. **Precision**
  is the share of removed documents that resemble a kept one.
- The machines have {0}.
- simhash-pybind searches 64-bit fingerprints within 8 bits, the distance with the best F1."""
