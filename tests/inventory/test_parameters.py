"""Every parameter of every public function refuses bad values by name."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import ROOT

import neardup
import neardup.index
import neardup.lab
import neardup.papers
import neardup.readers
import neardup.server
from neardup import Index, InputError, NeardupError, ParameterError, Recipe, Report

ROWS = np.zeros((2, 1), np.uint64)
FINGERPRINT = neardup.fingerprint("a text for a fingerprint", recipe="classic")
TABLE = neardup.DocumentFrequencies(1, {"a": 1}, "words")
RECIPE = neardup.load_recipe("characters")
DATA = [{"text": "one", "id": "x"}]
TESTS = ["Which of these rivers flows through three capitals on its way to the sea?"]
QUESTIONS = ROOT / "examples" / "articles.jsonl"

FILES = {"inputs": ["/dev/null"], "output": "-", "format": "jsonl"}
#: A distance is for recipes that make fingerprints.
PRINTS = {"recipe": "characters"}
LAB = {"recipes": ["classic"]}
PAPERS = ROOT / "examples" / "papers"
EVALUATED = ROOT / "examples" / "evaluate"
PAPER = {"paper": PAPERS / "paper.md", "library": PAPERS / "library"}

#: Public callables: what to call, and arguments that are right.
CALLABLES = {
    "check": (neardup.check, PAPER),
    "compare": (neardup.compare, {"a": "x", "b": "y", "recipe": "improved"}),
    "contamination": (neardup.contamination, {"data": DATA, "tests": TESTS}),
    "contamination_files": (
        neardup.contamination_files,
        {"inputs": ["/dev/null"], "tests": [QUESTIONS], "output": "-", "format": "jsonl"},
    ),
    "count_idf": (neardup.count_idf, {"data": DATA}),
    "dedup": (neardup.dedup, {"data": DATA} | PRINTS),
    "explain": (neardup.explain, {"a": "x", "b": "y"}),
    "fingerprint_blocks": (neardup.fingerprint_blocks, {"fingerprints": ROWS}),
    "fingerprint": (neardup.fingerprint, {"text": "x", "recipe": "improved"}),
    "fingerprint_many": (neardup.fingerprint_many, {"texts": ["x"], "recipe": "improved"}),
    "repeats": (neardup.repeats, {"data": DATA}),
    "repeats_files": (
        neardup.repeats_files,
        {"inputs": ["/dev/null"], "remove": "-", "format": "jsonl"},
    ),
    "sketch_files": (
        neardup.sketch_files,
        {"inputs": ["/dev/null"], "output": "-", "format": "jsonl"},
    ),
    "dedup_files": (neardup.dedup_files, FILES | PRINTS),
    "pairs_files": (neardup.pairs_files, FILES | PRINTS),
    "fingerprint_files": (neardup.fingerprint_files, FILES),
    "check_files": (
        neardup.papers.check_files,
        {"papers": [PAPERS / "paper.md"], "library": PAPERS / "library"},
    ),
    "evaluate_pairs": (
        neardup.lab.evaluate_pairs,
        {"inputs": EVALUATED / "documents.jsonl", "truth": EVALUATED / "pairs.tsv"} | LAB,
    ),
    "published": (neardup.lab.published, {"data": EVALUATED / "topics"} | LAB),
    "load_idf": (neardup.load_idf, {"path": "no-such-table"}),
    "load_recipe": (neardup.load_recipe, {"recipe": "general"}),
    "near_pairs": (neardup.near_pairs, {"fingerprints": ROWS}),
    "pairs": (neardup.pairs, {"data": DATA} | PRINTS),
    "Fingerprint.distance": (FINGERPRINT.distance, {"other": FINGERPRINT}),
    "Fingerprint.similarity": (FINGERPRINT.similarity, {"other": FINGERPRINT}),
    "Fingerprint.blocks": (FINGERPRINT.blocks, {}),
    "Fingerprint.source_blocks": (FINGERPRINT.source_blocks, {}),
    "Fingerprint.written": (FINGERPRINT.written, {}),
    "DocumentFrequencies.save": (TABLE.save, {"path": "/dev/null/x"}),
    "Recipe": (neardup.Recipe, {"name": "x"}),
    "Recipe.replace": (RECIPE.replace, {}),
}

_THRESHOLD = (0, -0.1, 1.0001, float("nan"), float("inf"), "0.8", True)
_ROWS = (None, [[1.0]], np.zeros(2), np.zeros((2, 3), np.uint64), np.zeros(2, np.int64), "x")
_FLAG = (1, "yes", None)
_FIELD = (7, ["text"])
_TEXT = (None, 7, b"bytes", ["x"], "\ud800")
_TITLE = (7, b"bytes", "\ud800")
_OUTPUT = (7, b"out", "a\0b")
_TABLE = (None, 7, "text", {"text": "x"})
_PATHS = ([], 7, [7], [b"a"])
_COUNT = (0, -1, 2**32, 1.5, "7", True)

#: Values that a parameter refuses in every function.
BY_NAME = {
    **dict.fromkeys(("text_field", "id_field", "title_field", "test_text_field"), _FIELD),
    "group_field": _FIELD,
    **dict.fromkeys(("force", "annotate", "cluster_size", "copies"), _FLAG),
    **dict.fromkeys(("dry_run", "exhaustive", "replace"), _FLAG),
    **dict.fromkeys(("passages", "title_from_first_line"), _FLAG),
    **dict.fromkeys(("removed", "report", "restore", "review", "places"), _OUTPUT),
    **dict.fromkeys(("remove", "output"), _OUTPUT),
    **dict.fromkeys(("title", "title_a", "title_b"), _TITLE),
    **dict.fromkeys(("threshold", "min_share"), _THRESHOLD),
    **dict.fromkeys(("a", "b", "text"), _TEXT),
    "against_only": (*_FLAG, True),
    "bits": (0, 512, "64", None, 64.5),
    "blocks": (-1, 128, 1.5, "3", True),
    "data": _TABLE,
    "encoding": ("klingon", "base64", "", 7),
    "documents": (0, -1, 2**32, 1.5, "7", True),
    "fingerprints": _ROWS,
    "form": ("octal", 7, None),
    "format": ("xml", 7),
    "ignore": (7, "", [""], [7], "number", "URL", "(", ["dates", "(?=a)b"], r"(a)\1", r"\w{90000}"),
    "inputs": (*_PATHS, None),
    "language": ("fr", 7, "zh_CN"),
    "max_distance": (-1, 129, 1.5, "3", True),
    "max_text": (0, -1, 1.5, "x", "257MiB", None, True),
    "measure": ("cosine", 7),
    "max_length": (0, -1, 1_000_000_001, 1.5, "7", True),
    **dict.fromkeys(("min_item_length", "min_unit_length"), (0, -1, 10_001, 1.5, "7", True)),
    "max_documents": _COUNT,
    "min_length": (0, -1, 1_000_001, 1.5, "7", True),
    "part_size": (-1, 999_999, 1.5, "2", "4 apples", "1KB", True, []),
    "memory": (
        *(-1, 512, (512 << 20) - 1, 1e10, True, [], "2", "4 apples", "511MiB", "512MB", "4G", "GB"),
        *("-4GB", "4XB", "1e9GB", "nan", "4 G B", ""),
    ),
    "on_error": ("ignore", "", None, np.array(["keep"])),
    "recipes": ([], "classic", 7, ["classic", "classic"], ["nosuch"]),
    "seed": (-1, 1.5, "1", True),
    "other": (None, 7, "x"),
    "path": (7, None),
    "priority": ("best", "field:", "field::desc", "", 7, None),
    "progress": (7, "bar", print, neardup.base.progress.Progress),
    "recipe": ("nosuch", "x" * 5000, 7, None, ""),
    "texts": (None, 7, "one text", [None]),
    "titles": (["a", "b"], 7, [7]),
    "unit": ("word", "", 7, ["sentence"], True),
    "work": (7, b"folder"),
    "workers": (-1, 1.5, "2", None, True),
}
BY_NAME |= {
    "compare_papers": _FLAG,
    "count_shared": (0, 1, "yes", None),
    "exclude": (None, 7, {"a": 1}, [7], [None]),
    "keep": ("last", "", 7, ["first"], True),
    "library": (7, b"library", {}, [], [7], object()),
    "limits": (7, "1000", {}, (1000, 200, 1_000_000)),
    "min_passage_length": (-1, 4, 10_001, 20.5, "20", None, True),
    "name": (7, b"name"),
    "paper": (None, 7, b"paper", []),
    "papers": ([], b"x.txt", 7, None, [7], [None]),
    # It is of the copies by edits.
    "rate": (0.05, 0.6),
    "sizes": ([641], [0], "12", 7),
    "stages": ({"bits": 64},),
    "tests": _TABLE,
    "truth": (None, 7, b"pairs.tsv"),
    "without_sources": (None, 7, "id", b"id", [7], {"a": 1}),
}
_NO_DISTANCE = (-1, 64, 1.5, "3", None, True)
#: Further values that one function refuses.
OTHERS = {
    "check": {"library": (*BY_NAME["library"], None)},
    "published": {"data": (None, 7, b"topics"), "copies": ("quotes", 7, None)},
    "explain": {"b": _TITLE},
    "contamination_files": {
        "inputs": (*_PATHS, None, {"a": ["/dev/null"]}),
        "tests": (*_PATHS, None),
    },
    "count_idf": {"data": _TABLE[:3], "recipe": ("nosuch", "general", 7)},
    "dedup": {"against": _TABLE[1:]},
    "dedup_files": {"against": _PATHS, "output": (*_OUTPUT, None)},
    "pairs": {"data": _TABLE[:3], "against": _TABLE[1:], "on_error": ("drop", "ignore", "", None)},
    "pairs_files": {"against": _PATHS, "on_error": ("drop", "ignore"), "output": (*_OUTPUT, None)},
    "fingerprint_files": {"output": (*_OUTPUT, None)},
    "sketch_files": {
        "recipe": ("nosuch", 7, None, "", "improved"),
        "on_error": ("drop", "ignore"),
        "output": (*_OUTPUT, None),
    },
    "near_pairs": {"max_distance": (-1, 65, 1.5, "3", None, True)},
    "fingerprint_blocks": {"max_distance": _NO_DISTANCE},
    "Fingerprint.blocks": {"max_distance": _NO_DISTANCE},
    "Fingerprint.source_blocks": {"max_distance": _NO_DISTANCE},
    "Recipe": {
        **dict.fromkeys(("name", "description", "normalize"), (7, None)),
        **dict.fromkeys(("segment", "weigh", "sketch", "decide"), (7, {})),
    },
}
BAD = {
    name: {
        parameter: OTHERS.get(name, {}).get(parameter, BY_NAME.get(parameter))
        for parameter in inspect.signature(function).parameters
    }
    for name, (function, _) in CALLABLES.items()
}


def test_the_lists_are_complete():
    public = {name for name in neardup.__all__ if inspect.isfunction(getattr(neardup, name))}
    assert public <= set(CALLABLES)
    for name, parameters in BAD.items():
        assert all(parameters.values()), name


CASES = [
    pytest.param(name, parameter, value, id=f"{name}-{parameter}-{at}")
    for name, parameters in BAD.items()
    for parameter, values in parameters.items()
    for at, value in enumerate(values)
]


def finish(result):
    """Papers are checked one by one, when the next result is asked for."""
    if inspect.isgenerator(result):
        next(result, None)


@pytest.mark.parametrize(("name", "parameter", "value"), CASES)
def test_bad_values_are_refused_by_name(name, parameter, value):
    function, good = CALLABLES[name]
    with pytest.raises((ParameterError, InputError)) as caught:
        finish(function(**good | {parameter: value}))
    message = str(caught.value)
    if parameter == "recipes":
        # A recipe of a list is refused as a recipe alone is.
        message = message.replace("'recipe'", "'recipes'")
    # A name such as `a` is in any sentence.
    assert (
        f"'{parameter}'" in message
        or re.match(rf"{parameter}(\[\d+\])?: ", message)
        # Of splits, which the command line has in an option of their own.
        or caught.value.values.get("parameter") == parameter == "inputs"
    )
    if isinstance(caught.value, ParameterError):
        assert "must" in message
    assert len(message) < 400
    assert "x" * 100 not in message


@pytest.mark.parametrize(
    ("name", "options"),
    [
        # Bounds are inside.
        *(("pairs", {"threshold": value}) for value in (1, 1e-9, np.float64(0.8))),
        *(("pairs", {"max_distance": value}) for value in (0, 128, np.int64(3))),
        *(("near_pairs", {"max_distance": value}) for value in (0, 64)),
        ("near_pairs", {"workers": 3}),
        ("near_pairs", {"max_distance": np.int64(3), "bits": np.int64(64)}),
        ("Fingerprint.blocks", {"max_distance": 63}),
        ("fingerprint_blocks", {"bits": np.int64(64)}),
        *(("check", {"min_passage_length": value}) for value in (5, 10_000, np.int64(20))),
    ],
)
def test_bounds_and_numbers_of_numpy_are_taken(name, options):
    function, good = CALLABLES[name]
    function(**good | options)


@pytest.mark.parametrize("name", ["dedup", "dedup_files", "pairs", "pairs_files"])
@pytest.mark.parametrize("recipe", ["general", "shingle", "shingle-sample", "minhash"])
def test_a_distance_is_for_fingerprints(name, recipe):
    function, good = CALLABLES[name]
    kind = neardup.load_recipe(recipe).sketch.kind
    message = f"'max_distance' parameter must be left out, not 3.*'{recipe}'.*'{kind}'.*threshold"
    for threshold in (None, 0.9):
        with pytest.raises(ParameterError, match=message):
            function(**good | {"recipe": recipe, "max_distance": 3, "threshold": threshold})


@pytest.mark.parametrize("name", ["fingerprint", "fingerprint_many", "fingerprint_files"])
@pytest.mark.parametrize("recipe", ["general", "shingle", "shingle-sample", "minhash"])
def test_fingerprints_need_a_recipe_of_fingerprints(name, recipe):
    function, good = CALLABLES[name]
    with pytest.raises(ParameterError, match=f"'recipe'.*with fingerprints, not '{recipe}'"):
        function(**good | {"recipe": recipe})


#: Values of which most are wrong for any parameter.
ODD = {
    "an object": object(),
    "a number": 7,
    "a large number": 1 << 63,
    "a number of NumPy": np.int64(3),
    "no number": float("nan"),
    "bytes": b"x",
    "a lone surrogate": "\ud800",
    "a NUL": "a\0b",
    "no letter": "",
    "a list": [1],
    "a list of texts": ["x", "\ud800"],
    "an array": np.zeros(3),
    "a dict": {},
    "a set": {1},
    "None": None,
    "True": True,
}
MODULES = (neardup, neardup.index, neardup.lab, neardup.papers, neardup.readers, neardup.server)
CLASSES = {
    "Index": Index,
    "Recipe": Recipe,
    "Settings": neardup.server.Settings,
    "EditModel": neardup.lab.EditModel,
    "RepostModel": neardup.lab.RepostModel,
}
#: Arguments without which a function does not run; of others they are in `CALLABLES`.
NEEDED = {
    "EditModel": {"pool": ["a text of words"]},
    "Index": {"location": "x.db"},
    "Index.add": {"id": "b", "text": "x"},
    "Index.add_files": {"inputs": ["in.jsonl"]},
    "Index.add_many": {"data": [{"id": "c", "text": "one"}]},
    "Index.add_together": {"documents": []},
    "Index.backup": {"copy": "copy.db"},
    "Index.count_arrivals": {"since": "2026-01-01"},
    "Index.expire": {"before": "2000-01-01"},
    "Index.export": {"output": "out.jsonl", "force": True},
    **{f"Index.{name}": {"id": "none"} for name in ("confirm", "explain", "get", "keep")},
    **{f"Index.{name}": {"id": "none"} for name in ("remove", "undo")},
    "Index.get_many": {"ids": ["a"]},
    "Index.rename": {"old": "none", "new": "other"},
    **{f"Index.{name}": {"text": "x"} for name in ("near_misses", "query")},
    "Settings": {"index": "n.db"},
    "index.restore": {"backup": "n.db", "location": "r.db", "force": True},
    "lab.evaluate_pairs": {"inputs": ["in.jsonl"], "truth": "none.tsv"},
    "lab.published": {"data": "none"},
    "papers.align": {"text": "x", "source": "y"},
    "papers.check_files": {"papers": [PAPERS / "paper.md"], "library": PAPERS / "library"},
    "papers.open_library": {"library": PAPERS / "library"},
    "readers.open_sources": {"inputs": ["in.jsonl"]},
    "readers.open_table": {"data": DATA},
    "readers.read_bytes": {"data": b"x", "name": "in.txt"},
    "readers.read_file": {"path": "in.txt"},
    "readers.read_record": {"data": b"x", "name": "in.txt"},
    "server.create_app": {"settings": neardup.server.Settings(index="n.db")},
}


def _methods(kind):
    return {
        f"{kind.__name__}.{name}": method
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and name != "close"
    }


def _functions():
    for module in MODULES:
        place = module.__name__.removeprefix("neardup").removeprefix(".")
        for name in module.__all__:
            if inspect.isfunction(function := getattr(module, name)):
                yield f"{place}.{name}".removeprefix("."), function


PUBLIC = {**dict(_functions()), **CLASSES, **_methods(Index), **_methods(Report)}


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Objects whose methods are called."""
    folder = tmp_path_factory.mktemp("odd")
    with Index(folder / "n.db", workers=1) as index:
        index.add("a", "The council will open the new bridge on Sunday morning.")
        yield {"Index": index, "Report": neardup.check(**PAPER)}


@pytest.mark.parametrize("name", PUBLIC)
def test_odd_value_works_or_is_refused_in_our_words(objects, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("a text")
    Path("in.jsonl").write_text('{"id": "a", "text": "one"}\n')
    Index("n.db", workers=1).close()
    function = PUBLIC[name]
    kind, _, method = name.partition(".")
    if method and kind in objects:
        function = getattr(objects[kind], method)
    _, needed = CALLABLES.get(name.removeprefix("papers."), (None, {}))
    needed = needed | NEEDED.get(name, {})
    signature = inspect.signature(function)
    signature.bind(**needed)
    failures = []
    for parameter in signature.parameters:
        for label, value in ODD.items():
            try:
                result = function(**needed | {parameter: value})
                finish(result)
                getattr(result, "close", lambda: None)()
            except NeardupError:
                pass
            except Exception as error:
                failures.append(f"{parameter}, {label}: {type(error).__name__}: {error}")
    assert failures == []
