"""A collection that grows from 10^4 to 10^7 short documents, and what is true of it.

Real text beside the repository ends at some 10^5 short documents. Beyond that
it is grown: a document is a row of clauses of 5 to 16 characters, drawn at random
from all corpora, until it has 80 characters. What stands inside a clause recurs
as the collection grows, what stands where two clauses meet is new, so half of a
document's shingles are rare at any size, as in real collections. Every tenth
document is a copy of an earlier one, in one of the five ways of `EDITS`. The
beginning of a larger collection is the smaller one.

The truth is all pairs with a resemblance of 5-shingles of at least `THRESHOLD`,
each measured on the texts:

- within a family, a text and its copies, every pair is compared;
- no 5-shingle stands inside two clauses of the pool, so two texts of different
  families share the insides of clauses they have in common and what they share
  where clauses meet. To reach .8 they need both, so two clauses in a row in
  common: all families whose originals have them are compared.

`bench_growth.py` holds this against the exact join of `truth.py` where that is
possible.
"""

import itertools
import re

import numpy as np

import corpus
import truth

THRESHOLD = 0.8
COPIES = 0.1
CHARACTERS = 80
SHORTEST, LONGEST = 5, 16
#: A document of the shortest clauses has so many.
MOST = CHARACTERS // SHORTEST
BLOCK = 10_000
CLAUSE = re.compile(r"[^,。!?;:、]*[,。!?;:、]?")
EDITS = ("as it is", "characters replaced", "a clause replaced", "clauses added", "clauses cut off")
CHANCES = (0.2, 0.25, 0.25, 0.15, 0.15)


def made(documents):
    """Return the path of so many documents, made first if they are not there."""
    if not corpus.NEWS.exists():
        return None
    path = corpus.WORK / f"growth_{documents}.jsonl"
    if not (path.exists() and truth_path(path).exists()):
        corpus.WORK.mkdir(exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        collection = Collection(pool())
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            for lines in collection.blocks(documents):
                file.writelines(lines)
        collection.compare_families()
        np.save(truth_path(path), np.array(sorted(collection.pairs)).reshape(-1, 3))
        unfinished.replace(path)
    return path


def truth_path(path):
    """Return where the pairs of a collection lie: (earlier, later, resemblance)."""
    return path.with_name(f"{path.stem}_truth.npy")


def pool():
    """Return the clauses of all corpora of which no two share a 5-shingle."""
    seen, clauses = set(), []
    for text in corpus.documents_of(*corpus.CHINESE):
        for clause in CLAUSE.findall(text):
            if not SHORTEST <= len(clause) <= LONGEST or '"' in clause or "\\" in clause:
                continue
            inside = shingles(clause)
            if inside.isdisjoint(seen):
                seen |= inside
                clauses.append(clause)
    return clauses


def shingles(text):
    """Return the distinct shingles of five characters."""
    return {text[i : i + 5] for i in range(len(text) - 4)}


def resemblance(a, b):
    """Return what two sets share of what they have."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


class Collection:
    """Documents in the order of the file, and the similar pairs among them."""

    def __init__(self, clauses):
        """Begin with the clauses to draw from."""
        self.clauses = clauses
        self.lengths = np.array([len(clause) for clause in clauses])
        #: Clauses of each original, one block a list: numbers, and where each document begins.
        self.rows, self.begins = [], []
        #: Original of each copy; its copies with their texts, by original.
        self.original_of, self.copies = {}, {}
        self.pairs = []

    def blocks(self, documents):
        """Yield the lines of one block of documents after the other."""
        for first in range(0, documents, BLOCK):
            # A generator for each block: the smaller collection is the beginning of the larger.
            rng = np.random.default_rng((corpus.SEED, first // BLOCK))
            count = min(BLOCK, documents - first)
            drawn = rng.integers(0, len(self.clauses), (BLOCK, MOST), dtype=np.int32)
            reached = np.cumsum(self.lengths[drawn], axis=1)
            sizes = 1 + (reached < CHARACTERS).sum(axis=1)
            is_copy = rng.random(BLOCK) < COPIES
            is_copy[: 100 if first == 0 else 0] = False
            kinds = rng.choice(len(EDITS), BLOCK, p=CHANCES)
            sources = (rng.random(BLOCK) * (first + np.arange(BLOCK))).astype(np.int64)
            # A copy has no clauses of its own.
            sizes[is_copy] = 0
            sizes[count:] = 0
            self.rows.append(drawn[np.arange(MOST) < sizes[:, None]])
            self.begins.append(np.concatenate(([0], np.cumsum(sizes))))
            yield [
                f'{{"id": "{first + i}", "text": "{text}"}}\n'
                for i, text in enumerate(
                    self.copy(first + i, int(sources[i]), EDITS[kinds[i]], rng)
                    if is_copy[i]
                    else self.text(first + i)
                    for i in range(count)
                )
            ]

    def row(self, number):
        """Return the clauses drawn for a document."""
        block, place = divmod(number, BLOCK)
        begin, end = self.begins[block][place : place + 2]
        return self.rows[block][begin:end]

    def text(self, number):
        """Return the text of an original."""
        return "".join([self.clauses[clause] for clause in self.row(number).tolist()])

    def copy(self, number, source, kind, rng):
        """Return an edited copy of the original behind a document; note whom it resembles."""
        original = self.original_of.get(source, source)
        text = self.edited(original, kind, rng)
        self.original_of[number] = original
        family = self.copies.setdefault(original, [])
        own = shingles(text)
        for other, written in itertools.chain([(original, self.text(original))], family):
            value = resemblance(own, shingles(written))
            if value >= THRESHOLD:
                self.pairs.append((other, number, value))
        family.append((number, text))
        return text

    def edited(self, number, kind, rng):
        """Return the text of an original, edited."""
        clauses = [self.clauses[clause] for clause in self.row(number).tolist()]
        other = self.clauses[rng.integers(len(self.clauses))]
        if kind == "characters replaced":
            characters = list("".join(clauses))
            for place in rng.integers(0, len(characters), rng.integers(1, 5)):
                characters[place] = other[place % len(other)]
            return "".join(characters)
        if kind == "a clause replaced":
            clauses[rng.integers(len(clauses))] = other
        elif kind == "clauses added":
            clauses.append(other)
        elif kind == "clauses cut off":
            clauses.pop()
        return "".join(clauses)

    def compare_families(self):
        """Note the pairs between families whose originals have two clauses in a row in common."""
        for a, b in self.sharing():
            sides = [[(n, self.text(n)), *self.copies.get(n, [])] for n in (a, b)]
            for one, other in itertools.product(*sides):
                value = resemblance(shingles(one[1]), shingles(other[1]))
                if value >= THRESHOLD:
                    self.pairs.append((*sorted((one[0], other[0])), value))

    def sharing(self):
        """Return the pairs of originals that have two clauses in a row in common."""
        clauses = np.concatenate(self.rows).astype(np.uint64)
        sizes = np.concatenate([np.diff(begins) for begins in self.begins])
        owners = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        keys = (clauses[:-1] << np.uint64(32)) | clauses[1:]
        inside = owners[:-1] == owners[1:]
        found = set()
        for a, b in truth.runs_in_pairs(keys[inside], owners[:-1][inside]):
            found |= {tuple(sorted(pair)) for pair in zip(a.tolist(), b.tolist(), strict=True)}
        return sorted((a, b) for a, b in found if a != b)
