"""The collections that the defaults are measured on, and their pairs.

The collections are beside the repository and not part of it.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import pyarrow as pa

import corpus
import neardup
from corpus import NEEDS, SHARED
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


class MissingError(Exception):
    """A file of the reference data is missing."""


def path_of(name):
    """Return the path of a file of the reference data."""
    path = SHARED / name
    if not path.exists():
        raise MissingError(f"{path.name}: {NEEDS}.")
    return path


def read(name):
    """Return the records of a file of JSON lines."""
    return list(corpus.records(path_of(name)))


def rows(name):
    """Return the rows of a file of tab-separated values with a heading."""
    heading, *lines = path_of(name).read_text("utf-8").splitlines()
    names = heading.split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines if line]


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
