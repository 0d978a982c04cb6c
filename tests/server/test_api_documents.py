"""Documents over HTTP: added, read, explained, removed, kept after all."""

import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

import neardup
from neardup.exceptions import IndexUnavailableError
from tests.server.conftest import BRIDGE, FERRY, LIBRARY
from tests.server.openapi_checks import check_described

URL = "/v1/documents"


def test_a_new_document_is_kept(api: httpx.Client):
    answer = api.post(URL, json={"id": "c", "text": LIBRARY})
    assert answer.status_code == 201
    assert answer.json() == {"id": "c", "new": True, "kept": True, "repeats": None}


def test_a_repetition_is_stored_and_dropped(api: httpx.Client):
    answer = api.post(URL, json={"id": "c", "text": "(Update) " + BRIDGE})
    assert answer.status_code == 201
    found = answer.json()
    assert (found["new"], found["kept"], found["repeats"]["id"]) == (True, False, "a/1")
    assert 0.8 < found["repeats"]["similarity"] < 1
    assert found["repeats"]["measure"] == "content(5)"
    assert api.get(f"{URL}/c").json()["state"] == "dropped"


def test_adding_again_changes_nothing(api: httpx.Client):
    first = api.post(URL, json={"id": "c", "text": BRIDGE + "!"}).json()
    answer = api.post(URL, json={"id": "c", "text": BRIDGE + "!"})
    assert answer.status_code == 200
    assert answer.json() == {**first, "new": False}


def test_another_text_under_the_same_id_is_refused(shared: httpx.Client):
    answer = shared.post(URL, json={"id": "a/1", "text": LIBRARY})
    assert answer.status_code == 409
    problem = answer.json()
    assert (problem["title"], problem["field"]) == ("Another text", "id")
    assert "'a/1'" in problem["detail"]
    assert shared.get(f"{URL}/a/1").json()["text"] == BRIDGE


def test_all_fields_are_stored(api: httpx.Client):
    given = {
        "id": "c",
        "text": LIBRARY,
        "title": "图书馆",
        "at": "2026-03-01T08:00:00+08:00",
        "source": "晨报",
        "extra": {"page": 3, "tags": ["a", None, True, 1.5]},
    }
    api.post(URL, json=given)
    assert api.get(f"{URL}/c").json() == {
        **given,
        "at": "2026-03-01T00:00:00Z",
        "state": "kept",
        "repeats": None,
    }


def test_a_batch_is_decided_in_its_order(api: httpx.Client):
    answer = api.post(
        URL,
        json={
            "documents": [
                {"id": "c", "text": LIBRARY},
                {"id": "d", "text": LIBRARY + "！"},
                {"id": "c", "text": LIBRARY},
                {"id": "c", "text": FERRY},
                {"id": "a/1", "text": LIBRARY},
            ]
        },
    )
    assert answer.status_code == 200
    found = answer.json()
    assert (found["kept"], found["dropped"], found["refused"]) == (2, 1, 2)
    first, second, again, other, there = found["decisions"]
    assert first == {"id": "c", "new": True, "kept": True, "repeats": None}
    assert (second["kept"], second["repeats"]["id"]) == (False, "c")
    assert again == {**first, "new": False}
    assert other["problem"]["status"] == 409
    assert other["problem"]["field"] == "documents[3].id"
    assert there["problem"]["field"] == "documents[4].id"


def test_a_bad_value_refuses_its_document_alone(serve: Callable[..., httpx.Client]):
    client = serve(max_text_characters=100)
    bad = [
        ("text", {"id": "long", "text": "字" * 101}),
        ("id", {"id": "", "text": LIBRARY}),
        ("id", {"id": "a\0b", "text": LIBRARY}),
        ("at", {"id": "c", "text": LIBRARY, "at": "soon"}),
        ("title", {"id": "d", "text": LIBRARY, "title": "字" * 10_001}),
    ]
    given = [{"id": "first", "text": LIBRARY}, *(one for _, one in bad), {"id": "z", "text": FERRY}]
    answer = client.post(URL, json={"documents": given})
    check_described(client.app, answer)
    assert answer.status_code == 200
    found = answer.json()
    assert (found["kept"], found["dropped"], found["refused"]) == (1, 1, len(bad))
    assert found["decisions"][0]["kept"]
    assert found["decisions"][-1]["repeats"]["id"] == "b 2"
    refused = found["decisions"][1:-1]
    for at, ((field, one), decision) in enumerate(zip(bad, refused, strict=True), 1):
        problem = decision["problem"]
        assert decision["id"] == one["id"]
        assert (problem["status"], problem["field"]) == (422, f"documents[{at}].{field}")
        assert f"'documents[{at}].{field}'" in problem["detail"]
    assert "at most 100 characters. Got 101" in refused[0]["problem"]["detail"]
    assert f'outcome="refused"}} {len(bad)}.0' in client.get("/metrics").text


def test_a_batch_of_bad_values_only(shared: httpx.Client):
    answer = shared.post(URL, json={"documents": [{"id": "", "text": LIBRARY}]})
    found = answer.json()
    assert (answer.status_code, found["kept"], found["refused"]) == (200, 0, 1)


def test_one_field_at_fault_refuses_the_whole_batch(shared: httpx.Client):
    batch = [{"id": "c", "text": LIBRARY}, {"id": "d", "text": 3}]
    answer = shared.post(URL, json={"documents": batch})
    assert (answer.status_code, answer.json()["field"]) == (422, "documents[1].text")
    assert shared.get(f"{URL}/c").status_code == 404


IDS = [
    "a/b/c",
    "/",
    "//x//",
    "a b",
    "50%",
    "%41",
    "%2F",
    "a?b=c#d",
    "新闻/二〇二六",
    "🚢",
    "a\nb",
    "a\n",
    "\n",
    "x/explain",
    "x/keep",
    "explain",
    "..",
    "../a",
    "./a",
    "a;b",
    "a+b",
    "&",
    "'\"<script>",
    "\x01\x7f",
    "é" * 1000,
]


@pytest.mark.parametrize("id", IDS)
def test_any_id_is_reached(shared: httpx.Client, id: str):
    assert shared.post(URL, json={"id": id, "text": LIBRARY}).status_code == 201
    assert shared.get(URL, params={"id": id}).json()["id"] == id
    in_path = f"{URL}/{encoded(id)}"
    explained = shared.get(f"{in_path}/explain")
    assert explained.json()["document"]["id"] == id
    if not id.endswith("/explain"):
        assert shared.get(in_path).json()["id"] == id
    assert shared.delete(in_path).json() == {"removed": 1, "freed": []}
    assert shared.get(URL, params={"id": id}).status_code == 404
    shared.post(URL, json={"id": id, "text": LIBRARY})
    assert shared.delete(URL, params={"id": id}).json()["removed"] == 1


def encoded(id: str) -> str:
    """Return an id as a path has it, dots too: clients resolve them otherwise."""
    return "".join(f"%{byte:02X}" for byte in id.encode())


def test_a_line_break_does_not_name_another_document(api: httpx.Client):
    api.post(URL, json={"id": "c", "text": LIBRARY})
    assert api.delete(f"{URL}/c%0A").status_code == 404
    assert api.get(f"{URL}/c/explain%0A").status_code == 404
    assert api.post(f"{URL}/a/2/keep%0A").status_code == 404
    assert api.get(f"{URL}/c").status_code == 200
    assert api.get(f"{URL}/a/2").json()["state"] == "dropped"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("form", ["path", "query"])
def test_what_is_not_there(shared: httpx.Client, method: str, form: str):
    path, params = (f"{URL}/none", None) if form == "path" else (URL, {"id": "none"})
    answer = shared.request(method, path, params=params)
    assert answer.status_code == 404
    assert answer.json()["title"] == "No such document"
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", [f"{URL}/none/explain", "/v1/clusters/none"])
def test_what_is_not_there_either(shared: httpx.Client, path: str):
    assert shared.get(path).status_code == 404


@pytest.mark.parametrize(
    ("path", "params"), [(f"{URL}/", None), (f"{URL}/a%00b", None), (URL, None), (URL, {"id": ""})]
)
def test_an_id_that_no_document_can_have(shared: httpx.Client, path: str, params: Any):
    answer = shared.get(path, params=params)
    assert (answer.status_code, answer.json()["field"]) == (422, "id")


def test_an_explanation_tells_what_was_dropped_and_what_happened(api: httpx.Client):
    kept = api.get(f"{URL}/a/1/explain").json()
    assert kept["document"]["title"] == "The bridge"
    assert [one["id"] for one in kept["dropped"]] == ["a/2"]
    assert kept["dropped_count"] == 1
    api.delete(f"{URL}/a/1")
    gone = api.get(f"{URL}/a/1/explain").json()
    assert gone["document"] is None
    assert [event["action"] for event in gone["events"]] == ["removed"]


def test_removing_frees_those_that_were_dropped(api: httpx.Client):
    assert api.delete(f"{URL}/a/1").json() == {"removed": 1, "freed": ["a/2"]}
    assert api.get(f"{URL}/a/2").json()["state"] == "freed"


def test_a_removal_is_undone(api: httpx.Client):
    answer = api.post(f"{URL}/a/2/keep")
    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["repeats"]) == ("kept", None)
    again = api.post(f"{URL}/a/2/keep")
    assert (again.status_code, again.json()["title"]) == (409, "Not dropped")
    assert api.post(f"{URL}/none/keep").status_code == 404


def test_many_at_once_are_each_answered(client: httpx.Client, index: str):
    found: dict[int, dict[str, Any]] = {}

    def post(number: int) -> None:
        text = BRIDGE if number % 2 else f"{LIBRARY}{FERRY}" * (number + 1)
        answer = client.post(URL, json={"id": f"n{number}", "text": text})
        assert answer.status_code == 201
        found[number] = answer.json()

    threads = [threading.Thread(target=post, args=[number]) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[number]["id"] == f"n{number}" for number in range(24))
    assert all(found[number]["repeats"]["id"] == "a/1" for number in range(1, 24, 2))
    with neardup.Index(index) as opened:
        assert len(opened) == 3 + 24


def test_answers_are_those_of_the_index(client: httpx.Client, tmp_path):
    texts = [BRIDGE, FERRY, FERRY + "！", LIBRARY, BRIDGE + " More.", LIBRARY[:20], ""]
    with neardup.Index(tmp_path / "other.db") as other:
        for id, text in [("a/1", BRIDGE), ("a/2", BRIDGE + "!"), ("b 2", FERRY)]:
            other.add(id, text)
        for number, text in enumerate(texts):
            match = other.add(f"t{number}", text)
            answer = client.post(URL, json={"id": f"t{number}", "text": text}).json()
            if match is None:
                assert answer["repeats"] is None
            else:
                assert answer["repeats"] == match.__dict__


def test_an_index_that_is_away_is_not_the_clients_fault(
    api: httpx.Client, monkeypatch: pytest.MonkeyPatch
):
    def away(*_: object) -> None:
        raise IndexUnavailableError("postgresql://secret-host/db: connection refused")

    monkeypatch.setattr(neardup.Index, "add_together", away)
    answer = api.post(URL, json={"id": "c", "text": LIBRARY})
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert "secret-host" not in answer.text
    monkeypatch.undo()
    assert api.post(URL, json={"id": "c", "text": LIBRARY}).status_code == 201


def test_limits_of_texts_and_batches(serve: Callable[..., httpx.Client]):
    client = serve(max_batch=2, max_text_characters=10)
    fits = {"id": "c", "text": "字" * 10}
    assert client.post(URL, json=fits).status_code == 201
    long = {"id": "d", "text": "字" * 11}
    answer = client.post(URL, json=long)
    assert (answer.status_code, answer.json()["field"]) == (422, "text")
    assert "at most 10 characters. Got 11" in answer.json()["detail"]
    found = client.post(URL, json={"documents": [fits, long]}).json()
    assert found["decisions"][1]["problem"]["field"] == "documents[1].text"
    answer = client.post(URL, json={"documents": [fits] * 3})
    assert (answer.status_code, answer.json()["field"]) == (422, "documents")
    for path, field in [("/v1/query", "text"), ("/v1/compare", "a"), ("/v1/compare", "b")]:
        body = {"text": ""} if path == "/v1/query" else {"a": "", "b": ""}
        answer = client.post(path, json={**body, field: "字" * 11})
        assert (answer.status_code, answer.json()["field"]) == (422, field)
