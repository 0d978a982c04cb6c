"""Four times the documents take at most five times the steps, on collections of several shapes."""

import random

import pytest

from neardup import dedup

SMALL, TIMES = 2_500, 4
COMMON = "的一是在不了有和人这中大为上个国我以要他"


class Maker:
    """Makes documents of sentences of random letters."""

    def __init__(self, documents):
        self.draw, self.documents = random.Random(documents), documents

    def sentence(self):
        return "".join(chr(self.draw.randrange(0x4E00, 0x9FA0)) for _ in range(30)) + "。"

    def text(self, sentences):
        return "".join(self.sentence() for _ in range(sentences))

    def edited(self, text, share):
        change = self.draw.random
        return "".join(self.draw.choice(COMMON) if change() < share else c for c in text)

    def reposts(self):
        originals = [self.text(8) for _ in range(self.documents // 10)]
        half = range(self.documents // 2)
        copies = [self.edited(self.draw.choice(originals), 0.02) for _ in half]
        return [self.text(8) for _ in half] + copies

    def recombined(self):
        sentences = [self.sentence() for _ in range(self.documents)]
        return ["".join(self.draw.choices(sentences, k=6)) for _ in range(self.documents)]

    def template(self):
        form = self.text(8)
        return [form + self.sentence() for _ in range(self.documents)]

    def versions(self):
        originals = [self.text(10) for _ in range(self.documents // 100)]
        return [self.edited(self.draw.choice(originals), 0.04) for _ in range(self.documents)]


def steps(shape, documents):
    texts = getattr(Maker(documents), shape)()
    result = dedup(texts)
    summary = result.summary
    # Each text is read at most once for its shingles and once for its alignment.
    assert summary.bytes_compared <= 2 * sum(len(text.encode()) for text in texts)
    return {name: getattr(summary, name) for name in ("visited", "candidates")}


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["reposts", "recombined", "template", "versions"])
def test_steps_grow_as_the_documents_do(shape):
    small, large = steps(shape, SMALL), steps(shape, TIMES * SMALL)
    for name, count in large.items():
        # Where there are few steps, some more mean nothing.
        assert count <= 5 * small[name] + 1_000, (name, small, large)
