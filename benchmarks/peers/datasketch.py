"""datasketch: MinHash and LSH in Python and NumPy."""

import inputs
from datasketch import MinHash, MinHashLSH

PACKAGES = ["datasketch", "numpy"]
NUM_PERM = 128


def pairs_file(path, folder, *, threshold):
    """File every signature, ask for each one's neighbours, keep those that reach the threshold."""

    def job():
        _, texts = inputs.lines(path)
        tokens = ([s.encode("utf-8") for s in inputs.shingles(text, 5)] for text in texts)
        signatures = MinHash.bulk(tokens, num_perm=NUM_PERM)
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
        return inputs.paired(pairs, len(texts))

    return job
