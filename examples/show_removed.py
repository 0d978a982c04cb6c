"""Show the documents that `neardup dedup` dropped, the kept ones, and the differences.

Usage: python show_removed.py INPUT.jsonl REMOVED.jsonl
"""

import json
import sys

import neardup

SHOWN = 4


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def shortened(text, width):
    return text if len(text) <= width else text[: width - 1] + "…"


def described(difference):
    """Return the words of the kept text, and those of the dropped one in their place."""
    was, now = shortened(difference.text, 30), shortened(difference.source_text, 30)
    if difference.moved:
        return f"moved: {was}"
    return f"{was or 'nothing'} -> {now or 'nothing'}"


def main(inputs, removed):
    texts = {record["id"]: record["text"] for record in read(inputs)}
    for record in read(removed):
        kept, dropped = texts[record["kept_id"]], texts[record["id"]]
        print(f"{record['id']} repeats {record['kept_id']}", end="")
        print(f"  similarity {record['similarity']:.2f} by {record['measure']}")
        print(f"    {shortened(kept, 34)}")
        differences = neardup.compare(kept, dropped, passages=True).differences
        for difference in differences[:SHOWN]:
            print(f"      {described(difference)}")
        if len(differences) > SHOWN:
            print(f"      and {len(differences) - SHOWN} more differences")
        if not differences:
            print("      the same, word by word")


if __name__ == "__main__":
    main(*sys.argv[1:])
