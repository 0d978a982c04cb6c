"""Sessions of Spark: their settings during a job, their errors and their metrics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from neardup._engine.messages import Message
from neardup.exceptions import ClusterError, MissingDependencyError, NeardupError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Bytes of Arrow batches: rows of blobs are large, and there are several at a time.
_BATCH_BYTES = 16 << 20

#: What can be set only before a session begins: executors measure the memory of their
#: Python processes too.
_STATIC = {"spark.executor.processTreeMetrics.enabled": "true"}

_SPLIT = "spark.sql.files.maxPartitionBytes"
_OPEN = "spark.sql.files.openCostInBytes"


def require_spark() -> None:
    """Raise MissingDependencyError if PySpark is not installed."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingDependencyError(Message("spark.needs_pyspark")) from None


@contextmanager
def settings_for(
    spark: SparkSession, partitions: int, documents: int, split: int | None = None
) -> Iterator[None]:
    """Set what a job needs in a session, and set it back.

    With `split`, files are read in parts of so many bytes, none of which has several: Spark
    would put small ones together by size, and so break the order of the input.
    """
    wanted = {
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(documents),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(_BATCH_BYTES),
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
        # Rows are few and large, and dealt evenly: to plan anew after each step costs more
        # than it could gain.
        "spark.sql.adaptive.enabled": "false",
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


def split_bytes(spark: SparkSession, size: int, files: int) -> int:
    """Return the bytes that Spark reads in a task, of so many bytes in so many files."""
    jvm: Any = spark._jvm
    parse = jvm.org.apache.spark.network.util.JavaUtils.byteStringAsBytes
    most, opened = (int(parse(spark.conf.get(name))) for name in (_SPLIT, _OPEN))
    each = (size + files * opened) // spark.sparkContext.defaultParallelism
    return max(min(most, max(opened, each)), 1)


def partitions_of(frame: DataFrame) -> int:
    """Return the tasks that a table is read in.

    If its plan does not tell, Spark is asked, which may sample the table to do so.
    """
    plan = frame._jdf.queryExecution().executedPlan()
    planned = int(plan.outputPartitioning().numPartitions())
    return planned or max(frame.rdd.getNumPartitions(), 1)


def start(master: str | None, name: str = "neardup dedup") -> SparkSession:
    """Return a session on a cluster; the one that is there, if there is one."""
    require_spark()
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.appName(name)
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            # There the driver does all the work, and Spark's one gigabyte is for none.
            builder = builder.config("spark.driver.memory", f"{_local_heap() >> 20}m")
    for name, value in _STATIC.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()  # type: ignore[no-any-return]


def _local_heap() -> int:
    """Return bytes for Java on one machine: a third of what there is, 4 GiB at most."""
    from neardup._engine.memory import check_memory

    return min(2 * check_memory(None) // 3, 4 << 30)


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise an error of Spark as a `ClusterError` with one sentence.

    Raises
    ------
    ClusterError
    MissingDependencyError
        If PySpark is not installed.
    """
    require_spark()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except NeardupError:
        raise
    except (PySparkException, Py4JError, ConnectionError, EOFError) as error:
        raise ClusterError(Message("spark.given_up", reason=_cause(str(error)))) from error


def _cause(said: str) -> str:
    """Return the line of an error of Spark that says most."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    # What Java threw stands behind a colon, below what Python called.
    thrown = [line for line in lines if line.startswith((": ", "Caused by:"))]
    line = thrown[-1].removeprefix("Caused by").lstrip(": ") if thrown else "".join(lines[:1])
    return line[:300].rstrip(".") or Message("spark.without_a_word")


def shuffled_bytes(spark: SparkSession) -> int:
    """Return the bytes that all executors of a session have written for shuffles so far."""
    store = spark.sparkContext._jsc.sc().statusStore()
    executors = store.executorList(False)
    return sum(executors.apply(at).totalShuffleWrite() for at in range(executors.size()))


def peak_memory(spark: SparkSession) -> int:
    """Return the peak memory of all executors of a session, in bytes, with their Python
    processes where Spark measures them; 0 if it has not measured anything yet."""
    store = spark.sparkContext._jsc.sc().statusStore()
    executors = store.executorList(False)
    total = 0
    for at in range(executors.size()):
        peak = executors.apply(at).peakMemoryMetrics()
        if peak.isDefined():
            value = peak.get().getMetricValue
            trees = value("ProcessTreeJVMRSSMemory") + value("ProcessTreePythonRSSMemory")
            total += trees or value("JVMHeapMemory") + value("JVMOffHeapMemory")
    return int(total)
