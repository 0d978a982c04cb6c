"""gaoya: MinHash and SimHash indexes in Rust."""

from gaoya.minhash import MinHashStringIndex
from gaoya.simhash import SimHashStringIndex

import inputs

PACKAGES = ["gaoya"]


def characters(path, folder, *, mb):
    """Sketch character 2-grams. gaoya only makes SimHash fingerprints inside an index."""
    texts, size = inputs.beginning(path, mb)
    index = SimHashStringIndex(64, 4, 3, analyzer="char", ngram_range=(2, 2))

    def job():
        for number, text in enumerate(texts):
            index.insert_document(number, text)
        return answer

    def answer():
        # The index has no access to its size or fingerprints: count the texts that it finds.
        neighbours = index.par_bulk_query(texts)
        count = sum(number in others for number, others in enumerate(neighbours))
        return {"texts": len(texts), "count": count, "bytes": size}

    return job


def pairs_file(path, folder, *, threshold):
    """Add all documents by 5-grams, then look up each one, in parallel."""

    def job():
        texts = inputs.texts_of(path)
        index = of_shingles(threshold)
        index.par_bulk_insert_docs(list(range(len(texts))), texts)
        neighbours = index.par_bulk_query(texts)
        pairs = [(a, b) for a, others in enumerate(neighbours) for b in others if a < b]
        inputs.write_pairs(folder, pairs)
        return inputs.paired(pairs, len(texts))

    return job


def dedup_file(path, folder, *, threshold):
    """Add all documents, then look up all of them, in batches.

    A document is dropped if it has an earlier neighbour that is kept.
    """

    def job():
        index, documents = of_shingles(threshold), 0
        for _, texts in inputs.batches(path):
            index.par_bulk_insert_docs(list(range(documents, documents + len(texts))), texts)
            documents += len(texts)
        removed = inputs.repeated(neighbours(index, path))
        inputs.write_kept(path, folder, removed)
        return {"removed": removed, "documents": documents}

    return job


def neighbours(index, path):
    """Yield the number of each document and those of its neighbours."""
    begin = 0
    for _, texts in inputs.batches(path):
        yield from enumerate(index.par_bulk_query(texts), begin)
        begin += len(texts)


def of_shingles(threshold):
    """Return an index of shingles of five characters."""
    return MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=threshold,
        num_bands=None,
        band_size=None,
        num_hashes=128,
        analyzer="char",
        ngram_range=(5, 5),
        id_container="smallvec",
    )
