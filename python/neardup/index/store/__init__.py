"""The rows of an index: every statement that runs for each document.

===============  ======================================================
``session``      one transaction with all of its statements; those of
                 ``documents``, ``postings``, ``counters`` and the ``log``
                 of events
``transaction``  what these have in common
``statements``   SQL of every addition, compiled once
``bulk``         many values in one statement
``rows``         whether a row is as it must be
===============  ======================================================
"""
