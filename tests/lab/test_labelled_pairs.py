"""Labelled pairs: their files, values, ranking, mistakes."""

import csv
import io
import json
import re
import shutil

import numpy as np
import pytest
from tests.conftest import ROOT
from tests.kit.sentences import written
from tests.reference.normalize import without_ends

import neardup
from neardup import InputError, MissingDependencyError
from neardup.lab import evaluate_pairs
from neardup.lab.datasets.collection import Documents
from neardup.lab.datasets.labels import LabelledPair, Truth, read_truth
from neardup.lab.experiments.labelled_pairs.cases import Cases, count_contradictions, number_units
from neardup.lab.experiments.labelled_pairs.report import FILES, list_parts, make_contents
from neardup.lab.report import format_plain
from neardup.recipe.assets import compiled
from neardup.recipe.measures import MEASURES_OF_TEXTS, measure_name

EXAMPLES = ROOT / "examples" / "evaluate"
DOCS, PAIRS = EXAMPLES / "documents.jsonl", EXAMPLES / "pairs.tsv"
TRUTH = PAIRS.read_text("utf-8")
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
    return list(csv.DictReader(io.StringIO((result.folder / name).read_text("utf-8-sig"))))


def shingles(text, k):
    return {text[index : index + k] for index in range(len(text) - k + 1)}


def values_of(result, name):
    return next(m.measured.values for m in result.measures if m.name == name)


@pytest.mark.slow
def test_files_have_the_values_the_ranking_and_the_report(result):
    assert {path.name for path in result.folder.iterdir()} == set(FILES)
    pairs, measures = rows_of(result, "pairs.csv"), rows_of(result, "measures.csv")
    assert [row["id_a"] for row in pairs] == [p.id_a for p in result.cases.truth.pairs]
    assert len(pairs) == 15
    assert all("uplicates" in row["why"] for row in pairs)
    assert [row["measure"] for row in measures] == [m.name for m in result.measures]
    for measure in result.measures:
        column = [float(row[measure.name]) for row in pairs]
        assert np.allclose(column, measure.measured.values, atol=1e-5)
    text = make_contents(result)["report.md"].decode()
    assert (result.folder / "report.md").read_text("utf-8") == text
    assert f"({FILES[-1]})" in text
    assert "6 duplicates and 9 other pairs are few" in text


@pytest.mark.slow
def test_values_equal_the_rest_of_the_package(result):
    core = compiled(neardup.load_recipe("general"))
    texts = dict(zip(result.cases.documents.ids, result.cases.documents.texts, strict=True))
    for index, pair in enumerate(result.cases.truth.pairs):
        a, b = texts[pair.id_a], texts[pair.id_b]
        in_a, in_b = (shingles(without_ends(core.normalize(text)), 5) for text in (a, b))
        resemblance = len(in_a & in_b) / len(in_a | in_b)
        assert values_of(result, "resemblance(5)")[index] == pytest.approx(resemblance)
        for recipe in ("characters", "classic"):
            first, other = (neardup.fingerprint(text, recipe=recipe) for text in (a, b))
            assert values_of(result, recipe)[index] == first.distance(other)
        # An estimate from 128 values.
        assert abs(values_of(result, "minhash")[index] - resemblance) < 0.2


def test_the_best_is_first_and_can_be_used(result):
    f1 = [m.left_out.f1 for m in result.measures]
    assert f1 == sorted(f1, reverse=True)
    best = result.choice.best
    assert result.best.measured is best.measured
    assert result.best.is_usable
    option, bound = best.options.split()[-2:]
    assert float(bound) == pytest.approx(best.cut_off)
    decide = best.make_recipe().decide
    bounds = {"--threshold": decide.threshold, "--max-distance": decide.max_distance}
    assert bound == f"{bounds[option]:g}"
    for setting in (result.choice.default, best):
        low, high = setting.interval
        assert low <= setting.scores.f1 <= high


def test_recipes_decide_by_the_measures_of_texts(result):
    by_name = {m.name: [d.name for d in m.measured.deciders] for m in result.measures}
    assert by_name["resemblance(5)"] == ["characters", "minhash"]
    assert by_name["content(5)"] == ["general"]
    assert by_name["containment(5)"] == ["containment"]
    assert by_name["aligned"] == ["aligned"]
    assert {measure_name(name, 5, "") for name in MEASURES_OF_TEXTS} <= set(by_name)
    measure = next(m for m in result.measures if m.name == "classic")
    assert measure.measured.recipe_cut_off == 3
    assert measure.own is not None


def test_the_default_is_measured_even_if_it_is_not_asked_for(result):
    without = evaluate_pairs(DOCS, PAIRS, recipes=["classic"])
    for evaluation in (result, without):
        default = evaluation.choice.default
        assert (default.decider.name, default.measured.name) == ("general", "content(5)")
        assert default.cut_off == neardup.load_recipe("general").decide.threshold
        assert default.options == ""
        assert default.scores.f1 == pytest.approx(10 / 11)
    assert without.choice.best.options.startswith("--recipe classic --max-distance ")


def test_a_recipe_of_ones_own_is_tried_and_can_be_pasted(tmp_path):
    path = tmp_path / "own recipe.toml"
    recipe = neardup.load_recipe("general").replace(decide={"shingle": 3, "threshold": 0.4})
    path.write_text(recipe.to_toml().replace('name = "general"', 'name = "own"'), "utf-8")
    evaluation = evaluate_pairs(DOCS, PAIRS, recipes=[path])
    measure = next(m for m in evaluation.measures if m.name == "content(3)")
    assert [d.name for d in measure.measured.deciders] == ["own"]
    assert evaluation.choice.best.options.startswith(f"--recipe '{path}' --threshold ")


def test_evidence_belongs_to_the_advised_setting(result):
    assert result.choice.advised is result.choice.default
    texts = dict(zip(result.cases.documents.ids, result.cases.documents.texts, strict=True))
    called = result.choice.default.called.tolist()
    for pair, evidence, duplicate in zip(
        result.cases.truth.pairs, result.evidence, called, strict=True
    ):
        # Among so few documents nothing is common.
        alone = neardup.compare(texts[pair.id_a], texts[pair.id_b])
        assert evidence.duplicate == duplicate == alone.duplicate
        assert evidence.similarity == pytest.approx(alone.similarity)
        assert evidence.verdict == alone.verdict


def test_boilerplate_is_discounted(tmp_path):
    form = written("form", 12)
    texts = {f"{index}": form + written(f"{index}", 6) for index in range(30)}
    texts |= dict.fromkeys("ab", written("again", 8))
    docs, pairs = tmp_path / "docs.jsonl", tmp_path / "pairs.tsv"
    lines = (json.dumps({"id": id, "text": text}) for id, text in texts.items())
    docs.write_text("\n".join(lines), "utf-8")
    pairs.write_text("id_a\tid_b\tlabel\n3\t23\tno\na\tb\tyes\n", "utf-8")
    common, same = evaluate_pairs(docs, pairs, recipes=["general"]).evidence
    assert common.evidence.weighted_resemblance < common.resemblance - 0.1
    assert same.evidence.weighted_resemblance == same.resemblance == 1


def labelled(pairs, duplicate=None):
    """Cases of documents from A to H, which pairs of letters name."""
    flags = duplicate or [True] * len(pairs)
    rows = [LabelledPair(*ids, "", flag, "", "", 1) for ids, flag in zip(pairs, flags, strict=True)]
    documents = Documents(tuple("abcdefgh"), (None,) * 8, tuple("ABCDEFGH"))
    a, b = (np.array(["abcdefgh".index(ids[side]) for ids in pairs]) for side in (0, 1))
    return Cases(Truth("", tuple(rows), 0), documents, a, b)


@pytest.fixture
def evaluate(tmp_path):
    """Return a function that evaluates the example with more documents and other pairs."""

    def run(pairs, docs="", *, recipes=("classic",), **options):
        files = {"docs.jsonl": DOCS.read_text("utf-8") + docs, "pairs.tsv": pairs}
        for name, text in files.items():
            (tmp_path / name).write_text(text, "utf-8")
        return evaluate_pairs(*(tmp_path / name for name in files), recipes=recipes, **options)

    return run


def test_contradicting_labels_are_counted(evaluate):
    # A, C and B are one text by the first two labels, A and C none by the third.
    pairs = ["ab", "cb", "ac", "df"]
    assert count_contradictions(labelled(pairs, [True, True, False, False])) == 1
    assert count_contradictions(labelled(pairs, [True, False, False, False])) == 0
    more = TRUTH + "ferry\tbridge\tyes\ntea\tferry\tno\n"
    assert count_contradictions(evaluate(more).cases) == 0
    after = evaluate(more + "ferry-repost\tbridge\tno\n")
    assert count_contradictions(after.cases) == 1
    assert "1 pair is labelled as no duplicate" in format_plain(list_parts(after))


def test_pairs_with_common_documents_belong_together():
    assert number_units(labelled(["ab", "ef", "bc", "gh"])).tolist() == [0, 1, 0, 2]
    # Three of four: what would be learned from the last one alone?
    assert number_units(labelled(["ab", "ac", "bc", "gh"])).tolist() == [0, 1, 2, 3]


def test_groups_of_the_labels_are_left_out_one_by_one(result, evaluate):
    lines = TRUTH.splitlines()
    groups = ["group", *(f"{index % 3}" for index in range(len(lines) - 1))]
    rows = (f"{line}\t{group}\n" for line, group in zip(lines, groups, strict=True))
    evaluation = evaluate("".join(rows))
    assert (evaluation.choice.left_out, result.choice.left_out) == ("group", "shared")


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    """An evaluation with both kinds of mistakes, and with hostile texts, ids and labels."""
    folder = tmp_path_factory.mktemp("mistakes")
    text = "公告：明天起夜渡改点，末班船推迟到十点二十，票价仍是四元，请旅客留意。"
    added = [{"id": HOSTILE, "text": text}, {"id": "other", "text": f"{text}特此公告。"}]
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in added)
    (folder / "docs.jsonl").write_text(DOCS.read_text("utf-8") + lines, "utf-8")
    rows = f"{HOSTILE}\tother\t{HOSTILE}\t\nferry\tlevel-monday\tyes\tlow\n"
    (folder / "pairs.tsv").write_text(PAIRS.read_text("utf-8") + rows, "utf-8")
    return evaluate_pairs(folder / "docs.jsonl", folder / "pairs.tsv", recipes=["general"])


HOSTILE = "<b>| `x` |</b>\x1b[2K\u202e渡船"


def test_mistakes_are_a_table_with_their_reasons(wrong):
    mistakes = wrong.mistakes(found=True), wrong.mistakes(found=False)
    assert all(mistakes)
    shown, report = format_plain(list_parts(wrong)), make_contents(wrong)["report.md"].decode()
    head = f": {len(mistakes[0])} wrongly called duplicates, {len(mistakes[1])} missed; "
    assert head in shown
    assert head in report
    *_, table = shown.split("\n\n")
    rows = table.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [
        kind for kind, places in zip(("wrong", "missed"), mistakes, strict=True) for _ in places
    ]
    for row, place in zip(rows, [*mistakes[0], *mistakes[1]], strict=True):
        assert row.endswith(wrong.evidence[place].verdict)
    assert "漏判" in format_plain(list_parts(wrong), "zh")
    # Nothing of the input acts on a terminal, or is taken for Markdown.
    assert not {"\x1b", "\u202e"} & set(shown)
    assert r"\<b\>\| \`x\` \|" in report
    for block in re.findall(r"(?:^\|.*\n)+", report, re.MULTILINE):
        assert len({line.replace(r"\|", "").count("|") for line in block.splitlines()}) == 1


def test_the_worst_mistake_is_the_first(wrong):
    values = wrong.choice.advised.measured.values
    found, missed = (values[wrong.mistakes(found=found)] for found in (True, False))
    assert found.tolist() == sorted(found, reverse=True)
    assert missed.tolist() == sorted(missed)


def test_the_table_explains_its_columns(result):
    shown = format_plain(list_parts(result))
    assert result.choice.best.options in shown.splitlines()[2]
    assert not set("`*") & set(shown)
    for column in ("unseen", "best cut", "own cut", "recipes"):
        assert f"\n{column}: " in shown


@pytest.mark.slow
def test_the_same_again_with_other_threads(result, tmp_path):
    again = evaluate_pairs([DOCS], PAIRS, tmp_path / "again", recipes=RECIPES, workers=2)
    for name in FILES:
        assert (again.folder / name).read_bytes() == (result.folder / name).read_bytes(), name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ferry\tnobody\tyes\n", "line 17: must name documents of the input"),
        ("ferry\ttwin\tyes\n", "several have the id 'twin'"),
    ],
)
def test_impossible_ids_are_refused(evaluate, tmp_path, change, message):
    twins = '{"id":"twin","text":"one"}\n{"id":"twin","text":"two"}\n'
    with pytest.raises(InputError, match=message):
        evaluate(TRUTH + change, twins, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_texts_without_a_sketch(evaluate, tmp_path):
    """Punctuation has no fingerprint: it equals the same punctuation and nothing else."""
    texts = {"a": "……！", "b": "……！", "c": "？？", "d": "一段有字的文章，说的是渡口。"}
    docs = "".join(f'{{"id":"{id}","text":"{text}"}}\n' for id, text in texts.items())
    pairs = "id_a,id_b,label\na,b,yes\na,c,no\nc,d,no\n"
    evaluation = evaluate(pairs, docs, output=tmp_path / "out")
    values = values_of(evaluation, "classic")
    assert values[0] == 0
    assert np.isnan(values[1:]).all()
    assert [row["classic"] for row in rows_of(evaluation, "pairs.csv")] == ["0", "", ""]


def test_records_without_a_text_are_left_out_and_counted(evaluate):
    evaluation = evaluate(TRUTH, '{"id":"x"}\n')
    assert (evaluation.problems, len(evaluation.cases.documents)) == (1, 18)


@pytest.mark.parametrize("missing", ["matplotlib", "sklearn"])
def test_a_missing_package_is_named_before_any_work(missing, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'neardup\[lab\]'"):
        evaluate_pairs("no.jsonl", "no.tsv", tmp_path / "out")


def test_three_pairs_are_judged_with_caution(evaluate):
    evaluation = evaluate(
        "id_a\tid_b\tlabel\nferry\tferry-repost\tyes\ntea\ttea-edited\tyes\nferry\ttea\tno\n"
    )
    assert evaluation.choice.left_out == "pair"
    message = format_plain(list_parts(evaluation))
    assert "2 duplicates and 1 other pairs are few" in message
    assert "Most pairs are connected" in message


def test_labels_the_wrong_way_round_are_suspected(evaluate):
    turned = TRUTH.replace("near-duplicate", "no").replace("different", "yes")
    evaluation = evaluate(turned.replace("same-event", "no"), recipes=["general", "classic"])
    assert not evaluation.choice.is_better
    assert "are swapped" in format_plain(list_parts(evaluation))


@pytest.mark.shared
@pytest.mark.slow
def test_the_shared_pairs(shared, tmp_path):
    folder = shared / "corpora" / "labelled_pairs_zh"
    docs = tmp_path / "docs.jsonl.zst"
    shutil.copy(folder / "docs.jsonl.zst", docs)
    evaluation = evaluate_pairs(docs, folder / "pairs.tsv", workers=2)
    assert (len(evaluation.cases.truth.pairs), int(evaluation.cases.is_true.sum())) == (53, 17)
    unseen = {m.name: round(m.left_out.f1, 2) for m in evaluation.measures}
    assert unseen["resemblance(5)"] == 0.80
    # The best measure, each pair judged by the cut-off of the others.
    assert evaluation.measures[0].left_out.f1 >= 0.8
    assert evaluation.choice.default.scores.f1 >= 0.8


# Files of labelled pairs

HEAD = "id_a\tid_b\tlabel\n"


@pytest.fixture
def truth(tmp_path):
    def read(text):
        path = tmp_path / "pairs.tsv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_truth(path)

    return read


@pytest.mark.parametrize(
    ("label", "duplicate"),
    [
        *((label, True) for label in ("near-duplicate", "Duplicate", "1", "TRUE", "yes")),
        *((label, False) for label in ("0", "no", "same-event", "duplicates")),
    ],
)
def test_label_is_a_duplicate_or_another_pair(truth, label, duplicate):
    other = "no" if duplicate else "yes"
    result = truth(f"{HEAD}a\tb\t{label}\nc\td\t{other}\n")
    assert result.pairs[0].duplicate is duplicate
    assert result.labels[label] == (duplicate, 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\ufeffid_a,id_b,label,confidence\r\na,b,yes,high\r\n\r\nc,d,no,low\r\n", 4),
        ("note\tlabel\tid_b\tid_a\tconfidence\nx\tyes\tb\ta\thigh\n\tno\td\tc\tlow\n", 3),
    ],
)
def test_columns_in_any_order_with_tabs_or_commas(truth, text, line):
    result = truth(text)
    assert [(p.id_a, p.id_b, p.duplicate, p.confidence) for p in result.pairs] == [
        ("a", "b", True, "high"),
        ("c", "d", False, "low"),
    ]
    assert result.pairs[1].line == line


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_only_cr_and_lf_end_a_line(truth, separator, line_end):
    rows = ["id_a,id_b,label,note", f"a,b,yes,see{separator}e,f,no", "c,d,no,"]
    result = truth(line_end.join(rows))
    assert [(p.id_a, p.id_b, p.line) for p in result.pairs] == [("a", "b", 2), ("c", "d", 3)]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        # A spreadsheet may write another encoding.
        (
            "id_a,id_b,label\n渡轮,转载,yes\n码头,灯塔,no\n".encode("gbk"),
            [("渡轮", ""), ("码头", "")],
        ),
        ("id_a,id_b,label,group\na,b,yes,news\nc,d,no,\n", [("a", "news"), ("c", "")]),
    ],
)
def test_ids_and_groups_are_read(truth, text, pairs):
    assert [(pair.id_a, pair.group) for pair in truth(text).pairs] == pairs


def test_repeated_pair_counts_once(truth):
    result = truth(f"{HEAD}a\tb\tyes\nb\ta\tduplicate\nc\td\tno\n")
    assert (len(result.pairs), result.repeated) == (2, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: must name the columns"),
        ("a\tb\tyes\n", "Got none called id_a, id_b, label"),
        (HEAD, "at least one labelled pair"),
        (f"{HEAD}a\tb\n", "line 2: must have a value in 'label'"),
        (f"{HEAD}a\ta\tyes\n", "line 2: must pair two documents"),
        (f"{HEAD}a\tb\tyes\nb\ta\tno\n", "line 3: must label a pair as line 2 does"),
        (f"{HEAD}a\tb\tyes\n", "both duplicates and other pairs"),
        (f"{HEAD}a\tb\tdup\n", "duplicates are labelled near-duplicate"),
    ],
)
def test_refusal_names_the_file_and_the_line(truth, text, message):
    with pytest.raises(InputError) as caught:
        truth(text)
    assert "pairs.tsv" in str(caught.value)
    assert message in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_truth(tmp_path / "none.tsv")
