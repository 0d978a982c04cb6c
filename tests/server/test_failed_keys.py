"""Who tries wrong keys waits longer each time, by a clock that the test moves."""

import pytest

from neardup.server.security.clients import network_of
from neardup.server.security.failed_keys import FREE, LONGEST, FailedKeys
from neardup.server.security.keys import create_key, revoke_key
from tests.server import forms
from tests.server.clocks import ManualClock
from tests.server.forms import check_page

HERE, THERE = "192.0.2.1", "192.0.2.2"


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def failed(clock):
    return FailedKeys(clock)


def fail(failed, times, address=HERE):
    for _ in range(times):
        failed.failed(address)


class TestRests:
    def test_the_first_failures_are_free(self, failed):
        fail(failed, FREE - 1)
        assert failed.rest(HERE) == 0
        fail(failed, 1)
        assert failed.rest(HERE) == 1
        assert failed.rest(THERE) == 0

    def test_each_rest_is_twice_the_one_before(self, failed, clock):
        fail(failed, FREE)
        for expected in (1, 2, 4, 8, 16, 32, 60, 60):
            assert failed.rest(HERE) == expected
            clock.advance(expected - 0.5)
            assert failed.rest(HERE) == pytest.approx(0.5)
            clock.advance(0.5)
            assert failed.rest(HERE) == 0
            fail(failed, 1)

    def test_no_rest_is_longer_than_the_longest(self, failed):
        fail(failed, 100_000)
        assert failed.rest(HERE) == LONGEST

    def test_failures_are_forgotten(self, failed, clock):
        fail(failed, FREE + 3)
        clock.advance(900)
        fail(failed, 1)
        assert failed.rest(HERE) == 0

    def test_memory_is_bounded(self, failed):
        fail(failed, FREE)
        for number in range(10_000):
            failed.failed(f"address {number}")
            failed.used(f"address {number}", "digest")
        assert failed.rest(HERE) == 0
        assert (len(failed._failures), len(failed._used)) == (10_000, 10_000)


@pytest.fixture
def guarded(serve, tmp_path, clock):
    """A service with the keys `desk` and `crawler`, and the keys."""
    path = tmp_path / "keys.json"
    keys = {name: create_key(path, name, ["read"])[0] for name in ("desk", "crawler")}
    client = serve(keys=path, clock=clock)
    client.path = path
    return client, keys


class TestOverHttp:
    def test_wrong_keys(self, guarded, clock):
        client, keys = guarded
        for _ in range(FREE):
            assert client.get("/v1/stats", headers=bearer("wrong")).status_code == 401
        answer = client.get("/v1/stats", headers=bearer("wrong"))
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert answer.json()["type"] == "urn:neardup:too-many-wrong-keys"
        # Nor is a right key looked at, or guessing would only be a matter of trying.
        assert client.get("/v1/stats", headers=bearer(keys["desk"])).status_code == 429
        clock.advance(1)
        assert client.get("/v1/stats", headers=bearer(keys["desk"])).status_code == 200

    def test_a_rest_is_not_prolonged_by_who_tries_on(self, guarded, clock):
        client, keys = guarded
        for _ in range(50):
            client.get("/v1/stats", headers=bearer("wrong"))
        clock.advance(1)
        assert client.get("/v1/stats", headers=bearer(keys["desk"])).status_code == 200

    def test_a_key_that_was_used_here_is_not_locked_out(self, guarded):
        client, keys = guarded
        assert client.get("/v1/stats", headers=bearer(keys["crawler"])).status_code == 200
        for _ in range(FREE + 1):
            client.get("/v1/stats", headers=bearer("wrong"))
        assert client.get("/v1/stats", headers=bearer(keys["crawler"])).status_code == 200
        assert client.get("/v1/stats", headers=bearer(keys["desk"])).status_code == 429
        # But for one that was revoked.
        revoke_key(client.path, "crawler")
        assert client.get("/v1/stats", headers=bearer(keys["crawler"])).status_code == 429

    def test_who_gives_no_key_is_asked_for_one(self, guarded):
        client, _ = guarded
        for _ in range(3 * FREE):
            answer = client.get("/v1/stats")
        assert answer.status_code == 401

    @pytest.mark.parametrize("path", ["/clusters", "/check/x", "/nowhere"])
    def test_a_wrong_key_counts_once_a_request(self, guarded, path):
        client, keys = guarded
        for _ in range(FREE - 1):
            client.get(path, headers=bearer("wrong"))
        assert client.get("/v1/stats", headers=bearer(keys["desk"])).status_code == 200

    @pytest.mark.parametrize(
        ("language", "says"), [("en", "Try again in 1 seconds"), ("zh", "请在 1 秒后重试")]
    )
    def test_signing_in(self, guarded, clock, language, says):
        client, keys = guarded
        for _ in range(FREE):
            assert forms.send(client, "/login", key="wrong").status_code == 401
        headers = {"Accept-Language": language}
        answer = forms.send(client, "/login", key=keys["desk"], headers=headers)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert says in answer.text
        check_page(answer)
        clock.advance(1)
        assert forms.send(client, "/login", key=keys["desk"]).status_code == 303
        # Whoever is signed in stays so.
        for _ in range(FREE + 3):
            client.get("/v1/stats", headers=bearer("wrong"))
        assert client.get("/clusters").status_code == 200


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
    ],
)
def test_a_network_of_ipv6_is_one_address(one, other, same):
    assert (network_of(one) == network_of(other)) == same


def test_what_is_no_address():
    assert network_of("unknown") == "unknown"
    assert len(network_of("a" * 10_000)) < 100
