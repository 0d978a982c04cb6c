"""The libraries that papers are checked against, each opened once in its own thread when needed.

A library that has changed is opened again before a check, unless that took long not long ago:
opening takes at most a tenth of the time. Checks in progress keep the library they started with.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from neardup.base.locations import is_index
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.exceptions import IndexUnavailableError, NeardupError
from neardup.index import Index
from neardup.papers.library import Library, open_library
from neardup.server.problems import ProblemError

if TYPE_CHECKING:
    from neardup.server.settings import Settings

#: Library name of the index.
INDEX = "index"

#: After an opening that took t seconds, the next one begins this many times t later at the
#: earliest.
_REST = 10

_log = logging.getLogger(__name__)


class OpenLibrary:
    """An open library; hold its lock while fetching documents, since files share one spool."""

    def __init__(self, name: str, location: str, library: Library, version: object) -> None:
        self.name = name
        self.location = location
        self.library = library
        self.version = version
        self.lock = threading.Lock()
        self.users = 0
        self.replaced = False


class _Place:
    """State of one library: what is open, and the thread that opens it."""

    def __init__(self, name: str, location: str) -> None:
        self.name = name
        self.location = location
        self.index: Index | None = None
        self.open: OpenLibrary | None = None
        self.error: ProblemError | None = None
        self.opening: threading.Thread | None = None
        self.progress = 0.0
        self.rests_until = 0.0


class Libraries:
    """All libraries of a service.

    `changed` is called, from any thread, when one has been opened or has failed to open.
    """

    def __init__(self, settings: Settings, changed: Callable[[], None]) -> None:
        self._workers = settings.workers
        self._changed = changed
        self._lock = threading.Lock()
        self._closed = False
        named = {INDEX: settings.index, **settings.libraries}
        self._places = {name: _Place(name, where) for name, where in named.items()}

    def list_libraries(self) -> list[tuple[str, int | None]]:
        """Return names and numbers of readable documents, None if a library is not open yet."""
        with self._lock:
            return [
                (name, None if place.open is None else place.open.library.readable)
                for name, place in self._places.items()
            ]

    def check_name(self, name: str) -> None:
        """Raise `ProblemError` 404, with the existing names, if no library has this name."""
        if name not in self._places:
            names = ", ".join(self._places)
            detail = Message("There is no library of this name. There are: {names}.", names=names)
            raise ProblemError(404, "No such library", detail, "library")

    def prepare(self, name: str) -> bool:
        """Start to open a library that is not open or has changed; return whether it is ready.

        A library that failed to open is ready too: `use` raises the error.
        """
        place = self._places[name]
        with self._lock:
            if place.opening is not None or self._closed:
                return place.opening is None
            known, rests = place.open, time.monotonic() < place.rests_until
            place.error = None
            if known is not None and rests:
                return True
            place.progress = 0.0
            place.opening = threading.Thread(
                target=self._open, args=(place, known), name=f"library-{name}", daemon=True
            )
            place.opening.start()
            return False

    def is_ready(self, name: str) -> bool:
        """Return whether a library is not being opened."""
        with self._lock:
            return self._places[name].opening is None

    def get_progress(self, name: str) -> float:
        """Return the share of a library that has been read during opening, in [0, 1]."""
        return self._places[name].progress

    @contextmanager
    def use(self, name: str) -> Iterator[OpenLibrary]:
        """Yield a ready library, open during the block; raise `ProblemError` if it is not open."""
        place = self._places[name]
        with self._lock:
            opened = place.open
            if opened is None or place.error is not None:
                raise place.error or _make_away_error(name)
            opened.users += 1
        try:
            yield opened
        except IndexUnavailableError as error:
            _log.warning("Library %s: %s", name, error)
            with self._lock:
                self._drop(place, opened)
            raise _make_away_error(name) from error
        finally:
            with self._lock:
                opened.users -= 1
                _close_unused(opened)

    def close(self) -> None:
        """Close all libraries that no check uses."""
        with self._lock:
            self._closed = True
            opening = [place.opening for place in self._places.values() if place.opening]
        for thread in opening:
            thread.join(5.0)
        with self._lock:
            for place in self._places.values():
                self._drop(place, place.open)

    def _open(self, place: _Place, known: OpenLibrary | None) -> None:
        begun = time.monotonic()
        opened_library, failure = known, None
        try:
            version = self._read_version(place)
            if known is None or version != known.version:
                opened = self._open_library(place)
                opened_library = OpenLibrary(place.name, place.location, opened, version)
        except _ServiceStops:
            pass
        except (NeardupError, OSError) as error:
            _log.warning("Library %s cannot be opened: %s", place.name, error)
            failure = _make_away_error(place.name)
        except Exception:
            _log.exception("Library %s cannot be opened", place.name)
            failure = _make_away_error(place.name)
        ended = time.monotonic()
        with self._lock:
            place.error = failure
            if failure is not None:
                self._drop(place, known)
            elif opened_library is not known:
                self._drop(place, known, keep_index=True)
                place.open = opened_library
                place.rests_until = ended + _REST * (ended - begun)
            place.opening = None
            if self._closed:
                self._drop(place, place.open)
        self._changed()

    def _open_library(self, place: _Place) -> Library:
        progress = _OpeningProgress(self, place)
        library = place.location if place.index is None else place.index
        return open_library(library, workers=self._workers, progress=progress)

    def _read_version(self, place: _Place) -> object:
        """Return a value that differs once a library has changed."""
        if not is_index(place.location):
            return tuple(_list_files(place.location))
        if place.index is None:
            place.index = Index(place.location, must_exist=True, workers=self._workers)
        # Numbers are never reused: this one is larger after each addition.
        return place.index._engine.read_counters()["next"]

    def _drop(self, place: _Place, opened: OpenLibrary | None, *, keep_index: bool = False) -> None:
        """Forget a library; it is closed when its last user is done."""
        if opened is not None:
            opened.replaced = True
            _close_unused(opened)
            if place.open is opened:
                place.open = None
        if not keep_index and place.index is not None:
            place.index.close()
            place.index = None


def _close_unused(opened: OpenLibrary) -> None:
    if opened.replaced and not opened.users:
        opened.library.close()


def _make_away_error(name: str) -> ProblemError:
    detail = Message(
        "The library '{name}' cannot be opened or read at the moment. Send the paper again later.",
        name=name,
    )
    return ProblemError(503, "Library unavailable", detail, "library")


class _ServiceStops(Exception):
    """The service is stopping, so an opening in progress is aborted."""


class _OpeningProgress(Progress):
    """Tracks the progress of opening a library."""

    def __init__(self, libraries: Libraries, place: _Place) -> None:
        self._libraries, self._place = libraries, place
        self._documents: int | None = None
        self._share: Callable[[], float] | None = None
        self._done = 0

    def stage(
        self, name: str, documents: int | None, share: Callable[[], float] | None = None
    ) -> None:
        del name
        self._documents, self._share = documents, share
        self._done = 0

    def advance(self, documents: int, size: int = 0) -> None:
        del size
        if self._libraries._closed:
            raise _ServiceStops
        self._done += documents
        if self._share is not None:
            self._place.progress = min(1.0, self._share())
        elif self._documents:
            self._place.progress = min(1.0, self._done / self._documents)


def _list_files(location: str) -> Iterator[tuple[Any, ...]]:
    """Yield the properties by which changed files are recognized, in a fixed order."""
    if os.path.isdir(location):
        for folder, folders, names in os.walk(location):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                yield path, *_stamp(path)
    else:
        yield location, *_stamp(location)


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns
