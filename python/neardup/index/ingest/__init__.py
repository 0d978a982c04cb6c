"""Documents into an index.

===============  ======================================================
``methods``      the methods of `Index` that add
``incoming``     a batch on its way in, and documents of callers as one
``reading``      batches of tables and files, read and sketched ahead
``transaction``  a batch decided and stored
===============  ======================================================
"""
