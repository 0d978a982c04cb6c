"""Documents and questions over HTTP: each option arrives, and each answer has its fields."""

import dataclasses
import itertools
import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

import neardup
from neardup.papers.alignment import align
from tests.server.conftest import BRIDGE, FERRY, LIBRARY

URL = "/v1/documents"


def state_of(client, id):
    return client.get(f"{URL}/{id}").json()["state"]


def test_a_repetition_is_stored_and_dropped_and_again_is_no_news(client):
    given = {"id": "c", "text": "(Update) " + BRIDGE}
    answer = client.post(URL, json=given)
    assert answer.status_code == 201
    body = answer.json()
    assert (body["new"], body["kept"], body["repeats"]["id"]) == (True, False, "a/1")
    assert 0.8 < body["repeats"]["similarity"] < 1
    assert body["repeats"]["measure"] == "content(5)"
    assert state_of(client, "c") == "dropped"
    again = client.post(URL, json=given)
    assert (again.status_code, again.json()) == (200, {**body, "new": False})


def test_another_text_under_the_same_id_must_replace_the_first(client):
    given = {"id": "a/1", "text": LIBRARY}
    answer = client.post(URL, json=given)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["field"]) == (409, "another_text", "id")
    assert "'a/1'" in problem["detail"]
    assert client.get(f"{URL}/a/1").json()["text"] == BRIDGE
    answers = [client.post(URL, json=given | {"replace": True}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert client.get(f"{URL}/a/1").json()["text"] == LIBRARY
    assert state_of(client, "a/2") == "kept"


def test_all_fields_are_stored(client):
    given = {
        "id": "c",
        "text": LIBRARY,
        "title": "馆" * 1000,
        "at": "2026-03-01T08:00:00+08:00",
        "source": "报" * 1000,
        "extra": {"page": 3, "tags": ["a", None, True, 1.5], "big": 2**63, "small": 5e-324},
    }
    decided = {"id": "c", "new": True, "kept": True, "repeats": None}
    assert client.post(URL, json=given).json() == decided
    stored = {"at": "2026-03-01T00:00:00Z", "state": "kept", "repeats": None}
    assert client.get(f"{URL}/c").json() == given | stored


def test_any_text_is_stored_as_it_came(client):
    kinds = itertools.cycle(["application/json; charset=utf-8", "Application/JSON"])
    for text in ("", " ", "\0", "\ufeff", "\u202e<script>", "\ufffe"):
        given = {"id": f"c{text}".replace("\0", "0"), "text": text}
        body = json.dumps(given, ensure_ascii=False).encode()
        answer = client.post(URL, content=body, headers={"content-type": next(kinds)})
        assert answer.status_code == 201
        assert client.get(URL, params={"id": given["id"]}).json()["text"] == text


def test_a_batch_is_decided_in_its_order(client):
    texts = [("c", LIBRARY), ("d", LIBRARY + "！"), ("c", LIBRARY), ("c", FERRY), ("a/1", LIBRARY)]
    answer = client.post(URL, json={"documents": [{"id": id, "text": text} for id, text in texts]})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["kept"], body["dropped"], body["refused"]) == (2, 1, 2)
    first, second, again, *others = body["decisions"]
    assert first == {"id": "c", "new": True, "kept": True, "repeats": None}
    assert (second["kept"], second["repeats"]["id"]) == (False, "c")
    assert again == {**first, "new": False}
    problems = [(other["problem"]["status"], other["problem"]["field"]) for other in others]
    assert problems == [(409, "documents[3].id"), (409, "documents[4].id")]


def test_limits_of_texts_and_batches(serve):
    client = serve(max_batch=2, max_text_characters=10)
    fits, long = {"id": "c", "text": "字" * 10}, "字" * 11
    for path, body, field in [
        (URL, {"id": "d", "text": long}, "text"),
        (URL, {"documents": [fits] * 3}, "documents"),
        (URL, {"documents": [fits, {"id": "d", "text": long}]}, "documents[1].text"),
        ("/v1/query", {"text": long}, "text"),
        ("/v1/compare", {"a": long, "b": ""}, "a"),
        ("/v1/compare", {"a": "", "b": long}, "b"),
    ]:
        answer = client.post(path, json=body)
        assert (answer.status_code, answer.json()["field"]) == (422, field)
    # A bad document refuses its batch.
    assert client.get("/v1/stats").json()["documents"] == 3
    assert client.post(URL, json=fits).status_code == 201


#: Separators, escapes, the words of routes, ways up, and what paths do not have.
IDS = ["a/b/c", "/", "//x//", "a?b=c#d", "a;b", "a+b", "&", "50%", "%41", "%2F", "新闻/二〇二六"]
IDS += ["explain", "x/explain", "x/keep", "..", "../a", "./a", "a b", "a\nb", "a\n", "\n"]
IDS += ["'\"<script>", "\x01\x7f", "🚢", "é" * 1000]


@pytest.mark.parametrize("id", IDS)
def test_any_id_is_reached(shared, id):
    assert shared.post(URL, json={"id": id, "text": LIBRARY}).status_code == 201
    assert shared.get(URL, params={"id": id}).json()["id"] == id
    # Dots too, which clients resolve otherwise.
    in_path = f"{URL}/" + "".join(f"%{byte:02X}" for byte in id.encode())
    explained = shared.get(f"{in_path}/explain")
    assert explained.json()["document"]["id"] == id
    if not id.endswith("/explain"):
        assert shared.get(in_path).json()["id"] == id
    assert shared.delete(in_path).json() == {"removed": 1, "decided": []}
    assert shared.get(URL, params={"id": id}).status_code == 404
    shared.post(URL, json={"id": id, "text": LIBRARY})
    assert shared.delete(URL, params={"id": id}).json()["removed"] == 1


def test_a_line_break_does_not_name_another_document(client):
    assert client.delete(f"{URL}/a/1%0A").status_code == 404
    assert client.get(f"{URL}/a/1/explain%0A").status_code == 404
    assert client.post(f"{URL}/a/2/keep%0A").status_code == 404
    assert state_of(client, "a/1") == "kept"
    assert state_of(client, "a/2") == "dropped"


def test_removal_restores_dropped_documents_and_explain_shows_it(client):
    kept = client.get(f"{URL}/a/1/explain").json()
    assert kept["document"]["title"] == "The bridge"
    assert [row["id"] for row in kept["dropped"]] == ["a/2"]
    assert kept["dropped_count"] == 1
    again = {"id": "a/2", "new": False, "kept": True, "repeats": None}
    assert client.delete(f"{URL}/a/1").json() == {"removed": 1, "decided": [again]}
    assert state_of(client, "a/2") == "kept"
    gone = client.get(f"{URL}/a/1/explain").json()
    assert gone["document"] is None
    assert [event["action"] for event in gone["events"]] == ["removed"]


def test_stored_text_is_found(shared):
    body = shared.post("/v1/query", json={"text": "前言：" + FERRY, "passages": True}).json()
    assert body["duplicate"] is True
    (match,) = body["matches"]
    expected = ("b 2", "新渡轮", "2026-03-03T08:00:00Z")
    assert (match["id"], match["title"], match["at"]) == expected
    (passage,) = align("前言：" + FERRY, FERRY)
    names = ("begin", "end", "source_begin", "source_end", "similarity")
    assert body["passages"] == [{name: getattr(passage, name) for name in names}]
    assert shared.get("/v1/stats").json()["documents"] == 3


@pytest.mark.parametrize("passages", [True, False])
def test_new_text_is_not_found(shared, passages):
    body = shared.post("/v1/query", json={"text": LIBRARY, "passages": passages}).json()
    assert body == {"duplicate": False, "matches": [], "passages": None}


def test_bounds_of_a_query(client):
    kept = client.post(f"{URL}/a/2/keep")
    assert (kept.status_code, kept.json()["kept"], kept.json()["repeats"]) == (200, True, None)
    # They arrived in March; the last second has none of them.
    bounds = [({}, 2), ({"k": 1}, 1), ({"k": 100}, 2), ({"within": "1s"}, 0)]
    for bound, count in [*bounds, ({"within": "5000w"}, 2)]:
        body = client.post("/v1/query", json={"text": BRIDGE, "title": None, **bound}).json()
        assert len(body["matches"]) == count


@pytest.mark.parametrize("passages", [True, False])
@pytest.mark.parametrize("recipe", ["general", "improved", "minhash"])
def test_comparison_equals_compare(shared, recipe, passages):
    a, b = BRIDGE + FERRY, FERRY + LIBRARY
    body = {"a": a, "b": b, "title_a": "A", "recipe": recipe, "passages": passages}
    expected = neardup.compare(a, b, title_a="A", recipe=recipe, passages=passages)
    result = shared.post("/v1/compare", json=body).json()
    assert result == json.loads(json.dumps(dataclasses.asdict(expected)))


def test_comparison_ignores_kinds_and_takes_no_expressions(shared):
    body = {"a": "VM started at 9:05", "b": "VM started at 17:20"}
    for ignore, duplicate in (([], False), (["dates"], True)):
        result = shared.post("/v1/compare", json={**body, "ignore": ignore})
        assert result.json()["duplicate"] == duplicate
    # A search for an expression may take long.
    assert shared.post("/v1/compare", json={**body, "ignore": [r"\d+"]}).status_code == 422


def test_clusters_page_by_page(client):
    many = [
        {"id": f"c{at}", "text": LIBRARY + chr(0x4E00 + 99 * (at // 2)) * 40} for at in range(10)
    ]
    client.post(URL, json={"documents": many})
    whole = client.get("/v1/clusters").json()
    assert whole["next"] is None
    assert len(whole["clusters"]) >= 2
    first = whole["clusters"][0]
    expected = ("a/1", "The bridge", "2026-03-01T08:00:00Z", 1)
    assert (first["id"], first["title"], first["at"], first["dropped_count"]) == expected
    (dropped,) = first["dropped"]
    found = (dropped["id"], dropped["title"], dropped["match"]["id"])
    assert found == ("a/2", "Bridge opens", "a/1")
    pages, next_page = [], {}
    while next_page != {"after": None}:
        page = client.get("/v1/clusters", params={"limit": 1, **next_page}).json()
        pages += page["clusters"]
        next_page = {"after": page["next"]}
    assert pages == whole["clusters"]


@pytest.mark.parametrize(
    ("search", "count"), [("a/2", 1), ("bridge OPENS", 1), ("新渡轮", 0), ("%", 0), ("", 1)]
)
def test_clusters_are_searched(shared, search, count):
    body = shared.get("/v1/clusters", params={"search": search}).json()
    assert len(body["clusters"]) == count


def test_a_cluster_of_many_is_cut(client):
    batch = [{"id": f"n{number}", "text": BRIDGE} for number in range(60)]
    client.post(URL, json={"documents": batch})
    (cluster,) = client.get("/v1/clusters").json()["clusters"]
    assert (len(cluster["dropped"]), cluster["dropped_count"]) == (50, 61)
    explained = client.get(f"{URL}/a/1/explain").json()
    assert (len(explained["dropped"]), explained["dropped_count"]) == (61, 61)


def test_stats_tell_sizes_and_not_where(shared, index):
    answer = shared.get("/v1/stats")
    body = answer.json()
    assert (body["documents"], body["kept"], body["dropped"], body["waiting"]) == (3, 2, 1, 0)
    assert body["version"] == neardup.__version__
    assert index not in answer.text


def test_health_with_and_without_an_index(shared, serve, tmp_path):
    for path in ("/healthz", "/readyz"):
        assert shared.get(path).json() == {"status": "ok"}
    client = serve(index=str(tmp_path / "none.db"))
    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "none.db" not in answer.text
    figures = figures_of(client)
    assert figures["neardup_index_up", ()] == 0
    assert ("neardup_index_bytes", ()) not in figures
    neardup.Index(tmp_path / "none.db").close()
    assert client.get("/readyz").status_code == 200


def figures_of(client):
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_figures(client):
    post = {"id": "c", "text": LIBRARY}
    for body in (post, post, post | {"text": BRIDGE}, {"documents": [{"id": "d", "text": BRIDGE}]}):
        client.post(URL, json=body)
    for path in (f"{URL}/x", f"{URL}/y/z", "/v1/none", "/v1/none/other"):
        client.get(path)
    client.request("BREW", "/v1/stats")
    figures = figures_of(client)
    for outcome in ("kept", "dropped", "known", "refused"):
        assert figures["neardup_documents_total", (outcome,)] == 1
    # An id is no series of its own, nor is an address or a method that a client makes up.
    requests = {key[1]: value for key, value in figures.items() if key[0] == "http_requests_total"}
    expected = {
        (URL, "POST", "201"): 1,
        (URL, "POST", "200"): 2,
        (URL, "POST", "409"): 1,
        (f"{URL}/{{id:id}}", "GET", "404"): 2,
        ("none", "GET", "404"): 2,
        ("/v1/stats", "other", "405"): 1,
    }
    assert requests | expected == requests
    assert figures["neardup_index_documents", ("kept",)] == 3
    assert figures["neardup_index_documents", ("dropped",)] == 2
