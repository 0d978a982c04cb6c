"""Markdown tables and text of the pages."""

import textwrap

_WIDTH = 100


def table(heading, rows, text=1):
    """Return a Markdown table; its first `text` columns are text, the others are figures."""
    lines = [heading, ["---"] * text + ["---:"] * (len(heading) - text), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def table_of(result, notes=True):
    """Return a work's heading, table and notes."""
    lines = [f"### {result['title']}", ""]
    if "missing" in result:
        return "\n".join([*lines, f"Not run: {result['missing']}."])
    done = [row for row in result["rows"] if "seconds" in row]
    columns = [
        (heading, read) for heading, read in COLUMNS if any(read(row) is not None for row in done)
    ] or [("seconds", seconds)]
    rows = []
    for row in result["rows"]:
        reason = row.get("stopped") or f"failed: {row.get('failure')}".replace("|", "/")
        cells = [reason, *[""] * (len(columns) - 1)]
        if "seconds" in row:
            values = [read(row) for _, read in columns]
            cells = ["–" if value is None else value for value in values]
        rows.append([row["engine"], *cells])
    lines.append(table(["engine", *(name for name, _ in columns)], rows))
    if notes and result["notes"]:
        lines += ["", wrapped(result["notes"])]
    return "\n".join([*lines, "", "*" + provenance(result) + "*"])


def of(key, form):
    """Return a reader of one of the row's own columns."""

    def read(row):
        value = row.get("quality", {}).get(key)
        return None if value is None else form.format(value)

    return read


def rate(row):
    """Return megabytes of text a second."""
    megabytes = row.get("quality", {}).get("megabytes")
    return None if megabytes is None else digits(megabytes / row["seconds"])


def seconds(row):
    """Return the median, with the fastest and slowest run."""
    if "microseconds" in row.get("quality", {}):
        return None
    return f"{digits(row['seconds'])} ({digits(row['fastest'])}-{digits(row['slowest'])})"


def digits(value):
    """Return a number with two or three significant digits."""
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


COLUMNS = (
    ("MB/s", rate),
    ("seconds, median (range)", seconds),
    ("microseconds, one call", of("microseconds", "{:.1f}")),
    ("one by one", of("microseconds_single", "{:.1f}")),
    ("build, s", of("build_seconds", "{:.2f}")),
    ("answer", of("answer", "{}")),
    ("found", of("found", "{:,}")),
    ("expected", of("expected", "{:,}")),
    ("pairs", of("pairs", "{:,}")),
    ("hits", of("hits", "{:,}")),
    ("removed", of("removed", "{:,}")),
    ("recall", of("recall", "{:.4f}")),
    ("precision", of("precision", "{:.4f}")),
    ("F1", of("f1", "{:.4f}")),
    ("MB of text", of("megabytes", "{:.1f}")),
    ("bits", of("bits", "{}")),
    ("copies found", of("copies_found", "{:.3f}")),
    ("at distance", of("cut", "{}")),
    ("peak MB", lambda row: f"{row['peak_mb']:.0f}"),
    ("before the work", lambda row: f"{row['base_mb']:.0f}" if "base_mb" in row else None),
)


def provenance(result):
    """Return a line on how a work was measured."""
    runs = max((len(row.get("runs", [])) for row in result["rows"]), default=0)
    return f"{measured_on(result)}; threads: {result['threads']}; up to {runs} runs each"


def measured_on(result):
    """Return the date, the processor and the commit of a result."""
    facts = result["machine"]
    return f"{facts['date']}, {facts['processor']}, commit {facts['commit']}"


def machines(results):
    """Return the machines of the results, and the versions of the peers."""
    found, versions = set(), set()
    for result in results:
        facts = result["machine"]
        size = f"{facts['cores']} cores, {facts['memory_gb']} GB"
        found.add(f"{size}, {facts['system']}, Python {facts['python']}")
        for row in result.get("rows", ()):
            versions |= {f"{name} {version}" for name, version in row.get("versions", {}).items()}
    return f"{'; '.join(sorted(found))}. Versions: {', '.join(sorted(versions))}"


def percent(share):
    """Return a share in whole percent."""
    return f"{100 * share:.0f} %"


def interval(bounds):
    """Return an interval with two decimals."""
    return f"{bounds[0]:.2f}-{bounds[1]:.2f}"


def wrapped(text):
    """Return Markdown with its paragraphs wrapped to the line width."""
    return "\n\n".join(_filled(block) for block in text.split("\n\n"))


def _filled(block):
    if block.lstrip().startswith(("|", "#", "<", "!")):
        return block
    items = block.strip("\n").split("\n- ")
    lines = [items[0], *(f"- {item}" for item in items[1:])]
    return "\n".join(
        textwrap.fill(
            " ".join(line.split()),
            _WIDTH,
            subsequent_indent="  " if line.startswith("- ") else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines
    )
