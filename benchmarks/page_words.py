"""Sentences about results: what was found, and where a peer is better."""

import math

import tables
from growth_results import f1

PRODUCT = "neardup"
SPARK = ("neardup on Spark, bands", "Spark MLlib MinHashLSH")


def finding(rows):
    """Return sentences on the growing collection.

    They compare F1 and time of neardup and its peers.
    """
    sizes = sorted({size for row in rows for size in row.done})
    peers = [row for row in rows if not row.ours and row.done]
    ours = [row for row in rows if row.ours and row.done]
    if not peers or not ours:
        return "Not measured yet."
    least = min(f1(cell) for row in ours for cell in row.done.values())
    most = max((f1(cell), row.label) for row in peers for cell in row.done.values())
    winners = {}
    for size in sizes:
        first = fastest(ours + peers, size)
        winners.setdefault(PRODUCT if first.ours else first.label, []).append(f"{size:,}")
    told = "; ".join(f"{label} at {', '.join(at)}" for label, at in winners.items())
    return (
        f"Near-duplicates of {sizes[0]:,} to {sizes[-1]:,} short documents, two cores, file to "
        f"file. neardup's F1 is {math.floor(least * 1e4) / 1e4:.4f} or more at every size, the "
        f"best of a peer {most[0]:.4f} ({most[1]}). The fastest, by number of documents: {told}."
    )


def fastest(rows, size):
    """Return the fastest engine at a size, or None."""
    return min(
        (r for r in rows if size in r.done), key=lambda r: r.done[size]["seconds"], default=None
    )


def better(rows):
    """Return lines on where a peer is better on the growing collection.

    It must be better than every way of neardup.
    """
    lines = []
    for size in sorted({size for row in rows for size in row.done}):
        ours = [row.done[size] for row in rows if row.ours and size in row.done]
        for row in rows:
            if row.ours or size not in row.done or not ours:
                continue
            cell = row.done[size]
            if won := wins(cell, ours):
                lines.append(f"- {size:,} documents, {row.label} (F1 {f1(cell):.3f}): {won}.")
    lines += on_spark(rows)
    return lines or ["- On the growing collection: nowhere."]


def wins(cell, ours):
    """Return in words the figures in which a peer is better than neardup.

    Empty if there are none.
    """
    found = []
    seconds, memory = (min(c[key] for c in ours) for key in ("seconds", "peak_mb"))
    if cell["seconds"] < seconds:
        found.append(f"time, {compared(cell['seconds'], seconds)} s")
    if cell["peak_mb"] < memory:
        found.append(f"memory, {cell['peak_mb']:,.0f} MB against {memory:,.0f}")
    for key in ("recall", "precision"):
        value, best = cell["quality"][key], max(c["quality"][key] for c in ours)
        if value > best:
            found.append(f"{key}, {value:.4f} against {best:.4f}")
    return "; ".join(found)


def on_spark(rows):
    """Return lines on where Spark's own join is faster than neardup on Spark."""
    ours, theirs = (next(row for row in rows if row.label == label) for label in SPARK)
    seconds = {
        size: (theirs.done[size]["seconds"], ours.done[size]["seconds"])
        for size in sorted(set(ours.done) & set(theirs.done))
    }
    return [
        f"- {size:,} documents, on Spark with two cores: {theirs.label}, "
        f"{compared(*both)} s by {ours.label}."
        for size, both in seconds.items()
        if both[0] < both[1]
    ]


def better_elsewhere(others):
    """Return lines on where a peer is better in another work."""
    lines = []
    for what, result in others:
        ours, theirs = best_of(result, own=True), best_of(result, own=False)
        if ours and theirs and beats(theirs, ours):
            lines.append(f"- {what}: {theirs['engine']} {figure(theirs)} against {figure(ours)}.")
        least = min((r["peak_mb"] for r in done_of(result, own=True)), default=None)
        leaner = [r for r in done_of(result, own=False) if least and r["peak_mb"] < least]
        if leaner:
            told = ", ".join(f"{r['engine']} {r['peak_mb']:,.0f}" for r in leaner)
            lines.append(f"- {what.rpartition(',')[0]}, peak MB: {told} against {least:,.0f}.")
    return lines


def compared(theirs, ours):
    """Return two times side by side."""
    return f"{tables.digits(theirs)} against {tables.digits(ours)}"


def done_of(result, *, own):
    """Return the rows with figures, of neardup or of peers."""
    return [
        row
        for row in result["rows"]
        if "seconds" in row and row["engine"].startswith(PRODUCT) == own
    ]


def best_of(result, *, own):
    """Return the fastest row of neardup or of peers, or None."""
    rows = done_of(result, own=own)
    return max(rows, key=lambda row: merit(row)[1]) if rows else None


def merit(row):
    """Return (figure, merit) of a row; a larger merit is better.

    The figure is in MB/s, microseconds or seconds.
    """
    quality = row["quality"]
    if "microseconds" in quality:
        return quality["microseconds"], -quality["microseconds"]
    if "bits" in quality or "count" in quality or "megabytes" in quality:
        rate = quality["megabytes"] / row["seconds"]
        return rate, rate
    return row["seconds"], -row["seconds"]


def beats(one, other):
    """Return whether a row is faster than another."""
    return merit(one)[1] > merit(other)[1]


def figure(row):
    """Return a row's figure, with recall and precision if they are below 1."""
    quality = row["quality"]
    text = tables.digits(merit(row)[0])
    if quality.get("recall", 1.0) < 1.0 or quality.get("precision", 1.0) < 1.0:
        text += f" (recall {quality['recall']:.3f}, precision {quality['precision']:.3f})"
    return text
