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
from tests import forks, needs
from tests.waiting import PATIENCE, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason=needs.POSIX),
]


@pytest.fixture
def run(tmp_path):
    """Run the command to its end and give its code and what it printed."""

    def start(*arguments):
        variables = {"NO_COLOR": "1", "COLUMNS": "120"}
        words = ("serve", *map(str, arguments))
        done = forks.run(forks.run_command, *words, folder=tmp_path, environment=variables)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return start


REFUSED = {
    "": "--index is missing",
    "--index nosuch/none.db": "none.db: must be in a folder that exists",
    "--index text.db": "text.db",
    # A service that other machines reach needs keys.
    **{
        f"--index n.db --host {host}": "neardup serve key create"
        for host in ("0.0.0.0", "::", "10.1.2.3", "news.example")
    },
    "--index n.db --host 0.0.0.0 --keys none.json": "none.json: cannot be read",
    "--index n.db --host 0.0.0.0 --keys empty.json": "empty.json: has no key",
    **{
        f"--index n.db {wrong}": f"{wrong.split()[0]} must be "
        for wrong in (
            *("--port 70000", "--language fr", "--max-batch 0", "--proxy proxy.example"),
            *("--max-body-bytes 0", "--request-seconds 0", "--request-seconds inf"),
            *("--max-report-bytes 0", "--library papers", "--library papers=nowhere"),
            *("--library index=.", "--library a=. --library a=."),
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
    before = set(tmp_path.iterdir())
    code, out, err = run(*line.split(), *([] if "--port" in line else ["--port", 0]))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("neardup: ")
    assert REFUSED[line] in err
    assert set(tmp_path.iterdir()) == before


def test_a_port_in_use(run, index):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, _, err = run("--index", index, "--port", port)
    assert (code, f"127.0.0.1:{port}: cannot listen on this port" in err) == (2, True)


def test_keys_are_made_listed_and_revoked(run, tmp_path):
    keys = tmp_path / "keys.json"
    for words in ("list", "revoke a", "create a --scope all"):
        assert run("key", *words.split(), "--keys", keys)[0] == 2
    assert run("key", "create", "a")[0] == 2
    assert not keys.exists()
    code, secret, err = run("key", "create", "crawler", "--scope", "write", "--keys", keys)
    assert code == 0
    assert re.fullmatch(r"neardup_[\w-]{43}\n", secret)
    assert "this is the key of 'crawler' for write" in err
    assert run("key", "create", "desk", "--keys", keys)[0] == 0
    code, out, _ = run("key", "list", "--keys", keys)
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert [row[:2] for row in rows] == [["crawler", "write"], ["desk", "read"]]
    assert rows[0][-1] == f"...{secret.strip()[-4:]}"
    assert secret.strip() not in out
    assert run("key", "revoke", "crawler", "--keys", keys)[0] == 0
    assert [key.name for key in read_keys(keys)] == ["desk"]


class TestServing:
    def test_address_is_printed_and_the_end_is_clean(self, serve_process, index):
        running = serve_process(command=["serve", "--index", index], new_interpreter=True)
        assert f"neardup: serving {index} at {running.url}\n" in running.log()
        answer = running.client.get("/v1/stats")
        assert (answer.status_code, "server" in answer.headers) == (200, False)
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

        def add(documents):
            command = [sys.executable, root / "examples" / "client.py", documents, running.url]
            return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)

        good = add(root / "examples" / "articles.jsonl")
        assert (good.returncode, "bridge: kept" in good.stdout) == (0, True)
        result = add(path)
        assert (result.returncode, len(result.stdout.splitlines())) == (1, 42)
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
        keys = tmp_path / "keys.json"
        secret, _ = create_key(keys, "both", ["read", "write"])
        running = serve_process(command=["serve", "--index", index, "--keys", str(keys)])
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


class TestStopping:
    @pytest.fixture
    def begin(self, serve_process, tmp_path):
        """Start a service, and ask it for an answer that comes once there is a file, ``go``."""
        with ThreadPoolExecutor() as pool:

            def start(stop_seconds):
                running = serve_process(stop_seconds=stop_seconds)
                path, options = f"/v1/slow?until={tmp_path / 'go'}", {"content": b"abc"}
                asked = pool.submit(httpx.post, running.url + path, timeout=PATIENCE, **options)
                running.wait_until_logged("begun")
                return running, asked

            yield start

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_a_request_under_way_is_answered(self, begin, tmp_path, number):
        running, asked = begin(stop_seconds=1000)
        running.process.send_signal(number)
        # Nobody new is let in.
        until(lambda: refuses(running), "the service to let nobody in")
        assert not asked.done()
        (tmp_path / "go").touch()
        assert (asked.result().status_code, asked.result().text) == (200, "slow 3")
        assert running.process.wait(PATIENCE) == 0
        assert "Traceback" not in running.log()

    def test_late_request_is_ended(self, begin):
        running, asked = begin(stop_seconds=1)
        # The answer never comes, so that it stops at all is the limit's doing.
        assert running.stop() == 0
        assert is_unanswered(asked)

    def test_a_second_ctrl_c_ends_it_with_the_code_of_an_interrupt(self, begin):
        running, asked = begin(stop_seconds=1000)
        running.process.send_signal(signal.SIGINT)
        until(lambda: refuses(running), "the service to let nobody in")
        running.process.send_signal(signal.SIGINT)
        # It did not wait for the answer: the interrupt came out of `serve`.
        assert running.process.wait(PATIENCE) == 128 + signal.SIGINT
        assert is_unanswered(asked)

    def test_idle_connections_do_not_hold_it_up(self, serve_process):
        # No limit of time ends them before this test gives up.
        running = serve_process(stop_seconds=1000)
        port = int(running.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as silent:
            silent.sendall(b"GET / HTT")
            running.client.get("/healthz")
            assert running.stop() == 0


def refuses(running):
    try:
        httpx.get(f"{running.url}/healthz", timeout=PATIENCE)
    except httpx.TransportError:
        return True
    return False


def is_unanswered(asked):
    """Whether a request was not answered, not even by an answer that looks like one."""
    return asked.exception() is not None or asked.result().status_code >= 500


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
