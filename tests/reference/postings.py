"""candidates: samples to pairs that share enough keys, by lists of documents.

A document is filed under a few of its keys and looked up by all of them. What
counts is how many of the filed document's few keys the other one has. That must be
enough for that document of the two which asks for less.
"""

import math
from collections import Counter

#: Texts that have a key, at most, for it to be rare.
FEW = 32
#: Rare keys that a document is filed under, at most, and others.
RARE, COMMON = 16, 8
#: Texts with scattered edits resemble each other this little, whatever the threshold.
SCATTERED = 1 / 3
#: More shared keys are never asked for.
MOST = 31


def choose(keys, texts, threshold, *, takes_all=False):
    """Return the rare keys and the common ones that a sample is filed under.

    `texts` says how many texts of the collection have each key. The
    smallest of the rare keys are taken, all for a threshold of 0, and the
    rarest of the common ones. A search for every pair takes all.

    Keys 100 to 109 are common, 105 and 106 in the most texts.

    >>> texts = Counter({key: 42 if key in (105, 106) else 33 for key in range(100, 110)})
    >>> choose([2, 1, *range(100, 110)], texts, 0.5)
    ([1, 2], [100, 101, 102, 103, 104, 107, 108, 109])
    """
    rare = sorted(key for key in keys if texts[key] <= FEW)
    common = sorted((texts[key], key) for key in keys if texts[key] > FEW)
    common = [key for _, key in common]
    if takes_all and threshold:
        return rare, common
    return rare[: RARE if threshold else None], common[:COMMON]


def enough(rare, common, threshold):
    """Return how many of the rare keys must be shared, or how many of both kinds.

    >>> enough(16, 0, 0.45), enough(12, 6, 0.6), enough(0, 6, 0.45), enough(0, 0, 0.45)
    ((2, 4), (2, 5), (1, 2), (1, 1))
    """
    if not threshold:
        least = 1 if rare + common < RARE else 2
        return least, least
    of_rare = max(1, math.floor(rare * threshold / 3))
    of_any = max(1, math.ceil((rare + common) * min(threshold, SCATTERED) * 0.75))
    return min(of_rare, MOST), min(of_any, MOST)


def asks(keys, texts, threshold, *, takes_all=False):
    """Return what a document asks for by itself: `enough` of what it is filed under."""
    rare, common = choose(keys, texts, threshold, takes_all=takes_all)
    return enough(len(rare), len(common), threshold)


class Postings:
    """Lists of filed documents by key; `longest` documents close a list.

    With `takes_all`, as in a search for every pair, documents are filed under all
    of their keys. `first_of` has the first document with the text of each document;
    without it, all texts differ.

    Of sixteen keys at 0.6 three must be shared; the seventeenth is not looked at.

    >>> for asking in ([0, 5, 15], [0, 5, 16]):
    ...     lists = Postings([range(20), [*asking, *range(100, 112)]], 0.6, 32)
    ...     lists.insert(0)
    ...     lists.near(1)
    [0]
    []

    A closed list takes no further document.

    >>> lists = Postings([[7]] * 5, 0.5, 3)
    >>> for document in range(4):
    ...     lists.insert(document)
    >>> lists.near(4)
    [0, 1, 2]
    """

    def __init__(self, samples, threshold, longest, *, takes_all=False, first_of=None):
        """Count the keys of all samples of the collection, once for each text."""
        self.takes_all = takes_all
        self.samples, self.threshold, self.longest = samples, threshold, longest
        firsts = range(len(samples)) if first_of is None else set(first_of)
        self.texts = Counter(key for first in firsts for key in set(samples[first]))
        self.asked = [asks(keys, self.texts, threshold, takes_all=takes_all) for keys in samples]
        self.lists = {}
        #: The keys in whose lists each filed document is, by document in the order of filing.
        self.filed = {}

    def insert(self, document):
        """File a document."""
        keys = self.samples[document]
        rare, common = choose(keys, self.texts, self.threshold, takes_all=self.takes_all)
        self.filed[document] = set()
        for key in (*rare, *common):
            filed = self.lists.setdefault(key, [])
            if len(filed) < self.longest:
                filed.append(document)
                self.filed[document].add(key)

    def near(self, document):
        """Return the filed documents that are candidates, in the order of filing."""
        return [other for other in self.filed if self.is_near(document, other)]

    def is_near(self, document, filed):
        """Return whether a filed document is a candidate."""
        shared = self.filed[filed].intersection(self.samples[document])
        rare = sum(self.texts[key] <= FEW for key in shared)
        return self.is_enough(rare, len(shared) - rare, document, filed)

    def is_enough(self, rare, common, asking, filed):
        """Return whether two documents share enough keys to be a candidate pair."""
        of_rare, of_any = map(min, self.asked[asking], self.asked[filed])
        return rare >= of_rare or rare + common >= of_any
