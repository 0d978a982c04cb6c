"""A real standalone cluster on loopback: a master, two workers, and the command as driver."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from neardup.dedup import dedup_files
from tests.spark.collections import lines
from tests.spark.conftest import JAVA_OPTIONS, read_parts

pytestmark = [pytest.mark.spark, pytest.mark.slow]

#: Seconds for what takes a few.
PATIENCE = 240

DRIVER = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": JAVA_OPTIONS,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": JAVA_OPTIONS,
    "spark.executor.cores": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Small enough that both workers have something to do.
    "spark.sql.files.maxPartitionBytes": "60000",
    "spark.files.openCostInBytes": "1000",
}


@dataclass
class Cluster:
    """Processes of a cluster, each in a session of its own."""

    folder: Path
    port: int = 0
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    master: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        settings = " ".join(f"--conf '{name}={value}'" for name, value in DRIVER.items())
        return os.environ | {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": JAVA_OPTIONS,
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_SUBMIT_ARGS": f"{settings} pyspark-shell",
        }

    def start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        import pyspark

        home = Path(pyspark.__file__).parent
        with open(self.folder / f"{kind}-{len(self.workers)}.log", "wb") as log:
            return subprocess.Popen(
                [home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *arguments],
                env=self.environment(),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def begin(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        address = ("--host", "127.0.0.1", "--webui-port", "0")
        self.master = self.start("master.Master", *address, "--port", str(self.port))
        wait(lambda: is_open(self.port))
        self.add_workers(2)

    def add_workers(self, count: int) -> None:
        limits = ("--cores", "1", "--memory", "600m", "--host", "127.0.0.1", "--webui-port", "0")
        for number in range(count):
            work = str(self.folder / f"worker-{number}")
            self.workers.append(self.start("worker.Worker", *limits, "--work-dir", work, self.url))
        wait(lambda: self.registered() == count)

    def registered(self) -> int:
        logs = [path.read_text() for path in self.folder.glob("master.*.log")]
        return "".join(logs).count("Registering worker")

    def kill_a_worker(self) -> None:
        """With its executor, which is in the same session."""
        worker = self.workers.pop()
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def end(self) -> None:
        for process in [*self.workers, self.master]:
            if process is not None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait(holds) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "took too long"
        time.sleep(0.1)


@pytest.fixture
def cluster(tmp_path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    try:
        made.begin()
        yield made
    finally:
        made.end()


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"\n".join(lines(11, 300)))
    return path


def command(cluster: Cluster, source: Path, folder: Path) -> subprocess.Popen[bytes]:
    options = ["--engine", "spark", "--master", cluster.url]
    options += ["--checkpoint", str(folder / "checkpoint"), "--removed", str(folder / "removed")]
    return subprocess.Popen(
        [sys.executable, "-m", "neardup", "dedup", source, "-o", folder / "kept", *options],
        env=cluster.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def finished(driver: subprocess.Popen[bytes]) -> str:
    """Wait for the command; it ends with 2, as records could not be read."""
    printed = driver.communicate(timeout=PATIENCE)[0].decode()
    assert driver.returncode == 2, printed
    return printed


def check(source: Path, folder: Path) -> None:
    dedup_files([source], folder / "one.jsonl", removed=folder / "one-removed.jsonl")
    assert read_parts(folder / "kept") == (folder / "one.jsonl").read_bytes()
    removed = read_parts(folder / "removed").splitlines()
    expected = (folder / "one-removed.jsonl").read_bytes().splitlines()
    assert sorted(map(normal, removed)) == sorted(map(normal, expected))
    assert len(removed) > 40


def normal(line: bytes) -> tuple[object, ...]:
    import orjson

    # One machine reads the titles too.
    titles = ("title", "kept_title")
    return tuple(value for name, value in orjson.loads(line).items() if name not in titles)


def test_two_workers_of_which_one_is_killed(cluster, source, tmp_path):
    driver = command(cluster, source, tmp_path)
    # What it has made of the keys of documents is lost with it.
    wait(lambda: (tmp_path / "checkpoint" / "round-0" / "candidates" / "_SUCCESS").exists())
    executors = [log for log in tmp_path.glob("worker-*/app-*/*/stderr") if log.stat().st_size]
    assert len(executors) == 2
    cluster.kill_a_worker()
    assert driver.poll() is None
    printed = finished(driver)
    check(source, tmp_path)
    assert "bytes per document" in printed
