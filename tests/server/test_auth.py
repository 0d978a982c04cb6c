"""Who is let in, and how."""

import base64
import json
import time

import itsdangerous
import pytest

from neardup.server.security import auth
from neardup.server.security.keys import create_key, revoke_key

DOCUMENT = {"id": "new", "text": "渡口的新渡轮今天试航，票价与旧船相同。"}


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def keys(tmp_path):
    """A file of three keys: what each allows is its name."""
    path = tmp_path / "keys.json"
    return {
        "path": path,
        "read": create_key(path, "read", ["read"])[0],
        "write": create_key(path, "write", ["write"])[0],
        "both": create_key(path, "both", ["read", "write"])[0],
    }


@pytest.fixture
def guarded(serve, keys):
    return serve(keys=keys["path"])


class TestWithoutKeys:
    """Everything is open, but pages of other sites change nothing."""

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({}, 201),
            ({"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8765"}, 201),
            ({"Sec-Fetch-Site": "cross-site"}, 403),
            ({"Sec-Fetch-Site": "same-site"}, 403),
            # Older browsers.
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Origin": "http://127.0.0.1:9"}, 403),
        ],
    )
    def test_write_access_without_keys(self, client, headers, status):
        assert client.post("/v1/documents", json=DOCUMENT, headers=headers).status_code == status
        expected = 200 if status == 201 else 404
        assert client.get("/v1/documents/new").status_code == expected
        removed = client.delete("/v1/documents/a/1", headers=headers)
        assert removed.status_code == (200 if status == 201 else 403)


class TestKeys:
    def test_an_anonymous_client_is_told_before_the_body_is_read(self, guarded):
        body = (b" " * 100_000 for _ in range(100))
        json = {"Content-Type": "application/json"}
        for answer in (
            guarded.get("/v1/stats"),
            guarded.post("/v1/documents", json=DOCUMENT),
            guarded.post("/v1/documents", content=body, headers=json),
            guarded.delete("/v1/documents/a/1"),
            guarded.get("/metrics"),
        ):
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["code"] == "a_key_is_needed"

    @pytest.mark.parametrize(
        ("header", "status"),
        [
            *((f"{name} {{read}}", 200) for name in ("Bearer", "bearer", "Bearer ")),
            *((header, 401) for header in ("", "Bearer", "Bearer ", "Bearer nonsense")),
            *((header, 401) for header in ("Basic {read}", "{read}", "Bearer {read}x")),
        ],
    )
    def test_authorization_header_must_be_a_key(self, guarded, keys, header, status):
        headers = {"Authorization": header.format(**keys)}
        assert guarded.get("/v1/stats", headers=headers).status_code == status

    @pytest.mark.parametrize(
        ("key", "reads", "writes"), [("read", 200, 403), ("write", 403, 201), ("both", 200, 201)]
    )
    def test_scopes(self, guarded, keys, key, reads, writes):
        headers = bearer(keys[key])
        for path in ("/v1/stats", "/metrics"):
            assert guarded.get(path, headers=headers).status_code == reads
        answer = guarded.post("/v1/documents", json=DOCUMENT, headers=headers)
        assert answer.status_code == writes

    def test_revoked_while_it_runs(self, guarded, keys):
        assert guarded.get("/v1/stats", headers=bearer(keys["read"])).status_code == 200
        revoke_key(keys["path"], "read")
        assert guarded.get("/v1/stats", headers=bearer(keys["read"])).status_code == 401
        assert guarded.get("/v1/stats", headers=bearer(keys["both"])).status_code == 200

    def test_health_needs_none_and_any_host_is_answered(self, guarded, keys):
        host = {"Host": "news.example"}
        assert guarded.get("/healthz", headers=host).status_code == 200
        assert guarded.get("/v1/stats", headers=bearer(keys["read"]) | host).status_code == 200


@pytest.fixture
def page(serve, keys):
    return serve(keys=keys["path"])


def sign_in(page, key, headers=None):
    return page.post("/login", data={"key": key}, headers=headers)


class TestSessions:
    def test_a_session_has_the_scopes_of_its_key(self, page, keys):
        assert sign_in(page, f" {keys['read']}\n").status_code == 303
        assert page.get("/v1/stats").status_code == 200
        assert page.post("/v1/documents", json=DOCUMENT).status_code == 403

    @pytest.mark.parametrize("scheme", ["http", "https"])
    def test_the_cookie(self, page, keys, scheme):
        page.base_url = f"{scheme}://127.0.0.1:8765"
        (cookie,) = sign_in(page, keys["both"]).headers.get_list("set-cookie")
        assert cookie.startswith("neardup_session=")
        assert keys["both"] not in cookie
        for attribute in ("path=/", "httponly", "samesite=strict", "max-age=43200"):
            assert f"; {attribute};" in f"{cookie.lower()};"
        assert ("secure" in cookie.lower()) == (scheme == "https")

    def test_no_session_for_a_wrong_key(self, page):
        answer = sign_in(page, "nonsense")
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        assert page.get("/v1/stats").status_code == 401

    def test_signing_out(self, page, keys):
        sign_in(page, keys["both"])
        copy = {"Cookie": f"neardup_session={page.cookies['neardup_session']}"}
        assert page.get("/v1/stats", headers=copy).status_code == 200
        page.post("/logout")
        assert page.get("/v1/stats").status_code == 401
        assert page.get("/v1/stats", headers=copy).status_code == 401

    def test_it_ends_with_its_key(self, page, keys):
        sign_in(page, keys["both"])
        assert page.get("/v1/stats").status_code == 200
        revoke_key(keys["path"], "both")
        assert page.get("/v1/stats").status_code == 401

    def test_it_ends_in_the_evening(self, page, keys, monkeypatch):
        sign_in(page, keys["both"])
        now = int(time.time())
        for passed, status in ((auth.SESSION_SECONDS - 9, 200), (auth.SESSION_SECONDS + 9, 401)):
            later = now + passed
            monkeypatch.setattr(
                itsdangerous.TimestampSigner, "get_timestamp", lambda _, later=later: later
            )
            assert page.get("/v1/stats").status_code == status

    def test_a_forged_cookie(self, page, keys):
        sign_in(page, keys["read"])
        content, made, signature = page.cookies.get("neardup_session").split(".")
        page.cookies.clear()
        session = json.loads(base64.b64decode(content))
        both = next(key for key in page.app.state.keys if key.name == "both")
        other = base64.b64encode(json.dumps({**session, "key": both.digest}).encode()).decode()
        for value in (
            f"{other}.{made}.{signature}",
            f"{content}.{made}.{signature[:-1]}",
            f"{content}.{made}.",
            f"{content}..{signature}",
            content,
            other,
            "..",
            "x",
        ):
            headers = {"Cookie": f"neardup_session={value}"}
            assert page.get("/v1/stats", headers=headers).status_code == 401

    def test_another_start_knows_no_session(self, page, serve, keys):
        sign_in(page, keys["both"])
        session = page.cookies.get("neardup_session")
        again = serve(keys=keys["path"])
        answer = again.get("/v1/stats", headers={"Cookie": f"neardup_session={session}"})
        assert answer.status_code == 401

    def test_other_sites_cannot_use_it(self, page, keys):
        sign_in(page, keys["both"])
        headers = {"Sec-Fetch-Site": "cross-site"}
        answer = page.post("/v1/documents", json=DOCUMENT, headers=headers)
        assert answer.status_code == 403
        # A key in a header is a program's own.
        headers |= bearer(keys["both"])
        assert page.post("/v1/documents", json=DOCUMENT, headers=headers).status_code == 201

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            *(({"Sec-Fetch-Site": site}, 403) for site in ("cross-site", "same-site", "nonsense")),
            *(({"Origin": origin}, 403) for origin in ("null", "https://evil.example")),
            ({"Origin": "http://127.0.0.1:1"}, 403),
            ({"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8765"}, 303),
            ({"Sec-Fetch-Site": "none"}, 303),
            # Behind a proxy that speaks HTTPS, with an older browser.
            ({"Origin": "https://news.example", "Host": "news.example"}, 303),
        ],
    )
    def test_nor_sign_in_or_out(self, page, keys, headers, status):
        answer = sign_in(page, keys["both"], headers)
        assert answer.status_code == status
        assert ("set-cookie" in answer.headers) == (status == 303)
        sign_in(page, keys["both"])
        assert page.post("/logout", headers=headers).status_code == status
        assert page.get("/v1/stats").status_code == (200 if status == 403 else 401)
