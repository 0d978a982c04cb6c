"""Runs a command within limits of time and memory, and sees what it and its children hold.

Memory is looked at while the command runs: a limit of the address space would
count what is reserved and never used. Children are known by their session, so
that one whose parent ended is still counted, and ended.
"""

import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PROCESSES = Path("/proc")
EVERY = 0.2
#: From this size on what processes share is told apart from what each has.
LARGE_MB = 50


class LimitError(Exception):
    """A command took longer or held more than it may."""


@dataclass(frozen=True)
class Limits:
    """What one run may take: seconds from the start of its process, MB of all its processes."""

    seconds: float
    megabytes: float


def limited(arguments, environment, folder, limits=None):
    """Run a command in a folder; return (exit code, standard error, peak MB of its processes)."""
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
    """Wait for a process; return the peak of its session."""
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
    """End what is left of a session."""
    for pid in members(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.kill()
    process.wait()


def members(session):
    """Return the processes of a session; none where the system does not say."""
    found = []
    for folder in PROCESSES.glob("[0-9]*"):
        try:
            # After the name, which may hold anything: state, parent, group, session.
            fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            found.append(int(folder.name))
    return found


def held_mb(pids):
    """Return the memory of processes in MB; what several share is counted once."""
    resident = {pid: pages_mb(pid) for pid in pids}
    large = [pid for pid, size in resident.items() if size > LARGE_MB]
    if len(large) < 2:
        return sum(resident.values())
    return sum(share_mb(pid) or resident[pid] for pid in resident)


def pages_mb(pid):
    """Return what of a process is in memory."""
    try:
        pages = int((PROCESSES / str(pid) / "statm").read_text("ascii").split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def share_mb(pid):
    """Return a process's share of what it holds, each page divided by who holds it."""
    try:
        lines = (PROCESSES / str(pid) / "smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return 0.0
    found = [int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")]
    return found[0] if found else 0.0
