"""API keys: who may read, and who may write.

A key is 256 random bits. The file holds its SHA-256, never the key, so a reader of the file
gains no access; a slow password hash is unnecessary, since nobody can guess a random key. The
file is replaced as a whole and re-read after that: a revoked key is refused from the next
request on.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from neardup.base.messages import Message, system_words
from neardup.base.validation import bad
from neardup.exceptions import InputError, OutputError, ParameterError
from neardup.writers.sink import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Scopes of a key; neither includes the other.
SCOPES = ("read", "write")

_FORMAT = 1
#: Prefix that lets people and secret scanners recognize a key.
_PREFIX = "neardup_"
_KEY_BYTES = 32
_LONGEST_NAME = 100
_NO_FILE = (0, 0, 0)


@dataclass(frozen=True)
class Key:
    """A key without its secret.

    `name` says who it is for, and `created` when it was made (RFC 3339, UTC). `last` has its last
    four characters, and `digest` its SHA-256 (hexadecimal).
    """

    name: str
    scopes: tuple[str, ...]
    created: str
    last: str
    digest: str


class Keys:
    """The current keys of a file; each lookup checks whether it was replaced.

    A missing or damaged file counts as having no keys, so that nobody is admitted by mistake.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state = _NO_FILE
        self._keys: tuple[Key, ...] = ()

    def __iter__(self) -> Iterator[Key]:
        """Iterate over the keys in order of creation."""
        self._refresh()
        return iter(self._keys)

    def find(self, key: str) -> Key | None:
        """Return the metadata of a key, or None if it is unknown."""
        return self.find_digest(_digest(key))

    def find_digest(self, digest: str) -> Key | None:
        """Return the key with a digest, or None."""
        wanted, match = digest.encode("utf-8", "replace"), None
        # All digests are compared, so that the time reveals nothing.
        for key in self:
            if hmac.compare_digest(key.digest.encode(), wanted):
                match = key
        return match

    def _refresh(self) -> None:
        try:
            status = os.stat(self.path)
        except OSError:
            self._state, self._keys = _NO_FILE, ()
            return
        state = (status.st_mtime_ns, status.st_size, status.st_ino)
        if state == self._state:
            return
        try:
            self._keys = tuple(read_keys(self.path))
        except InputError:
            self._keys = ()
        self._state = state


def read_keys(path: Path) -> list[Key]:
    """Return the keys of a file in order of creation; raise if others may write it."""
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read()
    except OSError as error:
        raise InputError(
            Message(
                "{file}: cannot be read: {reason}. Create a key with: neardup serve "
                "key create NAME --keys {file}",
                file=str(path),
                reason=system_words(error),
            )
        ) from error
    if os.name == "posix" and mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(
            Message(
                "{file}: must be writable only by its owner, but has mode {mode:o}. Correct it "
                "with: chmod 600 {file}",
                file=str(path),
                mode=stat.S_IMODE(mode),
            )
        )
    try:
        table = orjson.loads(data)
        if table["format"] != _FORMAT:
            raise ValueError
        return [_parse_key(row) for row in table["keys"]]
    except (ValueError, KeyError, TypeError) as error:
        message = Message(
            "{file}: must be a file of API keys, format {format}.", file=str(path), format=_FORMAT
        )
        raise InputError(message) from error


def create_key(path: Path, name: str, scopes: Sequence[str]) -> tuple[str, Key]:
    """Create a key in a file (mode 0600), and return the secret, never shown again, and the key.

    Raise `ParameterError` if the name is taken or empty, or there is no such scope.
    """
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise bad("name", "1 to {most} printable characters", name, most=_LONGEST_NAME)
    if not scopes or not set(scopes) <= set(SCOPES):
        raise bad("scope", "one or more of {choices}", list(scopes), choices=", ".join(SCOPES))
    secret = _PREFIX + secrets.token_urlsafe(_KEY_BYTES)
    key = Key(
        name=name,
        scopes=tuple(scope for scope in SCOPES if scope in scopes),
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        last=secret[-4:],
        digest=_digest(secret),
    )
    with _lock_file(path):
        keys = read_keys(path) if path.exists() else []
        if any(other.name == name for other in keys):
            raise ParameterError(
                Message(
                    "{file}: has a key of the name '{name}' already. Revoke it first, or "
                    "choose another name.",
                    file=str(path),
                    name=name,
                )
            )
        _write(path, [*keys, key])
    return secret, key


def revoke_key(path: Path, name: str) -> Key:
    """Remove a key from the file; running services notice at the next request."""
    with _lock_file(path):
        keys = read_keys(path)
        for key in keys:
            if key.name == name:
                _write(path, [other for other in keys if other is not key])
                return key
    names = ", ".join(f"'{key.name}'" for key in keys) or Message("none")
    raise ParameterError(
        Message(
            "{file}: has no key of the name '{name}'. There are: {names}.",
            file=str(path),
            name=name,
            names=names,
        )
    )


def _parse_key(row: Any) -> Key:
    key = Key(
        **{field: row[field] for field in ("name", "created", "last", "digest")},
        scopes=tuple(row["scopes"]),
    )
    texts = (key.name, key.created, key.last, key.digest)
    if not all(isinstance(text, str) for text in texts) or not set(key.scopes) <= set(SCOPES):
        raise ValueError
    return key


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _write(path: Path, keys: Sequence[Key]) -> None:
    table = {"format": _FORMAT, "keys": [asdict(key) for key in keys]}
    text = json.dumps(table, ensure_ascii=False, indent=1) + "\n"
    # Mode 0600 from creation on, regardless of the umask.
    replace_file(path, text.encode(), mode=0o600)


@contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    """Lock the key file, so that nobody else replaces it between reading and writing."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        # The folder is locked: the file itself is replaced, and its lock would be lost.
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        message = Message(
            "{file}: cannot be written: {said}. No output was changed.",
            code="cannot_be_written",
            file=str(path),
            said=system_words(error),
        )
        raise OutputError(message) from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
