"""Optional packages, which only some parts of neardup need."""

from __future__ import annotations

import importlib

from neardup.base.messages import Message
from neardup.exceptions import MissingDependencyError

__all__ = ["require"]


def require(what: str, extra: str, *modules: str) -> None:
    """Import modules of an extra, or raise an error with the command that installs them.

    Parameters
    ----------
    what : str
        Code of the part that needs them, such as ``readers.an_index``.
    extra : str
        The extra of neardup that has them.
    *modules : str

    Raises
    ------
    MissingDependencyError
        If one of them cannot be imported.

    Examples
    --------
    >>> require("readers.an_index", "index", "no_such_module")
    Traceback (most recent call last):
      ...
    neardup.exceptions.MissingDependencyError: An index needs no_such_module. Install it with:
    pip install 'neardup[index]'
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise MissingDependencyError(
                Message("readers.needs", what=Message(what), module=module, extra=extra)
            ) from error
