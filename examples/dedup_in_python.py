"""Drop the near-duplicates among the articles in this folder, and print the reasons.

Run it from anywhere: python dedup_in_python.py
"""

from __future__ import annotations

import json
from pathlib import Path

import neardup

ARTICLES = Path(__file__).with_name("articles.jsonl")


def main() -> None:
    """Drop near-duplicates, explain the decisions, and compare one pair."""
    articles = [json.loads(line) for line in ARTICLES.read_text(encoding="utf-8").splitlines()]

    # The input is a list of dicts, and so is the output: the kept ones,
    # unchanged. The text field is found by its name.
    result = neardup.dedup(articles)
    print(f"{len(articles)} articles, {len(result.kept)} kept")
    for row in result.removed.to_pylist():
        print(f"  {row['id']} repeats {row['kept_id']}: {row['measure']} {row['similarity']:.2f}")

    # By default the first of several duplicates is kept; `priority` sets another order.
    newest = neardup.dedup(articles, priority="field:date:desc")
    for row in newest.removed.to_pylist():
        if row["id"] == "bridge":
            print(f"With the newest first, bridge gives way to {row['kept_id']}.")

    # Bulletins from one template are similar, but differ in their numbers.
    text = {article["id"]: article["text"] for article in articles}
    found = neardup.compare(text["weather-qinglan"], text["weather-bailu"])
    print(
        f"The two weather bulletins: resemblance {found.resemblance:.2f}, "
        f"{found.evidence.numbers_agree} numbers agree, {found.evidence.numbers_differ} differ. "
        "Both are kept."
    )


if __name__ == "__main__":
    main()
