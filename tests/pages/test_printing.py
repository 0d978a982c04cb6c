"""A page as PDF: printed by what is installed, or an error that says what to do."""

import shutil
import sys

import pypdfium2 as pdfium
import pytest
from tests import needs
from tests.papers import reports

from neardup.exceptions import MissingDependencyError
from neardup.pages import printing


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """Put programs on an empty path: shell scripts that get the browser's arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(printing.tempfile, "tempdir", str(tmp_path))

    def install(**programs):
        for name, script in programs.items():
            path = folder / name.replace("_", "-")
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
        return folder

    return install


@pytest.mark.skipif(sys.platform == "win32", reason=needs.POSIX)
class TestPrograms:
    def test_the_first_browser_prints_and_leaves_no_file(self, on_path, tmp_path):
        prints = 'for word; do case $word in --print-to-pdf=*) echo done >"${word#*=}";; esac; done'
        folder = on_path(chromium="exit 1", google_chrome=prints)
        assert printing.find_browser() == str(folder / "google-chrome")
        assert printing.to_pdf("<p>1</p>") == b"done\n"
        assert list(tmp_path.iterdir()) == [folder]

    @pytest.mark.parametrize(
        "programs", [{}, {"chromium": "exit 1"}, {"chromium": "exec /bin/sleep 60"}]
    )
    def test_missing_failing_or_hanging_browser_is_reported(self, on_path, monkeypatch, programs):
        monkeypatch.setattr(printing, "_SECONDS", 0.1)
        on_path(**programs)
        words = r"none of these printed it.*\.html report and print it"
        with pytest.raises(MissingDependencyError, match=words):
            printing.to_pdf("<p>1</p>")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason=needs.BROWSER)
def test_a_report_in_print():
    report = reports.small_zh()
    with pdfium.PdfDocument(printing.to_pdf(report.to_html(language="zh"))) as document:
        pages = [page.get_textpage().get_text_range() for page in document]
    assert "文本复制检测报告" in pages[0]
    assert "总文字复制比" in pages[0]
    text = "".join("".join(pages).split())
    for passage in report.passages:
        assert "".join(report.text[passage.begin : passage.end].split())[:10] in text
