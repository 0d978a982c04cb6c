"""What Spark says of a job that it gave up, in a sentence; without Spark's Java."""

import subprocess
import sys

import pytest

from neardup import ClusterError, ParameterError
from neardup.cli.watch import print_summary
from neardup.spark.errors import translate_errors
from neardup.spark.job import SparkSummary

LONG = """An error occurred while calling o42.count.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 4 times
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:3125)
Caused by: java.lang.OutOfMemoryError: Java heap space.
\tat java.base/java.util.Arrays.copyOf(Arrays.java:3537)
"""


def test_missing_pyspark_is_named_with_its_extra():
    program = "import sys; sys.modules['pyspark'] = None\nfrom neardup.cli import main\n"
    program += "sys.exit(main())\n"
    words = ["dedup", "--engine", "spark", "in.jsonl", "-o", "out"]
    result = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, check=False
    )
    assert result.returncode == 2
    assert b"pip install 'neardup[spark]'" in result.stderr


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (lambda: ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
        (EOFError, "no reason given"),
        # The last cause of a long trace.
        (lambda: py4j_error()(LONG), r"java\.lang\.OutOfMemoryError: Java heap space"),
    ],
)
def test_error_names_the_cause_of_the_failed_job(error, cause):
    message = rf"aborted the job: .*{cause}\. .*driver\.memory"
    with pytest.raises(ClusterError, match=message), translate_errors():
        raise error()


def py4j_error():
    from py4j.protocol import Py4JError

    return Py4JError


def test_error_of_neardup_passes_unchanged():
    with pytest.raises(ParameterError, match=r"^its own words$"), translate_errors():
        raise ParameterError("its own words")


@pytest.mark.parametrize("peak", [0, 5_000_000])
def test_unmeasured_peak_is_left_out(capsys, peak):
    print_summary(SparkSummary("dedup", peak_memory=peak), "content(5)", 0.45, None)
    printed = capsys.readouterr().err
    assert "seconds" in printed
    assert ("peak memory" in printed) is (peak > 0)
