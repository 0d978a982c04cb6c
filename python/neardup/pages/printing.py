"""A page as PDF, printed by an installed browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from neardup.base.messages import N_, Message
from neardup.exceptions import MissingDependencyError

_BROWSERS = (
    *("google-chrome", "microsoft-edge", "chrome", "msedge", "chromium", "chromium-browser"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
#: A page needs no network.
_OPTIONS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer"),
    *("--disable-background-networking", "--disable-component-update", "--disable-extensions"),
    *("--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
_SECONDS = 900
_NO_BROWSER = N_(
    "A PDF report needs Chromium, Chrome or Edge, and none of these printed it. Install one, or "
    "write an .html report and print it from any browser."
)


def find_browser() -> str:
    """Return the path of a browser that prints; raise MissingDependencyError if there is none."""
    for program in filter(None, map(shutil.which, _BROWSERS)):
        return program
    raise MissingDependencyError(Message(_NO_BROWSER))


def to_pdf(page: str) -> bytes:
    """Return a self-contained page as PDF."""
    options = [find_browser(), *_OPTIONS]
    # As root, a browser runs only without its sandbox.
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--no-sandbox")
    with tempfile.TemporaryDirectory(prefix="neardup-", ignore_cleanup_errors=True) as folder:
        source, printed = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, "utf-8")
        options += [f"--user-data-dir={folder}", f"--print-to-pdf={printed}", source.as_uri()]
        quiet = subprocess.DEVNULL
        try:
            subprocess.run(options, stdin=quiet, stdout=quiet, stderr=quiet, timeout=_SECONDS)
            return printed.read_bytes()
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MissingDependencyError(Message(_NO_BROWSER)) from error
