"""The machine and the commit of a measurement."""

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path


def facts():
    """Return the machine, the system and the date as plain data."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gb": memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def processor():
    """Return the processor's name as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def memory_gb():
    """Return the memory in GB, or None if the system does not report it."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (ValueError, OSError):
        return None


def memory(pid="self"):
    """Return the memory of a process in MB: own pages, file pages, and peak.

    None if the system does not report them. The peak is VmHWM, not ru_maxrss: the latter survives
    exec, so a new process begins with the memory of its parent.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii")
    except OSError:
        return None
    kilobytes = dict(re.findall(r"(\w+):\s*(\d+) kB", status))
    names = {"own": "RssAnon", "mapped": "RssFile", "peak": "VmHWM"}
    return {name: int(kilobytes[field]) / 1024 for name, field in names.items()}


def commit():
    """Return the commit, with a plus if files differ from it."""
    root = Path(__file__).resolve().parent.parent
    try:
        git = ["git", "-C", str(root), "describe", "--always", "--dirty=+", "--abbrev=10"]
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
