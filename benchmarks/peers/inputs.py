"""Code that several peers share: reading inputs, writing answers."""

import itertools
import json
import time

import numpy as np


def beginning(path, mb):
    """Return the first `mb` megabytes of texts of a sample, and their bytes."""
    texts, size = [], 0
    for text in itertools.chain.from_iterable(some for _, some in batches(path, 1000)):
        if size >= mb * 1e6:
            break
        texts.append(text)
        size += len(text.encode("utf-8"))
    return texts, size


def sketched(fingerprints, texts, size):
    """Return the answer of a work that makes fingerprints.

    `fingerprints` are integers of 64 bits, or rows of 64-bit words.
    """
    words = np.array(fingerprints, dtype=np.uint64).reshape(len(fingerprints), -1)
    counts = {"texts": len(texts), "count": len(words), "bytes": size}
    return {"fingerprints": words, "bits": 64 * words.shape[1]} | counts


def lines(path):
    """Return the raw lines and the texts of a file of JSON lines."""
    raw = path.read_text("utf-8").splitlines()
    return raw, [json.loads(line)["text"] for line in raw]


def halves(path, folder):
    """Write every other line of a file to a file of its own; return both paths.

    The first has the odd line numbers, counted from 0.
    """
    a, b = folder / "a.jsonl", folder / "b.jsonl"
    with path.open("rb") as source:
        lines = source.readlines()
    a.write_bytes(b"".join(lines[1::2]))
    b.write_bytes(b"".join(lines[::2]))
    return a, b


def dropped(a, folder, similar):
    """Write the lines of A that resemble none of B; return the answer.

    `similar` says for each line whether it does.
    """
    numbers = [number for number, found in enumerate(similar) if found]
    write_kept(a, folder, numbers)
    return {"removed": [2 * number + 1 for number in numbers], "documents": len(similar)}


def batches(path, size=10_000):
    """Yield (raw lines, texts) of `size` lines each. The file may be larger than memory."""
    with path.open(encoding="utf-8") as file:
        while raw := list(itertools.islice(file, size)):
            yield raw, [json.loads(line)["text"] for line in raw]


def write_kept(path, folder, removed):
    """Write the lines of a file, without the removed line numbers."""
    dropped = set(removed)
    with path.open(encoding="utf-8") as source, (folder / "kept.jsonl").open("w") as file:
        file.writelines(line for number, line in enumerate(source) if number not in dropped)


class Answer(dict):
    """An answer that is computed after the time is taken."""

    def __init__(self, read):
        """Store the function that computes it."""
        super().__init__()
        self.read = read


def removed_from(path, kept_identifiers):
    """Return the answer of an engine that writes the kept documents.

    `kept_identifiers()` returns their ids.
    """

    def read():
        documents = count(path)
        kept = np.fromiter((number_of(i) for i in kept_identifiers()), np.int64)
        gone = np.ones(documents, bool)
        gone[kept] = False
        if len(kept) + gone.sum() != documents:
            raise ValueError("a document was kept twice")
        return {"removed": np.flatnonzero(gone), "documents": documents}

    return Answer(read)


def count(*paths):
    """Return the number of lines of files."""
    found = 0
    for path in paths:
        with path.open("rb") as file:
            found += sum(1 for _ in file)
    return found


def identifiers(*paths):
    """Yield the ids of files of JSON lines."""
    for path in paths:
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)["id"]


def number_of(identifier):
    """Return the number in an id such as `piece/00017`, or the number itself."""
    return int(str(identifier).rpartition("/")[2])


def repeated(neighbours):
    """Return the numbers that have an earlier neighbour that is not removed.

    `neighbours` yields (number, numbers of similar documents), in ascending order.
    """
    removed = set()
    for number, others in neighbours:
        if any(other < number and other not in removed for other in others):
            removed.add(number)
    return sorted(removed)


def write_pairs(folder, pairs):
    """Write pairs as lines of two numbers."""
    with (folder / "pairs.tsv").open("w", encoding="utf-8") as file:
        file.writelines(f"{a}\t{b}\n" for a, b in pairs)


def paired(pairs, documents):
    """Return the answer of a work that finds pairs."""
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return {"a": table[:, 0], "b": table[:, 1], "documents": documents}


def shingles(text, k):
    """Return the distinct shingles of k characters."""
    return {text[i : i + k] for i in range(max(len(text) - k + 1, 1))}


def queries_beside(path):
    """Return the queries that are stored beside the fingerprints."""
    return np.load(path.with_name(path.name.replace("fingerprints", "queries")))


def looking_up(ask, hits_of, queries, built, single=None):
    """Return the job of looking up queries in one call, then one by one.

    Only the first `single` queries are looked up one by one; by default, all. `hits_of` returns
    the queries and documents of an answer. `built`: the seconds to build the index.
    """
    single = single or len(queries)

    def job():
        begun = time.perf_counter()
        answer = ask(queries)
        together = time.perf_counter()
        for number in range(single):
            ask(queries[number : number + 1])
        apart = time.perf_counter() - together
        facts = {
            "build_seconds": built,
            "microseconds": (together - begun) / len(queries) * 1e6,
            "microseconds_single": apart / single * 1e6,
        }
        asked, documents = hits_of(answer)
        return {"query": asked, "document": documents, "facts": facts}

    return job
