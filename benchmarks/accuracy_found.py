"""What is reported in whole collections, as pairs and their classes, by `dedup` and by an index."""

import hashlib
import math
import tempfile
from collections import Counter
from pathlib import Path

import neardup
from corpora import rows
from readings import (
    CLASSES,
    NAMES,
    OTHER,
    UNREAD,
    WORKERS,
    collection,
    of_different_days,
    readings,
    stratum,
)
from tables import percent, table

_CONTENT_CUTS = (0.05, 0.1, 0.2, 0.3, 0.45)
#: Below this resemblance a search takes minutes: nearly all laws share some shingles.
_LEAST_SEARCHED = 0.1
#: The share of the versions that should be found.
_WANTED = 0.95
_LAW_CLASSES = ("same law", "law and its model", "other law")
#: An English text with fewer characters is only a line or two.
_FLASH = 300
#: Larger samples make the search for small similarities faster.
_WIDE = {"sketch": {"size": 128}}


def bulletins():
    """Return the section on bulletins."""
    c = collection("bulletins")
    loose = c.pairs("shingle", 0.4)
    counts = [
        (f"resemblance ≥ {cut:g}", of_different_days(c, [p for p, s in loose.items() if s >= cut]))
        for cut in (0.4, 0.55, 0.8)
    ]
    counts.append(("content ≥ 0.45, the default", of_different_days(c, c.pairs())))
    lines = [[name, f"{len(pairs):,}"] for name, pairs in counts]
    reported, rejected = (stratum("bulletins", name) for name in ("reported", "rejected"))
    return f"""\
## 4. Bulletins

{len(c.documents):,} items of a daily news programme, markup stripped: one template, other
events each day. Pairs of different days that are called duplicates:

{table(["measure", "pairs"], lines)}

{_read([reported, rejected])}

What content still reports wrongly comes once a year or in a small series, with fewer than five
texts from one template, and often no number differs.
{_share(reported, OTHER)} of what it reports is another event. For comparison, resemblance at
.55 reports {len(counts[1][1]):,} pairs; of the pairs among them that content
rejects, {_share(rejected, OTHER)} are other events.
"""


def reuters():
    """Return the section on Reuters."""
    c = collection("reuters")
    reported, rejected, near = (
        stratum("reuters", name) for name in ("reported", "rejected", "near")
    )
    flashes = {pair for pair in reported.pairs if _is_flash(c, pair)}
    short, long = (_classes(reported, flashes, inside=inside) for inside in (True, False))
    return f"""\
## 6. Reuters

{len(c.documents):,} English newswire items; dividends, money market reports and exchange news
have templates. Texts with spaces between words are compared by shingles of 8 characters.

{_counts(c)}

{_read([reported, rejected, near])}

Content is wrong on short texts from one template whose numbers agree or are few: dividends,
bill rates, warrant bonds of two companies. {len(flashes):,} of the {len(reported.pairs):,} pairs
that it reports have a text below {_FLASH} characters: {short[OTHER]} of the {short.total()} of
these that were read are other events, and {long[OTHER]} of the {long.total()} others. A threshold
of .6 reports {sum(s >= 0.6 for s in c.pairs().values()):,} pairs.
"""


def chinanews():
    """Return the section on Chinese news."""
    c = collection("chinanews")
    strata = [stratum("chinanews", name) for name in ("both", "gained", "rejected", "near")]
    return f"""\
## 7. Chinese news

{_counts(c)}

{_read(strata)}

What content gains over resemblance is the same event told from the same source, by another
agency or at another length. If only re-posts count as duplicates, use a higher threshold. What
content rejects are templates: money market notices, case counts by day, notices of one office.
"""


def _is_flash(c, pair):
    return min(len(c.of_id[id]["text"]) for id in pair) < _FLASH


def _classes(s, pairs, *, inside):
    """Return the number of read pairs of each class.

    With `inside`, only pairs in `pairs` are counted; without it, only other pairs.
    """
    both = zip(s.sample, s.classes, strict=True)
    return Counter(kind for pair, kind in both if kind and (pair in pairs) == inside)


def _counts(c):
    content, resemblance = c.pairs().keys(), c.pairs("shingle").keys()
    lines = [
        ["content ≥ 0.45, the default", f"{len(content):,}"],
        ["resemblance ≥ 0.55, exact", f"{len(resemblance):,}"],
        ["both", f"{len(content & resemblance):,}"],
    ]
    return table(["reported by", "pairs"], lines)


def _read(strata):
    """Return the classes of the read pairs of some strata, as a table.

    A warning follows if some pairs of the samples are unread.
    """
    lines = [
        [s.title, f"{len(s.pairs):,}", len(s.sample), *(s.counts[name] for name in CLASSES)]
        for s in strata
    ]
    text = table(["pairs", "in all", "read", *CLASSES], lines)
    unread = sum(len(s.unread) for s in strata)
    if unread:
        text += (
            f"\n\nOut of date: {unread} pairs of these samples are {UNREAD}. "
            "`python benchmarks/run.py accuracy --unread` prints them."
        )
    return text


def _share(s, its_class):
    return percent(s.counts[its_class] / max(1, s.counts.total()))


def laws():
    """Return the section on versions of laws, and figures for the summary."""
    c = collection("laws")
    truth = {(row["id_a"], row["id_b"]) for row in rows("laws_versions.tsv")}
    resemblance = [c.resemblance(pair) for pair in sorted(truth)]
    content = c.pairs("general", _CONTENT_CUTS[0], **_WIDE)
    loose = c.pairs("general", _LEAST_SEARCHED, decide={"measure": "resemblance"}, **_WIDE)
    lines = [
        [f"≥ {cut:g}", *_found(truth, content, cut), *_found(truth, loose, cut, resemblance)]
        for cut in _CONTENT_CUTS
    ]
    below = [[f"below {cut:g}", sum(s < cut for s in resemblance)] for cut in (0.1, 0.2, 0.4, 0.55)]
    others = sorted(c.pairs().keys() - truth)
    read = readings("laws", _LAW_CLASSES)
    classes = [read.get(("others", *pair)) for pair in others]
    counted = ", ".join(f"{classes.count(name)} {name}" for name in _LAW_CLASSES)
    needed = sorted(resemblance, reverse=True)[math.ceil(_WANTED * len(truth)) - 1]
    known = len(loose.keys() & truth)
    return f"""\
## 5. Versions of laws

{len(c.documents):,} laws, {len(truth)} pairs of which are known to be versions of one law.

{table(["cut", "content: found", "other pairs", "resemblance: found", "other pairs"], lines)}

Many versions are rewritten laws, so a recall of .95 is out of reach: it takes a cut at a
resemblance of {needed:.2f}, and at .1 already {len(loose) - known:,} other pairs pass. Of the
{len(truth)} pairs have a resemblance

{table(["resemblance", "pairs"], below)}

The {len(others)} other pairs that content reports at its default were looked at: {counted}. So
the list of versions is not complete, and rules that one city adopted from another make up most
of the rest.
"""


def _found(truth, found, cut, known=None):
    """Return the number of true and of other pairs at a cut, as two cells."""
    if known is not None and cut < _LEAST_SEARCHED:
        return [sum(s >= cut for s in known), "not searched"]
    at = {pair for pair, similarity in found.items() if similarity >= cut}
    return [len(at & truth), f"{len(at - truth):,}"]


def wrong(of, reported, rejected):
    """Return the estimated shares of different events, for two measures.

    The first measure is content, the second is resemblance. A share refers to the pairs that
    the measure reports. Each stratum is estimated from its own sample.
    """
    c = collection(of)
    days = of_different_days if of == "bulletins" else lambda _, pairs: list(pairs)
    content, resemblance = days(c, c.pairs()), days(c, c.pairs("shingle"))
    parts = [stratum(of, name) for name in reported]
    other = {s.name: s.counts[OTHER] / max(1, s.counts.total()) for s in parts}
    by_content = sum(len(s.pairs) * other[s.name] for s in parts)
    by_both = _of_both(of, parts, set(content) & set(resemblance))
    gone = stratum(of, rejected)
    by_resemblance = by_both + len(gone.pairs) * gone.counts[OTHER] / max(1, gone.counts.total())
    return [
        f"{by_content / len(content):.2f} of {len(content):,}",
        f"{by_resemblance / len(resemblance):.2f} of {len(resemblance):,}",
    ]


def _of_both(of, parts, both):
    """Estimate how many pairs that both measures report are different events."""
    read = readings(of)
    classes = [
        read[s.name, *pair]
        for s in parts
        for pair in s.sample
        if pair in both and (s.name, *pair) in read
    ]
    return len(both) * classes.count(OTHER) / max(1, len(classes))


def streams():
    """Return the section on the index."""
    lines = [
        [name, order, *cells(name, places)]
        for name in NAMES
        for order, places in orders(collection(name)).items()
    ]
    heading = ["collection", "order", "documents"]
    heading += ["kept by both", "by the index only", "by `dedup` only"]
    return f"""\
## 10. The index against `dedup`

`dedup` counts which shingles are common in the whole collection, and then decides. An index decides
on each document when it arrives, and counts the documents that it has after 100, 200, 400, ... of
them. Here each collection is added to a new index in three orders and compared with `dedup` of the
same documents in the same order.

{table(heading, lines, text=2)}

With a collection as its given background, an index keeps what `dedup` keeps.
"""


def orders(c):
    """Return the places of a collection's documents in several orders."""
    places = list(range(len(c.documents)))

    def digest(place):
        return hashlib.blake2b(c.documents[place]["id"].encode()).digest()

    return {
        "as in the file": places,
        "reversed": places[::-1],
        "by digest of the id": sorted(places, key=digest),
    }


def cells(name, places):
    """Return how many documents there are, and how many are kept by both or by one only."""
    c = collection(name)
    documents = c.table.take(places)
    batch = neardup.dedup(documents, recipe=c.recipe(), workers=WORKERS).keep
    with tempfile.TemporaryDirectory() as folder:
        location = Path(folder) / "index.db"
        with neardup.Index(location, recipe=c.recipe(), workers=WORKERS) as index:
            added = index.add_many(documents)
    if added.problems:
        raise RuntimeError(f"{name}: {added.problems[0]}")
    both, only_index, only_batch = (
        int(found.sum()) for found in (added.keep & batch, added.keep & ~batch, batch & ~added.keep)
    )
    return [f"{count:,}" for count in (len(places), both, only_index, only_batch)]
