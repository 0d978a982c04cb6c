"""Every public name is documented, in its docstring and in the pages."""

import dataclasses
import inspect
import json
import re
import tomllib
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import get_args, is_typeddict

import pytest

import neardup
import neardup.index
from neardup import _core
from neardup.cli.commands import find_command, list_parameters
from neardup.options import groups, index_groups, shared_groups
from neardup.options.signatures import complete_options, options_of, taken_options
from neardup.papers import align
from neardup.recipe import load_recipe
from neardup.run.run_options import RunOptions

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


def test_names_are_there():
    assert {*FUNCTIONS, *CLASSES, "__version__"} == set(neardup.__all__)
    assert all(getattr(neardup, name) is not None for name in neardup.__all__)
    assert {kind.__name__ for kind in ANSWERS} | {"Index", "restore"} == set(neardup.index.__all__)
    for names in (neardup.__all__, neardup.index.__all__):
        assert sorted(set(names)) == names


@pytest.mark.parametrize("name", CALLABLES)
def test_docstrings_of_functions(name):
    function = CALLABLES[name]
    text = inspect.getdoc(function)
    summary = text.splitlines()[0]
    parameters = [p for p in inspect.signature(function).parameters if p != "self"]
    if text == summary:
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


@pytest.mark.parametrize("module", ["index", "papers", "server", "spark"])
def test_the_reference_has_every_name(module, root):
    """It has all members of `neardup` and `neardup.lab`."""
    page = (root / "docs" / "site" / "api.rst").read_text("utf-8")
    names = set(import_module(f"neardup.{module}").__all__) - set(neardup.__all__)
    assert names <= set(re.findall(r"^\.\. auto\w+:: (\w+)$", page, re.MULTILINE))


def test_one_version(root):
    cargo = tomllib.loads((root / "Cargo.toml").read_text("utf-8"))
    assert cargo["workspace"]["package"]["version"] == neardup.__version__
    assert version("neardup") == _core.__version__ == neardup.__version__


def test_names_of_tests_have_a_subject_and_no_relative_clause():
    begins = "what|who|whoever|of|that|those|it|they"
    clause = "that|what|who|whom|whose|which"
    wrong = re.compile(
        rf"^ *(?:async )?def (test_(?:{begins})_\w+|test_\w+_(?:{clause})(?:_\w+)?)\(", re.MULTILINE
    )
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        assert not wrong.findall(path.read_text("utf-8")), path


def test_classes_are_nouns(root):
    participle = re.compile(r"^ *class (_?[A-Z]\w*(?:ed|oming|aiting))\b", re.MULTILINE)
    for path in (root / "python").rglob("*.py"):
        assert not participle.findall(path.read_text("utf-8")), path


# Options are declared once: functions, their documentation and commands agree with the table.

COMMANDS = {
    "dedup": neardup.dedup_files,
    "pairs": neardup.pairs_files,
    "fingerprint": neardup.fingerprint_files,
    "compare": neardup.compare,
    "idf": neardup.count_idf,
    "index create": neardup.Index,
    "index add": neardup.Index.add_files,
    "index query": neardup.Index.query,
    "index export": neardup.Index.export,
    "index check": neardup.Index.check,
}
OTHERS = [neardup.dedup, neardup.pairs, neardup.Index.add, neardup.Index.add_many]
#: Options of `dedup` that are for a cluster.
SPARK = {"engine", "master", "checkpoint"}
#: Options that only functions take; every command has `--language`.
ONLY_FUNCTIONS = {"progress", "must_exist", "language"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_options_of_its_function(name):
    of_command = {
        parameter.name: parameter.option for parameter in list_parameters(find_command(name))
    }
    for parameter, (_, option) in taken_options(COMMANDS[name]).items():
        if parameter not in ONLY_FUNCTIONS:
            shown = of_command[parameter]
            assert (shown.help, shown.default) == (option.help, option.default)


@pytest.mark.parametrize("function", [*COMMANDS.values(), *OTHERS])
def test_a_function_shows_its_options(function):
    parameters = inspect.signature(function).parameters
    assert "options" not in parameters
    for name, (kind, option) in taken_options(function).items():
        assert parameters[name].default == option.default
        assert parameters[name].annotation == kind
        lines = inspect.getdoc(function).split(f"\n{name} : ")[1].splitlines()
        # The docstring has one indentation.
        assert lines[1].startswith("    ")
        said = " ".join(line.strip() for line in lines[1:])
        assert said.startswith(option.help)


def test_no_option_is_described_twice():
    """An option has one help; another help is another option, with another name for it."""
    modules = (shared_groups, groups, index_groups)
    kinds = [kind for module in modules for kind in vars(module).values() if is_typeddict(kind)]
    hints = [hint for kind in kinds for hint in kind.__annotations__.values()]
    declared = {id(option): option for option in (get_args(hint)[-1] for hint in hints)}
    helps = {option.help for option in declared.values()}
    # The three recipes of functions differ in their defaults alone.
    assert len(declared) == len(helps) + 2 > 70


def test_guide_lists_each_option_missing_on_spark_or_index(root):
    def flags(name):
        parameters = {
            one.name: one.flags[0] for one in list_parameters(find_command(name)) if one.flags
        }
        return {flag for other, flag in parameters.items() if other not in SPARK}

    single = options_of(groups.DedupFilesParameters)
    lacking = single.keys() - options_of(groups.SparkFilesParameters).keys()
    on_spark = flags("dedup") - {
        option.flags(name)[0]
        for name, (_, option) in single.items()
        if name in lacking and option.panel
    }
    in_index = flags("index create") | flags("index add")
    differ = {flag: (flag in on_spark, flag in in_index) for flag in flags("dedup")}
    expected = {flag: both for flag, both in differ.items() if both != (True, True)}
    text = (root / "docs" / "guide" / "cluster.md").read_text("utf-8")
    table = text.split("| options of `dedup` | Spark | index |")[1].split("\n\n")[0]
    listed = {}
    for line in table.splitlines()[2:]:
        _, options, *engines, _ = (cell.strip() for cell in line.split("|"))
        both = tuple({"yes": True, "no": False}[engine] for engine in engines)
        listed |= dict.fromkeys(options.replace("`", "").split(", "), both)
    assert listed == expected


@pytest.mark.parametrize(
    ("function", "name", "option"),
    [
        (partial(neardup.Index, "unused"), "recipes", "recipe"),
        (partial(neardup.compare, "a", "b"), "recipes", "recipe"),
        (partial(neardup.dedup, []), "treshold", "threshold"),
        # Of other programs.
        (partial(neardup.dedup, []), "text", "text_field"),
        (partial(neardup.dedup, []), "num_proc", "workers"),
        (partial(neardup.dedup, []), "keep", "priority"),
        # Of earlier versions.
        (partial(neardup.contamination, [], []), "common", "max_documents"),
        (partial(neardup.contamination, [], []), "cover", "min_share"),
        (partial(neardup.contamination, [], []), "least", "min_item_length"),
        (partial(neardup.repeats, []), "least", "min_unit_length"),
        (partial(neardup.check, "a", "b"), "least", "min_passage_length"),
        (partial(align, "a", "b"), "least", "min_passage_length"),
        (partial(neardup.pairs, []), "with_", "against"),
        (partial(neardup.Index.export, None, "a"), "whole", "include_removed"),
        # Of the command line only.
        (lambda **given: list(neardup.papers.check_files([], **given)), "covers", "title_pages"),
    ],
)
def test_unknown_option_is_refused_with_the_name_of_the_known_one(function, name, option):
    called = function.func.__name__ if isinstance(function, partial) else "check_files"
    hint = f"(Did you mean|It is now) '{option}'"
    with pytest.raises(TypeError, match=rf"{called}\(\) got .* '{name}'.* {hint}"):
        function(**{name: "x"})


FINGERPRINTS = groups.FingerprintFilesParameters
RUNS = (neardup.dedup_files, neardup.pairs_files, neardup.fingerprint_files, neardup.sketch_files)


@pytest.mark.parametrize("function", [*RUNS, neardup.dedup, neardup.pairs, neardup.count_idf])
def test_a_run_has_every_option_of_its_function(function):
    given = complete_options(function, {"recipe": "characters"})
    run = RunOptions(given)
    values = {name: getattr(run, name) for name in given}
    assert values == given | {"recipe": load_recipe("characters")}


def test_run_has_the_default_of_an_option_beyond_its_function():
    run = RunOptions(complete_options(neardup.pairs, {}))
    assert (run.priority, run.against_only, run.min_length) == ("first", False, None)
    assert run.max_text == complete_options(neardup.pairs, {})["max_text"]


def test_run_refuses_an_unknown_option():
    with pytest.raises(TypeError, match="no options of a run: least, treshold"):
        RunOptions({"recipe": "general", "treshold": 0.5, "least": 2})


def test_fields_of_a_run_are_the_options_of_its_functions():
    declared = [options_of(kind) for kind in (groups.DedupFilesParameters, FINGERPRINTS)]
    assert RunOptions.__annotations__.keys() - {"rule"} == declared[0].keys() | declared[1].keys()


@pytest.mark.parametrize("function", RUNS)
def test_work_folder_depends_on_each_decisive_option(function):
    decisive = RunOptions(complete_options(function, {"recipe": "characters"})).decisive()
    for name, (_, option) in taken_options(function).items():
        decides = option.panel in ("Input", "Text", "Matching")
        assert (name in decisive) is (decides and name not in ("on_error", "restore"))


def test_a_report_lists_every_option(tmp_path):
    source, report = tmp_path / "in.jsonl", tmp_path / "report.json"
    source.write_text('{"text": "one"}\n')
    neardup.dedup_files([source], tmp_path / "out.jsonl", report=report, min_length=2)
    settings = json.loads(report.read_text("utf-8"))["settings"]
    # The recipe has its own part.
    assert taken_options(neardup.dedup_files).keys() - settings.keys() == {"recipe", "progress"}
    assert settings["min_length"] == 2
    assert settings["report"] == str(report)
