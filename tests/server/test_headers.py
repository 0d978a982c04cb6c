"""Headers of every answer, and the policy of a report."""

import re
from html import unescape

import pytest

from neardup.server.security.headers import CONTENT_POLICY
from tests.server.conftest import FERRY
from tests.server.papers import OWN, send, wait


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("GET", "/v1/stats", 200),
        ("GET", "/nowhere", 404),
        ("PUT", "/v1/documents", 405),
        ("POST", "/v1/documents", 415),
        ("GET", "/v1/documents/none", 404),
    ],
)
def test_every_answer_has_them(shared, method, path, status):
    answer = shared.request(method, path)
    assert answer.status_code == status
    headers = answer.headers
    assert headers["content-security-policy"] == CONTENT_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "microphone=()" in headers["permissions-policy"]
    assert "server" not in headers
    assert "access-control-allow-origin" not in headers


def test_the_policy_allows_nothing_from_elsewhere():
    directives = dict(one.split(" ", 1) for one in CONTENT_POLICY.split("; "))
    assert directives["default-src"] == "'none'"
    assert "unsafe" not in CONTENT_POLICY
    assert "http" not in CONTENT_POLICY
    assert "*" not in CONTENT_POLICY


def test_a_report_has_a_policy_of_digests_and_no_origin(client):
    accepted = send(client, OWN + FERRY)
    wait(client, accepted)
    page = client.get(accepted.json()["report"])
    policy = page.headers["content-security-policy"]
    assert policy.endswith("; sandbox allow-scripts allow-modals allow-downloads")
    head = page.text.partition("<body")[0]
    own = unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', head)[1])
    assert own.startswith("default-src 'none'; style-src 'sha256-")
    assert "; script-src 'sha256-" in own
    assert "unsafe" not in own
