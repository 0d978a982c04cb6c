"""Processes that use an index, started fast enough to be killed by the dozen."""

import contextlib
import json
import os
import signal
from itertools import islice

from tests.forks import context
from tests.index.written import stream

from neardup import Index, NeardupError
from neardup.base.progress import Progress
from neardup.index.ingest import first_import, transaction

#: How a child ends that an error of the package ended.
REFUSED = 3


def barrier(count):
    """Where so many children wait for each other."""
    return context.Barrier(count, timeout=60)


class Child:
    """A process that runs a function with a channel to tell what is done."""

    def __init__(self, function, *arguments):
        self._reader, writer = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_run, args=(function, writer, *arguments), daemon=True
        )
        self._process.start()
        # The channel ends when the child does.
        writer.close()
        self.told = []

    def wait_for(self, count):
        """Read until so much was told in all, or nothing more comes; return whether it was."""
        while len(self.told) < count:
            try:
                self.told.append(json.loads(self._reader.recv_bytes()))
            except (EOFError, OSError):
                return False
        return True

    @contextlib.contextmanager
    def held(self):
        """Hold it wherever it is, so that it does not end meanwhile, however fast it is."""
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)

    def kill(self):
        """Kill it as nothing can be caught; reading goes on."""
        self._process.kill()

    def end(self):
        """Read to the end, and return the exit code; negative for a signal."""
        while self.wait_for(len(self.told) + 1):
            pass
        self._reader.close()
        self._process.join(60)
        code = self._process.exitcode
        self._process.close()
        return code


def _run(function, writer, *arguments):
    try:
        function(lambda what: writer.send_bytes(json.dumps(what).encode()), *arguments)
    except NeardupError as error:
        writer.send_bytes(json.dumps(f"{type(error).__name__}: {error}").encode())
        raise SystemExit(REFUSED) from None


class _IdReporter(Progress):
    """Tells the ids of the documents that are stored."""

    def __init__(self, tell, many):
        self._tell, self._left = tell, iter(many)

    def advance(self, documents, _size=0):
        if documents:
            self._tell([row["id"] for row in islice(self._left, documents)])


def add_parts(index, many, size):
    """Add documents `size` at a time, for 0 one by one; give the ids of each part once it is there.

    They are added as they arrive, not as a first import.
    """
    for begin in range(0, len(many), size or 1):
        part = many[begin : begin + (size or 1)]
        if size:
            assert not any(decision.problem for decision in stream(index, part))
        else:
            index.add(part[0]["id"], part[0]["text"])
        yield [row["id"] for row in part]


def add_all(tell, place, many, size, options):
    """Add documents and tell their ids; for None as a first import of small transactions."""
    with Index(place, **options) as index:
        tell("open")
        if size is None:
            transaction.BATCH, first_import._WRITTEN = 10, 40
            index.add_many(many, progress=_IdReporter(tell, many))
        else:
            for ids in add_parts(index, many, size):
                tell(ids)


def add_at_once(tell, place, together, texts, name, options):
    """Make or open an index and add documents, each at the moment in which others add theirs."""
    together.wait()
    with Index(place, **options) as index:
        tell(index.stats().threshold)
        for number, text in enumerate(texts):
            together.wait()
            index.add(f"{name}{number}", text)
