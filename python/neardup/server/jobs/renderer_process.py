"""The program that renders the pages of a report in a separate process.

In a thread, a long paper would delay requests by a second or more. It reads a pickled report from
standard input and writes one JSON object of names and contents.
"""

from __future__ import annotations

import datetime
import os
import pickle

import orjson

from neardup.base.messages import LANGUAGES
from neardup.papers.report import Report


def main() -> None:
    """Write a page in each language, and the JSON."""
    if hasattr(os, "nice"):
        os.nice(5)
    with os.fdopen(0, "rb", closefd=False) as file:
        report: Report = pickle.load(file)
    today = datetime.datetime.now().astimezone().date()
    # All languages are rendered now, because the report itself is not kept.
    made = {
        f"{language}.html": report.to_html(language=language, date=today) for language in LANGUAGES
    }

    with os.fdopen(1, "wb", closefd=False) as output:
        output.write(orjson.dumps({**made, "report.json": report.to_json()}))


if __name__ == "__main__":
    main()
