"""NumPy and pyarrow, each imported where it is first used.

Their imports take longer than all else that a small run does, and JSON lines need neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["np", "pa"]

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
else:

    class _Lazy:
        """A module that is imported when an attribute is asked for."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module(self._name), name)
            setattr(self, name, value)
            return value

    np, pa = _Lazy("numpy"), _Lazy("pyarrow")
