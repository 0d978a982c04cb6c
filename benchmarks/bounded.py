"""`dedup` of 10 GB in 2 GB of memory: speed, peak memory and recall.

    python benchmarks/generations.py 10e9 LARGE.jsonl
    python benchmarks/bounded.py LARGE.jsonl --memory 2GB

The program runs `neardup dedup` from file to file in its own process. Recall is the share of
planted re-posts that are removed, in a sample. A re-post is only counted if the measure calls it
a duplicate of the story that it repeats, with the document frequencies of the whole collection,
and if that story was kept.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import machine
import results
from neardup import _core
from neardup.readers import open_sources
from neardup.recipe import load_recipe
from neardup.recipe.assets import compiled
from neardup.recipe.rule import rule

SAMPLE = 20_000
SEED = 7


def main():
    """Run, judge, print, and store with --store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--store", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.path.parent) as folder:
        found = run(given.path, given.memory, Path(folder))
    print(json.dumps(found, indent=2))
    if given.store:
        results.store("bounded", found)


def run(path, memory, folder):
    """Return the figures of one run."""
    removed, report = folder / "removed.jsonl", folder / "report.json"
    command = [Path(sys.executable).parent / "neardup", "dedup", path, "-o", folder / "kept.jsonl"]
    command += ["--removed", removed, "--report", report, "--memory", memory, "--quiet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run(list(map(str, command)), check=True)
    seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = json.loads(report.read_text(encoding="utf-8"))["summary"]
    size = path.stat().st_size
    with removed.open(encoding="utf-8") as file:
        gone = {json.loads(line)["id"] for line in file}
    return {
        "machine": machine.facts(),
        "bytes": size,
        "memory": memory,
        "seconds": round(seconds, 1),
        "mb_per_second": round(size / seconds / 1e6, 1),
        "cpu_seconds": round(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1
        ),
        "peak_mb": round(summary["peak_memory"] / 1e6),
        "stages": {name: round(value, 1) for name, value in summary["stages"].items()},
        "documents": summary["read"],
        "removed": len(gone),
        "candidates": summary["candidates"],
        **recall(path, gone),
    }


def recall(path, gone):
    """Return how many of the sampled re-posts are duplicates.

    Also return how many of these were removed.
    """
    planted = {}
    with path.open("rb") as file:
        for line in file:
            if b'", "of": "' in line[-40:]:
                record = json.loads(line)
                planted[record["id"]] = record["of"]
    sample = random.Random(SEED).sample(sorted(planted), min(SAMPLE, len(planted)))
    wanted = {*sample, *(planted[copy] for copy in sample)}
    texts = {}
    with path.open("rb") as file:
        for line in file:
            name = line[8 : line.index(b'"', 8)].decode()
            if name in wanted:
                texts[name] = json.loads(line)["text"]
    similar = duplicates(path, sample, planted, texts)
    similar = [copy for copy in similar if planted[copy] not in gone]
    return {
        "planted": len(planted),
        "sampled": len(sample),
        "duplicates": len(similar),
        "duplicates_removed": sum(copy in gone for copy in similar),
    }


def duplicates(path, sample, planted, texts):
    """Return the sampled re-posts that the measure calls duplicates."""
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
        both = [texts[name] for copy in some for name in (copy, planted[copy])]
        both = pa.array(both, pa.large_string())
        at = np.arange(0, len(both), 2, dtype=np.uint32)
        own = _core.Corpus(core, keeps_texts=False, shingle=None, workers=0)
        own.push(both, titles=None, units=None)
        features = own.features().astype(np.uint32)
        judged, _ = _core.judge_pairs(
            compared, core, common, both, own.sketches(), features, at, at + 1
        )
        similar += [copy for copy, found in zip(some, judged, strict=True) if found == found]
    return similar


if __name__ == "__main__":
    main()
