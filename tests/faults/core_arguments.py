"""Arguments for the entry points of `neardup._core`: wrong sizes, extreme numbers, damaged bytes,
and objects that do not belong together. A seed decides about all of them.
"""

import json
import random
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import _core
from neardup.exceptions import NeardupError
from neardup.recipe import load_recipe
from neardup.recipe.assets import compiled
from tests.hostile_texts import LONG_BASES, TEXTS

#: What the objects made so far are called in the output.
NAMES: dict[int, str] = {}

RECIPES = ("shingle-sample", "shingle", "minhash", "characters", "news", "general", "improved")
SMALL = (0, 1, 2, 3, 5, 8, 20, 64)
WIDE = (31, 32, 33, 63, 64, 65, 127, 128, 129, 256, 1000, 1024, 1025, 4096, 65536)
HUGE = (2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -1)
REALS = (0.5, 0.3, 0.8, 0.99, 1.0, 0.0, -0.0, 1e-300, 1e-9, 1 - 1e-16, 1.5, -1.0, 1e308)
ODD_REALS = (float("nan"), float("inf"), float("-inf"))

EXPECTED = (NeardupError, TypeError, ValueError, OverflowError, RuntimeError)


class Maker:
    """Makes arguments and objects, and calls what is asked for."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self._made: dict[str, list[tuple[str, Any]]] = {}
        self._names = 0
        #: Nearly all arguments are plausible in some inputs, and few in others.
        self._odd = self.rng.choice((0.02, 0.1, 0.4))

    def call(self, shown: str, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Call a function after writing down what is called."""
        arguments = [_shown(one) for one in given]
        arguments += [f"{name}={_shown(one)}" for name, one in named.items()]
        print(f"{shown}({', '.join(arguments)})", file=sys.stderr)
        return function(*given, **named)

    def of(self, kind: str) -> Any:
        """Return an object that was made before, or a new one."""
        known = self._made.get(kind, [])
        if known and self.rng.random() < 0.6:
            return self.rng.choice(known)
        made = getattr(self, f"new_{kind}")()
        return self.keep(kind, made)

    def keep(self, kind: str, made: Any) -> Any:
        self._names += 1
        print(f"  -> {kind}{self._names}", file=sys.stderr)
        NAMES[id(made)] = f"{kind}{self._names}"
        self._made.setdefault(kind, []).append(made)
        return made

    # Numbers

    def is_odd(self) -> bool:
        return self.rng.random() < self._odd

    def whole(self, *usual: int) -> int:
        if self.is_odd():
            return self.rng.choice(SMALL + WIDE + HUGE)
        return self.rng.choice(usual or SMALL)

    def real(self) -> float:
        return self.rng.choice(REALS + ODD_REALS) if self.is_odd() else self.rng.choice(REALS[:4])

    def workers(self) -> int:
        return self.whole(1, 1, 2)

    def document(self, corpus: Any) -> int:
        return self.whole(*range(max(1, len(corpus))))

    def numbers(self, kind: Any, most: int = 8, below: int = 12) -> Any:
        size = self.rng.choice((0, 1, 3, most))
        largest = int(np.iinfo(kind).max)
        chosen = [
            largest - self.rng.choice((0, 1))
            if self.is_odd()
            else self.rng.randrange(max(1, below))
            for _ in range(size)
        ]
        made = np.array(chosen, kind)
        if self.is_odd() and size:
            return made[::-1] if self.rng.random() < 0.5 else np.repeat(made, 2)[::2]
        return made

    def rows(self, bits: int) -> Any:
        words = max(1, -(-bits // 64)) if bits < 1025 else 1
        words = self.rng.choice((0, 1, 2, 3, 4)) if self.is_odd() else words
        count = self.rng.choice((0, 1, 2, 5, 40))
        few = [self.rng.getrandbits(64) for _ in range(3)]
        mask = (1 << bits) - 1 if 0 < bits < 64 and not self.is_odd() else 2**64 - 1
        made = [[self.rng.choice(few) & mask for _ in range(words)] for _ in range(count)]
        return np.array(made, np.uint64).reshape(count, words)

    # Texts and bytes

    def text(self) -> str:
        chosen = self.rng.choice((*TEXTS.values(), *LONG_BASES))
        if self.is_odd():
            chosen *= self.rng.choice((0, 3, 50))
        if self.rng.random() < 0.3:
            at = self.rng.randrange(len(chosen) + 1)
            chosen = chosen[:at] + self.rng.choice(("新", "x", "\0", "\x1e", "/")) + chosen[at:]
        return chosen

    def texts(self, count: int | None = None) -> Any:
        count = self.rng.choice((0, 1, 2, 5, 30)) if count is None else count
        made = [None if self.is_odd() else self.text() for _ in range(count)]
        if self.is_odd():
            return self.rng.choice(
                (
                    pa.array(range(count), pa.int64()),
                    pa.array(made, pa.string_view()),
                    pa.array([None] * count, pa.null()),
                    pa.array(made, pa.string()).dictionary_encode(),
                )
            )
        return pa.array(made, self.rng.choice((pa.string(), pa.large_string())))

    def blob(self, *like: bytes) -> bytes:
        """Return bytes, or known ones with damage."""
        raw = bytearray(self.rng.choice(like) if like else b"")
        if not like or self.is_odd():
            raw = bytearray(self.rng.randbytes(self.rng.choice((0, 1, 3, 4, 16, 20, 24, 200))))
        elif self.rng.random() < 0.5 and raw:
            for _ in range(self.rng.choice((1, 1, 4))):
                at = self.rng.randrange(min(len(raw), 40 if self.rng.random() < 0.5 else len(raw)))
                raw[at] = self.rng.choice((0, 1, 0x7F, 0x80, 0xFF, self.rng.randrange(256)))
            if self.rng.random() < 0.3:
                del raw[self.rng.randrange(len(raw)) :]
        return bytes(raw)

    def blobs(self, count: int, like: list[bytes]) -> list[bytes]:
        count = self.rng.choice((0, count + 1, 3)) if self.is_odd() else count
        return [self.blob(like[at] if at < len(like) else b"") for at in range(count)]

    # Objects

    def new_recipe(self) -> Any:
        if not self.is_odd():
            return compiled(load_recipe(self.rng.choice(RECIPES)))
        return self.changed_recipe()

    def changed_recipe(self) -> Any:
        settings = json.loads(self.rng.choice(_settings()))
        for _ in range(self.rng.choice((1, 1, 3))):
            stage = self.rng.choice(list(settings.values()))
            field = self.rng.choice(list(stage) or ["none"])
            value = self.rng.choice((None, "", "x", [], {}, True, self.whole(), self.real()))
            stage[field] = value
        words = [self.text() for _ in range(self.rng.choice((0, 3)))]
        idf = (self.whole(5, 9), words, [self.whole(1, 2) for _ in words])
        return self.call(
            "Recipe",
            _core.Recipe,
            json.dumps(settings),
            stop_words=self.rng.choice((None, [], words)),
            markers=words,
            user_dictionary=self.rng.choice((None, "", "词 3 n", self.text())),
            idf=self.rng.choice((None, idf)),
        )

    def new_memory(self) -> Any:
        sizes = (0, 1, 1000, 1 << 20)
        return self.call(
            "Memory",
            _core.Memory,
            texts=self.whole(*sizes),
            sketches=self.rng.choice((None, self.whole(*sizes))),
            compared=self.whole(*sizes),
            keys=self.whole(*sizes),
            folder=self.rng.choice((None, tempfile.mkdtemp(dir="."), "nowhere/at/all")),
        )

    def new_corpus(self) -> Any:
        corpus = self.call(
            "Corpus",
            _core.Corpus,
            self.of("recipe"),
            keeps_texts=self.rng.random() < 0.8,
            shingle=self.rng.choice((None, None, self.whole(5))),
            workers=self.workers(),
            memory=self.rng.choice((None, None, self.of("memory"))),
            entries=self.rng.choice((None, None, self.whole(100, 1000))),
        )
        for _ in range(self.rng.choice((0, 1, 1, 2))):
            self.push(corpus)
        if not self.is_odd():
            self.call("finish", corpus.finish)
        return corpus

    def push(self, corpus: Any) -> None:
        texts = self.texts()
        others = (None, None, self.texts(len(texts)), self.texts())
        titles, units = self.rng.choice(others), self.rng.choice(others)
        self.call("push", corpus.push, texts, titles=titles, units=units)

    def new_rule(self) -> Any:
        return self.call(
            "Rule",
            _core.Rule,
            scheme=self.rng.choice(("near", "bands", "postings", "prefix")),
            max_distance=self.whole(0, 1, 3, 8, 20),
            bands=self.whole(1, 4, 20),
            rows=self.whole(1, 4),
            resemblance=self.real(),
            threshold=self.real(),
            direction=self.rng.choice(("contained", "either", "both")),
            exhaustive=self.rng.choice((False, True)),
            measure=self.rng.choice(("resemblance", "content", "containment", "aligned", "sketch")),
            shingle=self.whole(1, 5),
            min_features=self.whole(0, 1, 3),
        )

    def new_clusterer(self) -> Any:
        return self.call("Clusterer", _core.Clusterer, self.of("corpus"), self.of("rule"))

    def new_background(self) -> Any:
        return self.call("Background", _core.Background, self.of("corpus"))

    def new_key_scheme(self) -> Any:
        background = self.rng.choice((None, self.of("background")))
        bits = self.whole(16, 32, 64, 128)
        return self.call(
            "KeyScheme", _core.KeyScheme, self.of("rule"), bits=bits, background=background
        )

    def new_stored(self) -> Any:
        key_scheme, size = self.of("key_scheme"), self.rng.choice((0, 1, 30))
        if self.rng.random() < 0.4:
            offsets = sorted(
                self.whole(*range(size + 1)) for _ in range(self.rng.choice((0, 1, 6)))
            )
            numbers = [self.whole(*range(1, 9)) for _ in range(size)]
            return self.call(
                "FetchedIndex.listed", _core.FetchedIndex.listed, key_scheme, offsets, numbers
            )
        keys = self.numbers(np.uint64)
        if self.rng.random() < 0.7:
            keys = self.call(
                "lookup_keys", key_scheme.lookup_keys, self.of("corpus"), self.of("rule")
            )
        size = len(keys) + (self.is_odd() and 1)
        numbers = np.array([self.rng.choice((1, 2, 5, 2**63)) for _ in range(size)], np.uint64)
        shares = np.array([self.rng.choice((1, 257, 65535, 0)) for _ in range(size)], np.uint16)
        return self.call("FetchedIndex", _core.FetchedIndex, key_scheme, keys, numbers, shares)

    def new_join(self) -> Any:
        corpus = self.of("corpus")
        join = self.call(
            "ExternalJoin", _core.ExternalJoin, corpus, self.of("rule"), self.order(corpus)
        )
        for _ in range(self.rng.choice((0, 100))):
            other = self.of("corpus") if self.is_odd() else corpus
            if not self.call("advance", join.advance, other):
                break
        return join

    def order(self, corpus: Any) -> Any:
        if self.is_odd():
            return self.numbers(np.uint32)
        return np.arange(len(corpus), dtype=np.uint32)

    def new_shuffle(self) -> Any:
        return self.call(
            "Shuffle",
            _core.Shuffle,
            self.of("rule"),
            self.of("recipe"),
            buckets=self.whole(1, 2, 7),
        )

    def new_fingerprints(self) -> Any:
        bits = self.whole(16, 32, 64, 128, 256)
        index = self.call(
            "FingerprintIndex",
            _core.FingerprintIndex,
            self.rows(bits),
            bits=bits,
            max_distance=self.whole(0, 3, 8),
        )
        return index, bits

    def new_aligner(self) -> Any:
        if not self.is_odd():
            return _core.Aligner(variants="體台", standards="体台")
        return self.call("Aligner", _core.Aligner, variants=self.text(), standards=self.text())

    def new_paper(self) -> Any:
        return self.call("paper", self.of("aligner").paper, self.text())

    def new_items(self) -> Any:
        texts = pa.array([self.text() * repeats for repeats in self.rng.sample((0, 1, 3, 40), 3)])
        return self.call("Items", _core.Items, self.of("aligner"), texts, workers=self.workers())

    def new_repeats(self) -> Any:
        return self.call(
            "Repeats",
            _core.Repeats,
            unit=self.rng.choice(("sentence", "paragraph", self.text())),
            least=self.whole(0, 1, 20),
            memory=self.whole(0, 1 << 20),
            folder=None,
            workers=self.workers(),
        )

    def new_library(self) -> Any:
        sketches = self.call(
            "sketches", self.of("aligner").sketches, self.texts(), workers=self.workers()
        )
        sketches = [self.blob(one) for one in sketches]
        filed, fence = self.call(
            "file_sketches", _core.file_sketches, sketches, workers=self.workers()
        )
        # Too few positions, and another fence: files may be damaged.
        positions = np.arange(self.rng.choice((len(sketches), 0, 9)), dtype=np.uint32)
        if self.is_odd():
            fence = positions[: self.rng.choice((0, 1, 9))]
        if self.is_odd():
            filed = filed[:: self.rng.choice((2, -1))]
        return self.call("Library", _core.Library, [(filed, fence, positions)])

    def counted(self) -> bytes:
        counted = self.of("corpus").counted_shingles()
        return self.blob(*([] if counted is None else [counted]))


#: What the objects made so far are called in the output.
NAMES: dict[int, str] = {}


def _shown(value: Any) -> str:
    shown = NAMES.get(id(value)) or " ".join(repr(value).split())
    return shown if len(shown) < 300 else shown[:300] + "..."


_SETTINGS: list[str] = []


def _settings() -> list[str]:
    """Return the settings of recipes as the core takes them."""
    if not _SETTINGS:
        real = _core.Recipe
        import neardup.recipe.assets as resources

        class Noting:
            def __new__(cls, settings: str, **named: Any) -> Any:
                _SETTINGS.append(settings)
                return real(settings, **named)

        _core.Recipe = Noting  # type: ignore[misc, assignment]
        try:
            for name in RECIPES:
                resources._compiled.__wrapped__(load_recipe(name), ())
        finally:
            _core.Recipe = real  # type: ignore[misc]
    return _SETTINGS
