"""Checks as jobs: a bounded queue, progress, results that go, and a graceful stop."""

import asyncio
import os
import re
import signal
import sqlite3
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from neardup.readers.file_text import FileText
from neardup.server import Settings
from neardup.server.jobs import job_table, libraries, queue
from neardup.server.jobs.job_table import JobTable
from neardup.server.jobs.queue import Jobs
from neardup.server.jobs.submission import CheckFields, Submission
from neardup.server.jobs.uploads import Upload
from neardup.server.logs import Formatter
from neardup.server.metrics import Metrics
from neardup.server.problems import ProblemError
from neardup.server.store import Store
from tests.readers.making import docx, paragraph
from tests.server.clocks import ManualClock
from tests.server.conftest import FERRY
from tests.server.papers import LONG, OWN, send, wait
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.slow


@pytest.fixture
def stuck(monkeypatch):
    """Let the reading of papers go on until an event, or until the check is ended."""
    go, begun = threading.Event(), threading.Event()

    def read_slowly(_file, _label, *, look, **_):
        begun.set()
        while not go.wait(0.01):
            look()
        return FileText(OWN + FERRY, "text")

    monkeypatch.setattr(queue, "read_paper", read_slowly)
    go.begun = begun
    yield go
    go.set()


@pytest.fixture
def working(index):
    """Make the jobs of a service: ``working(max_jobs=2)``; they are stopped at the end."""
    made = []

    def start(**settings):
        given = Settings(index=index, workers=1, **settings)
        new = Jobs(given, Metrics(Store(given)))
        new.start()
        made.append(new)
        return new

    yield start
    for one in made:
        asyncio.run(one.stop(0))


@pytest.fixture
def clock(monkeypatch):
    made = ManualClock()
    for module in (job_table, libraries, queue):
        monkeypatch.setattr(module, "time", made)
    return made


def submit(jobs):
    text = (OWN + FERRY).encode()
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(text)
    file.flush()
    return jobs.submit(Submission(Upload(file, "paper.txt", len(text)), "index")).job


def begin(jobs, stuck):
    """Submit a paper and return when it is read."""
    job = submit(jobs)
    assert stuck.begun.wait(PATIENCE)
    return job


def ended(of, job):
    def last():
        state = of.get_state(job)
        assert state is not None
        return state if state.state in ("done", "failed") else None

    return until(last, "the check to end")


class TestOverHttp:
    def test_a_paper(self, shared):
        paper = docx(paragraph(OWN) + paragraph(FERRY))
        accepted = send(shared, paper, name="论文.docx")
        addresses = accepted.json()
        assert accepted.headers["location"] == addresses["status"]
        assert re.fullmatch("[0-9a-f]{32}", addresses["job"])
        state = wait(shared, accepted)
        expected = {"paper": "论文.docx", "state": "done", "stage": "done", "progress": 1.0}
        assert state | expected | {"problem": None} == state
        assert 0.4 < state["rates"]["total"] < 0.6
        report = shared.get(addresses["report_json"])
        assert report.headers["content-disposition"].startswith("attachment")
        assert report.json()["sources"][0]["id"] == "b 2"
        assert report.json()["rates"] == state["rates"]

    @pytest.mark.usefixtures("new_interpreters")
    def test_the_page_of_a_report(self, serve):
        client = serve(language="en")
        accepted = send(client, OWN + FERRY, language="zh")
        wait(client, accepted)
        assert '<html lang="zh' in client.get(accepted.json()["report"]).text
        report = f"{accepted.json()['status']}/report"
        assert '<html lang="en' in client.get(report).text
        wrong = client.get(f"{report}?language=../../en")
        assert (wrong.status_code, wrong.json()["field"]) == (422, "language")

    def test_every_field_of_the_form_reaches_the_check(self, client, monkeypatch):
        template = "本模板由教务处统一提供，各班学生不得改动其中的任何一句话。"
        files = {
            "file": ("a.txt", ((OWN + FERRY) * 4 + template).encode()),
            "exclude": ("b.txt", template.encode()),
            # What the form says itself comes first.
            "title_pages": ("class.csv", b"file,author,number\na.txt,nobody,7\n"),
        }
        data = {"library": "index", "min_passage_length": "8", "count_shared": "1"}
        data |= {"pass_below": "10", "reject_above": "30", "title": "渡口", "author": "林岚"}
        data |= {"institution": "某大学", "language": "en"}
        # `compare_papers` is for several papers, and the number is in the table.
        assert {*files, *data, "compare_papers", "number"} == set(CheckFields.model_fields)
        asked, check = {}, queue.check_paper

        def noted(*arguments, **options):
            asked.update(arguments[1].describe())
            return check(*arguments, **options)

        monkeypatch.setattr(queue, "check_paper", noted)
        answer = client.post("/v1/check", files=files, data=data)
        assert wait(client, answer)["verdict"] == "reject"
        assert (asked["min_passage_length"], asked["count_shared"]) == (8, True)
        report = client.get(answer.json()["report_json"]).json()
        cover = {"title": "渡口", "author": "林岚", "number": "7", "institution": "某大学"}
        assert (report["library"], report["cover"]) == ("index", cover)
        assert report["thresholds"] == {"pass_below": 0.1, "reject_above": 0.3}
        asides = [report["text"][one["begin"] : one["end"]] for one in report["asides"]]
        assert asides == [template[:-1]]
        assert "above 30%, rejected" in client.get(answer.json()["report"]).text

    def test_unreadable_excluded_file_fails_the_check(self, client):
        files = {"file": ("a.txt", FERRY), "exclude": ("模板.docx", b"PK\3\4 none")}
        answer = client.post("/v1/check", files=files, data={"library": "index"})
        problem = wait(client, answer)["problem"]
        assert (problem["field"], "模板.docx" in problem["detail"]) == ("exclude", True)

    def test_stages(self, client, stuck):
        accepted = send(client, OWN)
        assert stuck.begun.wait(PATIENCE)
        state = client.get(accepted.json()["status"]).json()
        assert (state["state"], state["stage"]) == ("running", "reading")
        for of in ("report", "report_json"):
            report = client.get(accepted.json()[of])
            assert (report.status_code, report.json()["title"]) == (409, "No report")
        stuck.set()
        assert wait(client, accepted)["state"] == "done"

    def test_remove(self, client, stuck):
        accepted = send(client, OWN)
        assert stuck.begun.wait(PATIENCE)
        assert client.delete(accepted.json()["status"]).status_code == 204
        stuck.begun.clear()
        # Its thread is free for the next one.
        second = send(client, OWN)
        assert stuck.begun.wait(PATIENCE)
        stuck.set()
        assert wait(client, second)["state"] == "done"
        assert client.delete(second.json()["status"]).status_code == 204
        for path in ("status", "report", "report_json"):
            assert client.get(second.json()[path]).status_code == 404
        for removed in (accepted, second):
            assert client.delete(removed.json()["status"]).status_code == 404

    def test_a_full_queue(self, serve, stuck):
        client = serve(max_jobs=2)

        def counts(**expected):
            figures = client.get("/metrics").text
            lines = [f'neardup_checks{{state="{name}"}} {n}.0' for name, n in expected.items()]
            return all(line in figures for line in lines)

        running = send(client, OWN)
        assert stuck.begun.wait(PATIENCE)
        waiting = [send(client, OWN) for _ in range(2)]
        assert counts(running=1, waiting=2)
        refused = send(client, OWN)
        assert (refused.status_code, refused.json()["title"]) == (429, "Too many papers")
        assert int(refused.headers["retry-after"]) > 0
        assert client.delete(waiting[0].json()["status"]).status_code == 204
        stuck.set()
        for accepted in (running, waiting[1]):
            assert wait(client, accepted)["state"] == "done"
        until(lambda: counts(running=0, waiting=0), "an empty queue")
        assert 'neardup_checks_ended_total{outcome="done"} 2.0' in client.get("/metrics").text
        # A refused paper takes no place.
        for library, status in (("none", 404), ("none", 404), ("index", 202)):
            assert send(client, OWN, library=library).status_code == status

    def test_a_bug_shows_nothing(self, client, monkeypatch, caplog):
        def fail(*_, **__):
            raise RuntimeError("the paper says: " + LONG)

        monkeypatch.setattr(queue, "check_paper", fail)
        state = wait(client, send(client, OWN))
        assert (state["state"], state["problem"]["status"]) == ("failed", 500)
        assert "RuntimeError" not in str(state)
        (record,) = caplog.records
        logged = Formatter().formatException(record.exc_info)
        assert "RuntimeError" in logged
        assert LONG not in logged


class TestTime:
    def test_check_beyond_its_time_is_ended(self, clock, working, monkeypatch):
        ended_pids = []

        def stop(process, *_, **__):
            ended_pids.append(process._process.pid)
            clock.advance(601)
            # It sends nothing, whatever it does.
            process.receive()

        jobs = working(check_seconds=600)
        with monkeypatch.context() as patch:
            patch.setattr(queue, "check_paper", stop)
            state = ended(jobs, submit(jobs))
        assert (state.problem.status_code, state.problem.field) == (422, "file")
        assert "paper.txt: the check took longer than 600 seconds" in state.problem.detail
        with pytest.raises(ProcessLookupError):
            os.kill(ended_pids[0], 0)
        assert ended(jobs, submit(jobs)).state == "done"

    def test_check_fails_when_its_process_is_killed(self, working, monkeypatch, caplog):
        def kill(process, *_, **__):
            process._process.kill()
            process.receive()

        jobs = working()
        with monkeypatch.context() as patch:
            patch.setattr(queue, "check_paper", kill)
            assert ended(jobs, submit(jobs)).problem.status_code == 500
        assert "The process of a check ended: -9" in caplog.text
        assert ended(jobs, submit(jobs)).state == "done"

    def test_results_go(self, clock, working):
        jobs = working(job_seconds=3600)
        job = submit(jobs)
        assert ended(jobs, job).state == "done"
        clock.advance(3000)
        submit(jobs)
        assert jobs.read_report(job, "1.zh.html") is not None
        clock.advance(601)
        submit(jobs)
        assert jobs.get_state(job) is None
        assert jobs.read_report(job, "1.zh.html") is None

    def test_running_job_does_not_expire(self, clock, working, stuck):
        jobs = working(job_seconds=60)
        job = begin(jobs, stuck)
        clock.advance(60 + PATIENCE)
        submit(jobs)
        assert jobs.get_state(job).state == "running"


class TestStop:
    @pytest.fixture(autouse=True)
    def left_open(self, monkeypatch):
        """Leave the table of jobs open when they stop, to look at it."""
        monkeypatch.setattr(JobTable, "close", lambda _: None)

    def test_running_job_is_finished_at_stop(self, working, stuck):
        jobs = working()
        running, waiting = begin(jobs, stuck), submit(jobs)
        with ThreadPoolExecutor() as pool:
            stopped = pool.submit(asyncio.run, jobs.stop(PATIENCE))
            state = ended(jobs, waiting)
            assert jobs.get_state(running).state == "running"
            assert not stopped.done()
            stuck.set()
            stopped.result()
        assert jobs.get_state(running).state == "done"
        assert state.state == "failed"
        assert (state.problem.status_code, state.problem.title) == (503, "The service stopped")
        with pytest.raises(ProblemError) as caught:
            submit(jobs)
        assert caught.value.status_code == 503

    def test_time_is_limited(self, working, stuck):
        jobs = working()
        running = begin(jobs, stuck)
        # What it waits for never comes, so that it stops at all is the limit's doing.
        asyncio.run(jobs.stop(0.2))
        assert jobs.get_state(running).problem.title == "The service stopped"

    def test_job_table_has_no_file(self, working):
        jobs = working()
        assert ended(jobs, submit(jobs)).state == "done"
        for folder in {tempfile.gettempdir(), "/var/tmp", "."}:
            names = os.listdir(folder) if os.path.isdir(folder) else []
            assert not [name for name in names if name.startswith("etilqs_")]

    def test_a_process(self, serve_process):
        service = serve_process()
        assert wait(service.client, send(service.client, OWN))["state"] == "done"
        for _ in range(3):
            assert send(service.client, OWN + LONG * 1000).status_code == 202
        assert service.stop(signal.SIGTERM) == 0
        assert "Traceback" not in service.log()


class TestStoredReports:
    @pytest.mark.parametrize(
        ("most", "left"), [(350, 4), (349, 3), (250, 3), (249, 2), (150, 2), (149, 1)]
    )
    def test_the_oldest_go_until_all_fit(self, most, left):
        jobs, table = [], JobTable(60)
        for size, bound in ((100, 10_000), (100, 10_000), (50, 10_000), (100, most)):
            new = table.create("a.txt")
            report = {"zh.html": "a" * (size - 10), "en.html": "", "report.json": "a" * 10}
            assert table.save_report(new.job, report, limit=bound)
            table.save(replace(new, state="done"))
            jobs.append(new.job)
        stored = [table.get(job) is not None for job in jobs]
        table.close()
        assert stored == [False] * (4 - left) + [True] * left

    def test_report_above_the_limit_is_not_stored(self, working):
        jobs = working(max_report_bytes=1000)
        job = submit(jobs)
        state = ended(jobs, job)
        assert (state.problem.status_code, state.problem.title) == (422, "Report too large")
        assert jobs.read_report(job, "1.report.json") is None


def test_a_full_disk_fails_checks_and_ends_no_thread(working, monkeypatch):
    full = iter([True, True])
    save_report, remove_expired = JobTable.save_report, JobTable.remove_expired

    def save(self, *arguments, **options):
        if next(full, False):
            raise sqlite3.OperationalError("database or disk is full")
        return save_report(self, *arguments, **options)

    def remove(self):
        if next(full, False):
            raise sqlite3.OperationalError("database or disk is full")
        remove_expired(self)

    monkeypatch.setattr(JobTable, "save_report", save)
    monkeypatch.setattr(queue, "_TIDY", 0.05)
    jobs = working(max_jobs=2)
    first = submit(jobs)
    assert ended(jobs, first).problem.status_code == 500
    monkeypatch.setattr(JobTable, "remove_expired", remove)
    until(lambda: next(full, None) is None, "the thread to find the disk full")
    assert ended(jobs, submit(jobs)).state == "done"


def test_a_failed_check_keeps_nothing_of_the_paper_in_memory(working, monkeypatch):
    def fail(*_, **__):
        raise ProblemError(422, "The paper cannot be read", "It is a picture.", "file")

    monkeypatch.setattr(queue, "read_paper", fail)
    jobs = working()
    problem = ended(jobs, submit(jobs)).problem
    assert (problem.title, problem.__traceback__) == ("The paper cannot be read", None)
