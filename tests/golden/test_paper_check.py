"""Papers altered by others: how alike, and how much of them is found."""

import json
import random

import pytest
import zstandard
from tests.papers.test_rates import check_consistent

from neardup import check, compare
from neardup.readers.file_text import FileText

#: Altered copies, with their edit similarities to the original.
ALTERED = {"add": 0.844, "del": 0.818, "dis_1": 0.947, "dis_10": 0.832, "dis_15": 0.666}


@pytest.fixture(scope="module")
def papers(shared):
    return shared / "golden" / "paper_check"


@pytest.mark.shared
@pytest.mark.parametrize("name", ALTERED)
def test_altered_copies(papers, name):
    report = check(papers / f"orig_0.8_{name}.txt", papers / "orig.txt")
    check_consistent(report)
    assert report.similarity == pytest.approx(ALTERED[name], abs=6e-4)
    one, other = (
        (papers / path).read_text("utf-8") for path in ("orig.txt", f"orig_0.8_{name}.txt")
    )
    found = compare(one, other).edit_similarity
    assert found == compare(other, one).edit_similarity == report.similarity


@pytest.mark.shared
def test_the_original_against_itself(papers, tmp_path):
    copy = tmp_path / "copy.txt"
    copy.write_bytes((papers / "orig.txt").read_bytes())
    report = check(papers / "orig.txt", copy)
    assert report.similarity == 1.0
    assert (report.rates.total, report.rates.largest_source) == (1.0, 1.0)
    assert report.copied == report.characters > 8_000


@pytest.mark.shared
def test_the_original_is_the_first_source_of_an_altered_copy(papers):
    """All in one folder: the paper's own file is left out, and all others are sources."""
    report = check(papers / "orig_0.8_dis_1.txt", papers)
    check_consistent(report)
    assert report.sources[0].id == "orig.txt"
    assert {one.id for one in report.sources} == {
        "orig.txt",
        *(f"orig_0.8_{name}.txt" for name in ALTERED if name != "dis_1"),
    }
    assert report.rates.total > 0.9


def news(shared):
    path = shared / "corpora" / "chinanews.jsonl.zst"
    with zstandard.open(path, "rt", encoding="utf-8") as lines:
        for line, _ in zip(lines, range(4000), strict=False):
            text = json.loads(line)["text"]
            if len(text) >= 500:
                yield text


@pytest.mark.shared
def test_unrelated_articles(shared, tmp_path):
    """Of two articles taken by chance next to nothing is copied."""
    chosen = random.Random(20).sample(list(news(shared)), 40)
    path = tmp_path / "source.txt"
    for paper, source in zip(chosen[::2], chosen[1::2], strict=True):
        path.write_text(source, "utf-8")
        report = check(FileText(paper, "text"), path)
        check_consistent(report)
        assert report.rates.total < 0.02
