"""Checks of every answer of the service, and forms as a browser sends them."""

import functools
import json
from urllib.parse import unquote

import httpx
import jsonschema_rs
from starlette.routing import compile_path

from neardup.server import Settings, create_app
from neardup.server.security.headers import CONTENT_POLICY, REPORT_POLICY
from tests.pages.contract import check_html

#: The description of every service: no setting changes it.
DESCRIPTION = create_app(Settings(index="none.db")).openapi()
_OPERATIONS = [
    (compile_path(template.replace("{id}", "{id:id}"))[0], methods)
    for template, methods in DESCRIPTION["paths"].items()
]
HTML = "text/html; charset=utf-8"


def check_answer(answer: httpx.Response) -> None:
    """Check an answer of any route."""
    answer.read()
    check_headers(answer)
    check_described(answer)
    if answer.headers.get("content-type") == HTML and answer.content:
        check_html(answer.text, answer.headers.get("content-language", "")[:2])


def check_headers(answer: httpx.Response) -> None:
    """Check the headers of an answer."""
    headers = answer.headers
    path = answer.request.url.path if answer.is_success else ""
    is_report, is_static = path.endswith("/report"), path.startswith("/static/")
    assert headers["content-security-policy"] == (REPORT_POLICY if is_report else CONTENT_POLICY)
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "microphone=()" in headers["permissions-policy"]
    assert not {"server", "access-control-allow-origin"} & set(headers)
    cached = "public, max-age=31536000, immutable" if is_static else "no-store"
    if answer.request.method == "POST" and answer.is_success and headers["content-type"] == HTML:
        # The browser may show the answer to a form again, which it asks for.
        cached = "private, no-cache"
    assert headers["cache-control"] == cached


def check_described(answer: httpx.Response) -> None:
    """Assert that an answer is one of those that its operation describes; pages have none."""
    path = unquote(answer.request.url.raw_path.partition(b"?")[0].decode())
    method, status = answer.request.method.replace("HEAD", "GET").lower(), answer.status_code
    found = (methods for pattern, methods in _OPERATIONS if pattern.match(path))
    operation = next((methods[method] for methods in found if method in methods), None)
    if answer.text == "Invalid host header":
        # Starlette answers before there is a route.
        return
    if operation is None:
        is_missing = status in (404, 405)
        assert is_missing or not path.startswith("/v1/"), f"{method} {path} is not described"
        return
    described = operation["responses"].get("default" if status >= 400 else str(status))
    assert described is not None, f"{method} {path}: {status} is not described"
    if not answer.content:
        assert status == 204 or answer.request.method == "HEAD"
        return
    kind = answer.headers["content-type"].partition(";")[0]
    if kind.endswith("json"):
        _validator(json.dumps(described["content"][kind]["schema"])).validate(answer.json())
    else:
        assert kind in described["content"]


@functools.cache
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    components = DESCRIPTION["components"]
    return jsonschema_rs.Draft202012Validator(json.loads(schema) | {"components": components})


def send_form(client, path, *, files=(), headers=None, **fields):
    """Send a form as a browser does it from a page of the service.

    A field has a text or a list of texts; files are pairs of a field and a file.
    """
    lists = {name: [one] if isinstance(one, str) else one for name, one in fields.items()}
    # Fields without a file are sent as a browser does it for this kind of form, too.
    parts = [(name, (None, value)) for name, values in lists.items() for value in values]
    headers = {"Sec-Fetch-Site": "same-origin", **(headers or {})}
    return client.post(path, files=[*parts, *files], headers=headers)
