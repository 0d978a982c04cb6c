"""Errors: one shape, nothing of the inside, and the log has what is needed."""

import logging
import signal
from collections.abc import Callable

import httpx
import pytest
from fastapi import FastAPI

from neardup.base.messages import Message
from neardup.exceptions import IndexUnavailableError, InputError, ParameterError
from neardup.server import Settings, create_app
from neardup.server.problems import ProblemError
from tests.server.conftest import LIBRARY, Process

SECRET = "a text of a document"


def must_be(name: str) -> Message:
    return Message(
        "{parameter:named} must be {expected}. Got {value} instead.",
        parameter=name,
        expected=Message("text"),
        value="5",
    )


@pytest.fixture
def failing(serve: Callable[..., httpx.Client], index: str) -> httpx.Client:
    """A service with routes that fail."""
    app: FastAPI = create_app(Settings(index=index, workers=1))

    @app.get("/v1/bug")
    async def bug() -> None:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise RuntimeError(SECRET) from error

    @app.get("/v1/raise/{kind}")
    async def fail(kind: str) -> None:
        raise {
            "parameter": ParameterError(must_be("k")),
            "input": InputError(must_be("text")),
            "other": InputError("There is nothing."),
            "away": IndexUnavailableError("news.db: the disk is full"),
            "problem": ProblemError(
                "A teapot", "It is short.", "spout", status=418, headers={"x-tea": "no"}
            ),
        }[kind]

    return serve.running(app)


def test_a_bug_shows_nothing_and_is_logged(failing: httpx.Client, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.ERROR, "neardup.server"):
        answer = failing.get("/v1/bug")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json() == {
        "type": "urn:neardup:internal-error",
        "title": "Internal error",
        "status": 500,
        "detail": "The service failed. The log has the details.",
        "code": "internal_error",
    }
    (record,) = caplog.records
    logged = record.getMessage()
    assert "GET /v1/bug" in logged
    assert "test_problems.py" in logged
    assert logged.index("builtins.KeyError") < logged.index("builtins.RuntimeError")
    assert SECRET not in logged
    assert record.exc_info is None


@pytest.mark.parametrize(
    ("kind", "status", "field", "code"),
    [
        ("parameter", 422, "k", "invalid_field"),
        ("input", 422, "text", "invalid_field"),
        ("other", 422, None, None),
        ("problem", 418, "spout", None),
    ],
)
def test_errors_of_the_package(
    failing: httpx.Client, kind: str, status: int, field: str | None, code: str | None
):
    answer = failing.get(f"/v1/raise/{kind}")
    found = answer.json()
    assert (answer.status_code, found.get("field"), found.get("code")) == (status, field, code)
    assert found["status"] == status


def test_an_index_that_is_away(failing: httpx.Client, caplog: pytest.LogCaptureFixture):
    answer = failing.get("/v1/raise/away")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "someone" not in answer.text
    assert "the disk is full" in caplog.text


def test_headers_of_a_problem_are_sent(failing: httpx.Client):
    assert failing.get("/v1/raise/problem").headers["x-tea"] == "no"


def test_an_index_that_is_none_is_logged_with_what_is_wrong(
    serve: Callable[..., httpx.Client], tmp_path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "other.db").write_text("a file of another program " * 100)
    answer = serve(index=str(tmp_path / "other.db")).get("/v1/stats")
    assert answer.status_code == 500
    assert "other.db" not in answer.text
    assert "IndexFormatError" in caplog.text
    assert "must be an index" in caplog.text


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
def test_an_address_that_is_not_there(shared: httpx.Client, method: str):
    answer = shared.request(method, "/v1/nothing")
    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:neardup:not-found"


@pytest.mark.parametrize("path", ["/v1/stats/", "/v1//stats", "//v1/stats", "/V1/stats", "/v1"])
def test_addresses_are_taken_as_they_are(shared: httpx.Client, path: str):
    answer = shared.get(httpx.URL("http://127.0.0.1:8765").copy_with(raw_path=path.encode()))
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/documents", "DELETE, GET, POST, HEAD"),
        ("OPTIONS", "/v1/documents", "DELETE, GET, POST, HEAD"),
        ("POST", "/v1/documents/a/1", "DELETE, GET, HEAD"),
        ("GET", "/v1/query", "POST"),
        ("HEAD", "/v1/query", "POST"),
        ("GET", "/v1/documents/a/2/keep", None),
        ("PATCH", "/v1/documents/a/2/keep", "DELETE, GET, POST, HEAD"),
        ("DELETE", "/v1/stats", "GET, HEAD"),
        ("POST", "/healthz", "GET, HEAD"),
        ("TRACE", "/metrics", "GET, HEAD"),
    ],
)
def test_methods(shared: httpx.Client, method: str, path: str, allowed: str | None):
    answer = shared.request(method, path)
    if allowed is None:
        # A document could have that id.
        assert answer.status_code == 404
        return
    assert answer.status_code == 405
    assert answer.headers["allow"] == allowed
    if method != "HEAD":
        assert allowed in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/v1/stats", "/v1/documents/a/1", "/healthz", "/metrics", "/"])
def test_head_is_get_without_the_body(client: httpx.Client, path: str):
    answer = client.head(path)
    assert (answer.status_code, answer.content) == (200, b"")
    got = client.get(path)
    assert answer.headers["content-type"] == got.headers["content-type"]
    if path != "/metrics":
        assert answer.headers["content-length"] == str(len(got.content))


def test_head_over_a_real_connection(serve_process: Callable[..., Process]):
    service = serve_process()
    for _ in range(3):
        # A body too much would be taken for the next answer.
        assert service.client.head("/v1/stats").status_code == 200
        assert service.client.get("/healthz").json() == {"status": "ok"}
    assert service.client.head("/v1/none").status_code == 404
    assert service.client.post("/v1/documents", json={"id": "c", "text": LIBRARY}).is_success
    service.stop(signal.SIGTERM)
    assert "Traceback" not in service.log()
