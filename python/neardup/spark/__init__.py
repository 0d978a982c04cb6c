"""The same job on Apache Spark: :func:`dedup` for a DataFrame, :func:`dedup_files` for files.

Needs the extra ``spark``. The kept set and the removed table are those of one machine.

| file | has |
|---|---|
| `api` | what users call |
| `job` | how a job goes, and what it reports |
| `io` | files or a table to batches of records; kept records and the removed table |
| `sketching` | records to batches with their sketches, and counted shingles; without Spark |
| `kernels` | what a task of the search does with a batch, bucket or unit; without Spark |
| `shuffle` | the kernels over tables of Spark, until the decisions are fixed |
| `resolve` | the one rule, from similar pairs |
| `ordering` | the number of a document: its place in the input |
| `session`, `checkpoint` | set-up, errors and metrics; what survives a job |
"""

from neardup.spark.api import dedup, dedup_files
from neardup.spark.job import SparkResult, SparkSummary

__all__ = ["SparkResult", "SparkSummary", "dedup", "dedup_files"]
