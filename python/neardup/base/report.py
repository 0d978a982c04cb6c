"""The report of a command, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from neardup.base import __version__


def report_bytes(content: Mapping[str, Any]) -> bytes:
    """Return a report as JSON, with the versions of what results may depend on."""
    report = {**content, "versions": _versions()}
    text = json.dumps(report, ensure_ascii=False, indent=2, default=_as_text)
    return f"{text}\n".encode(errors="backslashreplace")


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _versions() -> dict[str, str]:
    import platform

    import numpy
    import pyarrow

    return {
        "neardup": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "pyarrow": pyarrow.__version__,
        "platform": platform.platform(),
    }
