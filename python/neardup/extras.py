"""Packages that only some parts of neardup need."""

from __future__ import annotations

import importlib

from neardup.exceptions import MissingDependencyError

__all__ = ["require"]


def require(what: str, extra: str, *modules: str) -> None:
    """Import modules of an extra, or raise an error with the line that installs them.

    Parameters
    ----------
    what : str
        What needs them, as the beginning of a sentence: ``An index``.
    extra : str
        The extra of neardup that has them.
    *modules : str

    Raises
    ------
    MissingDependencyError
        If one of them cannot be imported.

    Examples
    --------
    >>> require("An example", "index", "no_such_module")
    Traceback (most recent call last):
      ...
    neardup.exceptions.MissingDependencyError: An example needs no_such_module. Install it with:
    pip install 'neardup[index]'
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise MissingDependencyError(
                f"{what} needs {module}. Install it with: pip install 'neardup[{extra}]'"
            ) from error
