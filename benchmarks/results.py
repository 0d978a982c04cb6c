"""The stored results, one JSON file for each case in results/, and where they were measured."""

import datetime
import json
import os
import platform
import re
import subprocess
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


def stored(name):
    """Return a stored result, or None."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def store(name, result):
    """Store a result in place of the previous one."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")


def machine():
    """Return the machine, the system, the commit and the date as plain data."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def processor():
    """Return the processor's name as the system reports it."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def commit():
    """Return the commit, with a plus if files differ from it."""
    root = Path(__file__).resolve().parent.parent
    try:
        git = ["git", "-C", str(root), "describe", "--always", "--dirty=+", "--abbrev=10"]
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def memory(pid="self"):
    """Return the memory of a process in MB: own pages, file pages, and peak.

    The peak is VmHWM, not ru_maxrss: the latter survives exec, so a new process begins with the
    memory of its parent.
    """
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    kilobytes = dict(re.findall(r"(\w+):\s*(\d+) kB", status))
    names = {"own": "RssAnon", "mapped": "RssFile", "peak": "VmHWM"}
    return {name: int(kilobytes[field]) / 1024 for name, field in names.items()}
