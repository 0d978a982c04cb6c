"""The statements on the rows of an index that run for each document.

===============  ======================================================
``session``      one transaction with all statements: those of
                 ``documents``, ``postings`` and the ``transaction`` itself
``statements``   the SQL of additions, compiled once
``bulk``         many values in one statement
``rows``         checks that rows are valid
===============  ======================================================
"""
