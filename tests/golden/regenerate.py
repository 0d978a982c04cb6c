"""Compute vectors.json from texts.json, by the twins alone.

Run it from the repository's root: python -m tests.golden.regenerate

`texts.json` has texts with their words and parts of speech, and `vectors.json` all that built-in
recipes make of them. A change of `vectors.json` changes the sketches that people have stored: it
needs an entry under *Changed results* in the changelog.
"""

import json
from collections import Counter
from pathlib import Path

from tests.reference import normalize, recipes, segment, weigh

HERE = Path(__file__).parent
MARKERS = HERE.parents[1] / "python" / "neardup" / "recipe" / "presets" / "markers_zh.txt"
WIDTHS = (32, 64, 128, 256)
#: The recipes that make samples, and how many features they want.
SIZES = {
    **dict.fromkeys(("general", "strict"), 32),
    "containment": 128,
    **dict.fromkeys(("aligned", "shingle-sample"), 64),
    "shingle": 0,
}
#: Those whose shingles are longer in a text with spaces.
BY_SCRIPT = ("general", "strict", "containment")
#: Values of a signature, and keys of a sample, that the file has; the rest follows.
PINNED = 8
COLLAPSED = recipes.FULL | {"whitespace": "collapse", "punctuation": "keep", "numbers": "keep"}


def texts():
    """Return the texts with their words."""
    return json.loads((HERE / "texts.json").read_text("utf-8"))


def markers(groups=("总结", "转折")):
    """Return bundled marker words: a group, a tab and its words a line.

    The groups of the published method are summary and contrast; None means all.
    """
    lines = [line.split("\t") for line in MARKERS.read_text("utf-8").splitlines()]
    return [
        word
        for group, words in lines
        if groups is None or group in groups
        for word in words.split()
    ]


def vectors(documents):
    """Return what each recipe makes of each document of a corpus of these."""
    tagged = [segment.tagged(document["words"]) for document in documents]
    stop_words = [set(document["stop_words"].split()) for document in documents]
    df, improved_df = Counter(), Counter()
    for units, stop in zip(tagged, stop_words, strict=True):
        df.update(set(recipes.content([word for word, _ in units], stop)))
        improved_df.update({w for w, _ in recipes.content_or_marked(units, markers(), stop)})
    out = []
    for document, units, stop in zip(documents, tagged, stop_words, strict=True):
        words = [word for word, _ in units]
        kept = recipes.content(words, stop)
        marked = recipes.content_or_marked(units, markers(), stop)
        title = normalize.normalize(document["title"], **COLLAPSED)
        n = len(documents)
        prints = {
            f"characters-{bits}": recipes.characters(document["text"], bits) for bits in WIDTHS
        }
        prints |= {
            "classic": recipes.classic(words, stop),
            "keywords": recipes.keywords(words, n, df, stop),
            "improved": recipes.improved(units, n, improved_df, markers(), title, stop),
            "news": recipes.news(document["tokens"].split("|")),
            "bkdr": recipes.bkdr(document["words"]),
        }
        widths = {"bkdr": 8} | {f"characters-{bits}": bits // 4 for bits in WIDTHS}
        out.append(
            {
                "text": document["text"],
                "keywords": weigh.tf_idf(kept, n, df),
                "improved": weigh.improved(marked, n, improved_df, markers(), title),
                "fingerprints": {
                    name: f"{value:0{widths.get(name, 16)}x}" for name, value in prints.items()
                },
                "minhash": listed(recipes.minhash(document["text"])),
                "samples": {name: pinned(document["text"], name) for name in SIZES},
            }
        )
    return out


def pinned(text, name):
    """Return what the file has of a sample: its rate, its number of keys, the first of them."""
    rate, keys = sample(text, name)
    return {"rate": rate, "size": len(keys), "keys": listed(keys)}


def sample(text, name):
    """Return the rate and the keys that a recipe samples."""
    return recipes.sample(text, SIZES[name], by_script=name in BY_SCRIPT)


def listed(values):
    """Return the first of 32-bit values, in hexadecimal."""
    return " ".join(f"{value:08x}" for value in values[:PINNED])


def main():
    """Write the file."""
    made = json.dumps(vectors(texts()), ensure_ascii=False, indent=1)
    (HERE / "vectors.json").write_text(made + "\n", "utf-8")


if __name__ == "__main__":
    main()
