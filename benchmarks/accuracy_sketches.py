"""The cost of verification."""

import os
import statistics
import time

import machine
import neardup
from accuracy_collections import WORKERS, collection
from tables import table

_RUNS = 5


def cost():
    """Return the section on the time of verification."""
    c = collection("chinanews")
    recipes = {
        "content, the default": c.recipe(),
        "resemblance": c.recipe(decide={"measure": "resemblance"}),
        "the sketches alone": c.recipe(decide={"measure": "sketch"}),
    }
    seconds = {name: [] for name in recipes}
    before = os.getloadavg()[0]
    # Runs alternate, so that a noisy minute affects all alike; the first round is a warm-up.
    for run in range(_RUNS + 1):
        for name, recipe in recipes.items():
            begin = time.perf_counter()
            neardup.dedup(c.table, recipe=recipe, workers=WORKERS)
            if run:
                seconds[name].append(time.perf_counter() - begin)
    least = statistics.median(seconds["the sketches alone"])
    lines = [
        [
            name,
            f"{statistics.median(its):.2f} ({min(its):.2f}-{max(its):.2f})",
            f"{statistics.median(its) / least:.2f}",
        ]
        for name, its in seconds.items()
    ]
    facts = machine.facts()
    return f"""\
## 8. Verified against unverified

Seconds of `dedup` on the {len(c.documents):,} Chinese news items in memory, the whole call, one
recipe with three measures; median of {_RUNS} runs (range).

{table(["decided by", "seconds", "times the sketches"], lines)}

*{facts["date"]}, {facts["processor"]}, {facts["cores"]} cores, {WORKERS} threads; load before
the runs {before:.1f}.*
"""
