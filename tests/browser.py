"""A real browser, run from a program of the machine, and what its pages do unasked.

Playwright brings its own browsers only where it is told to download them, so the one on
the path is taken.
"""

import shutil
from contextlib import contextmanager
from importlib import resources

import pytest
from playwright.sync_api import sync_playwright

from tests import needs
from tests.waiting import PATIENCE

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


def accessibility_faults(page):
    """Return what axe finds at fault: rule, impact, and the begins of the elements."""
    if page.evaluate("typeof axe") == "undefined":
        axe = resources.files("axe_playwright_python").joinpath("axe.min.js")
        page.evaluate(axe.read_text("utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        (fault["id"], fault["impact"], [node["html"][:200] for node in fault["nodes"]])
        for fault in found["violations"]
    ]


def unreadable(page):
    """Return the texts of a page that run over what follows, or are as narrow as a character."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".scroll, caption, td, th, dt, dd, li, p")]
          .filter((part) => {
            const over = getComputedStyle(part).overflowY === "visible"
              && part.matches(".scroll") && part.scrollHeight > part.clientHeight + 1;
            const narrow = part.clientWidth > 1 && part.clientWidth < 32
              && part.clientHeight > 80 && part.textContent.trim().length > 3;
            return over || narrow;
          })
          .map((part) => part.textContent.trim().slice(0, 40))"""
    )


class Tabs:
    """Tabs of a browser that tests use one after the other, and what their pages do unasked.

    A tab of its own takes a second of a processor to start. Nothing of a test is left in a tab
    for the next one but the list of the pages before.
    """

    def __init__(self, browser):
        self._browser = browser
        self._tabs = {}
        self._seen = []
        self._is_own = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for tab in self._tabs.values():
            tab.context.close()

    def open(self, width, is_own, **options):
        """Return an empty tab of a width.

        ``is_own(url)`` tells whether its pages may request an address; the options are those of
        a context of the browser.
        """
        self._is_own = is_own
        key = tuple(sorted(options.items()))
        if key not in self._tabs:
            self._tabs[key] = page = self._browser.new_context(**options).new_page()
            page.set_default_timeout(PATIENCE * 1000)
            self._watch(page)
        self._tabs[key].set_viewport_size({"width": width, "height": 800})
        return self._tabs[key]

    def leave(self):
        """Empty all tabs, and return what pages said on the console, asked, or got elsewhere."""
        for page in self._tabs.values():
            # Pages of files and of a sandbox have no storage.
            page.evaluate(
                "origin === 'null' || location.protocol === 'file:'"
                " || (sessionStorage.clear(), localStorage.clear())"
            )
            page.emulate_media(media="null")
            page.goto("about:blank")
            page.context.clear_cookies()
        seen, self._seen = self._seen, []
        return seen

    def _watch(self, page):
        def note(kind, what):
            self._seen.append((kind, what))

        def note_request(request):
            if not self._is_own(request.url) and request.url != "about:blank":
                note("request", request.url)

        page.on("console", lambda message: note("console", message.text))
        page.on("pageerror", lambda error: note("error", str(error)))
        page.on("dialog", lambda dialog: note("dialog", dialog.message))
        page.on("request", note_request)
