"""Headers of every answer, and the policy of a report."""

import pytest

import neardup
from neardup.exceptions import ParameterError
from neardup.server.security.headers import CONTENT_POLICY, report_policy

OWN = "本文讨论小镇渡口客流的变化，资料来自作者在两个集日里的观察与记录。"
COPIED = "县志记载，清末渡口有木船三只，船工九人，光绪二十六年添置铁锚一副，由两岸商户分担费用。"


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


@pytest.fixture
def report(tmp_path):
    paper, source = tmp_path / "paper.txt", tmp_path / "county.txt"
    paper.write_text(OWN + COPIED, "utf-8")
    source.write_text(COPIED, "utf-8")
    return neardup.check(paper, source).to_html()


class TestReportPolicy:
    def test_the_digests_of_the_page_and_a_sandbox(self, report):
        policy = report_policy(report)
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "; script-src 'sha256-" in policy
        assert policy.endswith(
            "frame-ancestors 'none'; sandbox allow-scripts allow-modals allow-downloads"
        )
        assert "unsafe" not in policy
        assert "\n" not in policy

    @pytest.mark.parametrize(
        "policy",
        [
            "default-src *",
            "default-src 'none'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
            "default-src 'none'; base-uri 'none'; form-action 'none'; script-src *",
            "",
        ],
    )
    def test_any_other_policy_is_refused(self, policy):
        page = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        with pytest.raises(ParameterError, match="must be a report"):
            report_policy(page)

    def test_a_policy_in_the_text_does_not_count(self, report):
        start = report.index("<meta http-equiv")
        end = report.index(">", start) + 1
        with pytest.raises(ParameterError):
            report_policy("<p>a text</p>" * 200 + report[start:end])
