"""Spark sessions: their settings during a job, their errors and their metrics."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from neardup.base.memory import check_memory
from neardup.base.messages import Message
from neardup.exceptions import MissingDependencyError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Bytes per Arrow batch. Rows with binary columns are large, and several batches are in memory.
_BATCH_BYTES = 16 << 20

#: Java on one machine. Its optimizing compiler takes longer than a whole small job, so it gets only
#: what runs twenty times as often as by default. Spark's classes exceed Java's first limit for
#: classes several times, and each time the heap would be collected. Options of the user come after
#: these.
_LOCAL_JAVA = (
    "-XX:+UseParallelGC -XX:MetaspaceSize=192m"
    " -XX:Tier4InvocationThreshold=100000 -XX:Tier4MinInvocationThreshold=12000"
    " -XX:Tier4CompileThreshold=300000 -XX:Tier4BackEdgeThreshold=800000"
)

_SPLIT = "spark.sql.files.maxPartitionBytes"
_OPEN = "spark.sql.files.openCostInBytes"


def require_spark() -> None:
    """Raise MissingDependencyError if PySpark is not installed."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            Message("running on Spark needs pyspark. Install it with: pip install 'neardup[spark]'")
        ) from None


@contextmanager
def settings_for(
    spark: SparkSession, partitions: int, rows: int, split: int | None = None
) -> Iterator[None]:
    """Change the session's settings for a job, and restore them at the end of the block. At most
    `rows` are sent to Python at once.

    With `split`, files are read in parts of at most that many bytes, each from a single file: Spark
    would otherwise combine small files by size and so break the order of the input.
    """
    wanted = {
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(rows),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(_BATCH_BYTES),
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
        # Rows are few, large and evenly distributed: planning again after each step would cost
        # more than it could gain.
        "spark.sql.adaptive.enabled": "false",
        # With another environment, Spark would start Python again for functions of rows.
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
        # Blobs are stored by kind, without being sorted before.
        "spark.sql.maxConcurrentOutputFileWriters": "20",
    }
    if split is not None:
        wanted[_SPLIT] = wanted[_OPEN] = str(split)
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def find_split(spark: SparkSession, size: int, files: int) -> int:
    """Return how many bytes Spark reads per task, given the size and number of the files."""
    jvm: Any = spark._jvm
    parse = jvm.org.apache.spark.network.util.JavaUtils.byteStringAsBytes
    largest, opened = (int(parse(spark.conf.get(name))) for name in (_SPLIT, _OPEN))
    each = (size + files * opened) // spark.sparkContext.defaultParallelism
    return max(min(largest, max(opened, each)), 1)


def start(master: str | None) -> SparkSession:
    """Return a session on a cluster; the existing session if there is one."""
    require_spark()
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.appName("neardup dedup")
    # Executors also measure the memory of their Python processes; only a new session can take it.
    builder = builder.config("spark.executor.processTreeMetrics.enabled", "true")
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            # The driver then does all the work, for which Spark's default of 1 GB is too little:
            # Java gets a third of the memory, at most 4 GiB.
            heap = min(2 * check_memory(None) // 3, 4 << 30)
            builder = builder.config("spark.driver.memory", f"{heap >> 20}m")
            builder = builder.config("spark.driver.defaultJavaOptions", _LOCAL_JAVA)
    session: SparkSession = builder.getOrCreate()
    context = session.sparkContext
    if (context.master or "").startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        # Its Python processes are to find what this one has; by default they are "python3".
        context.pythonExec = sys.executable
    return session


def count_shuffled_bytes(spark: SparkSession) -> int:
    """Return the bytes that a session's executors have written for shuffles so far."""
    store = spark.sparkContext._jsc.sc().statusStore()
    executors = store.executorList(False)
    return sum(executors.apply(number).totalShuffleWrite() for number in range(executors.size()))


def measure_memory(spark: SparkSession) -> int:
    """Return the peak memory of a session's executors in bytes; 0 before any measurement."""
    store = spark.sparkContext._jsc.sc().statusStore()
    executors = store.executorList(False)
    total = 0
    for number in range(executors.size()):
        peak = executors.apply(number).peakMemoryMetrics()
        if peak.isDefined():
            value = peak.get().getMetricValue
            trees = value("ProcessTreeJVMRSSMemory") + value("ProcessTreePythonRSSMemory")
            total += trees or value("JVMHeapMemory") + value("JVMOffHeapMemory")
    return int(total)
