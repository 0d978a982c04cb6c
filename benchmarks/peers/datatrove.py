"""datatrove: its four MinHash steps, run by its local executor."""

import gzip
import itertools
import json
import os

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.text import TextNormConfig
from datatrove.utils.word_tokenizers import WordTokenizer

import inputs

PACKAGES = ["datatrove", "numpy"]


class Characters(WordTokenizer):
    """Makes every character a word, so shingles are those of the truth."""

    def word_tokenize(self, text):
        """Return the characters of a text."""
        return list(text)

    def sent_tokenize(self, text):
        """Return the text as one sentence; it is not used."""
        return [text]

    def span_tokenize(self, text):
        """Return one span; it is not used."""
        return [(0, len(text))]


def dedup_file(path, folder, *, buckets, hashes):
    """Cut the input into files for the tasks; run the four steps in order."""
    workers = int(os.environ["OMP_NUM_THREADS"])
    as_it_is = TextNormConfig(
        lowercase=False,
        norm_whitespace=False,
        remove_punctuation=False,
        norm_unicode_diacritics=False,
        norm_numbers=False,
    )
    config = MinhashConfig(
        n_grams=5,
        num_buckets=buckets,
        hashes_per_bucket=hashes,
        norm_config=as_it_is,
        hash_config=HashConfig(precision=64),
    )
    work, output = folder / "work", folder / "kept"
    step = itertools.count(1)

    def run(tasks, *steps):
        # fork: a child that is not forked could not import the tokenizer above.
        LocalPipelineExecutor(
            list(steps),
            tasks=tasks,
            workers=workers,
            start_method="fork",
            # One folder for each step: datatrove skips tasks that its logs show as done.
            logging_dir=f"{folder}/logs/{next(step)}",
        ).run()

    def job():
        parts = cut(path, folder / "parts", workers)
        reader = JsonlReader(str(parts))
        run(workers, reader, MinhashDedupSignature(f"{work}/signatures", config, Characters()))
        run(
            buckets,
            MinhashDedupBuckets(f"{work}/signatures", f"{work}/buckets", config=config),
        )
        run(1, MinhashDedupCluster(f"{work}/buckets", f"{work}/remove", config=config))
        run(workers, reader, MinhashDedupFilter(f"{work}/remove"), JsonlWriter(str(output)))
        return inputs.removed_from(path, lambda: identifiers(output))

    return job


def cut(path, folder, parts):
    """Cut a file into one file for each worker. A task of datatrove reads whole files."""
    folder.mkdir()
    size = path.stat().st_size // parts + 1
    with path.open("rb") as file:
        for part in range(parts):
            with (folder / f"{part}.jsonl").open("wb") as output:
                output.writelines(file.readlines(size))
    return folder


def identifiers(folder):
    """Yield the ids of the documents kept."""
    for path in sorted(folder.iterdir()):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)["id"]
