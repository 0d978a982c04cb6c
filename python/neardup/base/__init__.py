"""Modules that the public tasks share. No user imports them."""

__version__ = "0.1.0"
