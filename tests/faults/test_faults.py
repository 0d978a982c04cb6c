"""Hostile inputs, failing calls and losses of power: no panic, no hang, nothing lost."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings

from neardup import InputError, ParameterError, _core
from neardup.recipe import load_recipe
from neardup.recipe.assets import compiled
from tests import forks, needs
from tests.faults import power_loss, preload
from tests.faults.file_inputs import TARGETS, try_inputs


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TARGETS))
def test_hostile_inputs_are_read_or_refused(name, tmp_path):
    """A few of each target; `--hypothesis-profile long` tries a hundred times as many."""
    pytest.importorskip("resource", reason=needs.POSIX)
    inputs = range(settings().max_examples // 5)
    variables = {"RUST_BACKTRACE": "0"}
    ran = forks.run(try_inputs, name, inputs, seconds=3600, folder=tmp_path, environment=variables)
    reached = ran.returncode, ran.stdout.split()[-1:]
    assert reached == (0, [b"%d" % inputs[-1]]), ran.stderr.decode("utf-8", "replace")


def corpus(recipe, texts, **options):
    options = {"keeps_texts": True, "shingle": None, "workers": 1} | options
    made = _core.Corpus(compiled(load_recipe(recipe)), **options)
    made.push(pa.array(texts, pa.large_string()), titles=None, units=None)
    made.finish()
    return made


def rule(scheme, **other):
    given = {"max_distance": 3, "bands": 4, "rows": 4, "threshold": 0.5, "measure": "resemblance"}
    given |= {"resemblance": 0.5, "direction": "contained", "exhaustive": False}
    return _core.Rule(scheme=scheme, **{**given, "shingle": 5, "min_features": 1, **other})


def keys(scheme, bits=0, **other):
    return _core.KeyScheme(rule(scheme, **other), bits=bits, background=None)


class TestRefused:
    """What did not return, or ended in a panic, before it was refused."""

    @pytest.mark.parametrize("bits", [0, 257, 1 << 31, 2**32 - 1])
    def test_impossible_widths_are_refused(self, bits):
        with pytest.raises(ParameterError, match=r"'bits' parameter must be 1 to 256"):
            _core.radius(0.5, bits, 0.99)
        with pytest.raises(ParameterError, match="'bits' parameter"):
            keys("near", bits, max_distance=0)

    def test_more_threads_than_a_system_has(self):
        with pytest.raises(ParameterError, match="'workers' parameter must be at most 1024"):
            _core.near_pairs(np.zeros((1, 1), np.uint64), bits=64, max_distance=1, workers=1 << 40)

    def test_too_many_points(self):
        with pytest.raises(ParameterError, match="'points' parameter must be at most 65536"):
            _core.s_curve(4, 4, 1 << 62)

    @pytest.mark.parametrize("scheme", ["near", "bands"])
    def test_a_search_for_other_sketches(self, scheme):
        samples = corpus("shingle-sample", ["一" * 20, "二" * 20])
        empty = np.array([], np.uint64)
        stored = _core.FetchedIndex(keys(scheme, 64), empty, empty, empty.astype(np.uint16))
        for call in (
            lambda: _core.Clusterer(samples, rule(scheme)),
            lambda: keys(scheme, 64).keys_of(samples, 0),
            lambda: _core.Clusterer.of_stored(samples, rule(scheme), stored, []),
        ):
            with pytest.raises(ParameterError, match="the kind of sketches that the recipe makes"):
                call()

    def test_a_background_of_samples_outside_of_memory(self, tmp_path):
        sizes = {"texts": 0, "sketches": 0, "compared": 1 << 20, "keys": 1 << 20}
        memory = _core.Memory(**sizes, folder=str(tmp_path))
        made = corpus("shingle-sample", ["一" * 20, "二" * 20], memory=memory)
        with pytest.raises(InputError, match="expected of at least 2 documents in memory, found 0"):
            _core.Background(made)

    def test_more_bands_than_values(self):
        signatures = corpus("minhash", ["一" * 20])
        with pytest.raises(ParameterError, match="'bands' parameter must be few enough"):
            keys("bands", bands=200, rows=5).keys_of(signatures, 0)

    def test_missing_documents_are_refused(self):
        made = corpus("shingle-sample", ["一" * 20])
        clusterer = _core.Clusterer(made, rule("postings"))
        for call in (
            lambda: made.sketch_similarity(2**32 - 1, 0),
            lambda: _core.judge(made, 0, 1, measure="content", shingle=5),
            lambda: clusterer.decide(made, np.array([0, 1], np.uint32)),
            lambda: clusterer.similar(made, 1),
        ):
            with pytest.raises(InputError, match=r"expected numbers below 1, found"):
                call()

    def test_another_corpus_than_the_keeper_was_made_for(self):
        made = corpus("shingle-sample", ["一" * 20])
        clusterer = _core.Clusterer(made, rule("postings"))
        pairs = _core.PairSearch(made, rule("postings"))
        for other in (corpus("shingle-sample", ["一" * 20]), made):
            if other is made:
                other.push(pa.array(["二" * 20]), titles=None, units=None)
            for call in (
                lambda other=other: clusterer.decide(other, np.array([0], np.uint32)),
                lambda other=other: pairs.next_piece(other),
            ):
                with pytest.raises(InputError, match="the one that this was made for, unchanged"):
                    call()

    def test_mismatched_entries_are_refused(self):
        made = corpus("shingle-sample", ["一" * 20])
        two, single = np.array([1, 2], np.uint64), np.array([1], np.uint64)
        with pytest.raises(InputError, match="2 keys, 1 numbers, 2 minimum overlaps"):
            _core.FetchedIndex(keys("postings"), two, single, two.astype(np.uint16))
        for offsets in ([], [1], [0, 2, 1], [0, 5]):
            with pytest.raises(InputError, match="ascending from 0 to 1"):
                _core.FetchedIndex.listed(keys("postings"), offsets, [1])
        given = _core.FetchedIndex.listed(keys("postings"), [0, 0, 1], [1])
        with pytest.raises(InputError, match="a batch of 1 documents, found those of 2"):
            given.candidates(made)
        with pytest.raises(InputError, match="at most 1, the documents of the corpus"):
            _core.Clusterer.of_stored(made, rule("postings"), given, [1, 2, 3])

    def test_a_level_beyond_all_shingles(self):
        blob = b"\x03\0\0\0" + bytes(16) + (2**31).to_bytes(4, "little") + bytes(16)
        with pytest.raises(InputError, match="found level 2147483648"):
            _core.Background.from_bytes(blob)

    @pytest.mark.parametrize("parts", [0, (1 << 16) + 1, 1 << 60])
    def test_parts_beyond_all_bounds(self, parts):
        recipe = compiled(load_recipe("general"))
        made = _core.Corpus(recipe, keeps_texts=False, shingle=5, workers=1)
        made.push(pa.array(["一二三四五六七" * 9], pa.large_string()), titles=None, units=None)
        numbers = np.zeros(1, np.int64)
        samples = made.samples(0, numbers)
        with pytest.raises(ParameterError, match=f"'parts' parameter must be 1 to 65536.*{parts} "):
            made.counts(parts)
        with pytest.raises(ParameterError, match=f"'parts' parameter must be 1 to 65536.*{parts} "):
            _core.counts_of_samples(samples, numbers, parts)


NEEDS_COMPILER = pytest.mark.skipif(not preload.has_compiler(), reason=needs.COMPILER)

#: Calls that fail, for each operation, kind of call, error, and once or from then on.
FAILING = 2
POINTS = 24


@NEEDS_COMPILER
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


@NEEDS_COMPILER
@pytest.mark.slow
def test_lost_power(recorded, tmp_path):
    losses = power_loss.lose(recorded, tmp_path, count=POINTS)
    assert losses.count == POINTS
    assert not losses.breaches, "\n".join(losses.breaches)


@NEEDS_COMPILER
def test_unsynced_write_is_not_trusted(recorded, tmp_path):
    """Without the syncs of the log the same law is broken, so the test can fail."""
    without = [record for record in recorded if record.what != "s" or record.name != "-wal"]
    losses = power_loss.lose(without, tmp_path, count=12, seed=1)
    assert losses.breaches
