"""Documents over HTTP: added, read, explained, removed, kept after all."""

import pytest

from tests.server.conftest import BRIDGE, FERRY, LIBRARY
from tests.server.openapi_checks import check_described

URL = "/v1/documents"


def test_a_repetition_is_stored_and_dropped_and_again_is_no_news(api):
    given = {"id": "c", "text": "(Update) " + BRIDGE}
    answer = api.post(URL, json=given)
    assert answer.status_code == 201
    body = answer.json()
    assert (body["new"], body["kept"], body["repeats"]["id"]) == (True, False, "a/1")
    assert 0.8 < body["repeats"]["similarity"] < 1
    assert body["repeats"]["measure"] == "content(5)"
    assert api.get(f"{URL}/c").json()["state"] == "dropped"
    again = api.post(URL, json=given)
    assert (again.status_code, again.json()) == (200, {**body, "new": False})


def test_another_text_under_the_same_id_is_refused(shared):
    answer = shared.post(URL, json={"id": "a/1", "text": LIBRARY})
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["field"]) == (409, "another_text", "id")
    assert "'a/1'" in problem["detail"]
    assert shared.get(f"{URL}/a/1").json()["text"] == BRIDGE


def test_replacement_has_the_new_text_and_frees_the_copies(api):
    given = {"id": "a/1", "text": LIBRARY, "replace": True}
    answers = [api.post(URL, json=given) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert api.get(f"{URL}/a/1").json()["text"] == LIBRARY
    assert api.get(f"{URL}/a/2").json()["state"] == "kept"
    assert api.get(f"{URL}/a/1/explain").json()["events"][0]["action"] == "replaced"


def test_all_fields_are_stored(api):
    given = {
        "id": "c",
        "text": LIBRARY,
        "title": "馆" * 1000,
        "at": "2026-03-01T08:00:00+08:00",
        "source": "报" * 1000,
        "extra": {"page": 3, "tags": ["a", None, True, 1.5], "big": 2**63, "small": 5e-324},
    }
    assert api.post(URL, json=given).json() == {
        "id": "c",
        "new": True,
        "kept": True,
        "repeats": None,
    }
    assert api.get(f"{URL}/c").json() == {
        **given,
        "at": "2026-03-01T00:00:00Z",
        "state": "kept",
        "repeats": None,
    }


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
@pytest.mark.parametrize("text", ["", " ", "\\u0000", "\ufeff", "\u202e<script>", "\ufffe"])
def test_any_text_is_stored_as_it_came(api, kind, text):
    body = f'{{"id": "c", "text": "{text}"}}'.encode()
    assert api.post(URL, content=body, headers={"content-type": kind}).status_code == 201
    assert api.get(f"{URL}/c").json()["text"] == text.replace("\\u0000", "\0")


def test_a_batch_is_decided_in_its_order(api):
    texts = [
        ("c", LIBRARY),
        ("d", LIBRARY + "！"),
        ("c", LIBRARY),
        ("c", FERRY),
        ("a/1", LIBRARY),
    ]
    answer = api.post(URL, json={"documents": [{"id": id, "text": text} for id, text in texts]})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["kept"], body["dropped"], body["refused"]) == (2, 1, 2)
    first, second, again, *others = body["decisions"]
    assert first == {"id": "c", "new": True, "kept": True, "repeats": None}
    assert (second["kept"], second["repeats"]["id"]) == (False, "c")
    assert again == {**first, "new": False}
    problems = [(other["problem"]["status"], other["problem"]["field"]) for other in others]
    assert problems == [(409, "documents[3].id"), (409, "documents[4].id")]


def test_invalid_field_refuses_the_batch(serve):
    client = serve(max_text_characters=100)
    bad = [
        ("text", {"id": "long", "text": "字" * 101}),
        ("id", {"id": "", "text": LIBRARY}),
        ("at", {"id": "c", "text": LIBRARY, "at": "soon"}),
        ("extra", {"id": "c", "text": LIBRARY, "extra": []}),
    ]
    for field, document in bad:
        documents = [{"id": "first", "text": LIBRARY}, document]
        answer = client.post(URL, json={"documents": documents})
        check_described(client.app, answer)
        assert (answer.status_code, answer.json()["field"]) == (422, f"documents[1].{field}")
    assert client.get("/v1/stats").json()["documents"] == 3


def test_limits_of_texts_and_batches(serve):
    client = serve(max_batch=2, max_text_characters=10)
    fits, long = {"id": "c", "text": "字" * 10}, "字" * 11
    assert client.post(URL, json=fits).status_code == 201
    for path, body, field in [
        (URL, {"id": "d", "text": long}, "text"),
        (URL, {"documents": [fits] * 3}, "documents"),
        ("/v1/query", {"text": long}, "text"),
        ("/v1/compare", {"a": long, "b": ""}, "a"),
        ("/v1/compare", {"a": "", "b": long}, "b"),
    ]:
        answer = client.post(path, json=body)
        assert (answer.status_code, answer.json()["field"]) == (422, field)


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


def encoded(id):
    """Return an id as a path has it, dots too: clients resolve them otherwise."""
    return "".join(f"%{byte:02X}" for byte in id.encode())


@pytest.mark.parametrize("id", IDS)
def test_any_id_is_reached(shared, id):
    assert shared.post(URL, json={"id": id, "text": LIBRARY}).status_code == 201
    assert shared.get(URL, params={"id": id}).json()["id"] == id
    in_path = f"{URL}/{encoded(id)}"
    explained = shared.get(f"{in_path}/explain")
    assert explained.json()["document"]["id"] == id
    if not id.endswith("/explain"):
        assert shared.get(in_path).json()["id"] == id
    assert shared.delete(in_path).json() == {"removed": 1, "decided": []}
    assert shared.get(URL, params={"id": id}).status_code == 404
    shared.post(URL, json={"id": id, "text": LIBRARY})
    assert shared.delete(URL, params={"id": id}).json()["removed"] == 1


def test_a_line_break_does_not_name_another_document(api):
    assert api.delete(f"{URL}/a/1%0A").status_code == 404
    assert api.get(f"{URL}/a/1/explain%0A").status_code == 404
    assert api.post(f"{URL}/a/2/keep%0A").status_code == 404
    assert api.get(f"{URL}/a/1").status_code == 200
    assert api.get(f"{URL}/a/2").json()["state"] == "dropped"


def test_removal_restores_dropped_documents_and_explain_shows_it(api):
    kept = api.get(f"{URL}/a/1/explain").json()
    assert kept["document"]["title"] == "The bridge"
    assert [row["id"] for row in kept["dropped"]] == ["a/2"]
    assert kept["dropped_count"] == 1
    again = {"id": "a/2", "new": False, "kept": True, "repeats": None}
    assert api.delete(f"{URL}/a/1").json() == {"removed": 1, "decided": [again]}
    assert api.get(f"{URL}/a/2").json()["state"] == "kept"
    gone = api.get(f"{URL}/a/1/explain").json()
    assert gone["document"] is None
    assert [event["action"] for event in gone["events"]] == ["removed"]


def test_a_removal_is_undone_once(api):
    answer = api.post(f"{URL}/a/2/keep")
    assert answer.status_code == 200
    assert (answer.json()["kept"], answer.json()["repeats"]) == (True, None)
    assert api.get(f"{URL}/a/2").json()["state"] == "kept"
    assert api.post(f"{URL}/a/2/keep").status_code == 409
