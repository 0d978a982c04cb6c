"""Code that several peers share: reading inputs, writing answers."""

import itertools
import json

import numpy as np


def batches(path, size=10_000):
    """Yield (raw lines, texts) of `size` lines each. The file may be larger than memory."""
    with path.open(encoding="utf-8") as file:
        while raw := list(itertools.islice(file, size)):
            yield raw, [json.loads(line)["text"] for line in raw]


def texts_of(path):
    """Return the texts of a file of JSON lines."""
    return [text for _, texts in batches(path) for text in texts]


def beginning(path, mb):
    """Return the first `mb` megabytes of texts of a file, and their bytes."""
    texts, size = [], 0
    for text in itertools.chain.from_iterable(some for _, some in batches(path, 1000)):
        if size >= mb * 1e6:
            break
        texts.append(text)
        size += len(text.encode("utf-8"))
    return texts, size


def sketched(fingerprints, texts, size):
    """Return the answer of a work that makes fingerprints: integers, or rows of 64-bit words."""
    words = np.array(fingerprints, dtype=np.uint64).reshape(len(fingerprints), -1)
    counts = {"texts": len(texts), "count": len(words), "bytes": size}
    return {"fingerprints": words, "bits": 64 * words.shape[1]} | counts


def write_kept(path, folder, removed):
    """Write the lines of a file, without the removed line numbers."""
    dropped = set(removed)
    with path.open(encoding="utf-8") as source, (folder / "kept.jsonl").open("w") as file:
        file.writelines(line for number, line in enumerate(source) if number not in dropped)


def removed_from(path, *kept):
    """Return the answer of an engine that wrote the kept documents to files."""
    documents = sum(len(raw) for raw, _ in batches(path))
    gone = np.ones(documents, bool)
    numbers = list(itertools.chain.from_iterable(map(identifiers, kept)))
    gone[numbers] = False
    if len(numbers) + gone.sum() != documents:
        raise ValueError("a document was kept twice")
    return {"removed": np.flatnonzero(gone), "documents": documents}


def identifiers(path):
    """Yield the number of each document of a file, which is the end of its id."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield number_of(json.loads(line)["id"])


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


def paired(pairs, documents):
    """Return the answer of a work that finds pairs."""
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return {"a": rows[:, 0], "b": rows[:, 1], "documents": documents}


def write_pairs(folder, pairs):
    """Write pairs as lines of two numbers."""
    with (folder / "pairs.tsv").open("w", encoding="utf-8") as file:
        file.writelines(f"{a}\t{b}\n" for a, b in pairs)


def shingles(text, k=5):
    """Return the distinct shingles of k characters."""
    return {text[i : i + k] for i in range(max(len(text) - k + 1, 1))}
