"""Every public name is documented, in its docstring and in the pages."""

import dataclasses
import inspect
import re
import tomllib
from importlib import import_module

import pytest

import neardup
import neardup.index

FUNCTIONS = [n for n in neardup.__all__ if inspect.isfunction(getattr(neardup, n))]
CLASSES = [n for n in neardup.__all__ if inspect.isclass(getattr(neardup, n))]
ERRORS = [n for n in CLASSES if issubclass(getattr(neardup, n), Exception)]
#: One parameter has one name in functions, commands and recipes: ours, and the names to avoid.
ALIASES = {
    "workers": {"threads", "jobs", "n_jobs", "num_workers"},
    "threshold": {"cutoff", "tau", "similarity_threshold"},
    "max_distance": {"hamming", "radius"},
    "k": {"n_gram", "ngram", "gram"},
    "bands": {"buckets", "num_buckets"},
    "rows": {"band_size", "band_width", "hashes_per_bucket"},
    "recipe": {"config", "profile"},
    "priority": {"rank"},
    "begin": {"offset", "offsets"},
}
AVOIDED = set().union(*ALIASES.values())

#: Words that people search for, and must find in the glossary.
SEARCHED = [
    "deduplication",
    "document frequencies",
    "inverted index",
    "Jaccard similarity",
    "n-gram",
    "near-duplicate",
    "orphan",
    "plagiarism detection",
    "posting list",
    "statistics",
    "token",
    "倒排索引",
    "去重",
    "查重",
]


def methods(name):
    kind = getattr(neardup, name)
    return {
        key: value
        for key, value in inspect.getmembers(kind, inspect.isroutine)
        # Of its own modules: errors inherit some from Python.
        if not key.startswith("_") and getattr(value, "__module__", "").startswith("neardup")
    }


def callables():
    for name in FUNCTIONS:
        yield name, getattr(neardup, name)
    for name in CLASSES:
        for key, value in methods(name).items():
            yield f"{name}.{key}", value


CALLABLES = dict(callables())


def test_names_are_sorted_and_there():
    assert sorted(neardup.__all__) == neardup.__all__
    assert len(set(neardup.__all__)) == len(neardup.__all__)
    for name in neardup.__all__:
        assert getattr(neardup, name) is not None
    assert set(FUNCTIONS) | set(CLASSES) | {"__version__"} == set(neardup.__all__)


@pytest.mark.parametrize("name", CALLABLES)
def test_docstrings_of_functions(name):
    function = CALLABLES[name]
    text = inspect.getdoc(function)
    summary = text.splitlines()[0]
    assert summary.endswith(".")
    assert len(summary) <= 72 + 1
    parameters = [p for p in inspect.signature(function).parameters if p != "self"]
    short = len(text.splitlines()) == 1
    if short:
        # One line is enough where it refers to a sibling, or there is nothing to say.
        assert not parameters or "see" in text.lower()
        return
    if parameters:
        assert "Parameters\n----------" in text
        for parameter in parameters:
            assert re.search(rf"^[*\w, ]*\b{parameter}\b", text, re.MULTILINE), parameter
    returns = inspect.signature(function).return_annotation
    has_section = "Returns\n-------" in text or "Yields\n------" in text
    assert has_section or returns in ("None", None) or summary.startswith("Return "), returns
    assert not (has_section and returns in ("None", None))


ANSWERS = [kind for kind in vars(neardup.index).values() if dataclasses.is_dataclass(kind)]


@pytest.mark.parametrize(
    "kind",
    [*(getattr(neardup, name) for name in CLASSES if name not in ERRORS), *ANSWERS],
    ids=lambda kind: kind.__name__,
)
def test_docstrings_of_classes(kind):
    text = inspect.getdoc(kind)
    assert text.splitlines()[0].endswith(".")
    assert "Parameters\n----------" in text
    for field in getattr(kind, "__dataclass_fields__", {}):
        assert field.startswith("_") or re.search(rf"\b{field}\b", text), field


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_one_parent_and_an_example(name):
    kind = getattr(neardup, name)
    assert issubclass(kind, neardup.NeardupError)
    if kind is not neardup.NeardupError:
        assert "Example" in kind.__doc__
        parents = {
            "ParameterError": ValueError,
            "InputError": ValueError,
            "SketchMismatchError": ValueError,
            "OutputError": OSError,
            "MissingDependencyError": ImportError,
            "IndexUnavailableError": OSError,
            "IndexFormatError": ValueError,
            "IndexMismatchError": ValueError,
            "ClusterError": RuntimeError,
        }
        assert issubclass(kind, parents[name])


def test_the_answers_of_an_index_are_public():
    names = neardup.index.__all__
    assert sorted(names) == names
    assert {kind.__name__ for kind in ANSWERS} | {"Index"} == set(names)


@pytest.mark.parametrize("module", ["index", "papers", "server", "spark"])
def test_the_reference_has_every_name(module, root):
    """It has all members of `neardup` and `neardup.lab`."""
    page = (root / "docs" / "site" / "api.rst").read_text("utf-8")
    names = set(import_module(f"neardup.{module}").__all__) - set(neardup.__all__)
    assert names <= set(re.findall(r"^\.\. auto\w+:: (\w+)$", page, re.MULTILINE))


@pytest.mark.parametrize("name", CALLABLES)
def test_parameters_have_one_name(name):
    assert not set(inspect.signature(CALLABLES[name]).parameters) & AVOIDED


def test_options_have_one_name():
    from neardup.cli.parser import COMMANDS, command, parameters_of

    for name in COMMANDS:
        for parameter in parameters_of(command(name)):
            names = {flag.lstrip("-").replace("-", "_") for flag in parameter.flags}
            assert not names & AVOIDED


def test_settings_have_one_name():
    from neardup.recipe import load_recipe

    table = tomllib.loads(load_recipe("improved").to_toml())
    settings = {key for stage in table.values() if isinstance(stage, dict) for key in stage}
    assert not settings & AVOIDED


@pytest.mark.parametrize("word", SEARCHED)
def test_the_glossary_has_the_words_that_people_search_for(word, root):
    assert word in (root / "docs" / "glossary.md").read_text("utf-8")


def test_one_version(root):
    cargo = tomllib.loads((root / "Cargo.toml").read_text("utf-8"))
    assert cargo["workspace"]["package"]["version"] == neardup.__version__
    from importlib.metadata import version

    from neardup import _core

    assert version("neardup") == _core.__version__ == neardup.__version__


STAGES = ("normalize", "segment", "weigh", "sketch", "candidates", "verify", "cluster", "keep")


def test_the_package_lists_the_stages_in_order():
    found = re.findall(r"^\d\. (\w+):", neardup.__doc__, re.MULTILINE)
    assert tuple(found) == STAGES


@pytest.mark.parametrize("page", ["docs/glossary.md", "ARCHITECTURE.md"])
def test_the_pages_list_the_stages_in_order(page, root):
    path = root / page
    rows = re.findall(r"^\| \**`?(\w+)`?\** \|", path.read_text("utf-8"), re.MULTILINE)
    listed = [name for name in rows if name in STAGES]
    assert any(tuple(listed[at : at + 8]) == STAGES for at in range(len(listed)))


@pytest.mark.parametrize("stage", STAGES[:7])
def test_the_core_has_a_folder_for_each_stage(stage, root):
    """What is kept is written by the readers and writers of Python."""
    page = root / "crates" / "neardup-core" / "src" / stage / "mod.rs"
    assert page.read_text("utf-8").startswith("/*!")
