"""neardup itself: its public functions and its command line."""

import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np

import inputs
from neardup import FingerprintIndex, fingerprint_many, load_recipe
from neardup import near_pairs as all_near_pairs

PACKAGES = ["neardup", "numpy"]


def fingerprints(path, folder, *, recipe, mb, idf=None):
    """Fingerprint texts on one core. `idf` replaces the recipe's own."""
    recipe = load_recipe(recipe)
    if idf is not None:
        recipe = recipe.replace(weigh={"idf": idf})
    texts, size = inputs.beginning(path, mb)
    # The word dictionary is loaded at first use; that time is not counted.
    fingerprint_many(texts[:2], recipe=recipe, workers=1)

    def job():
        words = np.asarray(fingerprint_many(texts, recipe=recipe, workers=1), dtype=np.uint64)
        return inputs.sketched(words.reshape(len(words), -1), texts, size)

    return job


def near_pairs(path, folder, *, max_distance, workers):
    """Find all pairs within a distance."""
    values = np.load(path).reshape(-1, 1)

    def job():
        pairs = all_near_pairs(values, max_distance=max_distance, bits=64, workers=workers)
        return {"a": pairs.a, "b": pairs.b}

    return job


def lookup(path, folder):
    """Look up queries in one call, then one by one."""
    stored = np.load(path)
    queries = inputs.queries_beside(path).reshape(-1, 1)
    begun = time.perf_counter()
    index = FingerprintIndex(stored.reshape(-1, 1), bits=64, max_distance=3)
    built = time.perf_counter() - begun

    return inputs.looking_up(index.near, lambda hits: (hits.a, hits.b), queries, built)


def dedup_file(path, folder, *, threshold=None, recipe="general", decide=None, memory=None):
    """Run `neardup dedup`; `memory` is its memory limit."""
    output, removed = folder / "kept.jsonl", folder / "removed.jsonl"
    options = rule(folder, threshold, recipe, decide)
    options += [] if memory is None else ["--memory", memory]

    def job():
        arguments = (str(path), "-o", str(output), "--removed", str(removed))
        run("dedup", *arguments, *options)
        return inputs.Answer(lambda: removals([removed], [output]))

    return job


def across(path, folder, *, threshold, recipe, decide=None, saved=False):
    """Run `neardup dedup A --against B`; `saved`: B was sketched before."""
    a, b = inputs.halves(path, folder)
    output, removed = folder / "kept.jsonl", folder / "removed.jsonl"
    options = rule(folder, threshold, recipe, decide)
    if saved:
        sketches = folder / "b.sketches"
        run("sketch", str(b), "-o", str(sketches), *options[:2])
        b = sketches

    def job():
        arguments = (str(a), "-o", str(output), "--removed", str(removed))
        against = ("--against", str(b), "--against-only")
        run("dedup", *arguments, *against, *options)
        return inputs.Answer(lambda: removals([removed], [output]))

    return job


def spark_file(path, folder, *, threshold, recipe, memory):
    """Run `neardup.spark.dedup_files` on this machine."""
    import spark_session
    from neardup.spark import dedup_files

    spark = spark_session.started(folder, memory)
    output, removed = folder / "kept", folder / "removed"

    def job():
        dedup_files(
            [path], output, spark=spark, removed=removed, threshold=threshold, recipe=recipe
        )
        return inputs.Answer(
            lambda: removals(*(sorted(folder.glob("part-*")) for folder in (removed, output)))
        )

    return job


def pairs_file(path, folder, *, threshold=None, recipe="general", decide=None):
    """Run `neardup pairs`."""
    output = folder / "pairs.parquet"
    options = rule(folder, threshold, recipe, decide)

    def job():
        run("pairs", str(path), "-o", str(output), *options)
        return inputs.Answer(lambda: read_pairs(path, output))

    return job


def rule(folder, threshold, recipe, decide):
    """Return the options for recipe and threshold. `decide` changes settings of the recipe."""
    if decide is not None:
        path = folder / "recipe.toml"
        path.write_text(load_recipe(recipe).replace(decide=decide).to_toml())
        recipe = str(path)
    limit = [] if threshold is None else ["--threshold", str(threshold)]
    return ["--recipe", recipe, *limit]


def run(name, *arguments):
    """Run a command; raise a RuntimeError if its exit code is not 0."""
    program = Path(sysconfig.get_path("scripts")) / "neardup"
    found = str(program) if program.exists() else shutil.which("neardup")
    start = [found] if found else [sys.executable, "-m", "neardup"]
    done = subprocess.run(
        [*start, name, *arguments, "--force", "--quiet"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"neardup {name}, exit code {done.returncode}: {done.stderr}")


def removals(removed, kept):
    """Return the removed documents by number, and the number of kept ones.

    Both arguments are lists of files.
    """
    numbers = [inputs.number_of(identifier) for identifier in inputs.identifiers(*removed)]
    left = inputs.count(*kept)
    return {"removed": np.array(numbers, np.int64), "kept": left, "documents": left + len(numbers)}


def read_pairs(path, output):
    """Return the pairs by number."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(output)
    left, right = (table.column(name).to_pylist() for name in table.column_names[:2])
    pairs = [*zip(map(inputs.number_of, left), map(inputs.number_of, right), strict=True)]
    return inputs.paired(pairs, inputs.count(path))
