"""Several papers of one check: the rates of all, and an archive of all reports."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from typing import IO
from urllib.parse import quote

from neardup.base.messages import LANGUAGES
from neardup.papers.paper_check import CheckResult
from neardup.papers.report_files import (
    SUMMARY,
    TABLE,
    name_reports,
    render_summary,
    tabulate_papers,
)
from neardup.server.jobs.job_table import PaperState

#: Bytes of an archive that stay in memory.
_IN_MEMORY = 8 << 20


def make_paper_state(checked: CheckResult) -> PaperState:
    """Return what a check found for a paper."""
    report, problem = checked.report, checked.problem
    if report is None:
        return PaperState(checked.paper, None, None, None, str(problem))
    verdict = None if report.verdict is None else report.verdict.result
    return PaperState(checked.paper, report.rates, verdict, report.no_verdict, None)


def make_overview(job: str, checked: Sequence[CheckResult], notes: Sequence[str]) -> dict[str, str]:
    """Return the rates of several papers in each language.

    They are three files: a part of the job's page, a page next to the reports, and a CSV table.
    """
    names = name_reports([one.paper for one in checked])
    files = {}
    for language in LANGUAGES:
        page = partial(render_summary, checked, notes=notes, language=language)
        here = [
            f"/v1/check/{job}/report?paper={number}&language={language}"
            for number, _ in enumerate(checked, 1)
        ]
        beside = [quote(f"{name}.html") for name in names.values()]
        files[f"overview.{language}.html"] = page(links=here, whole=False)
        files[f"{language}.{SUMMARY}"] = page(links=beside)
        files[f"{language}.{TABLE}"] = tabulate_papers(checked, language).decode()
    return files


def zip_reports(
    papers: Sequence[str], language: str, stored: Callable[[str], bytes | None]
) -> IO[bytes]:
    """Return an archive of all reports of a job, with the page and the table of all papers."""
    archive = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - the caller closes it
    members = {name: f"{language}.{name}" for name in (SUMMARY, TABLE)}
    names = name_reports(papers).values()
    members |= {f"{name}.html": f"{at}.{language}.html" for at, name in enumerate(names, 1)}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for member, name in members.items():
            # A paper that could not be checked has no report.
            if (content := stored(name)) is not None:
                made.writestr(zipfile.ZipInfo(member), content, zipfile.ZIP_DEFLATED)
    archive.seek(0)
    return archive
