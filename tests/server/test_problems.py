"""Errors: one shape, a status and a code, nothing of the inside, and a log with what is needed."""

import json
import time

import httpx
import pytest

from neardup.base.messages import Message
from neardup.exceptions import (
    IndexFormatError,
    IndexUnavailableError,
    InputError,
    ParameterError,
)
from neardup.server import Settings, create_app
from neardup.server.logs import Formatter
from neardup.server.problems import ProblemError
from tests.server.answers import HTML
from tests.server.conftest import BASE
from tests.server.papers import send

SECRET = "a text of a document"
JSON = {"content-type": "application/json"}
DOCUMENTS = "/v1/documents"
FORM = "multipart/form-data; boundary=x"


def check_problem(answer, status, code, field=None):
    """Assert what every problem has, and its kind."""
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    found = (answer.status_code, problem.get("code"), problem.get("field"))
    assert found == (status, code, field), problem
    assert problem["status"] == status
    assert problem["title"]
    if code == "invalid_field" and field is not None:
        assert field in problem["detail"]


@pytest.mark.parametrize(
    "body",
    [
        *(b"\xff\xfe", b"\0", b"{", b"{'id': 1}", b"1e400", b'{"id": "a", "text": "b"} x'),
        '{"id": "a", "text": "字"}'.encode("gb18030"),
        b'{"id": "a", "text": "\xed\xa0\x80"}',
        b'{"id": "\\ud800", "text": "x"}',
        b'{"id": "a", "text": "b\n"}',
        *(
            b'{"id": "a", "text": "b", "extra": {"x": %s}}' % value
            for value in (b"NaN", b"-Infinity", b"1e400", b'"\\ud800"')
        ),
        b"[" * 100_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    ],
    ids=range(16),
)
def test_invalid_json_is_refused(shared, body):
    check_problem(shared.post(DOCUMENTS, content=body, headers=JSON), 400, "invalid_json")


#: Fields of documents, questions and batches that are not as they must be.
FIELDS = {
    DOCUMENTS: [
        ({"text": "x"}, "id"),
        ({"id": "c"}, "text"),
        *(({"id": id, "text": "x"}, "id") for id in (1, "", None, "a\0b", "x" * 2001, "字" * 667)),
        *(
            ({"id": "c", "text": "x", name: value}, name)
            for name, values in {
                "text": (["x"], None),
                "title": ("字" * 1001, 1),
                "source": ("字" * 1001,),
                "at": ("soon", 1700000000, "2026-02-30T00:00:00Z"),
                "extra": ([],),
                "titel": ("y",),
            }.items()
            for value in values
        ),
        ('{"id": "c", "text": "x", "extra": {"n": ' + "[" * 300 + "]" * 300 + "}}", "extra"),
        ({"documents": []}, "documents"),
        ({"documents": {}}, "documents"),
        ({"documents": [1]}, "documents[0]"),
        ({"documents": [{"id": "c", "text": "x"}, {"id": "d"}]}, "documents[1].text"),
        ({"documents": [{"id": "c", "text": "x"}, {"id": "", "text": "x"}]}, "documents[1].id"),
        ({"documents": [{"id": "c", "text": "x", "at": "soon"}]}, "documents[0].at"),
        ({"documents": [{"id": "c", "text": "x"}], "id": "c"}, "id"),
        *((body, None) for body in ("[]", "null", "")),
    ],
    "/v1/query": [
        ({"text": "x", "title": "字" * 1001}, "title"),
        *(({"text": "x", "k": k}, "k") for k in (0, 101, 1.5, "5", True)),
        *(({"text": "x", "within": age}, "within") for age in ("soon", "0d", "999999999w")),
        ({"text": "x", "passages": 1}, "passages"),
    ],
    "/v1/compare": [
        ({"a": "x"}, "b"),
        ({"a": "x", "b": "y", "recipe": "../secret.toml"}, "recipe"),
        ({"a": "x", "b": "y", "recipe": "/etc/passwd"}, "recipe"),
    ],
}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [(path, *row) for path, rows in FIELDS.items() for row in rows],
    ids=range(sum(map(len, FIELDS.values()))),
)
def test_bad_field_is_refused_by_name(shared, path, body, field):
    content = body if isinstance(body, str) else json.dumps(body)
    answer = shared.post(path, content=content, headers=JSON)
    check_problem(answer, 422, "invalid_field", field)
    assert shared.get("/v1/stats").json()["documents"] == 3


@pytest.mark.parametrize(
    ("given", "field", "status", "code"),
    [
        ({"file": b""}, "file", 422, "empty_paper"),
        ({"file": "x"}, "file[0]", 422, "invalid_field"),
        *(({"library": name}, "library", 404, "no_such_library") for name in ("no", "/etc/passwd")),
        ({"library": b"x"}, "library", 422, "invalid_field"),
        ({"title_pages": b"author\nx\n"}, "title_pages", 422, "wrong_form"),
        *(
            ({name: value}, name, 422, "invalid_field")
            for name, values in {
                "library": ([],),
                "min_passage_length": ("4", "٣٠", "9" * 400),
                "language": ("fr",),
                "path": ("/x",),
                "pass_below": ("0.15",),
                "reject_above": ("x",),
                "title_pages": ("a.csv",),
            }.items()
            for value in values
        ),
        ({"paper": b"x"}, "paper", 422, "invalid_field"),
        ({"pass_below": "30", "reject_above": "20"}, "pass_below", 422, "invalid_field"),
    ],
)
def test_bad_form_is_refused(shared, given, field, status, code):
    fields = {"file": b"x", "library": "index", **given}
    files = {name: (name, value) for name, value in fields.items() if isinstance(value, bytes)}
    data = {name: value for name, value in fields.items() if name not in files}
    check_problem(shared.post("/v1/check", files=files, data=data), status, code, field)


@pytest.mark.parametrize(
    ("name", "field"),
    [("least", "min_passage_length"), ("among", "compare_papers"), ("covers", "title_pages")],
)
def test_earlier_name_of_a_field_names_the_field(shared, name, field):
    answer = send(shared, "x", **{name: "1"})
    check_problem(answer, 422, "invalid_field", name)
    assert answer.json()["detail"].endswith(f"Did you mean '{field}'?")


@pytest.mark.parametrize(
    ("path", "kind", "body", "status", "code"),
    [
        *(
            (DOCUMENTS, kind, b'{"id": "c", "text": "x"}', 415, "unsupported_media_type")
            for kind in (None, "text/plain", "application/xml", FORM, "application/jsonp")
        ),
        *(
            ("/v1/check", kind, b"{}", 422, "invalid_field")
            for kind in ("application/json", "application/x-www-form-urlencoded", "")
        ),
        ("/v1/check", "multipart/form-data", b"x", 400, "bad_request"),
        *(
            ("/v1/check", FORM, body, 400, "bad_request")
            for body in (b"nothing of the kind", b"--x\r\n\r\nno name\r\n--x--\r\n")
        ),
    ],
)
def test_a_body_of_another_kind(shared, path, kind, body, status, code):
    headers = {} if kind is None else {"content-type": kind}
    answer = shared.post(path, content=body, headers=headers)
    check_problem(answer, status, code, "library" if status == 422 else None)


UNKNOWN_JOBS = ["0" * 32, "0" * 31, "x", "%c3%a9", "a%20b", "%00", "A" * 32, "0" * 999]
#: Methods with addresses: a space is between the two.
REFUSED = {
    (404, "no_such_document", "id"): [
        *(
            f"{method} {DOCUMENTS}{id}"
            for method in ("GET", "DELETE")
            for id in ("/none", "?id=no")
        ),
        *(f"GET {DOCUMENTS}/none/explain", f"POST {DOCUMENTS}/none/keep"),
        f"GET {DOCUMENTS}/a/2/keep",
    ],
    (409, "not_dropped", "id"): [f"POST {DOCUMENTS}/a/1/keep"],
    (422, "invalid_field", "id"): [f"GET {DOCUMENTS}{id}" for id in ("/", "/a%00b", "", "?id=")],
    (422, "invalid_field", "limit"): [f"GET /v1/clusters?limit={n}" for n in ("0", "101", "x")],
    (422, "invalid_field", "after"): [f"GET /v1/clusters?after={place}" for place in ("x", "-1")],
    (422, "invalid_field", "serch"): ["GET /v1/clusters?serch=x"],
    (404, "no_such_check", None): [
        *(
            f"GET /v1/check/{job}{of}"
            for job in UNKNOWN_JOBS
            for of in ("", "/report", "/report.json")
        ),
        *(f"DELETE /v1/check/{job}" for job in UNKNOWN_JOBS),
    ],
    (404, "not_found", None): [
        *(f"{m} /v1/no" for m in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW")),
        *("GET /v1/stats/", "GET /v1//stats", "GET /v1", "GET /metrics/x", "GET /v1/clusters/none"),
        "GET /v1/check/%2e%2e%2fetc",
    ],
    (405, "method_not_allowed", None): [
        *(f"PUT {DOCUMENTS}", f"POST {DOCUMENTS}/a/1", "GET /v1/query"),
        *("DELETE /v1/stats", "POST /healthz", "TRACE /metrics"),
    ],
}


@pytest.mark.parametrize(
    ("request_line", "problem"), [(line, row) for row, lines in REFUSED.items() for line in lines]
)
def test_unknown_address_or_method_is_refused(shared, request_line, problem):
    method, address = request_line.split(" ")
    answer = shared.request(method, httpx.URL(BASE).copy_with(raw_path=address.encode()))
    check_problem(answer, *problem)
    assert ("allow" in answer.headers) == (answer.status_code == 405)


@pytest.mark.parametrize(
    "path", ["/v1/stats", "/v1/documents/a/1", "/healthz", "/metrics", "/compare"]
)
def test_head_is_get_without_the_body(shared, path):
    answer = shared.head(path)
    assert (answer.status_code, answer.content) == (200, b"")
    got = shared.get(path)
    assert answer.headers["content-type"] == got.headers["content-type"]
    if path != "/metrics":
        assert answer.headers["content-length"] == str(len(got.content))


def test_a_value_is_not_repeated_in_the_answer(shared):
    for body in [{"id": SECRET, "text": 1}, {"id": "c", "text": "x", "at": 5, "title": SECRET}]:
        answer = shared.post(DOCUMENTS, json=body)
        assert answer.status_code == 422
        assert SECRET not in answer.text


@pytest.mark.parametrize(
    "body",
    [
        b'{"documents":[' + b"{}," * 1_000_000 + b"{}]}",
        b'{"id":"a",' + b",".join(b'"%d":1' % at for at in range(100_000)) + b"}",
    ],
    ids=range(2),
)
def test_a_million_faults_are_told_at_once(shared, body):
    begun = time.process_time()
    assert shared.post(DOCUMENTS, content=body, headers=JSON).status_code == 422
    # DocumentSet one by one, they took half a minute of the event loop.
    assert time.process_time() - begun < 5


FAULT = Message(
    "{parameter:named} must be {expected}. Got {value} instead.",
    parameter="k",
    expected=Message("text"),
    value="5",
)
ERRORS = {
    "parameter": ParameterError(FAULT),
    "input": InputError(FAULT),
    "other": InputError("There is nothing."),
    "away": IndexUnavailableError("news.db: the disk is full"),
    "problem": ProblemError(418, "A teapot", "It is short.", "spout", headers={"x-tea": "no"}),
}


def fail():
    """Raise an error with another one behind it, both of which name a text."""
    try:
        raise KeyError(SECRET)
    except KeyError as error:
        raise RuntimeError(SECRET) from error


@pytest.fixture
def failing(serve, index):
    """A service with addresses that fail."""
    app = create_app(Settings(index=index, workers=1))
    # One is for programs, one for people.
    for path in ("/metrics/bug", "/bug"):
        app.get(path)(fail)

    @app.get("/metrics/raise/{kind}")
    async def raise_error(kind: str) -> None:
        raise ERRORS[kind]

    return serve.running(app)


def test_a_bug_shows_nothing(failing):
    answer = failing.get("/metrics/bug")
    check_problem(answer, 500, "internal_error")
    assert answer.json()["detail"] == "The service failed. The log has the details."
    page = failing.get("/bug")
    assert (page.status_code, page.headers["content-type"]) == (500, HTML)
    for text in (answer.text, page.text):
        assert SECRET not in text
        assert "Error:" not in text


def test_the_log_has_the_places_of_a_bug_and_no_message():
    with pytest.raises(RuntimeError) as caught:
        fail()
    logged = Formatter().formatException((caught.type, caught.value, caught.tb))
    assert "test_problems.py" in logged
    assert logged.index("builtins.KeyError") < logged.index("builtins.RuntimeError")
    assert SECRET not in logged


def test_log_names_the_fault_of_an_index():
    error = IndexFormatError("other.db: must be an index.")
    assert "must be an index" in Formatter().formatException((type(error), error, None))


@pytest.mark.parametrize(
    ("kind", "status", "code", "field", "headers"),
    [
        ("parameter", 422, "invalid_field", "k", {}),
        ("input", 422, "invalid_field", "k", {}),
        ("other", 422, "invalid_field", None, {}),
        ("away", 503, "index_unavailable", None, {"retry-after": "5"}),
        ("problem", 418, "a_teapot", "spout", {"x-tea": "no"}),
    ],
)
def test_errors_of_the_package(failing, caplog, kind, status, code, field, headers):
    answer = failing.get(f"/metrics/raise/{kind}")
    check_problem(answer, status, code, field)
    assert headers.items() <= answer.headers.items()
    # The log names what clients must not see.
    assert "disk" not in answer.text
    assert ("the disk is full" in caplog.text) == (kind == "away")


def test_other_file_is_refused_as_an_index(serve, tmp_path):
    (tmp_path / "other.db").write_text("a file of another program " * 100)
    answer = serve(index=str(tmp_path / "other.db")).get("/v1/stats")
    check_problem(answer, 500, "internal_error")
    assert "other.db" not in answer.text
