"""The settings of a service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """Locations of the index and the libraries, and the limits.

    Parameters
    ----------
    index : str
        Location of the index: see :class:`neardup.Index`. It must exist.
    libraries : mapping of str to str, default={}
        Locations of the libraries for paper checks, by name. The index itself is the library
        ``index``.
    keys : Path or None, default=None
        The file of API keys. None requires no keys, which is allowed on loopback only.
    language : {'zh', 'en'}, default='zh'
        Language of the pages if the browser prefers neither.
    max_body_bytes : int, default=16777216
        Largest body of a request, except papers, in bytes.
    max_upload_bytes : int, default=67108864
        Largest paper, in bytes.
    max_batch : int, default=1000
        Most documents in one request.
    max_text_characters : int, default=1000000
        Longest text, in code points.
    max_in_flight : int, default=256
        Most requests at once; further ones get 429 with ``Retry-After``.
    request_seconds : float, default=30.0
        Longest time for one request. Checks are jobs and have their own limit.
    max_jobs : int, default=32
        Most waiting checks; further ones get 429 with ``Retry-After``.
    job_seconds : float, default=3600.0
        How long the result of a check is kept.
    max_report_bytes : int, default=1073741824
        Largest total size of stored reports, in bytes. Beyond it, the oldest are removed.
    workers : int, default=0
        Threads of the core; 0 means one for each processor. Does not change results.
    """

    index: str
    libraries: Mapping[str, str] = field(default_factory=dict)
    keys: Path | None = None
    language: str = "zh"
    max_body_bytes: int = 16 << 20
    max_upload_bytes: int = 64 << 20
    max_batch: int = 1000
    max_text_characters: int = 1_000_000
    max_in_flight: int = 256
    request_seconds: float = 30.0
    max_jobs: int = 32
    job_seconds: float = 3600.0
    max_report_bytes: int = 1 << 30
    workers: int = 0
