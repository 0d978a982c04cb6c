"""Failing calls and losses of power under an index: nothing acknowledged is lost."""

import pytest

from tests import needs
from tests.faults import power_loss, preload

pytestmark = pytest.mark.skipif(not preload.has_compiler(), reason=needs.COMPILER)

#: Calls that fail, for each operation, kind of call, error, and once or from then on.
FAILING = 2
POINTS = 24


@pytest.mark.slow
def test_failing_calls(tmp_path):
    result = preload.failing_calls(tmp_path, most=FAILING)
    assert not result["breaches"], "\n".join(result["breaches"])
    for operation in ("add", "add_many", "checkpoint", "compact", "close", "reopen"):
        for kind, least in (("write", FAILING), ("sync", 1), ("allocate", 1)):
            assert result["failed"][f"{operation} {kind}"] >= least


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """All that a program wrote that used an index in all ways that write."""
    return power_loss.record(tmp_path_factory.mktemp("power"))


@pytest.mark.slow
def test_lost_power(recorded, tmp_path):
    losses = power_loss.lose(recorded, tmp_path, count=POINTS)
    assert losses.count == POINTS
    assert not losses.breaches, "\n".join(losses.breaches)


def test_log_without_syncs_breaks_the_law(recorded, tmp_path):
    """Without the syncs of the log the same law is broken, so the test can fail."""
    without = [record for record in recorded if record.what != "s" or record.name != "-wal"]
    losses = power_loss.lose(without, tmp_path, count=12, seed=1)
    assert losses.breaches
