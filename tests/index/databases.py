"""On which databases tests run: on SQLite, and what differs by database on PostgreSQL too."""

import pytest

BOTH = pytest.mark.databases("sqlite", "postgresql")
