"""The files of deploy/: commands, and nginx in front of two services with one index."""

import json
import os
import re
import select
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
import yaml

import neardup
from neardup.cli import parser
from neardup.server.security.keys import create_key
from tests import needs
from tests.postgres import NoServer, Server
from tests.server.conftest import BRIDGE, free_port, run_service
from tests.waiting import PATIENCE, until

# Debian has it in a folder that only root searches.
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")

MAIN = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/neardup.conf;
}}
"""


class Site:
    """The services, and clients of the proxy in front of them."""

    def __init__(self, folder, services, key, port):
        self.services, self.key = services, key
        self._folder, self._port = folder, port
        self._tls = ssl.create_default_context(cafile=folder / "cert.pem")

    def log(self):
        return (self._folder / "error.log").read_text()

    def client(self, **headers):
        """Return a client that asks for news.example."""
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self._port}",
            headers={"Host": "news.example", **headers},
            verify=self._tls,
            timeout=PATIENCE,
        )

    def connect(self):
        """Return a connection without a request."""
        connection = socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE)
        return self._tls.wrap_socket(connection, server_hostname="news.example")

    def answers(self):
        try:
            with self.client() as client:
                return client.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False


def start_nginx(folder: Path, example: str, services, port):
    """Start nginx with the example, changed as its comments say."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    options = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=news.example"]
    names = ("-addext", "subjectAltName=DNS:news.example,IP:127.0.0.1")
    files = ("-keyout", key, "-out", certificate)
    subprocess.run(["openssl", *options, *names, *files], check=True, capture_output=True)
    first, second = (service.url.rpartition(":")[2] for service in services)
    for old, new in (
        ("server 127.0.0.1:8765;", f"server 127.0.0.1:{first};"),
        ("# server 127.0.0.1:8766;", f"server 127.0.0.1:{second};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("/etc/ssl/news.example.pem", str(certificate)),
        ("/etc/ssl/news.example.key", str(key)),
    ):
        assert example.count(old) == 1, old
        example = example.replace(old, new)
    (folder / "neardup.conf").write_text(example)
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder))
    options = ["-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"]
    return subprocess.Popen([NGINX, *options])


@pytest.fixture(scope="module")
def site(tmp_path_factory, root):
    if not NGINX or not shutil.which("openssl"):
        pytest.skip(needs.NGINX)
    folder = tmp_path_factory.mktemp("nginx")
    try:
        postgres = Server(fsync="off")
    except NoServer as error:
        pytest.skip(f"{needs.POSTGRESQL} ({error})")
    keys = folder / "keys.json"
    key, _ = create_key(keys, "desk", ["read", "write"])
    index = postgres.new_database()
    neardup.Index(index, workers=1).close()
    settings = {"index": index, "keys": str(keys), "proxy": "127.0.0.1"}
    services = [run_service(dict(settings), folder / f"{number}.log") for number in (1, 2)]
    for service in services:
        service.wait_until_up()
    port = free_port()
    nginx = start_nginx(folder, (root / "deploy" / "nginx.conf").read_text(), services, port)
    found = Site(folder, services, key, port)
    try:
        until(found.answers, "nginx to answer")
        yield found
    finally:
        nginx.terminate()
        nginx.wait(PATIENCE)
        for service in services:
            service.stop(signal.SIGKILL)
        postgres.remove()


def test_a_person(site):
    """Forms are the page's own behind HTTPS, and a session stays with its service."""
    with site.client(Origin="https://news.example") as client:
        assert client.get("/removals").status_code == 303
        answer = client.post("/login", data={"key": site.key})
        assert answer.status_code == 303
        (cookie,) = answer.headers.get_list("set-cookie")
        assert "secure" in cookie.lower()
        session = {"Cookie": cookie.partition(";")[0]}
        assert {client.get("/removals", headers=session).status_code for _ in range(10)} == {200}
        elsewhere = session | {"Origin": "https://evil.example"}
        assert client.post("/logout", headers=elsewhere).status_code == 403


def test_a_program(site):
    """A check is found by who sent it, and all services have the documents."""
    key = {"Authorization": f"Bearer {site.key}"}
    with site.client(**key) as client:
        added = client.post("/v1/documents", json={"id": "a/1", "text": BRIDGE})
        assert added.status_code == 201
        paper = {"file": ("paper.txt", BRIDGE.encode())}
        accepted = client.post("/v1/check", files=paper, data={"library": "index"}).json()

        def ended():
            answer = client.get(accepted["status"])
            # It asks too often.
            state = None if answer.status_code == 429 else answer.json()["state"]
            return None if state in ("queued", "running") else state

        assert until(ended, "the check to end") == "done"
    for service in site.services:
        assert service.client.get("/v1/documents/a/1", headers=key).status_code == 200


def test_too_large_body_is_refused(site):
    """It is refused by its announced size, before any of it is sent to a service."""
    with site.connect() as connection:
        connection.sendall(
            b"POST /v1/check HTTP/1.1\r\nHost: news.example\r\nContent-Length: 69206016\r\n\r\n"
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_metrics_are_for_this_machine(site):
    key = {"Authorization": f"Bearer {site.key}"}
    with site.client(**key) as client:
        assert client.get("/metrics").status_code == 404
    for service in site.services:
        assert service.client.get("/metrics", headers=key).status_code == 200


def test_too_many_requests_of_an_address(site):
    with site.client() as client:
        # More than the burst, faster than the rate.
        answers = [client.get("/healthz") for _ in range(120)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert {answer.status_code for answer in answers} == {200, 429}
        assert {answer.headers["retry-after"] for answer in refused} == {"1"}
        until(site.answers, "the client to be served again")


def test_too_many_sign_ins(site):
    with site.client(Origin="https://news.example") as client:
        statuses = [client.post("/login", data={"key": "wrong"}).status_code for _ in range(25)]
        assert statuses[0] == 401
        assert statuses[-1] == 429


def test_too_many_connections_of_an_address(site):
    """Bodies that do not come hold connections; the next ones are refused."""
    body = b"POST /v1/query HTTP/1.1\r\nHost: news.example\r\nContent-Length: 9\r\n\r\n{"
    with ExitStack() as connections:

        def hold():
            """Hold a connection, unless it came too soon after the others."""
            connection = connections.enter_context(site.connect())
            connection.sendall(body)
            return not select.select([connection], [], [], 0.1)[0]

        for _ in range(20):
            until(hold, "a connection to be held")
        refused = "limiting connections by zone"
        until(lambda: not site.answers() and refused in site.log(), "the proxy to refuse")
    until(site.answers, "the client to be served again")


def test_stopped_service_is_unavailable(site):
    """The last test: its clients get the other one."""
    assert site.services[0].stop() == 0
    with site.client(Authorization=f"Bearer {site.key}") as client:
        until(lambda: client.get("/v1/stats").status_code == 200, "the other service to answer")


@pytest.fixture(scope="module")
def deploy(root):
    return root / "deploy"


@pytest.fixture(scope="module")
def compose(deploy):
    return yaml.safe_load((deploy / "compose.yml").read_text("utf-8"))


@pytest.fixture(scope="module")
def commands(deploy):
    """The words of the Dockerfile's entry point, of its health check, and of its command."""
    text = (deploy / "Dockerfile").read_text("utf-8")
    return [json.loads(words) for words in re.findall(r"(?:ENTRYPOINT|CMD) (\[.*\])$", text, re.M)]


def test_the_command_of_the_image(commands):
    _, entry, words = commands
    assert entry == ["neardup"]
    _, values = parser.read_words(words)
    assert (values["host"], str(values["keys"])) == ("0.0.0.0", "keys.json")


@pytest.mark.slow
def test_the_health_check_of_the_image(commands, serve_process):
    service = serve_process()
    (program, *words), *_ = commands
    assert program == "python"
    words = [word.replace("http://127.0.0.1:8765", service.url) for word in words]
    assert subprocess.run([sys.executable, *words]).returncode == 0
    service.stop()
    ended = subprocess.run([sys.executable, *words], stderr=subprocess.DEVNULL)
    assert ended.returncode == 1


def test_the_command_of_the_unit(deploy):
    unit = (deploy / "neardup.service").read_text("utf-8")
    program, *words = shlex.split(re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1])
    assert program.endswith("/neardup")
    _, values = parser.read_words(words)
    assert (values["index"], values["proxy"]) == ("news.db", "127.0.0.1")


def test_the_services_of_compose(deploy, compose):
    services = compose["services"]
    _, values = parser.read_words(services["neardup"]["command"])
    # Nothing but nginx, in the same network, reaches the service.
    assert (values["host"], values["proxy"]) == ("127.0.0.1", "127.0.0.1")
    assert services["nginx"]["network_mode"] == "service:neardup"
    assert services["neardup"]["read_only"]
    assert "USER 10001" in (deploy / "Dockerfile").read_text("utf-8")
    names = {volume.partition(":")[0] for one in services.values() for volume in one["volumes"]}
    files = {name.removeprefix("./") for name in names if name.startswith("./")}
    assert names - {f"./{name}" for name in files} == set(compose["volumes"])
    nginx = (deploy / "nginx.conf").read_text("utf-8")
    assert "server 127.0.0.1:8765;" in nginx
    mounted = {volume.split(":")[1] for volume in services["nginx"]["volumes"]}
    assert set(re.findall(r"ssl_certificate(?:_key)? +(\S+);", nginx)) <= mounted
