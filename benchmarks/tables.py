"""Markdown tables and text: for the README and the pages in docs/."""

import textwrap
from pathlib import Path

README = Path(__file__).resolve().parent / "README.md"
_WIDTH = 100


def table(heading, rows, text=1):
    """Return a Markdown table.

    The first `text` columns are text, the others are figures.
    """
    lines = [heading, ["---"] * text + ["---:"] * (len(heading) - text), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def replace_section(name, body):
    """Replace the text between two markers of the README."""
    begin, end = f"<!-- {name}: made by a program -->", f"<!-- end of {name} -->"
    head, rest = README.read_text("utf-8").split(begin, 1)
    tail = rest.split(end, 1)[1]
    README.write_text(f"{head}{begin}\n\n{body}\n\n{end}{tail}", encoding="utf-8")


def table_of(result):
    """Return a work's heading, table and notes."""
    lines = [f"### {result['title']}", ""]
    if "missing" in result:
        return "\n".join([*lines, f"Not run: {result['missing']}."])
    columns = columns_of(result["rows"]) or [("seconds", seconds)]
    rows = []
    for row in result["rows"]:
        cells = [cell(row, read) for _, read in columns]
        if "stopped" in row:
            cells = [row["stopped"], *[""] * (len(columns) - 1)]
        if "failure" in row:
            cells = [f"failed: {row['failure']}".replace("|", "/"), *[""] * (len(columns) - 1)]
        rows.append([row["engine"], *cells])
    lines.append(table(["engine", *(name for name, _ in columns)], rows))
    if result["notes"]:
        lines += ["", result["notes"]]
    return "\n".join([*lines, "", "*" + provenance(result) + "*"])


def columns_of(rows):
    """Return (heading, reader) of the columns that have a value in a row."""
    return [
        (heading, read)
        for heading, read in COLUMNS
        if any("seconds" in row and read(row) is not None for row in rows)
    ]


def cell(row, read):
    """Return the value of a row in a column.

    A dash if there is none, or an empty string if the engine has no figures.
    """
    if "failure" in row or "seconds" not in row:
        return ""
    value = read(row)
    return "–" if value is None else value


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
    ("candidates", of("candidates", "{:,}")),
    ("kept", of("kept", "{:,}")),
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
    """Return a line on where a work was measured, and with what versions."""
    versions = {}
    for row in result["rows"]:
        versions |= row.get("versions", {})
    versions.pop("numpy", None)
    with_versions = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    runs = max((len(row.get("runs", [])) for row in result["rows"]), default=0)
    told = f"{measured_on(result)}; threads: {result['threads']}; up to {runs} runs each"
    return f"{told}; {with_versions}" if versions else told


def measured_on(result):
    """Return the date, the machine and the commit of a result."""
    facts = result["machine"]
    return (
        f"{facts['date']}, {facts['processor']}, {facts['cores']} cores, {facts['memory_gb']} GB, "
        f"{facts['system']}, Python {facts['python']}, commit {facts['commit']}"
    )


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
    if block.lstrip().startswith(("|", "#", "<")):
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
