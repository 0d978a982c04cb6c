"""The cost of verification, and the error of estimates by MinHash."""

import hashlib
import os
import statistics
import time

import numpy as np

import machine
import neardup
from accuracy_collections import WORKERS, collection
from neardup import _core
from neardup.recipe.assets import compiled
from tables import table

_RUNS = 5
#: The number of pairs in the estimate, and the maximum in each tenth of resemblance.
_PAIRS, _IN_A_TENTH = 1000, 240
_LEAST = 0.2


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


def estimates():
    """Return the section on MinHash."""
    c = collection("chinanews")
    pairs = _spread(c.pairs("general", _LEAST, decide={"measure": "resemblance"}))
    ids = sorted({id for pair in pairs for id in pair})
    place = {id: at for at, id in enumerate(ids)}
    recipe = neardup.load_recipe("minhash")
    # The recipe `shingle` keeps all features, so its sketches give the exact resemblance.
    true, estimated = (_similarities(c, ids, place, pairs, name) for name in ("shingle", "minhash"))
    error = estimated - true
    theory = np.sqrt(true * (1 - true) / recipe.sketch.num_perm)
    lines = []
    for low in np.arange(_LEAST, 1, 0.2):
        some = (true >= low) & (true < low + 0.2 if low < 0.8 else true <= 1)
        lines.append(
            [f"{low:.1f}-{min(low + 0.2, 1):.1f}", int(some.sum()), *_of(error, theory, some)]
        )
    everything = np.ones(len(pairs), np.bool_)
    lines.append(["all", len(pairs), *_of(error, theory, everything)])
    heading = ["resemblance", "pairs", "mean error", "root mean square", "theory"]
    return f"""\
## 9. MinHash

{len(pairs):,} pairs of real news items; the resemblance of their features as
{recipe.sketch.num_perm} values of a signature estimate it, against the exact one. Theory: √(J
(1 − J) / {recipe.sketch.num_perm}).

{table(heading, lines)}
"""


def _spread(found):
    """Return at most `_PAIRS` pairs, spread over the tenths of resemblance.

    No tenth gives more than `_IN_A_TENTH` pairs.
    """
    tenths = {}
    for pair in sorted(found, key=_digest):
        tenth = tenths.setdefault(int(10 * found[pair]), [])
        if len(tenth) < _IN_A_TENTH:
            tenth.append(pair)
    chosen = sorted((pair for tenth in tenths.values() for pair in tenth), key=_digest)
    return chosen[:_PAIRS]


def _digest(pair):
    return hashlib.blake2b("\n".join(pair).encode(), digest_size=8).digest()


def _similarities(c, ids, place, pairs, recipe):
    corpus = _core.Corpus(
        compiled(neardup.load_recipe(recipe)), keeps_texts=False, shingle=None, workers=WORKERS
    )
    texts = c.table["text"].take([c.place_of[id] for id in ids])
    corpus.push(texts.combine_chunks().cast("large_string"), titles=None, units=None)
    corpus.finish()
    return np.array([corpus.sketch_similarity(place[a], place[b]) for a, b in pairs])


def _of(error, theory, some):
    rms = float(np.sqrt(np.mean(error[some] ** 2)))
    expected = float(np.sqrt(np.mean(theory[some] ** 2)))
    return [f"{float(np.mean(error[some])):+.4f}", f"{rms:.4f}", f"{expected:.4f}"]
