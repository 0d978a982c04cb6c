"""Rates: what counts and what is copied; how many passages a report shows beside them."""

import dataclasses
import json
import random
import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.strategies import texts
from tests.papers.texts import FILLERS, unrelated

from neardup import InputError, ParameterError, _core, check
from neardup.cli.check import run as command
from neardup.cli.commands import list_parameters
from neardup.papers import ExcludedSpan, ReportLimits, check_files
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
    # Without the links and names of a post at its ends.
    counts = inside([_core.inside(text)], size) - inside(excluded, size)
    counts = {n for n in counts if text[n].isalnum()}
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


# Limits of the report

#: Sentences that all sources have.
COMMON = [unrelated(n, 24) for n in range(12)]
DEFAULT = ReportLimits()


def beside(sentences, seed):
    """Return a text of sentences, each before one of its own."""
    return "".join(text + unrelated(seed + n, 60) for n, text in enumerate(sentences))


@pytest.fixture
def paper(make):
    """Return a paper of common sentences; its library has them in six sources."""
    for source in range(6):
        # A source has more of them the earlier it comes, each beside text of its own.
        shared = COMMON[: 12 - source]
        text = beside(shared, 100 * source + 50)
        make(f"library/{source}.txt", text)
    # So that six of all documents are too few to share them.
    for other in range(30):
        make(f"library/other{other:02}.txt", unrelated(2000 + other))
    return make("paper.txt", beside(COMMON, 1000))


def whole_numbers(report):
    """Return what a report says of all passages, shown or not."""
    return report.copied, report.rates, report.sources, report.sections


def test_everything_is_shown_below_the_limits(paper):
    report = check(paper, "library")
    check_consistent(report)
    assert [source.passages for source in report.sources] == [12, 11, 10, 9, 8, 7]
    assert len(report.passages) == 57
    assert report.notes == ()
    exact = ReportLimits(max_passages=57, max_source_passages=12)
    assert check(paper, "library", limits=exact).passages == report.passages


@pytest.mark.parametrize(
    ("limits", "shown", "hidden"),
    [
        (ReportLimits(max_passages=np.int64(20)), 20, 37),
        (ReportLimits(max_source_passages=3), 18, 39),
        (ReportLimits(max_passages=10, max_source_passages=8), 10, 47),
        (ReportLimits(max_source_text=1), 1, 56),
        (ReportLimits(max_passages=1), 1, 56),
    ],
)
def test_passages_are_limited_and_rates_are_not(paper, limits, shown, hidden):
    whole, report = check(paper, "library"), check(paper, "library", limits=limits)
    check_consistent(whole)
    assert whole_numbers(report) == whole_numbers(whole)
    assert len(report.passages) == shown
    assert set(report.passages) <= set(whole.passages)
    (note,) = report.notes
    assert re.search(rf"\b{hidden}\b", note)
    of_sources = Counter(passage.source for passage in report.passages)
    assert max(of_sources.values()) <= limits.max_source_passages
    assert report.to_html().count("<article ") == shown
    settings = dataclasses.asdict(limits)
    assert json.loads(report.to_json())["settings"] == report.settings == report.settings | settings


def test_all_of_the_copied_text_is_marked_first(paper):
    report = check(paper, "library", limits=ReportLimits(max_passages=17))
    # The largest source has all of the text; then each source shows its largest passage.
    assert [passage.source for passage in report.passages].count(0) == 12
    assert {passage.source for passage in report.passages} == set(range(6))


def test_the_source_text_is_limited(paper):
    whole = check(paper, "library")
    report = check(paper, "library", limits=ReportLimits(max_source_text=1000))
    text = sum(len(passage.source_text) for passage in report.passages)
    longest = max(len(passage.source_text) for passage in whole.passages)
    assert 1000 <= text < 1000 + longest


def test_a_paper_of_common_sentences_makes_a_small_report(make):
    # Shorter ones would be common wording, and no copies.
    sentences = [unrelated(n, 104) for n in range(40)]
    shuffled = random.Random(1)
    for source in range(30):
        shared = shuffled.sample(sentences, 30)
        text = beside(shared, 300 * source)
        make(f"library/{source:02}.txt", text)
    repeated = shuffled.choices(sentences, k=200)
    text = beside(repeated, 9000)
    report = check(make("paper.txt", text), "library")
    assert sum(source.passages for source in report.sources) > 4 * DEFAULT.max_passages
    assert len(report.passages) == DEFAULT.max_passages
    assert len(report.to_html()) < 4_000_000
    assert len(report.to_json()) < 4_000_000


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(ReportLimits)])
def test_bounds(name):
    with pytest.raises(ParameterError, match=f"'{name}'"):
        ReportLimits(**{name: 0})
    # The command line cannot import this module for its help.
    of_command = {parameter.name: parameter.option for parameter in list_parameters(command)}
    assert of_command[name].default == getattr(DEFAULT, name)


def test_paper_beyond_the_memory_is_refused_before_it_is_compared(make):
    """Among others it is a problem, and the others are checked."""
    long, short = make("papers/long.txt", "雪" * 3_000_000), make("papers/short.txt", "雪" * 300)
    library = make("library.txt", "渡口有木船三只")
    with pytest.raises(InputError, match=r"3,000,000 characters needs \d+ MB.*split the paper"):
        check(long, library, memory="512MiB")
    found = {Path(one.paper).name: one for one in check_files([long, short], library, memory=2**29)}
    assert found["long.txt"].report is None
    assert "3,000,000 characters" in str(found["long.txt"].problem)
    assert found["short.txt"].report.characters == 300
