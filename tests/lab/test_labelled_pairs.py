"""Labelled pairs end to end: values, ranking, consequences, files."""

import csv
import io
import shutil

import numpy as np
import pytest
from tests.conftest import ROOT

import neardup
from neardup import InputError, MissingDependencyError, OutputError, ParameterError, _core
from neardup.lab import evaluate_pairs
from neardup.lab.datasets.collection import Documents
from neardup.lab.experiments.labelled_pairs.consequences import implied_clusters
from neardup.lab.experiments.labelled_pairs.differences import differences
from neardup.lab.experiments.labelled_pairs.measures import Pairs
from neardup.lab.experiments.labelled_pairs.rare_shingles import rare_overlaps, shingles
from neardup.lab.experiments.labelled_pairs.report import FILES, command, markdown, terminal
from neardup.recipe.assets import compiled

EXAMPLES = ROOT / "examples" / "evaluate"
DOCS, PAIRS = EXAMPLES / "documents.jsonl", EXAMPLES / "pairs.tsv"
RECIPES = [
    "characters",
    "classic",
    "minhash",
    "shingle-sample",
    "general",
    "containment",
    "aligned",
]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs") / "made" / "here"
    return evaluate_pairs(DOCS, PAIRS, folder, recipes=RECIPES, workers=1)


def rows_of(result, name):
    return list(csv.DictReader(io.StringIO((result.folder / name).read_text("utf-8"))))


def values_of(result, name):
    return next(m.measured.values for m in result.measures if m.name == name)


@pytest.mark.slow
def test_the_files(result):
    assert {path.name for path in result.folder.iterdir()} == set(FILES)
    pairs, measures = rows_of(result, "pairs.csv"), rows_of(result, "measures.csv")
    assert len(pairs) == len(result.truth.pairs) == 15
    assert [row["measure"] for row in measures] == [m.name for m in result.measures]
    assert [row["recommended"] for row in measures].count("1") == 1
    for measure in result.measures:
        column = [float(row[measure.name]) for row in pairs]
        assert np.allclose(column, measure.measured.values, atol=1e-6)


@pytest.mark.slow
def test_values_are_those_of_the_rest_of_the_package(result):
    core = compiled(neardup.load_recipe("general"))
    texts = dict(zip(result.documents.ids, result.documents.texts, strict=True))
    for at, pair in enumerate(result.truth.pairs):
        a, b = texts[pair.id_a], texts[pair.id_b]
        in_a, in_b = (shingles(core.normalize(text), 5) for text in (a, b))
        resemblance = len(in_a & in_b) / len(in_a | in_b)
        assert values_of(result, "resemblance(5)")[at] == pytest.approx(resemblance)
        for recipe in ("characters", "classic"):
            one, other = (neardup.fingerprint(text, recipe=recipe) for text in (a, b))
            assert values_of(result, recipe)[at] == one.distance(other)
        # An estimate from 128 values.
        assert abs(values_of(result, "minhash")[at] - resemblance) < 0.2


def test_the_best_is_first_and_can_be_used(result):
    f1 = [m.sweep.left_out.f1 for m in result.measures]
    assert f1 == sorted(f1, reverse=True)
    assert result.recommended == next(m for m in result.measures if m.can_decide)
    option, bound = command(result).split()[2:]
    assert option in ("--threshold", "--max-distance")
    assert float(bound) == pytest.approx(result.recommended.sweep.cut_off)


def test_recipes_decide_by_the_measures_of_texts(result):
    by_name = {m.name: [d.name for d in m.measured.deciders] for m in result.measures}
    assert by_name["resemblance(5)"] == ["characters", "minhash"]
    assert by_name["containment(5)"] == ["containment"]
    assert by_name["aligned"] == ["aligned"]
    own = next(m for m in result.measures if m.name == "classic")
    assert own.measured.own_cut_off == 3
    assert own.default is not None


def test_content_is_what_general_decides_by(result):
    content = next(m.measured for m in result.measures if m.name == "content(5)")
    assert [d.name for d in content.deciders] == ["general"]
    table = [
        {"id": id, "text": text}
        for id, text in zip(result.documents.ids, result.documents.texts, strict=True)
    ]
    found = neardup.pairs(table, recipe="general", threshold=0.1).table.to_pylist()
    verified = {frozenset((row["id_a"], row["id_b"])): row["similarity"] for row in found}
    for pair, value in zip(result.truth.pairs, content.values.tolist(), strict=True):
        if value >= 0.1:
            assert verified[frozenset((pair.id_a, pair.id_b))] == pytest.approx(value)
        else:
            assert frozenset((pair.id_a, pair.id_b)) not in verified


def test_consequences_are_those_of_dedup(result):
    assert [c.name for c in result.consequences] == ["default", "recommended"]
    table = [
        {"id": id, "text": text}
        for id, text in zip(result.documents.ids, result.documents.texts, strict=True)
    ]
    default = result.consequences[0]
    assert default.dropped_in_all == len(neardup.dedup(table).removed)
    # tea, ferry, school, clinic have a copy, bridge two; other documents are single.
    assert default.kept.to_drop == 6
    assert default.kept.rightly <= default.kept.dropped
    assert -0.5 <= default.adjusted_rand <= 1


def test_clusters_that_labels_imply():
    documents = Documents(tuple("abcdef"), (None,) * 6, tuple("ABCDEF"))
    pairs = Pairs(documents, np.array([0, 2, 0, 3]), np.array([1, 1, 2, 5]))
    places, clusters, contradictions = implied_clusters(pairs, np.array([True, True, False, False]))
    assert places.tolist() == [0, 1, 2, 3, 5]
    assert clusters[0] == clusters[1] == clusters[2]
    assert len(set(clusters.tolist())) == 3
    assert contradictions == 1


def test_the_report(result):
    text = markdown(result)
    assert (result.folder / "report.md").read_text("utf-8") == text
    for name in FILES:
        if name.endswith(".svg"):
            assert f"({name})" in text
    for pair in (result.mistakes(found=True) + result.mistakes(found=False))[:3]:
        assert f"### {result.truth.pairs[pair].id_a} and " in text
    assert "6 duplicates and 9 other pairs are few" in text
    plain = terminal(result)
    assert plain.splitlines()[0].startswith("measure")
    assert "`" not in plain
    assert "**" not in plain


def test_mistakes_are_all_that_the_cut_off_is_wrong_about(result):
    best = result.recommended.sweep.best
    assert len(result.mistakes(found=True)) == best.fp
    assert len(result.mistakes(found=False)) == best.fn


@pytest.mark.slow
def test_the_same_again_with_other_threads(result, tmp_path):
    again = evaluate_pairs([DOCS], PAIRS, tmp_path / "again", recipes=RECIPES, workers=2)
    for name in FILES:
        assert (again.folder / name).read_bytes() == (result.folder / name).read_bytes(), name


def test_results_are_replaced_only_if_told(result):
    with pytest.raises(OutputError, match="--force"):
        evaluate_pairs(DOCS, PAIRS, result.folder, recipes=["classic"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("ferry\tnobody\tyes\n", "line 17: must name documents of the input"),
        ("ferry\ttwin\tyes\n", "which several documents have"),
    ],
)
def test_ids_that_cannot_be(tmp_path, change, said):
    docs, pairs = tmp_path / "docs.jsonl", tmp_path / "pairs.tsv"
    twins = b'{"id":"twin","text":"one"}\n{"id":"twin","text":"two"}\n'
    docs.write_bytes(DOCS.read_bytes() + twins)
    pairs.write_text(PAIRS.read_text("utf-8") + change, "utf-8")
    with pytest.raises(InputError, match=said):
        evaluate_pairs(docs, pairs, tmp_path / "out", recipes=["classic"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"recipes": []},
        {"recipes": "classic"},
        {"recipes": ["classic", "classic"]},
        {"recipes": ["nosuch"]},
        {"seed": -1},
        {"workers": -1},
        {"force": 1},
        {"text": 7},
        {"docs": 7},
        {"docs": [7]},
    ],
)
def test_bad_parameters_are_refused_by_name(tmp_path, options):
    with pytest.raises(ParameterError) as caught:
        evaluate_pairs(**{"docs": DOCS} | options, truth=PAIRS, output=tmp_path / "out")
    assert next(iter(options)).removesuffix("s") in str(caught.value)


@pytest.mark.slow
def test_texts_without_a_sketch(tmp_path):
    """Punctuation has no fingerprint: it equals the same punctuation and nothing else."""
    docs, pairs = tmp_path / "docs.jsonl", tmp_path / "pairs.tsv"
    texts = {"a": "……！", "b": "……！", "c": "？？", "d": "一段有字的文章，说的是渡口。"}
    docs.write_text("".join(f'{{"id":"{k}","text":"{v}"}}\n' for k, v in texts.items()), "utf-8")
    pairs.write_text("id_a,id_b,label\na,b,yes\na,c,no\nc,d,no\n", "utf-8")
    found = evaluate_pairs(docs, pairs, tmp_path / "out", recipes=["classic"])
    values = values_of(found, "classic")
    assert values[0] == 0
    assert np.isnan(values[1:]).all()
    assert [row["classic"] for row in rows_of(found, "pairs.csv")] == ["0", "", ""]


def test_records_without_a_text_are_left_out_and_counted(tmp_path):
    docs = tmp_path / "docs.jsonl"
    docs.write_bytes(DOCS.read_bytes() + b'{"id":"x"}\n')
    found = evaluate_pairs(docs, PAIRS, recipes=["classic"])
    assert (found.problems, len(found.documents)) == (1, 18)


@pytest.mark.parametrize("missing", ["matplotlib", "sklearn"])
def test_a_missing_package_is_named_before_any_work(missing, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'neardup\[lab\]'"):
        evaluate_pairs("no.jsonl", "no.tsv", tmp_path / "out")


def test_rare_shingles_leave_the_template_out():
    form = "水位公报：今日八时水位"
    texts = [f"{form}{at}{'涨落平升降'[at]}了，完毕" for at in range(5)]
    plain = _core.overlap(texts[0], texts[1], shingle=3)
    ((_, _, few),) = rare_overlaps(texts[:2], [(0, 1)], texts, 3)
    assert plain[2] > 5
    assert few == 0
    # A text posted many times is no template.
    assert rare_overlaps(["abcdef"], [(0, 0)], ["abcdef"] * 9, 3) == [(4, 4, 4)]
    assert rare_overlaps(["", ""], [(0, 1)], ["", "abcd"], 3) == [(0, 0, 0)]


@pytest.mark.parametrize("text", ["", "ab", "abc", "abcabcabcd", "一二三四五六一二三", "a\0b\0c"])
def test_shingles_are_those_of_the_core(text):
    assert _core.overlap(text, text, shingle=3)[0] == len(shingles(text, 3))


def test_differences():
    assert differences("同一句话。", "同一 句话。")[0].a == "同一⟦⟧句话。"
    assert differences(" 同一句话。\n", "同一句话。") == []
    (found,) = differences("水位十二米，涨了31厘米。", "水位十二米，涨了430厘米。")
    assert (found.a, found.b) == ("水位十二米，涨了⟦31⟧厘米。", "水位十二米，涨了⟦430⟧厘米。")
    (long,) = differences("甲" * 900, "乙" * 900)
    assert len(long.a) < 300


@pytest.mark.shared
@pytest.mark.slow
def test_the_shared_pairs(shared, tmp_path):
    folder = shared / "corpora" / "labelled_pairs_zh"
    docs = tmp_path / "docs.jsonl.zst"
    shutil.copy(folder / "docs.jsonl.zst", docs)
    found = evaluate_pairs(docs, folder / "pairs.tsv", workers=2)
    assert (len(found.truth.pairs), int(found.is_true.sum())) == (53, 17)
    best = {m.name: round(m.sweep.best.f1, 2) for m in found.measures}
    assert best["resemblance(5)"] == 0.80
    assert found.recommended.sweep.left_out.f1 >= 0.8
