"""The collections that the defaults are measured on, their pairs, and what a person read of them.

A sample is the pairs whose ids have the smallest digests. So it is the same on every machine. If
a measure changes a little, most of the pairs in the sample stay. Readings contain ids,
similarities and classes, but no text.
"""

import csv
import difflib
import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import pyarrow as pa

import neardup
from corpora import read
from neardup import _core
from neardup.recipe.assets import compiled

WORKERS = 2

#: Length of a shingle in all measures here, in characters.
SHINGLE = 5

#: By name of a collection: its file, and whether its texts are HTML.
NAMES = {
    "chinanews": ("chinanews.jsonl.zst", False),
    "bulletins": ("bulletins.jsonl.zst", True),
    "laws": ("laws.jsonl.zst", False),
    "reuters": ("reuters_en.jsonl.zst", False),
}

FOLDER = Path(__file__).resolve().parent / "readings"
SEED = 20200402

AGAIN, EVENT, OTHER = "same text again", "same event", "other event"
CLASSES = (AGAIN, EVENT, OTHER)
#: The page shows this in place of a missing class.
UNREAD = "**not read**"

#: Characters shown of the equal text around a difference, and of the difference itself.
_CONTEXT, _DIFFERENCE = 12, 26
#: The maximum number of characters of a difference line.
_LINE = 420


@dataclass(frozen=True)
class Collection:
    """The documents of one collection, in file order."""

    name: str
    documents: tuple
    is_markup: bool

    @cached_property
    def of_id(self):
        """Each document by its id."""
        return {document["id"]: document for document in self.documents}

    @cached_property
    def place_of(self):
        """The place of each document by its id."""
        return {document["id"]: place for place, document in enumerate(self.documents)}

    @cached_property
    def table(self):
        """The documents as `neardup` takes them."""
        columns = ("id", "title", "text")
        return pa.table({key: [d.get(key) for d in self.documents] for key in columns})

    def recipe(self, recipe="general", **stages):
        """Return a recipe, adapted to this collection."""
        chosen = neardup.load_recipe(recipe)
        if self.is_markup:
            chosen = chosen.replace(normalize={"strip_markup": True})
        return chosen.replace(**stages)

    @cached_property
    def _found(self):
        return {}

    def pairs(self, recipe="general", threshold=None, **stages):
        """Return the duplicates by a recipe: similarity by (id, id)."""
        key = (recipe, threshold, repr(sorted(stages.items())))
        if key not in self._found:
            found = neardup.pairs(
                self.table,
                recipe=self.recipe(recipe, **stages),
                threshold=threshold,
                workers=WORKERS,
            ).table
            both = zip(found["id_a"].to_pylist(), found["id_b"].to_pylist(), strict=True)
            self._found[key] = dict(zip(both, found["similarity"].to_pylist(), strict=True))
        return self._found[key]

    @cached_property
    def corpus(self):
        """The collection in the core, which computes every measure of any pair."""
        core = compiled(self.recipe())
        found = _core.Corpus(core, keeps_texts=True, shingle=SHINGLE, workers=WORKERS)
        texts = self.table["text"].combine_chunks().cast("large_string")
        found.push(texts, titles=None, units=None)
        found.finish()
        return found

    def evidence(self, pair):
        """Return the evidence for the verdict on a pair of ids."""
        a, b = (self.place_of[id] for id in pair)
        return _core.judge(self.corpus, a, b, measure="content", shingle=SHINGLE)

    def resemblance(self, pair):
        """Return the resemblance of a pair of ids."""
        return self.evidence(pair)["resemblance"]

    def normalized(self, id):
        """Return the text that the default recipe compares."""
        return compiled(self.recipe()).normalize(self.of_id[id]["text"])


@lru_cache
def collection(name):
    """Return a collection by name."""
    file, is_markup = NAMES[name]
    return Collection(name, tuple(read(file)), is_markup)


@dataclass(frozen=True)
class Stratum:
    """Some pairs of a collection; a sample of them is read."""

    collection: str
    name: str
    #: A description for readers.
    title: str
    #: The size of the sample.
    size: int

    @cached_property
    def pairs(self):
        """All pairs, as (id, id)."""
        return sorted(_CHOOSE[self.collection, self.name](collection(self.collection)))

    @cached_property
    def sample(self):
        """The pairs that are to be read."""
        return sorted(self.pairs, key=_digest)[: self.size]

    @cached_property
    def classes(self):
        """The class of each pair of the sample; None if nobody has read it."""
        read = readings(self.collection)
        return [read.get((self.name, *pair)) for pair in self.sample]

    @property
    def unread(self):
        """The pairs of the sample that nobody has read yet."""
        both = zip(self.sample, self.classes, strict=True)
        return [pair for pair, its_class in both if its_class is None]

    @property
    def counts(self):
        """The number of pairs of the sample in each class."""
        return Counter(its_class for its_class in self.classes if its_class is not None)


def _digest(pair):
    return hashlib.blake2b("\n".join([str(SEED), *pair]).encode(), digest_size=8).digest()


def by_content(c):
    """Return the pairs that the default recipe reports."""
    return c.pairs()


def by_resemblance(c):
    """Return the pairs that the recipe `shingle` reports."""
    return c.pairs("shingle")


def just_below(c):
    """Return the pairs that the default just does not call duplicates: .35 <= content < .45."""
    return c.pairs("general", 0.35).keys() - by_content(c).keys()


def of_different_days(c, pairs):
    """Return the pairs whose two documents have different dates."""
    return [(a, b) for a, b in pairs if c.of_id[a]["date"] != c.of_id[b]["date"]]


_CHOOSE = {
    ("bulletins", "reported"): lambda c: of_different_days(c, by_content(c)),
    ("bulletins", "rejected"): lambda c: of_different_days(
        c, by_resemblance(c).keys() - by_content(c).keys()
    ),
    ("reuters", "reported"): by_content,
    ("reuters", "rejected"): lambda c: by_resemblance(c).keys() - by_content(c).keys(),
    ("reuters", "near"): just_below,
    ("chinanews", "near"): just_below,
    ("chinanews", "both"): lambda c: by_content(c).keys() & by_resemblance(c).keys(),
    ("chinanews", "gained"): lambda c: by_content(c).keys() - by_resemblance(c).keys(),
    ("chinanews", "rejected"): lambda c: by_resemblance(c).keys() - by_content(c).keys(),
}

_REJECTED = "resemblance >= .55, and content says no"
_NEAR = "not reported, content from .35"
STRATA = (
    Stratum("bulletins", "reported", "reported by content, of different days", 50),
    Stratum("bulletins", "rejected", f"{_REJECTED}, of different days", 20),
    Stratum("reuters", "reported", "reported by content", 50),
    Stratum("reuters", "rejected", _REJECTED, 30),
    Stratum("chinanews", "both", "reported by content, resemblance at least .55", 20),
    Stratum("chinanews", "gained", "reported by content, resemblance below .55", 20),
    Stratum("chinanews", "rejected", _REJECTED, 30),
    Stratum("reuters", "near", _NEAR, 50),
    Stratum("chinanews", "near", _NEAR, 50),
)


def stratum(of, name):
    """Return the stratum of a collection with this name."""
    return next(s for s in STRATA if (s.collection, s.name) == (of, name))


def readings(name, classes=CLASSES):
    """Return the readings of a collection: class by (stratum, id, id)."""
    lines = classified(FOLDER / f"{name}.tsv", classes)
    return {(line["stratum"], line["id_a"], line["id_b"]): line["class"] for line in lines}


def classified(path, classes):
    """Return the lines of a file of readings; empty if it is missing.

    Raise a ValueError if a line has an unknown class.
    """
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    for at, line in enumerate(lines, 2):
        if line["class"] not in classes:
            raise ValueError(f"{path.name}: line {at}: unknown class {line['class']!r}.")
    return lines


def show():
    """Print the unread pairs, each as a line to be classified."""
    for s in STRATA:
        if s.unread:
            print(f"## {s.collection}: {s.title}: {len(s.unread)} of {len(s.sample)} to read")
            for pair in s.unread:
                print(line_of(s, pair))


def line_of(s, pair):
    """Return a pair as a line of the readings, with its class left open.

    A second line shows the difference.
    """
    c = collection(s.collection)
    found = c.evidence(pair)
    measures = f"{found['similarity']:.2f}\t{found['resemblance']:.2f}"
    return (
        f"{s.name}\t{pair[0]}\t{pair[1]}\t{measures}\t?\n    {difference(*map(c.normalized, pair))}"
    )


def difference(a, b):
    """Return the difference of two texts as one line.

    Equal text is shown as it is, other text as [-only in a+only in b].
    """
    steps = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    parts = [
        _short(a[i:j], 2 * _CONTEXT)
        if kind == "equal"
        else f"[-{_short(a[i:j], _DIFFERENCE)}+{_short(b[u:v], _DIFFERENCE)}]"
        for kind, i, j, u, v in steps
    ]
    return "".join(parts).replace("\n", " ")[:_LINE]


def _short(text, most):
    if len(text) <= most + 2:
        return text
    half = most // 2
    return f"{text[:half]}…{text[-half:]}"
