"""A real browser, run from a program of the machine, and what its pages do unasked.

Playwright brings its own browsers only where it is told to download them, so the one on
the path is taken.
"""

import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

from tests import needs

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@contextmanager
def running():
    """Run a browser; skip the test where there is none."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(needs.BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(OPTIONS))
        yield browser
        browser.close()


def watch(page, seen, is_own):
    """Note in `seen` what a page says on the console, asks, or requests from elsewhere.

    ``is_own(url)`` tells whether the page may request an address.
    """
    page.on("console", lambda message: seen.append(("console", message.text)))
    page.on("pageerror", lambda error: seen.append(("error", str(error))))
    page.on("dialog", lambda dialog: seen.append(("dialog", dialog.message)))
    page.on(
        "request",
        lambda request: None if is_own(request.url) else seen.append(("request", request.url)),
    )
