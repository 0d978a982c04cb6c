"""rensa: MinHash and LSH in Rust, called with Python tokens."""

import itertools

import inputs
from rensa import RMinHash, RMinHashDeduplicator, RMinHashLSH

PACKAGES = ["rensa"]
NUM_PERM, BANDS, SEED = 128, 16, 42


def pairs_file(path, folder, *, threshold):
    """Find candidates by LSH. A pair is kept if the signatures' estimate reaches the threshold."""

    def job():
        texts = inputs.texts_of(path)
        signatures = RMinHash.from_token_sets(map(inputs.shingles, texts), NUM_PERM, SEED)
        index = RMinHashLSH(threshold, NUM_PERM, BANDS)
        index.insert_many(signatures)
        pairs = [
            (a, b)
            for a, others in enumerate(index.query_all(signatures))
            for b in others
            if a < b and index.is_similar(signatures[a], signatures[b])
        ]
        inputs.write_pairs(folder, pairs)
        return inputs.paired(pairs, len(texts))

    return job


def dedup_file(path, folder, *, threshold):
    """Keep each document that has no similar kept document."""

    def job():
        seen = RMinHashDeduplicator(threshold, NUM_PERM, True, BANDS, SEED)
        removed, documents = [], 0
        with (folder / "kept.jsonl").open("w", encoding="utf-8") as file:
            for raw, texts in inputs.batches(path):
                keep = seen.add_pairs(
                    (str(number), inputs.shingles(text))
                    for number, text in enumerate(texts, documents)
                )
                file.writelines(itertools.compress(raw, keep))
                removed += [n for n, is_kept in enumerate(keep, documents) if not is_kept]
                documents += len(texts)
        return {"removed": removed, "documents": documents}

    return job
