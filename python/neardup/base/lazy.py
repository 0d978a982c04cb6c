"""Imports at first use: NumPy, pyarrow, the core, and the modules of a package.

NumPy and pyarrow take longer to import than a small run takes for all else. JSON lines need
neither, and help needs no core.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["NDArray", "_core", "np", "orjson", "pa", "parts"]

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    import orjson
    import pyarrow as pa
    from numpy.typing import NDArray

    import neardup._core as _core
else:

    class _Lazy:
        """A module that is imported when an attribute is asked for."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module(self._name), name)
            setattr(self, name, value)
            return value

    np, pa, orjson = _Lazy("numpy"), _Lazy("pyarrow"), _Lazy("orjson")
    _core = _Lazy("neardup._core")
    # Annotations are not evaluated.
    NDArray = None


def parts(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package from the names in each module, with blanks between."""
    homes = {name: module for module, several in names.items() for name in several.split()}

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return attribute
