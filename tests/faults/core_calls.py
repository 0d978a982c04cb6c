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
from tests.faults.core_arguments import EXPECTED, NAMES, Maker
from tests.faults.fuzz import Target

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
    elif method == "rows":
        given = (m.document(corpus), m.whole(0, 1, 9))
    elif method == "attach":
        given = _columns(m, m.of("corpus"))
    elif method == "adopt":
        other = m.of("corpus")
        columns = _columns(m, other)
        odd = m.texts(len(columns[0]))
        given = (*columns, odd if m.is_odd() else other.texts(0, len(columns[0])))
    elif method == "merge_counts":
        given = (m.counted(),)
    elif method == "texts":
        given = (m.document(corpus), m.whole(0, 1, 9))
    elif method == "restore":
        other = m.of("corpus")
        texts = m.texts(len(other))
        sketches = m.blobs(len(other), other.sketches())
        features = [m.whole(0, 1, 9) for _ in sketches]
        given = (texts, m.blobs(len(other), other.identities()), features, sketches)
    m.call(f"Corpus.{method}", getattr(corpus, method), *given)


def _columns(m: Maker, corpus: Any) -> tuple[Any, ...]:
    """Columns of a corpus as `attach` takes them, or others."""
    columns = [pa.array(one) for one in m.call("rows", corpus.rows, 0, m.whole(0, 9, 99))]
    if m.is_odd():
        m.rng.shuffle(columns)
    if m.is_odd():
        columns[0] = columns[0][: m.whole(0, 1)]
    if m.is_odd():
        columns[2] = pa.array(m.blobs(len(columns[2]), [b""]), pa.large_binary())
    return tuple(columns)


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
    columns = _columns(m, corpus)
    opened = m.call(
        "Corpus.open",
        _core.Corpus.open,
        other,
        workers=1,
        memory=memory,
        documents=m.whole(0, 1) if m.is_odd() else len(corpus),
        has_counted=not m.is_odd(),
        digest=m.rng.choice((None, 7)),
    )
    m.call("attach", opened.attach, *columns)
    m.call("finish", opened.finish)
    m.keep("corpus", opened)


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


def _clusterer(m: Maker, method: str) -> None:
    clusterer = m.of("clusterer")
    corpus = m.of("corpus")
    if method == "similar":
        m.call("Clusterer.similar", clusterer.similar, corpus, m.document(corpus))
    elif method == "decide":
        m.call("Clusterer.decide", clusterer.decide, corpus, m.order(corpus))
    else:
        m.call(f"Clusterer.{method}", getattr(clusterer, method))


def _matching_clusterer(m: Maker) -> None:
    """Decide a corpus by a clusterer that was made for it, and then by another corpus."""
    corpus, rule = m.of("corpus"), m.of("rule")
    clusterer = m.keep("clusterer", m.call("Clusterer", _core.Clusterer, corpus, rule))
    m.call("decide", clusterer.decide, corpus, m.order(corpus))
    other = m.of("corpus")
    m.call("decide", clusterer.decide, other, m.order(other))
    m.call("similar", clusterer.similar, other, m.document(other))


def _clusterer_among(m: Maker) -> None:
    corpus, rule = m.of("corpus"), m.of("rule")
    numbers = [m.whole(1, 2, 5, 2**63) for _ in range(m.rng.choice((0, 1, 3, len(corpus))))]
    clusterer = m.call(
        "Clusterer.among", _core.Clusterer.among, corpus, rule, m.of("stored"), numbers
    )
    m.keep("clusterer", clusterer)
    batch = np.arange(max(0, len(corpus) - len(numbers)), dtype=np.uint32)
    m.call("decide", clusterer.decide, corpus, m.order(corpus) if m.is_odd() else batch)
    m.call("new_entries", clusterer.new_entries)
    m.call("similar", clusterer.similar, corpus, m.document(corpus))


def _clusterer_joined(m: Maker) -> None:
    corpus, rule = m.of("corpus"), m.of("rule")
    given = (corpus, rule, m.of("join"), m.order(corpus))
    clusterer = m.keep("clusterer", m.call("Clusterer.joined", _core.Clusterer.joined, *given))
    m.call("decide", clusterer.decide, corpus, m.order(corpus))


def _pairs(m: Maker) -> None:
    corpus = m.of("corpus")
    search = m.call("PairSearch", _core.PairSearch, corpus, m.of("rule"))
    for _ in range(50):
        other = m.of("corpus") if m.is_odd() else corpus
        m.call("statistics", search.statistics)
        if m.call("next_piece", search.next_piece, other) is None:
            break


def _lines(m: Maker) -> bytes:
    """Return lines, some of which are JSON."""
    values: list[Any] = [m.text(), m.whole(), None, True, [m.text()], {"a": m.real()}]
    record = {name: m.rng.choice(values) for name in ("text", "id", "title", "n")}
    whole = json.dumps(record).encode()
    damaged = whole[: m.rng.randrange(len(whole))]
    return b"\n".join(m.rng.choice((whole, damaged, b"", b"\xff", b"[[")) for _ in range(4))


def _json_fields(m: Maker) -> None:
    made = m.call(
        "JsonFields",
        _core.JsonFields,
        ["text", m.text()],
        m.rng.choice(("id", m.text())),
        requires_id=m.is_odd(),
        title=m.rng.choice((None, "title", m.text())),
        extra=["n", m.text()],
    )
    m.call("columns", made.columns, _lines(m), m.text(), m.rng.choice((0, 1, 2**62)))


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
        measure=m.rng.choice(("content", "resemblance", "containment", "aligned", "sketch")),
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


def _key_scheme(m: Maker, method: str) -> None:
    key_scheme, corpus = m.of("key_scheme"), m.of("corpus")
    given: tuple[Any, ...] = ()
    if method == "keys_of":
        given = (corpus, m.document(corpus))
    elif method == "lookup_keys":
        given = (corpus, m.of("rule"))
    m.call(f"KeyScheme.{method}", getattr(key_scheme, method), *given)


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
    begin, most = m.whole(0, 1 << 31, (1 << 32) - 1, 1 << 32), m.whole(0, 1, 100)
    m.call("merged", library.merged, begin, most=most, workers=m.workers())


def _items(m: Maker) -> None:
    items = m.of("items")
    m.call("are_decidable", items.are_decidable)
    cover = m.rng.choice((0.0, 0.8, 1.0, m.real()))
    for _ in range(m.rng.choice((0, 1, 2))):
        m.call("find", items.find, m.texts(), least_cover=cover, workers=m.workers())
    m.call("covers", items.covers, m.whole(0, 1, 2, 100))


def _repeats(m: Maker) -> None:
    repeats = m.of("repeats")
    for _ in range(m.rng.choice((0, 1, 2))):
        m.call("push", repeats.push, m.texts())
    m.call("finish", repeats.finish, m.whole(0, 1, 2))
    for _ in range(m.rng.choice((1, 2))):
        m.call("before", repeats.before, m.whole(0, 1, 2, 100))


def _cuts(m: Maker) -> None:
    units = [
        (m.whole(0, 1, 5), m.whole(0, 2, 9, 2**32 - 1)) for _ in range(m.rng.choice((0, 1, 3)))
    ]
    m.call("cuts", _core.cuts, m.text(), units)


def _replaced_text(m: Maker) -> None:
    names = [m.rng.choice(("text", "id", m.text())) for _ in range(m.rng.choice((0, 1, 2)))]
    spans = [
        (m.whole(0, 1, 5), m.whole(0, 2, 9, 2**32 - 1)) for _ in range(m.rng.choice((0, 1, 3)))
    ]
    for line in _lines(m).splitlines():
        m.call("replaced_text", _core.replaced_text, line, names, spans, m.text())


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
    "Rule.max_list_len": lambda m: m.call(
        "max_list_len", m.of("rule").max_list_len, among_all=m.rng.random() < 0.5
    ),
    "Clusterer": _matching_clusterer,
    **{
        f"Clusterer.{name}": lambda m, name=name: _clusterer(m, name)
        for name in ("similar", "decide", "new_entries", "statistics")
    },
    "Clusterer.among": _clusterer_among,
    "Clusterer.joined": _clusterer_joined,
    "PairSearch": _pairs,
    "Background": _background,
    "Shuffle": _shuffle,
    "judge": _judge_one,
    "judge_pairs": _judge,
    **{
        f"KeyScheme.{name}": lambda m, name=name: _key_scheme(m, name)
        for name in ("has_keys", "max_list_len", "keys_of", "lookup_keys")
    },
    "FetchedIndex": lambda m: m.keep("stored", m.new_stored()),
    "FetchedIndex.candidates": lambda m: m.call(
        "candidates", m.of("stored").candidates, m.of("corpus")
    ),
    "FingerprintIndex": _fingerprints,
    "near_pairs": _near,
    "Aligner": _aligner,
    "Items": _items,
    "Repeats": _repeats,
    "cuts": _cuts,
    "JsonFields": _json_fields,
    "replaced_text": _replaced_text,
    "count_records": _function("count_records", _lines),
    "kept_records": _function(
        "kept_records", _lines, lambda m: np.array(m.rng.choices((True, False), k=3))
    ),
    "rows_of": _function(
        "rows_of",
        lambda m: [m.texts(), m.texts()],
        lambda m: m.numbers(np.int64),
    ),
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
        NAMES.clear()
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
    "core-texts": "overlap content guess_encoding edit_similarity count_distinct rows_of "
    "Aligner Items Repeats cuts",
    "core-lines": "JsonFields count_records kept_records replaced_text",
    "core-recipe": "Recipe",
    "core-corpus": "Memory Corpus Join",
    "core-clusterer": "Clusterer PairSearch Rule",
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
