"""Documents that capped lists leave out are counted."""

import random

from tests.kit import hard_texts

from neardup.index.ingest import first_import, transaction


def with_a_phrase(count):
    """Return documents of their own letters that share nothing but a phrase."""
    rng = random.Random(5)
    return [
        {"id": f"d{number}", "text": "本报记者顾雪芹报道" + hard_texts.letters(rng, 45)}
        for number in range(count)
    ]


def test_each_document_beyond_the_length_of_a_list_counts_once(index):
    index.add_many(with_a_phrase(32))
    assert index.stats().skipped_documents == 0
    index.add_many(with_a_phrase(40))
    assert (index.stats().kept, index.stats().skipped_documents) == (40, 8)
    for document in with_a_phrase(43)[40:]:
        index.add(**document)
    assert index.stats().skipped_documents == 11
    # What was there already counts no second time.
    index.add_many(with_a_phrase(43))
    assert index.stats().skipped_documents == 11


def test_a_first_import_counts_them_too(index, monkeypatch):
    monkeypatch.setattr(first_import, "_WRITTEN", 10)
    monkeypatch.setattr(transaction, "BATCH", 5)
    index.add_many(with_a_phrase(40))
    assert (index.stats().kept, index.stats().skipped_documents) == (40, 8)
