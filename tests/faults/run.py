"""Run all faults for a time: `python tests/faults/run.py --minutes 60`.

A third of the time goes to power losses and failing calls, the rest to hostile inputs, each kind of
them for the same time. Prints what ran, and exits with 1 if anything broke.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.faults import fuzz, power_loss, preload


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="in all; default 5")
    parser.add_argument("--seed", type=int, default=0, help="other inputs; default 0")
    parser.add_argument("--only", help="one target of hostile inputs")
    parser.add_argument("--example", type=int, help="one input of it")
    given = parser.parse_args()
    if given.only and given.example is not None:
        report = fuzz.fuzz(given.only, seed=given.seed, first=given.example, examples=1)
        return _tell(given.only, report)
    names = [given.only] if given.only else list(fuzz.targets())
    seconds = 60 * given.minutes
    broken = 0
    if not given.only and preload.has_compiler():
        broken += _under_the_index(seconds / 3, given.seed)
        seconds *= 2 / 3
    total, began = 0, time.monotonic()
    for name in names:
        report = fuzz.fuzz(name, seed=given.seed, seconds=seconds / len(names))
        total += report.inputs
        broken += _tell(name, report)
    print(f"{total} hostile inputs in {time.monotonic() - began:.0f} seconds; {broken} failures")
    return int(broken > 0)


def _tell(name: str, report: fuzz.Report) -> int:
    counts = f"{report.inputs} inputs, {report.seconds:.0f} s, {len(report.failures)} failures"
    print(f"{name}: {counts}", flush=True)
    for failure in report.failures:
        print(failure, flush=True)
    return len(report.failures)


def _under_the_index(seconds: float, seed: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        failing = preload.failing_calls(Path(folder), most=max(2, int(seconds / 30)))
        print(f"failing calls: {sum(failing['failed'].values())}", flush=True)
        recorded = power_loss.record(Path(folder), seed)
        losses = power_loss.lose(recorded, Path(folder), count=max(20, int(seconds * 4)), seed=seed)
        print(f"power losses: {losses.count}", flush=True)
    breaches = [*failing["breaches"], *losses.breaches]
    for breach in breaches:
        print(breach, flush=True)
    return len(breaches)


if __name__ == "__main__":
    sys.exit(main())
