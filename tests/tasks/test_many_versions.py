"""Collections in which much is alike: pairs are found, steps are few, and omissions are told."""

import random

import numpy as np
import pyarrow as pa
import pytest
from tests.kit import hard_texts
from tests.kit.progress import RecordedProgress
from tests.run.test_memory import counts
from tests.tasks.test_templates import bulletins

from neardup import _core, dedup, dedup_files, load_recipe, pairs
from neardup.readers import open_table
from neardup.recipe.assets import compiled
from neardup.recipe.rule import rule
from neardup.run.pipeline import Pipeline
from neardup.run.run_options import RunOptions
from neardup.run.summary import Summary, template_notes

RECIPE = load_recipe("general")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words(rng, count):
    return [hard_texts.letters(rng, rng.randint(2, 8), LETTERS) for _ in range(count)]


def versions(of, count, length, seed=3):
    """Return `count` versions of each of `of` texts of `length` words.

    Each version replaces, adds or leaves out a number of words of its own, so versions differ
    in length too, and with it in the rate at which their shingles are sampled.
    """
    rng = random.Random(seed)
    made = []
    for _ in range(of):
        base = words(rng, length)
        for _ in range(count):
            version = list(base)
            for _ in range(rng.randint(0, length // 6)):
                position = rng.randrange(len(version))
                version[position : position + rng.randint(0, 2)] = words(rng, rng.randint(0, 2))
            made.append(" ".join(version[: rng.randint(4 * length // 5, 2 * length)]))
    rng.shuffle(made)
    return list(dict.fromkeys(made))


def truth(texts):
    """Return all similar pairs and their similarities, from a comparison of each with each."""
    wanted = rule(RECIPE)
    options = RunOptions({"recipe": RECIPE, "workers": 1})
    corpus = Pipeline(options).read(open_table(texts)).corpus
    b, a = np.tril_indices(len(texts), -1)
    similarity, _ = _core.judge_pairs(
        wanted.compiled(len(texts)),
        compiled(RECIPE),
        _core.Background(corpus),
        pa.array(texts, pa.large_string()),
        pa.array(corpus.rows(0, len(corpus))[2]).to_pylist(),
        corpus.features().astype(np.uint32),
        a.astype(np.uint32),
        b.astype(np.uint32),
    )
    is_similar = ~np.isnan(similarity)
    result = zip(a[is_similar].tolist(), b[is_similar].tolist(), strict=True)
    return dict(zip(result, similarity[is_similar].tolist(), strict=True))


def found_by(result):
    rows = result.table.select(["id_a", "id_b", "similarity"]).to_pylist()
    return {(int(row["id_a"]), int(row["id_b"])): row["similarity"] for row in rows}


def kept_by_the_rule(count, similar):
    """Return whether each document is kept, by the one rule and all similar pairs."""
    keep = np.ones(count, np.bool_)
    for a, b in sorted(similar, key=lambda pair: pair[1]):
        keep[b] &= not keep[a]
    return keep


@pytest.mark.parametrize("length", [25, 90, 400])
def test_every_pair_of_versions_is_found(length):
    """More than 32 versions, so that hardly any shingle is rare."""
    texts = versions(4, 60, length)
    expected = truth(texts)
    assert len(expected) > 1400
    result = pairs(texts)
    similarities = found_by(result)
    assert similarities.items() <= expected.items()
    assert len(similarities) >= 0.98 * len(expected)
    assert (result.summary.capped_lists, result.summary.skipped_pairs) == (0, 0)
    # Nothing else is left out, so the exhaustive search finds the same.
    assert found_by(pairs(texts, exhaustive=True)) == similarities


@pytest.mark.parametrize("length", [25, 120])
def test_exhaustive_search_follows_the_rule(length, tmp_path):
    texts = versions(4, 60, length, seed=8)
    similar = truth(texts)
    expected = kept_by_the_rule(len(texts), similar)
    result = dedup(texts, exhaustive=True)
    assert result.keep.tolist() == expected.tolist()
    assert result.summary.skipped_pairs == 0
    # Also where the keys are in files.
    path = hard_texts.write_records(tmp_path / "in.jsonl", texts)
    outputs = []
    for work in (None, tmp_path / "work"):
        kept = tmp_path / f"kept-{work is None}.jsonl"
        dedup_files([path], kept, work=work, exhaustive=True)
        outputs.append(kept.read_bytes())
    assert outputs[0] == outputs[1]


def with_a_phrase(count):
    """Return short texts of their own letters that share nothing but a phrase."""
    rng = random.Random(5)
    return ["本报记者顾雪芹报道" + hard_texts.letters(rng, 45) for _ in range(count)]


@pytest.mark.slow
def test_pairs_counts_documents_skipped_by_capped_lists():
    """Of 10,200 texts with one phrase, each of its shingles leaves out 200."""
    summary = pairs(with_a_phrase(10_200)).summary
    assert (summary.pairs, summary.skipped_documents) == (0, 200)
    assert summary.capped_lists == 5
    assert summary.skipped_pairs == 200 * 199 // 2
    # These are few of all pairs.
    assert template_notes(summary) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_dedup_reports_documents_skipped_by_capped_lists(workers):
    """Of 100 kept texts with one phrase, each of its shingles leaves out all but 32."""
    summary = dedup(with_a_phrase(100), workers=workers).summary
    assert (summary.kept, summary.capped_lists, summary.skipped_documents) == (100, 5, 68)
    # Five lists left out the same documents, so these are not five times as many pairs.
    assert summary.skipped_pairs == 68 * 67 // 2
    (note,) = template_notes(summary)
    assert f"up to {(68 * 67) / (100 * 99):.0%} of all pairs" in note
    summary = dedup(with_a_phrase(32), workers=workers).summary
    assert (summary.capped_lists, summary.skipped_documents, summary.skipped_pairs) == (0, 0, 0)


def test_note_names_the_exhaustive_search_if_capped_lists_hide_duplicates():
    texts = hard_texts.of_common_phrases(random.Random(5), 30, 4, 500)
    rng = random.Random(6)
    texts += [hard_texts.edited(rng, text) for text in texts]
    usual = dedup(texts, threshold=0.8).summary
    exhaustive = dedup(texts, threshold=0.8, exhaustive=True).summary
    assert exhaustive.near_duplicates > usual.near_duplicates
    named = [["exhaustive" in note for note in template_notes(one)] for one in (usual, exhaustive)]
    assert [any(notes) for notes in named] == [True, False]


@pytest.mark.parametrize(
    ("recipe", "dropped", "size", "says"),
    [
        ("news", 51, 1000, "similar fingerprints"),
        ("general", 51, 399, "most texts are short"),
        ("general", 51, 400, None),
        ("general", 50, 100, None),
    ],
)
def test_rule_dropping_most_texts_is_told(recipe, dropped, size, says):
    summary = Summary("dedup", read=101, unreadable=1, near_duplicates=dropped)
    summary.bytes_read = 100 * size
    notes = template_notes(summary, rule(load_recipe(recipe)))
    assert len(notes) == (says is not None)
    assert all(says in note for note in notes)


def test_words_of_latin_letters_have_like_fingerprints_of_the_news_program():
    rng = random.Random(3)
    texts = [" ".join(words(rng, 18)) for _ in range(8)]
    assert dedup(texts, recipe="news").summary.near_duplicates > 4


@pytest.mark.parametrize(
    ("counts", "is_told"),
    [
        ({"kept": 100}, False),
        ({"kept": 50}, True),
        ({"kept": 50, "against": 50}, False),
        # `pairs` keeps none, and files all.
        ({"read": 50}, True),
        ({"read": 100}, False),
    ],
)
def test_few_of_all_pairs_are_not_worth_a_note(counts, is_told):
    summary = Summary("dedup", skipped_pairs=200, **counts)
    assert bool(template_notes(summary)) is is_told


# Steps grow as the documents do.


def text_of(rng, sentences):
    return "".join(
        "".join(chr(rng.randrange(0x4E00, 0x9FA0)) for _ in range(30)) + "。"
        for _ in range(sentences)
    )


def edited_copies(rng, originals, count, share):
    common = "的一是在不了有和人这中大为上个国我以要他"
    return [
        "".join(rng.choice(common) if rng.random() < share else c for c in rng.choice(originals))
        for _ in range(count)
    ]


def reposts(rng, count):
    half, originals = count // 2, [text_of(rng, 8) for _ in range(count // 10)]
    return [text_of(rng, 8) for _ in range(half)] + edited_copies(rng, originals, half, 0.02)


def recombined(rng, count):
    sentences = [text_of(rng, 1) for _ in range(count)]
    return ["".join(rng.choices(sentences, k=6)) for _ in range(count)]


def versions_of_few(rng, count):
    return edited_copies(rng, [text_of(rng, 10) for _ in range(count // 100)], count, 0.04)


def of_one_form(rng, count):
    form = text_of(rng, 8)
    return [form + text_of(rng, 1) for _ in range(count)]


def of_one_template(_, count):
    return bulletins(count)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape", [reposts, recombined, versions_of_few, of_one_form, of_one_template]
)
def test_four_times_the_documents_take_at_most_five_times_the_steps(shape):
    found = []
    for count in (1_500, 6_000):
        texts = shape(random.Random(count), count)
        summary = dedup(texts).summary
        # Each text is read at most once for its shingles and once for its alignment.
        assert summary.bytes_compared <= 2 * sum(len(text.encode()) for text in texts)
        found.append(summary)
    small, large = found
    for name in ("visited", "candidates"):
        # Where there are few steps, some more mean nothing.
        assert getattr(large, name) <= 5 * getattr(small, name) + 600, (name, small, large)
    if shape is of_one_template:
        assert large.kept == large.largest_form == 6_000
        assert large.capped_lists > 0
        # These hide next to nothing.
        assert "may be missed" not in "\n".join(template_notes(large))


def copies(count):
    """Return a text and copies of it, each with two characters of its own."""
    rng = random.Random(2)
    text = hard_texts.FORM + hard_texts.letters(rng, 120)
    return [text] + [hard_texts.edited(rng, text) for _ in range(count - 1)]


def run(texts, folder):
    """Run over a file of texts; return its counts and the notes."""
    folder.mkdir()
    path = hard_texts.write_records(folder / "in.jsonl", texts)
    watch = RecordedProgress()
    kept, removed = folder / "kept.jsonl", folder / "removed.jsonl"
    result = dedup_files([path], kept, removed=removed, memory="1GiB", progress=watch)
    return counts(result), "\n".join(watch.notes)


@pytest.mark.slow
def test_empty_texts_cost_nothing(tmp_path):
    """Records without text are duplicates if they have the same title, of 17,576."""
    result, told = run([""] * 12_000 + ["some text of its own"], tmp_path / "memory")
    assert 8_000 < result["kept"] == 12_001 - result["exact_duplicates"]
    assert result["without_features"] == 12_000
    assert result["candidates"] == 0
    assert "12,000 records have a text with nothing to compare" in told
    assert "records were dropped for one kept record" not in told


@pytest.mark.slow
def test_copies_of_one_text_cost_one_candidate_each(tmp_path):
    result, told = run(copies(12_000), tmp_path / "memory")
    # Some have 未 inserted, which turns the meaning.
    kept = result["kept"]
    assert 1 <= kept <= 6
    assert result["candidates"] <= kept * 12_000
    largest = result["largest_cluster"]
    assert 11_900 < largest <= 12_001 - kept
    assert f"{largest - 1:,} records were dropped for one kept record" in told
