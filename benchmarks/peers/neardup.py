"""neardup itself: its public functions and its command line."""

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np

import inputs
from neardup import fingerprint_many, load_recipe
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
    return lambda: inputs.sketched(fingerprint_many(texts, recipe=recipe, workers=1), texts, size)


def near_pairs(path, folder, *, max_distance):
    """Find all pairs within a distance."""
    values = np.load(path).reshape(-1, 1)

    def job():
        pairs = all_near_pairs(values, max_distance=max_distance, bits=64, workers=2)
        return {"a": pairs.a, "b": pairs.b}

    return job


def dedup_file(path, folder, **options):
    """Run `neardup dedup`; the answer has the counts of its report."""
    kept, report = folder / "kept.jsonl", folder / "report.json"
    options = chosen(folder, **options)

    def job():
        run("dedup", path, "-o", kept, "--report", report, *options)
        return answer

    def answer():
        counts = json.loads(report.read_text("utf-8"))["summary"]
        facts = {key: counts[key] for key in ("stages", "candidates", "visited")}
        return inputs.removed_from(path, kept) | {"facts": facts}

    return job


def pairs_file(path, folder, **options):
    """Run `neardup pairs`."""
    output = folder / "pairs.parquet"
    options = chosen(folder, **options)

    def job():
        run("pairs", path, "-o", output, *options)
        return answer

    def answer():
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(output)
        sides = [map(inputs.number_of, table[name].to_pylist()) for name in table.column_names[:2]]
        documents = sum(len(raw) for raw, _ in inputs.batches(path))
        return inputs.paired(list(zip(*sides, strict=True)), documents)

    return job


def index_file(path, folder):
    """Run `neardup index add` on a new index, and export what it kept."""
    index, kept = folder / "index.db", folder / "kept.jsonl"

    def job():
        run("index", "add", index, path)
        return answer

    def answer():
        run("index", "export", index, "-o", kept)
        facts = {"bytes": sum(file.stat().st_size for file in folder.glob("index.db*"))}
        return inputs.removed_from(path, kept) | {"facts": facts}

    return job


def check_file(path, folder):
    """Check a paper against the index beside it, and make the page of the report."""
    import neardup

    def job():
        with neardup.papers.open_library(path.with_name("library.db")) as library:
            report = neardup.check(path, library)
            report.to_html()
        return {"rate": report.rates.total, "passages": len(report.passages)}

    return job


def chosen(folder, *, threshold=None, recipe=None, settings=None, memory=None):
    """Return the options of a command. `settings` are changes of the recipe."""
    if settings is not None:
        path = folder / "recipe.toml"
        path.write_text(load_recipe(recipe or "general").replace(**settings).to_toml())
        recipe = path
    named = {"--recipe": recipe, "--threshold": threshold, "--memory": memory}
    return [part for name, value in named.items() if value is not None for part in (name, value)]


def run(*arguments):
    """Run a command; raise a RuntimeError if its exit code is not 0."""
    program = Path(sysconfig.get_path("scripts")) / "neardup"
    found = str(program) if program.exists() else shutil.which("neardup")
    start = [found] if found else [sys.executable, "-m", "neardup"]
    done = subprocess.run(
        [*start, *map(str, arguments), "--quiet"], stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"neardup {arguments[0]}, exit code {done.returncode}: {done.stderr}")
