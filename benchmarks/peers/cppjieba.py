"""cppjieba: the C++ tagger through its Python binding, with simhash's SimHash."""

import inputs
import weights
from cppjieba import Jieba
from simhash import Simhash

PACKAGES = ["cppjieba", "simhash", "numpy"]


def words(path, folder, *, mb):
    """Tag words, weigh them by count and part of speech."""
    texts, size = inputs.beginning(path, mb)
    tagger = Jieba()

    def job():
        fingerprints = [Simhash(weights.of(tagger.pseg(text))).value for text in texts]
        return inputs.sketched(fingerprints, texts, size)

    return job
