"""Estimated hours and bytes for 10^9 documents on a cluster.

Usage: python benchmarks/cost_model.py

This is a calculation, not a measurement. It multiplies what `rates.py` measured on one core with
what Spark added on two. Its assumptions are in `ASSUMED`.
"""

from dataclasses import dataclass

import growth_results
import tables
from results import stored

DOCUMENTS = 10**9
#: Bytes of a long document; the table also has those of the measurement.
LONG_BYTES = 4096
#: From this number of documents on, the time of Spark is typical of a cluster.
ENOUGH = 1_000_000
CORES = (64, 256, 1024)
OURS, ON_SPARK = "neardup, bands", "neardup on Spark, bands"


@dataclass(frozen=True)
class Assumed:
    """Values that were not measured."""

    cores_a_machine: int = 16
    #: Bytes a second that a machine sends and receives: half of a 10 Gbit line.
    network: float = 0.625e9
    #: Bytes a second that storage reads or writes for each core.
    storage: float = 50e6
    #: Rounds in which documents are filed and looked up, until nothing changes.
    rounds: int = 3
    #: The time of a stage's last task, divided by that of the mean task.
    straggler: float = 1.3
    #: The share of a core's time that is not overhead, if Spark was not measured.
    efficiency: float = 0.6


ASSUMED = Assumed()


@dataclass(frozen=True)
class Cost:
    """The cost of a job.

    Seconds by kind of work on a number of cores, and bytes between machines.
    """

    cores: int
    document_bytes: float
    sketch: float
    exchange: float
    verify: float
    write: float
    network: float
    storage: float
    shuffled: float

    @property
    def hours(self):
        """Return the hours of the whole job; no two kinds of work overlap."""
        parts = (self.sketch, self.exchange, self.verify, self.write, self.network, self.storage)
        return sum(parts) / 3600


def reckoned(rate, candidates, efficiency, sent, cores, document_bytes, assumed=ASSUMED):
    """Return the cost of a job of `DOCUMENTS` documents.

    `sent`: the bytes that Spark sends for each document, or None if they were not counted.
    """
    longer = document_bytes / rate["bytes"]
    work = DOCUMENTS / cores / efficiency * assumed.straggler
    again = sum(rate[step] for step in ("file_s", "lists_s", "candidates_s"))
    once = rate["keys_s"] + rate["count_s"]
    by_keys = (
        rate["keys_bytes"]
        + rate["counts_bytes"]
        + assumed.rounds * (rate["entries_bytes"] + rate["lists_bytes"])
    )
    # Everything that is not a key is text, or is sent with it.
    texts = max(sent - by_keys, 0.0) if sent else rate["texts_bytes"]
    by_chance = (candidates - rate["candidates"]) * rate["texts_bytes"] / rate["candidates"]
    shuffled = DOCUMENTS * (by_keys + (texts + by_chance) * longer)
    machines = cores / assumed.cores_a_machine
    return Cost(
        cores=cores,
        document_bytes=document_bytes,
        sketch=work * rate["read_and_sketch_s"] * longer,
        exchange=work * (once + assumed.rounds * again),
        verify=work * candidates * rate["verify_s"] * longer,
        write=work * rate["write_s"] * longer,
        network=shuffled / machines / assumed.network,
        # Each text is read, written to the checkpoint with its sketch, read again, and written.
        storage=4 * DOCUMENTS * document_bytes / cores / assumed.storage,
        shuffled=shuffled,
    )


def candidates_at(rate, documents):
    """Return the number of candidates for each document.

    Candidates by chance grow with the collection. If there were none in the measurement, three
    are assumed; a larger number can be excluded with 95 % confidence.
    """
    by_chance = max(rate["unrelated"], 3) / rate["documents"]
    return rate["candidates"] + by_chance * (documents / rate["documents"] - 1)


def efficiency(rows, assumed=ASSUMED):
    """Return (efficiency on Spark, size of the collection).

    The efficiency is the core seconds without Spark divided by those on Spark. Starting Spark and
    its tasks takes seconds that do not matter for 10^9 documents. So the rate is computed between
    two sizes that were measured on both, and the larger size must be large.
    """
    alone, spark = (next(row for row in rows if row.label == label) for label in (OURS, ON_SPARK))
    both = sorted(set(alone.done) & set(spark.done))[-2:]
    if len(both) < 2 or both[1] < ENOUGH:
        return assumed.efficiency, None
    small, large = both
    added = [row.done[large]["seconds"] - row.done[small]["seconds"] for row in (alone, spark)]
    return min(added[0] / added[1], 1.0), large


def table():
    """Return the model as lines of a page, or a line why there is none."""
    measured = stored("rates")
    if measured is None:
        return ["Not reckoned: `python benchmarks/rates.py` has not been run."]
    rate = measured["rows"][-1]
    candidates = candidates_at(rate, DOCUMENTS)
    rows = growth_results.rows(growth_results.stored())
    share, size = efficiency(rows)
    sent, counted = sent_by_spark(rows)
    lines = []
    for document_bytes in (rate["bytes"], LONG_BYTES):
        for cores in CORES:
            cost = reckoned(rate, candidates, share, sent, cores, document_bytes)
            kinds = ("sketch", "exchange", "verify", "write", "network", "storage")
            cells = [f"{document_bytes:,.0f}", f"{cores:,}", f"**{cost.hours:.2f}**"]
            cells += [f"{getattr(cost, kind) / 3600:.2f}" for kind in kinds]
            lines.append(
                [*cells, f"{cost.hours * cores:,.0f}", f"{cost.shuffled / 1e12:.2f}"],
            )
    heading = (
        "document, bytes",
        "cores",
        "hours",
        "read and sketch",
        "exchange",
        "verify",
        "write",
        "network",
        "storage",
        "core hours",
        "shuffled, TB",
    )
    return [tables.table(heading, lines), "", *stated(rate, candidates, share, size), counted]


def stated(rate, candidates, share, size, assumed=ASSUMED):
    """Return the basis of the table.

    Measured values are first, then assumptions.
    """
    micro = {key: value * 1e6 for key, value in rate.items() if key.endswith("_s")}
    exchange = sum(micro[f"{s}_s"] for s in ("keys", "count", "file", "lists", "candidates"))
    between = sum(rate[f"{s}_bytes"] for s in ("keys", "counts", "entries", "lists", "texts"))
    bands, rows = rate["bands"]
    spark = (
        f"Measured, from {size:,} documents on two cores: Spark takes "
        f"{1 / share:.1f} times the core seconds of the command."
        if size
        else f"Assumed, as Spark did not finish {ENOUGH:,} documents here: "
        f"{share:.0%} of a core's time is work."
    )
    return [
        f"Measured on one core at {rate['documents']:,} documents of {rate['bytes']:.0f} bytes, in "
        f"microseconds a document: read and sketch {micro['read_and_sketch_s']:.1f}, exchange of "
        f"keys {exchange:.1f}, write {micro['write_s']:.1f}; verification {micro['verify_s']:.1f} "
        f"a candidate. Between machines {between:.0f} bytes a document in one round, of which keys "
        f"{rate['keys_bytes']:.0f}, before compression. Bands are those that 10^9 documents get: "
        f"{bands} of {rows} rows.",
        "",
        f"- Candidates a document: {rate['candidates']:.3f}. {rate['unrelated']:,} of "
        f"{rate['candidates'] * rate['documents']:,.0f} were made by chance (if fewer than three, "
        f"three are taken); their share grows with the collection, to {candidates:.2f} a document "
        "at 10^9.",
        f"- {spark}",
        f"- Assumed: machines of {assumed.cores_a_machine} cores with 10 Gbit, of which half is "
        f"used; storage gives and takes {assumed.storage / 1e6:.0f} MB/s a core, and every text "
        f"passes it four times; {assumed.rounds} rounds; the last task of a stage takes "
        f"{assumed.straggler} times the mean one; nothing overlaps; no machine is lost.",
        "- Longer documents: reading, sketching, verification and texts grow with the bytes; keys, "
        "and how many candidates chance makes, are taken to stay.",
        "- Not in it: texts that are one form, whose keys many share; other thresholds, which have "
        "other bands; the default measure `content`, which also counts shingles.",
    ]


def sent_by_spark(rows):
    """Return the bytes that Spark sent for each document, and a line on it.

    They were counted at the largest size; None if Spark counted none.
    """
    done = next(row for row in rows if row.label == ON_SPARK).done
    if not done or "shuffled_bytes" not in done[max(done)]["quality"]:
        return None, "- Bytes between machines are those of the exchange alone: Spark counted none."
    size, counts = max(done), done[max(done)]["quality"]
    sent = counts["shuffled_bytes"] / size
    return sent, (
        f"- Bytes between machines are what Spark counted at {size:,} documents, {sent:,.0f} a "
        f"document, compressed, in {counts.get('rounds', '?')} rounds; and the texts of candidates "
        "by chance. All but keys grow with the documents."
    )


def main():
    """Print the model."""
    print("\n".join(table()))


if __name__ == "__main__":
    main()
