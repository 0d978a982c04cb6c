"""Errors: one shape, a status and a code, nothing of the inside, and a log with what is needed."""

import sys
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

SECRET = "a text of a document"
JSON = {"content-type": "application/json"}
DOCUMENTS, KEEP = "/v1/documents", "/v1/documents/a/2/keep"
FORM = "multipart/form-data; boundary=x"
COVERS = {"file": ("a.txt", b"x"), "title_pages": ("a.csv", b"author\nx\n")}
NAMELESS = b"--x\r\n\r\nno name\r\n--x--\r\n"


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
        b"\xff\xfe",
        '{"id": "a", "text": "字"}'.encode("gb18030"),
        b'{"id": "a", "text": "\xed\xa0\x80"}',
        b"{",
        b"{'id': 1}",
        b'{"id": "a", "text": "b"} x',
        b'{"id": "a", "text": "b", "extra": {"x": NaN}}',
        b'{"id": "a", "text": "b", "extra": {"x": -Infinity}}',
        b'{"id": "a", "text": "b\n"}',
        b"[" * 100_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b"\0",
        b'{"id": "\\ud800", "text": "x"}',
        b'{"id": "c", "text": "x", "extra": {"n": "\\ud800"}}',
        b'{"id": "c", "text": "x", "extra": {"n": 1e400}}',
        b"1e400",
    ],
    ids=range(16),
)
def test_invalid_json_is_refused(shared, body):
    check_problem(shared.post(DOCUMENTS, content=body, headers=JSON), 400, "invalid_json")


#: Fields of documents, questions and batches that are not as they must be.
FIELDS = {
    DOCUMENTS: [
        ('{"text": "x"}', "id"),
        ('{"id": "c"}', "text"),
        ('{"id": 1, "text": "x"}', "id"),
        ('{"id": "", "text": "x"}', "id"),
        ('{"id": null, "text": "x"}', "id"),
        ('{"id": "a\\u0000b", "text": "x"}', "id"),
        ('{"id": "' + "x" * 2001 + '", "text": "x"}', "id"),
        ('{"id": "' + "字" * 667 + '", "text": "x"}', "id"),
        ('{"id": "c", "text": ["x"]}', "text"),
        ('{"id": "c", "text": null}', "text"),
        ('{"id": "c", "text": "x", "title": 1}', "title"),
        *(
            (f'{{"id": "c", "text": "x", "{name}": "{"字" * 1001}"}}', name)
            for name in ("title", "source")
        ),
        ('{"id": "c", "text": "x", "at": "soon"}', "at"),
        ('{"id": "c", "text": "x", "at": 1700000000}', "at"),
        ('{"id": "c", "text": "x", "at": "2026-02-30T00:00:00Z"}', "at"),
        ('{"id": "c", "text": "x", "extra": []}', "extra"),
        ('{"id": "c", "text": "x", "extra": {"n": ' + "[" * 300 + "]" * 300 + "}}", "extra"),
        ('{"id": "c", "text": "x", "titel": "y"}', "titel"),
        ('{"documents": []}', "documents"),
        ('{"documents": {}}', "documents"),
        ('{"documents": [1]}', "documents[0]"),
        ('{"documents": [{"id": "c", "text": "x"}, {"id": "d"}]}', "documents[1].text"),
        ('{"documents": [{"id": "c", "text": "x"}, {"id": "", "text": "x"}]}', "documents[1].id"),
        ('{"documents": [{"id": "c", "text": "x", "at": "soon"}]}', "documents[0].at"),
        ('{"documents": [{"id": "c", "text": "x"}], "id": "c"}', "id"),
        ("[]", None),
        ("null", None),
        ("", None),
    ],
    "/v1/query": [
        (f'{{"text": "x", "title": "{"字" * 1001}"}}', "title"),
        ('{"text": "x", "k": 0}', "k"),
        ('{"text": "x", "k": 101}', "k"),
        ('{"text": "x", "k": 1.5}', "k"),
        ('{"text": "x", "k": "5"}', "k"),
        ('{"text": "x", "k": true}', "k"),
        ('{"text": "x", "within": "soon"}', "within"),
        ('{"text": "x", "within": "0d"}', "within"),
        ('{"text": "x", "within": "999999999w"}', "within"),
        ('{"text": "x", "passages": 1}', "passages"),
    ],
    "/v1/compare": [
        ('{"a": "x"}', "b"),
        ('{"a": "x", "b": "y", "recipe": "../secret.toml"}', "recipe"),
        ('{"a": "x", "b": "y", "recipe": "/etc/passwd"}', "recipe"),
    ],
}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [(path, *row) for path, rows in FIELDS.items() for row in rows],
    ids=range(sum(map(len, FIELDS.values()))),
)
def test_bad_field_is_refused_by_name(shared, path, body, field):
    answer = shared.post(path, content=body.encode(), headers=JSON)
    check_problem(answer, 422, "invalid_field", field)
    assert shared.get("/v1/stats").json()["documents"] == 3


@pytest.mark.parametrize(
    ("files", "data", "status", "code", "field"),
    [
        ({"file": ("a.txt", b"")}, {}, 422, "empty_paper", "file"),
        ({}, {"file": "x"}, 422, "invalid_field", "file[0]"),
        ({"paper": ("a.txt", b"x")}, {}, 422, "invalid_field", "paper"),
        ({}, {"library": []}, 422, "invalid_field", "library"),
        ({}, {"library": "nowhere"}, 404, "no_such_library", "library"),
        ({}, {"library": "/etc/passwd"}, 404, "no_such_library", "library"),
        ({}, {"min_passage_length": "4"}, 422, "invalid_field", "min_passage_length"),
        ({}, {"min_passage_length": "٣٠"}, 422, "invalid_field", "min_passage_length"),
        ({}, {"min_passage_length": "9" * 400}, 422, "invalid_field", "min_passage_length"),
        ({}, {"language": "fr"}, 422, "invalid_field", "language"),
        ({}, {"path": "/x"}, 422, "invalid_field", "path"),
        ({"library": ("a.txt", b"x")}, {"library": []}, 422, "invalid_field", "library"),
        ({}, {"pass_below": "0.15"}, 422, "invalid_field", "pass_below"),
        ({}, {"reject_above": "x"}, 422, "invalid_field", "reject_above"),
        ({}, {"pass_below": "30", "reject_above": "20"}, 422, "invalid_field", "pass_below"),
        ({}, {"title_pages": "a.csv"}, 422, "invalid_field", "title_pages"),
        (COVERS, {}, 422, "wrong_form", "title_pages"),
    ],
)
def test_bad_form_is_refused(shared, files, data, status, code, field):
    files = files or {"file": ("a.txt", b"x")}
    answer = shared.post("/v1/check", files=files, data={"library": "index", **data})
    check_problem(answer, status, code, field)


@pytest.mark.parametrize(
    ("name", "field"),
    [("least", "min_passage_length"), ("among", "compare_papers"), ("covers", "title_pages")],
)
def test_earlier_name_of_a_field_names_the_field(shared, name, field):
    files = {"file": ("a.txt", b"x")}
    answer = shared.post("/v1/check", files=files, data={"library": "index", name: "1"})
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
        ("/v1/check", FORM, b"nothing of the kind", 400, "bad_request"),
        ("/v1/check", FORM, NAMELESS, 400, "bad_request"),
    ],
)
def test_a_body_of_another_kind(shared, path, kind, body, status, code):
    headers = {} if kind is None else {"content-type": kind}
    answer = shared.post(path, content=body, headers=headers)
    check_problem(answer, status, code, "library" if status == 422 else None)


UNKNOWN = ["0" * 32, "0" * 31, "x", "%c3%a9", "a%20b", "%00", "A" * 32, "0" * 999]


@pytest.mark.parametrize(
    ("method", "address", "status", "code", "field"),
    [
        *(
            (method, f"{DOCUMENTS}{form}", 404, "no_such_document", "id")
            for method in ("GET", "DELETE")
            for form in ("/none", "?id=none")
        ),
        ("GET", f"{DOCUMENTS}/none/explain", 404, "no_such_document", "id"),
        ("POST", f"{DOCUMENTS}/none/keep", 404, "no_such_document", "id"),
        ("GET", "/v1/clusters/none", 404, "not_found", None),
        ("POST", f"{DOCUMENTS}/a/1/keep", 409, "not_dropped", "id"),
        *(
            ("GET", f"{DOCUMENTS}{form}", 422, "invalid_field", "id")
            for form in ("/", "/a%00b", "", "?id=")
        ),
        *(
            ("GET", f"/v1/clusters?{bound}", 422, "invalid_field", bound.partition("=")[0])
            for bound in ("limit=0", "limit=101", "limit=x", "after=x", "after=-1", "serch=x")
        ),
        *(
            (method, f"/v1/check/{job}{path}", 404, "no_such_check", None)
            for job in UNKNOWN
            for method, path in (
                ("GET", ""),
                ("GET", "/report"),
                ("GET", "/report.json"),
                ("DELETE", ""),
            )
        ),
        *(
            (method, "/v1/nothing", 404, "not_found", None)
            for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW")
        ),
        *(
            ("GET", address, 404, "not_found", None)
            for address in (
                "/v1/stats/",
                "/v1//stats",
                "/v1",
                "/metrics/x",
                "/v1/check/%2e%2e%2fetc",
            )
        ),
        ("GET", KEEP, 404, "no_such_document", "id"),
        *(
            (method, address, 405, "method_not_allowed", None)
            for method, address in (
                *(("PUT", DOCUMENTS), ("POST", f"{DOCUMENTS}/a/1"), ("GET", "/v1/query")),
                *(("DELETE", "/v1/stats"), ("POST", "/healthz"), ("TRACE", "/metrics")),
            )
        ),
    ],
)
def test_unknown_address_or_method_is_refused(shared, method, address, status, code, field):
    url = httpx.URL("http://127.0.0.1:8765").copy_with(raw_path=address.encode())
    answer = shared.request(method, url)
    check_problem(answer, status, code, field)
    assert ("allow" in answer.headers) == (status == 405)


@pytest.mark.parametrize(
    "path", ["/v1/stats", "/v1/documents/a/1", "/healthz", "/metrics", "/compare"]
)
def test_head_is_get_without_the_body(client, path):
    answer = client.head(path)
    assert (answer.status_code, answer.content) == (200, b"")
    got = client.get(path)
    assert answer.headers["content-type"] == got.headers["content-type"]
    if path != "/metrics":
        assert answer.headers["content-length"] == str(len(got.content))


def test_head_over_a_real_connection(serve_process):
    service = serve_process()
    for _ in range(3):
        # A body too much would be taken for the next answer.
        assert service.client.head("/v1/stats").status_code == 200
        assert service.client.get("/healthz").json() == {"status": "ok"}
    assert service.client.head("/v1/none").status_code == 404
    assert service.client.head("/v1/query").status_code == 405
    assert service.client.get("/healthz").is_success
    service.stop()
    assert "Traceback" not in service.log()


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


@pytest.fixture
def failing(serve, index):
    """A service with routes that fail."""
    app = create_app(Settings(index=index, workers=1))
    parameter = Message(
        "{parameter:named} must be {expected}. Got {value} instead.",
        parameter="k",
        expected=Message("text"),
        value="5",
    )
    errors = {
        "parameter": ParameterError(parameter),
        "input": InputError(parameter),
        "other": InputError("There is nothing."),
        "away": IndexUnavailableError("news.db: the disk is full"),
        "problem": ProblemError(418, "A teapot", "It is short.", "spout", headers={"x-tea": "no"}),
    }

    @app.get("/v1/bug")
    async def bug() -> None:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise RuntimeError(SECRET) from error

    @app.get("/v1/raise/{kind}")
    async def fail(kind: str) -> None:
        raise errors[kind]

    return serve.running(app)


def test_a_bug_shows_nothing(failing):
    answer = failing.get("/v1/bug")
    check_problem(answer, 500, "internal_error")
    assert answer.json()["detail"] == "The service failed. The log has the details."
    assert SECRET not in answer.text


def test_the_log_has_the_places_of_a_bug_and_no_message():
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise RuntimeError(SECRET) from error
    except RuntimeError:
        logged = Formatter().formatException(sys.exc_info())
    assert "test_problems.py" in logged
    assert logged.index("builtins.KeyError") < logged.index("builtins.RuntimeError")
    assert SECRET not in logged


def test_log_names_the_fault_of_an_index():
    error = IndexFormatError("other.db: must be an index.")
    assert "must be an index" in Formatter().formatException((type(error), error, None))


@pytest.mark.parametrize(
    ("kind", "status", "code", "field"),
    [
        ("parameter", 422, "invalid_field", "k"),
        ("input", 422, "invalid_field", "k"),
        ("other", 422, "invalid_field", None),
        ("away", 503, "index_unavailable", None),
    ],
)
def test_errors_of_the_package(failing, caplog, kind, status, code, field):
    answer = failing.get(f"/v1/raise/{kind}")
    check_problem(answer, status, code, field)
    assert "disk" not in answer.text
    if kind == "away":
        assert answer.headers["retry-after"] == "5"
        assert "the disk is full" in caplog.text


def test_a_problem_has_headers_of_its_own(failing):
    answer = failing.get("/v1/raise/problem")
    assert (answer.status_code, answer.json()["field"]) == (418, "spout")
    assert answer.headers["x-tea"] == "no"


def test_other_file_is_refused_as_an_index(serve, tmp_path):
    (tmp_path / "other.db").write_text("a file of another program " * 100)
    answer = serve(index=str(tmp_path / "other.db")).get("/v1/stats")
    check_problem(answer, 500, "internal_error")
    assert "other.db" not in answer.text
