"""What several peers' files do alike: read an input, write an answer file."""

import json

import numpy as np


def beginning(path, mb):
    """Return the first texts of a sample, up to so many megabytes, and their bytes."""
    texts, size = [], 0
    for text in json.loads(path.read_text("utf-8")):
        if size >= mb * 1e6:
            break
        texts.append(text)
        size += len(text.encode("utf-8"))
    return texts, size


def sketched(fingerprints, texts, size):
    """Return the answer of a work that makes 64-bit fingerprints."""
    words = np.array(fingerprints, dtype=np.uint64).reshape(-1, 1)
    counts = {"texts": len(texts), "count": len(words), "bytes": size}
    return {"fingerprints": words, "bits": 64} | counts


def lines(path):
    """Return the raw lines and the texts of a file of JSON lines."""
    raw = path.read_text("utf-8").splitlines()
    return raw, [json.loads(line)["text"] for line in raw]


def write_pairs(folder, pairs):
    """Write pairs as lines of two numbers: the other end of file to file."""
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
    """Return the queries that lie beside stored fingerprints."""
    return np.load(path.with_name(path.name.replace("fingerprints", "queries")))
