"""The same job on Apache Spark: :func:`dedup` for a DataFrame, :func:`dedup_files` for files.

Needs the extra ``spark``. The kept set and the removed table are those of one machine.

| file | has |
|---|---|
| `dedup` | what users call |
| `job` | how a job goes, and what it tells |
| `sources`, `records`, `numbering` | files or a table to records; which stands before which |
| `sketching` | records to batches with their sketches |
| `steps`, `verifying`, `commonness` | what is done with a batch, bucket or unit, without Spark |
| `work`, `tables`, `blobs` | how these meet the rows of a table |
| `search`, `background`, `rule` | the steps as tables; what all have in common; the one rule |
| `results` | kept records, removed table, problems |
| `settings`, `session`, `checkpoint` | what tasks are told; set-up; what survives a job |
"""

from neardup.spark.dedup import dedup, dedup_files
from neardup.spark.job import SparkResult, SparkSummary

__all__ = ["SparkResult", "SparkSummary", "dedup", "dedup_files"]
