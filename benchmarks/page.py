"""Makes the page docs/benchmarks.md from the files in results/.

Usage: python benchmarks/page.py
"""

import bench_growth
import budget
import cost_model
import growth_results
import page_words
import plots
import tables
from growth_results import f1
from results import RESULTS, stored

PAGE = RESULTS.parents[1] / "docs" / "benchmarks.md"

#: Works of run.py in the order of the page: name, and title with the unit.
WORKS = (
    ("words", "words and parts of speech to SimHash, MB/s"),
    ("characters", "characters to SimHash, MB/s"),
    ("near_pairs_1m_3", "all pairs within 3 bits of 10^6 fingerprints, seconds"),
    ("near_pairs_1m_6", "all pairs within 6 bits of 10^6 fingerprints, seconds"),
    ("near_pairs_10m_3", "all pairs within 3 bits of 10^7 fingerprints, seconds"),
    ("lookup_1m", "one look-up within 3 bits of 10^6, microseconds"),
    ("lookup_10m", "one look-up within 3 bits of 10^7, microseconds"),
    ("news", "near-duplicates of 55,000 news items, seconds"),
)


def write():
    """Draw the plots and write the page."""
    results = growth_results.stored()
    rows = growth_results.rows(results)
    if results:
        plots.draw_growth(rows, bench_growth.LIMITS.seconds, RESULTS)
    others = [(what, found) for name, what in WORKS if "rows" in (found := stored(name) or {})]
    parts = [
        HEAD,
        page_words.finding(rows),
        PLOTS,
        size_table(rows, results),
        quality_table(rows, results),
        "## Where a peer is better",
        "\n".join(page_words.better(rows) + page_words.better_elsewhere(others)),
        "## Other works",
        works_table(others),
        HOW.format(
            seconds=bench_growth.LIMITS.seconds, gigabytes=bench_growth.LIMITS.megabytes / 1000
        ),
        machines(results),
        budget.section(),
        "## 10^9 documents on a cluster",
        "A reckoning, not a measurement, by `benchmarks/cost_model.py`: hours of the whole job, "
        "and of its parts.",
        "\n".join(cost_model.table()),
    ]
    PAGE.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def size_table(rows, results):
    """Return a table of seconds and memory by engine and size.

    An engine without figures has the reason instead.
    """
    sizes = sorted(results)
    lines = [
        [row.label, *(short(row.cells[size]) if size in row.cells else "–" for size in sizes)]
        for row in rows
    ]
    heading = ["seconds · peak GB", *(f"{size:,}" for size in sizes)]
    sizes_mb = ", ".join(
        f"{size:,} are {megabytes(result):,.0f} MB" for size, result in sorted(results.items())
    )
    return f"{tables.table(heading, lines)}\n\nDocuments: {sizes_mb}."


def megabytes(result):
    """Return the size of a work's input in MB."""
    return next(row["quality"]["megabytes"] for row in result["rows"] if "seconds" in row)


def short(cell):
    """Return a cell of the table of sizes."""
    if "seconds" not in cell:
        return cell.get("stopped", "failed")
    return f"{tables.digits(cell['seconds'])} · {cell['peak_mb'] / 1000:.2f}"


def quality_table(rows, results):
    """Return a table of recall, precision and speed.

    It has the three largest sizes, and the engines that finished them.
    """
    lines = []
    for size in sorted(results)[-3:]:
        done = [row for row in rows if size in row.done]
        for row in sorted(done, key=lambda row: -round(f1(row.done[size]), 3)):
            cell, found = row.done[size], row.done[size]["quality"]
            lines.append(
                [
                    f"{size:,}",
                    row.label,
                    *(f"{found[key]:.4f}" for key in ("recall", "precision", "f1")),
                    tables.digits(found["megabytes"] / cell["seconds"]),
                    tables.digits(cell["seconds"]),
                    f"{cell['peak_mb']:,.0f}",
                ]
            )
    heading = ["documents", "engine", "recall", "precision", "F1", "MB/s", "seconds", "peak MB"]
    return tables.table(heading, lines, text=2)


def works_table(others):
    """Return a table of all other works: neardup and the best peer."""
    lines = []
    for what, result in others:
        ours, theirs = page_words.best_of(result, own=True), page_words.best_of(result, own=False)
        cells = [page_words.figure(row) if row else "–" for row in (ours, theirs)]
        lines.append([what, *cells, theirs["engine"] if theirs else ""])
    record = "All engines, with memory: [the full record](../benchmarks/README.md#results)."
    return f"{tables.table(['work', 'neardup', 'best peer', ''], lines)}\n\n{record}"


def machines(results):
    """Return a line on when and where the growing collection was measured."""
    if not results:
        return ""
    return "*" + tables.provenance(results[max(results)]) + "*"


HEAD = """# Benchmarks: neardup and its peers

Made by `make bench` from `benchmarks/results/`; do not edit. All works, engines and single runs are
in [the full record](../benchmarks/README.md). No speed stands without recall and precision against
an exact truth, and the peak memory."""

PLOTS = """![Seconds against documents](../benchmarks/results/growth_time.svg)

![F1 against seconds](../benchmarks/results/growth_f1.svg)"""

HOW = """## How it was measured

- **The work**: read a file of JSON lines, write the lines to keep, at a resemblance of character
  5-shingles of .8. Two cores. Each engine has an environment and a process of its own; reading and
  writing are in the time, importing a library is not. neardup runs as a command, so starting Python
  is in its time, which shows at 10,000 documents.
- **The texts** are synthetic growth from real text: clauses of 5 to 16 characters of 210 MB of
  Chinese news, articles, laws and bulletins, drawn at random and put together to 80 characters or a
  little more. What is inside a clause recurs as the collection grows; what stands where two meet is
  new. Every tenth document is a copy of an earlier one: as it is, with one to four characters
  replaced, with a clause replaced, added, or cut off. Six in ten of them reach .8, the others come
  near it, and those are what unverified engines take for duplicates. Such texts have no templates
  and no long documents; for real news see *Other works*.
- **The truth** is the exact resemblance of all pairs that can reach .8: within a family of copies
  all, between families all that have two clauses in a row in common. At 10,000 documents each run
  checks it against an exact join of all pairs.
- **Recall**: of similar pairs, those of which not both were kept. **Precision**: of removed
  documents, those that resemble one that was kept. So it does not matter which of two stays, but a
  chain A~B~C that drops C for a B that is not there counts as lost.
- **Limits**: {seconds:g} s and {gigabytes:g} GB a run. What the times at two smaller sizes, drawn
  on as a line, show to be too slow by a quarter was not run.
- **Peers** do what their users would write, at their own default number of permutations and at the
  threshold .8: datasketch and rensa keep what no kept one resembles by signature; gaoya takes what
  its index gives; text-dedup, datatrove and data-juicer run their own programs, with characters for
  words, since words of Chinese are clauses to them. datatrove has 16 buckets of 12, the best of
  five plans. Spark MLlib joins by 3 hash tables, exact distances on 2^20 hashed features.
  simhash-pybind and FAISS search the same 64-bit fingerprints within 8 bits, the distance with the
  best F1; FAISS makes none itself.
- data-juicer and text-dedup are installed without what their method does not use (data-juicer else
  fetches torch and CUDA while it runs)."""


if __name__ == "__main__":
    write()
