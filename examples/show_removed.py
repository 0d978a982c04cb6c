"""Show the documents that `neardup dedup` dropped, the kept ones, and the differences.

Usage: python show_removed.py INPUT.jsonl REMOVED.jsonl
"""

import json
import sys
from difflib import SequenceMatcher

SHOWN = 4


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def shortened(text, width):
    return text if len(text) <= width else text[: width - 1] + "…"


def differences(kept, dropped):
    """Yield each passage of the kept text with its replacement in the dropped one."""
    for kind, a, b, c, d in SequenceMatcher(None, kept, dropped, autojunk=False).get_opcodes():
        if kind != "equal":
            yield shortened(kept[a:b], 16) or "nothing", shortened(dropped[c:d], 16) or "nothing"


def main(inputs, removed):
    texts = {record["id"]: record["text"] for record in read(inputs)}
    for record in read(removed):
        kept, dropped = texts[record["kept_id"]], texts[record["id"]]
        print(f"{record['id']} repeats {record['kept_id']}", end="")
        print(f"  similarity {record['similarity']:.2f} by {record['measure']}")
        print(f"    {shortened(kept, 34)}")
        found = list(differences(kept, dropped))
        for was, now in found[:SHOWN]:
            print(f"      {was} -> {now}")
        if len(found) > SHOWN:
            print(f"      and {len(found) - SHOWN} more differences")
        if not found:
            print("      the same, character by character")


if __name__ == "__main__":
    main(*sys.argv[1:])
