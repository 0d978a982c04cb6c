"""Adding the documents of files, with what is written about them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from neardup.base.progress import Clock, peak_memory
from neardup.base.report import report_bytes
from neardup.base.validation import paths_of
from neardup.index.engine import Engine
from neardup.index.ingest import reading
from neardup.index.ingest.reading import open_inputs
from neardup.index.query import stats_of
from neardup.index.results import AddResult
from neardup.options.signatures import complete_options
from neardup.readers import Sources
from neardup.readers.batch import REMEMBERED
from neardup.writers import OutputSet, removed_schema, write_rows


def add_files(
    files: Iterable[str],
    opened: Callable[[], Engine],
    inputs: Sequence[str | Path],
    named: Mapping[str, str | Path | None],
    function: Callable[..., Any],
    given: Mapping[str, Any],
) -> AddResult:
    """Add the documents of files; see `Index.add_files`.

    `opened` returns the index, which has these files, once the inputs and the outputs are open.
    `named` has the outputs, and `given` the options of `function`.
    """
    clock, options = Clock(), complete_options(function, given)
    paths = paths_of(inputs, "inputs")
    rows, texts = {"removed": named["removed"]}, {"report": named["report"]}
    with OutputSet([*paths, *files], rows=rows, texts=texts, force=options["force"]) as outputs:
        sources = open_inputs(paths, options)
        engine = opened()
        added = reading.add_files(engine, sources, options)
        if "removed" in outputs.files:
            write_rows(outputs.files["removed"], added.removed, removed_schema())
        if "report" in outputs.files:
            settings = {"inputs": paths, "removed": named["removed"], "workers": engine.workers}
            others = {n: v for n, v in given.items() if n not in ("progress", "force")}
            content = _report(engine, added, sources, settings | others)
            content["summary"] |= {"seconds": clock.seconds(), "peak_memory": peak_memory()}
            outputs.files["report"].write(report_bytes(content))
    return added


def counts_of(added: AddResult) -> dict[str, int]:
    """Return what became of the records: refused ones, and kept or dropped ones, are all."""
    read = len(added.keep)
    return {
        "read": read,
        "refused": read - added.new - added.already,
        "already": added.already,
        "new": added.new,
        "replaced": added.replaced,
        "kept": int(added.keep.sum()),
        "dropped": added.removed.num_rows,
        "problems": added.problem_count,
    }


def _report(
    engine: Engine, added: AddResult, sources: Sources, settings: dict[str, Any]
) -> dict[str, Any]:
    return {
        "summary": {"task": "index add", **counts_of(added)},
        "settings": settings,
        "index": dataclasses.asdict(stats_of(engine)),
        "problems": list(map(str, [*added.problems, *sources.problems][:REMEMBERED])),
    }
