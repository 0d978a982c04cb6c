"""Adding documents to an index.

===============  ======================================================
``methods``      the methods of `Index` that add documents
``incoming``     a batch to be added, and the checks of documents from callers
``reading``      batches of tables and files, prefetched and sketched
``transaction``  decides and stores a batch
===============  ======================================================
"""
