"""The program that makes the files of a report, in a process of its own.

Not for safety, but because it is work of the interpreter: in a thread of the service it
would keep requests waiting, a second or more for a long paper. A report comes pickled on
standard input, from the service itself; the argument names the folder of the job.
"""

from __future__ import annotations

import datetime
import os
import pickle
import sys
from pathlib import Path

from neardup._engine.messages import LANGUAGES
from neardup.papers.html import html_report
from neardup.papers.results import Report


def main() -> None:
    """Make a page in each language, and the JSON."""
    if hasattr(os, "nice"):
        os.nice(5)
    with os.fdopen(0, "rb", closefd=False) as file:
        report: Report = pickle.load(file)
    folder = Path(sys.argv[1])
    today = datetime.datetime.now().astimezone().date()
    # All languages now, as the report itself is not kept.
    for language in LANGUAGES:
        page = html_report(report, language=language, date=today)
        (folder / f"{language}.html").write_bytes(page.encode())
    (folder / "report.json").write_bytes(report.to_json().encode())


if __name__ == "__main__":
    main()
