"""data-juicer: its document MinHash deduplicator, run by its own program.

While it runs, it installs missing packages: torch with all of CUDA, only to empty the memory of a
graphics card. Here it may not install them, and that call does nothing.
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
    """Raise an ImportError that names the package."""
    raise ImportError(f"data-juicer wants to install {package}")


LazyLoader._install_package = staticmethod(refused)
model_utils.torch = SimpleNamespace(cuda=SimpleNamespace(empty_cache=lambda: None))


def dedup_file(path, folder, *, threshold):
    """Run `dj-process` as its documentation advises for Chinese.

    It uses shingles of characters and 256 permutations.
    """
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
    # JSON is valid YAML.
    settings = folder / "recipe.yaml"
    settings.write_text(json.dumps(recipe), encoding="utf-8")

    def job():
        sys.argv = ["dj-process", "--config", str(settings)]
        process_data.main()
        return inputs.removed_from(path, lambda: inputs.identifiers(output))

    return job
