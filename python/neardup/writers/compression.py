"""Compressors whose output depends only on the content.

- Both get blocks of a fixed size, independent of the caller's writes.
- gzip headers have no time and no name.
- zstd always runs in worker mode, which cuts its jobs by size, so that any number of
  workers gives the same frame; the mode without workers gives another one.
"""

import os
import zlib
from typing import Any, Protocol

import zstandard

__all__ = ["ByteSink", "compressed"]

_BLOCK = 1 << 20
_ZSTD_LEVEL = 3
_GZIP_LEVEL = 6


class ByteSink(Protocol):
    """A sink for bytes in order."""

    def write(self, data: bytes) -> int:
        """Write bytes and return their number."""
        ...

    def finish(self) -> None:
        """Write the buffered bytes; no write may follow."""
        ...


class _Compressed:
    def __init__(self, below: ByteSink, compression: str, workers: int) -> None:
        self._below = below
        self._held = bytearray()
        self._packer: Any
        if compression == "gzip":
            # wbits=31 writes a header with mtime 0 and no name.
            self._packer = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, 31)
        else:
            compressor = zstandard.ZstdCompressor(
                level=_ZSTD_LEVEL, threads=max(1, workers), write_checksum=True
            )
            self._packer = compressor.compressobj()

    def write(self, data: bytes) -> int:
        self._held += data
        if len(self._held) >= _BLOCK:
            whole = len(self._held) - len(self._held) % _BLOCK
            with memoryview(self._held) as view:
                for begin in range(0, whole, _BLOCK):
                    self._pass(self._packer.compress(view[begin : begin + _BLOCK]))
            del self._held[:whole]
        return len(data)

    def finish(self) -> None:
        self._pass(self._packer.compress(bytes(self._held)))
        self._pass(self._packer.flush())
        self._held.clear()
        self._below.finish()

    def _pass(self, packed: bytes) -> None:
        if packed:
            self._below.write(packed)


def compressed(below: ByteSink, compression: str | None, workers: int | None = None) -> ByteSink:
    """Return a sink that compresses into another; `workers` changes no byte."""
    if compression is None:
        return below
    return _Compressed(below, compression, workers or os.cpu_count() or 1)
