"""docs/accuracy.md: the evidence for the defaults, measured on the corpora beside the repository.

All figures are deterministic except the times in section 9. With ``--unread`` nothing is written.
Instead, the sampled pairs that nobody has read yet are printed as lines for the files in
benchmarks/readings. Below each one are its differences.
"""

import sys
import time
from pathlib import Path

import accuracy_copies
import accuracy_found
import accuracy_labels
import readings
from corpora import SHARED, MissingError, rows
from harness import Case
from readings import AGAIN, NAMES, collection, of_different_days, stratum
from tables import table, wrapped

PAGE = Path(__file__).resolve().parents[1] / "docs" / "accuracy.md"

#: By collection: the samples of pairs that content reports, and the sample that it rejects.
_REPORTED = {
    "bulletins": (("reported",), "rejected"),
    "reuters": (("reported",), "rejected"),
    "chinanews": (("both", "gained"), "rejected"),
}


def measure(options):
    """Write the page; it is not stored."""
    if options.unread:
        readings.show()
        return
    text = page()
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    if readings.UNREAD in text:
        raise RuntimeError("the page says that pairs are unread; see --unread")


def page():
    """Return the whole page."""
    begin = time.perf_counter()

    def done(name, result):
        print(f"accuracy: {name}, {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
        return result

    if not SHARED.is_dir():
        raise MissingError("the page cannot be made: it needs the corpora in ../shared/corpora.")
    # Times first, while nothing else is in memory.
    published = done("published comparison", accuracy_copies.measure_published())
    edited = done("edited copies", accuracy_copies.measure())
    labelled = done("measures on one set of labels", accuracy_labels.measure())
    sections = [
        _HEAD,
        done("defaults", defaults(edited, labelled)),
        accuracy_copies.page(edited),
        done("pairs that people labelled", accuracy_labels.agreement()),
        accuracy_labels.page(labelled),
        done("bulletins", accuracy_found.bulletins()),
        done("laws", accuracy_found.laws()),
        done("Reuters", accuracy_found.reuters()),
        done("Chinese news", accuracy_found.chinanews()),
        limits(),
        accuracy_copies.page_published(published),
        done("streams", accuracy_found.streams()),
    ]
    return wrapped("\n\n".join(section.strip("\n") for section in sections)) + "\n"


_HEAD = """\
# Accuracy: the evidence for the defaults

Made by `make accuracy` from `benchmarks/accuracy.py` and the corpora beside the repository; do
not edit. [Methods](methods.md) defines the measures, the [glossary](glossary.md) the words. Where
pairs had to be read, one reader read a seeded sample of them
([`benchmarks/readings`](../benchmarks/readings)).
"""


def defaults(edited, labelled):
    """Return the first section: the defaults and their alternatives."""
    truth = {(row["id_a"], row["id_b"]) for row in rows("laws_versions.tsv")}
    own = {**labelled["results"], "general": labelled["results"][accuracy_labels.CONTENT]}
    for name in ("shingle", "minhash", "characters"):
        own[name] = labelled["results"][accuracy_labels.RESEMBLANCE]
    lines = []
    for name in accuracy_copies.RECIPES:
        cells = [f"**`{name}`**" if name == "general" else f"`{name}`"]
        cells += [accuracy_copies.summary(edited, name), f"{own[name].default.f1:.2f}"]
        if name == accuracy_copies.NEWS.name:
            lines.append([*cells, *["–"] * len(NAMES)])
            continue
        laws = collection("laws").pairs(name).keys()
        bulletins = collection("bulletins")
        cells += [
            f"{len(of_different_days(bulletins, bulletins.pairs(name))):,}",
            f"{len(laws & truth)} / {len(laws - truth)}",
            f"{len(collection('reuters').pairs(name)):,}",
            f"{len(collection('chinanews').pairs(name)):,}",
        ]
        lines.append(cells)
    heading = [
        "recipe",
        "edited copies, 10 %: recall / strict precision",
        "labelled pairs: F1",
        "bulletins: pairs of different days",
        f"laws: versions of {len(truth)} / others",
        "Reuters: pairs",
        "Chinese news: pairs",
    ]
    wrong = [
        [of, *accuracy_found.wrong(of, reported, rejected)]
        for of, (reported, rejected) in _REPORTED.items()
    ]
    near = " and ".join(
        f"{s.counts[AGAIN]} of {s.counts.total()} that were read in {title}"
        for s, title in (
            (stratum("chinanews", "near"), "Chinese news"),
            (stratum("reuters", "near"), "Reuters"),
        )
    )
    scores = edited["tallies"][accuracy_copies.NEWS.name, accuracy_copies.USUAL].scores
    many = scores.tp + scores.fp
    return f"""\
## 1. The defaults compared

Each recipe with its own decision. The default is `general`: content of shingles of 5
characters, or of 8 in texts with spaces between words, at least .45. `shingle`, `minhash` and
`characters` verify resemblance, at least .55; `shingle-sample` estimates it, at least .5; the
others decide by the distance of fingerprints, at most 3 bits.

{table(heading, lines)}

`news` is left out where texts have white space: it takes spaces for words, and calls {many:,}
pairs of section 2 duplicates.

How many of the reported pairs are **other events**, estimated from the samples of 20 to 50
pairs that were read, so the error is .1 or .2:

{table(["collection", "content, the default", "resemblance ≥ .55"], wrong)}

Of the pairs just below the bound, with a content from .35 on, {near} are one text used twice.
"""


def limits():
    """Return the section on what the defaults miss."""
    return """\
## 8. Where the defaults lose

- **Rewritten texts.** A text told in other words shares no shingles: most law versions below .2
  in section 5.
- **Heavy scattered edits** (section 2), above all in English: in a short item one number that an
  edit changed is a large part of its numbers. `--recipe minhash` finds more, and reports more
  texts from one template.
- **Templates with other names.** Two texts from one template whose names differ and whose
  numbers agree are called duplicates: the dividend notices of two companies, a rule that one city
  adopted from another (sections 5 and 6).
- **Templates with fewer than five texts.** A notice that appears once a year in a collection of
  four years is not recognized as a template (section 4).
- **Texts from one template whose numbers agree**, or that have none: lists of names, series of
  commentaries.
- **Numbers that were corrected.** A re-post of a short notice with a corrected figure is not
  called a duplicate.
- **Partial copies.** A copied paragraph in a long text is not found, nor is a text that makes
  up at most half of another: content is symmetric. The recipe `containment` finds the
  latter, and `neardup check` both.
- **Short texts.** Below 40 letters and digits, one word inserted in the middle makes two texts
  different.
- **A million documents.** The table of common shingles then holds a smaller sample, with too
  few shingles of short texts to recognize a template: plain resemblance decides for these.
"""


CASES = (Case("accuracy", "The evidence for the defaults: docs/accuracy.md", measure, str),)
