"""A segmenter in a program that reads one text per line and writes `word/tag`, tab-separated."""

import os
import re
import subprocess
from functools import lru_cache


@lru_cache(maxsize=1)
def _program() -> subprocess.Popen:
    return subprocess.Popen(
        os.environ["SEGMENTER"].split(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        bufsize=1,
    )


def segment(text: str) -> list[tuple[str, str]]:
    # One text is one line. Each character stays one, since blank words count for `news`.
    line = re.sub(r"[\t\v\f\r\n\x1c-\x1f\x85\u2028\u2029]", " ", text)
    if not line:
        return []
    program = _program()
    program.stdin.write(line + "\n")
    program.stdin.flush()
    answer = program.stdout.readline().rstrip("\n")
    if not answer:
        raise RuntimeError("the segmenter gave no answer")
    return [tuple(token.rsplit("/", 1)) for token in answer.split("\t")]
