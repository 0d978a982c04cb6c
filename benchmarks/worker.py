"""Runs one engine once; the harness starts it in the engine's environment.

Three times are kept apart: loading, which is importing the peer and reading the input; the work
itself; and storing the answer, which is not counted.
"""

import importlib.metadata
import importlib.util
import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

import results

PEERS = Path(__file__).resolve().parent / "peers"


def main(order):
    """Run an order. Write measured.json and answer.npz to its folder."""
    if order["one_core"]:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    started = time.perf_counter()
    peer = load(order["peer"])
    folder = Path(order["folder"])
    job = getattr(peer, order["function"])(Path(order["input"]), folder, **order["options"])
    loaded = time.perf_counter()
    base = results.memory()["peak"]
    begun = time.perf_counter()
    answer = job()
    ended = time.perf_counter()
    measured = {
        "seconds": ended - begun,
        "load_seconds": loaded - started,
        "peak_mb": max(results.memory()["peak"], peak_of_children()),
        "base_mb": base,
        "versions": {name: importlib.metadata.version(name) for name in peer.PACKAGES},
        "facts": answer.pop("facts", {}),
    }
    np.savez(folder / "answer.npz", **(answer.read() if hasattr(answer, "read") else answer))
    (folder / "measured.json").write_text(json.dumps(measured), encoding="utf-8")


def load(name):
    """Import a peer's file by its path: most have the name of their library.

    The folder is added at the end of the import path, for the files that peers share. So a
    library is found before the file with its name.
    """
    sys.path.append(str(PEERS))
    path = PEERS / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"peer_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def peak_of_children():
    """Return the peak memory in MB of the largest command that has ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
