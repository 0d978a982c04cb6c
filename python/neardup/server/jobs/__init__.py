"""Checks of papers as jobs, since they take longer than a request.

====================  ===============================================================
``uploads``           receives a paper
``queue``             the jobs of one process: bounded, fair between clients
``job``               the state of a job; ``job_table``: all jobs, in SQLite
``libraries``         the libraries that papers are checked against
``paper_check``       one check against a shared library
``sandbox``           runs parts of a check in a process with limits
``reader``            extracts the text of a file; ``reader_process``: its process
``renderer_process``  renders a report as pages
====================  ===============================================================
"""
