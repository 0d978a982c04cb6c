"""Libraries: opened once, anew when they grew, and never in the way of others."""

import threading

import pytest

import neardup
from neardup.exceptions import IndexUnavailableError
from neardup.server import Settings
from neardup.server.jobs import libraries
from neardup.server.jobs.libraries import INDEX, Libraries
from neardup.server.problems import ProblemError
from tests.server.clocks import ManualClock
from tests.server.conftest import FERRY
from tests.server.papers import LONG, OWN, send, wait
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.slow


def until_ready(result, name):
    if not result.prepare(name):
        until(lambda: result.is_ready(name), f"{name} to be ready")


def count(libraries, name):
    """Return how many documents a library has."""
    until_ready(libraries, name)
    with libraries.use(name) as opening:
        return len(opening.library)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "papers"
    made.mkdir()
    (made / "lighthouse.txt").write_text(LONG)
    return made


@pytest.fixture
def clock(monkeypatch):
    """As it stands still, opening takes no time, and nothing rests after it."""
    made = ManualClock()
    monkeypatch.setattr(libraries, "time", made)
    return made


@pytest.fixture
def opened(index, folder, clock):  # noqa: ARG001
    settings = Settings(
        index=index, libraries={"papers": str(folder), "gone": "/no/such"}, workers=1
    )
    found = Libraries(settings, lambda: None)
    yield found
    found.close()


def test_names_and_sizes_once_they_are_opened(opened):
    assert opened.list_libraries() == [(INDEX, None), ("papers", None), ("gone", None)]
    with pytest.raises(ProblemError, match="There are: index, papers, gone") as caught:
        opened.check_name("other")
    assert caught.value.status_code == 404
    assert caught.value.field == "library"
    until_ready(opened, "papers")
    with opened.use("papers") as first:
        until_ready(opened, "papers")
        with opened.use("papers") as second:
            assert first is second
    assert opened.list_libraries()[1] == ("papers", 1)


@pytest.mark.parametrize(
    ("name", "text", "count"), [("c.txt", FERRY, 3), ("b.txt", OWN + FERRY, 2), ("b.txt", None, 1)]
)
def test_changed_files_are_read_again(opened, folder, name, text, count):
    (folder / "b.txt").write_text(OWN)
    until_ready(opened, "papers")
    with opened.use("papers") as before:
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text)
        until_ready(opened, "papers")
        with opened.use("papers") as after:
            assert after is not before
            assert len(after.library) == count
        # Who has the one before keeps it.
        assert [one.text for one in before.library.documents([1])] == [LONG]
    with pytest.raises(ValueError, match="closed"):
        list(before.library.documents([1]))


def test_grown_index_is_read_again(opened, index):
    until_ready(opened, INDEX)
    with opened.use(INDEX) as before:
        assert len(before.library) == 3
    with neardup.Index(index, workers=1) as other:
        other.remove("b 2")
        other.add("new", LONG)
    until_ready(opened, INDEX)
    with opened.use(INDEX) as after:
        assert after is not before
        assert {one.id for one in after.library.documents(range(3))} == {"a/1", "a/2", "new"}


@pytest.fixture
def opening(monkeypatch):
    """Replace the opening of libraries: ``opening(before)`` calls a function first."""
    real = libraries.open_library

    def replace(before):
        def open_library(library, **options):
            before(library)
            return real(library, **options)

        monkeypatch.setattr(libraries, "open_library", open_library)

    return replace


def test_opening_rests(opened, opening, folder, clock):
    opening(lambda _: clock.advance(2))
    until_ready(opened, "papers")
    (folder / "c.txt").write_text(FERRY)
    clock.advance(19)
    assert opened.prepare("papers")
    with opened.use("papers") as before:
        assert len(before.library) == 1
    clock.advance(1)
    assert not opened.prepare("papers")
    assert count(opened, "papers") == 2


def test_library_comes_back(opened, folder, tmp_path):
    folder.rename(tmp_path / "elsewhere")
    until_ready(opened, "papers")
    with pytest.raises(ProblemError) as caught, opened.use("papers"):
        pass
    assert caught.value.status_code == 503
    assert str(folder) not in caught.value.detail
    (tmp_path / "elsewhere").rename(folder)
    assert count(opened, "papers") == 1


def test_missing_index_comes_back(opened):
    until_ready(opened, INDEX)
    with pytest.raises(ProblemError) as caught, opened.use(INDEX):
        raise IndexUnavailableError("news.db: the connection was lost.")
    assert caught.value.status_code == 503
    assert "news.db" not in caught.value.detail
    assert count(opened, INDEX) == 3


def test_others_need_not_wait(serve, folder, opening):
    go = threading.Event()
    # The index is not opened by its location.
    opening(lambda library: not isinstance(library, str) or go.wait(PATIENCE))
    client = serve(libraries={"papers": str(folder)})
    first = send(client, OWN + LONG, library="papers")
    second = send(client, OWN + FERRY)
    assert wait(client, second)["rates"]["total"] > 0.4
    state = client.get(first.json()["status"]).json()
    assert (state["state"], state["stage"]) == ("queued", "library")
    unopened = {"name": "papers", "documents": None}
    assert client.get("/v1/libraries").json()["libraries"][1] == unopened
    go.set()
    assert wait(client, first)["rates"]["total"] > 0.4
    listed = [{"name": "index", "documents": 3}, {"name": "papers", "documents": 1}]
    assert client.get("/v1/libraries").json() == {"libraries": listed}


def test_a_report_does_not_say_where_files_are(serve, folder):
    (folder / "old.txt").write_bytes(FERRY.encode("gb18030"))
    client = serve(libraries={"papers": str(folder)})
    accepted = send(client, OWN + LONG + FERRY, library="papers")
    wait(client, accepted)
    report = client.get(accepted.json()["report_json"])
    assert {one["id"] for one in report.json()["sources"]} == {"lighthouse.txt", "old.txt"}
    assert report.json()["library"] == "papers"
    address = f"{accepted.json()['status']}/report?language="
    pages = [client.get(address + language) for language in ("zh", "en")]
    for answer in (report, *pages):
        assert str(folder) not in answer.text
        assert folder.parent.name not in answer.text
