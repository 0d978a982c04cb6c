"""The files of deploy/, as far as they can be tried without a container."""

import json
import re
import shlex
import subprocess
import sys

import pytest
import yaml

from neardup.cli import parser


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
    _, values = parser.read(words)
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
    _, values = parser.read(words)
    assert (values["index"], values["proxy"]) == ("news.db", "127.0.0.1")


def test_the_services_of_compose(deploy, compose):
    services = compose["services"]
    _, values = parser.read(services["neardup"]["command"])
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
