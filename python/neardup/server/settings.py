"""The settings of a service."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Where the index and the libraries are, and the limits.

    Parameters
    ----------
    index : str
        Location of the index: see :class:`neardup.Index`. It must exist.
    libraries : mapping of str to str, default={}
        Names of libraries for paper checks, and where they are. The index itself is
        the library ``index``.
    keys : Path or None, default=None
        The file of API keys. None asks for none; that is for loopback only.
    language : {'zh', 'en'}, default='zh'
        Language of the page where the browser asks for neither.
    max_body_bytes : int, default=16777216
        Largest body of a request, but for papers, in bytes.
    max_upload_bytes : int, default=67108864
        Largest paper, in bytes.
    max_batch : int, default=1000
        Most documents in one request.
    max_text_characters : int, default=1000000
        Longest text, in code points.
    max_in_flight : int, default=256
        Most requests at once in one process; further ones get 429 with ``Retry-After``.
    request_seconds : float, default=30.0
        Longest time for one request, but for a check, which is a job.
    client_share : float, default=0.5
        Largest share of each limit that one client may use, above 0 and at most 1: of
        requests, bodies, checks and stored reports, by key, else by address. 1 lets one client
        use all.
    max_jobs : int, default=32
        Most checks that wait; further ones get 429 with ``Retry-After``.
    job_seconds : float, default=3600.0
        How long the result of a check is kept.
    max_report_bytes : int, default=1073741824
        Stored reports of all checks, in bytes. Beyond it the oldest reports of the client with
        the most are removed.
    workers : int, default=0
        Threads of the core; 0 means one for each processor. Changes no result.
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
    client_share: float = 0.5
    max_jobs: int = 32
    job_seconds: float = 3600.0
    max_report_bytes: int = 1 << 30
    workers: int = 0

    def of_client(self, limit: int) -> int:
        """Return the part of a limit that one client may use, at least 1."""
        return max(1, math.ceil(limit * self.client_share))
