"""Optional packages, which only some parts of neardup need."""

from __future__ import annotations

import importlib

from neardup.base.messages import Message
from neardup.exceptions import MissingDependencyError


def require(what: str, extra: str, *modules: str) -> None:
    """Import modules of an extra, or raise an error with the command that installs them."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise MissingDependencyError(
                Message(
                    "{what} needs {module}. Install it with: pip install 'neardup[{extra}]'",
                    what=Message(what),
                    module=module,
                    extra=extra,
                )
            ) from error
