"""Near-duplicates among Chinese news, file to file; ten gigabytes in two; the start of a command.

Engines differ in which of two similar documents they keep. So answers are judged by two rules: at
most one of two similar documents is kept, and every removed document is similar to a kept one.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import corpora
from harness import PRODUCT, Engine, Measurement, Work, WrongAnswerError
from tables import provenance, table, wrapped

THRESHOLD = corpora.THRESHOLD
DOCUMENTS = 55_000

#: The command as it is typed: it decides by content, not by the resemblance of the truth.
DEFAULT = "neardup dedup, the default"
#: The truth is by resemblance, so resemblance must also decide here.
POSTINGS = {"threshold": THRESHOLD, "decide": {"measure": "resemblance"}}
BANDS = {"threshold": THRESHOLD, "recipe": "minhash"}
EXACT = {"threshold": THRESHOLD, "recipe": "shingle"}


def judge(answer, engine, path):
    """Compare an answer with an exact join; it has pairs, or removed documents.

    An engine of neardup must find nearly all, and nothing else unless it decides by content.
    """
    pairs, count = corpora.similar_pieces(), int(answer["documents"])
    if count != DOCUMENTS:
        raise WrongAnswerError(f"{DOCUMENTS} documents in, {count} read")
    if "a" in answer:
        result, expected = codes((answer["a"], answer["b"]), count), codes(pairs[:, :2].T, count)
        row = {"answer": "pairs", "found": len(result), "expected": len(expected)}
        row |= {"recall": share(np.isin(expected, result))}
        row |= {"precision": share(np.isin(result, expected))}
    else:
        row = judge_removed(answer["removed"], pairs, count)
    recall = 0.99 if "bands" in engine.label or engine.label == DEFAULT else 0.999
    precision = 0.0 if engine.label == DEFAULT else 1.0
    if engine.peer == PRODUCT and (row["recall"] < recall or row["precision"] < precision):
        raise WrongAnswerError(f"recall {row['recall']:.4f}, precision {row['precision']:.4f}")
    return row


def codes(sides, count):
    """Return one number for each pair, in either order of its sides."""
    one, other = (np.asarray(side).astype(np.int64) for side in sides)
    return np.unique(np.minimum(one, other) * count + np.maximum(one, other))


def share(flags):
    """Return the share of true flags; 1 if there are none."""
    return float(np.mean(flags)) if len(flags) else 1.0


def judge_removed(removed, pairs, count):
    """Judge removals; an engine may keep either of two similar documents.

    Recall is the share of similar pairs of which not both documents are kept. Precision is the
    share of removed documents that are similar to a kept one.
    """
    gone = np.zeros(count, bool)
    gone[np.asarray(removed, np.int64)] = True
    a, b = pairs[:, :2].astype(np.int64).T
    has_keeper = np.zeros(count, bool)
    has_keeper[a[~gone[b]]] = True
    has_keeper[b[~gone[a]]] = True
    return {
        "answer": "documents removed",
        "found": int(gone.sum()),
        "expected": removed_by_rule(pairs),
        "recall": share(gone[a] | gone[b]),
        "precision": share(has_keeper[gone]),
    }


def removed_by_rule(pairs):
    """Return how many documents are similar to an earlier kept one."""
    before, dropped = {}, set()
    for a, b in pairs[:, :2].astype(np.int64).tolist():
        before.setdefault(max(a, b), []).append(min(a, b))
    for document in sorted(before):
        if any(other not in dropped for other in before[document]):
            dropped.add(document)
    return len(dropped)


PIECES = Work(
    name="pieces",
    title="Near-duplicates of 55,000 Chinese news items, 47 MB, file to file",
    prepare=lambda trial: corpora.pieces(),
    judge=judge,
    notes="Truth: all pairs with Jaccard of character 5-shingles >= .8, by an exact join. "
    "By default neardup also drops what repeats a text at a lower resemblance, and keeps what "
    "has another number; both count against it here.",
    engines=(
        Engine(DEFAULT, PRODUCT, "dedup_file"),
        Engine("neardup dedup, postings", PRODUCT, "dedup_file", POSTINGS),
        Engine("neardup pairs, postings", PRODUCT, "pairs_file", POSTINGS),
        Engine("neardup dedup, bands", PRODUCT, "dedup_file", BANDS),
        Engine("neardup pairs, bands", PRODUCT, "pairs_file", BANDS),
        Engine("neardup pairs, exact", PRODUCT, "pairs_file", EXACT),
        Engine("gaoya, threshold .8", "gaoya", "pairs_file", {"threshold": THRESHOLD}),
        Engine("gaoya, asked for .7", "gaoya", "pairs_file", {"threshold": 0.7}),
        Engine("rensa, LSH pairs", "rensa", "pairs_file", {"threshold": THRESHOLD}),
        Engine("rensa, deduplicator", "rensa", "dedup_file", {"threshold": THRESHOLD}),
        Engine("datasketch, LSH pairs", "datasketch", "pairs_file", {"threshold": THRESHOLD}),
        Engine("text-dedup", "text_dedup", "dedup_file", {"threshold": THRESHOLD}),
        Engine("simhash-pybind", "simhash_pybind", "dedup_file", {"max_distance": 8, "blocks": 10}),
    ),
)

#: By name of a benchmark: the bytes of the input, and the memory limit.
BOUNDED = {"bounded": (10e9, "2GB"), "bounded_30gb": (30e9, "4GB")}
TRIAL_BYTES = 0.2e9


def bounded(name):
    """Return the benchmark of `neardup dedup` of more text than memory."""
    size, memory = BOUNDED[name]

    def measure(options):
        bytes_wanted = TRIAL_BYTES if options.trial else size
        path = corpora.WORK / f"stories_{bytes_wanted:.0e}.jsonl"
        if not path.exists():
            corpora.check_space(corpora.WORK, 3 * bytes_wanted, "the input and temporary files")
            corpora.write(path, corpora.stories(), bytes_wanted)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            removed, report = Path(folder, "removed.jsonl"), Path(folder, "report.json")
            command = [Path(sys.executable).with_name("neardup"), "dedup", path, "--quiet"]
            command += ["-o", Path(folder, "kept.jsonl"), "--removed", removed]
            command += ["--report", report, "--memory", memory]
            seconds, processor = timed(command)
            counts = json.loads(report.read_text(encoding="utf-8"))["summary"]
            gone = {record["id"] for record in corpora.lines_of(removed)}
        posted = [record["id"] for record in corpora.lines_of(path) if "of" in record]
        return {
            "bytes": path.stat().st_size,
            "memory": memory,
            "seconds": seconds,
            "cpu_seconds": processor,
            "peak_mb": counts["peak_memory"] / 1e6,
            "stages": counts["stages"],
            "documents": counts["read"],
            "removed": len(gone),
            "candidates": counts["candidates"],
            "planted": len(posted),
            "planted_removed": sum(id in gone for id in posted),
        }

    title = f"{size / 1e9:.0f} GB of news with --memory {memory}"
    return Measurement(name, title, measure, show_bounded, large=True)


def show_bounded(result):
    """Return the section of the page."""
    lines = [
        [
            "seconds, MB/s",
            f"{result['seconds']:.0f}, {result['bytes'] / result['seconds'] / 1e6:.1f}",
        ],
        *([f"of these: {name}", f"{s:.0f}"] for name, s in result["stages"].items()),
        ["processor seconds", f"{result['cpu_seconds']:.0f}"],
        ["peak MB", f"{result['peak_mb']:,.0f}"],
        ["removed, candidate pairs", f"{result['removed']:,}, {result['candidates']:,}"],
        ["re-posts planted", f"{result['planted']:,}"],
    ]
    if "planted_removed" in result:
        lines.append(["of these removed", f"{result['planted_removed'] / result['planted']:.4f}"])
    text = f"""{result["documents"]:,} records, {result["bytes"] / 1e9:.1f} GB, grown from news
    articles, from file to file with the default recipe and `--memory {result["memory"]}`. A re-post
    has 1 to 8 % of the characters of the newest story of its article replaced."""
    heading = f"### {result['bytes'] / 1e9:.2g} GB of news with `--memory {result['memory']}`"
    return "\n\n".join([heading, wrapped(text), table(["what", ""], lines), provenance(result)])


NUMPY = "import numpy"
TEXTS = (
    "The council will open the new bridge on Sunday morning.",
    "Rain is expected along the coast until Thursday.",
    "The council will open the new bridge on Sunday morning!",
)


def commands(folder):
    """Return the arguments of Python by the name of a row."""
    records = folder / "in.jsonl"
    lines = [json.dumps({"id": str(number), "text": text}) for number, text in enumerate(TEXTS)]
    records.write_text("\n".join(lines) + "\n", "utf-8")
    neardup = ["-m", "neardup"]
    dedup = ["dedup", str(records), "-o", str(folder / "out.jsonl"), "-f", "-q"]
    return {
        "nothing": ["-c", "pass"],
        NUMPY: ["-c", NUMPY],
        "import neardup": ["-c", "import neardup"],
        "neardup --version": [*neardup, "--version"],
        "neardup --help": [*neardup, "--help"],
        "neardup dedup --help": [*neardup, "dedup", "--help"],
        "neardup dedup, 3 records": [*neardup, *dedup],
    }


def timed(arguments):
    """Return wall seconds and processor seconds of a process."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def startup(options):
    """Return the medians of the seconds of each command; commands take turns."""
    seconds, load = {}, os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        # The first round is a warm-up: it compiles what was not compiled yet.
        for repetition in range(options.repetitions + 1):
            for name, arguments in commands(Path(folder)).items():
                pair = timed([sys.executable, *arguments])
                if repetition:
                    seconds.setdefault(name, []).append(pair)
    medians = {
        name: [statistics.median(column) for column in zip(*pairs, strict=True)]
        for name, pairs in seconds.items()
    }
    return {"runs": options.repetitions, "load": load, "seconds": medians}


def show_startup(result):
    """Return the section of the page."""
    base = result["seconds"][NUMPY]
    lines = [
        [name, *(f"{part:.3f}" for part in pair), *(f"{pair[i] / base[i]:.2f}" for i in (0, 1))]
        for name, pair in result["seconds"].items()
    ]
    text = f"""Processes that do as little as they can, in turn. Medians of {result["runs"]} runs;
    load {result["load"]:.1f}. On a busy machine the multiples of processor time count."""
    heading = ["command", "wall s", "processor s", "wall / numpy", "processor / numpy"]
    parts = ["### The start of a command", wrapped(text), table(heading, lines)]
    return "\n\n".join([*parts, provenance(result)])


BENCHMARKS = (
    PIECES,
    *map(bounded, BOUNDED),
    Measurement("startup", "The start of a command", startup, show_startup),
)
