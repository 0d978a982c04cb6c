"""An output file: its format and compression; it appears under its name when it is complete."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zstandard

from neardup.base.files import printable
from neardup.base.lazy import pa
from neardup.base.messages import Message
from neardup.exceptions import ParameterError
from neardup.readers.addresses import is_address
from neardup.readers.formats import Dialect, detect_by_name
from neardup.readers.source import Source
from neardup.writers.address_sink import AddressSink
from neardup.writers.cells import write_csv, write_jsonl
from neardup.writers.sink import FileSink, StandardOutput

if TYPE_CHECKING:
    from neardup.writers.tables import ColumnarTable

#: Files that are complete, for the message after an error.
committed = 0

_FORMATS = ("jsonl", "parquet", "arrow", "csv", "tsv")
#: Formats that compress their own columns.
_PACKED = ("parquet", "arrow")
# Bytes that are compressed together.
_BLOCK = 1 << 20
_ZSTD_LEVEL = 3
_GZIP_LEVEL = 6

_Sink = FileSink | AddressSink | StandardOutput


class Output:
    """One output file. Made by `open_output` or `OutputSet.open`.

    As a context manager, it commits on success and removes its file otherwise.
    """

    def __init__(
        self,
        sink: _Sink,
        format: str,
        compression: str | None,
        part_size: int | None = None,
    ) -> None:
        self.name = sink.name
        self.format = format
        self._sink = sink
        self._bytes: _Sink | _CompressingSink | None = sink
        if compression is not None:
            self._bytes = _CompressingSink(sink, compression)
        self._table: ColumnarTable | None = None
        #: How rows of CSV and TSV are written.
        self.dialect = Dialect("\t" if format == "tsv" else ",")
        self._finished = False
        self._part_size = part_size

    def write(self, data: bytes) -> None:
        """Write bytes unchanged."""
        assert self._bytes is not None
        self._bytes.write(data)

    @property
    def written(self) -> int:
        """The number of bytes that the file has so far; 0 for standard output."""
        return self._sink.written

    def begin(
        self, schema: pa.Schema, sources: Sequence[Source] = (), *, is_cut: bool = False
    ) -> None:
        """Set the columns: a CSV header, or the schema of a Parquet or Arrow file.

        The records are from `sources`, if there are any; `is_cut` if parts of texts are cut out.
        """
        if self.format == "parquet":
            from neardup.writers.tables import ParquetTable

            self._table = ParquetTable(self._bytes, schema, sources, self._part_size)
        elif self.format == "arrow":
            from neardup.writers.tables import ArrowTable

            self._table = ArrowTable(self._bytes, schema, self.name, sources, is_cut=is_cut)
        elif self.format != "jsonl":
            self.write(write_csv([schema.names], self.dialect))

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write rows of an Arrow batch with the schema passed to `begin`."""
        if self._table is not None:
            self._table.write(batch)
            return
        names = batch.schema.names
        self.write_rows(names, zip(*(column.to_pylist() for column in batch.columns), strict=True))

    def write_rows(self, names: Sequence[str], rows: Any) -> None:
        """Write rows of Python values to a text format, in the order of `names`."""
        if self.format == "jsonl":
            self.write(write_jsonl(dict(zip(names, row, strict=True)) for row in rows))
        else:
            self.write(write_csv(rows, self.dialect))

    def arrow_file(self, schema: pa.Schema) -> contextlib.AbstractContextManager[Any]:
        """Yield a writer of an Arrow IPC file, for an output whose bytes the caller writes."""
        from neardup.writers.tables import open_arrow_file

        return open_arrow_file(self._bytes, schema, "lz4")

    @property
    def is_remote(self) -> bool:
        """Whether the output is at an address."""
        return isinstance(self._sink, AddressSink)

    @property
    def part(self) -> tuple[str, str] | None:
        """The final path and the temporary path of the file; None without a file."""
        return self._sink.part

    @property
    def digest(self) -> str | None:
        """The digest of the bytes that are written to a file; None without a token."""
        digest = getattr(self._sink, "digest", None)
        return None if digest is None else str(digest.hexdigest())

    def finish(self) -> None:
        """Flush all bytes to the disk; the file keeps its temporary name."""
        if not self._finished:
            if self._table is not None:
                self._table.close()
            assert self._bytes is not None
            self._bytes.finish()
            self._finished = True
            # A folder may have thousands of files.
            self._table = self._bytes = None

    def commit(self) -> None:
        """Give the file its name, replacing an existing file."""
        global committed
        self.finish()
        self._sink.commit()
        committed += not isinstance(self._sink, StandardOutput)

    def abort(self) -> None:
        """Remove the file, unless it was committed."""
        self._sink.abort()
        if self._table is not None:
            self._table.abandon()

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            if kind is None:
                self.finish()
                with ignore_interrupts():
                    self.commit()
        finally:
            # After a commit, no file is left to remove.
            self.abort()


@contextlib.contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore interrupts for the moment in which outputs get their names."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [n for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]
    before = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in names}
    try:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def open_output(
    path: str | Path | None,
    *,
    force: bool = False,
    format: str | None = None,
    token: str | None = None,
) -> Output:
    """Open an output, which appears under its name when it is committed.

    None and ``-`` are standard output, as JSON Lines; otherwise the extension sets the format.
    For `token`, see `FileSink`.
    """
    if path is None or os.fspath(path) == "-":
        return Output(StandardOutput(), format or "jsonl", None)
    name = os.fspath(path)
    named = detect_by_name(name)
    chosen = format or named.format
    if chosen not in _FORMATS or (chosen in _PACKED and named.compression):
        base = os.path.basename(name)
        dot = base.find(".", 1)
        extension = Message("none")
        if dot > 0:
            extension = Message("'{extension}'", extension=base[dot:])
        raise ParameterError(
            Message(
                "{file}: must end in .jsonl, .csv, .tsv (also .gz, .zst, .xz or .bz2), .parquet "
                "or .arrow. Got {found} instead.",
                code="unknown_format",
                file=printable(name),
                found=extension,
            )
        )
    sink = AddressSink(name, force) if is_address(name) else FileSink(name, force, token=token)
    return Output(sink, chosen, named.compression)


def write_file(path: str | Path, data: bytes, *, force: bool = False) -> None:
    """Write bytes as a file of any extension, compressed as its name says."""
    with open_output(path, force=force, format="jsonl") as output:
        output.write(data)


class _CompressingSink:
    """A sink that compresses into another; the bytes depend only on the content.

    Compressors get blocks of a fixed size; zstd always runs in worker mode, which cuts its
    jobs by size: any number of processors gives the same frame.
    """

    def __init__(self, sink: _Sink, compression: str) -> None:
        self._sink = sink
        self._held = bytearray()
        self._packer: Any
        if compression == "gzip":
            # wbits=31 writes a header with mtime 0 and no name.
            self._packer = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, 31)
        elif compression == "xz":
            import lzma

            self._packer = lzma.LZMACompressor()
        elif compression == "bzip2":
            import bz2

            self._packer = bz2.BZ2Compressor()
        else:
            compressor = zstandard.ZstdCompressor(
                level=_ZSTD_LEVEL, threads=os.cpu_count() or 1, write_checksum=True
            )
            self._packer = compressor.compressobj()

    def write(self, data: bytes) -> int:
        self._held += data
        if len(self._held) >= _BLOCK:
            whole = len(self._held) - len(self._held) % _BLOCK
            with memoryview(self._held) as view:
                for begin in range(0, whole, _BLOCK):
                    self._pass_on(self._packer.compress(view[begin : begin + _BLOCK]))
            del self._held[:whole]
        return len(data)

    def finish(self) -> None:
        self._pass_on(self._packer.compress(bytes(self._held)))
        self._pass_on(self._packer.flush())
        self._held.clear()
        self._sink.finish()

    def _pass_on(self, packed: bytes) -> None:
        if packed:
            self._sink.write(packed)
