"""Forms of the page: only the page's own are taken."""

import pytest
from fastapi import Depends, FastAPI, Request

from neardup.server import problems
from neardup.server.security import csrf
from neardup.server.security.headers import SecurityHeaders
from neardup.server.security.sessions import Sessions


@pytest.fixture
def page(serve):
    app = FastAPI()
    problems.install(app)
    app.add_middleware(Sessions, secret="secret", max_age=None)
    app.add_middleware(SecurityHeaders)

    @app.get("/test/form")
    async def form(request: Request):
        # Two forms on one page have one token.
        return {"token": csrf.token(request), "again": csrf.token(request)}

    @app.post("/test/form", dependencies=[Depends(csrf.check)])
    async def sent(request: Request):
        return {"text": (await request.form()).get("text")}

    return serve.running(app)


def send(page, token, **said):
    said = {name.replace("_", "-"): value for name, value in said.items()}
    return page.post("/test/form", data={"text": "你好", csrf.FIELD: token}, headers=said)


def test_a_form_of_the_page(page):
    form = page.get("/test/form").json()
    assert form["token"] == form["again"]
    answer = send(page, form["token"], Sec_Fetch_Site="same-origin", Origin="http://127.0.0.1:8765")
    assert answer.json() == {"text": "你好"}
    # The browser keeps its cookie; the next page has the same token.
    later = page.get("/test/form")
    assert "set-cookie" not in later.headers
    assert later.json()["token"] == form["token"]


def test_the_cookie(page):
    (cookie,) = page.get("/test/form").headers.get_list("set-cookie")
    assert cookie.startswith("neardup_session=")
    assert cookie.lower().endswith("; path=/; httponly; samesite=strict")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_a_form_from_elsewhere(page, site):
    token = page.get("/test/form").json()["token"]
    answer = send(page, token, Sec_Fetch_Site=site)
    assert (answer.status_code, answer.json()["field"]) == (403, "csrf")


@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://127.0.0.1:1"])
def test_a_form_from_elsewhere_with_an_older_browser(page, origin):
    token = page.get("/test/form").json()["token"]
    assert send(page, token, Origin=origin).status_code == 403


def test_behind_a_proxy_that_speaks_https(page):
    token = page.get("/test/form").json()["token"]
    answer = send(page, token, Origin="https://localhost", Host="localhost")
    assert answer.status_code == 200


@pytest.mark.parametrize("token", ["", "nonsense", "é", "a" * 10_000])
def test_wrong_tokens(page, token):
    page.get("/test/form")
    assert send(page, token).status_code == 403


def test_no_token(page):
    page.get("/test/form")
    assert page.post("/test/form", data={"text": "a"}).status_code == 403
    assert page.post("/test/form", json={csrf.FIELD: "a"}).status_code == 403


def test_a_file_in_place_of_the_token(page):
    page.get("/test/form")
    answer = page.post("/test/form", files={csrf.FIELD: ("a.txt", b"a")})
    assert answer.status_code == 403


def test_the_token_of_another_browser(page):
    token = page.get("/test/form").json()["token"]
    page.cookies.clear()
    assert send(page, token).status_code == 403
    page.get("/test/form")
    assert send(page, token).status_code == 403


def test_the_token_from_before_signing_in(page):
    token = page.get("/test/form").json()["token"]
    page.cookies.set("neardup_session", "a.b.c", domain="127.0.0.1")
    assert send(page, token).status_code == 403


def test_programs_say_nothing_about_sites():
    assert not csrf.comes_from_elsewhere({})
    assert not csrf.comes_from_elsewhere({"sec-fetch-site": "none"})
