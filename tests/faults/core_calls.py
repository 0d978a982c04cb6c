"""Calls of every entry point of `neardup._core` with wrong sizes, extreme numbers and objects that
do not belong together.

An input is a seed: what it calls is decided while it runs, since most calls need objects that
earlier ones made. Each call is written to the standard error, so the last line names the one that
broke. The private module may raise what Python raises for wrong arguments, and its own errors; no
panic, no abort and no call that does not return.
"""

import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import _core
from neardup.exceptions import NeardupError
from neardup.recipe import load_recipe
from neardup.recipe.assets import compiled
from tests.faults.fuzz import Target
from tests.hostile_texts import LONG_BASES, TEXTS

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
        _NAMES[id(made)] = f"{kind}{self._names}"
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
            threshold=self.real(),
            measure=self.rng.choice(("resemblance", "content", "sketch")),
            shingle=self.whole(1, 5),
            min_features=self.whole(0, 1, 3),
        )

    def new_keeper(self) -> Any:
        return self.call("Clusterer", _core.Clusterer, self.of("corpus"), self.of("rule"))

    def new_background(self) -> Any:
        return self.call("Background", _core.Background, self.of("corpus"))

    def new_filing(self) -> Any:
        background = self.rng.choice((None, self.of("background")))
        bits = self.whole(16, 32, 64, 128)
        return self.call(
            "KeyScheme", _core.KeyScheme, self.of("rule"), bits=bits, background=background
        )

    def new_stored(self) -> Any:
        filing, size = self.of("filing"), self.rng.choice((0, 1, 30))
        if self.rng.random() < 0.4:
            offsets = sorted(
                self.whole(*range(size + 1)) for _ in range(self.rng.choice((0, 1, 6)))
            )
            numbers = [self.whole(*range(1, 9)) for _ in range(size)]
            return self.call(
                "FetchedIndex.listed", _core.FetchedIndex.listed, filing, offsets, numbers
            )
        keys = self.numbers(np.uint64)
        if self.rng.random() < 0.7:
            keys = self.call("lookup_keys", filing.lookup_keys, self.of("corpus"), self.of("rule"))
        size = len(keys) + (self.is_odd() and 1)
        numbers = np.array([self.rng.choice((1, 2, 5, 2**63)) for _ in range(size)], np.uint64)
        shares = np.array([self.rng.choice((1, 257, 65535, 0)) for _ in range(size)], np.uint16)
        return self.call("FetchedIndex", _core.FetchedIndex, filing, keys, numbers, shares)

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

    def new_library(self) -> Any:
        sketches = self.call(
            "sketches", self.of("aligner").sketches, self.texts(), workers=self.workers()
        )
        sketches = [self.blob(one) for one in sketches]
        return self.call("Library", _core.Library, sketches, workers=self.workers())

    def counted(self) -> bytes:
        counted = self.of("corpus").counted_shingles()
        return self.blob(*([] if counted is None else [counted]))


_NAMES: dict[int, str] = {}


def _shown(value: Any) -> str:
    shown = _NAMES.get(id(value)) or " ".join(repr(value).split())
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


# Entry points, by name. Each takes a maker and calls one of them, with objects made on the way.


def _recipe(m: Maker, method: str) -> None:
    recipe, text = m.of("recipe"), m.text()
    titles = (m.rng.choice((None, m.text())),) if method in ("features", "sketch") else ()
    m.call(f"Recipe.{method}", getattr(recipe, method), text, *titles)


def _corpus(m: Maker, method: str) -> None:
    corpus = m.of("corpus")
    given: tuple[Any, ...] = ()
    if method == "sketch_similarity":
        given = (m.document(corpus), m.document(corpus))
    elif method == "emptied":
        m.keep("corpus", m.call("emptied", corpus.emptied, keeps_texts=m.rng.random() < 0.5))
        return
    elif method == "set_background":
        given = (m.of("background"),)
    elif method == "push":
        m.push(corpus)
        return
    elif method == "restore":
        other = m.of("corpus")
        texts = m.texts(len(other))
        sketches = m.blobs(len(other), other.sketches())
        features = [m.whole(0, 1, 9) for _ in sketches]
        given = (texts, m.blobs(len(other), other.identities()), features, sketches)
    m.call(f"Corpus.{method}", getattr(corpus, method), *given)


def _corpus_open(m: Maker) -> None:
    folder = Path(tempfile.mkdtemp(dir="."))
    sizes = {"texts": 0, "sketches": 0, "compared": 0, "keys": 1000}
    memory = _core.Memory(**sizes, folder=folder)
    recipe = m.of("recipe")
    corpus = m.call(
        "Corpus", _core.Corpus, recipe, keeps_texts=True, shingle=5, workers=1, memory=memory
    )
    m.push(corpus)
    m.call("finish", corpus.finish)
    m.call("save", corpus.save)
    if m.rng.random() < 0.5:
        rule = m.of("rule")
        join = m.call("ExternalJoin", _core.ExternalJoin, corpus, rule, m.order(corpus))
        while m.call("advance", join.advance, corpus):
            pass
        _damage_files(m, folder)
        m.keep("join", m.call("ExternalJoin.open", _core.ExternalJoin.open, rule, folder))
    else:
        _damage_files(m, folder)
    other = m.of("recipe") if m.is_odd() else recipe
    m.keep("corpus", m.call("Corpus.open", _core.Corpus.open, other, workers=1, memory=memory))


def _damage_files(m: Maker, folder: Path) -> None:
    """Damage one file of a folder, or none."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if files and m.rng.random() < 0.7:
        path = m.rng.choice(files)
        print(f"damaged: {path.name}", file=sys.stderr)
        # A new file: what is mapped into memory must not change under a program.
        data = m.blob(path.read_bytes())
        path.unlink()
        path.write_bytes(data)


def _keeper(m: Maker, method: str) -> None:
    keeper = m.of("keeper")
    corpus = m.of("corpus")
    if method == "similar":
        m.call("Clusterer.similar", keeper.similar, corpus, m.document(corpus))
    elif method == "decide":
        m.call("Clusterer.decide", keeper.decide, corpus, m.order(corpus))
    else:
        m.call(f"Clusterer.{method}", getattr(keeper, method))


def _matching_keeper(m: Maker) -> None:
    """Decide a corpus by a keeper that was made for it, and then by another corpus."""
    corpus, rule = m.of("corpus"), m.of("rule")
    keeper = m.keep("keeper", m.call("Clusterer", _core.Clusterer, corpus, rule))
    m.call("decide", keeper.decide, corpus, m.order(corpus))
    other = m.of("corpus")
    m.call("decide", keeper.decide, other, m.order(other))
    m.call("similar", keeper.similar, other, m.document(other))


def _keeper_among(m: Maker) -> None:
    corpus, rule = m.of("corpus"), m.of("rule")
    numbers = [m.whole(1, 2, 5, 2**63) for _ in range(m.rng.choice((0, 1, 3, len(corpus))))]
    keeper = m.call("Clusterer.among", _core.Clusterer.among, corpus, rule, m.of("stored"), numbers)
    m.keep("keeper", keeper)
    batch = np.arange(max(0, len(corpus) - len(numbers)), dtype=np.uint32)
    m.call("decide", keeper.decide, corpus, m.order(corpus) if m.is_odd() else batch)
    m.call("new_entries", keeper.new_entries)
    m.call("similar", keeper.similar, corpus, m.document(corpus))


def _keeper_joined(m: Maker) -> None:
    corpus, rule = m.of("corpus"), m.of("rule")
    given = (corpus, rule, m.of("join"), m.order(corpus))
    keeper = m.keep("keeper", m.call("Clusterer.joined", _core.Clusterer.joined, *given))
    m.call("decide", keeper.decide, corpus, m.order(corpus))


def _pairs(m: Maker) -> None:
    corpus = m.of("corpus")
    search = m.call("PairSearch", _core.PairSearch, corpus, m.of("rule"))
    for _ in range(50):
        other = m.of("corpus") if m.is_odd() else corpus
        if m.call("next_piece", search.next_piece, other) is None:
            break
    m.call("candidates", search.candidates)


def _background(m: Maker) -> None:
    kind = m.rng.choice(("of_shingles", "from_bytes"))
    like = () if kind == "of_shingles" else (m.of("background").to_bytes(),)
    if kind == "of_shingles":
        given = (m.whole(0, 9), m.counted())
        made = m.call("Background.of_shingles", _core.Background.of_shingles, *given)
    else:
        made = m.call("Background.from_bytes", _core.Background.from_bytes, m.blob(*like))
    m.keep("background", made)
    m.call("to_bytes", made.to_bytes)
    m.call("counts", made.counts)


def _shuffle(m: Maker) -> None:
    """One round of the shuffle, with damage at any step."""
    shuffle, corpus = m.of("shuffle"), m.of("corpus")
    sketches = m.blobs(len(corpus), corpus.sketches())
    numbers = np.arange(len(sketches), dtype=np.int64)
    flags = np.ones(len(sketches), bool)
    keys = m.call("keys", shuffle.keys, sketches, m.whole(len(sketches)))
    asked = [m.blobs(1, [blob]) for blob in keys]
    counts = [m.call("count", shuffle.count, blobs) for blobs in asked]
    counted = m.blobs(len(counts), [one[0] if one else b"" for one in counts])
    filed = m.call(
        "file",
        shuffle.file,
        sketches,
        m.numbers(np.int64) if m.is_odd() else numbers,
        flags,
        counted,
    )
    found = [
        m.call("lists", shuffle.lists, m.blobs(1, [filed[at]]), m.blobs(1, [keys[at]]))
        for at in range(min(len(filed), len(keys)))
    ]
    lists = m.blobs(len(found), [blobs[0] if blobs else b"" for blobs, _ in found])
    m.call("candidates", shuffle.candidates, sketches, numbers, flags, counted, lists)


def _judge_one(m: Maker) -> None:
    corpus = m.of("corpus")
    m.call(
        "judge",
        _core.judge,
        corpus,
        m.document(corpus),
        m.document(corpus),
        measure=m.rng.choice(("content", "resemblance", "sketch")),
        shingle=m.whole(5),
        threshold=m.rng.choice((None, 0.5)),
        max_distance=m.rng.choice((None, 3)),
        min_features=m.whole(0, 1, 9) % 2**32,
    )


def _judge(m: Maker) -> None:
    corpus = m.of("corpus")
    count = len(corpus)
    m.call(
        "judge_pairs",
        _core.judge_pairs,
        m.of("rule"),
        m.of("recipe"),
        m.rng.choice((None, m.of("background"))),
        m.texts(count),
        m.blobs(count, corpus.sketches()),
        np.full(count, m.whole(0, 3) % 2**32, np.uint32),
        m.numbers(np.uint32, below=count),
        m.numbers(np.uint32, below=count),
    )


def _filing(m: Maker, method: str) -> None:
    filing, corpus = m.of("filing"), m.of("corpus")
    given: tuple[Any, ...] = ()
    if method == "keys_of":
        given = (corpus, m.document(corpus))
    elif method == "lookup_keys":
        given = (corpus, m.of("rule"))
    m.call(f"KeyScheme.{method}", getattr(filing, method), *given)


def _near(m: Maker) -> None:
    bits = m.whole(16, 32, 64, 128, 256)
    rows = m.rows(bits)
    distance = m.whole(0, 3, 8)
    m.call(
        "near_pairs", _core.near_pairs, rows, bits=bits, max_distance=distance, workers=m.workers()
    )


def _fingerprints(m: Maker) -> None:
    index, bits = m.of("fingerprints")
    m.call("add", index.add, m.rows(bits))
    distance = m.whole(0, 3, 8)
    m.call("near", index.near, m.rows(bits), max_distance=distance, workers=m.workers())
    len(index)


def _aligner(m: Maker) -> None:
    aligner, paper = m.of("aligner"), m.of("paper")
    least = m.whole(1, 12)
    m.call("passages", aligner.passages, paper, m.texts(), least=least, workers=m.workers())
    m.call("spans", paper.spans)
    library = m.of("library")
    m.call("sources", library.sources, paper, least=m.whole(1, 3), limit=m.whole(1, 9))
    len(library)


def _function(name: str, *makers: Callable[[Maker], Any], **named: Callable[[Maker], Any]) -> Any:
    def call(m: Maker) -> None:
        given = [make(m) for make in makers]
        m.call(name, getattr(_core, name), *given, **{key: f(m) for key, f in named.items()})

    return call


def _bits(m: Maker) -> int:
    return m.whole(16, 64, 128)


_CORPUS = [name for name in dir(_core.Corpus) if not name.startswith("_") and name != "open"]

ENTRY_POINTS: dict[str, Callable[[Maker], Any]] = {
    **{
        f"Recipe.{name}": lambda m, name=name: _recipe(m, name)
        for name in ("normalize", "normalize_mapped", "units", "features", "sketch")
    },
    "Recipe": lambda m: m.keep("recipe", m.changed_recipe()),
    "Memory": lambda m: m.keep("memory", m.new_memory()),
    "ExternalJoin": lambda m: m.keep("join", m.new_join()),
    "Corpus": lambda m: m.keep("corpus", m.new_corpus()),
    "Corpus.open": _corpus_open,
    **{f"Corpus.{name}": lambda m, name=name: _corpus(m, name) for name in _CORPUS},
    "Rule": lambda m: m.keep("rule", m.new_rule()),
    "Clusterer": _matching_keeper,
    **{
        f"Clusterer.{name}": lambda m, name=name: _keeper(m, name)
        for name in ("similar", "decide", "new_entries", "counts", "skew")
    },
    "Clusterer.among": _keeper_among,
    "Clusterer.joined": _keeper_joined,
    "PairSearch": _pairs,
    "Background": _background,
    "Shuffle": _shuffle,
    "judge": _judge_one,
    "judge_pairs": _judge,
    **{
        f"KeyScheme.{name}": lambda m, name=name: _filing(m, name)
        for name in ("has_keys", "max_list_len", "keys_of", "lookup_keys")
    },
    "FetchedIndex": lambda m: m.keep("stored", m.new_stored()),
    "FetchedIndex.candidates": lambda m: m.call(
        "candidates", m.of("stored").candidates, m.of("corpus")
    ),
    "FingerprintIndex": _fingerprints,
    "near_pairs": _near,
    "Aligner": _aligner,
    "count_distinct": _function("count_distinct", lambda m: [m.texts(), m.texts()]),
    "merge_shingles": _function("merge_shingles", lambda m: [m.counted(), m.counted()]),
    "thin_shingles": _function("thin_shingles", Maker.counted, Maker.whole),
    "subtract_shingles": _function("subtract_shingles", Maker.counted, Maker.counted),
    "probe_shingles": _function("probe_shingles", Maker.counted),
    "level_of_probes": _function("level_of_probes", lambda m: m.numbers(np.uint64)),
    "plan": _function(
        "plan", Maker.whole, _bits, Maker.whole, look_ups=lambda m: m.rng.random() < 0.5
    ),
    "radius": _function("radius", Maker.real, _bits, Maker.real),
    "predicted_recall": _function("predicted_recall", Maker.real, _bits, Maker.whole),
    "banding": _function("banding", Maker.real, Maker.real, Maker.whole, Maker.whole),
    "s_curve": _function("s_curve", Maker.whole, Maker.whole, Maker.whole),
    "overlap": _function("overlap", Maker.text, Maker.text, shingle=Maker.whole),
    "content": _function(
        "content",
        Maker.text,
        Maker.text,
        shingle=Maker.whole,
        counted=lambda m: [m.text() for _ in range(3)],
        entries=lambda m: m.whole(10, 100),
    ),
    "guess_encoding": _function("guess_encoding", lambda m: m.blob(m.text().encode("gb18030"))),
    "edit_similarity": _function("edit_similarity", Maker.text, Maker.text),
}


def _make(rng: random.Random) -> int:
    return rng.getrandbits(64)


def _attempt(entry_points: list[str]) -> Callable[[int], None]:
    def attempt(seed: int) -> None:
        _NAMES.clear()
        sys.stderr.seek(0)
        sys.stderr.truncate()
        maker = Maker(seed)
        for _ in range(8):
            name = maker.rng.choice(entry_points)
            try:
                ENTRY_POINTS[name](maker)
            except EXPECTED as error:
                print(f"  {type(error).__name__}: {error}", file=sys.stderr)

    return attempt


def _group(name: str) -> list[str]:
    return [entry for entry in ENTRY_POINTS if entry.split(".")[0] in name.split()]


_GROUPS = {
    "core-numbers": "plan radius predicted_recall banding s_curve",
    "core-texts": "overlap content guess_encoding edit_similarity count_distinct Aligner",
    "core-recipe": "Recipe",
    "core-corpus": "Memory Corpus Join",
    "core-keeper": "Clusterer PairSearch Rule",
    "core-stored": "KeyScheme FetchedIndex Background Clusterer.among",
    "core-shuffle": "Shuffle judge judge_pairs",
    "core-shingles": (
        "merge_shingles thin_shingles subtract_shingles probe_shingles level_of_probes Background"
    ),
    "core-fingerprints": "FingerprintIndex near_pairs",
}

TARGETS = {
    name: Target(_make, _attempt(_group(names)), EXPECTED) for name, names in _GROUPS.items()
}
TARGETS["core-all"] = Target(_make, _attempt(list(ENTRY_POINTS)), EXPECTED)
