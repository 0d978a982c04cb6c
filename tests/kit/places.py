"""Places of files that are not on the disk."""

import pytest
from fsspec.implementations.memory import MemoryFileSystem


@pytest.fixture
def bucket():
    """Files in memory, at addresses that begin with ``memory://``; none are left afterwards."""
    system = MemoryFileSystem()
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]
