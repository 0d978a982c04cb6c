"""Files at addresses: bytes are written to a temporary file here, sent, and then named."""

import contextlib
import secrets
import tempfile
from collections.abc import Iterator
from typing import Any

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.exceptions import NeardupError, OutputError
from neardup.readers.addresses import describe_error, find_file_system, is_web
from neardup.writers.sink import make_exists_error, make_write_error

#: Schemes of stores of objects whose libraries take a file in parts and commit them on demand.
_TAKE_PARTS = {"s3", "s3a", "gs", "gcs"}
#: Bytes of a part, and the largest number of parts; stores take 10,000.
_PART_BYTES = 8 << 20
_MOST_PARTS = 9_000


class AddressSink:
    """A file at an address: written to a temporary file here, sent by `finish`, named by `commit`.

    A store of objects takes it in parts, which become an object when they are committed. Elsewhere
    it is sent under a temporary name.
    """

    part = None

    def __init__(self, address: str, force: bool) -> None:
        self.name, self._address = printable(address), address
        check_writable(address)
        self._system, self._path = find_file_system(address)
        self._takes_parts = address.partition("://")[0].lower() in _TAKE_PARTS
        #: What was sent and has no name: the parts, or a temporary path.
        self._parts: Any = None
        self._sent: str | None = None
        with refuse_address_errors(self._address):
            if not force and self._system.exists(self._path):
                raise make_exists_error(self.name)
            # Named, since the libraries send files by their names.
            self._file = tempfile.NamedTemporaryFile(prefix="neardup-")  # noqa: SIM115

    def write(self, data: bytes) -> int:
        """Write bytes."""
        with refuse_address_errors(self._address):
            return self._file.write(data)

    @property
    def written(self) -> int:
        """The number of bytes written."""
        return self._file.tell()

    def finish(self) -> None:
        """Send the file, which takes its time and may be interrupted; nobody sees it yet."""
        with refuse_address_errors(self._address):
            self._file.flush()
            if self._takes_parts:
                self._send_parts()
            else:
                folder, _, name = self._path.rpartition("/")
                self._sent = f"{folder}/.{name}.{secrets.token_hex(4)}.tmp"
                self._system.put_file(self._file.name, self._sent)
            self._file.close()

    def _send_parts(self) -> None:
        size = max(_PART_BYTES, -(-self._file.tell() // _MOST_PARTS))
        self._file.seek(0)
        self._parts = self._system.open(self._path, "wb", block_size=size, autocommit=False)
        # One after the other: the library goes on in a thread with what an interrupt ends here.
        while data := self._file.read(size):
            self._parts.write(data)
        self._parts.close()

    def commit(self) -> None:
        """Give what was sent its name."""
        with refuse_address_errors(self._address):
            if self._parts is not None:
                self._parts.commit()
            else:
                self._system.mv(self._sent, self._path)
        self._parts = self._sent = None

    def abort(self) -> None:
        """Remove the temporary file, and what was sent unless it has its name."""
        self._file.close()
        # What cannot be removed is not seen by readers of folders.
        with contextlib.suppress(Exception):
            if self._parts is not None:
                # Otherwise the library sends the rest when it is collected.
                self._parts.closed = True
                self._parts.discard()
            elif self._sent is not None:
                self._system.rm_file(self._sent)
        self._parts = self._sent = None


@contextlib.contextmanager
def refuse_address_errors(address: str) -> Iterator[None]:
    """Turn errors of the library, which may be of any kind, into an OutputError."""
    try:
        yield
    except NeardupError:
        raise
    except Exception as error:
        raise make_write_error(printable(address), describe_error(error, address)) from error


def check_writable(address: str) -> None:
    """Refuse an address of a web server as an output."""
    if is_web(address):
        raise OutputError(
            Message(
                "{file}: a web server cannot be written to. Name a file, or an "
                "address such as s3://bucket/kept.jsonl.",
                file=printable(address),
            )
        )
