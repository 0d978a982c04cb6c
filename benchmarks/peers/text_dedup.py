"""text-dedup: its program for MinHash LSH with union-find.

It reads a Hugging Face data set. It splits words at characters that are not letters, so a word of
a Chinese text is a clause. Therefore its splitter, and nothing else, is replaced: here each
character is a word.
"""

import os

from datasets import load_from_disk

import inputs
from text_dedup import minhash

PACKAGES = ["text-dedup", "datasets"]


class Characters:
    """Replaces the expression that splits a text into words."""

    def split(self, text):
        """Return the characters of a text."""
        return list(text)


def dedup_file(path, folder, *, threshold):
    """Run `text_dedup.minhash` with its defaults.

    These are 250 permutations and shingles of five.
    """
    minhash.NON_ALPHA = Characters()
    output = folder / "kept"
    arguments = {
        "path": "json",
        "data_files": path,
        "split": "train",
        "cache_dir": folder / "cache",
        "output": output,
        "column": "text",
        "threshold": threshold,
        "num_proc": os.environ["OMP_NUM_THREADS"],
        "use_auth_token": "",
    }

    def job():
        options = [f"--{name}={value}" for name, value in arguments.items()]
        minhash.main(options, standalone_mode=False)
        # Users need a file of JSON lines.
        kept = load_from_disk(str(output))
        kept.to_json(str(folder / "kept.jsonl"), force_ascii=False)
        return lambda: inputs.removed_from(path, folder / "kept.jsonl")

    return job
