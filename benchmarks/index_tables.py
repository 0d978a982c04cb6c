"""The figures of the persistent index as tables of benchmarks/README.md, and as a plot."""

import bench_schemes
import tables

BEGIN, END = "<!-- index: made by bench_index.py -->", "<!-- end of index -->"


def write(path, results):
    """Replace what stands between the markers of a file."""
    head, rest = path.read_text("utf-8").split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    path.write_text(f"{head}{BEGIN}\n\n{body(results)}\n\n{END}{tail}", encoding="utf-8")


def body(results):
    """Return all tables, and where they were measured."""
    parts = [growth_table(results), fetching_table(results), whole_table(results)]
    return "\n\n".join([*parts, *dict.fromkeys(map(provenance, results))])


def rows_of(results):
    """Return (title, row) of all sizes of all indexes."""
    return [(result["title"], row) for result in results for row in result["rows"]]


def growth_table(results):
    """Return a line for each index and size."""
    heads = (
        "index",
        "documents",
        "together: documents/s",
        "MB/s",
        "one `add`, ms: median",
        "90 %",
        "99 %",
        "longest",
        "a query, ms: median",
        "99 %",
        "bytes a document",
        "memory, MB",
        "kept",
        "copies found",
    )
    lines = []
    for title, row in rows_of(results):
        many, one, asked = row["many"], row["single"]["all"], row["query"]["all"]
        lines.append(
            (
                title,
                f"{row['size']:,}",
                f"{many['documents'] / many['seconds']:,.0f}",
                tables.digits(many["megabytes"] / many["seconds"]),
                *(milliseconds(one[key]) for key in ("p50", "p90", "p99", "max")),
                *(milliseconds(asked[key]) for key in ("p50", "p99")),
                f"{row['bytes'] / row['size']:,.0f}",
                f"{row['memory']['own']:,.0f}" if row["memory"] else "–",
                f"{row['kept']:,}",
                f"{many['found'] / many['planted']:.3f}",
            )
        )
    return bench_schemes.markdown(heads, lines)


def fetching_table(results):
    """Return what it costs that stored documents have to be fetched and compared."""
    heads = (
        "one `add`, ms",
        "documents",
        "nothing fetched: share",
        "median",
        "99 %",
        "fetched: share",
        "documents each",
        "median",
        "99 %",
        "64 KB made durable, ms: median",
        "99 %",
        "load",
    )
    lines = []
    for title, row in rows_of(results):
        single = row["single"]
        apart, fetched = single["not_fetched"], single["fetched"]
        total = single["all"]["count"]
        each = single["fetched_documents"] / fetched["count"] if fetched["count"] else 0
        lines.append(
            (
                title,
                f"{row['size']:,}",
                f"{apart['count'] / total:.2f}",
                *(milliseconds(apart.get(key)) for key in ("p50", "p99")),
                f"{fetched['count'] / total:.2f}",
                f"{each:.1f}",
                *(milliseconds(fetched.get(key)) for key in ("p50", "p99")),
                *(milliseconds(row["sync"][key]) for key in ("p50", "p99")),
                f"{row['load']:.1f}",
            )
        )
    return bench_schemes.markdown(heads, lines)


def whole_table(results):
    """Return what each index took from the first document to the last."""
    heads = (
        "all together",
        "documents",
        "seconds",
        "documents/s",
        "times counted",
        "longest, s",
        "longest close, s",
        "search",
    )
    lines = []
    for result in results:
        rows, counted = result["rows"], result["recounts"]
        documents = sum(row["many"]["documents"] for row in rows)
        seconds = sum(row["many"]["seconds"] for row in rows)
        longest = max((one["seconds"] for one in counted), default=None)
        lines.append(
            (
                result["title"],
                f"{documents:,}",
                f"{seconds:,.0f}",
                f"{documents / seconds:,.0f}",
                str(len(counted)),
                "–" if longest is None else tables.digits(longest),
                tables.digits(max(row["close_seconds"] for row in rows)),
                rows[-1]["scheme"],
            )
        )
    return bench_schemes.markdown(heads, lines)


def milliseconds(value):
    """Return a time with two digits behind the point, or a dash."""
    return "–" if value is None else f"{value:.2f}"


def provenance(result):
    """Return the line that says where an index was measured."""
    line = bench_schemes.provenance([result])
    server = result["server"]
    if server is None:
        return line
    settings = ", ".join(f"{name} {value}" for name, value in server.items())
    return f"{line[:-1]}; {settings}*"


def plot(path, results):
    """Draw throughput and latency against size, of the indexes with settings by default."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, (rates, latencies) = pyplot.subplots(1, 2, figsize=(10, 4.2))
    plain = [result for result in results if not result["settings"]]
    for result, mark in zip(plain, "os", strict=False):
        rows, title = result["rows"], result["title"]
        sizes = [row["size"] for row in rows]
        rate = [row["many"]["documents"] / row["many"]["seconds"] for row in rows]
        (line,) = rates.plot(sizes, rate, marker=mark, label=title)
        colour = line.get_color()
        for key, style, name in (("p50", "-", title), ("p99", ":", None)):
            times = [row["single"]["all"][key] for row in rows]
            latencies.plot(sizes, times, style, marker=mark, color=colour, label=name)
    rates.set(title="added together", ylabel="documents a second", ylim=(0, None))
    latencies.set(
        title="added one by one, each a durable commit",
        ylabel="milliseconds: median; dotted: 99 %",
        yscale="log",
    )
    latencies.yaxis.set_major_formatter("{x:g}")
    latencies.yaxis.set_minor_formatter("{x:g}")
    for panel in (rates, latencies):
        panel.set(xscale="log", xlabel="documents in the index")
        panel.grid(alpha=0.3, which="both", linewidth=0.4)
        panel.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
