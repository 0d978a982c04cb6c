"""recipes: the first four stages, chained under their public names.

A recipe that needs a segmenter takes its units ready made: which words a text
has is the segmenter's answer, and what becomes of them is ours.
"""

from . import minhash as signing
from . import sample as sampling
from . import segment, sketch, weigh
from .aligned import letters
from .characters import is_letter
from .normalize import normalize

FULL = {"nfkc": True, "lowercase": True, "whitespace": "by-script", "drop_invisible": True}
FULL |= {"punctuation": "drop", "ends": "drop", "numbers": "value"}
#: Of the recipes that reproduce no published method.
FOLDED = FULL | {"fold": ("traditional", "points", "look-alikes")}


def units(text):
    """Return 2-shingles of unspaced scripts and words of others."""
    return segment.by_script(normalize(text, **FOLDED), k=2)


def characters(text, bits=128):
    """Fingerprint by these."""
    features = weigh.once(units(text))
    return sketch.simhash(features, bits, sketch.xxh3, tie=0)


def shingles(text, k=5, drop_punctuation=False, by_script=False):
    """Return the set of shingles, `by_script` longer where no letter is wide.

    With `by_script`, letters are folded.

    With `drop_punctuation`, only those with a letter or a digit. A text without a letter
    or a digit has none.
    """
    normalized = normalize(text, **(FOLDED if by_script else FULL))
    cut = segment.script_shingles if by_script else segment.shingles
    units = cut(normalized, k) if letters(normalized) else []
    return {unit for unit in units if letters(unit) or not drop_punctuation}


def minhash(text, num_perm=128, **filters):
    """Sign by 5-shingles."""
    return signing.signature(shingles(text, **filters), num_perm)


def sample(text, size, k=5, drop_punctuation=False, by_script=False):
    """Sample k-shingles: 64 for `shingle-sample`, 0, all, for `shingle`."""
    units = shingles(text, k, drop_punctuation, by_script)
    return sampling.sample(units, size)


def classic(words, stop_words=frozenset()):
    """Fingerprint words by term frequency: the baseline."""
    features = weigh.tf(content(words, stop_words))
    return sketch.simhash(features, 64, sketch.xxh3, tie=0)


def keywords(words, documents, df, stop_words=frozenset(), top=20):
    """Fingerprint the words of highest TF x IDF."""
    features = weigh.tf_idf(content(words, stop_words), documents, df)
    return sketch.simhash(weigh.top(features, top), 64, sketch.xxh3, tie=0)


def improved(tagged, documents, df, markers=(), title="", stop_words=frozenset()):
    """Fingerprint by the weights of Zhang & He (2020)."""
    kept = content_or_marked(tagged, markers, stop_words)
    features = weigh.improved(kept, documents, df, markers, title)
    return sketch.simhash(features, 64, sketch.xxh3, tie=0)


def news(tokens):
    """Fingerprint all tokens of any segmenter, each occurrence once."""
    features = weigh.tf([token.lower() for token in tokens])
    return sketch.simhash(features, 64, sketch.news, tie=1)


def bkdr(text, bits=32):
    """Fingerprint segmented and tagged text by shares of its words."""
    units = [word for word, _ in segment.ictclas(text, drop_tags=("wn", "wd"))]
    return sketch.simhash(weigh.share(units), bits, sketch.bkdr, tie=0)


def content(words, stop_words):
    """Return the words that are neither stop words nor punctuation."""
    return [word for word in words if word not in stop_words and any(map(is_letter, word))]


def content_or_marked(tagged, markers, stop_words):
    """Return the content words, and all words that contain a marker.

    Most markers are stop words as well: dropped, they could not mark anything.
    """
    return [
        (word, tag)
        for word, tag in tagged
        if content([word], stop_words)
        or (content([word], ()) and any(weigh.is_marked(word, marker) for marker in markers))
    ]
