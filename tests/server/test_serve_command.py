"""``neardup serve``: what it refuses, what it says, and the clients in examples/."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys

import pytest

from neardup.server.security.keys import create_key, read_keys
from tests import needs
from tests.forks import Fork, run_command
from tests.waiting import PATIENCE

pytestmark = pytest.mark.slow


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


class TestRefusals:
    def one_line(self, found):
        code, out, err = found
        assert (code, out) == (2, "")
        assert err.startswith("neardup: ")
        assert err.count("\n") == 1
        return err

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "news.example"])
    def test_another_address_without_keys(self, run, index, host):
        err = self.one_line(run("--index", index, "--host", host, "--port", 0))
        assert f"A service at {host} can be reached from other machines" in err
        assert "neardup serve key create" in err

    def test_a_file_of_keys_without_a_key(self, run, index, tmp_path):
        keys = tmp_path / "keys.json"
        err = self.one_line(run("--index", index, "--host", "0.0.0.0", "--keys", keys))
        assert f"{keys}: cannot be read: No such file" in err
        create_key(keys, "one", ["read"])
        assert run("key", "revoke", "one", "--keys", keys)[0] == 0
        err = self.one_line(run("--index", index, "--host", "0.0.0.0", "--keys", keys))
        assert "has no key, so nobody could use the service" in err

    def test_no_index(self, run, tmp_path):
        err = self.one_line(run("--port", 0))
        assert "--index is missing" in err
        err = self.one_line(run("--index", "nosuch/none.db"))
        assert "none.db: must be in a folder that exists. Create " in err
        assert list(tmp_path.iterdir()) == []

    def test_something_else_in_its_place(self, run, tmp_path):
        (tmp_path / "text.db").write_text("这不是索引。" * 100, "utf-8")
        assert "text.db" in self.one_line(run("--index", "text.db"))

    def test_a_port_in_use(self, run, index):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            err = self.one_line(run("--index", index, "--port", port))
        assert f"127.0.0.1:{port}: cannot listen on this port: Address already in use" in err

    @pytest.mark.parametrize(
        "options",
        [
            ("--port", 70000),
            ("--language", "fr"),
            ("--max-batch", 0),
            ("--proxy", "proxy.example"),
            ("--max-body-bytes", 0),
            ("--request-seconds", 0),
            ("--request-seconds", "inf"),
            ("--max-report-bytes", 0),
            ("--library", "papers"),
            ("--library", "papers=nowhere"),
            ("--library", "index=."),
            ("--library", "a=.", "--library", "a=."),
        ],
    )
    def test_bad_values(self, run, index, options):
        """The message names the option as the person wrote it."""
        err = self.one_line(run("--index", index, *options))
        assert err.startswith(f"neardup: {options[-2]} must be ")

    def test_nothing_given_is_help(self, run):
        code, out, err = run()
        assert "neardup serve" in out + err
        assert "--index" in out + err
        assert code in (0, 2)


class TestKeyCommands:
    def test_make_list_revoke(self, run, tmp_path):
        keys = tmp_path / "keys.json"
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

    def test_what_is_wrong(self, run, tmp_path):
        keys = tmp_path / "keys.json"
        assert run("key", "list", "--keys", keys)[0] == 2
        assert run("key", "revoke", "a", "--keys", keys)[0] == 2
        assert run("key", "create", "a", "--scope", "all", "--keys", keys)[0] == 2
        assert run("key", "create", "a")[0] == 2
        assert not keys.exists()


class TestServing:
    def test_it_says_where_and_ends_well(self, serve_process, index):
        running = serve_process(command=["serve", "--index", index], new_interpreter=True)
        assert f"neardup: serving {index} at {running.url}\n" in running.log()
        answer = running.client.get("/v1/stats")
        assert answer.status_code == 200
        assert "server" not in answer.headers
        assert running.stop() == 0
        assert running.log().count("\n") == 1

    def test_it_makes_the_index_and_says_so(self, serve_process, tmp_path):
        location = tmp_path / "new.db"
        running = serve_process(command=["serve", "--index", str(location)])
        assert running.client.get("/v1/stats").json()["documents"] == 0
        assert running.stop() == 0
        first, second = running.log().splitlines()
        assert first.startswith(f"neardup: note: created the index {location} with the recipe")
        assert second == f"neardup: serving {location} at {running.url}"

    def test_quiet(self, serve_process, index):
        running = serve_process(command=["serve", "--index", index, "--quiet"])
        running.client.get("/v1/documents/secret")
        assert running.stop() == 0
        assert running.log() == ""

    def test_the_access_log(self, serve_process, index):
        running = serve_process(command=["serve", "--index", index, "--access-log"])
        running.client.get("/v1/documents/none")
        assert running.stop() == 0
        assert '"GET /v1/documents/none HTTP/1.1" 404' in running.log()

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

    def test_a_second_one_at_the_same_port(self, serve_process, run, index):
        running = serve_process(command=["serve", "--index", index])
        port = running.url.rpartition(":")[2]
        code, _, err = run("--index", index, "--port", port)
        assert (code, "cannot listen on this port" in err) == (2, True)


class TestExamples:
    """The clients in examples/ do what they say."""

    def test_in_python(self, serve_process, index, root):
        running = serve_process(command=["serve", "--index", index])
        program = [sys.executable, root / "examples" / "client.py"]
        found = subprocess.run(
            [*program, root / "examples" / "articles.jsonl", running.url],
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )
        lines = found.stdout.decode().splitlines()
        assert len(lines) == 31
        assert "bridge: kept" in lines
        assert "bridge-agency: repeats bridge, content(5) 0.94" in lines
        assert running.stop() == 0

    def test_in_python_with_lines_that_are_no_documents(self, serve_process, index, root, tmp_path):
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
        found = subprocess.run(
            [sys.executable, root / "examples" / "client.py", path, running.url],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert found.returncode == 1
        assert len(found.stdout.splitlines()) == 42
        assert "first: kept" in found.stdout
        assert "last: repeats first, content(5) 1.00" in found.stdout
        for expected in (
            "line 3: refused. must be JSON",
            "line 4, id 7: refused. Invalid field: The field 'id'",
            "line 5, id 'none': refused. Invalid field: The field 'text' is missing",
            "line 46, id 'long': refused. The field 'documents[",
            "4 lines were refused",
        ):
            assert expected in found.stderr
        stored = running.client.get("/v1/documents/first").json()
        assert stored["at"] == "2026-03-01T08:00:00Z"
        assert running.stop() == 0

    @pytest.mark.skipif(not shutil.which("curl"), reason=needs.CURL)
    def test_in_shell(self, serve_process, index, root, tmp_path):
        secret, _ = create_key(tmp_path / "keys.json", "both", ["read", "write"])
        running = serve_process(
            command=["serve", "--index", index, "--keys", str(tmp_path / "keys.json")]
        )
        paper = root / "examples" / "papers" / "paper.md"
        found = subprocess.run(
            ["sh", root / "examples" / "client.sh", paper, running.url],
            capture_output=True,
            timeout=PATIENCE,
            cwd=tmp_path,
            env=os.environ | {"NEARDUP_KEY": secret},
        )
        said = found.stdout.decode()
        assert found.returncode == 0, said + found.stderr.decode()
        assert '"kept":1,"dropped":1' in said
        assert '"duplicate":true' in said
        assert (tmp_path / "report.html").stat().st_size > 1000
        assert running.stop() == 0
