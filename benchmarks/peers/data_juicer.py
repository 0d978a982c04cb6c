"""data-juicer: its document MinHash deduplicator, run by its own program.

It installs what it lacks while it runs: torch and all of CUDA, in order to empty
the memory of a graphics card. Here it may not, and that one call does nothing.
"""

import json
import os
import sys
from types import SimpleNamespace

from data_juicer.tools import process_data
from data_juicer.utils import model_utils
from data_juicer.utils.lazy_loader import LazyLoader

import inputs

PACKAGES = ["py-data-juicer", "datasets"]


def refused(package, arguments=None):
    """Say what would have been installed."""
    raise ImportError(f"data-juicer wants to install {package}")


LazyLoader._install_package = staticmethod(refused)
model_utils.torch = SimpleNamespace(cuda=SimpleNamespace(empty_cache=lambda: None))


def dedup_file(path, folder, *, threshold):
    """Run `dj-process` as it advises for Chinese: shingles of characters, 256 permutations."""
    output = folder / "kept.jsonl"
    recipe = {
        "project_name": "benchmark",
        "dataset_path": str(path),
        "export_path": str(output),
        "np": int(os.environ["OMP_NUM_THREADS"]),
        "text_keys": "text",
        "use_cache": False,
        "ds_cache_dir": str(folder / "cache"),
        "process": [
            {
                "document_minhash_deduplicator": {
                    "tokenization": "character",
                    "window_size": 5,
                    "lowercase": False,
                    "jaccard_threshold": threshold,
                }
            }
        ],
    }
    # JSON is YAML.
    settings = folder / "recipe.yaml"
    settings.write_text(json.dumps(recipe), encoding="utf-8")

    def job():
        sys.argv = ["dj-process", "--config", str(settings)]
        process_data.main()
        return inputs.removed_from(path, lambda: inputs.identifiers(output))

    return job
