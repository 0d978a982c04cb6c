"""Markdown tables and text of the pages."""

import csv
import re
import textwrap

_WIDTH = 100


def table(heading, rows, text=1):
    """Return a Markdown table; its first `text` columns are text, the others are figures."""
    lines = [heading, ["---"] * text + ["---:"] * (len(heading) - text), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write_page(path, text, kept):
    """Write a page that keeps the first table below each heading of `kept`, with those columns.

    A table of one row becomes a line. Other tables, and those with more columns, are files of CSV
    in the folder `data` next to the page, which links them.
    """
    for old in path.parent.glob(f"data/{path.stem}-*.csv"):
        old.unlink()
    heading, seen, blocks = "", set(), []
    for block in text.rstrip("\n").split("\n\n"):
        if block.startswith("#"):
            heading = block.lstrip("# ")
        if block.startswith("|"):
            names, sides, *rows = (
                [cell.strip() for cell in row[1:-1].split(" | ")] for row in block.split("\n")
            )
            if len(rows) == 1:
                pairs = zip(names[1:], rows[0][1:], strict=True)
                told = "; ".join(f"{name} {cell}" for name, cell in pairs if cell != "–")
                block = wrapped(f"{rows[0][0]}: {told}.")
            elif heading in kept and heading not in seen and not kept[heading]:
                seen.add(heading)
            else:
                slug = re.sub(r"\W+", "-", heading.lower().lstrip("0123456789. "))[:40].strip("-")
                data = path.parent / "data" / f"{path.stem}-{slug}.csv"
                data = data.with_stem(f"{data.stem}-2") if data.exists() else data
                data.parent.mkdir(exist_ok=True)
                with data.open("w", encoding="utf-8", newline="") as file:
                    lines = [[cell.strip("`*") for cell in row] for row in (names, *rows)]
                    csv.writer(file, lineterminator="\n").writerows(lines)
                shown = [names.index(name) for name in kept.get(heading, ()) if heading not in seen]
                seen.add(heading)
                if shown:
                    text = [sides[at] for at in shown].count("---")
                    chosen = [[row[at] for at in shown] for row in (names, *rows)]
                    block = table(chosen[0], chosen[1:], text)
                    block += f"\n\n[All columns](data/{data.name})"
                else:
                    block = f"[Table of {len(rows)} rows](data/{data.name})"
        blocks.append(block)
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8", newline="\n")


def work_table(title, notes, result):
    """Return the heading, table and notes of a work; a column that no row fills is left out."""
    rows = result["rows"]
    columns = [
        (heading, read)
        for heading, read in COLUMNS
        if any(read(row) is not None for row in rows if "seconds" in row)
    ] or COLUMNS[:1]
    lines = [
        [row["engine"], *(("–" if (cell := read(row)) is None else cell) for _, read in columns)]
        if "seconds" in row
        else [row["engine"], reason_of(row), *[""] * (len(columns) - 1)]
        for row in rows
    ]
    parts = [f"### {title}", table(["engine", *(name for name, _ in columns)], lines)]
    parts += [wrapped(notes)] if notes else []
    return "\n\n".join([*parts, provenance(result)])


def reason_of(row):
    """Return why a row has no figures."""
    return row.get("stopped") or f"failed: {row.get('failure')}".replace("|", "/")


def quality(key, form):
    """Return a reader of one of the columns that the judge or the engine gave a row."""

    def read(row):
        value = row["quality"].get(key)
        return None if value is None else form.format(value)

    return read


def figure(key):
    """Return a reader of a median; old results lack some."""
    return lambda row: digits(row[key]) if key in row else None


def megabytes(key):
    """Return a reader of memory; old results lack some."""
    return lambda row: f"{row[key]:.0f}" if key in row else None


def seconds(row):
    """Return the median, with the fastest and slowest run."""
    runs = [run["seconds"] for run in row["runs"]]
    return f"{digits(row['seconds'])} ({digits(min(runs))}-{digits(max(runs))})"


def rate(row):
    """Return megabytes of text a second."""
    megabytes = row["quality"].get("megabytes")
    return None if megabytes is None else digits(megabytes / row["seconds"])


def digits(value):
    """Return a number with two or three significant digits."""
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


COLUMNS = (
    ("seconds, median (range)", seconds),
    ("processor s", figure("cpu_seconds")),
    ("MB/s", rate),
    ("answer", quality("answer", "{}")),
    ("found", quality("found", "{:,}")),
    ("expected", quality("expected", "{:,}")),
    ("pairs", quality("pairs", "{:,}")),
    ("recall", quality("recall", "{:.4f}")),
    ("precision", quality("precision", "{:.4f}")),
    ("MB of text", quality("megabytes", "{:.1f}")),
    ("bits", quality("bits", "{}")),
    ("kept", quality("kept", "{:,}")),
    ("expected to stay", quality("families", "{:,}")),
    ("copies found", quality("copies_found", "{:.4f}")),
    ("unique text lost", quality("lost", "{:.4f}")),
    ("at distance", quality("cut", "{}")),
    ("peak MB", megabytes("peak_mb")),
    ("before the work", megabytes("base_mb")),
)


def provenance(result):
    """Return a line on where and when a result was measured."""
    return f"*{measured_on(result['machine'])}*"


def measured_on(facts):
    """Return the date, the processor and the commit of a measurement."""
    return f"{facts['date']}, {facts['processor']}, commit {facts['commit']}"


def percent(share):
    """Return a share in whole percent."""
    return f"{100 * share:.0f} %"


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
