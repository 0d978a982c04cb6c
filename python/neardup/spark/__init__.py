"""Deduplication on Apache Spark: :func:`dedup` for a DataFrame, :func:`dedup_files` for files.

Needs the extra ``spark``. The kept set and the removed table equal those of one machine.

| file | has |
|---|---|
| `api` | the public functions |
| `job` | runs a job and reports on it |
| `io` | turns files or a table into batches of records; returns kept records and removed table |
| `sketching` | sketches batches of records and counts shingles; without Spark |
| `kernels` | the work of one search task on a batch, bucket or unit; without Spark |
| `shuffle` | runs the kernels over Spark's tables until the decisions are final |
| `ordering` | numbers documents in input order |
| `session`, `checkpoint` | settings, errors and metrics of Spark; stages that survive a job |
"""

from neardup.spark.api import dedup, dedup_files
from neardup.spark.job import SparkResult, SparkSummary

__all__ = ["SparkResult", "SparkSummary", "dedup", "dedup_files"]
