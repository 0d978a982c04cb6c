"""A session for all tests of Spark, and what they compare."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import needs

HERE = Path(__file__).parent

#: Java compiles what runs often for minutes; a test ends before that pays.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            # Sockets of the gateway are closed when the interpreter ends.
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore:.*pandas.*:FutureWarning"))
            # The start of a session takes longer than most tests. The cluster has a driver of
            # its own and waits for most of its time; all else needs neither.
            if "spark" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.xdist_group("spark"))
            elif item.path.name == "test_cluster.py":
                item.add_marker(pytest.mark.xdist_group("spark cluster"))


@pytest.fixture(scope="session", autouse=True)
def _java() -> None:
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip(needs.JAVA)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


@pytest.fixture(scope="session")
def spark(_java: None) -> Iterator:
    """A session for a small machine."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.warehouse.dir": "/nonexistent",
        "spark.log.level": "ERROR",
        # Generating code for each stage takes longer than a few hundred rows without it. The
        # test of a cluster runs with it, as users do.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    builder = SparkSession.builder.master("local[2]").appName("neardup tests").config(map=settings)
    session = builder.getOrCreate()
    yield session
    session.stop()


def read_parts(folder: Path) -> bytes:
    """All part files of a folder, one after the other."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("part-*")))
