"""Show what a run of `neardup dedup` dropped, next to what it kept.

Usage: python show_removed.py INPUT.jsonl REMOVED.jsonl
"""

import json
import sys

LINE = 76


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def beginning(text):
    """The first characters of a text on one line; Chinese takes two columns."""
    shown, width = [], 0
    for c in " ".join(text.split()):
        width += 2 if ord(c) > 0x2E7F else 1
        if width > LINE - 12:
            return "".join(shown) + "…"
        shown.append(c)
    return "".join(shown)


def main(inputs, removed):
    texts = {record["id"]: record["text"] for record in read(inputs)}
    for record in read(removed):
        score = f"{record['similarity']:.2f} by {record['measure']}"
        print(f"{record['id']} dropped, {score}")
        print(f"    {beginning(texts[record['id']])}")
        print(f"  repeats {record['kept_id']}")
        print(f"    {beginning(texts[record['kept_id']])}")


if __name__ == "__main__":
    main(*sys.argv[1:])
