"""What keys of each scope see and change: on every route that the application has."""

import itertools
import re

import httpx
import pytest

import neardup
from neardup.server.security.headers import CONTENT_POLICY, REPORT_POLICY
from neardup.server.security.keys import SCOPES
from tests.server.conftest import bearer
from tests.server.papers import send, wait

#: A word of each stored value; no request has one of them.
STORED = ("quartz", "marmalade", "obsidian", "saffron", "velvet")
TEXT = (
    "The harbour office announced on Monday that the old ferry will make its last crossing at the "
    "end of the month, and that tickets for the new line are sold at the pier, in the {} arcade "
    "beside the customs house, and on board of both ships until the summer timetable begins."
)
NEW = TEXT.format("covered")
#: Ids: one that is kept, one that is dropped, one that no document has.
IDS = ("kept", "dropped", "none")

#: What to send to each route that takes a body; the values are arguments of a client.
BODIES = {
    "/v1/documents": [
        {"json": {"id": "new", "text": NEW}},
        {"json": {"id": "kept", "text": NEW}},
        {"json": {"documents": [{"id": id, "text": NEW} for id in ("dropped", "other", "kept")]}},
    ],
    "/v1/query": [{"json": {"text": NEW, "passages": True}}],
    "/v1/compare": [{"json": {"a": NEW, "b": NEW, "passages": True}}],
    "/v1/check": [
        {"files": {"file": ("a.txt", NEW.encode())}, "data": {"library": "index"}},
        {"files": {"file": ("a.txt", NEW.encode())}, "data": {"library": "none"}},
    ],
    "/v1/documents/{id:id}/keep": [{}],
    "/ask": [{"data": {"text": NEW}}],
    "/ask/add": [{"data": {"text": NEW, "id": id}} for id in ("kept", "", "dropped", "page")],
    "/compare": [{"data": {"a": NEW, "b": NEW}}],
    "/check": [{"files": {"file": ("a.txt", NEW.encode())}, "data": {"library": "index"}}],
    "/removals/decide": [
        {"data": {"id": list(IDS), "decision": decision, "back": "/removals"}}
        for decision in ("confirm", "undo", "keep", "undo")
    ],
    "/login": [{"data": {"key": "none"}}],
    "/logout": [{}],
}


@pytest.fixture
def guarded(serve, keys, index):
    """A service with a document that another repeats, each value of which has a word of its own."""
    with neardup.Index(index, workers=1) as stored:
        # The review shows one removal.
        stored.remove("a/2")
        for id in IDS[:2]:
            stored.add(
                id,
                TEXT.format("quartz") + "." * IDS.index(id),
                title="The marmalade ferry",
                source="obsidian",
                extra={"desk": "saffron"},
            )
        assert stored.explain("dropped").document.repeats.id == "kept"
    client = serve(keys=keys["path"])
    # The library of a check is the index; the name of a paper is for who may read.
    headers = bearer(keys["read+write"])
    client.headers.update(headers)
    client.job = wait(client, send(client, TEXT.format("quartz"), "velvet.txt"))["job"]
    del client.headers["Authorization"]
    return client


def routes_of(app):
    """Return method and path of all routes, those that change nothing first, deletions last."""
    found = []
    waiting = list(app.routes)
    while waiting:
        route = waiting.pop(0)
        router = getattr(route, "original_router", route)
        waiting += getattr(router, "routes", None) or []
        if hasattr(route, "path") and getattr(route, "methods", None):
            found += [(method, route.path) for method in route.methods if method != "HEAD"]
    order = ("GET", "POST", "DELETE")
    assert {method for method, _ in found} <= set(order)
    # A route that is new must say above what to send to it.
    assert {path for method, path in found if method == "POST"} == set(BODIES)
    described = set(app.openapi()["paths"])
    assert described <= {re.sub(r":\w+\}", "}", path) for _, path in found}
    return sorted(set(found), key=lambda row: (order.index(row[0]), row[1]))


def requests_of(client, method, path):
    """Yield addresses of a route, and what to send to each; several, also such as are refused."""
    values = {
        "id": IDS,
        "job": (client.job, "none"),
        "name": ("pages.css",),
    }
    named = re.findall(r"\{(\w+)[^}]*\}", path)
    # Those that take an id in the query too.
    queries = [f"?id={id}" for id in IDS] if path in ("/v1/documents", "/documents") else []
    for chosen in itertools.product(*(values[name] for name in named)):
        url = path
        for value in chosen:
            url = re.sub(r"\{[^}]*\}", value, url, count=1)
        for query in ["", *queries] if method != "POST" else [""]:
            for body in BODIES[path] if method == "POST" else [{}]:
                yield url + query, body


def ask_all(client, key, *, session):
    """Return the answers of all routes to a key, or to nobody, by method, address and number."""
    answers = {}
    for method, path in routes_of(client.app):
        for url, body in requests_of(client, method, path):
            client.cookies.clear()
            headers = {"Sec-Fetch-Site": "same-origin"}
            if key and session:
                signed_in = client.post("/login", data={"key": key}, headers=headers)
                assert signed_in.status_code == 303
            elif key:
                headers |= bearer(key)
            answer = client.request(method, url, headers=headers, **body)
            answers[method, path, len(answers)] = answer
    return answers


def shown(answer: httpx.Response):
    """Return the words of `STORED` that an answer has, in its head or in its body."""
    whole = str(answer.headers) + answer.text
    return {word for word in STORED if word in whole}


def state_of(client):
    index = client.app.state.store.index
    documents = [index.get(id) for id in (*IDS, "new", "other", "page")]
    return documents, list(index.decisions()), index.stats().documents


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize("name", [None, *SCOPES[1:]])
def test_key_without_read_sees_no_stored_document(guarded, keys, name, session):
    answers = ask_all(guarded, name and keys[name], session=session)
    assert {row: shown(answer) for row, answer in answers.items() if shown(answer)} == {}
    # Nor does a page lead there.
    assert all(answer.status_code < 500 for answer in answers.values())


def test_key_with_read_sees_all_stored_texts(guarded, keys):
    """The test above would find it."""
    answers = ask_all(guarded, keys["read"], session=False)
    seen = {}
    for (_, path, _), answer in answers.items():
        seen[path] = seen.get(path, set()) | shown(answer)
    assert set.union(*seen.values()) == set(STORED)
    assert {
        "/v1/documents/{id:id}",
        "/v1/documents/{id:id}/explain",
        "/v1/query",
        "/v1/clusters",
        "/v1/check/{job}",
        "/v1/check/{job}/report",
        "/v1/check/{job}/report.json",
        "/documents/{id:path}",
        "/removals",
        "/removals/review",
        "/removals.csv",
        "/check/{job}",
        "/ask",
    } <= {path for path, words in seen.items() if words}


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize("name", [None, "read"])
def test_key_without_write_changes_nothing(guarded, keys, name, session):
    before = state_of(guarded)
    ask_all(guarded, name and keys[name], session=session)
    assert state_of(guarded) == before


def test_an_answer_to_keep_is_a_decision_and_its_event_names_the_key(guarded, keys):
    answer = guarded.post("/v1/documents/dropped/keep", headers=bearer(keys["write"]))
    assert answer.json() == {"id": "dropped", "new": False, "kept": True, "repeats": None}
    headers = bearer(keys["read"])
    events = guarded.get("/v1/documents/dropped/explain", headers=headers).json()["events"]
    assert events[-1]["details"]["by"] == "write"
    assert "write" in guarded.get("/decisions", headers=headers).text


def test_policies_of_all_answers_allow_nothing_from_elsewhere():
    """A report has a second policy in its head, with the digests of its style and script."""
    assert CONTENT_POLICY.startswith("default-src 'none'; ")
    assert "sandbox allow-scripts allow-modals allow-downloads" in REPORT_POLICY.split("; ")
    for policy in (CONTENT_POLICY, REPORT_POLICY):
        assert not [word for word in ("unsafe", "http", "*", "same-origin") if word in policy]
