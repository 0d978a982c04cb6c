"""datasketch: MinHash and LSH in Python and NumPy."""

import inputs
from datasketch import MinHash, MinHashLSH

PACKAGES = ["datasketch", "numpy"]
NUM_PERM = 128


def pairs_file(path, folder, *, threshold):
    """Look up every signature in an index of all.

    Neighbours are kept if their estimated resemblance reaches the threshold.
    """

    def job():
        signatures = signatures_of(inputs.texts_of(path))
        index = MinHashLSH(threshold=threshold, num_perm=NUM_PERM)
        for number, signature in enumerate(signatures):
            index.insert(number, signature)
        pairs = [
            (a, b)
            for a, signature in enumerate(signatures)
            for b in index.query(signature)
            if a < b and signature.jaccard(signatures[b]) >= threshold
        ]
        inputs.write_pairs(folder, pairs)
        return inputs.paired(pairs, len(signatures))

    return job


def signatures_of(texts):
    """Return the signature of each text."""
    tokens = ([s.encode("utf-8") for s in inputs.shingles(text)] for text in texts)
    return MinHash.bulk(tokens, num_perm=NUM_PERM)
