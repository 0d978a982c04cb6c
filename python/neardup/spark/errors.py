"""Errors of Spark as errors of neardup, and errors of its Python processes on their way there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import orjson

from neardup import exceptions
from neardup.base.messages import Message
from neardup.exceptions import ClusterError, InputError, NeardupError, ParameterError
from neardup.spark.session import require_spark

#: The last line of a process's error: the class, and the message as JSON.
_OF_PROCESS = re.compile(r"^neardup\.exceptions\.(InputError|ParameterError): (\{.*\})$", re.M)


@contextmanager
def errors_for_driver() -> Iterator[None]:
    """Raise an error of neardup as a text, since Spark hands on no more; `errors_of_processes`
    reads it."""
    try:
        yield
    except (InputError, ParameterError) as error:
        sentence = error.args[0]
        assert isinstance(sentence, Message), "neardup's errors are messages"
        raise type(error)(orjson.dumps(sentence.to_dict()).decode()) from error


@contextmanager
def errors_of_processes() -> Iterator[None]:
    """Raise the error of `errors_for_driver` that made Spark abort the job."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        match = _OF_PROCESS.search(str(error))
        if match is None:
            raise
        kind = getattr(exceptions, match[1])
        raise kind(Message.from_dict(orjson.loads(match[2]))) from error


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise an error of Spark as a `ClusterError` with a single sentence."""
    require_spark()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except NeardupError:
        raise
    except (PySparkException, Py4JError, ConnectionError, EOFError) as error:
        raise ClusterError(
            Message(
                "Spark aborted the job: {reason}. Where memory ran out, raise spark.driver.memory "
                "or spark.executor.memoryOverhead, and run the same command again.",
                reason=_find_cause(str(error)),
            )
        ) from error


def _find_cause(text: str) -> str:
    """Return the most informative line of a Spark error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # A Java exception follows a colon, below the Python call.
    thrown = [line for line in lines if line.startswith((": ", "Caused by:"))]
    line = thrown[-1].removeprefix("Caused by").lstrip(": ") if thrown else "".join(lines[:1])
    return line[:300].rstrip(".") or Message("no reason given")
