"""Rates: what counts, what is copied, and that all numbers of a report agree."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.strategies import texts
from tests.papers.texts import FILLERS, unrelated

from neardup import _core, check
from neardup.papers import ExcludedSpan
from neardup.papers.marks import Marks
from neardup.papers.results import Rates
from neardup.readers.file_text import FileText, Heading

spans_within = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda pair: tuple(sorted(pair))),
    max_size=8,
)


def inside(spans, size):
    """Return the places of some spans in a text."""
    return {n for begin, end in spans for n in range(begin, min(end, size))}


def check_consistent(report):
    """Hold the numbers of a report against its text and against each other."""
    text, rates, size = report.text, report.rates, len(report.text)
    if rates is None:
        assert (report.no_verdict, report.copied) == ("nothing_compared", 0)
        rates = Rates(0.0, 0.0, 0.0)
    assert 0 <= rates.without_quotations <= rates.total <= 1
    assert 0 <= rates.largest_source <= rates.total
    assert all(0 <= aside.begin < aside.end <= size for aside in report.asides)
    excluded = [(aside.begin, aside.end) for aside in report.asides if aside.kind == "given"]
    counts = inside([_core.inside(text)], size) - inside(excluded, size)
    counts = {n for n in counts if text[n].isalnum() and text[n] not in FILLERS}
    assert report.characters == len(counts)
    assert report.copied <= report.characters
    assert rates.total == (report.copied / report.characters if counts else 0)
    roots = []
    for section in report.sections:
        assert section.rate == (section.copied / section.characters if section.characters else 0)
        if not roots or section.begin >= roots[-1].end:
            roots.append(section)
        else:
            assert section.level > roots[-1].level
            assert section.end <= roots[-1].end
    assert sum(root.characters for root in roots) == report.characters
    assert sum(root.copied for root in roots) == report.copied
    ends = [0, *(root.end for root in roots)]
    assert [*(root.begin for root in roots), size] == ends
    check_sources(report, rates, counts)
    check_passages(report, counts)


def check_sources(report, rates, counts):
    characters = [source.characters for source in report.sources]
    assert characters == sorted(characters, reverse=True)
    assert rates.largest_source == max((source.rate for source in report.sources), default=0)
    similarities = {source.similarity for source in report.sources} - {None}
    assert report.similarity == max(similarities, default=None)
    for number, source in enumerate(report.sources):
        assert 0 < source.cover <= 1
        assert 0 <= source.unique_characters <= source.characters <= report.copied
        assert source.rate == source.characters / report.characters
        pieces = [
            (piece.begin, piece.end)
            for passage in report.passages
            if passage.source == number
            for piece in passage.pieces
        ]
        assert source.characters == len(inside(pieces, len(report.text)) & counts)


def check_passages(report, counts):
    order = [(passage.begin, -passage.end, passage.source) for passage in report.passages]
    assert order == sorted(order)
    for passage in report.passages:
        source, shown = report.sources[passage.source], passage.source_text_begin
        assert 0 <= passage.begin < passage.end <= len(report.text)
        assert 0 <= shown <= passage.source_begin < passage.source_end
        assert passage.source_end <= shown + len(passage.source_text) <= source.length
        pieces = [(piece.begin, piece.end) for piece in passage.pieces]
        assert passage.characters == len(inside(pieces, passage.end) & counts) > 0
        for piece in passage.pieces:
            assert passage.begin <= piece.begin < piece.end <= passage.end
            assert passage.source_begin <= piece.source_begin < piece.source_end
            assert piece.source_end <= passage.source_end


@given(texts(40), st.lists(spans_within, max_size=4), spans_within, spans_within)
def test_marks_are_sets_of_places(text, sources, excluded, quoted):
    size = len(text)
    asides = [
        ExcludedSpan(min(begin, size), min(end, size), kind)
        for kind, spans in (("given", excluded), ("quotation", quoted))
        for begin, end in spans
    ]
    marks = Marks(text, asides)
    counts = {n for n, c in enumerate(text) if c.isalnum()} - inside(excluded, size)
    assert marks.total == len(counts)
    copied = set()
    for spans in sources:
        clipped = [(min(begin, size), min(end, size)) for begin, end in spans]
        assert marks.add(clipped) == len(inside(spans, size) & counts)
        copied |= inside(spans, size) & counts
    assert set(marks.copied.nonzero()[0].tolist()) == copied
    assert set(marks.set_aside.nonzero()[0].tolist()) == inside(quoted, size)
    assert marks.compute_rate(len(copied)) == (len(copied) / len(counts) if counts else 0)


#: Texts that papers copy, each of its own length.
PARTS = [unrelated(50 + number, 24 + 9 * number) for number in range(6)]
part_numbers = st.integers(0, len(PARTS) - 1)
some_sources = st.sets(st.integers(0, 3), max_size=2)


@settings(max_examples=40)
@given(
    blocks=st.lists(st.tuples(st.none() | part_numbers, st.booleans()), max_size=7),
    # Text that three documents share would not count.
    holders=st.lists(some_sources, min_size=len(PARTS), max_size=len(PARTS)),
    excluded=st.sets(part_numbers, max_size=2),
    left_out=some_sources,
)
def test_rates_equal_the_known_pieces(blocks, holders, excluded, left_out):
    """A paper is made of new text and of parts, of which each is in some sources."""
    texts = [
        unrelated(1000 + number, 40) if part is None else PARTS[part]
        for number, (part, _) in enumerate(blocks)
    ]
    marked = [f"“{text}”" if block[1] else text for text, block in zip(texts, blocks, strict=True)]
    parts = {source: [n for n, of in enumerate(holders) if source in of] for source in range(4)}
    text, headings = f"{unrelated(900, 100)}。\n", []
    for number, block in enumerate(marked):
        headings.append(Heading(len(text), len(text) + 25, 1))
        text += f"{unrelated(3000 + number, 25)}\n{block}。\n"
    with tempfile.TemporaryDirectory() as folder:
        for source, held in parts.items():
            document = "。".join([unrelated(800 + source, 50), *(PARTS[part] for part in held)])
            Path(folder, f"{source}.txt").write_text(document, "utf-8")
        report = check(
            FileText(text, "text", headings=tuple(headings)),
            folder,
            exclude=[FileText(PARTS[part], "text") for part in excluded],
            without_sources=[f"{source}.txt" for source in left_out],
            workers=1,
        )
    check_consistent(report)
    rows = [
        (len(text), part, set() if part is None else holders[part] - left_out, is_quoted)
        for text, (part, is_quoted) in zip(texts, blocks, strict=True)
    ]
    of_sections = [
        length if sources and part not in excluded else 0 for length, part, sources, _ in rows
    ]
    assert [section.copied for section in report.sections] == [0, *of_sections]
    counts = [row for row in rows if row[1] not in excluded]
    copied = [(length, sources, is_quoted) for length, _, sources, is_quoted in counts if sources]
    assert report.characters == 100 + 25 * len(blocks) + sum(length for length, *_ in counts)
    assert report.copied == sum(length for length, *_ in copied) == sum(of_sections)
    unquoted = sum(length for length, _, is_quoted in copied if not is_quoted)
    assert report.rates.without_quotations == unquoted / report.characters
    expected = []
    for source in parts:
        of_it = [(length, sources) for length, sources, _ in copied if source in sources]
        unique = sum(length for length, sources in of_it if len(sources) == 1)
        expected.append((f"{source}.txt", sum(length for length, _ in of_it), unique))
    expected = sorted((row for row in expected if row[1]), key=lambda row: -row[1])
    found = [(one.id, one.characters, one.unique_characters) for one in report.sources]
    assert found == expected
    present = {part for _, part, *_ in counts if part is not None}
    for source in report.sources if not excluded else ():
        held = parts[int(source.id[0])]
        repeated = sum(len(PARTS[part]) for part in held if part in present)
        assert source.cover == pytest.approx(
            repeated / (50 + sum(len(PARTS[part]) for part in held)), abs=0.02
        )
    sources = {source for part in present for source in holders[part]}
    assert set(report.without_sources) == {f"{source}.txt" for source in sources & left_out}
    asides = {
        kind: [report.text[one.begin : one.end] for one in report.asides if one.kind == kind]
        for kind in ("quotation", "given")
    }
    assert asides["quotation"] == [text for text in marked if text.startswith("“")]
    assert set(asides["given"]) == {PARTS[part] for part, _ in blocks if part in excluded}
