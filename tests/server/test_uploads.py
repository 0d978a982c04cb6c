"""Papers that are sent: bounded, named by labels, read where they can do no harm."""

import os
from pathlib import Path

import pytest

from neardup.server.jobs.uploads import label_of, path_of
from tests.papers.reports import HOSTILE
from tests.server.conftest import FERRY
from tests.server.papers import OWN, REFUSED, send, wait

pytestmark = pytest.mark.slow

#: Those of the papers that are refused which would crash a reader, or take all its memory.
HARMFUL = ("damaged pdf", "encrypted pdf", "entities", "paths in a zip", "zeros", "zip bomb")


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


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("一班/张三.docx", "一班/张三.docx"),
        ("a\\b\\c.txt", "a/b/c.txt"),
        ("../../etc/passwd", "etc/passwd"),
        ("/C:/x/./y.txt", "x/y.txt"),
        ("a\u202eb/\0c.txt", "ab/c.txt"),
        ("a/", "a/paper"),
        (f"{'长' * 200}/{'夹' * 50}/b.txt", f"{'夹' * 50}/b.txt"),
        (None, "paper"),
    ],
)
def test_a_file_in_a_folder_keeps_the_names_of_folders(name, path):
    assert path_of(name) == path


def test_a_long_name_keeps_its_end():
    label = label_of("长" * 5000 + ".docx")
    assert len(label) <= 120
    assert label.endswith("….docx")


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
        # A higher limit is not the sender's to ask for.
        assert "Raise" not in state["problem"]["detail"]
        report = service.client.get(accepted[kind].json()["report"])
        assert report.status_code == 409
    done = send(service.client, OWN + FERRY)
    assert wait(service.client, done)["rates"]["total"] > 0.4
    status = Path(f"/proc/{service.process.pid}/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if "VmHWM" in line)
        assert int(peak.split()[1]) < 600_000
    assert "Traceback" not in service.log()


def test_names_lead_nowhere(client, tmp_path):
    def files():
        return {name for name in os.listdir(tmp_path) if not name.startswith("news.db")}

    before = files()
    names = ("../../etc/passwd", "C:\\\\x", "a\0b", "/dev/null", "%0A", "'; ls")
    # Checks wait for each other, so all are sent before the first is waited for.
    answers = []
    for name in names:
        part = "--x\r\nContent-Disposition: form-data; name="
        body = f'{part}"library"\r\n\r\nindex\r\n{part}"file"; filename="{name}"\r\n\r\n{OWN}'
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        content = f"{body}\r\n--x--\r\n".encode()
        answers.append(client.post("/v1/check", content=content, headers=headers))
    for name, answer in zip(names, answers, strict=True):
        state = wait(client, answer)
        assert state["state"] == "done", name
        assert not set("/\\\0\n") & set(state["paper"]), name
    assert files() == before
