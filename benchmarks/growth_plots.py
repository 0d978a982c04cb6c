"""Two plots of the growing collection: time against size, and F1 against time."""

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

import growth_results

#: One look for an engine in both plots: colour and marker. neardup's are of one colour.
LOOKS = {
    "neardup, bands": ("#0b5fa5", "o", "-"),
    "neardup, postings": ("#0b5fa5", "s", "--"),
    "neardup, bands, --memory 2GB": ("#0b5fa5", "^", ":"),
    "neardup on Spark, bands": ("#0b5fa5", "D", "-."),
    "gaoya": ("#d1495b", "o", "-"),
    "rensa": ("#edae49", "o", "-"),
    "datasketch": ("#66a182", "o", "-"),
    "text-dedup": ("#8d6a9f", "o", "-"),
    "datatrove": ("#7a7a7a", "o", "-"),
    "data-juicer": ("#b5651d", "o", "-"),
    "Spark MLlib MinHashLSH": ("#2f9e9e", "D", "-"),
    "simhash-pybind": ("#a3a300", "v", "-"),
    "FAISS MultiHash": ("#4d4d4d", "v", "-"),
}
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "svg.hashsalt": "neardup",
    "svg.fonttype": "path",
}


def draw(rows, folder):
    """Write both plots as SVG."""
    plt.switch_backend("svg")
    with plt.rc_context(STYLE):
        save(time_against_size(rows), folder / "growth_time.svg")
        save(f1_against_time(rows), folder / "growth_f1.svg")


def save(figure, path):
    """Write a figure; equal figures give equal bytes."""
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)


def time_against_size(rows):
    """Draw seconds against documents, both by powers of ten."""
    figure, axes = plt.subplots(figsize=(7.2, 4.4))
    for row in rows:
        if not row.done:
            continue
        colour, marker, line = LOOKS[row.label]
        sizes = sorted(row.done)
        axes.plot(
            sizes,
            [row.done[size].seconds for size in sizes],
            line,
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=2 if row.ours else 1.2,
            label=row.label,
        )
    limit = growth_results.bench_growth.LIMITS.seconds
    axes.axhline(limit, color="#888888", linewidth=0.8, linestyle=(0, (2, 2)))
    axes.annotate(
        f"limit of a run, {limit:g} s",
        (0.01, limit),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize=8,
        color="#666666",
    )
    axes.set(xscale="log", yscale="log", xlabel="documents", ylabel="seconds, file to file")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def f1_against_time(rows):
    """Draw F1 against seconds, one panel a size: up and to the left is better."""
    sizes = sorted({size for row in rows for size in row.done})
    columns = min(2, len(sizes)) or 1
    lines = -(-len(sizes) // columns) or 1
    figure, grid = plt.subplots(
        lines, columns, figsize=(7.2, 2.7 * lines), sharey=True, squeeze=False
    )
    for axes, size in zip(grid.flat, sizes, strict=False):
        for row in rows:
            if size not in row.done:
                continue
            colour, marker, _ = LOOKS[row.label]
            cell = row.done[size]
            axes.plot(
                cell.seconds,
                cell.f1,
                marker,
                color=colour,
                markersize=7 if row.ours else 6,
                markerfacecolor=colour if row.label != "neardup, postings" else "white",
                linestyle="none",
                label=row.label,
            )
        axes.set_xscale("log")
        axes.set_title(f"{size:,} documents", fontsize=9, loc="left")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
        axes.margins(x=0.15)
    for axes in list(grid.flat)[len(sizes) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("F1")
    for axes in grid[-1]:
        axes.set_xlabel("seconds, file to file")
    handles = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    order = [row.label for row in rows if row.label in handles]
    figure.legend(
        [handles[label] for label in order],
        order,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
    )
    figure.tight_layout()
    return figure
