"""What the public tasks share, and no user imports."""

__version__ = "0.1.0"
