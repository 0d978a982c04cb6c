"""Checks of papers as jobs, since they take longer than a request.

====================  ===============================================================
``uploads``           a paper as it is received
``queue``             the jobs of one process: bounded, clients take turns
``job``               what is known of one; ``job_table``: of all, in SQLite
``libraries``         what papers are held against, opened once
``paper_check``       one check, with a library that others use too
``sandbox``           parts of a check in a process of their own, with limits
``reader``            a file to its text; ``reader_process``: that process
``renderer_process``  a report to its pages
====================  ===============================================================
"""
