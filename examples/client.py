"""Send documents to a service, and print its decision on each.

Usage: python client.py FILE.jsonl [http://127.0.0.1:8765]

Start the service first: neardup serve --index news.db
Each line of the file has `id` and `text`, and may have `title`, `source`, `at` and `extra`. Invalid
lines and refused documents are printed with their line number, the others are still sent, and the
exit code is 1. The environment variable NEARDUP_KEY may contain a key of the service. Needs only
Python.
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

#: Documents in one request: batches are much faster than single documents.
BATCH = 32
PATIENCE = 60.0
FIELDS = ("id", "text", "title", "source", "at", "extra")

#: The number of a line, with its document or the reason why it is invalid.
Line = tuple[int, dict[str, Any] | str]


class Refused(Exception):
    """The service refuses a request; sending it again does not help."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def lines(path: str) -> Iterator[Line]:
    """Yield the lines of a file, each document with the fields that the service accepts."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                yield number, f"must be JSON. {error}."
                continue
            if isinstance(record, dict):
                found = {name: record[name] for name in FIELDS if record.get(name) is not None}
                yield number, found
            else:
                yield number, "must be an object."


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """Send a request, and repeat it while the service is busy or cannot be reached.

    Repeating is safe: the service recognizes a stored document by its id, and returns the
    same decision again.
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
            # 429, 503 and 504 are temporary; all other codes concern the request itself.
            if error.code not in (429, 503, 504) or time.monotonic() > end:
                message = f"{problem['title']}: {problem['detail']}"
                raise Refused(error.code, message) from None
            wait = float(error.headers.get("Retry-After", wait))
        except OSError as error:
            if time.monotonic() > end:
                raise SystemExit(f"{url}: {error}") from None
        time.sleep(wait)


def send(url: str, batch: list[Line]) -> Iterator[Line]:
    """Send some lines, and yield for each the decision, or the reason for a refusal."""
    sound = [(number, one) for number, one in batch if isinstance(one, dict)]
    decisions: dict[int, dict[str, Any] | str] = {}
    try:
        if sound:
            answer = post(url, {"documents": [one for _, one in sound]})
            for (number, _), decision in zip(sound, answer["decisions"], strict=True):
                decisions[number] = decision
    except Refused as refused:
        # 413: the batch is too large. 400 and 422: at least one document is invalid. In both
        # cases send them one by one. Other errors, such as a wrong key, concern every line.
        if refused.status not in (400, 413, 422):
            raise SystemExit(str(refused)) from None
        for number, one in sound:
            try:
                decisions[number] = post(url, one)
            except Refused as alone:
                decisions[number] = str(alone)
    for number, one in batch:
        yield number, decisions[number] if isinstance(one, dict) else one


def show(decision: dict[str, Any]) -> str:
    """Return the decision on a document as a line of text."""
    if match := decision["repeats"]:
        measure = f"{match['measure']} {match['similarity']:.2f}"
        return f"{decision['id']}: repeats {match['id']}, {measure}"
    return f"{decision['id']}: kept"


def main(path: str, service: str = "http://127.0.0.1:8765") -> int:
    """Send all documents of a file in batches, and return the number of refused lines."""
    refused = 0
    waiting = lines(path)
    while batch := list(islice(waiting, BATCH)):
        given = dict(batch)
        for number, decision in send(f"{service}/v1/documents", batch):
            if isinstance(decision, dict) and "problem" not in decision:
                print(show(decision))
                continue
            why = decision if isinstance(decision, str) else decision["problem"]["detail"]
            one = given[number]
            name = f", id {one.get('id')!r}" if isinstance(one, dict) else ""
            print(f"{path}, line {number}{name}: refused. {why}", file=sys.stderr)
            refused += 1
    return refused


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    count = main(*sys.argv[1:])
    if count:
        sys.exit(f"{count} lines were refused; all others are stored.")
