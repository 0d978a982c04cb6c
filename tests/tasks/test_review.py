"""A review: what it shows, and that the page and the short representations have it."""

import copy
import html
import json
import pickle
import random
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.browser import unreadable
from tests.conftest import ROOT
from tests.index.written import families, letters
from tests.kit import strategies
from tests.pages.contract import Outline, check_html

import neardup
from neardup import ParameterError, dedup, dedup_files
from neardup.lab import evaluate_pairs
from neardup.recipe import load_recipe
from neardup.recipe.assets import compiled
from neardup.run.restore_ids import line_of
from neardup.tasks.review import ALIGNED, LISTED, LONGEST

LABELLED = ROOT / "examples" / "evaluate"
FERRY = "渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐，末班时间推迟到夜里十一点。"


FERRIES = [
    {"title": "first", "text": FERRY},
    {"title": "second", "text": f"{FERRY}甲"},
    {"title": None, "text": f"{FERRY}乙"},
]


def texts_by_id(texts):
    return {str(index): text for index, text in enumerate(texts)}


def collection(seed=3):
    return families(seed, 150, length=80)


def assert_right(review, result, texts_of_input, other=None):
    """All that a review shows, computed again from the table of removed documents."""
    rows = result.removed.to_pylist()
    near = [row for row in rows if row["similarity"] < 1]
    assert len(near) > 5
    known = {"input": texts_of_input, "against": other}
    lowest = sorted((row["kind"] == "identical", row["similarity"]) for row in rows)
    assert [(r.kind == "identical", r.similarity) for r in review.removals] == lowest
    columns = ("id", "kept_id", "similarity", "kind")
    found = {(r.removed["id"], r.kept["id"], r.similarity, r.kind) for r in review.removals}
    assert found == {tuple(row[name] for name in columns) for row in rows}
    for place, removal in enumerate(review.removals):
        length = LONGEST if place < ALIGNED else LISTED
        text = texts_of_input[removal.removed["id"]]
        assert removal.removed["length"] == len(text)
        assert text.startswith(removal.removed["text"])
        assert len(removal.removed["text"]) >= min(length, len(text))
        side = "against" if removal.is_against else "input"
        assert known[side][removal.kept["id"]].startswith(removal.kept["text"])
    counts = Counter((row["kept_id"], row.get("kept_from", "input")) for row in rows)
    sizes = sorted((count for count in counts.values() if count > 1), reverse=True)
    assert [group["count"] for group in review.groups] == sizes[:20]
    for group in review.groups:
        chosen = [row for row in rows if row["kept_id"] == group["kept"]["id"]]
        assert group["count"] in {len(chosen), counts[group["kept"]["id"], "input"]}
        assert set(group["ids"]) <= {row["id"] for row in chosen}
        assert group["least"] >= min(row["similarity"] for row in chosen)
    differing = [kind for kind in result.removed["kind"].to_pylist() if kind != "identical"]
    assert sum(count for *_, count in review.classes) == len(differing)
    for begin, end, count in review.classes:
        least = sum(begin + 0.001 <= row["similarity"] < end - 0.001 for row in near)
        assert count >= least


def test_the_least_similar_and_the_largest_groups_are_shown():
    texts = collection()
    result = dedup(texts)
    assert_right(result.review(), result, texts_by_id(texts))


@pytest.mark.parametrize("recipe", ["shingle", "news"])
def test_review_has_distances_only_of_recipes_of_fingerprints(recipe):
    texts = collection(4)
    result = dedup(texts, recipe=recipe)
    review = result.review()
    assert review.removals
    for removal in review.removals:
        assert texts[int(removal.removed["id"])].startswith(removal.removed["text"])
        has_features = removal.removed["text"].strip() != ""
        assert (removal.distance is not None) == (recipe == "news" and has_features)


def test_texts_of_both_sides():
    texts = collection(5)
    texts_of_input, other = texts[::2], texts[1::2]
    table = pa.table({"body": other, "id": [f"b{index}" for index in range(len(other))]})
    result = dedup(texts_of_input, against=table)
    known = dict(zip(table["id"].to_pylist(), other, strict=True))
    review = result.review()
    assert {removal.is_against for removal in review.removals} == {True, False}
    assert_right(review, result, texts_by_id(texts_of_input), known)


def test_long_texts_are_cut():
    long = "".join(random.Random(1).choices(FERRY, k=LONGEST + 500))
    review = dedup([long, long[:-100]], threshold=0.5).review()
    (item,) = review.removals
    assert (len(item.kept["text"]), item.kept["length"]) == (LONGEST, len(long))
    cut = f"the first {LONGEST:,} of {len(long):,} characters"
    assert cut in review.to_html(language="en")


def forms(count, seed=2):
    """Texts that share eight sentences, each with one of its own."""
    rng = random.Random(seed)
    shared = "".join(f"{letters(rng, 30)}。" for _ in range(8))
    return [f"{shared}{letters(rng, 25)}。" for _ in range(count)]


def test_review_shows_documents_kept_for_unique_text():
    texts = forms(80)
    result = dedup(texts)
    review = result.review()
    assert result.summary.kept_by_unique_text > len(review.kept_by_unique_text) == 10
    assert not review.removals
    numbers = [int(row["document"]["id"]) for row in review.kept_by_unique_text]
    assert numbers == sorted(numbers)
    for row in review.kept_by_unique_text:
        assert result.plan.threshold <= row["similarity"] <= 1
        assert int(row["other"]["id"]) < int(row["document"]["id"])
        for side in ("document", "other"):
            assert row[side]["text"] == texts[int(row[side]["id"])]
            assert result.keep[int(row[side]["id"])]
        # Each was kept for unique text, not for a lower similarity.
        compared = neardup.compare(row["document"]["text"], row["other"]["text"])
        assert compared.similarity >= result.plan.threshold
    page = review.to_html(language="en")
    ids = Outline(page).ids
    assert len(ids) == len(set(ids))
    assert f"The first 10 of {result.summary.kept_by_unique_text}" in page
    assert page.count('class="own"') == 10
    for same in (dedup(texts, workers=1), dedup(pa.table({"text": pa.chunked_array([texts])}))):
        assert same.review().kept_by_unique_text == review.kept_by_unique_text


def test_review_shows_similar_documents_of_the_other_side():
    texts = forms(80)
    review = dedup(texts[40:], against=texts[:40]).review()
    assert {row["is_against"] for row in review.kept_by_unique_text} == {True}
    shown = {row["document"]["text"] for row in review.kept_by_unique_text}
    assert shown <= set(texts[40:])
    assert "of the other collection" in review.to_html(language="en")
    assert dedup(collection()).review().kept_by_unique_text == ()


def test_review_of_no_removals_says_so():
    result = dedup(["渡船九点开。", "Rain is expected."])
    review = result.review()
    assert review.removals == review.groups == review.classes == ()
    assert "Nothing was removed." in review.to_html(language="en")
    assert result.doubtful() == []


#: Fields of the records of one story, each with the title, date and source that are shown.
FACTS = [
    (
        {"title": "渡轮试航", "date": "2025-03-02", "source": "青岚晚报"},
        ("渡轮试航", "2025-03-02", "青岚晚报"),
    ),
    (
        {"title": "<script>alert(1)</script>\u202e", "published": 2025, "site": "a & b"},
        ("<script>alert(1)</script>\u202e", "2025", "a & b"),
    ),
    (
        {"title": None, "date": None, "at": "03-04", "source": ["x"], "publisher": "社"},
        (None, "03-04", "社"),
    ),
    ({}, (None, None, None)),
]


def facts_of(review):
    documents = [d for removal in review.removals for d in (removal.removed, removal.kept)]
    return {d["id"]: (d["title"], d["date"], d["source"]) for d in documents}


def test_titles_dates_and_sources_are_shown(tmp_path):
    records = [
        {"id": f"r{n}", "text": FERRY + "甲乙丙丁"[n], **f} for n, (f, _) in enumerate(FACTS)
    ]
    shown = {f"r{number}": facts for number, (_, facts) in enumerate(FACTS)}
    review = dedup(records).review()
    assert facts_of(review) == shown
    page = review.to_html(language="en")
    check_html(page)
    for words in ("2025-03-02", "&lt;script&gt;alert(1)&lt;/script&gt;", "a &amp; b"):
        assert words in page
    # Tables of files lack different fields.
    dump = tmp_path / "dump"
    dump.mkdir()
    pq.write_table(pa.Table.from_pylist(records[:1]), dump / "a.parquet")
    (dump / "b.jsonl").write_text("\n".join(map(json.dumps, records[1:3])))
    (dump / "c.csv").write_text(f"id,text\nr3,{records[3]['text']}\n", "utf-8")
    result = dedup_files([dump], tmp_path / "o.jsonl", review=tmp_path / "r.html")
    assert facts_of(result.review()) == shown


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_titles_of_tables(kind):
    table = pa.Table.from_pylist([{"name": "n", **record} for record in FERRIES])
    data = {
        "arrow": lambda: table,
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table),
    }
    result = dedup(data[kind]())
    expected = dedup(FERRIES)
    assert result.removed.equals(expected.removed)
    assert result.removed.column("title").to_pylist() == ["second", None]
    assert result.removed.column("kept_title").to_pylist() == ["first", "first"]
    assert facts_of(result.review()) == facts_of(expected.review())
    named = dedup(data[kind](), title_field="name").removed
    assert named.column("title").to_pylist() == ["n", "n"]
    for texts in ([FERRY, f"{FERRY}完"], pa.chunked_array([[FERRY], [f"{FERRY}完"]])):
        assert dedup(texts).removed.column_names[-1] == "cluster_size"


def test_all_removals_have_a_box():
    texts = [f"{FERRY * 3}{number % 140}号" for number in range(150)]
    ids = [f"id\n{number}" if number % 2 else f"id-{number}" for number in range(150)]
    result = dedup(pa.table({"text": texts, "id": ids}), threshold=0.1)
    page = result.review().to_html(language="en")
    boxes = re.findall(r'type="checkbox" value="([^"]*)"', page)
    assert len(boxes) == len(result.removed) > ALIGNED
    lines = list(map(html.unescape, boxes))
    assert sorted(lines) == sorted(map(line_of, result.removed.column("id").to_pylist()))
    identical = result.removed["kind"].to_pylist().count("identical")
    assert page.count("same text</h3>") == identical > 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = collection(6)
    lines = [json.dumps({"id": f"d{index}", "text": text}) for index, text in enumerate(texts)]
    Path("in.jsonl").write_text("\n".join(lines))
    return texts


def test_files(folder):
    result = dedup_files(["in.jsonl"], "out.jsonl", review="review.html")
    known = {f"d{index}": text for index, text in enumerate(folder)}
    assert_right(result.review(), result, known)
    page = Path("review.html").read_text("utf-8")
    assert page == result.review().to_html()
    for removal in result.review().removals:
        assert removal.removed["id"] in page
    with pytest.raises(ParameterError, match="'review' parameter of dedup_files"):
        dedup_files(["in.jsonl"], "out-2.jsonl").review()


def test_against_saved_sketches(folder):
    known = {f"d{index}": text for index, text in enumerate(folder)}
    normalize = compiled(load_recipe()).normalize
    neardup.sketch_files(["in.jsonl"], "in.sketches")
    result = dedup_files(["in.jsonl"], "out.jsonl", against=["in.sketches"], review="r.html")
    assert result.summary.exact_duplicates > 100
    for group in result.review().groups:
        assert group["kept"]["text"] == normalize(known[group["kept"]["id"]])


@pytest.mark.usefixtures("folder")
def test_dry_run_writes_only_named_outputs():
    options = {"removed": "removed.jsonl", "report": "report.json"}
    wet = dedup_files(["in.jsonl"], "out.jsonl", **options)
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    options = {"removed": "r.jsonl", "report": "report-2.json", "review": "review.html"}
    dry = dedup_files(["in.jsonl"], "o.jsonl", dry_run=True, **options)
    assert dry.removed.equals(wet.removed)
    assert dry.summary.kept == wet.summary.kept
    names = {path.name for path in Path().iterdir()}
    assert names - set(before) == {"report-2.json", "review.html"}


def test_hostile_text_on_the_page_is_inert():
    body = "渡船早上九点从老码头开出，下午五点回来，票在码头的窗口卖。" * 3
    texts = [f"{body}{odd}" for odd in strategies.TEXTS.values()]
    texts.append(f"{body}</script><script>alert(1)</script>\u202e<img src=x onerror=alert(1)>")
    table = pa.table({"text": texts, "id": [f"<b>{index}</b>" for index in range(len(texts))]})
    page = dedup(table, threshold=0.3).review().to_html(language="en")
    check_html(page, "en")
    assert "<b>0" not in page


def test_page_is_in_both_languages_and_in_a_notebook():
    review = dedup([FERRY, f"{FERRY}完"]).review()
    check_html(review.to_html(language="zh"), "zh-CN")
    with pytest.raises(ParameterError, match="language"):
        review.to_html(language="de")
    shown = review._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert html.unescape(shown).count(review.to_html()) == 1


def test_a_result_is_pickled_without_its_input():
    result = dedup(collection(8))
    same = pickle.loads(pickle.dumps(result))
    assert same.removed.equals(result.removed)
    assert same.doubtful() == result.doubtful()
    with pytest.raises(ParameterError, match="review"):
        same.review()


def test_results_are_shown_on_one_screen(tmp_path):
    texts = collection(7) * 3
    tests = [FERRY]
    results = {
        "DedupResult": dedup(texts),
        "PairsResult": neardup.pairs(texts[:300]),
        "RepeatsResult": neardup.repeats(texts),
        "ContaminationResult": neardup.contamination(texts, tests),
        "Comparison": neardup.compare(texts[0], texts[1], passages=True),
        "PairsEvaluation": evaluate_pairs(
            LABELLED / "documents.jsonl", LABELLED / "pairs.tsv", recipes=["classic"]
        ),
    }
    with neardup.Index(tmp_path / "n.db") as index:
        results["AddResult"] = index.add_many(
            [{"id": str(number), "text": text} for number, text in enumerate(texts)]
        )
        results["Stats"] = index.stats()
    for name, result in results.items():
        # By identity or by value: arrays compare by element.
        assert result == result != None  # noqa: E711
        assert isinstance(result == copy.copy(result), bool)
        shown = repr(result)
        lines = shown.splitlines()
        assert lines[0] == name
        assert len(lines) < 20
        assert max(map(len, lines)) < 140
        page = result._repr_html_()
        assert page.startswith("<table>")
        assert f">{name}</caption>" in page
    assert "  kept              " in repr(results["DedupResult"])
    odd = dedup(pa.table({"text": [FERRY, f"{FERRY}完"], "id": ["<a>\x1b[31m", "<b>\u202e\nc"]}))
    assert "&lt;b&gt;" in odd._repr_html_()
    assert r"<b>\u202e c repeats <a>\x1b[31m" in repr(odd)
    assert "\x1b" not in repr(odd)


@pytest.mark.slow
def test_review_filters_in_a_browser(tmp_path, tabs):
    path = tmp_path / "review.html"
    texts = [f"{FERRY * 9}{word}" for word in ("今天", "明天下雨", "后天", "Ferry")]
    dedup(texts, threshold=0.3).review().save(path, language="en")
    for width in (1280, 400):
        page = tabs.open(width, lambda url: url.partition("#")[0] == path.as_uri())
        page.goto(path.as_uri())
        assert page.locator("article:visible").count() == 3
        assert unreadable(page) == []
        page.fill("#search", "下雨")
        assert page.locator("article:visible").count() == 1
        assert page.locator("[role=status]").inner_text() == "pairs shown: 1"
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
    assert tabs.leave() == []


@pytest.mark.slow
def test_ids_are_chosen_in_a_browser(tabs, tmp_path):
    path = tmp_path / "review.html"
    texts = [f"{FERRY * 3}{number}号" for number in range(130)]
    ids = [f"id\n{number}" if number % 2 else f"编号 {number}" for number in range(130)]
    result = dedup(pa.table({"text": texts, "id": ids}), threshold=0.1)
    assert len(result.removed) > ALIGNED
    result.review().save(path, language="en")

    def is_own(url):
        return url.partition("#")[0] == path.as_uri() or url.startswith("blob:")

    page = tabs.open(1280, is_own)
    page.goto(path.as_uri())
    assert page.locator("article:visible").count() == 50
    assert page.locator("#save").is_disabled()
    first = page.locator("article:visible input").first
    first.check()
    chosen = [first.get_attribute("value")]
    after = page.locator(".pager button").nth(1)
    for _ in range(2):
        after.click()
    assert after.is_disabled()
    assert page.locator("article:visible").count() == len(result.removed) - ALIGNED
    last = page.locator("article:visible input").last
    last.check()
    chosen.append(last.get_attribute("value"))
    assert page.locator(".chosen p").inner_text() == "to restore: 2"
    with page.expect_download() as download:
        page.click("#save")
    assert download.value.suggested_filename == "ids.txt"
    assert Path(download.value.path()).read_text("utf-8").splitlines() == chosen
    page.click(".chosen summary")
    assert page.locator("#lines").input_value().splitlines() == chosen
    page.goto(f"{path.as_uri()}#p60")
    assert page.locator("#p60").is_visible()
    assert not page.locator("#p1").is_visible()
    assert tabs.leave() == []
