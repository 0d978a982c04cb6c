"""Runs a command within limits of time and memory.

The memory of the command and its children is sampled while they run. A limit on the address space
would also count memory that is reserved but never used. Children are found by their session: so a
child whose parent has ended is still counted, and ended.
"""

import contextlib
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass

import psutil

EVERY = 0.2
#: From two processes of this size on, shared memory is counted once.
LARGE_MB = 50


class LimitError(Exception):
    """A command exceeded a limit of time or memory."""


@dataclass(frozen=True)
class Limits:
    """The limits of one run.

    Seconds since the start of its process, and megabytes of all its processes together.
    """

    seconds: float
    megabytes: float


def limited(arguments, environment, folder, limits=None):
    """Run a command in a folder. Return (exit code, standard error, peak MB of its processes)."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            arguments,
            env=environment,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        try:
            peak = watched(process, limits)
        finally:
            end(process)
        errors.seek(0)
        return process.returncode, errors.read(), peak


def watched(process, limits):
    """Wait for a process; return the peak memory of its session in MB."""
    begun, peak = time.monotonic(), 0.0
    while process.poll() is None:
        time.sleep(EVERY)
        peak = max(peak, held_mb(members(process.pid)))
        seconds = time.monotonic() - begun
        if limits and seconds > limits.seconds:
            raise LimitError(f"over {limits.seconds:g} s")
        if limits and peak > limits.megabytes:
            raise LimitError(f"over {limits.megabytes / 1000:g} GB after {seconds:.0f} s")
    return peak


def end(process):
    """End the remaining processes of a session."""
    for one in members(process.pid):
        with contextlib.suppress(psutil.Error):
            one.kill()
    process.kill()
    process.wait()


def members(session):
    """Return the processes of a session."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(OSError):
            if os.getsid(process.pid) == session:
                found.append(process)
    return found


def held_mb(processes):
    """Return the memory of processes in MB. Memory that several of them share is counted once."""
    resident = [memory_of(process, "rss") for process in processes]
    if sum(size > LARGE_MB for size in resident) < 2:
        return sum(resident)
    # Each page is divided by the number of processes that share it.
    return sum(memory_of(process, "pss") for process in processes)


def memory_of(process, kind):
    """Return the memory of a process in MB; 0 if it has ended."""
    try:
        found = process.memory_info() if kind == "rss" else process.memory_full_info()
    except psutil.Error:
        return 0.0
    # Only Linux reports these shares.
    return getattr(found, kind, found.rss) / 2**20
