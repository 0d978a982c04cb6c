"""Calls of every entry point of `neardup._core` with wrong sizes, extreme numbers, damaged bytes,
and objects that do not belong together.

An input is a seed. The entry points are those of `_core.pyi`; an argument is made by its name or
type, or is what an earlier call returned, with damage now and then. Each call is written to the
standard error, so the last line names the one that broke. The private module may raise what Python
raises for wrong arguments, and its own errors; no panic, no abort and no call that does not return.
"""

import ast
import json
import random
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import neardup
from neardup import _core
from neardup.exceptions import NeardupError
from neardup.recipe import assets, load_recipe
from tests.faults.fuzz import Target
from tests.hostile_texts import LONG_BASES, TEXTS

EXPECTED = (NeardupError, TypeError, ValueError, OverflowError, RuntimeError)

SMALL = (0, 1, 2, 3, 5, 8, 20, 64)
WIDE = (31, 32, 33, 63, 64, 65, 127, 128, 129, 256, 1000, 1024, 1025, 4096, 65536)
HUGE = (2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -1)
REALS = (0.5, 0.3, 0.8, 0.99, 1.0, 0.0, -0.0, 1e-300, 1e-9, 1 - 1e-16, 1.5, -1.0, 1e308)
ODD_REALS = (float("nan"), float("inf"), float("-inf"))
RECIPES = ("shingle-sample", "shingle", "minhash", "characters", "news", "general", "improved")

#: Plausible values of numbers and words, by the parameter's name.
USUAL: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("a", "b", "begin", "document", "digest", "level", "first"), (0, 0, 1)),
    **dict.fromkeys(("texts", "sketches", "compared", "keys"), (0, 1, 1000, 1 << 20)),
    **dict.fromkeys(("bands", "rows", "least", "limit", "most", "highest", "points"), (1, 4, 20)),
    "bits": (64, 64, 16, 32, 128, 256),
    "buckets": (1, 2, 7),
    "end": (1, 9, 30),
    "num_perm": (16, 128),
    "documents": (0, 1, 9, 100),
    "entries": (100, 1000),
    "max_distance": (0, 1, 3, 8),
    "memory": (0, 1 << 20),
    "shingle": (1, 5),
    "workers": (1, 1, 2),
    "direction": ("contained", "either", "both"),
    "measure": ("resemblance", "content", "containment", "aligned", "sketch"),
    "scheme": ("near", "bands", "postings", "prefix"),
    "unit": ("sentence", "paragraph"),
}


class EntryPoint(NamedTuple):
    """A function, a class or a method, and its parameters: name, type, and whether by name."""

    owner: str | None
    name: str
    is_static: bool
    parameters: list[tuple[str, str, bool]]


_NOT_CALLED = ("__len__", "forbid_global_pool")


def _entry_points() -> dict[str, EntryPoint]:
    """Return what `_core.pyi` declares, by its name."""
    tree = ast.parse(Path(neardup.__file__).with_name("_core.pyi").read_text("utf-8"))
    result = {}
    for node in tree.body:
        owner = node.name if isinstance(node, ast.ClassDef) else None
        for member in node.body if isinstance(node, ast.ClassDef) else [node]:
            if not isinstance(member, ast.FunctionDef) or member.name in _NOT_CALLED:
                continue
            given = [(a, False) for a in member.args.args] + [
                (a, True) for a in member.args.kwonlyargs
            ]
            parameters = [
                (a.arg, ast.unparse(a.annotation), by_name) for a, by_name in given if a.annotation
            ]
            full = ".".join(filter(None, (owner, member.name.replace("__new__", ""))))
            result[full.rstrip(".")] = EntryPoint(
                owner, member.name, bool(member.decorator_list), parameters
            )
    return result


ENTRY_POINTS = _entry_points()
CLASSES = {point.owner for point in ENTRY_POINTS.values() if point.owner}


@cache
def _settings() -> list[str]:
    """Return the settings of recipes as the core takes them."""
    made: list[str] = []
    real = _core.Recipe

    def noting(settings: str, **named: Any) -> Any:
        made.append(settings)
        return real(settings, **named)

    _core.Recipe = noting  # type: ignore[misc, assignment]
    try:
        for name in RECIPES:
            assets._compiled.__wrapped__(load_recipe(name), ())
    finally:
        _core.Recipe = real  # type: ignore[misc]
    return made


class Maker:
    """Makes arguments and objects, and calls what is asked for."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        #: Objects, bytes and arrays that calls returned, by class or type.
        self.made: dict[str, list[Any]] = {}
        #: How often each entry point returned.
        self.returned: dict[str, int] = {}
        #: Nearly all arguments are plausible in some inputs, and few in others.
        self._odd = self.rng.choice((0.02, 0.1, 0.4))

    def is_odd(self) -> bool:
        return self.rng.random() < self._odd

    def call(self, full: str, **usual: Any) -> Any:
        """Call an entry point after writing down what is called."""
        point = ENTRY_POINTS[full]
        function: Any = _core
        if point.owner and not (point.is_static or point.name == "__new__"):
            function = usual.pop("on", None) or self.of(point.owner)
        elif point.owner:
            function = getattr(_core, point.owner)
        if point.name != "__new__":
            function = getattr(function, point.name)
        arguments: dict[str, Any] = {}
        for name, kind, _ in point.parameters:
            arguments[name] = usual[name] if name in usual else self.argument(name, kind)
        if not self.is_odd():
            _fit(arguments)
        shown = (f"{name}={' '.join(repr(item).split())[:300]}" for name, item in arguments.items())
        print(f"{full}({', '.join(shown)})", file=sys.stderr)
        plain = [arguments.pop(name) for name, _, by_name in point.parameters if not by_name]
        result = function(*plain, **arguments)
        self.returned[full] = self.returned.get(full, 0) + 1
        self.keep(result)
        return result

    def keep(self, result: Any) -> None:
        """Keep what was returned, as an argument of later calls."""
        for item in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(item, (np.ndarray, bytes)) or type(item).__name__ in CLASSES:
                kind = item.dtype.name if isinstance(item, np.ndarray) else type(item).__name__
                self.made.setdefault(kind, []).append(item)
        if isinstance(result, list) and result and isinstance(result[0], bytes):
            self.made.setdefault("blobs", []).append(result)

    def of(self, owner: str) -> Any:
        """Return an object that was made before, or a new one."""
        known = self.made.get(owner, [])
        # Mostly the first one, so that many belong together.
        if known and self.rng.random() < 0.9:
            return known[0] if self.rng.random() < 0.7 else self.rng.choice(known)
        if owner == "Recipe" and not self.is_odd():
            recipe = assets.compiled(load_recipe(self.rng.choice(RECIPES)))
            self.keep(recipe)
            return recipe
        if owner == "Paper":
            return self.call("Aligner.paper")
        made = self.call(owner)
        if owner == "Corpus":
            for _ in range(self.rng.choice((1, 1, 2))):
                self.call("Corpus.push", on=made)
            if not self.is_odd():
                self.call("Corpus.finish", on=made)
        elif owner == "ExternalJoin":
            while not self.is_odd() and self.call("ExternalJoin.advance", on=made):
                pass
        return made

    def argument(self, name: str, kind: str) -> Any:
        """Return an argument for a parameter, by its name or its type."""
        if kind.endswith(" | None"):
            if self.rng.random() < 0.5:
                return None
            kind = kind.removesuffix(" | None")
        if kind in CLASSES:
            return self.of(kind)
        if name == "folder":
            return "nowhere/at/all" if self.is_odd() else tempfile.mkdtemp(dir=".")
        by_type: dict[str, Callable[[str], Any]] = {
            "int": self.whole,
            "float": lambda _: self.real(),
            "bool": lambda _: self.rng.random() < 0.5,
            "str": self.text,
            "bytes": self.blob,
            "Any": lambda _: self.column(name),
            "list[str]": lambda _: [self.text() for _ in range(self.rng.choice((0, 3)))],
            "Sequence[str]": lambda _: [self.rng.choice(("text", "id", self.text()))],
            "Sequence[bytes]": self.blobs,
            "Sequence[Any]": lambda _: [self.column(name), self.column(name)],
            "Sequence[int]": lambda _: self.numbers("uint32").tolist(),
            "Sequence[tuple[int, int]]": lambda _: [
                (self.whole(), self.whole()) for _ in range(self.rng.choice((0, 1, 3)))
            ],
            "tuple[int, list[str], list[int]]": lambda _: (5, [self.text()], [self.whole()]),
        }
        if kind in by_type:
            return by_type[kind](name)
        if kind.startswith("Sequence[tuple["):
            types = ("uint64", "uint32", "uint32")
            return [tuple(self.numbers(type) for type in types)]
        return self.numbers(kind.partition("np.")[2].rstrip("]_"), name)

    def whole(self, name: str = "") -> int:
        if self.is_odd():
            return self.rng.choice(SMALL + WIDE + HUGE)
        return self.rng.choice(USUAL.get(name, SMALL))

    def real(self) -> float:
        return self.rng.choice(REALS + ODD_REALS) if self.is_odd() else self.rng.choice(REALS[:4])

    def text(self, name: str = "") -> str:
        if name == "settings":
            return self.changed_settings()
        if name in USUAL and not self.is_odd():
            return str(self.rng.choice(USUAL[name]))
        chosen = self.rng.choice((*TEXTS.values(), *LONG_BASES))
        if self.is_odd():
            chosen *= self.rng.choice((0, 3, 50))
        if self.rng.random() < 0.3:
            number = self.rng.randrange(len(chosen) + 1)
            chosen = (
                chosen[:number] + self.rng.choice(("新", "x", "\0", "\x1e", "/")) + chosen[number:]
            )
        return chosen

    def changed_settings(self) -> str:
        settings = json.loads(self.rng.choice(_settings()))
        while self.is_odd():
            stage = self.rng.choice(list(settings.values()))
            field = self.rng.choice(list(stage) or ["none"])
            values = (None, "", "x", [], {}, True, self.whole(), self.real())
            stage[field] = self.rng.choice(values)
        return json.dumps(settings)

    def blob(self, name: str = "", like: bytes | None = None) -> bytes:
        """Return bytes that a call returned, or lines, with damage now and then."""
        if name in ("block", "record"):
            like = self.lines()
        elif like is None and self.made.get("bytes"):
            like = self.rng.choice(self.made["bytes"])
        if like is None and name in ("samples", "bytes"):
            corpus = self.of("Corpus")
            numbers = np.arange(len(corpus), dtype=np.int64)
            like = corpus.samples(0, numbers) if name == "samples" else None
            like = like or _core.Background(corpus).to_bytes()
        if like is None:
            like = self.text().encode("gb18030", "replace")
        raw = bytearray(like)
        if self.is_odd():
            raw = bytearray(self.rng.randbytes(self.rng.choice((0, 1, 3, 4, 16, 20, 24, 200))))
        elif raw and self.is_odd():
            number = self.rng.randrange(min(len(raw), 40 if self.rng.random() < 0.5 else len(raw)))
            raw[number] = self.rng.choice((0, 1, 0x7F, 0x80, 0xFF, self.rng.randrange(256)))
            if self.rng.random() < 0.3:
                del raw[self.rng.randrange(len(raw)) :]
        return bytes(raw)

    def blobs(self, name: str) -> list[bytes]:
        known = self.made.get("blobs", [])
        if name in ("sketches", "identities") or not known:
            corpus = self.of("Corpus")
            known = [corpus.identities() if name == "identities" else corpus.sketches()]
        like = self.rng.choice(known)
        return [self.blob(like=item) for item in (like[1:] if self.is_odd() else like)]

    def lines(self) -> bytes:
        values: list[Any] = [self.text(), self.whole(), None, True, [self.text()], {"a": 0.5}]
        record = {name: self.rng.choice(values) for name in ("text", "id", "title", "n")}
        whole = json.dumps(record).encode()
        damaged = whole[: self.rng.randrange(len(whole))]
        return b"\n".join(self.rng.choice((whole, damaged, b"", b"\xff", b"[[")) for _ in range(4))

    def column(self, name: str) -> Any:
        """Return an Arrow array: a column of a corpus, or texts."""
        columns = ("identities", "features", "sketches")
        if name in columns and not self.is_odd():
            return pa.array(self.of("Corpus").rows(0, 30)[columns.index(name)])
        if name == "texts" and self.made.get("Corpus") and self.rng.random() < 0.5:
            return pa.array(self.of("Corpus").texts(0, 30))
        if name in ("titles", "units") and self.rng.random() < 0.6:
            return None
        count = self.rng.choice((0, 1, 2, 5, 30))
        made = [None if self.is_odd() else self.text() for _ in range(count)]
        if not self.is_odd():
            return pa.array(made, self.rng.choice((pa.string(), pa.large_string())))
        if self.rng.random() < 0.25:
            return pa.array(range(count), pa.int64())
        of_strings = pa.dictionary(pa.int32(), pa.string())
        kind = self.rng.choice((pa.string_view(), pa.null(), of_strings))
        return pa.array([None] * count if kind == pa.null() else made, kind)

    def numbers(self, kind: str, name: str = "") -> Any:
        """Return an array of numbers: of an earlier call, of all documents, or some."""
        known = self.made.get(kind, [])
        if known and self.rng.random() < 0.4:
            return self.rng.choice(known)
        if kind == "bool":
            return np.array(self.rng.choices((True, False), k=3))
        if name in ("order", "documents", "a", "b") and not self.is_odd():
            return np.arange(len(self.of("Corpus")), dtype=kind)
        most = int(np.iinfo(kind).max)
        size = self.rng.choice((0, 1, 3, 40))
        chosen = [most - 1 if self.is_odd() else self.rng.randrange(12) for _ in range(size)]
        made = np.array(chosen, kind)
        if name in ("rows", "queries") and kind == "uint64":
            words = self.rng.choice((1, 1, 1, 2, 4))
            made = made.repeat(words).reshape(size, words)
        return made[::-1] if self.is_odd() else made


def _fit(arguments: dict[str, Any]) -> None:
    """Make all lists and arrays as long as the first one."""
    size = None
    for name, value in arguments.items():
        if isinstance(value, (list, np.ndarray, pa.Array)) and name not in ("counts", "lists"):
            if size is None:
                size = len(value)
            elif isinstance(value, np.ndarray):
                arguments[name] = np.resize(value, (size, *value.shape[1:]))
            elif len(value):
                places = [number % len(value) for number in range(size)]
                is_list = isinstance(value, list)
                arguments[name] = (
                    [value[number] for number in places] if is_list else value.take(places)
                )


def _lists(m: Maker) -> None:
    """Decide documents beside stored ones, as an index does."""
    corpus, scheme = m.of("Corpus"), m.of("KeyScheme")
    stored = min(len(corpus), m.whole())
    offsets = [0] * (len(corpus) - stored + 1)
    lists = m.call("FetchedIndex.listed", scheme=scheme, offsets=offsets, numbers=[])
    m.call("FetchedIndex.candidates", on=lists, corpus=corpus)
    m.call("Clusterer.of_stored", corpus=corpus, stored=lists, numbers=list(range(1, stored + 1)))


def _shuffle(m: Maker) -> None:
    """One round of the shuffle, with damage at any step."""
    shuffle, corpus = m.of("Shuffle"), m.of("Corpus")
    sketches = [m.blob(like=sketch) for sketch in corpus.sketches()]
    given: dict[str, Any] = {"on": shuffle, "sketches": sketches}
    given["numbers"] = np.arange(len(sketches), dtype=np.int64)
    keys = m.call("Shuffle.keys", on=shuffle, sketches=sketches, highest=len(sketches))
    counts = [m.call("Shuffle.count", on=shuffle, blobs=[m.blob(like=key)]) for key in keys]
    given["counts"] = [m.blob(like=count[0] if count else b"") for count in counts]
    flags = np.ones(len(sketches), bool)
    filed = m.call("Shuffle.file", is_filed=flags, **given)
    pairs = list(zip(filed, keys, strict=False))
    result = [m.call("Shuffle.lists", on=shuffle, filed=[a], asked=[b])[0] for a, b in pairs]
    lists = [m.blob(like=blobs[0] if blobs else b"") for blobs in result]
    m.call("Shuffle.candidates", is_asked=flags, lists=lists, **given)


def _join(m: Maker) -> None:
    """Decide documents whose keys were joined in files."""
    given = {"corpus": m.of("Corpus"), "rule": m.of("Rule")}
    order = np.arange(len(given["corpus"]), dtype=np.uint32)
    join = m.call("ExternalJoin", order=order, **given)
    while m.call("ExternalJoin.advance", on=join, corpus=given["corpus"]):
        pass
    joined = m.call("Clusterer.joined", join=join, order=order, **given)
    m.call("Clusterer.decide", on=joined, corpus=given["corpus"], documents=order)


#: Calls that mean something one after the other only.
ROUNDS = {"Shuffle": _shuffle, "FetchedIndex": _lists, "ExternalJoin": _join}


def attempt(seed: int, names: list[str]) -> dict[str, int]:
    """Call some of the entry points; return how often each one returned."""
    sys.stderr.seek(0)
    sys.stderr.truncate()
    maker = Maker(seed)
    for _ in range(12):
        name = maker.rng.choice(names)
        try:
            if name in ROUNDS and maker.rng.random() < 0.5:
                ROUNDS[name](maker)
            else:
                maker.call(name)
        except EXPECTED as error:
            print(f"  {type(error).__name__}: {error}", file=sys.stderr)
    return maker.returned


GROUPS = {
    "core-functions": [None],
    "core-corpus": ["Recipe", "Memory", "Corpus", "ExternalJoin"],
    "core-search": ["Rule", "Clusterer", "PairSearch", "Fingerprints"],
    "core-stored": ["KeyScheme", "FetchedIndex", "Background", "Shuffle"],
    "core-texts": ["Aligner", "Paper", "Library", "Items", "Repeats", "JsonFields"],
    "core-all": [None, *CLASSES],
}


def _attempts(owners: list[str | None]) -> Callable[[int], object]:
    names = sorted(full for full, point in ENTRY_POINTS.items() if point.owner in owners)
    return lambda seed: attempt(seed, names)


TARGETS = {
    name: Target(lambda rng: rng.getrandbits(64), _attempts(owners), EXPECTED)
    for name, owners in GROUPS.items()
}
