"""Papers that are sent: bounded, named by labels, read where they can do no harm."""

import io
import os
import resource
import stat
import sys
import tempfile
from pathlib import Path

import httpx
import pytest

from neardup.server.jobs.job import JobError
from neardup.server.jobs.reader import read_paper
from neardup.server.jobs.uploads import label_of
from tests import needs
from tests.papers.reports import HOSTILE
from tests.readers.making import docx, paragraph, pdf
from tests.server.conftest import FERRY
from tests.server.papers import LONG, OWN, REFUSED, bomb, send, wait

pytestmark = pytest.mark.slow

#: Those of the papers that are refused which would crash a reader, or take all its memory.
HARMFUL = ("damaged pdf", "encrypted pdf", "entities", "paths in a zip", "zeros", "zip bomb")


def apart(data, name="paper.txt", **limits):
    given = {"max_bytes": 64 << 20, "max_characters": 1_000_000, "seconds": 60.0, **limits}
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        return read_paper(file, name, **given)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("论文.docx", "论文.docx"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\system.ini", "system.ini"),
        ("C:\\x", "x"),
        ("/", "paper"),
        ("..", "paper"),
        ("", "paper"),
        (None, "paper"),
        ("\0", "paper"),
        ("a\0b\r\nc\x1b[31m.txt", "abc[31m.txt"),
        ("a\u202exslx.exe", "axslx.exe"),
        ("\ud800.txt", ".txt"),
        ("  two   words .txt ", "two words .txt"),
        ("<script>alert(1)<script>", "<script>alert(1)<script>"),
    ],
)
def test_a_name_becomes_a_label(name, label):
    assert label_of(name) == label


def test_a_long_name_keeps_its_end():
    label = label_of("长" * 5000 + ".docx")
    assert len(label) <= 120
    assert label.endswith("….docx")


@pytest.mark.parametrize(
    ("name", "data", "format"),
    [
        ("a.txt", LONG.encode("gb18030"), "text"),
        ("a.md", f"# 一\n{LONG}".encode(), "markdown"),
        ("a.markdown", f"# 一\n{LONG}".encode(), "markdown"),
        ("a.html", f"<html><body><p>{LONG}</p></body></html>".encode(), "html"),
        ("a.docx", docx(paragraph(LONG)), "docx"),
        # The bytes say what it is.
        ("a.txt", docx(paragraph(LONG)), "docx"),
        ("a", pdf([[(60, 700, 10, LONG[:40])]]), "pdf"),
    ],
)
def test_what_is_read(name, data, format):
    found = apart(data, name)
    assert LONG[:30] in found.text
    assert found.format == format


@pytest.mark.usefixtures("new_interpreters")
def test_what_is_read_apart():
    found = apart(docx(paragraph(LONG)), "a.docx")
    assert (found.text.strip(), found.format) == (LONG, "docx")


def test_headings_come_along():
    found = apart(f"# 一\n{LONG}\n## 二\n{LONG}".encode(), "a.md")
    assert [found.text[one.begin : one.end] for one in found.headings] == ["一", "二"]


@pytest.mark.parametrize("kind", [kind for kind in REFUSED if kind != "zip bomb"])
def test_what_is_refused(kind):
    name, data, said = REFUSED[kind]
    with pytest.raises(JobError) as caught:
        apart(data, name)
    error = caught.value
    assert (error.status_code, error.field) == (422, "file")
    assert error.detail.startswith(f"{name}: must")
    assert said in error.detail
    assert "Raise" not in error.detail


@pytest.mark.usefixtures("new_interpreters")
@pytest.mark.parametrize("size", [60 << 20, 300 << 20, 1 << 30])
def test_a_bomb_ends_alone(size):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = bomb(size)
    made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(JobError) as caught:
        apart(data, "a.docx")
    assert caught.value.status_code == 422
    # In kilobytes: nothing of it came into this process.
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - max(before, made) < 20_000


@pytest.mark.usefixtures("new_interpreters")
def test_time_is_limited():
    with pytest.raises(JobError, match=r"must be readable within 0\.05 seconds"):
        apart(LONG.encode(), seconds=0.05)


@pytest.mark.usefixtures("new_interpreters")
@pytest.mark.skipif(sys.platform != "linux", reason=needs.LINUX)
def test_memory_is_limited():
    with pytest.raises(JobError, match="moderate memory"):
        apart(docx(paragraph(LONG * 20_000)), "a.docx", memory=8 << 20)


@pytest.mark.usefixtures("new_interpreters")
def test_a_reader_that_crashes_is_no_crash_of_the_service(tmp_path, monkeypatch):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(JobError, match="made its reader fail"):
        apart(LONG.encode())


@pytest.mark.usefixtures("new_interpreters")
def test_what_a_crash_leaves_is_no_text(tmp_path, monkeypatch):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho '[\"text\"]'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(JobError, match="made its reader fail"):
        apart(LONG.encode())


@pytest.mark.usefixtures("new_interpreters")
def test_a_reader_knows_no_secrets(tmp_path, monkeypatch):
    program = tmp_path / "python"
    seen = tmp_path / "seen"
    program.write_text(f'#!/bin/sh\nenv > {seen}\necho "$@" >> {seen}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setenv("PGPASSWORD", "open sesame")
    with pytest.raises(JobError):
        apart(LONG.encode(), "secret plan.txt")
    found = seen.read_text()
    assert "paper.txt" in found
    assert "sesame" not in found
    assert "secret" not in found


def test_too_long_a_text():
    with pytest.raises(JobError, match=r"at most 100 characters of text\. Got 101 instead"):
        apart("长".encode() * 101, max_characters=100)
    assert len(apart("长".encode() * 100, max_characters=100).text) == 100


@pytest.mark.parametrize(
    ("files", "data", "status", "field"),
    [
        ({"file": ("a.txt", b"")}, {"library": "index"}, 422, "file"),
        ({"paper": ("a.txt", b"x")}, {"library": "index"}, 422, "paper"),
        ({"other": ("", b"")}, {"library": "index"}, 422, "other"),
        ({"file": ("a.txt", b"x")}, {}, 422, "library"),
        ({"file": ("a.txt", b"x")}, {"library": "nowhere"}, 404, "library"),
        ({"file": ("a.txt", b"x")}, {"library": "/etc/passwd"}, 404, "library"),
        ({"file": ("a.txt", b"x")}, {"library": "index", "least": "4"}, 422, "least"),
        ({"file": ("a.txt", b"x")}, {"library": "index", "least": "٣٠"}, 422, "least"),
        ({"file": ("a.txt", b"x")}, {"library": "index", "least": "9" * 400}, 422, "least"),
        ({"file": ("a.txt", b"x")}, {"library": "index", "language": "fr"}, 422, "language"),
        ({"file": ("a.txt", b"x")}, {"library": "index", "path": "/x"}, 422, "path"),
        ({"file": ("a.txt", b"x")}, {"library": ["index", "index"]}, 422, "library"),
        ({"library": ("a.txt", b"x")}, {"library": "index"}, 422, "library"),
    ],
)
def test_forms_that_are_wrong(client, files, data, status, field):
    answer = client.post("/v1/check", files=files, data=data)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert answer.json()["field"] == field


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b"{}", 415),
        ("text/plain", b"x", 415),
        ("application/x-www-form-urlencoded", b"file=x&library=index", 415),
        ("", b"x", 415),
        ("multipart/form-data", b"x", 400),
        ("multipart/form-data; boundary=x", b"nothing of the kind", 400),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\nno name\r\n--x--\r\n", 400),
        ("multipart/form-data; boundary=x", b"", 422),
        (
            "multipart/form-data; boundary=x; charset=zip",
            b'--x\r\nContent-Disposition: form-data; name="library"\r\n\r\n\xff\r\n--x--\r\n',
            400,
        ),
    ],
)
def test_bodies_that_are_no_forms(client, kind, body, status):
    answer = client.post("/v1/check", content=body, headers={"Content-Type": kind})
    assert answer.status_code in (status, 422 if "charset" in kind else status), answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_too_large_a_paper(serve):
    client = serve(max_upload_bytes=5000)
    assert send(client, b"x" * 5001).status_code == 413
    assert send(client, b"x" * 500_000).status_code == 413
    assert wait(client, send(client, b"x" * 5000))["state"] == "done"


def test_several_files(client):
    files = [("file", ("a.txt", b"x")), ("file", ("b.txt", b"y"))]
    answer = client.post("/v1/check", files=files, data={"library": "index"})
    assert answer.status_code in (400, 422)


def test_markup_is_shown_as_text(client):
    paper = f"{HOSTILE}\n{OWN}{FERRY}"
    accepted = send(client, paper, name='"><script>window.broken=3</script>.txt')
    assert wait(client, accepted)["paper"] == "script>.txt"
    for language in ("zh", "en"):
        page = client.get(f"{accepted.json()['status']}/report?language={language}")
        assert page.status_code == 200
        policy = page.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "sandbox" in policy
        assert "<script>window" not in page.text
        assert "<img" not in page.text
        assert "&lt;script&gt;window.broken=1" in page.text


def test_hostile_papers_over_the_network(serve_process):
    service = serve_process(max_upload_bytes=8 << 20)
    # All kinds are refused above; these are the ones that were made to do harm.
    hostile = {kind: REFUSED[kind] for kind in HARMFUL}
    accepted = {}
    for kind, (name, data, _) in hostile.items():
        accepted[kind] = send(service.client, data, name=f"../../{name}")
        assert accepted[kind].status_code == 202, accepted[kind].text
    for kind, (name, _, said) in hostile.items():
        state = wait(service.client, accepted[kind])
        assert state["state"] == "failed", (kind, state)
        assert state["problem"]["status"] == 422
        assert said in state["problem"]["detail"]
        assert state["problem"]["detail"].startswith(f"{name}: must")
        report = service.client.get(accepted[kind].json()["report"])
        assert report.status_code == 409
    done = send(service.client, OWN + FERRY)
    assert wait(service.client, done)["rates"]["total"] > 0.4
    status = Path(f"/proc/{service.process.pid}/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if "VmHWM" in line)
        assert int(peak.split()[1]) < 600_000
    assert "Traceback" not in service.log()


def test_a_huge_body_is_cut_off(serve_process):
    service = serve_process(max_upload_bytes=1 << 20)

    def body():
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        chunk = b"x" * (1 << 20)
        for _ in range(1024):
            yield chunk

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    try:
        answer = service.client.post("/v1/check", content=body(), headers=headers)
        assert answer.status_code == 413
    except httpx.TransportError:
        # The service hung up on a client that would not stop.
        pass
    assert service.client.get("/healthz").status_code == 200
    assert wait(service.client, send(service.client, OWN))["state"] == "done"


def test_names_lead_nowhere(client, tmp_path):
    def files():
        return [one for one in sorted(os.listdir(tmp_path)) if not one.startswith("news.db")]

    before = files()
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    # Checks wait for each other, so all are sent before the first is waited for.
    answers = {}
    for name in ("../../etc/passwd", "C:\\x", "a\0b", "/dev/null", "\n", "'; ls"):
        quoted = name.encode().replace(b"\\", b"\\\\").replace(b"\n", b"%0A")
        body = io.BytesIO()
        body.write(b'--x\r\nContent-Disposition: form-data; name="library"\r\n\r\nindex\r\n')
        body.write(b'--x\r\nContent-Disposition: form-data; name="file"; filename="' + quoted)
        body.write(b'"\r\n\r\n' + OWN.encode() + b"\r\n--x--\r\n")
        answers[name] = client.post("/v1/check", content=body.getvalue(), headers=headers)
    for name, answer in answers.items():
        state = wait(client, answer)
        assert state["state"] == "done", name
        assert not set("/\\\0\n") & set(state["paper"]), name
    assert files() == before
