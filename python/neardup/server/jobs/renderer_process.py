"""The program that makes the pages of a report, in a process of its own.

Not for safety, but because it is work of the interpreter: in a thread of the service it
would keep requests waiting, a second or more for a long paper. A report comes pickled on
standard input, from the service itself; one JSON object of names and contents goes to
standard output.
"""

from __future__ import annotations

import datetime
import os
import pickle

import orjson

from neardup._engine.messages import LANGUAGES
from neardup.papers.report.html import html_report
from neardup.papers.report.report import Report


def main() -> None:
    """Make a page in each language, and the JSON."""
    if hasattr(os, "nice"):
        os.nice(5)
    with os.fdopen(0, "rb", closefd=False) as file:
        report: Report = pickle.load(file)
    today = datetime.datetime.now().astimezone().date()
    # All languages now, as the report itself is not kept.
    made = {
        f"{language}.html": html_report(report, language=language, date=today)
        for language in LANGUAGES
    }

    with os.fdopen(1, "wb", closefd=False) as output:
        output.write(orjson.dumps({**made, "report.json": report.to_json()}))


if __name__ == "__main__":
    main()
