"""The page docs/benchmarks.md, made of all stored results."""

from dataclasses import dataclass

import news
import plots
from results import RESULTS, stored
from tables import digits, machines, provenance, table, table_of, wrapped

PAGE = RESULTS.parents[1] / "docs" / "benchmarks.md"
PRODUCT = "neardup"
SPARK = ("neardup on Spark, bands", "Spark MLlib MinHashLSH")
SIZES = {**news.GROWTH, **news.LARGEST}


@dataclass(frozen=True)
class Row:
    """An engine on the growing collection: by size its figures, or why there are none."""

    label: str
    cells: dict

    @property
    def ours(self):
        """Return whether this engine is neardup."""
        return self.label.startswith(PRODUCT)

    @property
    def done(self):
        """Return the cells that have figures, by size."""
        return {size: cell for size, cell in self.cells.items() if "seconds" in cell}


def write(cases):
    """Draw the plots and write the page."""
    found = {documents: stored(name) for documents, name in SIZES.items()}
    growth = {size: result for size, result in found.items() if result and "rows" in result}
    rows = [
        Row(
            engine.label,
            {
                size: row
                for size, result in growth.items()
                for row in result["rows"]
                if row["engine"] == engine.label
            },
        )
        for engine in news.ENGINES
    ]
    others = {name: stored(name) for name in cases if name not in SIZES.values()}
    all_results = [
        result for result in (*found.values(), *others.values()) if result and "machine" in result
    ]
    limits = news.LIMITS.seconds, news.LIMITS.megabytes / 1000
    parts = [HEAD, wrapped(HOW.format(*limits, machines(all_results)))]
    works = [result for result in others.values() if result and "rows" in result]
    if growth:
        plots.draw_growth(rows, news.LIMITS.seconds, RESULTS)
        last = growth[max(growth)]
        parts += ["## Short documents, as they grow", finding(rows), PLOTS, size_table(rows)]
        parts += [quality_table(rows), f"*{provenance(last)}*", "### Where a peer is better"]
        parts += ["\n".join([*better(rows), *better_elsewhere(works)])]
    parts += ["## Other works", *shown(works)]
    sections = ("startup", "bounded", "index", "server", "passages", "subjects", "thesis")
    for name in (*sections, "contamination", "budget"):
        if others[name]:
            parts.append(cases[name].show(others[name]))
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def shown(works):
    """Return the tables; works with the same notes follow each other, and the first has them."""
    groups = {}
    for result in works:
        groups.setdefault(result["notes"] or result["name"], []).append(result)
    return [table_of(one, one is group[0]) for group in groups.values() for one in group]


def finding(rows):
    """Return the sentence on F1 and time of neardup and its peers."""
    sizes = sorted({size for row in rows for size in row.done})
    least = min(f1(cell) for row in rows if row.ours for cell in row.done.values())
    most = max((f1(cell), row.label) for row in rows if not row.ours for cell in row.done.values())
    winners = {}
    for size in sizes:
        done = [row for row in rows if size in row.done]
        first = min(done, key=lambda row: row.done[size]["seconds"])
        winners.setdefault(PRODUCT if first.ours else first.label, []).append(f"{size:,}")
    told = "; ".join(f"{label} at {', '.join(at)}" for label, at in winners.items())
    return wrapped(
        f"neardup's F1 is {int(least * 1e4) / 1e4:.4f} or more at every size, the best of a peer "
        f"{most[0]:.4f} ({most[1]}). The fastest, by number of documents: {told}."
    )


def size_table(rows):
    """Return a table of seconds and memory by engine and size, or of why there are none."""
    sizes = sorted({size for row in rows for size in row.cells})
    lines = [
        [row.label, *(short(row.cells[size]) if size in row.cells else "–" for size in sizes)]
        for row in rows
    ]
    return table(["seconds · peak GB", *(f"{size:,}" for size in sizes)], lines)


def short(cell):
    """Return a cell of the table of sizes."""
    if "seconds" not in cell:
        return cell.get("stopped", "failed")
    return f"{digits(cell['seconds'])} · {cell['peak_mb'] / 1000:.2f}"


def quality_table(rows):
    """Return a table of what the engines found at the two sizes where most finished."""
    lines = []
    for size in (100_000, 1_000_000):
        done = [row for row in rows if size in row.done]
        for row in sorted(done, key=lambda row: -round(f1(row.done[size]), 3)):
            found = row.done[size]["quality"]
            shares = (f"{found[key]:.4f}" for key in ("recall", "precision", "f1"))
            rate = digits(found["megabytes"] / row.done[size]["seconds"])
            lines.append([f"{size:,}", row.label, *shares, rate])
    return table(["documents", "engine", "recall", "precision", "F1", "MB/s"], lines, text=2)


def f1(cell):
    """Return the harmonic mean of recall and precision."""
    return cell["quality"]["f1"]


def better(rows):
    """Return lines on where a peer is better than every way of neardup, as collections grow."""
    lines = []
    for size in sorted({size for row in rows for size in row.done}):
        ours = [row.done[size] for row in rows if row.ours and size in row.done]
        theirs = [
            (f"{row.label} (F1 {f1(row.done[size]):.3f})", row.done[size])
            for row in rows
            if not row.ours and size in row.done and ours
        ]
        if told := winners(theirs, ours, ("recall", "precision")):
            lines.append(f"- {size:,} documents. {told}.")
    ours, theirs = (next(row for row in rows if row.label == label) for label in SPARK)
    for size in sorted(set(ours.done) & set(theirs.done)):
        both = [row.done[size]["seconds"] for row in (theirs, ours)]
        if both[0] < both[1]:
            told = f"{digits(both[0])} against {digits(both[1])} s"
            lines.append(f"- {size:,} documents, on Spark with two cores, {theirs.label}: {told}.")
    return lines


def better_elsewhere(results):
    """Return lines on where peers are faster or leaner than every way of neardup elsewhere."""
    lines = []
    for result in results:
        done = [row for row in result["rows"] if "seconds" in row]
        ours = [row for row in done if row["engine"].startswith(PRODUCT)]
        theirs = [(row["engine"], row) for row in done if row not in ours]
        if told := winners(theirs, ours):
            lines.append(f"- {result['title']}. {told}.")
    return lines


def winners(theirs, ours, shares=()):
    """Return in words which of the peers are better than neardup, and in what."""
    by_win = {}
    for label, cell in theirs:
        by_win.setdefault(wins(cell, ours, shares), []).append(label)
    return ". ".join(f"{'; '.join(labels)}: {won}" for won, labels in by_win.items() if won)


def wins(cell, ours, shares=()):
    """Return in words the figures in which a peer is better than neardup, or nothing."""
    found = []
    mine, best = slowness(cell), min(map(slowness, ours))
    if mine < best:
        found.append(f"time, {best / mine:.1f} times as fast")
    memory = min(row["peak_mb"] for row in ours)
    if cell["peak_mb"] < memory:
        found.append("less memory")
    for key in shares:
        value, most = cell["quality"][key], max(row["quality"][key] for row in ours)
        if value > most:
            found.append(f"{key}, {value:.4f} against {most:.4f}")
    return "; ".join(found)


def slowness(row):
    """Return the time that a work takes, for the same amount of work."""
    quality = row["quality"]
    if "microseconds" in quality:
        return quality["microseconds"]
    return row["seconds"] / quality.get("megabytes", 1)


HEAD = """# Benchmarks: neardup and its peers

Made by `make bench` from `benchmarks/results/`, which has every run; do not edit. `python
benchmarks/run.py --list` names the cases, and `python benchmarks/run.py NAME ...` measures some."""

PLOTS = """![Seconds against documents](../benchmarks/results/growth_time.svg)

![F1 against seconds](../benchmarks/results/growth_f1.svg)"""

HOW = """## How it is measured

- Each engine runs in a process of its own, on one machine, in turn with the others. The tables have
  the median and the range. Importing a library, loading a dictionary and reading the input are not
  timed, except where a title says *file to file*. neardup then runs as a command, so starting
  Python is in its time. *Before the work* is the memory at that point.
- *One core* pins the process to one. Otherwise all may use two threads. Peak memory is that of
  the process, or of all processes of an engine that works in several, what they share counted once.
- Inputs are made with fixed seeds. Those of news need corpora that are no part of the repository.
- All was run on {2}.
- **Short documents** are clauses of 5 to 16 characters of 210 MB of Chinese news, laws and
  bulletins, drawn at random and put together to 80 characters or a little more. Every tenth
  document is a copy of an earlier one: as it is, with one to four characters replaced, with a
  clause replaced, added, or cut off. Six in ten of them reach the threshold, a resemblance of .8 by
  character 5-shingles.
- **The truth** is an exact join, or for the larger sizes the exact resemblance of all pairs that
  can reach .8, which is checked against the join at 10,000 documents. **Recall** of removals: the
  share of similar pairs of which not both were kept. **Precision**: the share of removed documents
  that resemble a kept one. An engine of neardup, or one that claims to be exact,
  whose answer is wrong has no time.
- **Limits**: {0:g} s and {1:g} GB a run. What the times at two smaller sizes, drawn on as a line,
  show to be too slow by a quarter was not run.
- *Copies found* compares fingerprints of any width: every tenth text is followed by a copy with
  2-10 % of its characters edited. The cut is the largest distance within which at most one in 10^4
  pairs of unrelated texts lies; the figure is the share of copies within the cut.
- **Peers** do what their users would write, at their own default number of permutations: datasketch
  and rensa keep what no kept one resembles by signature; gaoya takes what its index gives;
  text-dedup, datatrove and data-juicer run their own programs, with characters for words, since
  words of Chinese are clauses to them. datatrove has 16 buckets of 12, the best of five plans.
  Spark MLlib joins by 3 hash tables, exact distances on 2^20 hashed features. simhash-pybind and
  FAISS search the same 64-bit fingerprints within 8 bits, the distance with the best F1.
  cppjieba is measured through its Python binding, which spends most of its time handing words to
  Python."""
