"""The plots of the page, in the style of the lab's figures."""

import math

from matplotlib.ticker import StrMethodFormatter

from neardup.lab.figures import COLOURS, MARKERS, render

COUNT, PLAIN = StrMethodFormatter("{x:,.0f}"), StrMethodFormatter("{x:g}")


def draw_growth(rows, limit, folder):
    """Draw time against size, and F1 against time, as two files."""
    save(folder / "growth_time.svg", 4.6, time_against_size, rows, limit)
    save(folder / "growth_f1.svg", 5.4, f1_against_time, rows)


def draw_index(results, path):
    """Draw throughput and latency against the size of an index."""
    save(path, 4.0, index_growth, [result for result in results if not result["settings"]])


def save(path, height, draw, *arguments):
    """Write a figure; equal figures give equal bytes."""

    def fill(figure):
        figure.set_figheight(height)
        draw(*arguments, figure)

    path.write_bytes(render({path.stem: fill})[path.name])


def plot(axes, at, label, x, y, **others):
    """Draw a line in one of 64 combinations of colour and marker, by the engine's place."""
    marker = MARKERS[(at + at // len(COLOURS)) % len(MARKERS)]
    look = {"color": COLOURS[at % len(COLOURS)], "marker": marker, "markersize": 5}
    axes.plot(x, y, label=label, **look | others)


def time_against_size(rows, limit, figure):
    """Draw seconds against documents, both on logarithmic scales."""
    axes = figure.subplots()
    for at, row in enumerate(rows):
        sizes = sorted(row.done)
        seconds = [row.done[size]["seconds"] for size in sizes]
        plot(axes, at, row.label, sizes, seconds, linewidth=2 if row.ours else 1)
    axes.axhline(limit, color="black", linestyle=":", label=f"limit of a run, {limit:g} s")
    axes.set(xscale="log", yscale="log", xlabel="documents", ylabel="seconds, file to file")
    axes.xaxis.set_major_formatter(COUNT)
    axes.yaxis.set_major_formatter(PLAIN)
    figure.legend(loc="outside right upper")


def f1_against_time(rows, figure):
    """Draw F1 against seconds, with one panel for each size. Up and to the left is better."""
    sizes = sorted({size for row in rows for size in row.done})
    lines = max(1, math.ceil(len(sizes) / 2))
    grid = figure.subplots(lines, 2, sharex=True, sharey=True, squeeze=False)
    for axes, size in zip(grid.flat, sizes, strict=False):
        for at, row in enumerate(rows):
            cell = row.done.get(size)
            point = (cell["seconds"], cell["quality"]["f1"]) if cell else (math.nan, math.nan)
            plot(axes, at, row.label, *point, linestyle="none", markersize=7)
        axes.set(xscale="log", title=f"{size:,} documents")
        axes.xaxis.set_major_formatter(PLAIN)
    for axes in list(grid.flat)[len(sizes) :]:
        axes.set_visible(False)
    figure.supxlabel("seconds, file to file")
    figure.supylabel("F1")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside right upper")


def index_growth(results, figure):
    """Draw throughput, and the time of one document, against the index size."""
    rates, latencies = figure.subplots(1, 2)
    for at, result in enumerate(results):
        rows, title = result["rows"], result["title"]
        sizes = [row["size"] for row in rows]
        many = [row["many"] for row in rows]
        plot(rates, at, title, sizes, [one["documents"] / one["seconds"] for one in many])
        for key, style in (("p50", "-"), ("p99", ":")):
            times = [row["single"]["all"][key] for row in rows]
            plot(latencies, at, None, sizes, times, linestyle=style)
    rates.set(title="added together", ylabel="documents a second", ylim=(0, None))
    latencies.set(
        title="one by one, each a durable commit",
        ylabel="milliseconds: median; dotted: 99 %",
        yscale="log",
    )
    latencies.yaxis.set_major_formatter(PLAIN)
    latencies.yaxis.set_minor_formatter(PLAIN)
    for axes in (rates, latencies):
        axes.set(xscale="log", xlabel="documents in the index")
        axes.xaxis.set_major_formatter(COUNT)
    rates.legend()
