"""Drop the near-duplicates of the articles in this folder, and say why.

Run it from anywhere: python dedup_in_python.py
"""

from __future__ import annotations

import json
from pathlib import Path

import neardup

ARTICLES = Path(__file__).with_name("articles.jsonl")


def main() -> None:
    """Drop, explain, and look at one pair more closely."""
    articles = [json.loads(line) for line in ARTICLES.read_text(encoding="utf-8").splitlines()]

    # A list of dicts goes in, and a list of dicts comes out: the kept ones,
    # unchanged. The field that holds the text is found by its name.
    result = neardup.dedup(articles)
    print(f"{len(articles)} articles, {len(result.kept)} kept")
    for row in result.removed.to_pylist():
        print(f"  {row['id']} repeats {row['kept_id']}: {row['measure']} {row['similarity']:.2f}")

    # What stays is the first of the input, unless another order is asked for.
    newest = neardup.dedup(articles, priority="field:date:desc")
    for row in newest.removed.to_pylist():
        if row["id"] == "bridge":
            print(f"With the newest first, bridge gives way to {row['kept_id']}.")

    # Bulletins of one form are alike, and about two events: their numbers say so.
    text = {article["id"]: article["text"] for article in articles}
    found = neardup.compare(text["weather-qinglan"], text["weather-bailu"])
    print(
        f"The two weather bulletins: resemblance {found.resemblance:.2f}, "
        f"{found.numbers_agree} numbers agree, {found.numbers_differ} differ. Both are kept."
    )


if __name__ == "__main__":
    main()
