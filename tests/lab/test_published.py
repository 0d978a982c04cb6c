"""The published experiment end to end, on a small collection."""

import csv
import dataclasses
import io
import re
import subprocess

import pytest

from neardup import InputError, MissingDependencyError, OutputError, ParameterError
from neardup.lab import Method, Scores, published
from neardup.lab import figures as lab_figures
from neardup.lab.report import markdown
from neardup.lab.tables import csv_files

pytestmark = pytest.mark.slow

FIGURES = ("precision", "recall", "time", "rates")
FILES = {
    "published.csv",
    "choices.csv",
    "sweep.csv",
    "rates.csv",
    "sizes.csv",
    "report.md",
    *(f"{name}.svg" for name in FIGURES),
    *(f"{name}.png" for name in FIGURES),
}
METHODS = ["general", Method("classic", "classic", "max_distance", tuple(range(0, 13, 3)))]


@pytest.fixture(scope="module")
def result(collection_folder, tmp_path_factory):
    output = tmp_path_factory.mktemp("lab") / "made" / "here"
    return published(collection_folder, output, methods=METHODS, sizes=[10, 44, 20], workers=1)


def rows_of(result, name):
    text = (result.folder / name).read_text("utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def untimed(result):
    """A result without what no two runs share."""
    runs = tuple(
        dataclasses.replace(run, seconds=0.0, sketch_seconds=0.0, search_seconds=0.0)
        for run in result.runs
    )
    sizes = tuple(dataclasses.replace(time, seconds=0.0) for time in result.sizes)
    return dataclasses.replace(result, runs=runs, sizes=sizes, folder=None)


def test_what_is_measured(result):
    assert result.topics == ("harbour", "market")
    assert (result.documents, result.true_pairs, result.natural) == (44, 12, 0)
    assert [(run.method, run.choice) for run in result.runs] == [
        ("general", "default"),
        ("general", "best"),
        ("classic", "default"),
        ("classic", "best"),
    ]
    for run in result.runs:
        assert [tally.topic for tally in run.tallies] == ["harbour", "market", "all"]
        assert all(tally.scores.tp + tally.scores.fn in (6, 12) for tally in run.tallies)
        assert run.seconds > 0
    found = result.chosen()[0].overall.scores
    assert (found.fp, found.tp + found.fn) == (0, 12)
    assert found.recall > 0.7
    assert [time.documents for time in result.sizes] == [10, 20, 44] * 2
    assert len(result.rates) == 2 * 7
    assert [point.rate for point in result.rates[:7]] == [0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]


def test_the_best_cut_off_is_that_of_the_development_split(result):
    for run in result.chosen():
        points = [point for point in result.sweep if point.method == run.method]
        top = max(point.scores.f1 for point in points)
        # Of equals the strictest, which comes first.
        assert run.cut_off == next(p.cut_off for p in points if p.scores.f1 == top)


def test_the_files(result):
    assert {path.name for path in result.folder.iterdir()} == FILES
    rows = rows_of(result, "published.csv")
    header = "method,cut_off,topic,tp,fp,fn,precision,recall,f1,seconds"
    assert ",".join(rows[0]) == header
    keys = [(row["method"], row["cut_off"], row["topic"]) for row in rows]
    assert len(set(keys)) == len(keys)
    for row in rows:
        scores = Scores(int(row["tp"]), int(row["fp"]), int(row["fn"]))
        assert float(row["precision"]) == pytest.approx(scores.precision, abs=1e-6)
        assert float(row["f1"]) == pytest.approx(scores.f1, abs=1e-6)
    assert len(rows_of(result, "choices.csv")) == 4
    assert len(rows_of(result, "rates.csv")) == 14
    assert len(rows_of(result, "sizes.csv")) == 6
    assert len(rows_of(result, "sweep.csv")) == len(result.sweep)


def test_the_report(result):
    text = (result.folder / "report.md").read_text("utf-8")
    images = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert images == ["precision.svg", "recall.svg", "time.svg", "rates.svg"]
    assert set(images) <= FILES
    assert "2% to 10% of the characters edited" in text
    assert "| `general` | ≥ " in text
    assert "{" not in text
    fixed = markdown(dataclasses.replace(result, rate=0.07))
    assert "Edited characters: 7% of each text." in " ".join(fixed.split())
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_figures_have_the_same_bytes_again(result):
    first = lab_figures.draw(result)
    assert first == lab_figures.draw(result)
    for name, data in first.items():
        assert data == (result.folder / name).read_bytes()
        assert data.startswith(b"\x89PNG" if name.endswith("png") else b"<?xml")
    assert not any(b"<dc:date>" in data for data in first.values())


def test_figures_leave_the_settings_of_the_caller(result):
    import matplotlib as mpl

    with mpl.rc_context({"font.size": 23, "svg.hashsalt": "mine"}):
        data = lab_figures.draw(result)
        assert (mpl.rcParams["font.size"], mpl.rcParams["svg.hashsalt"]) == (23, "mine")
    assert data == lab_figures.draw(result)


def test_nothing_found_is_not_drawn_as_precise():
    assert lab_figures._drawn(Scores(0, 0, 3), "precision") != 1
    assert lab_figures._drawn(Scores(0, 0, 3), "recall") == 0
    assert lab_figures._drawn(Scores(1, 1, 0), "precision") == 0.5


def test_the_same_again_but_for_times(result, collection_folder):
    again = published(
        collection_folder, result.folder, methods=METHODS, sizes=[20, 10], workers=2, force=True
    )
    assert untimed(again) == untimed(result)
    options = {"seed": 1, "rate": 0.2, "methods": METHODS[:1], "sizes": [], "force": True}
    other = published(collection_folder, result.folder, **options)
    assert {tuple(time.method for time in other.sizes)} == {("general",)}
    assert csv_files(other)["sweep.csv"] != csv_files(result)["sweep.csv"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"seed": -1}, "'seed' parameter must be"),
        ({"rate": 0.6}, "'rate' parameter must be"),
        ({"methods": ["none"]}, "'methods' parameter must be"),
        ({"methods": [Method("m", "news", "threshold", (0.5,))]}, "must decide by threshold"),
        ({"sizes": [45]}, "'sizes' parameter must be a whole number from 1 to 44"),
        ({"sizes": [0]}, "'sizes' parameter must be"),
        ({"sizes": "12"}, "'sizes' parameter must be a list"),
        ({"workers": -1}, "'workers' parameter must be"),
    ],
)
def test_parameters_out_of_bounds(collection_folder, tmp_path, options, expected):
    options = {"methods": ["general"], **options}
    with pytest.raises(ParameterError, match=expected):
        published(collection_folder, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_inputs_and_outputs_that_cannot_be(collection_folder, tmp_path):
    with pytest.raises(InputError, match="must be a folder"):
        published(tmp_path / "missing", tmp_path / "out", methods=["general"])
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Got a file instead"):
        published(collection_folder, tmp_path / "file", methods=["general"], sizes=[])


def test_without_matplotlib(collection_folder, tmp_path, run_python):
    call = f"{str(collection_folder)!r}, {str(tmp_path / 'out')!r}, methods=['general']"
    program = (
        "sys.modules['matplotlib'] = None\n"
        "from neardup import MissingDependencyError\n"
        "from neardup.lab import EditModel, pair_scores, published\n"
        "assert EditModel(['some words']).copy('words', 'a')\n"
        "try:\n"
        f"    published({call})\n"
        "except MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    found: subprocess.CompletedProcess[bytes] = run_python(program)
    assert found.returncode == 0, found.stderr.decode()
    assert b"pip install 'neardup[lab]'" in found.stdout
    assert issubclass(MissingDependencyError, ImportError)


def test_importing_the_lab_loads_no_extra(run_python):
    found = run_python(
        "import neardup.lab\n"
        "assert not {'matplotlib', 'sklearn', 'pyarrow'} & set(sys.modules), sys.modules.keys()\n"
    )
    assert found.returncode == 0, found.stderr.decode()


@pytest.mark.shared
@pytest.mark.slow
def test_a_part_of_the_real_topics(shared, tmp_path):
    """One topic of real news: `general` finds the copies, and is told from what repeats."""
    folder = tmp_path / "topics"
    folder.mkdir()
    source = shared / "corpora" / "topics_zh" / "housing.jsonl.zst"
    (folder / source.name).write_bytes(source.read_bytes())
    result = published(folder, tmp_path / "out", methods=["general"], sizes=[], workers=2)
    (run,) = result.chosen()
    assert (result.documents, result.true_pairs) == (500, 250)
    assert result.natural > 0
    assert run.overall.scores.recall >= 0.97
    assert run.overall.scores.precision >= 0.99
