"""Ways to find candidates, compared: ``python benchmarks/bench_schemes.py [collection ...]``.

neardup alone, but every way it has: bands of MinHash signatures, postings of
samples, the exact prefix join, and fingerprints within a distance. All verify
their candidates by the same measure at the same threshold, so what differs is
the search. Each run is a whole call, file to file, in a process of its own,
with a limit of time and of memory; a run beyond is a row that says so.

Results go to benchmarks/results/: one file for each collection, all rows as a
table (schemes.md) and a plot of the growing ones. The short tables of
benchmarks/README.md are made of them.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import corpus
import growth
import harness
import machine
import tables

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"

#: Seconds and MB that one run may take.
SECONDS, MEGABYTES = 300, 12_000
#: A first run that takes longer is the only one.
LONG = 10
WORKERS = 2
THRESHOLDS = (0.55, 0.8)
TASKS = ("pairs", "dedup")
#: Recipes by the way their candidates are found. The exact join comes first: it is the truth.
SCHEMES = {"prefix": "shingle", "bands": "minhash", "postings": "general", "near": "characters"}
DEFAULT = "default"

BEGIN, END = "<!-- schemes: made by bench_schemes.py -->", "<!-- end of schemes -->"


@dataclass(frozen=True)
class Case:
    """One call: how candidates are found, the task, and the threshold."""

    scheme: str
    task: str
    threshold: float


CASES = (
    *(Case(s, task, t) for t in THRESHOLDS for task in TASKS for s in SCHEMES),
    *(Case(DEFAULT, task, 0.4) for task in TASKS),
)

COLLECTIONS = {
    "news_10k": ("News pieces, 10,000", lambda: growth.news(10_000)),
    "news_30k": ("News pieces, 30,000", lambda: growth.news(30_000)),
    "news_100k": ("News pieces, 100,000", lambda: growth.news(100_000)),
    "news_300k": ("News pieces, 300,000", lambda: growth.news(300_000)),
    "news_1m": ("News pieces, 1,000,000", lambda: growth.news(1_000_000)),
    "long": ("Long documents", growth.long_documents),
    "short": ("Very short", lambda: growth.very_short(30_000)),
    "posted": ("One text posted 2,000 times", lambda: growth.posted(30_000)),
    "form": ("One form", lambda: growth.one_form(20_000)),
}

#: Where the exact join is compared with a slow one that shares no code with it.
CHECKED = ("news_10k", "news_30k", "short")

#: Where only one task is done: both would take an hour.
ONLY = {"news_1m": ("dedup",)}


def main(arguments=None):
    """Run what is asked for, or do one order of such a run."""
    options = parse(arguments)
    if options.once:
        once(json.loads(options.once))
        return
    if not corpus.NEWS.exists():
        sys.exit(f"bench_schemes.py: {growth.NEEDS}")
    if not options.tables:
        beyond = set()
        for name in options.collections or COLLECTIONS:
            result = measured(name, options.repetitions, options.seconds, beyond)
            text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
            (RESULTS / f"schemes_{name}.json").write_text(text, encoding="utf-8")
    write_tables()


def measured(name, repetitions, seconds, beyond):
    """Return all rows of a collection; a case in `beyond` was too much at a smaller size."""
    title, make = COLLECTIONS[name]
    path = growth.made(f"schemes_{name}", make)
    truths = growth.Truths(path, checked=name in CHECKED)
    grows = name.startswith("news_")
    runs = repetitions if truths.documents <= 100_000 else 1
    tasks = ONLY.get(name, TASKS)
    rows = {case: asdict(case) | {"runs": []} for case in CASES if case.task in tasks}
    for repetition in range(runs):
        # Interleaved, so that a noisy minute hurts all schemes and not one.
        for case, row in rows.items():
            if "failure" in row or (repetition and row["runs"][0]["seconds"] > LONG):
                continue
            if grows and case in beyond:
                row["failure"] = "not run: a smaller collection exceeded the limit"
                continue
            print(f"{name}: {case}, run {repetition + 1}", file=sys.stderr, flush=True)
            try:
                run, answer = limited(path, case, seconds)
            except RuntimeError as error:
                row["failure"] = str(error)
                beyond |= {case} if grows else set()
                continue
            row["runs"].append(run)
            if not repetition:
                row |= judged(truths, case, answer) | run.pop("facts")
    return {
        "name": name,
        "title": title,
        "documents": truths.documents,
        "megabytes": path.stat().st_size / 1e6,
        "rows": [summary(row) for row in rows.values()],
        "limits": {"seconds": seconds, "megabytes": MEGABYTES},
        "threads": WORKERS,
        "machine": machine.facts(),
    }


def judged(truths, case, answer):
    """Return recall and precision of an answer; the exact join's own is the truth of the others."""
    if case.scheme == "prefix" and case.task == "pairs":
        truths.learn(case.threshold, answer)
    # The default measures content, of which there is no exact join: what it
    # finds is compared with all that was planted, however much it was edited.
    by_content = case.scheme == DEFAULT
    row = {"copies": truths.copies(0.0 if by_content else case.threshold, answer)}
    return row if by_content else row | truths.against(case.threshold, answer)


def summary(row):
    """Add the medians to a row that has runs."""
    if "failure" in row or not row["runs"]:
        return {key: value for key, value in row.items() if key != "runs"}
    return row | {
        key: statistics.median(run[key] for run in row["runs"])
        for key in ("seconds", "cpu_seconds", "peak_mb")
    }


def limited(path, case, seconds):
    """Do a case once in a new process; return its measures and its answer.

    Memory is looked at while the process runs: a limit of the address space
    would count what is reserved and never used.
    """
    with tempfile.TemporaryDirectory(dir=corpus.WORK) as folder:
        order = asdict(case) | {"path": str(path), "folder": folder}
        with (Path(folder) / "stderr").open("w+", encoding="utf-8") as errors:
            process = subprocess.Popen(
                [sys.executable, __file__, "--once", json.dumps(order)],
                env=harness.environment(WORKERS) | inherited(),
                stderr=errors,
            )
            try:
                watch(process, seconds)
            finally:
                process.kill()
                process.wait()
            if process.returncode != 0:
                errors.seek(0)
                last = (errors.read().strip() or "no message").splitlines()[-1]
                raise RuntimeError(f"exit code {process.returncode}: {last[:200]}")
        run = json.loads((Path(folder) / "measured.json").read_text("utf-8"))
        with np.load(Path(folder) / "answer.npz") as answer:
            return run, dict(answer)


def inherited():
    """Return where the run finds the package, if it is not the installed one."""
    paths = [path for path in sys.path if (Path(path) / "neardup" / "_core.pyi").exists()]
    return {"PYTHONPATH": paths[0]} if paths else {}


def watch(process, seconds):
    """Wait for a process; a RuntimeError says which limit it exceeded."""
    begun = time.monotonic()
    while process.poll() is None:
        time.sleep(0.05)
        if time.monotonic() - begun > seconds:
            raise RuntimeError(f"over {seconds} s")
        if resident_mb(process.pid) > MEGABYTES:
            raise RuntimeError(
                f"over {MEGABYTES / 1000:g} GB after {time.monotonic() - begun:.0f} s"
            )


def resident_mb(pid):
    """Return the memory of a running process in MB; 0 where the system does not say."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii")
    except OSError:
        return 0.0
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(found[0]) / 1024 if found else 0.0


def once(order):
    """Do one call and leave measured.json and answer.npz in the order's folder."""
    import neardup
    import worker

    chosen = neardup.load_recipe(SCHEMES.get(order["scheme"], "general"))
    if order["scheme"] != DEFAULT:
        # The same length of shingle and the same exact verdict for every scheme.
        chosen = chosen.replace(decide={"measure": "resemblance", "shingle": 5})
    folder = Path(order["folder"])
    settings = {"threshold": order["threshold"], "recipe": chosen, "workers": WORKERS}
    idle, begun = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    if order["task"] == "pairs":
        result = neardup.pairs_files([order["path"]], folder / "pairs.parquet", **settings)
    else:
        result = neardup.dedup_files([order["path"]], folder / "kept.jsonl", **settings)
    seconds = time.perf_counter() - begun
    plan, counts = result.plan, result.summary
    facts = {
        "candidates": counts.candidates,
        "pairs": counts.pairs if order["task"] == "pairs" else None,
        "kept": counts.kept if order["task"] == "dedup" else None,
        "plan": plan.scheme,
        "max_distance": plan.max_distance,
        "bands": [plan.bands, plan.rows],
    }
    used = resource.getrusage(resource.RUSAGE_SELF)
    run = {
        "seconds": seconds,
        # Beside the clock's: a busy machine hardly changes these.
        "cpu_seconds": used.ru_utime + used.ru_stime - idle.ru_utime - idle.ru_stime,
        "load": os.getloadavg()[0],
        "peak_mb": worker.own_peak(),
        "stages": counts.stages,
    }
    (folder / "measured.json").write_text(json.dumps(run | {"facts": facts}), encoding="utf-8")
    np.savez(folder / "answer.npz", **numbers_of(result, order["task"]))


def numbers_of(result, task):
    """Return an answer by the numbers of lines: pairs, or what was removed."""
    if task == "dedup":
        return {"removed": np.flatnonzero(~result.keep)}
    columns = (result.table.column(name).cast("int64") for name in ("id_a", "id_b"))
    return dict(zip("ab", (column.to_numpy() for column in columns), strict=True))


def write_tables():
    """Make the tables of the README, the long table and the plot from all stored results."""
    paths = [RESULTS / f"schemes_{name}.json" for name in COLLECTIONS]
    results = [json.loads(path.read_text("utf-8")) for path in paths if path.exists()]
    readme = HERE / "README.md"
    head, rest = readme.read_text("utf-8").split(BEGIN, 1)
    body = "\n\n".join([short_table(results), default_table(results), provenance(results)])
    readme.write_text(f"{head}{BEGIN}\n\n{body}\n\n{END}{rest.split(END, 1)[1]}", "utf-8")
    title = "# Ways to find candidates: every run"
    (RESULTS / "schemes.md").write_text(f"{title}\n\n{long_table(results)}\n", "utf-8")
    plot([result for result in results if result["name"].startswith("news_")])


def markdown(heads, rows):
    """Return a table; the first column is text, the others are figures."""
    lines = [" | ".join(heads), "---" + "|---:" * (len(heads) - 1), *map(" | ".join, rows)]
    return "\n".join(f"|{line}|" if "---" in line else f"| {line} |" for line in lines)


def short_table(results):
    """Return a line for each task and threshold, and a column for each scheme."""
    rows = []
    for result in results:
        cells = {(r["task"], r["threshold"], r["scheme"]): r for r in result["rows"]}
        for task in ONLY.get(result["name"], TASKS):
            for threshold in THRESHOLDS:
                row = [result["title"], f"{result['megabytes']:.0f}", task, f"{threshold:g}"]
                rows.append(row + [brief(cells[task, threshold, scheme]) for scheme in SCHEMES])
    heads = ("collection", "MB", "task", "threshold", *SCHEMES)
    return markdown(heads, rows)


def brief(row):
    """Return seconds by the clock and the CPU, recall and memory of a row, or what stopped it."""
    if "failure" in row:
        return row["failure"].split(":")[0]
    found = f"{row['recall']:.4f}" if "recall" in row else f"copies {row['copies']:.4f}"
    clock, cpu = tables.digits(row["seconds"]), tables.digits(row["cpu_seconds"])
    return f"{clock} s ({cpu}), {found}, {row['peak_mb']:,.0f} MB"


def default_table(results):
    """Return the rows of the default call."""
    rows = [
        [result["title"], *figures(row)[2:]]
        for result in results
        for row in result["rows"]
        if row["scheme"] == DEFAULT
    ]
    heads = ("default call", *HEADS[2:])
    dull = [heads.index(name) for name in ("threshold", "recall", "precision")]
    keep = [at for at in range(len(heads)) if at not in dull]
    return markdown([heads[at] for at in keep], [[row[at] for at in keep] for row in rows])


HEADS = (
    "scheme",
    "plan",
    "task",
    "threshold",
    "seconds",
    "CPU s",
    "peak MB",
    "candidates",
    "pairs or kept",
    "recall",
    "precision",
    "copies found",
)


def figures(row):
    """Return the cells of one row of a collection's full table."""
    begin = [row["scheme"], row.get("plan", ""), row["task"], f"{row['threshold']:g}"]
    if "failure" in row:
        return [*begin, row["failure"], *[""] * (len(HEADS) - len(begin) - 1)]
    answer = row["pairs"] if row["task"] == "pairs" else row["kept"]
    shares = ("recall", "precision", "copies")
    return [
        *begin,
        tables.digits(row["seconds"]),
        tables.digits(row["cpu_seconds"]),
        f"{row['peak_mb']:,.0f}",
        f"{row['candidates']:,}",
        f"{answer:,}",
        *(f"{row[key]:.4f}" if key in row else "–" for key in shares),
    ]


def long_table(results):
    """Return all rows of all collections."""
    parts = []
    for result in results:
        head = f"## {result['title']}: {result['documents']:,} documents"
        head += f", {result['megabytes']:.0f} MB"
        parts += [head, markdown(HEADS, map(figures, result["rows"])), provenance([result])]
    return "\n\n".join(parts)


def provenance(results):
    """Return the line that says where results were measured."""
    facts = results[-1]["machine"]
    commits = ", ".join(sorted({result["machine"]["commit"] for result in results}))
    return (
        f"*{facts['date']}, {facts['processor']}, {facts['cores']} cores, {facts['memory_gb']} GB, "
        f"{facts['system']}, Python {facts['python']}, commit {commits}; threads: {WORKERS}*"
    )


def plot(results):
    """Draw seconds against documents for each task and threshold."""
    import matplotlib as mpl

    mpl.use("Agg")
    # The same bytes from the same figures.
    mpl.rcParams["svg.hashsalt"] = "schemes"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 2, figsize=(9, 7), sharex=True, sharey=True)
    panels_of = dict(zip([(k, t) for k in TASKS for t in THRESHOLDS], panels.flat, strict=True))
    for (task, threshold), panel in panels_of.items():
        for scheme, mark in zip(SCHEMES, "osD^", strict=True):
            points = [
                (result["documents"], row["seconds"], row["cpu_seconds"])
                for result in results
                for row in result["rows"]
                if (row["scheme"], row["task"], row["threshold"]) == (scheme, task, threshold)
                and "seconds" in row
            ]
            documents, clock, cpu = np.reshape(points, (-1, 3)).T
            (line,) = panel.plot(documents, clock, marker=mark, label=scheme)
            panel.plot(documents, cpu, ":", linewidth=1, color=line.get_color())
        panel.set(title=f"{task}, threshold {threshold:g}", xscale="log", yscale="log")
        panel.grid(alpha=0.3, which="both", linewidth=0.4)
    panels[0, 0].legend()
    for panel in panels[1]:
        panel.set_xlabel("documents")
    for panel in panels[:, 0]:
        panel.set_ylabel("seconds; dotted: CPU seconds")
    figure.tight_layout()
    figure.savefig(RESULTS / "schemes.svg", metadata={"Date": None})
    figure.savefig(RESULTS / "schemes.png", dpi=110)
    pyplot.close(figure)


def parse(arguments):
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", choices=[[], *COLLECTIONS], metavar="collection")
    parser.add_argument("--repetitions", type=int, default=3, help="runs up to 100,000 documents")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="limit of one run")
    parser.add_argument("--tables", action="store_true", help="only make tables and plot again")
    parser.add_argument("--once", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
