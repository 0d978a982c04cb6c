"""The statements on the rows of an index that run for each document.

===============  ======================================================
``session``      one transaction with all statements: those of
                 ``documents``, ``postings``, ``counters`` and the ``log``
                 of events
``transaction``  what the statement classes share
``statements``   the SQL of additions, compiled once
``bulk``         many values in one statement
``rows``         checks that rows are valid
===============  ======================================================
"""
