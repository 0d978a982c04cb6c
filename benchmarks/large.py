"""News that grow to any size: the input of the runs in bounded memory, and what is planted in it.

Round 0 has the articles of the news corpus. In each later round every article comes once
more: as a *new story*, with 35 % of its characters replaced by others of the corpus, so
that it resembles no other (a shingle of 5 characters survives with .65^5); or, three times
in ten, as a *re-post* of the story that was there in the round before, with 1 to 8 % of
its characters replaced. Names and figures in a re-post may so change as well.

Records have `id`, `text` and, of re-posts, `of`: the id of the story that was copied.

    python benchmarks/large.py 10e9 OUT.jsonl
"""

import argparse
import json
from pathlib import Path

import numpy as np

import corpus

REPOSTS = 0.3
NEW = 0.35
FEWEST, MOST = 0.01, 0.08


def grow(size, path):
    """Write records until the file has `size` bytes; return how many there are."""
    rng = np.random.default_rng(corpus.SEED)
    base = [np.frombuffer(text.encode("utf-32-le"), np.uint32) for text in corpus.articles()]
    letters = np.concatenate(base[:2000])
    letters = letters[letters > 0x3000]
    story, names = list(base), [""] * len(base)
    written = records = number = 0
    with path.open("wb") as file:
        while written < size:
            for at in range(len(base)):
                of = None
                text = base[at]
                if number:
                    is_repost = rng.random() < REPOSTS
                    rate = rng.uniform(FEWEST, MOST) if is_repost else NEW
                    text = story[at] if is_repost else base[at]
                    of = names[at] if is_repost else None
                    replaced = rng.random(len(text), np.float32) < rate
                    text = text.copy()
                    text[replaced] = letters[rng.integers(0, len(letters), int(replaced.sum()))]
                name = f"{number:03d}-{at:05d}"
                if of is None:
                    story[at], names[at] = text, name
                record = {"id": name, "text": text.tobytes().decode("utf-32-le")}
                if of is not None:
                    record["of"] = of
                line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
                written += file.write(line)
                records += 1
                if written >= size:
                    break
            number += 1
    return records


def main():
    """Write a file, and print how many records it has."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bytes", type=float, help="such as 10e9")
    parser.add_argument("path", type=Path)
    given = parser.parse_args()
    print(grow(given.bytes, given.path))


if __name__ == "__main__":
    main()
