"""Pages where keys are needed: who is let in, what is offered, and where it leads."""

import pytest

from neardup.server.security.keys import create_key

from . import forms
from .conftest import LIBRARY
from .forms import check_page

ENGLISH = {"Accept-Language": "en"}
SCOPES = {"reader": ("read",), "writer": ("read", "write")}
PAGES = [
    "/",
    "/removals",
    "/decisions",
    "/ask",
    "/compare",
    "/check",
    "/documents/a/1",
    "/documents?id=a/2",
]


@pytest.fixture
def keyed(serve, tmp_path):
    path = tmp_path / "keys.json"
    made = {name: create_key(path, name, scopes)[0] for name, scopes in SCOPES.items()}
    return serve(keys=path), made


def sign_in(client, key, next="/removals"):
    return forms.send(client, "/login", key=key, next=next)


@pytest.mark.parametrize("path", [*PAGES, "/check/x"])
def test_with_keys_everybody_signs_in_first(keyed, path):
    client, _ = keyed
    answer = client.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login?next=%2F")


def test_writer_is_offered_decisions(keyed):
    client, made = keyed
    check_page(sign_in(client, "wrong"))
    answer = sign_in(client, made["writer"])
    assert (answer.status_code, answer.headers["location"]) == (303, "/removals")
    page = client.get("/removals", headers=ENGLISH)
    check_page(page)
    assert "Keep it after all" in page.text
    assert "Sign out" in page.text
    fields = {"decision": "keep", "id": "a/2", "back": "//evil.example"}
    assert (
        forms.send(client, "/removals/decide", **fields).headers["location"].startswith("/?said=")
    )
    (event,) = client.app.state.store.index.decisions()
    assert (event.id, event.details["by"]) == ("a/2", "writer")


def test_reader_is_not_offered_decisions(keyed):
    client, made = keyed
    sign_in(client, made["reader"])
    page = client.get("/removals", headers=ENGLISH)
    assert "Keep it after all" not in page.text
    asked = forms.send(client, "/ask", text=LIBRARY, headers=ENGLISH)
    assert "Add it" not in asked.text
    for path in ("/ask/add", "/removals/decide"):
        answer = forms.send(client, path, text=LIBRARY, id="a/2", headers=ENGLISH)
        assert answer.status_code == 403
        check_page(answer)


@pytest.mark.parametrize(
    "next", ["//evil.example", "//[", "https://evil.example", "/\\evil.example", "x"]
)
def test_signing_in_leads_nowhere_else(keyed, next):
    client, made = keyed
    assert sign_in(client, made["reader"], next).headers["location"] == "/"
