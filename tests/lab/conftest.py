"""A small collection of written texts, made of phrases drawn at random."""

import gzip

import pytest
import zstandard
from tests.kit.formats import serialize
from tests.kit.sentences import written


def as_lines(name, count):
    """Return documents as JSON lines."""
    return serialize(
        [
            {"id": f"{n:03}", "title": f"{name}{n}", "text": written(f"{name}{n}")}
            for n in range(count)
        ],
        "jsonl",
    )


@pytest.fixture(scope="session")
def collection_folder(tmp_path_factory):
    """Two topics of 13 and 12 documents, 20 distractors; three kinds of file."""
    folder = tmp_path_factory.mktemp("topics")
    (folder / "harbour.jsonl").write_bytes(as_lines("港", 13))
    (folder / "market.jsonl.gz").write_bytes(gzip.compress(as_lines("集", 12), mtime=0))
    packed = zstandard.ZstdCompressor().compress(as_lines("杂", 20))
    (folder / "distractors.jsonl.zst").write_bytes(packed)
    (folder / "README.md").write_text("no topic")
    return folder
