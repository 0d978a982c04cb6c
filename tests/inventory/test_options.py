"""Options are declared once: functions, their documentation and commands agree with the table."""

import inspect
import json
from functools import partial
from typing import Annotated, get_args, get_origin

import pytest

import neardup
from neardup.cli.parser import command, parameters_of
from neardup.options import options
from neardup.options.signatures import complete_options, taken_options
from neardup.papers import align
from neardup.recipe import load_recipe
from neardup.run.run_options import RunOptions

FUNCTIONS = {
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
OTHERS = [
    neardup.dedup,
    neardup.pairs,
    neardup.Index.add,
    neardup.Index.add_many,
]
#: Options that only functions take; every command has `--language`.
ONLY_FUNCTIONS = {"progress", "must_exist", "language"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_command_has_the_options_of_its_function(name):
    of_command = {parameter.name: parameter.option for parameter in parameters_of(command(name))}
    for parameter, (_, option) in taken_options(FUNCTIONS[name]).items():
        if parameter not in ONLY_FUNCTIONS:
            shown = of_command[parameter]
            assert (shown.help, shown.default) == (option.help, option.default)


@pytest.mark.parametrize("function", [*FUNCTIONS.values(), *OTHERS])
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
    declared = [value for value in vars(options).values() if get_origin(value) is Annotated]
    helps = {get_args(value)[-1].help for value in declared}
    # The three recipes of functions differ in their defaults alone.
    assert len(declared) == len(helps) + 2 > 30


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


RUNS = (neardup.dedup_files, neardup.pairs_files, neardup.fingerprint_files, neardup.sketch_files)


@pytest.mark.parametrize("function", [*RUNS, neardup.dedup, neardup.pairs, neardup.count_idf])
def test_a_run_has_every_option_of_its_function(function):
    given = complete_options(function, {"recipe": "characters"})
    run = RunOptions(given)
    values = {name: getattr(run, name) for name in given}
    assert values == given | {"recipe": load_recipe("characters")}


def test_a_run_has_the_default_of_an_option_that_its_function_does_not_take():
    run = RunOptions(complete_options(neardup.pairs, {}))
    assert (run.priority, run.against_only, run.min_length) == ("first", False, None)
    assert run.max_text == complete_options(neardup.pairs, {})["max_text"]


def test_a_run_refuses_what_is_no_option():
    with pytest.raises(TypeError, match="no options of a run: least, treshold"):
        RunOptions({"recipe": "general", "treshold": 0.5, "least": 2})
    with pytest.raises(AttributeError, match="'treshold' is no option of a run"):
        _ = RunOptions({"recipe": "general"}).treshold


@pytest.mark.parametrize("function", RUNS)
def test_a_work_folder_depends_on_each_option_that_decides(function):
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
