"""Rates: what counts, what is copied, and that all numbers of a report agree."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile import texts
from tests.index.written import edited, letters

from neardup import check
from neardup.papers import Aside, open_library
from neardup.papers.check import Checking
from neardup.papers.limits import ReportLimits
from neardup.papers.rates import Marks, marked
from neardup.readers.files import FileText, Heading

spans_within = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda pair: tuple(sorted(pair))),
    max_size=8,
)


#: Letters that nobody sees; they hold a place in a Hangul syllable.
FILLERS = "\u115f\u1160\u3164\uffa0"


def check_consistent(report):
    """Hold the numbers of a report against its text and against each other."""
    text, rates = report.text, report.rates
    for rate in (rates.total, rates.without_quotations, rates.largest_source):
        assert 0 <= rate <= 1
    assert rates.without_quotations <= rates.total
    assert rates.largest_source <= rates.total
    given_away = [(one.begin, one.end) for one in report.asides if one.kind == "given"]
    away = marked(len(text), given_away)
    counts = [c.isalnum() and c not in FILLERS and not away[at] for at, c in enumerate(text)]
    assert report.characters == sum(counts)
    assert report.copied <= report.characters
    assert rates.total == (report.copied / report.characters if report.characters else 0)
    roots = []
    for section in report.sections:
        if not roots or section.begin >= roots[-1].end:
            roots.append(section)
        else:
            assert section.level > roots[-1].level
            assert section.end <= roots[-1].end
    assert sum(one.characters for one in roots) == report.characters
    assert sum(one.copied for one in roots) == report.copied
    ends = [0, *(one.end for one in roots)]
    assert [one.begin for one in roots] == ends[:-1]
    assert ends[-1] == len(text)
    for section in report.sections:
        assert section.rate == (section.copied / section.characters if section.characters else 0)
    for aside in report.asides:
        assert 0 <= aside.begin < aside.end <= len(text)
    check_sources(report, counts)
    check_passages(report, counts)


def check_sources(report, counts):
    characters = [source.characters for source in report.sources]
    assert characters == sorted(characters, reverse=True)
    assert report.rates.largest_source == max((one.rate for one in report.sources), default=0)
    similarities = [one.similarity for one in report.sources if one.similarity is not None]
    assert report.similarity == max(similarities, default=None)
    for at, source in enumerate(report.sources):
        assert 0 < source.cover <= 1
        assert 0 <= source.only_here <= source.characters <= report.copied
        assert source.rate == source.characters / report.characters
        spans = [
            (piece.begin, piece.end)
            for one in report.passages
            if one.source == at
            for piece in one.pieces
        ]
        of_source = marked(len(report.text), spans)
        assert source.characters == sum(
            c and bool(m) for c, m in zip(counts, of_source, strict=True)
        )


def check_passages(report, counts):
    assert list(report.passages) == sorted(
        report.passages, key=lambda one: (one.begin, -one.end, one.source)
    )
    for one in report.passages:
        assert 0 <= one.begin < one.end <= len(report.text)
        source = report.sources[one.source]
        assert 0 <= one.source_begin < one.source_end <= source.length
        shown = one.source_text_begin
        assert 0 <= shown <= one.source_begin
        assert one.source_end <= shown + len(one.source_text) <= source.length
        inside = marked(len(report.text), [(piece.begin, piece.end) for piece in one.pieces])
        assert one.characters == (inside & counts).sum() > 0
        for piece in one.pieces:
            assert one.begin <= piece.begin < piece.end <= one.end
            assert one.source_begin <= piece.source_begin < piece.source_end <= one.source_end


class TestMarks:
    @given(spans_within)
    def test_marked(self, spans):
        expected = [any(begin <= at < end for begin, end in spans) for at in range(40)]
        assert marked(40, spans).tolist() == expected

    @given(texts(40), st.lists(spans_within, max_size=4), spans_within, spans_within)
    def test_sets_of_characters(self, text, sources, given_away, quoted):
        def inside(spans):
            return {at for begin, end in spans for at in range(begin, end) if at < len(text)}

        def clipped(spans):
            return [(min(begin, len(text)), min(end, len(text))) for begin, end in spans]

        asides = [Aside(*span, "given") for span in clipped(given_away)]
        asides += [Aside(*span, "quotation") for span in clipped(quoted)]
        marks = Marks(text, asides)
        counts = {at for at, c in enumerate(text) if c.isalnum()} - inside(given_away)
        assert marks.total == len(counts)
        copied = set()
        for spans in sources:
            assert marks.add(clipped(spans)) == len(inside(spans) & counts)
            copied |= inside(spans) & counts
        assert {int(at) for at in marks.copied.nonzero()[0]} == copied
        assert {int(at) for at in marks.set_aside.nonzero()[0]} == inside(quoted)
        assert marks.rate(len(copied)) == (len(copied) / len(counts) if counts else 0)

    @pytest.mark.parametrize(
        ("text", "total"),
        [("", 0), ("，。 \n", 0), ("雨 a1。", 3), ("Ａ１", 2), ("e\u0301", 1), ("𠀀🙂", 1)],
    )
    def test_what_counts(self, text, total):
        assert Marks(text, []).total == total


@pytest.fixture(scope="module")
def library_of_parts(tmp_path_factory):
    """A library whose documents share parts, and all parts."""
    rng = random.Random(0)
    folder = tmp_path_factory.mktemp("library")
    parts = [letters(rng, rng.randint(20, 90)) for _ in range(6)]
    for at in range(4):
        (folder / f"{at}.txt").write_text("".join(rng.sample(parts, 3)), "utf-8")
    with open_library(folder, workers=1) as library:
        yield library, parts


def paper_of(rng, parts):
    """A paper with headings, quotations and copied parts, and its headings."""
    text, headings = "", []
    for at in range(rng.randint(1, 6)):
        begin = len(text)
        text += f"{at + 1} {letters(rng, 6)}"
        headings.append(Heading(begin, len(text), rng.randint(1, 3)))
        text += "\n"
        for _ in range(rng.randint(0, 4)):
            kind = rng.choice(("own", "copied", "edited", "quoted"))
            part = letters(rng, rng.randint(5, 60)) if kind == "own" else rng.choice(parts)
            if kind == "edited":
                part = edited(rng, part, 3)
            text += f"“{part}”" if kind == "quoted" else part
            text += rng.choice(("，", "。\n", ""))
    return FileText(text, "text", headings=tuple(headings))


@settings(max_examples=20)
@given(st.integers(0, 10**9), st.booleans())
def test_all_numbers_of_a_report_agree(library_of_parts, seed, excludes):
    rng = random.Random(seed)
    library, parts = library_of_parts
    paper = paper_of(rng, parts)
    excluded = [parts[0]] if excludes else []
    one, two = (
        Checking(library, excluded, 20, ReportLimits(), n).report(paper, "paper") for n in (1, 2)
    )
    check_consistent(one)
    assert one == two


def test_rates_by_hand(make):
    """100 own characters, 60 copied, 40 copied in quotation marks; two sources share 30."""
    rng = random.Random(1)
    own, copied, quoted = letters(rng, 100), letters(rng, 60), letters(rng, 40)
    paper = make("paper.txt", f"{own}。\n{copied}。\n“{quoted}”\n")
    make("library/a.txt", letters(rng, 50) + copied)
    make("library/b.txt", letters(rng, 50) + copied[30:] + "。" + letters(rng, 400) + quoted)
    report = check(paper, "library")
    check_consistent(report)
    assert (report.characters, report.copied) == (200, 100)
    assert (report.rates.total, report.rates.without_quotations) == (0.5, 0.3)
    assert report.rates.largest_source == 70 / 200
    found = [(one.id, one.characters, one.only_here) for one in report.sources]
    assert found == [("b.txt", 70, 40), ("a.txt", 60, 30)]
    assert len(report.passages) == 3
    with open_library("library") as library:
        assert check(paper, library) == report
