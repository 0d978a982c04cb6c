"""cppjieba: the C++ tagger with its Python binding; SimHash by simhash."""

import inputs
import weights
from cppjieba import Jieba
from simhash import Simhash

PACKAGES = ["cppjieba", "simhash", "numpy"]


def words(path, folder, *, mb):
    """Tag words; weigh them by count and part of speech."""
    texts, size = inputs.beginning(path, mb)
    tagger = Jieba()

    def job():
        fingerprints = [Simhash(weights.of(tagger.pseg(text))).value for text in texts]
        return inputs.sketched(fingerprints, texts, size)

    return job
