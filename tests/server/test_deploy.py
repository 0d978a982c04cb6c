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

pytestmark = pytest.mark.slow

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
    """The services, and clients of the proxy in front of them, which ask for news.example."""

    def __init__(self, folder, services, key, port):
        self.services, self.key = services, {"Authorization": f"Bearer {key}"}
        self._folder, self._port = folder, port
        self._tls = ssl.create_default_context(cafile=folder / "cert.pem")

    def log(self):
        return (self._folder / "error.log").read_text()

    def client(self, **headers):
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self._port}",
            headers={"Host": "news.example", **headers},
            verify=self._tls,
            timeout=PATIENCE,
        )

    def connect(self, path, size, body=b""):
        """Return a connection with a request whose body has a size, and the begin of the body."""
        connection = socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE)
        connection = self._tls.wrap_socket(connection, server_hostname="news.example")
        head = b"POST %s HTTP/1.1\r\nHost: news.example\r\nContent-Length: %d\r\n\r\n"
        connection.sendall(head % (path, size) + body)
        return connection

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
    options += ["-addext", "subjectAltName=DNS:news.example,IP:127.0.0.1", "-keyout", key]
    subprocess.run(["openssl", *options, "-out", certificate], check=True, capture_output=True)
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
        key = site.key["Authorization"].removeprefix("Bearer ")
        answer = client.post("/login", data={"key": key})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert "secure" in answer.headers["set-cookie"].lower()
        assert {client.get("/removals").status_code for _ in range(10)} == {200}
        elsewhere = {"Origin": "https://evil.example"}
        assert client.post("/logout", headers=elsewhere).status_code == 403


def test_a_program(site):
    """A check is found by who sent it, and all services have the documents."""
    with site.client(**site.key) as client:
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
        assert service.client.get("/v1/documents/a/1", headers=site.key).status_code == 200


def test_too_large_body_is_refused(site):
    """It is refused by its announced size, before any of it is sent to a service."""
    with site.connect(b"/v1/check", 69206016) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_metrics_are_for_this_machine(site):
    with site.client(**site.key) as client:
        assert client.get("/metrics").status_code == 404
    for service in site.services:
        assert service.client.get("/metrics", headers=site.key).status_code == 200


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
    with ExitStack() as connections:

        def hold():
            """Hold a connection, unless it came too soon after the others."""
            connection = connections.enter_context(site.connect(b"/v1/query", 9, b"{"))
            return not select.select([connection], [], [], 0.1)[0]

        for _ in range(20):
            until(hold, "a connection to be held")
        refused = "limiting connections by zone"
        until(lambda: not site.answers() and refused in site.log(), "the proxy to refuse")
    until(site.answers, "the client to be served again")


def test_stopped_service_is_unavailable(site):
    """The last test: its clients get the other one."""
    assert site.services[0].stop() == 0
    with site.client(**site.key) as client:
        until(lambda: client.get("/v1/stats").status_code == 200, "the other service to answer")


@pytest.fixture(scope="module")
def deploy(root):
    return {path.name: path.read_text("utf-8") for path in (root / "deploy").iterdir()}


def words_of_image(deploy):
    """Return the words of the Dockerfile's health check, of its entry point, of its command."""
    found = re.findall(r"(?:ENTRYPOINT|CMD) (\[.*\])$", deploy["Dockerfile"], re.MULTILINE)
    return [json.loads(words) for words in found]


def test_commands_of_the_image_and_of_the_unit(deploy):
    _, entry, words = words_of_image(deploy)
    assert entry == ["neardup"]
    _, values = parser.read_words(words)
    assert (values["host"], str(values["keys"])) == ("0.0.0.0", "keys.json")
    start = re.search(r"^ExecStart=(.*)$", deploy["neardup.service"], re.MULTILINE)[1]
    program, *words = shlex.split(start)
    assert program.endswith("/neardup")
    _, values = parser.read_words(words)
    assert (values["index"], values["proxy"]) == ("news.db", "127.0.0.1")


def test_the_health_check_of_the_image(deploy, serve_process):
    service = serve_process()
    program, *words = words_of_image(deploy)[0]
    assert program == "python"
    words = [word.replace("http://127.0.0.1:8765", service.url) for word in words]
    assert subprocess.run([sys.executable, *words]).returncode == 0
    service.stop()
    ended = subprocess.run([sys.executable, *words], stderr=subprocess.DEVNULL)
    assert ended.returncode == 1


def test_the_services_of_compose(deploy):
    compose = yaml.safe_load(deploy["compose.yml"])
    service, nginx = compose["services"]["neardup"], compose["services"]["nginx"]
    _, values = parser.read_words(service["command"])
    # Nothing but nginx, in the same network, reaches the service.
    assert (values["host"], values["proxy"]) == ("127.0.0.1", "127.0.0.1")
    assert nginx["network_mode"] == "service:neardup"
    assert "server 127.0.0.1:8765;" in deploy["nginx.conf"]
    assert service["read_only"]
    assert "USER 10001" in deploy["Dockerfile"]
    volumes = [volume for one in compose["services"].values() for volume in one["volumes"]]
    names = {volume.partition(":")[0] for volume in volumes}
    assert {name for name in names if not name.startswith("./")} == set(compose["volumes"])
    mounted = {volume.split(":")[1] for volume in nginx["volumes"]}
    assert set(re.findall(r"ssl_certificate(?:_key)? +(\S+);", deploy["nginx.conf"])) <= mounted
