"""Runs one engine once; the harness starts it in the engine's environment.

Importing the peer, reading the input where the work begins with it in memory, and storing the
answer are not timed. A peer's file has the name of its library, so it is imported by its path.
"""

import importlib.metadata
import importlib.util
import json
import os
import re
import resource
import sys
import time
from pathlib import Path

import numpy as np

PEERS = Path(__file__).resolve().parent / "peers"


def main(order):
    """Run an order. Write figures.json and answer.npz to its folder."""
    if order["one_core"]:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    peer, folder = load(order["peer"]), Path(order["folder"])
    job = getattr(peer, order["function"])(Path(order["input"]), folder, **order["options"])
    base = peak_mb()
    cpu, wall = cpu_seconds(), time.perf_counter()
    answer = job()
    figures = {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": cpu_seconds() - cpu,
        "peak_mb": max(peak_mb(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
        "base_mb": base,
        "versions": {name: importlib.metadata.version(name) for name in peer.PACKAGES},
    }
    # What needs no clock is read afterwards.
    answer = answer() if callable(answer) else answer
    figures["facts"] = answer.pop("facts", {})
    np.savez(folder / "answer.npz", **answer)
    (folder / "figures.json").write_text(json.dumps(figures), encoding="utf-8")


def load(name):
    """Import a peer's file; the files that peers share come last on the import path."""
    sys.path.append(str(PEERS))
    spec = importlib.util.spec_from_file_location(f"peer_{name}", PEERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cpu_seconds():
    """Return the processor time of this process and of the commands that have ended."""
    return sum(os.times()[:4])


def peak_mb():
    """Return the peak memory of this process in MB.

    It is VmHWM: `ru_maxrss` survives exec, so a new process would begin with that of its parent.
    """
    status = Path("/proc/self/status").read_text("ascii")
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
