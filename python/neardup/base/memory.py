"""The memory limit of a run, and its division among the parts of a run."""

from __future__ import annotations

import contextlib
import operator
import os
import re
from pathlib import Path
from typing import Any

from neardup.base.lazy import _core
from neardup.base.validation import bad

#: The smallest limit: for the interpreter, its libraries and the batches being read.
LEAST = 512 << 20

#: The smallest part of an output.
LEAST_PART = 1_000_000

#: The default on small machines: the table of common shingles, of which there are two copies
#: while it grows, needs more than the smallest limit.
_LEAST_DEFAULT = 1 << 30

_UNITS = {
    "": 1,
    **{unit: 1000**power for power, unit in enumerate(("kb", "mb", "gb", "tb"), 1)},
    **{unit: 1024**power for power, unit in enumerate(("kib", "mib", "gib", "tib"), 1)},
}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", re.IGNORECASE)


def check_memory(value: Any, name: str = "memory") -> int:
    """Return a size in bytes, from a whole number, text like ``4GB`` or ``1.5 GiB``, or None.

    None means half of the memory of the machine or the container, and at least 1 GiB.
    """
    if value is None:
        return max(_LEAST_DEFAULT, _find_machine_memory() // 2)
    size = _parse_size(value)
    if size is None or size < LEAST:
        raise bad(
            name,
            "a size of at least {least}MiB, such as '4GB' or '1.5 GiB'",
            value,
            least=LEAST >> 20,
        )
    # More than any machine has is no limit.
    return min(size, 1 << 62)


def check_max_text(value: Any, name: str = "max_text") -> int:
    """Return the size of the longest text in bytes, from what `check_memory` takes."""
    size = _parse_size(value)
    if size is None or not 1 <= size <= _core.MAX_TEXT_BYTES:
        raise bad(
            name,
            "a size from 1 byte to {most}MiB, such as 1000000 or '64MiB'",
            value,
            most=_core.MAX_TEXT_BYTES >> 20,
        )
    return size


def check_part_size(value: Any, name: str = "part_size") -> int:
    """Return the size of a part in bytes, from what `check_memory` takes."""
    size = _parse_size(value)
    if size is None or size < LEAST_PART:
        raise bad(name, "a size of at least 1MB, such as '1GB' or '256 MiB'", value)
    return size


def _parse_size(value: Any) -> int | None:
    """Return a size in bytes; None if the value is none."""
    if isinstance(value, str):
        match = _SIZE.fullmatch(value.strip())
        unit = None if match is None else _UNITS.get(match[2].lower())
        if match is not None and unit is not None:
            # A float overflows with too many digits.
            with contextlib.suppress(OverflowError):
                return int(float(match[1]) * unit)
    elif not isinstance(value, bool):
        with contextlib.suppress(TypeError):
            # Accepts NumPy integers too.
            return operator.index(value)
    return None


def memory_of(size: int, folder: Path | None, *, sketches: bool) -> _core.Memory:
    """Return the memory of each part of a run with a limit of `size` bytes.

    Each part is a share of the limit. Texts have a sixteenth, and so have sketches if they may
    leave memory. The samples by which documents are compared have an eighth. Values that are
    derived from texts have half of that, and samples read from a file a quarter. The keys of
    documents have an eighth while they are joined. The rest is for data that grows with every
    document.
    """
    share = size // 16
    return _core.Memory(
        texts=share,
        sketches=share if sketches else None,
        compared=2 * share,
        keys=2 * share,
        folder=folder,
    )


def _find_machine_memory() -> int:
    """Return the memory of this machine, or of the container that the process is in."""
    sizes = []
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            sizes.append(int(Path(path).read_text()))
        except (OSError, ValueError):
            continue
    try:
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        # If the system does not tell, assume what most machines have at least.
        sizes.append(4 << 30)
    return min(sizes)
