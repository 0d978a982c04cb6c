"""The stored results: one JSON file for each work in results/."""

import json
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


def stored(name):
    """Return a stored result, or None."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def store(name, result):
    """Store a result in place of the previous one."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")
