"""Deduplication on Apache Spark: :func:`dedup` for a DataFrame, :func:`dedup_files` for files.

Needs the extra ``spark``. One machine gives the same kept set and removed table.

| file | has |
|---|---|
| `api` | the public functions |
| `job` | runs a job and reports on it |
| `io` | opens files or a table; problems and kept records |
| `blobs` | what kernels send to each other, and how Spark moves it |
| `sketching` | sketches batches of records and counts shingles; without Spark |
| `kernels` | the work of one task of the search on a group, bucket or part; without Spark |
| `units` | the work of one task that judges pairs; without Spark |
| `rows` | numbers in bodies of blobs |
| `decisions` | the one rule over all pairs, and the removed table; without Spark |
| `shuffle` | the search: rounds of exchanges until the decisions are final |
| `ordering` | numbers documents in input order |
| `session`, `checkpoint` | settings and metrics of Spark; stages that survive a job |
| `errors` | errors of Spark and its Python processes, as errors of neardup |
"""

from neardup.spark.api import dedup, dedup_files
from neardup.spark.job import SparkResult, SparkSummary

__all__ = ["SparkResult", "SparkSummary", "dedup", "dedup_files"]
