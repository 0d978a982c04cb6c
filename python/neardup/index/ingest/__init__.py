"""Adding documents to an index: batches are read and sketched in advance, decided and stored."""
