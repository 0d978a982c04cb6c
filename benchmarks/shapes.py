"""How time and memory grow, and what is kept, on collections of several shapes.

Each collection is made of sentences of real texts, in two sizes, the larger one four times the
smaller one. Its truth is known by construction: documents of one *family* are copies of each other
and differ in no number, and each family has unique text. So one document of a family should
stay. *Copies found* is the share of the others that are removed, and *unique text lost* the share
of families that lose all documents.
"""

import itertools
import random
import re
from functools import cache, partial

import numpy as np

import corpora
from harness import PRODUCT, Engine, Limits, Measurement, Work, WrongAnswerError
from tables import digits, measured_on, quality, reason_of, table, wrapped

SEED = 20270115
#: The smaller number of documents, that of a trial, and how much larger the larger one is.
SMALL, TRIAL, TIMES = 50_000, 2_000, 4
#: How often one text is posted, and how many posts there are in all.
POSTED, POSTS = (20, 100, 1_000, 5_000), 10_000
LETTERS = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工"
DIGIT = re.compile(r"\d")
CREDITS = ("来源：{}", "编辑 {}", "责任编辑：{}", "（{} 供稿）", "转自{}")

LIMITED = "neardup, --memory 1GB"
ENGINES = (
    Engine("neardup", PRODUCT, "dedup_file"),
    Engine(LIMITED, PRODUCT, "dedup_file", {"memory": "1GB"}),
    Engine("gaoya, at 0.8", "gaoya", "dedup_file", {"threshold": 0.8}),
)


@cache
def chinese():
    """Return the distinct sentences of the news, in file order."""
    sentences = itertools.chain.from_iterable(map(corpora.sentences_of, corpora.articles()))
    stripped = ("".join(sentence.split()) for sentence in sentences)
    return list(dict.fromkeys(s for s in stripped if 10 <= len(s) <= 120))


@cache
def english():
    """Return the distinct sentences of the English newswire, in file order."""
    texts = (" ".join(record["text"].split()) for record in corpora.read("reuters_en.jsonl.zst"))
    sentences = itertools.chain.from_iterable(re.split(r"(?<=[.])\s", text) for text in texts)
    return list(dict.fromkeys(s for s in sentences if 40 <= len(s) <= 200))


@cache
def own():
    """Return sentences that each say something else: most of their 5-letter shingles are new."""
    known, chosen = set(), []
    for sentence in chinese():
        letters = [c for c in sentence if c.isalnum()]
        shingles = set(zip(*(letters[place:] for place in range(5)), strict=False))
        if sentence[-1] in "。！？" and 2 * len(shingles & known) < len(shingles):
            chosen.append(sentence)
        known |= shingles
    return chosen


class Maker:
    """Draws documents of one collection, each as (family, text)."""

    def __init__(self, name, count):
        """Seed the draws by the collection, so that no collection depends on another one."""
        self.draw, self.count = random.Random(f"{SEED}/{name}/{count}"), count

    def text(self, sentences, pool, joint=""):
        """Return a text of some sentences of a pool."""
        return joint.join(self.draw.choices(pool, k=sentences))

    def edited(self, units, share, others):
        """Return a sequence with a share of its units replaced, one at least, and no number."""
        units = list(units)
        places = [place for place, unit in enumerate(units) if not DIGIT.search(unit)]
        for place in self.draw.sample(places, max(1, round(share * len(places)))):
            units[place] = self.draw.choice(others)
        return units

    def reposts(self):
        """Half are new texts; half copies, with 2 % of the letters edited, of a tenth as many."""
        originals = [self.text(8, chinese()) for _ in range(self.count // 10)]
        for number in range(self.count):
            if number % 2:
                family = self.draw.randrange(len(originals))
                yield family, "".join(self.edited(originals[family], 0.02, LETTERS))
            else:
                yield len(originals) + number, self.text(8, chinese())

    def english(self):
        """Return the same of English sentences, with 2 % of the words edited."""
        words = " ".join(english()[:2_000]).split()
        originals = [self.text(8, english(), " ") for _ in range(self.count // 10)]
        for number in range(self.count):
            if number % 2:
                family = self.draw.randrange(len(originals))
                yield family, " ".join(self.edited(originals[family].split(" "), 0.02, words))
            else:
                yield len(originals) + number, self.text(8, english(), " ")

    def recombined(self):
        """Four to nine sentences of 150,000, which recur; no two texts are copies."""
        pool = chinese()[:150_000]
        for number in range(2 * self.count):
            yield number, self.text(self.draw.randint(4, 9), pool)

    def template(self):
        """Eight sentences that all texts have, and one that no other text has."""
        common = self.text(8, chinese())
        for number, sentence in enumerate(self.draw.sample(own(), self.count)):
            yield number, common + sentence

    def versions(self):
        """A hundred texts, each in many versions with 4 % of the letters edited."""
        texts = [self.text(10, chinese()) for _ in range(100)]
        for number in range(self.count):
            family = number % len(texts)
            yield family, "".join(self.edited(texts[family], 0.04, LETTERS))

    def short(self):
        """Titles of 12 to 25 letters that all begin differently; a tenth comes twice."""
        titles = list({s[:12]: s for s in chinese() if len(s) > 25}.values())
        chosen = self.draw.sample(titles, self.count - self.count // 10)
        for family, title in enumerate(chosen):
            text = title[: self.draw.randint(12, 25)]
            yield family, text
            if family < self.count // 10:
                yield family, text + "！"

    def long(self):
        """Texts of 500 sentences, a fiftieth as many; a tenth of them are edited copies."""
        text = ""
        for number in range(self.count // 50):
            if number % 10 == 9:
                yield number - 1, "".join(self.edited(text, 0.02, LETTERS))
            else:
                text = self.text(500, chinese())
                yield number, text

    def posted_line(self, times):
        """Texts of eight sentences, each posted often, with another line of 5 to 15 letters."""
        texts = [self.text(8, chinese()) for _ in range(self.count // times)]
        for number in range(self.count):
            family = number % len(texts)
            name = "".join(self.draw.choices(LETTERS, k=self.draw.randint(3, 8)))
            line = self.draw.choice(CREDITS).format(name)
            parts = [texts[family], line] if self.draw.random() < 0.5 else [line, texts[family]]
            yield family, "\n".join(parts)

    def posted_sentence(self, times):
        """Return the same, each with a sentence that no other text has."""
        texts = [self.text(8, chinese()) for _ in range(self.count // times)]
        for number, sentence in enumerate(self.draw.sample(own(), self.count)):
            yield number, f"{texts[number % len(texts)]}\n{sentence}"


SHAPES = ("reposts", "english", "recombined", "template", "versions", "short", "long")
FORMS = ("posted_line", "posted_sentence")


def written(name, count, *settings):
    """Return the path of a collection; make it if it is missing, with its families next to it."""
    path = corpora.WORK / f"{'_'.join(map(str, (name, count, *settings)))}.jsonl"
    if not path.exists():
        documents = list(getattr(Maker(name, count), name)(*settings))
        np.save(families_of(path), np.array([family for family, _ in documents], np.int64))
        corpora.write(path, ({"id": n, "text": text} for n, (_, text) in enumerate(documents)))
    return path


def families_of(path):
    """Return the path of the family of each document."""
    return path.with_name(f"{path.stem}_families.npy")


def judge(answer, engine, path):
    """Return the number of kept documents, and the shares of copies found and unique text lost."""
    families = np.load(families_of(path))
    if int(answer["documents"]) != len(families):
        raise WrongAnswerError(f"{len(families)} documents in, {answer['documents']} read")
    return scores(families, answer["removed"])


def scores(families, removed):
    """Return the figures of a removal: kept, families, copies found, unique text lost.

    >>> scores(np.array([0, 0, 0, 1, 2]), [1, 3])
    {'documents': 5, 'kept': 3, 'families': 3, 'copies_found': 0.5, 'lost': 0.3333333333333333}
    """
    is_kept = np.ones(len(families), bool)
    is_kept[np.asarray(removed, np.int64)] = False
    names, family = np.unique(families, return_inverse=True)
    kept = np.bincount(family[is_kept], minlength=len(names))
    copies = len(families) - len(names)
    left = int(np.maximum(kept - 1, 0).sum())
    return {
        "documents": len(families),
        "kept": int(is_kept.sum()),
        "families": len(names),
        "copies_found": 1 - left / copies if copies else None,
        "lost": float((kept == 0).mean()),
    }


def measured(name, settings_of, options, engines=ENGINES):
    """Return the results of collections of one name by a label, which names their settings."""
    results = {}
    for label, settings in settings_of.items():
        work = Work(
            name=f"{name} {label}",
            title=name,
            prepare=lambda trial, settings=settings: written(name, *settings),
            judge=judge,
            engines=engines,
            limits=Limits(seconds=300, megabytes=8_000),
        )
        results[label] = work.measure(options)["rows"]
    return {"name": name, "results": results}


def sizes(options):
    """Return the settings of both sizes by their label."""
    small = options.size or (TRIAL if options.trial else SMALL)
    return {str(count): (count,) for count in (small, TIMES * small)}


def measure_shape(name, options):
    """Return the results of a shape by number of documents."""
    return measured(name, sizes(options), options)


def measure_posted(name, options):
    """Return the results of a form of posts by how often a text is posted."""
    count = 1_000 if options.trial else POSTS
    settings = {str(times): (count, times) for times in POSTED if times < count}
    return measured(name, settings, options, ENGINES[::2])


HEADING = ["documents", "seconds", "growth", "processor s", "peak MB", "kept", "expected to stay"]
HEADING += ["copies found", "unique text lost"]
#: The columns of the table of the page; the files have all.
GROWTH = ("seconds", "growth", "copies found")


def lines_of(result):
    """Yield a line for each engine on a shape, its cells for the small and the large size."""
    small, large = result["results"].values()
    pairs = {one["engine"]: (one, other) for one, other in zip(small, large, strict=True)}
    limited = pairs.pop(LIMITED, None)
    for name, rows in pairs.items():
        is_limited = limited and name == ENGINES[0].label
        costs = costs_of(*limited) if is_limited else ["–", "–"]
        yield [result["name"], name, *cells(*rows), *costs]


def costs_of(*rows):
    """Return the seconds and the memory of the rows of one engine, by ascending size."""
    return [
        " / ".join(digits(row["seconds"]) if "seconds" in row else reason_of(row) for row in rows),
        " / ".join(f"{row['peak_mb']:.0f}" if "seconds" in row else "–" for row in rows),
    ]


def cells(*rows):
    """Return the cells of the table for the rows of one engine, by ascending size."""

    def of(read, otherwise=lambda _: "–"):
        values = [(read(row) or "–") if "seconds" in row else otherwise(row) for row in rows]
        return values[0] if len(set(values)) == 1 else " / ".join(values)

    has_growth = len(rows) > 1 and all("seconds" in row for row in rows)
    return [
        of(quality("documents", "{:,}")),
        of(lambda row: digits(row["seconds"]), reason_of),
        f"{growth(rows):.1f}" if has_growth else "–",
        of(lambda row: digits(row["cpu_seconds"])),
        of(lambda row: f"{row['peak_mb']:.0f}"),
        *(of(quality(key, "{:,}")) for key in ("kept", "families")),
        *(of(quality(key, "{:.3f}")) for key in ("copies_found", "lost")),
    ]


def growth(rows):
    """Return how many times as long the largest size takes as the smallest."""
    return rows[-1]["seconds"] / rows[0]["seconds"]


def posted_lines(result):
    """Yield a line for each engine and each number of posts of one text."""
    for times, rows in result["results"].items():
        for row in rows:
            name = f"{result['name'].replace('_', ', a ')} of its own"
            yield [name, f"{int(times):,}", row["engine"], *cells(row)]


def show_shape(result):
    """Return the table of one shape."""
    heading = ["shape", "engine", *HEADING, "seconds with 1 GB", "peak MB with 1 GB"]
    return table(heading, list(lines_of(result)), text=2)


def show_posted(result):
    """Return the table of one form of posts."""
    heading = ["form", "times", "engine", HEADING[1], *HEADING[4:]]
    lines = [[*line[:3], line[4], *line[7:]] for line in posted_lines(result)]
    return table(heading, lines, text=3)


def show_growth(results):
    """Return the table of the page: a row for each shape, with the figures of both engines."""
    engines = [one.label for one in ENGINES if one.label != LIMITED]
    heading = ["shape", *(f"{one}: {name}" for one in engines for name in GROWTH)]
    places = [2 + HEADING.index(name) for name in GROWTH]
    figures = [[line[at] for line in lines_of(one) for at in places] for one in results]
    lines = [[one["name"], *some] for one, some in zip(results, figures, strict=True)]
    return table(heading, lines)


def show(results):
    """Return the section of the page, of the results by name."""
    shapes = [results[name] for name in SHAPES if results.get(name)]
    parts = [wrapped(TEXT), *([show_growth(shapes)] if shapes else [])]
    for names, one_table in ((SHAPES, show_shape), (FORMS, show_posted)):
        some = [one_table(results[name]) for name in names if results.get(name)]
        if some:
            first, *others = some
            parts.append("\n".join([first, *(line for o in others for line in o.split("\n")[2:])]))
    facts = [result["machine"] for result in results.values()]
    loads = [one["load"] for one in facts]
    places = sorted({measured_on(one) for one in facts})
    parts.append(f"*{'; '.join(places)}, load {min(loads):.1f}-{max(loads):.1f}*")
    return "\n\n".join(parts)


TEXT = f"""Collections of sentences in two sizes, {SMALL:,} and {TIMES * SMALL:,} documents
(`recombined` twice as many, `long` a fiftieth), with default settings. *Growth* is the ratio of
their seconds. *Copies found* is the share of copies that are removed. The files also have *unique
text lost*, the share of families that lose all documents.

- `reposts`: half are Chinese texts of eight sentences, half are copies with 2 % of the letters
replaced. `english`: the same of Reuters sentences.
- `recombined`: four to nine sentences of a pool of 150,000.
- `template`: eight sentences that all texts have, and one unique sentence.
- `versions`: a hundred texts in many versions, with 4 % of the letters replaced.
- `short`: titles of 12 to 25 letters. `long`: texts of 500 sentences.
- `posted`: {POSTS:,} posts of eight sentences, each with a line or a sentence."""

BENCHMARKS = (
    *(
        Measurement(name, f"Growth: {name}", partial(measure_shape, name), show_shape)
        for name in SHAPES
    ),
    *(
        Measurement(name, f"One text often: {name}", partial(measure_posted, name), show_posted)
        for name in FORMS
    ),
)
