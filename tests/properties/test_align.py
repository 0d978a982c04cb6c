"""Alignment against its twin, and what holds of every alignment."""

import hashlib
import random
import unicodedata

import numpy as np
import opencc
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from tests.index.written import edited, letters
from tests.kit.strategies import LONG_BASES, corpora, texts
from tests.reference import align as twin
from tests.reference.characters import is_mark

from neardup import _core
from neardup.papers.alignment import align, get_aligner

CORE = get_aligner()
LONG = "渡口管理处说，本班船的票已经售完。" * 20


def library_of(sketches, workers=1):
    filed, fence = _core.file_sketches(sketches, workers=workers)
    return _core.Library([(filed, fence, np.arange(len(sketches), dtype=np.uint32))])


def sketches_of(*texts, workers=1):
    return CORE.sketches(pa.array(texts, pa.large_string()), workers=workers)


def candidates(paper, library, least, limit=100):
    """Return the candidates of a paper, held to the twin."""
    found = library_of(sketches_of(*library)).sources(CORE.paper(paper), least=least, limit=limit)
    assert found == twin.candidates(paper, library, least)[:limit]
    return found


def test_stored_shingles_of_indexes():
    """Whoever changes it changes `neardup.papers.library.stored._FORMAT` too."""
    (packed,) = sketches_of("".join(LONG_BASES))
    assert len(packed) == 4 * 48
    assert hashlib.sha256(packed).hexdigest()[:16] == "f6feebc7b96df651"


@settings(max_examples=8)
@given(
    corpora(max_documents=6, known=LONG_BASES).filter(bool),
    st.sampled_from((5, 12, 13, 20, 21, 28, 40)),
)
def test_candidates_are_as_in_the_twin(many, least):
    paper = many[0] + "".join(many[-2:])
    assert candidates(paper, many, least)[:1] == candidates(paper, many, least, limit=1)


@pytest.mark.parametrize("gap", [0, 90, 180, 230])
@pytest.mark.parametrize("least", [5, 20, 40])
def test_distant_common_shingles_are_candidates_in_one_paragraph(gap, least):
    """Three phrases say something if they stand in one paragraph of the paper."""
    # Letters with which no phrase has three winnowed shingles of its own.
    rng = random.Random(gap + 1)
    phrases = [letters(rng, 12) for _ in range(3)]
    paper = "".join(phrase + letters(rng, gap) for phrase in phrases)
    library = ["。".join(letters(rng, 40) + phrase for phrase in phrases), letters(rng, 300)]
    found = candidates(paper, library, least)
    if least == 5 or gap == 0 or (least, gap) == (40, 230):
        assert len(found) == (gap == 0 or least == 5)


def test_frequent_shingle_names_the_first_documents():
    found = candidates(LONG_BASES[0], [LONG_BASES[0]] * 70, 20)
    assert [document for document, _ in found] == list(range(64))


@given(texts())
def test_text_in_itself_begins_and_ends_with_its_first_and_last_letter(text):
    filler = "渡口停航三天改乘客车请候通知"
    text = text + filler + text
    normal = unicodedata.normalize("NFKC", text)
    # A mark, and a vowel without a consonant, go with whatever stands before them.
    assume(not any(map(is_mark, normal + text)))
    assume(not set(map(chr, range(0x1160, 0x1200))) & set(normal))
    passages = align(text, text, min_passage_length=5)
    spans = twin.letters(text)
    assert (passages[0].begin, passages[-1].end) == (spans[0][1], spans[-1][2])


@given(st.lists(st.one_of(texts(), corpora().map("".join)), min_size=2, max_size=2))
@example([LONG * 9, LONG * 4 + "".join(LONG_BASES) + LONG * 5])
def test_edit_similarity_is_the_twin(pair):
    similarity = _core.edit_similarity(*pair)
    assert similarity == pytest.approx(twin.edit_similarity(*pair), abs=1e-12)
    assert similarity == _core.edit_similarity(*pair[::-1])


def check_passages(passages, text, source):
    """What holds of every alignment."""
    assert passages == sorted(passages, key=lambda passage: passage.begin)
    for passage in passages:
        pieces = list(passage.pieces)
        assert 0 <= passage.begin < passage.end <= len(text)
        assert 0 <= passage.source_begin < passage.source_end <= len(source)
        assert 0 <= passage.similarity <= 1
        assert pieces == sorted(pieces, key=lambda piece: piece.begin)
        assert all(one.begin < one.end and one.source_begin < one.source_end for one in pieces)
        for side in ("", "source_"):
            begins, ends = ([getattr(p, side + end) for p in pieces] for end in ("begin", "end"))
            span = getattr(passage, f"{side}begin"), getattr(passage, f"{side}end")
            assert span == (min(begins), max(ends))


@given(texts(200), texts(200), st.sampled_from(LONG_BASES), st.integers(5, 30))
def test_passages_of_hostile_texts(before, after, shared, least):
    text, source = before + shared + after, after + shared * 2 + before
    check_passages(align(text, source, min_passage_length=least), text, source)


@given(corpora(max_documents=8, known=LONG_BASES))
def test_passages_of_similar_texts(many):
    text, source = "".join(many), "".join(reversed(many))
    passages = align(text, source)
    check_passages(passages, text, source)
    assert passages == align(text, source)
    # A text is never less than itself.
    whole = align(text, text)
    if many and len(text) > 60:
        assert sum(passage.end - passage.begin for passage in whole) > len(text) / 2


@given(st.integers(0, 10**9), st.integers(40, 400), st.integers(0, 600), st.integers(0, 600))
def test_a_planted_passage_is_found(seed, length, before, after):
    rng = random.Random(seed)
    planted = letters(rng, length)
    text = letters(rng, before) + planted + letters(rng, after)
    source = letters(rng, after) + planted + letters(rng, before)
    (passage,) = align(text, source)
    # A letter beside it may be the same by chance.
    assert abs(passage.begin - before) <= 3
    assert abs(passage.end - before - length) <= 3
    assert planted[3:-3] in text[passage.begin : passage.end]
    assert planted[3:-3] in source[passage.source_begin : passage.source_end]
    assert passage.similarity > 0.9


@given(st.integers(0, 10**9), st.integers(0, 10))
def test_an_edited_passage_is_found(seed, edits):
    rng = random.Random(seed)
    planted = letters(rng, 150)
    changed = edited(rng, planted, edits)
    text = letters(rng, 200) + changed + letters(rng, 100)
    passages = align(text, letters(rng, 50) + planted + letters(rng, 300))
    covered = sum(passage.end - passage.begin for passage in passages)
    assert 110 <= covered <= 160
    assert max(passage.similarity for passage in passages) >= 1 - (edits + 6) / 150


@given(st.integers(0, 10**9))
def test_pieces_are_alike(seed):
    rng = random.Random(seed)
    parts = [letters(rng, rng.randint(8, 60)) for _ in range(5)]

    def made():
        chosen = rng.choices([*parts, letters(rng, 30)], k=rng.randint(2, 14))
        return "".join(edited(rng, part, rng.randint(0, 4)) for part in chosen)

    text, source = made(), made()
    passages = align(text, source, min_passage_length=10)
    check_passages(passages, text, source)
    for piece in (piece for passage in passages for piece in passage.pieces):
        stretch = text[piece.begin : piece.end]
        source_stretch = source[piece.source_begin : piece.source_end]
        assert Levenshtein.normalized_similarity(stretch, source_stretch) >= 0.5


@settings(max_examples=10)
@given(st.integers(0, 10**9))
def test_texts_without_anything_in_common(seed):
    rng = random.Random(seed)
    assert align(letters(rng, 1500), letters(rng, 1500), min_passage_length=5) == []


@settings(max_examples=10)
@given(st.integers(0, 10**9))
def test_threads_change_nothing(seed):
    rng = random.Random(seed)
    parts = [letters(rng, rng.randint(10, 90)) for _ in range(12)]
    paper = CORE.paper("".join(rng.choices(parts, k=20)))
    sources = ["".join(rng.sample(parts, 4)) + letters(rng, 30) for _ in range(20)]
    array = pa.array(sources, pa.large_string())
    first, second = (CORE.passages(paper, array, least=20, workers=n) for n in (1, 2))
    assert first == second
    first, second = (sketches_of(*sources, workers=n) for n in (1, 2))
    assert first == second
    libraries = [library_of(first, workers=n) for n in (1, 2)]
    assert len({str(each.sources(paper, least=20, limit=9)) for each in libraries}) == 1


ZH = (
    "县志记载，清末渡口有木船三只，船工九人。光绪二十六年添置铁锚一副，"
    "由两岸商户分担费用。民国初年改用汽船，来往时间缩短一半，货物转运也由此兴盛起来。"
)
EN = (
    "In 1904 the Company bought a second ferry, and the crossing took half as long as before. "
    "Merchants on both banks shared the cost; the Council paid for the new pier."
)


def wide(text):
    """Full-width forms of all ASCII characters."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def scattered(text, put):
    rng = random.Random(5)
    return "".join(c + (put if rng.random() < 0.3 else "") for c in text)


FORMS = {
    "full-width": wide,
    "upper case": str.upper,
    "lower case": str.lower,
    "white space": lambda text: scattered(text, "\n\u3000 "),
    "nothing visible": lambda text: scattered(text, "\u200b"),
    "soft hyphens": lambda text: scattered(text, "\u00ad"),
    "no punctuation": lambda text: "".join(c for c in text if c.isalnum() or c == " "),
    "other punctuation": lambda text: (
        text.replace("，", " —— ").replace("。", "!!").replace(",", ";")
    ),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "traditional": opencc.OpenCC("s2t").convert,
}


@pytest.mark.parametrize("text", [ZH, EN, ZH + EN], ids=["zh", "en", "mixed"])
@pytest.mark.parametrize("form", FORMS)
def test_a_passage_in_another_form_is_found(form, text):
    rng = random.Random(form)
    changed = FORMS[form](text)
    before, after = letters(rng, 60) + "。", "。" + letters(rng, 60)
    paper = before + changed + after
    source = letters(rng, 70) + text + letters(rng, 20)
    (passage,) = align(paper, source, min_passage_length=25)
    spans = [(len(before) + begin, len(before) + end) for _, begin, end in twin.letters(changed)]
    assert (passage.begin, passage.end) == (spans[0][0], spans[-1][1])
    assert (passage.source_begin, passage.source_end) == (70, 70 + len(text) - 1)
    assert passage.similarity == 1.0


@pytest.mark.parametrize("text", [ZH, EN], ids=["zh", "en"])
def test_other_forms_of_a_text_keep_its_sketch(text):
    """A library knows a document in whatever form it is."""
    assert {*sketches_of(*(change(text) for change in FORMS.values()))} == {*sketches_of(text)}
