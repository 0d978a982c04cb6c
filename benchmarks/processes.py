"""Whole processes of neardup: the start of a command, and ten gigabytes in two of memory."""

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import corpora
from harness import Case
from neardup import _core
from neardup.readers import open_sources
from neardup.recipe import load_recipe
from neardup.recipe.assets import compiled
from neardup.recipe.rule import rule
from tables import measured_on, table, wrapped

_NUMPY = "import numpy"
_TEXTS = (
    "The council will open the new bridge on Sunday morning.",
    "Rain is expected along the coast until Thursday.",
    "The council will open the new bridge on Sunday morning!",
)
#: The bytes of the large input, of a trial, and the memory limit.
_LARGE, _SMALL, _MEMORY = 10e9, 0.2e9, "2GB"
#: The number of re-posts whose recall is measured, and the seed of their sample.
_SAMPLE, _SEED = 20_000, 7


def commands(folder):
    """Return the arguments of Python by the name of a row."""
    records = folder / "in.jsonl"
    lines = [json.dumps({"id": str(at), "text": text}) for at, text in enumerate(_TEXTS)]
    records.write_text("\n".join(lines) + "\n", "utf-8")
    neardup = ["-m", "neardup"]
    return {
        "nothing": ["-c", "pass"],
        _NUMPY: ["-c", _NUMPY],
        "import neardup": ["-c", "import neardup"],
        "neardup --version": [*neardup, "--version"],
        "neardup --help": [*neardup, "--help"],
        "neardup dedup --help": [*neardup, "dedup", "--help"],
        "neardup dedup, 3 records": [
            *[*neardup, "dedup", str(records), "-o", str(folder / "out.jsonl"), "-f", "-q"]
        ],
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
        wanted = commands(Path(folder))
        # The first round is a warm-up: it compiles what was not compiled yet.
        for run in range(options.repetitions + 1):
            for name, arguments in wanted.items():
                found = timed([sys.executable, *arguments])
                if run:
                    seconds.setdefault(name, []).append(found)
    medians = {
        name: [statistics.median(column) for column in zip(*its, strict=True)]
        for name, its in seconds.items()
    }
    return {"runs": options.repetitions, "load": load, "seconds": medians}


def show_startup(result):
    """Return the section of the page."""
    base = result["seconds"][_NUMPY]
    lines = [
        [name, *(f"{part:.3f}" for part in its), *(f"{its[i] / base[i]:.2f}" for i in (0, 1))]
        for name, its in result["seconds"].items()
    ]
    text = f"""Processes that do as little as they can, in turn. Medians of {result["runs"]} runs;
    load {result["load"]:.1f}. On a busy machine the multiples of processor time count."""
    heading = ["command", "wall s", "processor s", "wall / numpy", "processor / numpy"]
    return "\n\n".join(
        ["## The start of a command", wrapped(text), table(heading, lines), of_machine(result)]
    )


def of_machine(result):
    """Return the line on where a result was measured."""
    return f"*{measured_on(result)}*"


def bounded(options):
    """Return the figures of `neardup dedup` of more text than memory."""
    if not corpora.NEWS.exists():
        raise corpora.MissingError(corpora.NEEDS)
    size = _SMALL if options.trial else _LARGE
    path = corpora.WORK / f"reposts_{size:.0e}.jsonl"
    if not path.exists():
        corpora.check_space(corpora.WORK, 3 * size, "the input and its temporary files")
        corpora.write(path, corpora.reposts(), size)
    with tempfile.TemporaryDirectory(dir=path.parent) as name:
        folder = Path(name)
        removed, report = folder / "removed.jsonl", folder / "report.json"
        command = [Path(sys.executable).parent / "neardup", "dedup", path]
        command += ["-o", folder / "kept.jsonl", "--removed", removed, "--report", report]
        seconds, processor = timed([*map(str, command), "--memory", _MEMORY, "--quiet"])
        summary = json.loads(report.read_text(encoding="utf-8"))["summary"]
        gone = {record["id"] for record in corpora.lines_of(removed)}
    size = path.stat().st_size
    return {
        "bytes": size,
        "memory": _MEMORY,
        "seconds": round(seconds, 1),
        "mb_per_second": round(size / seconds / 1e6, 1),
        "cpu_seconds": round(processor, 1),
        "peak_mb": round(summary["peak_memory"] / 1e6),
        "stages": {name: round(value, 1) for name, value in summary["stages"].items()},
        "documents": summary["read"],
        "removed": len(gone),
        "candidates": summary["candidates"],
        **recall(path, gone),
    }


def recall(path, gone):
    """Return how many sampled re-posts are duplicates, and how many of these were removed."""
    planted = {r["id"]: r["of"] for r in corpora.lines_of(path) if "of" in r}
    sample = random.Random(_SEED).sample(sorted(planted), min(_SAMPLE, len(planted)))
    wanted = {*sample, *(planted[copy] for copy in sample)}
    texts = {r["id"]: r["text"] for r in corpora.lines_of(path) if r["id"] in wanted}
    similar = duplicates(path, sample, planted, texts)
    similar = [copy for copy in similar if planted[copy] not in gone]
    return {
        "planted": len(planted),
        "sampled": len(sample),
        "duplicates": len(similar),
        "duplicates_removed": sum(copy in gone for copy in similar),
    }


def duplicates(path, sample, planted, texts):
    """Return the sampled re-posts that the measure calls duplicates.

    It has the document frequencies of the whole collection.
    """
    recipe = load_recipe("general")
    core, chosen = compiled(recipe), rule(recipe)
    corpus = _core.Corpus(core, keeps_texts=False, shingle=chosen.counted_shingle, workers=0)
    for batch in open_sources([path]).batches():
        corpus.push(batch.texts, titles=None, units=None)
    common = _core.Background.of_shingles(len(corpus), corpus.counted_shingles())
    compared = chosen.compiled(len(corpus))
    similar = []
    for begin in range(0, len(sample), 1000):
        some = sample[begin : begin + 1000]
        both = pa.array([texts[n] for copy in some for n in (copy, planted[copy])], "large_string")
        at = np.arange(0, len(both), 2, dtype=np.uint32)
        own = _core.Corpus(core, keeps_texts=False, shingle=None, workers=0)
        own.push(both, titles=None, units=None)
        features = own.features().astype(np.uint32)
        judged, _ = _core.judge_pairs(
            compared, core, common, both, own.sketches(), features, at, at + 1
        )
        similar += [copy for copy, found in zip(some, judged, strict=True) if not np.isnan(found)]
    return similar


def show_bounded(result):
    """Return the section of the page."""
    share = result["duplicates_removed"] / result["duplicates"]
    lines = [
        ["seconds, MB/s", f"{result['seconds']:.0f}, {result['mb_per_second']}"],
        *([f"of these: {name}", f"{s:.0f}"] for name, s in result["stages"].items()),
        ["processor seconds", f"{result['cpu_seconds']:.0f}"],
        ["peak MB", f"{result['peak_mb']:,}"],
        ["removed, candidate pairs", f"{result['removed']:,}, {result['candidates']:,}"],
        ["recall of re-posts", f"{share:.3f} ({result['duplicates_removed']:,})"],
    ]
    text = f"""{result["documents"]:,} records, {result["bytes"] / 1e9:.1f} GB, grown from news
    articles, from file to file with the default recipe and `--memory {result["memory"]}`. Recall
    is measured on {result["sampled"]:,} planted re-posts. It is the share that was removed of those
    that are duplicates of a kept story by the measure, with the document frequencies of the
    whole collection."""
    return "\n\n".join(
        [
            "## Ten gigabytes in two of memory",
            wrapped(text),
            table(["what", ""], lines),
            of_machine(result),
        ]
    )


CASES = (
    Case("startup", "The start of a command", startup, show_startup),
    Case("bounded", "10 GB of news in 2 GB of memory", bounded, show_bounded),
)
