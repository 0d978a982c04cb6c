"""Checks of papers as jobs, since they take longer than a request.

| module | has |
|---|---|
| `submission` | the form of a check, and its fields |
| `uploads` | receives papers |
| `queue` | the bounded queue, and the threads that check |
| `job_table` | the states and reports of all jobs, in SQLite |
| `libraries` | the libraries that papers are checked against |
| `paper_check` | reads one paper, and has it checked against a shared library |
| `check_process` | compares one paper with a library, and renders the report |
"""
