"""Every public name is documented, in its docstring and in the pages."""

import dataclasses
import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import neardup
import neardup.index

FUNCTIONS = [n for n in neardup.__all__ if inspect.isfunction(getattr(neardup, n))]
CLASSES = [n for n in neardup.__all__ if inspect.isclass(getattr(neardup, n))]
ERRORS = [n for n in CLASSES if issubclass(getattr(neardup, n), Exception)]


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
    assert "Parameters\n----------" in text
    for field in getattr(kind, "__dataclass_fields__", {}):
        assert field.startswith("_") or re.search(rf"\b{field}\b", text), field


def test_errors_have_a_parent_of_python():
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
    assert set(parents) | {"NeardupError"} == set(ERRORS)
    for name, parent in parents.items():
        assert issubclass(getattr(neardup, name), (parent,))
        assert issubclass(getattr(neardup, name), neardup.NeardupError)


def test_the_answers_of_an_index_are_public():
    names = neardup.index.__all__
    assert sorted(names) == names
    assert {kind.__name__ for kind in ANSWERS} | {"Index", "restore"} == set(names)


@pytest.mark.parametrize("module", ["index", "papers", "server", "spark"])
def test_the_reference_has_every_name(module, root):
    """It has all members of `neardup` and `neardup.lab`."""
    page = (root / "docs" / "site" / "api.rst").read_text("utf-8")
    names = set(import_module(f"neardup.{module}").__all__) - set(neardup.__all__)
    assert names <= set(re.findall(r"^\.\. auto\w+:: (\w+)$", page, re.MULTILINE))


def test_one_version(root):
    cargo = tomllib.loads((root / "Cargo.toml").read_text("utf-8"))
    assert cargo["workspace"]["package"]["version"] == neardup.__version__
    from importlib.metadata import version

    from neardup import _core

    assert version("neardup") == _core.__version__ == neardup.__version__


def test_names_of_tests_begin_with_a_subject():
    without = re.compile(
        r"^ *(?:async )?def (test_(?:what|who|whoever|of|that|those)_\w+)", re.MULTILINE
    )
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        assert not without.findall(path.read_text("utf-8")), path


def test_classes_are_nouns(root):
    participle = re.compile(r"^ *class (_?[A-Z]\w*(?:ed|oming|aiting))\b", re.MULTILINE)
    for path in (root / "python").rglob("*.py"):
        assert not participle.findall(path.read_text("utf-8")), path
