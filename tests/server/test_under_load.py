"""Many clients at once: what is acknowledged is stored, killed or not, and kept as it must be."""

import itertools
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import neardup
from tests import needs
from tests.index.consistency import check_consistent
from tests.index.written import count_background, documents, families
from tests.postgres import NoServer, Server
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.slow

CONNECTIONS = 16
MANY = documents(families(9, 500))
SIZES = (1, 3, 7, 2)


def send(url, batches, ends=lambda _: False):
    """Send batches over many connections; return decisions as they came, and other answers.

    ``ends(decisions)`` is asked before each batch whether no more is sent.
    """
    waiting, lock, decided, others = iter(batches), threading.Lock(), [], []

    def connect(_):
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            while not ends(decided):
                with lock:
                    batch = next(waiting, None)
                if batch is None:
                    return
                body = {"documents": batch} if len(batch) > 1 else batch[0]
                try:
                    answer = client.post("/v1/documents", json=body)
                except httpx.TransportError as error:
                    others.append(type(error).__name__)
                    return
                if answer.status_code in (200, 201):
                    result = answer.json()
                    decided.extend(result.get("decisions", [result]))
                else:
                    others.append(answer.status_code)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(connect, range(CONNECTIONS)))
    return decided, others


def cut(many, *sizes):
    """Return documents in batches of these sizes, one after the other."""
    sizes, rest = itertools.cycle(sizes), iter(many)
    return list(iter(lambda: list(itertools.islice(rest, next(sizes))), []))


@pytest.fixture
def empty(tmp_path):
    """An index without documents, whose background counts all that will come."""
    place = tmp_path / "empty.db"
    with neardup.Index(place, threshold=0.3, workers=1) as index:
        count_background(index, [row["text"] for row in MANY])
    return str(place)


@pytest.mark.parametrize("sizes", [[32], SIZES])
def test_service_keeps_the_documents_of_dedup(serve_process, empty, sizes):
    service = serve_process(command=["serve", "--index", empty])
    decided, others = send(service.url, cut(MANY, *sizes))
    assert others == []
    assert len(decided) == len(MANY)
    assert service.stop() == 0
    with neardup.Index(empty, must_exist=True) as index:
        stored = list(index.documents())
    texts = {one["id"]: one for one in MANY}
    in_order = [texts[one.id] for one in stored]
    kept = {one.id for one in stored if one.state == "kept"}
    assert {one["id"] for one in neardup.dedup(in_order, threshold=0.3).kept} == kept
    # What each client was told is what is stored.
    repeats = {one.id: one.repeats.id if one.repeats else None for one in stored}
    assert {one["id"]: one["repeats"] and one["repeats"]["id"] for one in decided} == repeats
    check_consistent(empty)


@pytest.mark.parametrize("attempt", range(3))
def test_killed(serve_process, empty, attempt):
    service = serve_process(command=["serve", "--index", empty])

    def kill(decided):
        """Kill it while the other connections wait for answers."""
        if len(decided) > 100 + 200 * attempt:
            service.process.send_signal(signal.SIGKILL)
        return len(decided) > 100 + 200 * attempt

    decided, _ = send(service.url, cut(MANY, *SIZES), kill)
    service.process.wait()
    stored = check_consistent(empty)
    assert {one["id"] for one in decided} <= set(stored)
    assert len(stored) < len(MANY)
    # The next one goes on where it stopped.
    again = serve_process(index=empty)
    decided, others = send(again.url, cut(MANY, 32))
    assert others == []
    assert {one["id"] for one in decided} == {one["id"] for one in MANY}
    assert len(check_consistent(empty)) == len(MANY)


def test_stopped_service_finishes_accepted_requests(serve_process, empty):
    service = serve_process(command=["serve", "--index", empty])
    signals = iter([signal.SIGTERM])

    def stop(decided):
        """Stop it, once, while the other connections wait for answers."""
        if len(decided) > 100 and (number := next(signals, None)):
            service.process.send_signal(number)
        return len(decided) > 100

    decided, _ = send(service.url, cut(MANY, *SIZES), stop)
    assert service.process.wait(PATIENCE) == 0
    # Nothing that was stored went without its answer.
    assert {one["id"] for one in decided} == set(check_consistent(empty))
    assert len(decided) < len(MANY)


@pytest.fixture
def own_postgres():
    """A server that this test may stop."""
    try:
        server = Server()
    except NoServer as error:
        pytest.skip(f"{needs.POSTGRESQL} ({error})")
    yield server
    server.remove()


def test_the_database_goes_away_and_comes_back(serve_process, own_postgres):
    url = own_postgres.new_database()
    with neardup.Index(url, workers=1) as index:
        index.add("a", MANY[0]["text"])
    own_postgres.stop()
    # It starts before its database.
    client = serve_process(index=url).client
    new = {"id": "b", "text": MANY[1]["text"]}
    assert client.get("/readyz").status_code == 503
    own_postgres.start()
    assert client.get("/readyz").status_code == 200
    own_postgres.stop()
    answers = {
        "add": client.post("/v1/documents", json=new),
        "query": client.post("/v1/query", json={"text": MANY[0]["text"]}),
        "get": client.get("/v1/documents/a"),
        "ready": client.get("/readyz"),
        "page": client.get("/removals"),
    }
    assert {answer.status_code for answer in answers.values()} == {503}
    assert client.get("/healthz").status_code == 200
    assert answers["add"].json()["code"] == "index_unavailable"
    assert "retry-after" in answers["add"].headers
    own_postgres.start()
    until(lambda: client.get("/readyz").status_code == 200)
    assert client.get("/v1/documents/a").json()["state"] == "kept"
    assert client.post("/v1/documents", json=new).status_code == 201
    found = client.post("/v1/query", json={"text": new["text"]}).json()["matches"]
    assert [one["id"] for one in found] == ["b"]


def test_readers_do_not_wait_for_a_writer(serve_process, empty):
    service = serve_process(index=empty)
    with neardup.Index(empty, must_exist=True) as index, index._engine.database.writing():
        answer = service.client.post("/v1/query", json={"text": MANY[0]["text"]})
        assert (answer.status_code, answer.json()["matches"]) == (200, [])


def test_hanging_database_piles_up_no_requests(serve_process, empty):
    service = serve_process(index=empty, request_seconds=2)

    def add(number):
        new = {"id": f"late {number}", "text": MANY[number]["text"]}
        return service.client.post("/v1/documents", json=new).status_code

    def waiting():
        # On a busy machine even this may take too long; then it is asked again.
        return service.client.get("/v1/stats").json().get("waiting", 8)

    with neardup.Index(empty, must_exist=True) as index, index._engine.database.writing():
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(add, range(8))) == [504] * 8
        until(lambda: service.client.get("/readyz").status_code == 200, "the service to be ready")
        until(lambda: waiting() <= 1, "a short queue")
    # What was told to have failed is not stored afterwards, but for what had begun.
    until(lambda: waiting() == 0, "an empty queue")
    with neardup.Index(empty, must_exist=True) as index:
        assert len(index) <= 1
