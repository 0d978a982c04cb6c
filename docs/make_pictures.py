"""Take the pictures of the guides: the review, the report of a paper and the service.

Usage: python docs/make_pictures.py

They show what neardup makes of the texts in `examples`, in both languages, and are written to
`docs/pictures`. Run it when a page has changed. It needs Chromium and Chinese fonts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
#: From the folder in which commands run: reports have the path.
EXAMPLES = Path("examples")
#: What browsers ask for.
LOCALES = {"zh": "zh-CN", "en": "en-US"}
SIZE = {"width": 1100, "height": 760}

sys.path.insert(0, str(ROOT))
from tests.browser import running  # noqa: E402


def neardup(*words: str | Path, language: str = "en") -> None:
    """Run a command in a language."""
    environment = os.environ | {"LC_ALL": LOCALES[language].replace("-", "_") + ".UTF-8"}
    subprocess.run(
        [sys.executable, "-m", "neardup", *map(str, words)],
        check=True,
        capture_output=True,
        cwd=ROOT,
        env=environment,
    )


@contextmanager
def service(index: Path) -> Iterator[str]:
    """Serve an index, and yield the address of its page."""
    words = ("serve", "--index", str(index), "--port", "0")
    process = subprocess.Popen(
        [sys.executable, "-m", "neardup", *words], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"http://[\d.:]+", line):
                yield found[0]
                return
        raise SystemExit("the service did not start")
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Take all pictures."""
    articles = EXAMPLES / "articles.jsonl"
    rows = [json.loads(line) for line in (ROOT / articles).read_text("utf-8").splitlines()]
    asked = next(row["text"] for row in rows if row["id"] == "library-edited")
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as name, running() as browser:
        folder = Path(name)
        index = folder / "news.db"
        neardup("index", "add", index, articles)
        for language, locale in LOCALES.items():
            review, report = folder / f"review.{language}.html", folder / f"report.{language}.html"
            dry = ("-o", folder / "kept.jsonl", "--dry-run", "--review", review)
            neardup("dedup", articles, *dry, language=language)
            papers = ("--library", EXAMPLES / "papers" / "library", "--no-date")
            paper = EXAMPLES / "papers" / "paper.md"
            neardup("check", paper, *papers, "--language", language, "-o", report)
            tab = browser.new_page(viewport=SIZE, locale=locale)
            # Of the review, the first pair; of the report, its beginning.
            for file, place in ((review, "#p1"), (report, "")):
                tab.goto(f"{file.as_uri()}{place}")
                tab.screenshot(path=PICTURES / f"{file.stem}.png")
            with service(index) as address:
                tab.goto(f"{address}/ask")
                tab.fill("textarea", asked)
                tab.click("button.main")
                tab.wait_for_load_state()
                tab.screenshot(path=PICTURES / f"service.{language}.png")
            tab.close()


if __name__ == "__main__":
    main()
