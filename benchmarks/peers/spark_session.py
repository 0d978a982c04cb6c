"""A Spark session on this machine, shared by all engines that need one."""

import os
import sys

from pyspark.sql import SparkSession


def started(folder, memory):
    """Start Spark with as many cores as other engines have threads."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(f"local[{os.environ['RAYON_NUM_THREADS']}]")
        .config("spark.driver.memory", memory)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session
