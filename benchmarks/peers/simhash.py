"""simhash: SimHash in Python and NumPy, with md5.

Words are tagged by jieba in Python.
"""

import logging

import jieba.posseg

import inputs
import weights
from simhash import Simhash

PACKAGES = ["simhash", "jieba", "numpy"]


def words(path, folder, *, mb):
    """Tag words; weigh them by count and part of speech."""
    texts, size = inputs.beginning(path, mb)
    jieba.setLogLevel(logging.ERROR)
    jieba.initialize()

    def job():
        fingerprints = []
        for text in texts:
            units = [(pair.word, pair.flag) for pair in jieba.posseg.cut(text)]
            fingerprints.append(Simhash(weights.of(units)).value)
        return inputs.sketched(fingerprints, texts, size)

    return job


def characters(path, folder, *, mb):
    """Sketch character 2-grams; each occurrence has weight 1."""
    texts, size = inputs.beginning(path, mb)

    def job():
        fingerprints = [
            Simhash([text[i : i + 2] for i in range(max(len(text) - 1, 1))]).value for text in texts
        ]
        return inputs.sketched(fingerprints, texts, size)

    return job
