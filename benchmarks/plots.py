"""The plots of the benchmarks: the growing collection, ways to find candidates, the index."""

import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter, StrMethodFormatter

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
COUNT, PLAIN = StrMethodFormatter("{x:,.0f}"), StrMethodFormatter("{x:g}")
METADATA = {".svg": {"Date": None}, ".png": {"Software": None}}
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
    "savefig.dpi": 110,
}


def draw_growth(rows, limit, folder):
    """Draw time against size, and F1 against time, of the growing collection."""
    save(folder / "growth_time.svg", time_against_size, rows, limit)
    save(folder / "growth_f1.svg", f1_against_time, rows)


def draw_schemes(results, path):
    """Draw seconds against documents for each task and threshold of `bench_schemes`."""
    save(path, seconds_by_scheme, [one for one in results if "_news_" in one["name"]])


def draw_index(results, path):
    """Draw throughput and latency against size, of the indexes with settings by default."""
    save(path, index_growth, [result for result in results if not result["settings"]])


def save(path, draw, *arguments):
    """Write a figure; equal figures give equal bytes."""
    plt.switch_backend("agg")
    with plt.rc_context(STYLE):
        figure = draw(*arguments)
        figure.savefig(path, metadata=METADATA[path.suffix], bbox_inches="tight")
        plt.close(figure)


def time_against_size(rows, limit):
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
    axes.xaxis.set_major_formatter(COUNT)
    axes.yaxis.set_major_formatter(PLAIN)
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
        axes.xaxis.set_major_formatter(PLAIN)
        axes.xaxis.set_minor_formatter(NullFormatter())
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


def seconds_by_scheme(results):
    """Draw a panel for each task and threshold, and a line for each way to find candidates."""
    figure, panels = plt.subplots(2, 2, figsize=(9, 7), sharex=True, sharey=True)
    cases = [(task, threshold) for task in ("pairs", "dedup") for threshold in ("0.55", "0.8")]
    for (task, threshold), axes in zip(cases, panels.flat, strict=True):
        for scheme, mark in zip(("prefix", "bands", "postings", "near"), "osD^", strict=True):
            points = [
                (result["documents"], row["seconds"])
                for result in results
                for row in result["rows"]
                if row["engine"] == f"{scheme}, {task}, {threshold}" and "seconds" in row
            ]
            axes.plot(*zip(*sorted(points), strict=True), marker=mark, label=scheme)
        axes.set(title=f"{task}, threshold {threshold}", xscale="log", yscale="log")
        axes.xaxis.set_major_formatter(COUNT)
        axes.yaxis.set_major_formatter(PLAIN)
    panels[0, 0].legend()
    for axes in panels[1]:
        axes.set_xlabel("documents")
    for axes in panels[:, 0]:
        axes.set_ylabel("seconds")
    return figure


def index_growth(results):
    """Draw documents a second, and the time of one document, against the size of an index."""
    figure, (rates, latencies) = plt.subplots(1, 2, figsize=(10, 4.2))
    for result, mark in zip(results, "os", strict=False):
        rows, title = result["rows"], result["title"]
        sizes = [row["size"] for row in rows]
        rate = [row["many"]["documents"] / row["many"]["seconds"] for row in rows]
        (line,) = rates.plot(sizes, rate, marker=mark, label=title)
        for key, style, name in (("p50", "-", title), ("p99", ":", None)):
            times = [row["single"]["all"][key] for row in rows]
            latencies.plot(sizes, times, style, marker=mark, color=line.get_color(), label=name)
    rates.set(title="added together", ylabel="documents a second", ylim=(0, None))
    latencies.set(
        title="added one by one, each a durable commit",
        ylabel="milliseconds: median; dotted: 99 %",
        yscale="log",
    )
    latencies.yaxis.set_major_formatter(PLAIN)
    latencies.yaxis.set_minor_formatter(PLAIN)
    for axes in (rates, latencies):
        axes.set(xscale="log", xlabel="documents in the index")
        axes.xaxis.set_major_formatter(COUNT)
    rates.legend()
    return figure
