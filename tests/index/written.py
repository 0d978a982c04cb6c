"""Collections that the tests of the index share, made by a seed, and ways to add them."""

import random

import pyarrow as pa

from neardup.index import NewDocument
from neardup.index.background import store
from neardup.index.decide import make_corpus

#: Texts that have nothing in common.
NUMBERS = "eins zwei drei vier fuenf sechs sieben acht neun zehn elf zwoelf dreizehn vierzehn"
PEARS = "The orchard on the hill lost half of its pears to the hail that came in June."
FERRY = "The ferry to the northern islands leaves at seven in the morning and comes back at noon."


def letters(rng, length):
    """A text in which nothing repeats but by chance."""
    return "".join(chr(rng.randrange(0x4E00, 0x9000)) for _ in range(length))


def edited(rng, text, times):
    """The text with some letters replaced."""
    for _ in range(times):
        number = rng.randrange(len(text))
        text = text[:number] + letters(rng, 1) + text[number + 1 :]
    return text


def families(seed, count, *, members=4, length=60):
    """Texts of `count` families, mixed: members are some edits apart, families have nothing
    in common but two forms that most begin with; with exact copies and texts too short."""
    rng = random.Random(seed)
    forms = [letters(rng, 40) for _ in range(2)]
    made = []
    for _ in range(count):
        text = rng.choice([*forms, "", ""]) + letters(rng, length)
        for _ in range(rng.randint(1, members)):
            made.append(text)
            text = edited(rng, text, rng.randint(0, 4))
    made += ["", "", "。。。", "。。", "雨", "雨", "short", "Short"]
    rng.shuffle(made)
    return made


def documents(texts):
    """Records with ids that tell the position."""
    return [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]


def stream(index, many):
    """Add documents as they arrive, not as a first import; return the decisions."""
    return index.add_together([NewDocument(row["id"], row["text"]) for row in many])


def count_background(index, texts):
    """Let an index decide with the statistics of some texts, for good."""
    engine = index._engine
    if not engine.settings.counts:
        return
    corpus = make_corpus(engine.settings, workers=1, counts=True)
    corpus.push(pa.array(texts, pa.large_string()), titles=None, units=None)
    corpus.finish()
    with engine.writing() as session:
        store(session, corpus, counted_at=1 << 40)
