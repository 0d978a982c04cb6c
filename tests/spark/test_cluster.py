"""A cluster on loopback, started by Spark: two workers, and the command as driver."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from neardup.tasks.dedup import dedup_files
from tests.spark.collections import lines
from tests.spark.conftest import JAVA_OPTIONS, read_parts
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.spark, pytest.mark.slow]

RECIPE = "news"

#: Workers and their executors, with the cores and megabytes of each.
MASTER = "local-cluster[2,1,512]"
DRIVER = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Beside those with which neardup starts a driver that does all the work.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": JAVA_OPTIONS,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Small enough that both workers have something to do.
    "spark.sql.files.maxPartitionBytes": "60000",
    "spark.files.openCostInBytes": "1000",
}


def started(source: Path, folder: Path) -> subprocess.Popen[bytes]:
    import pyspark

    # The cluster's files are below Spark's own folder.
    home = folder / "spark"
    home.mkdir()
    for path in Path(pyspark.__file__).parent.iterdir():
        (home / path.name).symlink_to(path)
    settings = " ".join(f"--conf '{name}={value}'" for name, value in DRIVER.items())
    options = ["--engine", "spark", "--master", MASTER]
    options += ["--checkpoint", folder / "checkpoint", "--removed", folder / "removed"]
    # It compares fingerprints alone, so that the job has half as many stages.
    options += ["--recipe", RECIPE]
    return subprocess.Popen(
        [sys.executable, "-m", "neardup", "dedup", source, "-o", folder / "kept", *options],
        env=os.environ
        | {"SPARK_HOME": str(home), "PYSPARK_SUBMIT_ARGS": f"{settings} pyspark-shell"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # With all that it starts.
        start_new_session=True,
    )


def executors(driver: subprocess.Popen[bytes]) -> list[int]:
    """The processes of a driver's executors."""
    of_session = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            is_of_driver = os.getsid(int(path.parent.name)) == driver.pid
            if is_of_driver and b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words:
                of_session.append(int(path.parent.name))
    return of_session


def normal(line: bytes) -> tuple[object, ...]:
    # One machine reads the titles too.
    titles = ("title", "kept_title")
    return tuple(value for name, value in orjson.loads(line).items() if name not in titles)


def test_lost_executor_changes_no_byte(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"\n".join(lines(11, 300)))
    driver = started(source, tmp_path)
    try:
        # What it has made of the keys of documents is lost with it.
        made = tmp_path / "checkpoint" / "round-0" / "candidates" / "_SUCCESS"
        until(lambda: made.exists() or driver.poll() is not None, "the first candidates")
        one, _ = executors(driver)
        os.kill(one, signal.SIGKILL)
        assert driver.poll() is None
        printed = driver.communicate(timeout=2 * PATIENCE)[0].decode()
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    # Some records could not be read.
    assert driver.returncode == 2, printed
    assert "bytes per document" in printed
    outputs = {"output": tmp_path / "one.jsonl", "removed": tmp_path / "one-removed.jsonl"}
    dedup_files([source], recipe=RECIPE, **outputs)
    assert read_parts(tmp_path / "kept") == (tmp_path / "one.jsonl").read_bytes()
    removed = read_parts(tmp_path / "removed").splitlines()
    expected = (tmp_path / "one-removed.jsonl").read_bytes().splitlines()
    assert sorted(map(normal, removed)) == sorted(map(normal, expected))
    assert len(removed) > 40
