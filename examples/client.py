"""Send documents to a service, and print what it decided of each.

Usage: python client.py FILE.jsonl [http://127.0.0.1:8765]

Start the service first: neardup serve --index news.db
Each line of the file has `id` and `text`, and may have `title` and `source`. A key of the
service is taken from the environment variable NEARDUP_KEY. Needs nothing but Python.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from itertools import islice
from typing import Any

#: Documents in one request: many at once cost far less than one by one.
BATCH = 32
PATIENCE = 60.0


def documents(path: str) -> Iterator[dict[str, Any]]:
    """Read the documents of a file, with what the service takes of each."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            yield {
                name: record[name]
                for name in ("id", "text", "title", "source")
                if record.get(name) is not None
            }


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """Send a request, again and again while the service is busy or away.

    That is safe: a document that was stored already is known by its id, and the decision
    on it is told once more.
    """
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("NEARDUP_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    end = time.monotonic() + PATIENCE
    while True:
        wait = 1.0
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as error:
            with error:
                problem = json.load(error)
            # 429, 503 and 504 pass; all others are about what was sent.
            if error.code not in (429, 503, 504) or time.monotonic() > end:
                raise SystemExit(f"{problem['title']}: {problem['detail']}") from None
            wait = float(error.headers.get("Retry-After", wait))
        except OSError as error:
            if time.monotonic() > end:
                raise SystemExit(f"{url}: {error}") from None
        time.sleep(wait)


def show(decision: dict[str, Any]) -> str:
    """Say in a line what became of a document."""
    if problem := decision.get("problem"):
        return f"{decision['id']}: refused. {problem['detail']}"
    if match := decision["repeats"]:
        measure = f"{match['measure']} {match['similarity']:.2f}"
        return f"{decision['id']}: repeats {match['id']}, {measure}"
    return f"{decision['id']}: kept"


def main(path: str, service: str = "http://127.0.0.1:8765") -> None:
    """Send all documents of a file, in batches."""
    waiting = documents(path)
    while batch := list(islice(waiting, BATCH)):
        answer = post(f"{service}/v1/documents", {"documents": batch})
        for decision in answer["decisions"]:
            print(show(decision))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
