"""The settings of a service."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Unpack

from neardup.base.messages import N_
from neardup.base.validation import check_choice, check_kind, check_path, check_workers
from neardup.options.groups import LimitParameters
from neardup.options.signatures import complete_options, takes_options


@takes_options
class Settings:
    """Locations of the index and the libraries, and the limits.

    Parameters
    ----------
    index : str
        Location of the index: see :class:`neardup.Index`. It must exist.
    libraries : mapping of str to str, optional
        Locations of the libraries for paper checks, by name. The index itself is the library
        ``index``.
    keys : Path or None, default=None
        The file of API keys. None requires no keys, which is allowed on loopback only.
    language : {'zh', 'en'}, default='zh'
        Language of the pages if the browser prefers neither.
    workers : int, default=0
        Threads of the core; 0 means one for each processor. Does not change results.
    {options}

    Raises
    ------
    ParameterError
        If a limit is out of bounds.
    """

    max_body_bytes: int
    max_upload_bytes: int
    max_batch: int
    max_text_characters: int
    max_in_flight: int
    request_seconds: float
    max_jobs: int
    check_seconds: float
    job_seconds: float
    max_report_bytes: int

    def __init__(
        self,
        index: str,
        libraries: Mapping[str, str] | None = None,
        keys: Path | None = None,
        language: str = "zh",
        workers: int = 0,
        **options: Unpack[LimitParameters],
    ) -> None:
        libraries = {} if libraries is None else libraries
        self.index = check_path(index, "index")
        self.libraries = dict(check_kind(libraries, "libraries", Mapping, N_("a mapping or None")))
        self.keys = None if keys is None else Path(check_path(keys, "keys"))
        self.language = check_choice(language, "language", ("zh", "en"))
        self.workers = check_workers(workers)
        vars(self).update(complete_options(Settings, options))
