"""Temporary folders of services, and their removal after a service was killed.

Each process of a service holds a lock on a file in its folder as long as it lives. A folder
whose locks are all free belongs to nobody: the next service that starts removes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

try:
    import fcntl
except ImportError:
    # Windows has one process for a service, and this is for several.
    fcntl = None  # type: ignore[assignment]

__all__ = ["CHECKS", "SERVICE", "hold_lock", "is_free", "lock_path", "remove_abandoned"]

#: How the names of folders begin: of the checks of one process, and of a service of several.
CHECKS, SERVICE = "neardup-checks-", "neardup-service-"

#: Where locks are, below a folder: those of a service's processes are with its checks.
_LOCKS = (".process-*", "checks/.process-*")


def lock_path(folder: Path, owner: str) -> Path:
    """Return the file that a process locks in a folder."""
    return folder / f".process-{owner}"


def hold_lock(folder: Path, owner: str) -> int | None:
    """Lock a folder for this process.

    Parameters
    ----------
    folder : Path
    owner : str
        What the process is called in it.

    Returns
    -------
    int or None
        A descriptor; the lock is held until it is closed. None on systems without locks.
    """
    if fcntl is None:
        return None
    # Under its name the file is locked from the first moment on.
    new = folder / f".new-{owner}"
    descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    new.rename(lock_path(folder, owner))
    return descriptor


def is_free(lock: Path) -> bool:
    """Return whether no process holds a lock; False on systems without locks."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def remove_abandoned() -> None:
    """Remove folders of services that were killed: reports are nobody else's business."""
    if fcntl is None:
        return
    temporary = Path(tempfile.gettempdir())
    for folder in [*temporary.glob(f"{CHECKS}*"), *temporary.glob(f"{SERVICE}*")]:
        with contextlib.suppress(OSError):
            mine = folder.lstat().st_uid == os.getuid()
            locks = [lock for pattern in _LOCKS for lock in folder.glob(pattern)]
            if mine and locks and all(map(is_free, locks)):
                shutil.rmtree(folder, ignore_errors=True)
