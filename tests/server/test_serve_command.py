"""``neardup serve``: what it refuses and says, how it stops, and the clients in examples/."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from neardup.server.security.keys import create_key, read_keys, revoke_key
from tests import needs
from tests.forks import Fork, run_command
from tests.waiting import PATIENCE, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason=needs.POSIX),
]


@pytest.fixture
def run(tmp_path, tmp_path_factory):
    """Run the command to its end and give its code and what it printed."""

    def start(*arguments, folder=tmp_path):
        printed = tmp_path_factory.mktemp("printed")
        out, err = printed / "out", printed / "err"
        process = Fork(
            run_command,
            "serve",
            *map(str, arguments),
            stdout=out,
            stderr=err,
            folder=folder,
            environment={"NO_COLOR": "1", "COLUMNS": "120"},
        )
        return process.wait(PATIENCE), out.read_text("utf-8"), err.read_text("utf-8")

    return start


REFUSED = {
    "": "--index is missing",
    "--index nosuch/none.db": "none.db: must be in a folder that exists",
    "--index text.db": "text.db",
    # A service that other machines reach needs keys.
    "--index n.db --host 0.0.0.0": "neardup serve key create",
    "--index n.db --host ::": "neardup serve key create",
    "--index n.db --host 10.1.2.3": "neardup serve key create",
    "--index n.db --host news.example": "neardup serve key create",
    "--index n.db --host 0.0.0.0 --keys none.json": "none.json: cannot be read",
    "--index n.db --host 0.0.0.0 --keys empty.json": "empty.json: has no key",
    **{
        f"--index n.db {options} {wrong}": f"{wrong.split()[0]} must be "
        for options, wrong in (
            ("", "--port 70000"),
            ("", "--language fr"),
            ("", "--max-batch 0"),
            ("", "--proxy proxy.example"),
            ("", "--max-body-bytes 0"),
            ("", "--request-seconds 0"),
            ("", "--request-seconds inf"),
            ("", "--max-report-bytes 0"),
            ("", "--library papers"),
            ("", "--library papers=nowhere"),
            ("", "--library index=."),
            ("--library a=.", "--library a=."),
        )
    },
}


@pytest.mark.parametrize("line", REFUSED)
def test_serve_refuses_bad_settings(run, index, tmp_path, line):
    keys = tmp_path / "empty.json"
    create_key(keys, "one", ["read"])
    revoke_key(keys, "one")
    (tmp_path / "text.db").write_text("这不是索引。" * 100, "utf-8")
    shutil.move(index, tmp_path / "n.db")
    before = {path.name for path in tmp_path.iterdir()}
    code, out, err = run(*line.split(), *([] if "--port" in line else ["--port", 0]))
    assert (code, out) == (2, "")
    assert err.startswith("neardup: ")
    assert err.count("\n") == 1
    assert REFUSED[line] in err
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_port_in_use(run, index):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, _, err = run("--index", index, "--port", port)
    assert (code, f"127.0.0.1:{port}: cannot listen on this port" in err) == (2, True)


def test_keys_are_made_listed_and_revoked(run, tmp_path):
    keys = tmp_path / "keys.json"
    for words in (("list",), ("revoke", "a"), ("create", "a", "--scope", "all")):
        assert run("key", *words, "--keys", keys)[0] == 2
    assert run("key", "create", "a")[0] == 2
    assert not keys.exists()
    code, secret, err = run("key", "create", "crawler", "--scope", "write", "--keys", keys)
    assert code == 0
    assert re.fullmatch(r"neardup_[\w-]{43}\n", secret)
    assert "this is the key of 'crawler' for write" in err
    assert run("key", "create", "desk", "--keys", keys)[0] == 0
    code, out, _ = run("key", "list", "--keys", keys)
    assert code == 0
    names, scopes = zip(*(line.split()[:2] for line in out.splitlines()), strict=True)
    assert (names, scopes) == (("crawler", "desk"), ("write", "read"))
    assert secret.strip() not in out
    assert out.splitlines()[0].endswith(f"...{secret.strip()[-4:]}")
    assert run("key", "revoke", "crawler", "--keys", keys)[0] == 0
    assert [key.name for key in read_keys(keys)] == ["desk"]


class TestServing:
    def test_address_is_printed_and_the_end_is_clean(self, serve_process, index):
        running = serve_process(command=["serve", "--index", index], new_interpreter=True)
        assert f"neardup: serving {index} at {running.url}\n" in running.log()
        answer = running.client.get("/v1/stats")
        assert answer.status_code == 200
        assert "server" not in answer.headers
        assert running.stop() == 0
        assert running.log().count("\n") == 1

    def test_missing_index_is_created_with_a_note(self, serve_process, tmp_path):
        location = tmp_path / "new.db"
        running = serve_process(command=["serve", "--index", str(location)])
        assert running.client.get("/v1/stats").json()["documents"] == 0
        assert running.stop() == 0
        first, second = running.log().splitlines()
        assert first.startswith(f"neardup: note: created the index {location} with the recipe")
        assert second == f"neardup: serving {location} at {running.url}"

    @pytest.mark.parametrize(("option", "is_logged"), [("--quiet", False), ("--access-log", True)])
    def test_requests_are_logged_on_demand(self, serve_process, index, option, is_logged):
        running = serve_process(command=["serve", "--index", index, option])
        running.client.get("/v1/documents/none")
        assert running.stop() == 0
        assert ('"GET /v1/documents/none HTTP/1.1" 404' in running.log()) == is_logged
        assert is_logged or running.log() == ""

    def test_other_addresses_with_keys(self, serve_process, index, tmp_path):
        keys = tmp_path / "keys.json"
        secret, _ = create_key(keys, "desk", ["read"])
        running = serve_process(
            command=["serve", "--index", index, "--host", "0.0.0.0", "--keys", str(keys)]
        )
        assert running.client.get("/v1/stats").status_code == 401
        headers = {"Authorization": f"Bearer {secret}"}
        assert running.client.get("/v1/stats", headers=headers).status_code == 200
        # Without stopping it.
        create_key(keys, "other", ["read"])
        keys.write_text(keys.read_text().replace("desk", "desk 2"))
        assert running.client.get("/v1/stats", headers=headers).status_code == 200
        assert running.stop() == 0


class TestExamples:
    """The clients in examples/ do what they say."""

    def test_python_client_runs(self, serve_process, index, root, tmp_path):
        running = serve_process(
            command=["serve", "--index", index, "--max-text-characters", "1000"]
        )
        river = "The river has fallen by two metres since the rain ended on Monday."
        lines = [
            json.dumps({"id": "first", "text": river, "at": "2026-03-01T08:00:00Z"}),
            "",
            "no json",
            json.dumps({"id": 7, "text": river}),
            json.dumps({"id": "none", "text": None}),
            *(json.dumps({"id": f"n{at}", "text": f"{river} {at}"}) for at in range(40)),
            json.dumps({"id": "long", "text": "x" * 1001}),
            json.dumps({"id": "last", "text": river}),
        ]
        path = tmp_path / "some.jsonl"
        path.write_text("\n".join(lines))
        program = [sys.executable, root / "examples" / "client.py"]
        options = {"capture_output": True, "text": True, "timeout": PATIENCE}
        good = [*program, root / "examples" / "articles.jsonl", running.url]
        assert "bridge: kept" in subprocess.run(good, **options, check=True).stdout
        result = subprocess.run([*program, path, running.url], **options)
        assert result.returncode == 1
        assert len(result.stdout.splitlines()) == 42
        assert "first: kept" in result.stdout
        assert "last: repeats first, content(5) 1.00" in result.stdout
        for expected in (
            "line 3: refused. must be JSON",
            "line 4, id 7: refused. Invalid field: id: Input should be a valid string",
            "line 5, id 'none': refused. Invalid field: text: Field required",
            "line 46, id 'long': refused. Text too long: The field 'text'",
            "4 lines were refused",
        ):
            assert expected in result.stderr
        stored = running.client.get("/v1/documents/first").json()
        assert stored["at"] == "2026-03-01T08:00:00Z"
        assert running.stop() == 0

    @pytest.mark.skipif(not shutil.which("curl"), reason=needs.CURL)
    def test_shell_client_runs(self, serve_process, index, root, tmp_path):
        secret, _ = create_key(tmp_path / "keys.json", "both", ["read", "write"])
        running = serve_process(
            command=["serve", "--index", index, "--keys", str(tmp_path / "keys.json")]
        )
        paper = root / "examples" / "papers" / "paper.md"
        result = subprocess.run(
            ["sh", root / "examples" / "client.sh", paper, running.url],
            capture_output=True,
            timeout=PATIENCE,
            cwd=tmp_path,
            env=os.environ | {"NEARDUP_KEY": secret},
        )
        said = result.stdout.decode()
        assert result.returncode == 0, said + result.stderr.decode()
        assert '"kept":1,"dropped":1' in said
        assert '"duplicate":true' in said
        assert (tmp_path / "report.html").stat().st_size > 1000
        assert running.stop() == 0


TEXT = "第{}号公告：渡口的新渡轮将于{}日试航，票价与旧船相同，老人与孩子免费乘坐。"


def slow(running, file, **options):
    """Ask for an answer that comes once there is a file."""
    return httpx.post(
        f"{running.url}/v1/slow", params={"until": str(file)}, timeout=PATIENCE, **options
    )


def refuses(running):
    try:
        httpx.get(f"{running.url}/healthz", timeout=PATIENCE)
    except httpx.TransportError:
        return True
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_request_under_way_is_answered(serve_process, tmp_path, number):
    running = serve_process(stop_seconds=1000)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(slow, running, tmp_path / "go", content=b"abc")
        running.wait_until_logged("begun")
        running.process.send_signal(number)
        # Nobody new is let in.
        until(lambda: refuses(running), "the service to let nobody in")
        assert not asked.done()
        (tmp_path / "go").touch()
        answer = asked.result()
    assert (answer.status_code, answer.text) == (200, "slow 3")
    assert running.process.wait(PATIENCE) == 0
    assert "Traceback" not in running.log()


def test_idle_connections_do_not_hold_it_up(serve_process):
    # No limit of time ends them before this test gives up.
    running = serve_process(stop_seconds=1000)
    port = int(running.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as silent:
        silent.sendall(b"GET / HTT")
        running.client.get("/healthz")
        assert running.stop() == 0


def test_late_request_is_ended(serve_process, tmp_path):
    running = serve_process(stop_seconds=1)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(slow, running, tmp_path / "never")
        running.wait_until_logged("begun")
        # The answer never comes, so that it stops at all is the limit's doing.
        assert running.stop() == 0
        # Not an answer that looks like one.
        error = asked.exception()
        assert error is not None or asked.result().status_code >= 500


def test_the_log_has_no_texts(serve_process):
    running = serve_process()
    secret = "绝密内容不可外传"
    running.client.post("/v1/documents", json={"id": "s", "text": secret * 20})
    running.client.post("/v1/documents", json={"id": "s", "text": secret * 21})
    running.client.post("/v1/query", json={"text": secret, "k": secret})
    running.client.post("/v1/slow", content=secret.encode())
    assert running.client.get("/healthz").status_code == 200
    assert running.stop() == 0
    assert secret not in running.log()
    # An error in it is told, by its place.
    assert "KeyError" in running.log()


def test_a_second_ctrl_c_ends_it_with_the_code_of_an_interrupt(serve_process, tmp_path):
    running = serve_process(stop_seconds=1000)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(slow, running, tmp_path / "never")
        running.wait_until_logged("begun")
        running.process.send_signal(signal.SIGINT)
        until(lambda: refuses(running), "the service to let nobody in")
        running.process.send_signal(signal.SIGINT)
        # It did not wait for the answer: the interrupt came out of `serve`.
        assert running.process.wait(PATIENCE) == 128 + signal.SIGINT
        assert asked.exception() is not None or asked.result().status_code >= 500
