"""Who is let in, and how: keys and their file, sessions, and pages where keys are needed."""

import base64
import json
import os
import stat
import threading
import time

import itsdangerous
import pytest

from neardup.exceptions import InputError, OutputError, ParameterError
from neardup.server.security import auth
from neardup.server.security.keys import Keys, create_key, read_keys, revoke_key
from tests import needs
from tests.server import forms
from tests.server.conftest import LIBRARY, bearer
from tests.server.forms import check_page

DOCUMENT = {"id": "new", "text": "渡口的新渡轮今天试航，票价与旧船相同。"}


#: What browsers send from a page of the service, and from pages of others, the older ones too.
OWN_PAGE = {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8765"}
OTHER_SITES = [
    *({"Sec-Fetch-Site": site} for site in ("cross-site", "same-site", "nonsense")),
    *({"Origin": origin} for origin in ("null", "https://evil.example", "http://127.0.0.1:1")),
]


class TestWithoutKeys:
    """Everything is open, but pages of other sites change nothing."""

    @pytest.mark.parametrize(
        ("headers", "is_refused"),
        [({}, False), *((headers, True) for headers in OTHER_SITES), (OWN_PAGE, False)],
    )
    def test_write_access_without_keys(self, client, headers, is_refused):
        added = client.post("/v1/documents", json=DOCUMENT, headers=headers)
        assert added.status_code == (403 if is_refused else 201)
        assert client.get("/v1/documents/new").status_code == (404 if is_refused else 200)
        removed = client.delete("/v1/documents/a/1", headers=headers)
        assert removed.status_code == (403 if is_refused else 200)


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
        ("key", "reads", "writes"),
        [("read", 200, 403), ("write", 403, 201), ("read+write", 200, 201)],
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
        assert guarded.get("/v1/stats", headers=bearer(keys["read+write"])).status_code == 200

    def test_health_needs_none_and_any_host_is_answered(self, guarded, keys):
        host = {"Host": "news.example"}
        assert guarded.get("/healthz", headers=host).status_code == 200
        assert guarded.get("/v1/stats", headers=bearer(keys["read"]) | host).status_code == 200


def sign_in(client, key, headers=None):
    return client.post("/login", data={"key": key}, headers=headers)


class TestSessions:
    def test_a_session_has_the_scopes_of_its_key(self, guarded, keys):
        assert sign_in(guarded, f" {keys['read']}\n").status_code == 303
        assert guarded.get("/v1/stats").status_code == 200
        assert guarded.post("/v1/documents", json=DOCUMENT).status_code == 403

    @pytest.mark.parametrize("scheme", ["http", "https"])
    def test_the_cookie(self, guarded, keys, scheme):
        guarded.base_url = f"{scheme}://127.0.0.1:8765"
        (cookie,) = sign_in(guarded, keys["read+write"]).headers.get_list("set-cookie")
        assert cookie.startswith("neardup_session=")
        assert keys["read+write"] not in cookie
        for attribute in ("path=/", "httponly", "samesite=strict", "max-age=43200"):
            assert f"; {attribute};" in f"{cookie.lower()};"
        assert ("secure" in cookie.lower()) == (scheme == "https")

    def test_no_session_for_a_wrong_key(self, guarded):
        answer = sign_in(guarded, "nonsense")
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        assert guarded.get("/v1/stats").status_code == 401

    def test_signing_out(self, guarded, keys):
        sign_in(guarded, keys["read+write"])
        copy = {"Cookie": f"neardup_session={guarded.cookies['neardup_session']}"}
        assert guarded.get("/v1/stats", headers=copy).status_code == 200
        guarded.post("/logout")
        assert guarded.get("/v1/stats").status_code == 401
        assert guarded.get("/v1/stats", headers=copy).status_code == 401

    def test_session_ends_with_its_key(self, guarded, keys):
        sign_in(guarded, keys["read+write"])
        assert guarded.get("/v1/stats").status_code == 200
        revoke_key(keys["path"], "read+write")
        assert guarded.get("/v1/stats").status_code == 401

    def test_session_ends_in_the_evening(self, guarded, keys, monkeypatch):
        sign_in(guarded, keys["read+write"])
        now = int(time.time())
        for passed, status in ((auth.SESSION_SECONDS - 9, 200), (auth.SESSION_SECONDS + 9, 401)):
            later = now + passed
            monkeypatch.setattr(
                itsdangerous.TimestampSigner, "get_timestamp", lambda _, later=later: later
            )
            assert guarded.get("/v1/stats").status_code == status

    def test_a_forged_cookie(self, guarded, keys):
        sign_in(guarded, keys["read"])
        content, made, signature = guarded.cookies.get("neardup_session").split(".")
        guarded.cookies.clear()
        session = json.loads(base64.b64decode(content))
        other_key = next(key for key in guarded.app.state.keys if key.name == "read+write")
        other = base64.b64encode(json.dumps({**session, "key": other_key.digest}).encode()).decode()
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
            assert guarded.get("/v1/stats", headers=headers).status_code == 401

    def test_another_start_knows_no_session(self, guarded, serve, keys):
        sign_in(guarded, keys["read+write"])
        session = guarded.cookies.get("neardup_session")
        again = serve(keys=keys["path"])
        answer = again.get("/v1/stats", headers={"Cookie": f"neardup_session={session}"})
        assert answer.status_code == 401

    def test_other_sites_cannot_use_it(self, guarded, keys):
        sign_in(guarded, keys["read+write"])
        headers = {"Sec-Fetch-Site": "cross-site"}
        answer = guarded.post("/v1/documents", json=DOCUMENT, headers=headers)
        assert answer.status_code == 403
        # A key in a header is a program's own.
        headers |= bearer(keys["read+write"])
        assert guarded.post("/v1/documents", json=DOCUMENT, headers=headers).status_code == 201

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            *((headers, 403) for headers in OTHER_SITES),
            (OWN_PAGE, 303),
            ({"Sec-Fetch-Site": "none"}, 303),
            # Behind a proxy that speaks HTTPS, with an older browser.
            ({"Origin": "https://news.example", "Host": "news.example"}, 303),
        ],
    )
    def test_nor_sign_in_or_out(self, guarded, keys, headers, status):
        answer = sign_in(guarded, keys["read+write"], headers)
        assert answer.status_code == status
        assert ("set-cookie" in answer.headers) == (status == 303)
        sign_in(guarded, keys["read+write"])
        assert guarded.post("/logout", headers=headers).status_code == status
        assert guarded.get("/v1/stats").status_code == (200 if status == 403 else 401)


ENGLISH = {"Accept-Language": "en"}
PAGES = ["/", "/removals", "/decisions", "/ask", "/compare", "/check", "/check/x"]
PAGES += ["/documents/a/1", "/documents?id=a/2"]


def sign_in_by_form(client, key, next="/removals"):
    return forms.send(client, "/login", key=key, next=next)


@pytest.mark.parametrize("path", PAGES)
def test_visitor_of_a_keyed_service_signs_in_first(guarded, path):
    answer = guarded.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login?next=%2F")


def test_writer_is_offered_writing(guarded, keys):
    check_page(sign_in_by_form(guarded, "wrong"))
    answer = sign_in_by_form(guarded, keys["read+write"])
    assert (answer.status_code, answer.headers["location"]) == (303, "/removals")
    page = guarded.get("/removals", headers=ENGLISH)
    check_page(page)
    assert "Keep it after all" in page.text
    assert "Sign out" in page.text
    fields = {"decision": "keep", "id": "a/2", "back": "//evil.example"}
    answer = forms.send(guarded, "/removals/decide", **fields)
    assert answer.headers["location"].startswith("/?said=")
    (event,) = guarded.app.state.store.index.decisions()
    assert (event.id, event.details["by"]) == ("a/2", "read+write")


def test_reader_is_not_offered_writing(guarded, keys):
    sign_in_by_form(guarded, keys["read"])
    page = guarded.get("/removals", headers=ENGLISH)
    assert "Keep it after all" not in page.text
    asked = forms.send(guarded, "/ask", text=LIBRARY, headers=ENGLISH)
    assert "Add it" not in asked.text
    for path in ("/ask/add", "/removals/decide"):
        answer = forms.send(guarded, path, text=LIBRARY, id="a/2", headers=ENGLISH)
        assert answer.status_code == 403
        check_page(answer)


@pytest.mark.parametrize(
    "next", ["//evil.example", "//[", "https://evil.example", "/\\evil.example", "x"]
)
def test_signing_in_leads_nowhere_else(guarded, keys, next):
    assert sign_in_by_form(guarded, keys["read"], next).headers["location"] == "/"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "keys.json"


def test_a_key_is_found_and_no_other(path):
    secret, made = create_key(path, "crawler", ["write", "read"])
    keys = Keys(path)
    assert keys.find(secret) == made
    assert keys.find_digest(made.digest) == made
    assert made.scopes == ("read", "write")
    for other in ("", secret[:-1], secret + "a", secret.upper(), made.digest, "\ud800", "é"):
        assert keys.find(other) is None


def test_the_file_does_not_have_the_key(path):
    secret, made = create_key(path, "crawler", ["read"])
    text = path.read_text("utf-8")
    assert secret not in text
    assert secret[8:] not in text
    assert made.last == secret[-4:]
    assert len(secret) >= 8 + 43


@pytest.mark.skipif(os.name != "posix", reason=needs.POSIX)
def test_only_the_owner_reads_it(path):
    before = os.umask(0)
    try:
        create_key(path, "one", ["read"])
        create_key(path, "two", ["read"])
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["keys.json"]


@pytest.mark.skipif(os.name != "posix", reason=needs.POSIX)
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_key_file_writable_by_others_is_refused(path, mode):
    secret, _ = create_key(path, "one", ["read"])
    path.chmod(mode)
    assert Keys(path).find(secret) is None
    with pytest.raises(InputError, match="chmod 600"):
        read_keys(path)


def test_new_and_revoked_keys_count_at_once(path):
    secret, _ = create_key(path, "one", ["read"])
    keys = Keys(path)
    assert keys.find(secret) is not None
    other, _ = create_key(path, "two", ["read"])
    assert keys.find(other) is not None
    revoke_key(path, "one")
    assert keys.find(secret) is None
    assert [key.name for key in keys] == ["two"]


@pytest.mark.parametrize(
    "damage",
    [
        *("", "{", "[]", "\0"),
        '{"format": 2, "keys": []}',
        '{"format": 1, "keys": [{"name": "a"}]}',
        # A scope that there is not, and no file.
        ("read", "admin"),
        None,
    ],
)
def test_a_damaged_file_lets_nobody_in(path, damage):
    secret, _ = create_key(path, "one", ["read"])
    keys = Keys(path)
    assert keys.find(secret) is not None
    if damage is None:
        path.unlink()
    else:
        text = path.read_text().replace(*damage) if isinstance(damage, tuple) else damage
        path.write_text(text)
    assert keys.find(secret) is None
    with pytest.raises(InputError, match=rf"^{path}: "):
        read_keys(path)
    if damage is not None:
        with pytest.raises(InputError, match=rf"^{path}: "):
            create_key(path, "two", ["read"])
        assert path.read_text() == text


@pytest.mark.parametrize(
    ("name", "scopes", "parameter"),
    [
        *((name, ["read"], "name") for name in ("", " a", "a\nb", "a\x00", "x" * 101, "there")),
        *(("one", scopes, "scope") for scopes in ([], ["admin"], ["read", "all"])),
    ],
)
def test_bad_names_and_scopes(path, name, scopes, parameter):
    create_key(path, "there", ["read"])
    before = path.read_text()
    with pytest.raises(ParameterError) as caught:
        create_key(path, name, scopes)
    assert caught.value.values.get("parameter", "name") == parameter
    assert path.read_text() == before
    with pytest.raises(ParameterError, match="'two'"):
        revoke_key(path, "two")


def test_key_in_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(OutputError, match="cannot be written"):
        create_key(tmp_path / "no" / "keys.json", "one", ["read"])


def test_making_many_at_once_loses_none(path):
    threads = [
        threading.Thread(target=create_key, args=(path, f"key {number}", ["read"]))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({key.digest for key in Keys(path)}) == 8
