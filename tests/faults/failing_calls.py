"""A program that makes each call of an addition and of a checkpoint fail, one after the other.

Runs with the preloaded library. After each failure the law is held to: what was acknowledged is
there, nothing of what failed is, the error is neardup's own with a way out, and both the same
process and a new connection go on. Prints how many calls failed, and each breach of the law.
"""

import errno
import json
import os
import sqlite3
import sys
import traceback
from collections import Counter
from contextlib import closing, suppress
from itertools import cycle, islice
from pathlib import Path

from neardup import Index
from neardup.exceptions import NeardupError
from tests.faults.preload import KINDS, Faults
from tests.index.consistency import check_consistent
from tests.index.written import families

OPTIONS = {"threshold": 0.3, "workers": 1}
TEXTS = families(11, 400)
#: Documents of one call of `add_many`.
TOGETHER = 10


class Trial:
    """One index, the ids that it acknowledged, and the operations that are tried on it."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.faults = Faults()
        self.index = Index(place, **OPTIONS)
        self.acknowledged: set[str] = set()
        # Texts differ from all before, or else the index would not grow.
        self._records = (
            {"id": f"d{n}", "text": f"{text}{n}"} for n, text in enumerate(cycle(TEXTS))
        )
        self.add_many()

    def add(self) -> None:
        record = next(self._records)
        self.index.add(**record)
        self.acknowledged.add(record["id"])

    def add_many(self) -> None:
        records = list(islice(self._records, TOGETHER))
        added = self.index.add_many(records)
        assert not added.problems
        self.acknowledged.update(record["id"] for record in records)

    def checkpoint(self) -> None:
        """Move the log into the file; what SQLite says of it is no error of neardup."""
        with (
            suppress(sqlite3.Error, MemoryError),
            closing(sqlite3.connect(self.place)) as connection,
        ):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def compact(self) -> None:
        self.index.compact()

    def close(self) -> None:
        """The last connection moves the log into the file, and removes it."""
        self.index.close()

    def reopen(self) -> None:
        self.index.close()
        self.index = Index(self.place, **OPTIONS)

    def law(self) -> None:
        """Raise unless exactly what was acknowledged is there, and more can be added."""
        result = set(check_consistent(self.place))
        assert self.acknowledged <= result, f"lost: {sorted(self.acknowledged - result)[:5]}"
        assert result <= self.acknowledged, f"too much: {sorted(result - self.acknowledged)[:5]}"


OPERATIONS = ("add", "add_many", "checkpoint", "compact", "close", "reopen")


def try_all(
    trial: Trial, operation: str, kind: str, error: int, *, sticky: bool, most: int
) -> tuple[int, list[str]]:
    """Let one call after the other fail, at most `most`; return how many did, and breaches."""
    wrong: list[str] = []
    tried, call, step = 0, 1, 1
    while tried < most:
        if not operation.startswith("add"):
            # There must be a log to move.
            trial.add_many()
        happened = None
        with trial.faults.failing(kind, call, error, sticky=sticky):
            try:
                getattr(trial, operation)()
            except NeardupError as refused:
                happened = str(refused)
            except BaseException as raised:
                # Python's own error where there is no memory; the rest of the law is held to.
                if kind != "allocate" or not isinstance(raised, MemoryError):
                    wrong.append(f"{operation}, {kind} {call}: {traceback.format_exc()}")
        failed = trial.faults.failed
        try:
            if happened is not None:
                assert happened.count(". ") >= 1, f"no way out: {happened}"
                assert failed, f"an error without a fault: {happened}"
            if operation in ("close", "reopen"):
                trial.index.close()
                trial.index = Index(trial.place, **OPTIONS)
            trial.law()
            if call % 5 == 1:
                trial.add()
                trial.law()
        except Exception:
            wrong.append(f"after {operation}, {kind} {call}: {traceback.format_exc()}")
            break
        if not failed:
            break
        tried += 1
        # Of thousands of calls those at the beginning are tried one by one.
        step = max(1, call // 40) if kind in ("allocate", "write") else 1
        call += step
    return tried, wrong


def main() -> None:
    most = int(sys.argv[1])
    place = os.environ["FAULT_PATH"]
    count: Counter[str] = Counter()
    breaches: list[str] = []
    for operation in OPERATIONS:
        # A small index for each: the law reads all of it.
        trial = Trial(place)
        for kind, error in [("write", errno.ENOSPC), *((kind, errno.EIO) for kind in KINDS)]:
            for sticky in (False, True):
                tried, wrong = try_all(trial, operation, kind, error, sticky=sticky, most=most)
                count[f"{operation} {kind}"] += tried
                breaches += wrong
        trial.index.close()
        for suffix in ("", "-wal", "-shm"):
            Path(place + suffix).unlink(missing_ok=True)
    json.dump({"failed": count, "breaches": breaches}, sys.stdout)


if __name__ == "__main__":
    main()
