"""Questions over HTTP: texts, pairs, clusters, sizes, health, figures."""

import dataclasses
import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

import neardup
from neardup.papers.alignment import align
from tests.server.conftest import BRIDGE, FERRY, LIBRARY
from tests.server.openapi_checks import check_described


def test_stored_text_is_found(shared):
    text = "前言：" + FERRY
    body = shared.post("/v1/query", json={"text": text, "passages": True}).json()
    assert body["duplicate"] is True
    (match,) = body["matches"]
    assert (match["id"], match["title"]) == ("b 2", "新渡轮")
    assert match["at"] == "2026-03-03T08:00:00Z"
    (passage,) = align(text, FERRY)
    expected = {
        field: getattr(passage, field)
        for field in ("begin", "end", "source_begin", "source_end", "similarity")
    }
    assert body["passages"] == [expected]
    assert shared.get("/v1/stats").json()["documents"] == 3


def test_new_text_is_not_found(shared):
    for passages in (True, False):
        body = shared.post("/v1/query", json={"text": LIBRARY, "passages": passages}).json()
        assert body == {"duplicate": False, "matches": [], "passages": None}


def test_bounds_of_a_query(api):
    api.post("/v1/documents/a/2/keep")
    ask = {"text": BRIDGE, "title": None}
    assert len(api.post("/v1/query", json=ask).json()["matches"]) == 2
    assert len(api.post("/v1/query", json={**ask, "k": 1}).json()["matches"]) == 1
    assert len(api.post("/v1/query", json={**ask, "k": 100}).json()["matches"]) == 2
    # They arrived in March; the last day has none of them.
    assert api.post("/v1/query", json={**ask, "within": "1s"}).json()["matches"] == []
    assert len(api.post("/v1/query", json={**ask, "within": "5000w"}).json()["matches"]) == 2


@pytest.mark.parametrize("passages", [True, False])
def test_comparison_equals_compare(shared, passages):
    a, b = BRIDGE + FERRY, FERRY + LIBRARY
    for recipe in ("general", "improved", "minhash"):
        body = {"a": a, "b": b, "title_a": "A", "recipe": recipe, "passages": passages}
        result = shared.post("/v1/compare", json=body).json()
        expected = neardup.compare(a, b, title_a="A", recipe=recipe, passages=passages)
        assert result == json.loads(json.dumps(dataclasses.asdict(expected)))


def test_comparison_ignores_kinds_and_takes_no_expressions(shared):
    body = {"a": "VM started at 9:05", "b": "VM started at 17:20"}
    for ignore, duplicate in (([], False), (["dates"], True)):
        result = shared.post("/v1/compare", json={**body, "ignore": ignore})
        assert result.json()["duplicate"] == duplicate
    # A search for an expression may take long.
    assert shared.post("/v1/compare", json={**body, "ignore": [r"\d+"]}).status_code == 422


def test_clusters_page_by_page(api):
    for number in range(5):
        text = f"{LIBRARY}第{number}馆另行通知，时间为{number}月。" + chr(0x4E00 + 99 * number) * 40
        for copy in range(2):
            body = {"id": f"c{number}{copy}", "text": text, "title": f"T{number}"}
            assert api.post("/v1/documents", json=body).status_code == 201
    whole = api.get("/v1/clusters").json()
    assert whole["next"] is None
    assert len(whole["clusters"]) >= 2
    first = whole["clusters"][0]
    assert (first["id"], first["title"]) == ("a/1", "The bridge")
    assert first["at"] == "2026-03-01T08:00:00Z"
    (dropped,) = first["dropped"]
    assert (dropped["id"], dropped["title"]) == ("a/2", "Bridge opens")
    assert dropped["match"]["id"] == "a/1"
    assert first["dropped_count"] == 1
    pages, after = [], None
    while True:
        page = api.get("/v1/clusters", params={"limit": 1} | ({"after": after} if after else {}))
        pages += page.json()["clusters"]
        after = page.json()["next"]
        if after is None:
            break
    assert pages == whole["clusters"]


@pytest.mark.parametrize(
    ("search", "count"), [("a/2", 1), ("bridge OPENS", 1), ("新渡轮", 0), ("%", 0), ("", 1)]
)
def test_clusters_are_searched(shared, search, count):
    body = shared.get("/v1/clusters", params={"search": search}).json()
    assert len(body["clusters"]) == count


def test_a_cluster_of_many_is_cut(api):
    batch = [{"id": f"n{number}", "text": BRIDGE} for number in range(60)]
    api.post("/v1/documents", json={"documents": batch})
    (cluster,) = api.get("/v1/clusters").json()["clusters"]
    assert (len(cluster["dropped"]), cluster["dropped_count"]) == (50, 61)
    explained = api.get("/v1/documents/a/1/explain").json()
    assert (len(explained["dropped"]), explained["dropped_count"]) == (61, 61)


def test_stats_tell_sizes_and_not_where(shared, index):
    body = shared.get("/v1/stats").json()
    assert (body["documents"], body["kept"], body["dropped"]) == (3, 2, 1)
    assert body["version"] == neardup.__version__
    assert body["waiting"] == 0
    assert index not in shared.get("/v1/stats").text


def test_health_with_and_without_an_index(shared, serve, tmp_path):
    for path in ("/healthz", "/readyz"):
        assert shared.get(path).json() == {"status": "ok"}
    client = serve(index=str(tmp_path / "none.db"))
    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    check_described(client.app, answer)
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


def test_figures(api):
    post = {"id": "c", "text": LIBRARY}
    api.post("/v1/documents", json=post)
    api.post("/v1/documents", json=post)
    api.post("/v1/documents", json={"id": "c", "text": BRIDGE})
    api.post("/v1/documents", json={"documents": [{"id": "d", "text": BRIDGE}]})
    for id in ("x", "y/z"):
        api.get(f"/v1/documents/{id}")
    for path in ("/v1/none", "/v1/none/other"):
        api.get(path)
    api.request("BREW", "/v1/stats")
    figures = figures_of(api)
    assert {
        outcome: figures["neardup_documents_total", (outcome,)]
        for outcome in ("kept", "dropped", "known", "refused")
    } == {"kept": 1, "dropped": 1, "known": 1, "refused": 1}
    # An id is no series of its own, nor is an address or a method that a client makes up.
    requests = {key[1]: value for key, value in figures.items() if key[0] == "http_requests_total"}
    assert requests["/v1/documents", "POST", "201"] == 1
    assert requests["/v1/documents", "POST", "200"] == 2
    assert requests["/v1/documents", "POST", "409"] == 1
    assert requests["/v1/documents/{id:id}", "GET", "404"] == 2
    assert requests["none", "GET", "404"] == 2
    assert requests["/v1/stats", "other", "405"] == 1
    assert figures["neardup_index_documents", ("kept",)] == 3
    assert figures["neardup_index_documents", ("dropped",)] == 2
